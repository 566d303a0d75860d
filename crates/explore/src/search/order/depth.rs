//! Depth-first search, by one thread, and iterative deepening on top of it.
//!
//! Keys are exact. The counterexample is the search's own path, so reductions that lengthen runs do no harm. With a bound on depth a configuration is
//! stored with the least depth at which it was reached, and is expanded again when it is reached with more depth left.

use allways_run::{Progress, StopReason};
use rustc_hash::FxHashMap;

use crate::error::InternalError;
use crate::search::context::{Context, Explored, SearchEnd, Tally};
use crate::search::counterexample::{StepName, is_bad_end, names, walk};
use crate::search::expand::Move;
use crate::search::growth::Clock;
use crate::search::local::states::{Cut, LocalStateId};
use crate::search::store::tree::ExactKeys;
use crate::search::successors::{Collect, Expansion, Purpose, Successors};

/// What came out: figures, and the path to a violation if there is one.
pub(crate) struct DepthFirst {
    pub explored: Explored,
    pub way: Option<Vec<StepName>>,
}

/// The moves to a violation.
struct Path {
    moves: Vec<Move>,
    /// The last one violates a property; else its target is terminal.
    breaks: bool,
    length: u64,
}

/// One configuration of the present path, with the steps not yet taken.
struct Level {
    successors: std::vec::IntoIter<(Move, Vec<LocalStateId>)>,
    /// The step that led here.
    by: Move,
    /// Words of the vectors, at first.
    n_words: usize,
}

/// Depth first, to the bound on depth if there is one.
pub(crate) fn search(cx: Context<'_>) -> Result<DepthFirst, InternalError> {
    Search::new(cx).run(cx.options.bounds.depth)
}

/// Depth first, again and again, to twice the depth each time.
pub(crate) fn deepening(cx: Context<'_>) -> Result<DepthFirst, InternalError> {
    let mut bound = 8;
    let mut n_covered = 0;
    loop {
        let bound_here = cx.options.bounds.depth.map_or(bound, |limit| limit.min(bound));
        let mut result = Search::new(cx).run(Some(bound_here))?;
        result.explored.n_covered = n_covered;
        let is_cut = result.explored.tally.cuts.has(Cut::Depth);
        let is_done = !is_cut
            || cx.options.bounds.depth == Some(bound_here)
            || result.explored.end != SearchEnd::Exhausted;
        if is_done {
            return Ok(result);
        }
        n_covered = bound_here;
        bound *= 2;
    }
}

/// Whether a configuration has to be explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Look {
    First,
    /// It was seen, but only deeper.
    Again,
    Known,
}

/// Words of successors after which limits are checked, however few configurations there were.
const UNCHECKED_WORDS: usize = 1 << 18;

struct Search<'a> {
    cx: Context<'a>,
    successors: Successors<'a>,
    /// The least depth at which each was seen.
    seen: FxHashMap<u64, u32>,
    keys: Option<ExactKeys>,
    tally: Tally,
    deepest: u64,
    peak_bytes: u64,
    n_rounds: u64,
    /// Words of the successors on the stack, and of those that came to it since limits were last checked.
    held_words: usize,
    unchecked_words: usize,
    clock: Clock,
}

impl<'a> Search<'a> {
    fn new(cx: Context<'a>) -> Self {
        Search {
            cx,
            successors: Successors::new(cx, Purpose::Search),
            seen: FxHashMap::default(),
            keys: ExactKeys::new(),
            tally: Tally { n_configurations: 1, n_machines: 1, ..Tally::default() },
            deepest: 0,
            peak_bytes: 0,
            n_rounds: 0,
            held_words: 0,
            unchecked_words: 0,
            clock: Clock::default(),
        }
    }

    fn run(mut self, bound: Option<u64>) -> Result<DepthFirst, InternalError> {
        let beginning = crate::search::lock(self.cx.locals).begin();
        let mut way = None;
        let mut end = SearchEnd::Exhausted;
        self.tally.n_transitions += beginning.n_transitions;
        if bound == Some(0) {
            self.tally.cuts.add(Cut::Depth);
        } else if let Some(answers) = beginning.violations.first() {
            end = SearchEnd::Broken { depth: 1 };
            way = Some(vec![StepName::first(answers.clone())]);
        } else {
            for (answers, vector) in &beginning.vectors {
                match self.from(vector.clone(), bound) {
                    Ok(None) => {}
                    Ok(Some(Path { moves, breaks, length })) => {
                        way = Some(if self.cx.has_representatives() {
                            walk(self.cx, vector, &moves, breaks)?
                        } else {
                            let mut steps = vec![StepName::first(answers.clone())];
                            steps.extend(names(self.cx, vector, &moves));
                            steps
                        });
                        end = SearchEnd::Broken { depth: length };
                        break;
                    }
                    Err(reason) => {
                        end = SearchEnd::Stopped(reason);
                        break;
                    }
                }
            }
        }
        let memo = &self.successors.expander.memo;
        let explored = Explored {
            end,
            tally: self.tally,
            depth: self.deepest,
            n_covered: 0,
            unknown: beginning.unknown.or_else(|| memo.unknown.clone()),
            n_lookups: memo.n_lookups,
            n_misses: memo.n_misses,
            store_bytes: self.store_bytes(),
            peak_bytes: self.peak_bytes,
            clock: self.clock,
            record: None,
        };
        Ok(DepthFirst { explored, way })
    }

