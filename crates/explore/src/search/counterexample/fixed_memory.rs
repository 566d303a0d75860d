//! The path to a violation, in an amount of memory that is fixed beforehand.
//!
//! Depth first from every configuration of a layer, to a depth that is known, or that grows until the path is found. A table of
//! fixed size stores, by fingerprint, with how many steps left a configuration was expanded; what does not fit is forgotten, and
//! expanded again if it is reached again. So it may take longer, and never needs more memory.

use allways_run::StopReason;

use super::{Allowance, Found, Reached, is_bad_end, tell};
use crate::error::InternalError;
use crate::search::context::{Context, Tally};
use crate::search::expand::{Move, fingerprint};
use crate::search::local::states::LocalStateId;
use crate::search::store::hash::mix;
use crate::search::successors::{Collect, Expansion, Purpose, Successors};

/// What the search for a path may use beyond the limit: there must be some room to report what was found.
const RESERVE: u64 = 64 << 20;
/// Of the table.
const LEAST_BYTES: u64 = 1 << 20;
const MOST_BYTES: u64 = 1 << 30;
/// Steps beyond the layer, at first, where the depth is not known.
const FIRST_STEPS: u64 = 4;
/// Configurations between two checks of clock and memory.
const LOOK_EVERY: u64 = 1024;

/// Looks for a path behind the layer that was reached.
pub(crate) fn search(
    cx: Context<'_>,
    reached: &Reached,
    allowance: Allowance,
    tally: Tally,
) -> Result<Found, InternalError> {
    let limit = cx.options.limits.memory_bytes.unwrap_or(MOST_BYTES);
    let used = (crate::search::lock(cx.locals).n_bytes() + reached.n_bytes()) as u64;
    let mut search = Search {
        cx,
        allowance,
        successors: Successors::new(cx, Purpose::Counterexample),
        seen: Seen::of_bytes(limit.saturating_sub(used)),
        tally,
        kept_bytes: reached.n_bytes() as u64,
        most_bytes: limit + RESERVE,
        n_looks: 0,
        is_cut: false,
    };
    let mut more = FIRST_STEPS;
    loop {
        let is_known = allowance.depth != u64::MAX;
        let bound = if is_known { allowance.depth } else { reached.depth + more };
        search.seen.forget();
        search.is_cut = false;
        for at in 0..reached.layer.len() {
            match search.from(reached.layer.get(at), reached.depth, bound) {
                Ok(None) => {}
                Ok(Some(Path { moves, breaks, depth })) => {
                    let steps = reached.way(cx, at, &moves, breaks)?;
                    let tally = search.tally;
                    return Ok(Found::Path { steps, tally, depth, is_shortest: false, record: None });
                }
                Err(reason) => return Ok(Found::Stopped(reason)),
            }
        }
        if is_known || !search.is_cut {
            return Ok(Found::Nothing);
        }
        more *= 2;
    }
}

/// From a configuration of the layer.
struct Path {
    moves: Vec<Move>,
    breaks: bool,
    depth: u64,
}

/// A configuration of the present path: its successors, and which is next.
struct Level {
    sink: Collect,
    next: usize,
}

struct Search<'a> {
    cx: Context<'a>,
    allowance: Allowance,
    successors: Successors<'a>,
    seen: Seen,
    tally: Tally,
    /// Of the layer, and of how to come there.
    kept_bytes: u64,
    most_bytes: u64,
    n_looks: u64,
    /// There is more behind the bound.
    is_cut: bool,
}

