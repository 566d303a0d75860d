//! Testing by several processes.
//!
//! Process 0 learns the length of schedules, deals out blocks of schedules to whoever asks for one, itself included, and merges what comes of them in
//! order. What schedule number i does depends on seed, options and i alone, so the answer, the figures and the coverage are those of one process,
//! however many there are and however fast. Of a violation only the number of the schedule is sent: process 0 runs it again, and has the violation
//! from its own kernel.
//!
//! A message is a kind and numbers ([`wire`](crate::wire)). Another process is asked for a block when few are left, and learns of the smallest schedule
//! that is violated, so that it leaves out larger ones.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use allways_run::StopReason;

use super::check::{Block, RawOrRemote, Shared, Worker};
use super::report::Statistics;
use super::scenarios::ScenarioCoverage;
use crate::exchange::Exchange;
use crate::wire::{Read, get_length, get_number, get_reason, get_small, put_number, put_reason};

/// To process 0: another block is wanted.
const ASK: u8 = 0;
/// From process 0: a block, with the length of schedules; an empty one says that there are no more.
const GRANT: u8 = 1;
/// To process 0: what came of a block.
const RESULT: u8 = 2;
/// From process 0: the smallest schedule that is violated.
const BEST: u8 = 3;
/// From process 0: nothing more is wanted.
const STOP: u8 = 4;
/// To process 0: the last message, with the reason to stop early if there was one.
const DONE: u8 = 5;

/// Looks at the others after a limit was reached, before process 0 ends without them. Each takes a few hundredths of a second.
const PATIENCE: u32 = 200;
/// How long a thread sleeps for want of a block.
const LOOK: Duration = Duration::from_millis(20);

/// The other processes, as testing sees them.
pub(super) struct Link<'a> {
    exchange: &'a dyn Exchange,
    blocks: Mutex<Blocks>,
    change: Condvar,
    /// Threads that may still take blocks.
    n_working: AtomicUsize,
}

/// Blocks for the threads of a process that is not the first.
#[derive(Default)]
struct Blocks {
    granted: VecDeque<(u64, u64)>,
    n_asked: usize,
    length: u64,
    are_over: bool,
}

impl<'a> Link<'a> {
    pub fn new(exchange: &'a dyn Exchange) -> Self {
        let (blocks, change) = Default::default();
        Link { exchange, blocks, change, n_working: AtomicUsize::new(0) }
    }

    pub fn is_first(&self) -> bool {
        self.exchange.number() == 0
    }

    pub fn n_processes(&self) -> usize {
        self.exchange.n_processes()
    }

    fn blocks(&self) -> std::sync::MutexGuard<'_, Blocks> {
        self.blocks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn send(&self, to: usize, kind: u8, numbers: &[u64]) {
        let mut message = vec![kind];
        numbers.iter().for_each(|&n| put_number(&mut message, n));
        self.exchange.send(to, message);
    }

    /// Why the processes cannot go on together.
    fn failure(&self, is_needed: impl Fn(usize) -> bool) -> Option<String> {
        let has_left = |&other: &usize| is_needed(other) && self.exchange.has_left(other);
        let left =
            || (0..self.n_processes()).find(has_left).map(|other| format!("process {other}: it has left"));
        self.exchange.failure().or_else(left)
    }

    /// Sends what came of a block to process 0.
    pub fn send_result(&self, block: &Block) {
        let mut message = vec![RESULT];
        block.put(&mut message);
        self.exchange.send(0, message);
    }
}

impl Block {
    fn put(&self, out: &mut Vec<u8>) {
        let Statistics {
            n_schedules,
            n_steps,
            n_choices,
            min_length,
            max_length,
            n_bounded,
            n_unknown,
            n_violated,
            n_searches,
            n_open_searches,
        } = self.statistics;
        for n in [
            self.start,
            self.end,
            n_schedules,
            n_steps,
            n_choices,
            min_length,
            max_length,
            n_bounded,
            n_unknown,
            n_violated,
            n_searches,
            n_open_searches,
            u64::from(self.is_last),
        ] {
            put_number(out, n);
        }
        put_reason(self.unknown.as_ref(), out);
        put_number(out, self.fresh.len() as u64);
        self.fresh.iter().for_each(|&thing| put_number(out, thing.into()));
        put_number(out, self.scenarios.len() as u64);
        self.scenarios.iter().for_each(|scenario| scenario.put(out));
        put_number(out, self.findings.len() as u64);
        for finding in &self.findings {
            let (index, place) = finding.index_and_place();
            put_number(out, index);
            put_number(out, place);
        }
    }

