//! Whether symmetry and persistent sets are worth their price: the one is several times that of a step, the other about one.
//!
//! Many programs have machines made alike that never change places, because somebody keeps them in a row or because they
//! were given numbers: then every configuration is renamed, and none is saved. So the search looks at the first
//! configurations without symmetry, and counts how many would remain with it. The answer depends on the program alone, and
//! whichever it is changes no verdict.

use rustc_hash::FxHashSet;

use super::super::breadth::Context;
use super::super::tree::ExactKeys;
use super::super::witness::{Collect, Layer, Ordered};
use super::symmetry::Symmetry;

/// Configurations that are looked at.
const LIMIT: usize = 10_000;
const LIMIT_OF_SETS: usize = 5_000;

/// Whether at least every eighth step of the first configurations can be put off.
pub(in super::super) fn sets_are_worth_it(cx: Context<'_>) -> bool {
    let Some(mut sets) = cx.persistent_sets() else { return false };
    let beginning = super::super::lock(cx.cells).begin();
    let mut ordered = Ordered::new(cx);
    let Some(mut keys) = ExactKeys::new() else { return false };
    let mut seen = FxHashSet::default();
    let mut layer = Layer::default();
    for (_, vector) in &beginning.vectors {
        layer.push(vector);
    }
    let (mut n_steps, mut n_put_off) = (0, 0);
    while layer.len() > 0 && seen.len() < LIMIT_OF_SETS {
        let mut next = Layer::default();
        for at in 0..layer.len() {
            if at % 256 == 0 && cx.stop_reason().is_some() {
                return false;
            }
            let vector = layer.get(at).to_vec();
            let mut sink = Collect::default();
            let chosen = sets.find(&mut ordered.expander.memo, &vector, None);
            let standing = ordered.expand_chosen(&vector, chosen, &mut sink);
            let here = chosen.map_or(0, |chosen| chosen.n_put_off);
            n_put_off += here;
            n_steps += here + u64::from(standing.n_enabled);
            for place in 0..sink.moves.len() {
                let successor = sink.vectors.get(place);
                let Some(key) = keys.key(successor) else { return false };
                if seen.insert(key) {
                    next.push(successor);
                }
            }
            if seen.len() >= LIMIT_OF_SETS {
                break;
            }
        }
        layer = next;
    }
    n_put_off * 8 >= n_steps
}

/// Whether at least three in ten of the first configurations are renamings of others.
pub(in super::super) fn symmetry_is_worth_it(cx: Context<'_>) -> bool {
    let beginning = super::super::lock(cx.cells).begin();
    let (mut symmetry, mut ordered) = (Symmetry::new(cx.cells), Ordered::new(cx));
    let Some(mut keys) = ExactKeys::new() else { return false };
    let (mut seen, mut remaining) = (FxHashSet::default(), FxHashSet::default());
    let mut layer = Layer::default();
    for (_, vector) in &beginning.vectors {
        layer.push(vector);
    }
    while layer.len() > 0 && seen.len() < LIMIT {
        let mut next = Layer::default();
        for at in 0..layer.len() {
            if at % 256 == 0 && cx.stop_reason().is_some() {
                return false;
            }
            let vector = layer.get(at).to_vec();
            let mut sink = Collect::default();
            ordered.expand(&vector, &mut sink);
            for place in 0..sink.moves.len() {
                let successor = sink.vectors.get(place);
                let Some(key) = keys.key(successor) else { return false };
                if !seen.insert(key) {
                    continue;
                }
                next.push(successor);
                let Some(key) = keys.key(symmetry.canonical(successor)) else { return false };
                remaining.insert(key);
            }
            if seen.len() >= LIMIT {
                break;
            }
        }
        layer = next;
    }
    remaining.len() * 10 <= seen.len() * 7
}