impl Search<'_> {
    /// Everything behind a configuration, up to `bound` steps from the beginning.
    fn from(
        &mut self,
        start: &[LocalStateId],
        start_depth: u64,
        bound: u64,
    ) -> Result<Option<Path>, StopReason> {
        let mut levels: Vec<Level> = Vec::new();
        let mut vector = start.to_vec();
        loop {
            let depth = start_depth + levels.len() as u64;
            let print = fingerprint(&crate::search::lock(self.cx.locals), &vector);
            if self.seen.is_new(print, bound - depth) {
                self.look(depth)?;
                let mut sink = Collect::default();
                let Expansion { standing, .. } = self.successors.expand(&vector, &mut sink);
                self.tally.n_machines = self.tally.n_machines.max(standing.n_machines);
                let way = |last: Option<Move>, depth| {
                    let moves = levels.iter().map(|level| level.sink.moves[level.next - 1]).chain(last);
                    Some(Path { moves: moves.collect(), breaks: last.is_some(), depth })
                };
                if standing.n_enabled == 0
                    && is_bad_end(&crate::search::lock(self.cx.locals), &vector, standing)
                {
                    return Ok(way(None, depth));
                }
                if depth == bound {
                    self.is_cut |= standing.n_enabled > 0;
                } else {
                    self.tally.n_transitions += sink.moves.len() as u64;
                    if let Some(by) = sink.broken {
                        return Ok(way(Some(by), depth + 1));
                    }
                    levels.push(Level { sink, next: 0 });
                }
            }
            // The next one on this path, or on a shorter one.
            loop {
                let Some(level) = levels.last_mut() else { return Ok(None) };
                if level.next == level.sink.moves.len() {
                    levels.pop();
                    continue;
                }
                let successor = level.sink.vectors.get(level.next);
                level.next += 1;
                vector.clear();
                vector.extend_from_slice(self.successors.canonical(successor));
                break;
            }
        }
    }

    fn look(&mut self, depth: u64) -> Result<(), StopReason> {
        self.n_looks += 1;
        if !self.n_looks.is_multiple_of(LOOK_EVERY) {
            return Ok(());
        }
        tell(self.cx, &self.tally, depth);
        let locals = crate::search::lock(self.cx.locals).n_bytes() as u64;
        let bytes =
            locals + self.successors.expander.memo.n_bytes() as u64 + self.seen.n_bytes() + self.kept_bytes;
        match self.allowance.stop_reason(self.cx, self.tally.n_transitions) {
            // What was freed may still be with the process; here it is counted.
            None | Some(StopReason::Memory { .. }) if bytes <= self.most_bytes => Ok(()),
            Some(reason) => Err(reason),
            None => Err(StopReason::Memory { bytes: self.cx.options.limits.memory_bytes.unwrap_or(0) }),
        }
    }
}

/// Entries of a bucket, which are a line of the cache.
const BUCKET: usize = 8;
/// Bits of an entry for the steps that were left, one more than there were; zero is an empty entry.
const STEP_BITS: u32 = 20;

/// Which configurations were explored, with how many steps left; as many as fit.
struct Seen {
    entries: Vec<u64>,
}

impl Seen {
    fn of_bytes(bytes: u64) -> Self {
        let n = bytes.clamp(LEAST_BYTES, MOST_BYTES) / 8;
        // The largest power of two in there.
        Seen { entries: vec![0; 1 << n.ilog2()] }
    }

    fn forget(&mut self) {
        self.entries.fill(0);
    }

    /// Notes that a configuration is explored with so many steps left, unless it was with as many.
    fn is_new(&mut self, print: u64, left: u64) -> bool {
        let mask = (1 << STEP_BITS) - 1;
        let left = (left + 1).min(mask);
        let print = mix(print);
        let n_buckets = self.entries.len() / BUCKET;
        let bucket = (print as usize & (n_buckets - 1)) * BUCKET;
        let bucket = &mut self.entries[bucket..][..BUCKET];
        let name = print >> STEP_BITS;
        if let Some(known) = bucket.iter_mut().find(|entry| **entry != 0 && **entry >> STEP_BITS == name) {
            if *known & mask >= left {
                return false;
            }
            *known = name << STEP_BITS | left;
            return true;
        }
        // Those with the fewest steps left cost the least when they are explored again.
        if let Some(least) = bucket.iter_mut().min_by_key(|entry| **entry & mask) {
            *least = name << STEP_BITS | left;
        }
        true
    }

