//! Whether every run ends, asked before infinite runs are looked for in a graph that is kept with all its steps.
//!
//! Most tests are closed: so many requests are made and answered, and then nobody has anything to do. Where no run is
//! infinite there is nothing to look for, and the graph that the search went through says so, with machines that changed
//! places, steps that were put off and confluent sends made together with others, which is often a small part of the whole one. For if a run goes on for
//! ever and steps are chosen to go first, then either one of them is made in it at some time and can be made at once instead, or
//! none is, and then one can be made before all of it; so there is an infinite run behind one of the chosen steps, too, and
//! again behind that one. An infinite run in a finite graph goes through a cycle. Steps that change nothing are cycles here, not left out.
//!
//! One thread goes depth first and ends with the first cycle, so that endless programs pay little for the question. All that it
//! comes by is known from the search, so that figures do not depend on how far it gets.

use allways_run::StopReason;
use rustc_hash::FxHashMap;

use crate::search::counterexample::{Collect, Layer, Ordered};
use crate::search::expand::{Move, Sink, Successor};
use crate::search::local::states::LocalStateId;
use crate::search::lock;
use crate::search::options::SearchBounds;
use crate::search::order::breadth::Context;
use crate::search::reduce::confluent_sends::{ConfluentSends, MergedSink, Raw};
use crate::search::reduce::persistent::PersistentSets;
use crate::search::reduce::symmetry::Symmetry;
use crate::search::store::tree::ExactKeys;

/// Between two looks at clock and memory.
const INTERVAL: usize = 1024;

/// Whether the search went through all of its graph.
pub(crate) fn can_be_asked(cx: &Context<'_>) -> bool {
    cx.options.bounds == SearchBounds::default()
}

/// Whether there is no infinite run.
///
/// # Errors
/// When it was asked to stop, or memory ran out.
pub(crate) fn every_run_ends(cx: Context<'_>) -> Result<bool, StopReason> {
    let beginning = lock(cx.locals).begin();
    let no_memory = StopReason::Memory { bytes: cx.options.limits.memory_bytes.unwrap_or(0) };
    let mut keys = ExactKeys::new().ok_or(no_memory.clone())?;
    let mut steps = Steps {
        ordered: Ordered::new(cx),
        symmetry: cx.symmetry(),
        sets: cx.persistent_sets(),
        confluent_sends: cx.hands_over().then(|| ConfluentSends::new(cx.locals)),
        raw: Raw::default(),
        n_monitors: lock(cx.locals).n_monitors(),
    };
    // Whether a configuration is on the present way; those that are not lead to no cycle.
    let mut is_open: FxHashMap<u64, bool> = FxHashMap::default();
    for (_, first) in &beginning.vectors {
        let mut first_layer = Layer::default();
        first_layer.push(first);
        let mut way = vec![Frame { key: None, next: 0, successors: first_layer }];
        while let Some(frame) = way.last_mut() {
            if frame.next == frame.successors.len() {
                if let Some(key) = frame.key {
                    is_open.insert(key, false);
                }
                way.pop();
                continue;
            }
            let vector = frame.successors.get(frame.next).to_vec();
            frame.next += 1;
            let key = keys.key(&vector).ok_or(no_memory.clone())?;
            match is_open.get(&key) {
                Some(true) => return Ok(false),
                Some(false) => continue,
                None => {}
            }
            is_open.insert(key, true);
            if is_open.len().is_multiple_of(INTERVAL) {
                let of_way: usize = way.iter().map(|frame| frame.successors.n_bytes()).sum();
                let bytes = keys.n_bytes() + is_open.capacity() * 8 / 7 * 17 + of_way;
                let bytes = bytes as u64 + lock(cx.locals).n_bytes() as u64;
                if let Some(reason) = cx.stop_reason().or_else(|| cx.is_over(bytes)) {
                    return Err(reason);
                }
                cx.looks_at_liveness(is_open.len() as u64);
            }
            let successors = steps.after(&vector);
            way.push(Frame { key: Some(key), next: 0, successors });
        }
    }
    Ok(true)
}

/// A configuration of the present way, and how many of its successors were followed.
struct Frame {
    key: Option<u64>,
    next: usize,
    successors: Layer,
}

/// The steps that the search makes.
struct Steps<'a> {
    ordered: Ordered<'a>,
    symmetry: Option<Symmetry<'a>>,
    sets: Option<PersistentSets<'a>>,
    confluent_sends: Option<ConfluentSends<'a>>,
    raw: Raw,
    n_monitors: usize,
}

impl Steps<'_> {
    fn after(&mut self, vector: &[LocalStateId]) -> Layer {
        let mut sink = Successors::default();
        if let Some(confluent_sends) = &mut self.confluent_sends {
            let expander = &mut self.ordered.expander;
            match confluent_sends.find(&mut expander.memo, vector, self.n_monitors) {
                Some((slot, _)) => expander.expand_one(vector, slot, &mut self.raw),
                None => expander.expand(vector, &mut self.raw),
            };
            confluent_sends.merge(&mut expander.memo, vector, false, &mut self.raw, None, &mut sink);
        } else {
            let memo = &mut self.ordered.expander.memo;
            let chosen = self.sets.as_mut().and_then(|sets| sets.find(memo, vector, self.symmetry.as_mut()));
            self.ordered.expand_chosen(vector, chosen, &mut sink.0);
        }
        let Some(symmetry) = &mut self.symmetry else { return sink.0.vectors };
        let mut canonical = Layer::default();
        for at in 0..sink.0.vectors.len() {
            canonical.push(symmetry.canonical(sink.0.vectors.get(at)));
        }
        canonical
    }
}

#[derive(Default)]
struct Successors(Collect);

impl Sink for Successors {
    fn successor(&mut self, from: &[LocalStateId], successor: Successor<'_>) {
        self.0.successor(from, successor);
    }

    fn broken(&mut self, by: Move) {
        self.0.broken(by);
    }

    fn cut(&mut self, cut: crate::search::local::states::Cut) {
        self.0.cut(cut);
    }
}

impl MergedSink for Successors {
    fn merged(&mut self, _: u32, _: bool) {}
}
