//! Whether every run terminates, asked before infinite runs are searched for in a graph that keeps all its steps.
//!
//! Most tests are closed: finitely many requests are made and answered, and then no machine has anything to do. Where no run is
//! infinite there is nothing to search for, and the reduced graph that the search explored shows this, with permuted
//! machines, postponed steps and merged confluent sends; it is often a small part of the full one. For if a run is infinite
//! and the steps of a persistent set are taken first, then either one of them occurs in the run and can be taken at once instead, or
//! none does, and then one can be taken before all of it; so there is an infinite run behind one of these steps, too, and
//! again behind that one. An infinite run in a finite graph contains a cycle. Steps that change nothing are cycles here and are not dropped.
//!
//! One thread goes depth first and stops at the first cycle, so that endless programs pay little for the question. Everything that it
//! needs is known from the search, so figures do not depend on how far it gets.

use allways_run::StopReason;
use rustc_hash::FxHashMap;

use crate::search::context::Context;
use crate::search::local::states::LocalStateId;
use crate::search::lock;
use crate::search::options::SearchBounds;
use crate::search::store::tree::ExactKeys;
use crate::search::successors::{Collect, Layer, Purpose, Successors};

/// Between two checks of clock and memory.
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
    let mut successors = Successors::new(cx, Purpose::Termination);
    // Whether a configuration is on the present path; those that are not lead to no cycle.
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
            let after = after(&mut successors, &vector);
            way.push(Frame { key: Some(key), next: 0, successors: after });
        }
    }
    Ok(true)
}

/// A configuration of the present path, and how many of its successors were followed.
struct Frame {
    key: Option<u64>,
    next: usize,
    successors: Layer,
}

/// The canonical successors of a configuration.
fn after(successors: &mut Successors<'_>, vector: &[LocalStateId]) -> Layer {
    let mut sink = Collect::default();
    successors.expand(vector, &mut sink);
    let mut canonical = Layer::default();
    for at in 0..sink.vectors.len() {
        canonical.push(successors.canonical(sink.vectors.get(at)));
    }
    canonical
}