    fn n_bytes(&self) -> u64 {
        self.entries.len() as u64 * 8
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use allways_base::Sources;
    use allways_machine::{Executable, Simplify};
    use allways_p::{Dialect, FileRole, Input};
    use allways_run::{Limits, NetworkModel, NetworkOptions, Quiet};
    use allways_testkit::generate::broadcasts::broadcasts;
    use allways_testkit::generate::generate_any;

    use super::*;
    use crate::search::counterexample::{counterexample, shortest};
    use crate::search::local::states::LocalStates;
    use crate::search::options::{ProveOptions, SearchBounds};
    use crate::search::reduce::persistent::Reach;
    use allways_run::Never;

    fn executable(text: &str, network: &NetworkOptions) -> Arc<Executable> {
        let mut sources = Sources::default();
        let file = sources.add("random.p".to_owned(), text.to_owned());
        let compiled =
            allways_p::compile(&sources, &[Input { file, role: FileRole::Source }], Dialect::default());
        let program = compiled.program.unwrap_or_else(|| panic!("{:?}\n{text}", compiled.diagnostics));
        let exe = Executable::new(&program, 0).with_network(network);
        Arc::new(exe.unwrap_or_else(|error| panic!("{error}")))
    }

    /// A path of at most so many steps, its length as it was counted; all on the kernel.
    fn find(exe: &Arc<Executable>, memory_bytes: Option<u64>, depth: u64, is_reduced: bool) -> Option<u64> {
        let limits = Limits { memory_bytes, ..Limits::default() };
        let options = ProveOptions { limits, ..ProveOptions::default() };
        let simplify = Simplify { dead_variables: is_reduced, ..Simplify::default() };
        let bounds = SearchBounds::default();
        let locals = Mutex::new(LocalStates::new(exe, limits, bounds, false, simplify, false, &Never));
        let reach = is_reduced.then(|| Reach::new(exe)).flatten();
        let cx = Context {
            label: "",
            options: &options,
            locals: &locals,
            is_symmetric: is_reduced && !exe.usage().names_in_texts(),
            collects_garbage: is_reduced && !exe.usage().names_in_texts(),
            renumbers: is_reduced,
            reach: reach.as_ref(),
            notes: None,
            observer: &Quiet,
            cancel: &Never,
        };
        let allowance = Allowance { depth, most: None, transitions: u64::MAX };
        match shortest(cx, allowance).unwrap_or_else(|error| panic!("{error}")) {
            Found::Path { steps, depth, is_shortest, .. } => {
                assert_eq!(is_shortest, memory_bytes.is_none() || depth == 1);
                assert_eq!(steps.len() as u64, depth);
                counterexample(exe, limits, &steps).unwrap_or_else(|error| panic!("{error}"));
                Some(depth)
            }
            Found::Stopped(reason) => panic!("{reason:?}"),
            Found::TooMany => panic!("there was no limit"),
            Found::Nothing => None,
        }
    }

    /// Over networks, where paths are named otherwise.
    #[test]
    fn so_it_is_over_networks() {
        let (mut n_found, mut n_none) = (0, 0);
        for seed in 0..60 {
            let text = generate_any(seed).0;
            for model in [NetworkModel::Causal, NetworkModel::Fifo, NetworkModel::Bag] {
                let network = NetworkOptions { model, ..NetworkOptions::default() };
                let exe = executable(&text, &network);
                let is_found = compare(&exe, false, &format!("seed {seed}, {model:?}\n{text}"));
                *(if is_found { &mut n_found } else { &mut n_none }) += 1;
            }
        }
        assert!(n_found > 20 && n_none > 20, "{n_found} ways, none in {n_none}");
    }

    /// Whether a path of some number of steps is found, also without the memory to search for a shortest one.
    fn compare(exe: &Arc<Executable>, is_reduced: bool, of: &str) -> bool {
        const DEPTH: u64 = 12;
        let Some(length) = find(exe, None, DEPTH, is_reduced) else {
            assert_eq!(find(exe, Some(0), DEPTH, is_reduced), None, "{of}");
            return false;
        };
        for depth in [length, DEPTH, u64::MAX] {
            let found = find(exe, Some(0), depth, is_reduced);
            let found = found.unwrap_or_else(|| panic!("none of {depth} steps: {of}"));
            assert!((length..=depth).contains(&found), "{found} steps, not {length}: {of}");
        }
        if length > 1 {
            assert_eq!(find(exe, Some(0), length - 1, is_reduced), None, "there is no shorter one: {of}");
        }
        true
    }

    /// Without any memory for a shortest path, there is one all the same, on random programs: of a known depth, and of any.
    #[test]
    fn a_way_is_found_in_fixed_memory_if_there_is_one() {
        let inbox = NetworkOptions::default();
        let (mut n_found, mut n_none) = (0, 0);
        for seed in 0..150 {
            for text in [generate_any(seed).0, broadcasts(seed)] {
                let exe = executable(&text, &inbox);
                for is_reduced in [false, true] {
                    let is_found = compare(&exe, is_reduced, &format!("seed {seed}\n{text}"));
                    *(if is_found { &mut n_found } else { &mut n_none }) += 1;
                }
            }
        }
        assert!(n_found > 50 && n_none > 20, "{n_found} ways, none in {n_none}");
    }

    #[test]
    fn seen_with_fewer_steps_left_is_looked_at_again() {
        let mut seen = Seen::of_bytes(0);
        assert!(seen.is_new(7, 3));
        assert!(!seen.is_new(7, 3));
        assert!(!seen.is_new(7, 0));
        assert!(seen.is_new(7, 4));
        assert!(!seen.is_new(7, 4));
        seen.forget();
        assert!(seen.is_new(7, 0));
    }

    #[test]
    fn many_more_than_fit_take_no_more_room() {
        let mut seen = Seen::of_bytes(0);
        let n_bytes = seen.n_bytes();
        for print in 0..n_bytes {
            seen.is_new(print, print % 5);
        }
        assert_eq!(seen.n_bytes(), n_bytes);
        assert_eq!(n_bytes, LEAST_BYTES);
    }
}