    fn store_bytes(&self) -> u64 {
        // Key, depth and a byte of control, by the capacity that the table really has.
        (self.seen.capacity() * 8 / 7 * 17 + self.keys.as_ref().map_or(0, ExactKeys::n_bytes)) as u64
    }

    fn look(&mut self, vector: &[LocalStateId], depth: u64, is_bounded: bool) -> Result<Look, StopReason> {
        let bytes = self.cx.options.limits.memory_bytes.unwrap_or(0);
        let key = self.keys.as_mut().and_then(|keys| keys.key(vector));
        let key = key.ok_or(StopReason::Memory { bytes })?;
        let depth = u32::try_from(depth).unwrap_or(u32::MAX);
        match self.seen.entry(key) {
            std::collections::hash_map::Entry::Vacant(entry) => {
                entry.insert(depth);
                self.tally.n_configurations += 1;
                Ok(Look::First)
            }
            std::collections::hash_map::Entry::Occupied(mut entry) => {
                if !is_bounded || depth >= *entry.get() {
                    return Ok(Look::Known);
                }
                entry.insert(depth);
                Ok(Look::Again)
            }
        }
    }

    /// Explores everything behind a configuration; the path to a violation, if there is one.
    fn from(&mut self, start: Vec<LocalStateId>, bound: Option<u64>) -> Result<Option<Path>, StopReason> {
        let look = self.look(&start, 1, bound.is_some())?;
        if look == Look::Known {
            return Ok(None);
        }
        let mut levels: Vec<Level> = Vec::new();
        let mut arrived = Some((start, Move::default(), look));
        loop {
            if let Some((vector, by, look)) = arrived.take() {
                let depth = levels.len() as u64 + 1;
                self.deepest = self.deepest.max(depth);
                self.check_limits(&levels)?;
                let mut sink = Collect::default();
                let Expansion { standing, chosen } = self.successors.expand(&vector, &mut sink);
                if let (Some(chosen), Look::First) = (chosen, look) {
                    self.tally.n_persistent += 1;
                    self.tally.n_put_off += chosen.n_put_off;
                }
                self.tally.n_stuttering += u64::from(standing.n_stuttering);
                self.tally.n_machines = self.tally.n_machines.max(standing.n_machines);
                let moves_to = |levels: &[Level], last: &[Move]| {
                    let mut moves: Vec<Move> = levels.iter().skip(1).map(|level| level.by).collect();
                    moves.extend_from_slice(last);
                    moves
                };
                let own: &[Move] = if levels.is_empty() { &[] } else { &[by] };
                if standing.n_enabled == 0 {
                    self.tally.n_ends += u64::from(look == Look::First);
                    if is_bad_end(&crate::search::lock(self.cx.locals), &vector, standing) {
                        return Ok(Some(Path {
                            moves: moves_to(&levels, own),
                            breaks: false,
                            length: depth,
                        }));
                    }
                }
                if bound == Some(depth) {
                    if standing.n_enabled > 0 {
                        self.tally.cuts.add(Cut::Depth);
                    }
                } else {
                    self.tally.n_transitions += sink.moves.len() as u64;
                    self.tally.cuts.join(sink.cuts);
                    if let Some(last) = sink.broken {
                        let moves = moves_to(&levels, &[own, &[last]].concat());
                        return Ok(Some(Path { moves, breaks: true, length: depth + 1 }));
                    }
                    let mut successors: Vec<(Move, Vec<LocalStateId>)> = Vec::with_capacity(sink.moves.len());
                    for (i, &by) in sink.moves.iter().enumerate() {
                        let successor = self.successors.counted(sink.vectors.get(i), &mut self.tally);
                        successors.push((by, successor.to_vec()));
                    }
                    let n_words = successors.iter().map(|(_, successor)| successor.len() + 8).sum();
                    self.held_words += n_words;
                    self.unchecked_words += n_words;
                    levels.push(Level { successors: successors.into_iter(), by, n_words });
                }
            }
            let Some(level) = levels.last_mut() else { return Ok(None) };
            match level.successors.next() {
                None => {
                    self.held_words -= level.n_words;
                    levels.pop();
                }
                Some((by, vector)) => {
                    let depth = levels.len() as u64 + 1;
                    let look = self.look(&vector, depth, bound.is_some())?;
                    if look != Look::Known {
                        arrived = Some((vector, by, look));
                    }
                }
            }
        }
    }

    fn check_limits(&mut self, levels: &[Level]) -> Result<(), StopReason> {
        self.n_rounds += 1;
        // With very many machines or messages one configuration has very many, large successors.
        if !self.n_rounds.is_multiple_of(256) && self.unchecked_words < UNCHECKED_WORDS {
            return Ok(());
        }
        self.unchecked_words = 0;
        let bytes = self.store_bytes()
            + self.held_words as u64 * 4
            + crate::search::lock(self.cx.locals).n_bytes() as u64
            + self.successors.expander.memo.n_bytes() as u64;
        self.peak_bytes = self.peak_bytes.max(bytes);
        if self.n_rounds.is_multiple_of(4096) {
            self.clock.tick(&crate::search::lock(self.cx.locals));
            self.cx.observer.progress(&Progress {
                n_steps: self.tally.n_transitions,
                n_configurations: Some(self.tally.n_configurations),
                frontier: Some(levels.len() as u64),
                depth: self.deepest,
                bytes: Some(bytes),
                ..Progress::default()
            });
        }
        match self.cx.stop_reason().or_else(|| self.cx.is_over(bytes)) {
            Some(reason) => Err(reason),
            None => Ok(()),
        }
    }
}
