//! Whether symmetry is worth its price, which is several times that of a step.
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

/// Whether at least three in ten of the first configurations are renamings of others.
pub(in super::super) fn is_worth_it(cx: Context<'_>) -> bool {
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