    fn get(bytes: &mut &[u8], from: usize) -> Read<Block> {
        let mut next = || get_number(bytes);
        let mut block = Block { start: next()?, end: next()?, ..Block::default() };
        block.statistics = Statistics {
            n_schedules: next()?,
            n_steps: next()?,
            n_choices: next()?,
            min_length: next()?,
            max_length: next()?,
            n_bounded: next()?,
            n_unknown: next()?,
            n_violated: next()?,
            n_searches: next()?,
            n_open_searches: next()?,
        };
        block.is_last = next()? != 0;
        block.unknown = get_reason(bytes)?;
        let n = get_length(bytes)?;
        block.fresh = (0..n).map(|_| get_small(bytes)).collect::<Read<_>>()?;
        let n = get_length(bytes)?;
        block.scenarios = (0..n).map(|_| ScenarioCoverage::get(bytes)).collect::<Read<_>>()?;
        let n = get_length(bytes)?;
        for _ in 0..n {
            let (index, place) = (get_number(bytes)?, get_number(bytes)?);
            if !(block.start..block.end).contains(&index) {
                return Err("a violation in a schedule of another block".to_owned());
            }
            block.findings.push(RawOrRemote::Remote { index, place: (from, place) });
        }
        if bytes.is_empty() { Ok(block) } else { Err("bytes are left over".to_owned()) }
    }
}

/// What process 0 knows of the others.
struct Others {
    /// Blocks that are being worked on: the end, and by which process.
    granted: BTreeMap<u64, (u64, usize)>,
    are_done: Vec<bool>,
    /// What they know.
    best: u64,
    are_asked_to_stop: bool,
}

