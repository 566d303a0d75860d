//! Whether symmetry, persistent sets and counters pay for themselves: the first costs several times as much as a step, the others about as much.
//!
//! Many programs have machines made alike that are never permuted, because another machine keeps them in a sequence or because they
//! were given numbers: then every configuration is canonicalised, and none is saved. So the search explores the first
//! configurations without symmetry, by the steps that it will take, and counts how many would remain with it. The answer depends on the program alone, and
//! changes no verdict.

use rustc_hash::FxHashSet;

use super::counters::{Counters, Source};
use super::symmetry::Symmetry;

use crate::search::context::Context;
use crate::search::local::states::LocalStateId;
use crate::search::store::tree::ExactKeys;
use crate::search::successors::{Collect, Expansion, Layer, Purpose, Successors};

/// Configurations that are explored; with those of the last step, which may have millions, at most twice as many.
const LIMIT: usize = 10_000;
const LIMIT_OF_SETS: usize = 5_000;
const LIMIT_OF_COUNTERS: usize = 5_000;
/// Steps after which it asks whether to go on.
const LOOK_AFTER: usize = 1 << 16;
/// Of local states. Those of a program whose inboxes or collections grow for ever are large after a few thousand steps.
const LIMIT_OF_BYTES: usize = 64 << 20;
/// Slots of all configurations. A program that makes machines for ever has long vectors after a few thousand steps.
const LIMIT_OF_SLOTS: usize = 1 << 21;
/// So many machines have enough orders for symmetry to pay.
const MANY_ALIKE: usize = 5;

/// Whether at least every eighth step of the first configurations can be put off.
pub(crate) fn sets_are_worth_it(cx: Context<'_>) -> bool {
    let (mut n_steps, mut n_put_off) = (0, 0);
    let count = |Expansion { standing, chosen }| {
        let here = chosen.map_or(0, |chosen| chosen.n_put_off);
        n_put_off += here;
        n_steps += here + u64::from(standing.n_enabled);
    };
    let looked = look(cx, LIMIT_OF_SETS, count, |_, _| Some(()));
    looked.is_some() && n_put_off * 8 >= n_steps
}

/// Whether at least three in ten of the first configurations are renamings of others. Machines that all receive the same in a
/// loop become alike only after that; so if there are many, it is taken to be.
pub(crate) fn symmetry_is_worth_it(cx: Context<'_>, has_broadcasts: bool) -> bool {
    let mut n_alike = 0;
    let mut symmetry = Symmetry::new(cx.locals);
    let mut remaining = FxHashSet::default();
    let looked = look(
        cx,
        LIMIT,
        |_| {},
        |keys, successor| {
            remaining.insert(keys.key(symmetry.canonical(successor))?);
            n_alike = n_alike.max(symmetry.largest_group());
            Some(())
        },
    );
    let are_many = has_broadcasts && n_alike >= MANY_ALIKE;
    looked.is_some_and(|n_seen| are_many || remaining.len() * 10 <= n_seen * 7)
}

/// Whether the numbers of at least one in sixteen of the first configurations change. Where numbers stay small, nothing is saved; where they
/// grow, those that are kept from earlier soon stand for others.
pub(crate) fn counters_are_worth_it(cx: Context<'_>) -> bool {
    let Some(mut counters) = Counters::new(&crate::search::lock(cx.locals)) else { return false };
    let mut n_renumbered = 0;
    let cx = Context { renumbers: false, ..cx };
    let looked = look(
        cx,
        LIMIT_OF_COUNTERS,
        |_| {},
        |_, successor| {
            counters.canonical(successor, &mut Source::Shared(cx.locals));
            n_renumbered += usize::from(counters.has_renumbered);
            Some(())
        },
    );
    looked.is_some_and(|n_seen| n_renumbered * 16 >= n_seen)
}

/// Goes through the first configurations by layers and passes on each when it is new; how many there were. `None` if it was asked to
/// stop, memory ran out, or something is broken there.
fn look(
    cx: Context<'_>,
    limit: usize,
    mut count: impl FnMut(Expansion),
    mut discover: impl FnMut(&mut ExactKeys, &[LocalStateId]) -> Option<()>,
) -> Option<usize> {
    let beginning = crate::search::lock(cx.locals).begin();
    let mut successors = Successors::new(cx, Purpose::Probe);
    let mut keys = ExactKeys::new()?;
    let mut seen = FxHashSet::default();
    let mut layer = Layer::default();
    for (_, vector) in &beginning.vectors {
        layer.push(vector);
    }
    let (mut n_steps, mut n_slots) = (0, 0);
    let share = cx.options.limits.memory_bytes.map_or(usize::MAX, |bytes| bytes as usize / 8);
    let limit_of_bytes = LIMIT_OF_BYTES.min(share);
    while layer.len() > 0 && seen.len() < limit && n_slots < LIMIT_OF_SLOTS {
        if crate::search::lock(cx.locals).n_bytes() > limit_of_bytes {
            break;
        }
        let mut next = Layer::default();
        for at in 0..layer.len() {
            // A single configuration may have very many steps.
            if (at % 256 == 0 || n_steps > LOOK_AFTER) && cx.stop_reason().is_some() {
                return None;
            }
            n_steps %= LOOK_AFTER;
            let vector = layer.get(at).to_vec();
            let mut sink = Collect::default();
            count(successors.expand(&vector, &mut sink));
            if sink.broken.is_some() {
                // The search will come here soon, and its path is shortest without them.
                return None;
            }
            n_steps += sink.moves.len();
            for place in 0..sink.moves.len() {
                if seen.len() >= 2 * limit {
                    break;
                }
                // Without garbage, if it is collected: what a reduction saves beside that is asked.
                let successor = successors.canonical(sink.vectors.get(place));
                if seen.insert(keys.key(successor)?) {
                    n_slots += successor.len();
                    next.push(successor);
                    discover(&mut keys, successor)?;
                }
            }
            if seen.len() >= limit || n_slots >= LIMIT_OF_SLOTS {
                break;
            }
        }
        layer = next;
    }
    Some(seen.len())
}