impl Shared<'_> {
    /// Process 0: deals out blocks and takes results until no other process has anything left to do. `length` is that of schedules; there are no
    /// blocks without it.
    pub(super) fn lead(&self, link: &Link<'_>, length: Option<u64>) {
        let n = link.n_processes();
        let mut others = Others {
            granted: BTreeMap::new(),
            are_done: (0..n).map(|process| process == 0).collect(),
            best: u64::MAX,
            are_asked_to_stop: false,
        };
        let mut n_looks = 0;
        while !others.are_done.iter().all(|&is_done| is_done) {
            if let Some(why) = link.failure(|other| !others.are_done[other]) {
                return self.fail(why);
            }
            let mut is_quiet = true;
            for from in 1..n {
                while let Some(message) = link.exchange.take(from) {
                    is_quiet = false;
                    if let Err(why) = self.hear(link, &mut others, from, &message, length) {
                        link.exchange.fail(from, &why);
                    }
                }
            }
            let best = self.best.load(Ordering::Relaxed);
            if best < others.best {
                others.best = best;
                (1..n).for_each(|to| link.send(to, BEST, &[best]));
            }
            if self.asks_to_stop() && !std::mem::replace(&mut others.are_asked_to_stop, true) {
                (1..n).for_each(|to| link.send(to, STOP, &[]));
            }
            if is_quiet {
                if others.are_asked_to_stop {
                    n_looks += 1;
                    if n_looks > PATIENCE {
                        return self.fail("a process does not stop".to_owned());
                    }
                }
                link.exchange.wait();
            } else {
                self.tell();
            }
        }
    }

    /// A message from another process to process 0.
    fn hear(
        &self,
        link: &Link<'_>,
        others: &mut Others,
        from: usize,
        message: &[u8],
        length: Option<u64>,
    ) -> Read<()> {
        let (&kind, mut bytes) = message.split_first().ok_or("an empty message")?;
        let bytes = &mut bytes;
        match kind {
            ASK => {
                let block = length
                    .filter(|_| !self.asks_to_stop())
                    .and_then(|length| Some((length, self.next_block()?)));
                let (length, (start, end)) = block.unwrap_or((0, (0, 0)));
                if start < end {
                    others.granted.insert(start, (end, from));
                }
                link.send(from, GRANT, &[length, start, end]);
            }
            RESULT => {
                let block = Block::get(bytes, from)?;
                if others.granted.remove(&block.start) != Some((block.end, from)) {
                    return Err("what came of a block that it was not given".to_owned());
                }
                let statistics = &block.statistics;
                self.n_schedules.fetch_add(statistics.n_schedules, Ordering::Relaxed);
                self.n_steps.fetch_add(statistics.n_steps, Ordering::Relaxed);
                self.max_length.fetch_max(statistics.max_length, Ordering::Relaxed);
                if !self.options.explore
                    && let Some(first) = block.findings.first()
                {
                    self.best.fetch_min(first.index_and_place().0, Ordering::Relaxed);
                }
                self.merge(block);
            }
            DONE => {
                let reason = get_reason(bytes)?;
                others.are_done[from] = true;
                let is_missing = others.granted.values().any(|&(_, process)| process == from);
                if let Some(reason) = reason.or(is_missing.then_some(StopReason::Interrupted)) {
                    self.stop(reason);
                }
            }
            _ => return Err("a message of no known kind".to_owned()),
        }
        if bytes.is_empty() { Ok(()) } else { Err("bytes are left over".to_owned()) }
    }

    /// Any other process: works on what process 0 deals out.
    pub(super) fn help(&self, link: &Link<'_>) {
        let n_threads = self.options.n_threads.max(1);
        link.n_working.store(n_threads, Ordering::Release);
        std::thread::scope(|scope| {
            for _ in 0..n_threads {
                scope.spawn(|| {
                    let mut worker = Worker::new(self);
                    while let Some((length, start, end)) = self.granted_block(link) {
                        worker.set_length(length);
                        // One that is of no interest any more counts as done, so process 0 need not wait for it.
                        worker.block(start, end);
                    }
                    link.n_working.fetch_sub(1, Ordering::AcqRel);
                });
            }
            while link.n_working.load(Ordering::Acquire) > 0 {
                if let Some(why) = link.failure(|other| other == 0) {
                    self.fail(why);
                }
                while let Some(message) = link.exchange.take(0) {
                    if let Err(why) = self.obey(link, &message) {
                        link.exchange.fail(0, &why);
                    }
                }
                if self.asks_to_stop() {
                    // Each block that a thread has is ended and sent before.
                    link.change.notify_all();
                }
                link.exchange.wait();
            }
        });
        let mut message = vec![DONE];
        put_reason(self.stopped().as_ref(), &mut message);
        link.exchange.send(0, message);
    }

    /// A message from process 0.
    fn obey(&self, link: &Link<'_>, message: &[u8]) -> Read<()> {
        let (&kind, mut bytes) = message.split_first().ok_or("an empty message")?;
        let bytes = &mut bytes;
        match kind {
            GRANT => {
                let (length, start, end) = (get_number(bytes)?, get_number(bytes)?, get_number(bytes)?);
                let mut blocks = link.blocks();
                blocks.n_asked = blocks.n_asked.saturating_sub(1);
                if start < end {
                    blocks.length = length;
                    blocks.granted.push_back((start, end));
                } else {
                    blocks.are_over = true;
                }
            }
            BEST => {
                self.best.fetch_min(get_number(bytes)?, Ordering::Relaxed);
            }
            STOP => self.stop(StopReason::Interrupted),
            _ => return Err("a message of no known kind".to_owned()),
        }
        link.change.notify_all();
        if bytes.is_empty() { Ok(()) } else { Err("bytes are left over".to_owned()) }
    }

    /// The next block for a thread of a process that is not the first, with the length of schedules. Waits until there is one.
    fn granted_block(&self, link: &Link<'_>) -> Option<(u64, u64, u64)> {
        // One for each thread is on its way.
        let n_wanted = 2 * self.options.n_threads.max(1);
        let mut blocks = link.blocks();
        loop {
            if self.asks_to_stop() {
                return None;
            }
            while !blocks.are_over && blocks.granted.len() + blocks.n_asked < n_wanted {
                blocks.n_asked += 1;
                link.send(0, ASK, &[]);
            }
            if let Some((start, end)) = blocks.granted.pop_front() {
                return Some((blocks.length, start, end));
            }
            if blocks.are_over && blocks.n_asked == 0 {
                return None;
            }
            blocks = link.change.wait_timeout(blocks, LOOK).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
