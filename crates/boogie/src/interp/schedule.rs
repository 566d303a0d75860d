//! Schedulers as operational definitions: which moves they allow in which situation.
//!
//! DF(K) and DFW(K) follow Emmi, Ozkan and Tasiran, "Synchronization-aware delay-bounded
//! scheduling", in the corrected reading: the release of a waiting task depends on non-completed
//! descendants in rounds up to its own, and it is applied after delays too. In DF a task at a wait
//! may be delayed there, since a wait is a preemption point followed by a test; in DFW waiting is
//! free and delays happen at preemption points only.

use super::code::Code;
use super::machine::{Conf, Standing};

/// Who decides which task runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scheduler {
    /// Any task at any preemption point.
    Concurrent,
    /// Depth first with at most this many delays.
    Df { delays: u32 },
    /// Depth first with waiting, with at most this many delays.
    Dfw { delays: u32 },
    /// Corral's: in each round a child runs before the rest of its parent, and a task may go on to a
    /// later round or stop for good at any preemption point. A post outside of atomic sections is
    /// such a point, so this scheduler has runs of its own where yields are explicit.
    ChildFirst { rounds: u32 },
}

/// One decision of a scheduler.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub enum Move {
    /// The task runs to its next scheduling point.
    Run(usize),
    /// The task moves on by this many rounds.
    Delay(usize, u32),
    /// The task never runs again.
    Abandon(usize),
}

/// What a scheduler remembers.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Sched {
    /// By task; empty under full concurrency.
    entries: Vec<Entry>,
    /// Delays so far.
    pub used: u32,
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Entry {
    round: u32,
    status: Status,
    /// Children posted since the last wait.
    n_recent: usize,
    /// Has been delayed at the point where it stands and must pass it now.
    spent: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Status {
    Ready,
    Waiting,
    Abandoned,
}

impl Sched {
    /// The round a task is in.
    pub fn round(&self, task: usize) -> u32 {
        self.entries.get(task).map_or(0, |entry| entry.round)
    }

    pub fn is_abandoned(&self, task: usize) -> bool {
        self.entries.get(task).is_some_and(|entry| entry.status == Status::Abandoned)
    }
}

impl Scheduler {
    /// The situation before the first move.
    pub fn start(self) -> Sched {
        let root = Entry { round: 0, status: Status::Ready, n_recent: 0, spent: false };
        match self {
            Scheduler::Concurrent => Sched::default(),
            Scheduler::Df { .. } | Scheduler::Dfw { .. } | Scheduler::ChildFirst { .. } => {
                Sched { entries: vec![root], used: 0 }
            }
        }
    }

    /// Whether a post is a scheduling point. Child first makes it one, as Corral does.
    pub fn stops_after_post(self) -> bool {
        matches!(self, Scheduler::ChildFirst { .. })
    }

    /// Whether nothing is left to run.
    pub fn is_finalized(self, conf: &Conf, sched: &Sched) -> bool {
        (0..conf.tasks.len()).all(|task| conf.is_completed(task) || sched.is_abandoned(task))
    }

    /// What may happen next. Nothing, without being finalized, is a run that got stuck.
    pub fn moves(self, code: &Code, conf: &Conf, sched: &Sched) -> Vec<Move> {
        match self {
            Scheduler::Concurrent => {
                (0..conf.tasks.len()).filter(|&task| conf.can_pass(code, task)).map(Move::Run).collect()
            }
            Scheduler::Df { delays } => {
                let Some(task) = select(conf, sched, &preorder(conf)) else { return Vec::new() };
                let mut moves = Vec::new();
                if conf.can_pass(code, task) {
                    moves.push(Move::Run(task));
                }
                match conf.standing(code, task) {
                    Standing::AtYield { jump } => add_delays(&mut moves, task, jump, sched, delays),
                    Standing::AtWait { .. } | Standing::AtWaitAll => {
                        add_delays(&mut moves, task, None, sched, delays);
                    }
                    Standing::Running | Standing::Completed => {}
                }
                moves
            }
            Scheduler::Dfw { delays } => {
                let Some(task) = select(conf, sched, &preorder(conf)) else { return Vec::new() };
                let mut moves = vec![Move::Run(task)];
                if let Standing::AtYield { jump } = conf.standing(code, task) {
                    add_delays(&mut moves, task, jump, sched, delays);
                }
                moves
            }
            Scheduler::ChildFirst { rounds } => {
                let Some(task) = select(conf, sched, &postorder(conf)) else { return Vec::new() };
                let mut moves = Vec::new();
                if conf.can_pass(code, task) {
                    moves.push(Move::Run(task));
                }
                let jump = match conf.standing(code, task) {
                    Standing::AtYield { jump } => jump,
                    Standing::AtWait { .. } | Standing::AtWaitAll => None,
                    Standing::Running | Standing::Completed => return moves,
                };
                let entry = &sched.entries[task];
                if !entry.spent {
                    let most = rounds.saturating_sub(entry.round + 1);
                    let (low, high) = jump.unwrap_or((1, most));
                    moves.extend((low.max(1)..=high.min(most)).map(|n| Move::Delay(task, n)));
                }
                moves.push(Move::Abandon(task));
                moves
            }
        }
    }

    /// Takes note of a move after it was made; `conf` is the configuration after it.
    pub fn after(self, code: &Code, conf: &Conf, sched: &mut Sched, made: Move) {
        if self == Scheduler::Concurrent {
            return;
        }
        match made {
            Move::Run(task) => {
                sched.entries[task].spent = false;
                let round = sched.entries[task].round;
                while sched.entries.len() < conf.tasks.len() {
                    sched.entries.push(Entry { round, status: Status::Ready, n_recent: 0, spent: false });
                    sched.entries[task].n_recent += 1;
                }
                let waits =
                    matches!(conf.standing(code, task), Standing::AtWait { .. } | Standing::AtWaitAll);
                if waits && matches!(self, Scheduler::Dfw { .. }) {
                    sched.entries[task].status = Status::Waiting;
                    sched.entries[task].n_recent = 0;
                }
            }
            Move::Delay(task, n) => {
                let one_jump = match conf.standing(code, task) {
                    Standing::AtYield { jump } => jump.is_some(),
                    Standing::Running
                    | Standing::AtWait { .. }
                    | Standing::AtWaitAll
                    | Standing::Completed => false,
                };
                let entry = &mut sched.entries[task];
                entry.round += n;
                match self {
                    Scheduler::Concurrent => {}
                    Scheduler::Df { .. } => {
                        sched.used += n;
                        entry.spent = one_jump;
                    }
                    Scheduler::Dfw { .. } => {
                        sched.used += n;
                        entry.spent = one_jump;
                        entry.status = Status::Waiting;
                    }
                    Scheduler::ChildFirst { .. } => entry.spent = true,
                }
            }
            Move::Abandon(task) => sched.entries[task].status = Status::Abandoned,
        }
        if matches!(self, Scheduler::Dfw { .. }) {
            release(code, conf, sched);
        }
        // What a scheduler will never use again should not distinguish configurations.
        for (task, entry) in sched.entries.iter_mut().enumerate() {
            let counts = matches!(self, Scheduler::Dfw { .. }) && !conf.is_completed(task);
            entry.n_recent = if counts { entry.n_recent } else { 0 };
        }
    }
}

fn add_delays(moves: &mut Vec<Move>, task: usize, jump: Option<(u32, u32)>, sched: &Sched, delays: u32) {
    if sched.entries[task].spent {
        return;
    }
    let left = delays.saturating_sub(sched.used);
    // Without a range single delays suffice: the next may follow when the task is selected again.
    let (low, high) = jump.unwrap_or((1, 1));
    moves.extend((low.max(1)..=high.min(left)).map(|n| Move::Delay(task, n)));
}

/// The ready task of the least round, the first of them in the given order.
fn select(conf: &Conf, sched: &Sched, order: &[usize]) -> Option<usize> {
    let ready = |&&task: &&usize| !conf.is_completed(task) && sched.entries[task].status == Status::Ready;
    order.iter().filter(ready).min_by_key(|&&task| sched.entries[task].round).copied()
}

/// Parents before children, older subtrees before younger ones.
fn preorder(conf: &Conf) -> Vec<usize> {
    let mut order = Vec::new();
    let mut work = vec![0];
    while let Some(task) = work.pop() {
        order.push(task);
        work.extend(conf.tasks[task].children.iter().rev());
    }
    order
}

/// Children before parents, older subtrees before younger ones.
fn postorder(conf: &Conf) -> Vec<usize> {
    let mut order = Vec::new();
    let mut work = vec![0];
    while let Some(task) = work.pop() {
        order.push(task);
        work.extend(&conf.tasks[task].children);
    }
    order.reverse();
    order
}

/// Makes waiting tasks ready where nothing holds them any more.
fn release(code: &Code, conf: &Conf, sched: &mut Sched) {
    let mut changed = true;
    while changed {
        changed = false;
        for task in 0..conf.tasks.len() {
            if sched.entries[task].status != Status::Waiting || conf.is_completed(task) {
                continue;
            }
            let Some(round) = release_round(code, conf, sched, task) else { continue };
            if is_held(conf, sched, task, round) {
                continue;
            }
            sched.entries[task].round = round;
            sched.entries[task].status = Status::Ready;
            changed = true;
        }
    }
}

/// The round in which a waiting task would go on, if what it waits for has happened.
fn release_round(code: &Code, conf: &Conf, sched: &Sched, task: usize) -> Option<u32> {
    let own = sched.entries[task].round;
    let after = |target: usize| conf.is_completed(target).then(|| own.max(sched.entries[target].round));
    match conf.standing(code, task) {
        Standing::AtWait { target: Some(target) } => after(target),
        Standing::AtWaitAll => {
            conf.tasks[task].children.iter().try_fold(own, |round, &child| Some(round.max(after(child)?)))
        }
        // A wait for nothing fails as soon as it is executed.
        Standing::AtWait { target: None } | Standing::AtYield { .. } | Standing::Running => Some(own),
        Standing::Completed => None,
    }
}

/// Whether a non-completed descendant in a round up to this one exists outside of the subtrees of
/// the children posted since the last wait.
fn is_held(conf: &Conf, sched: &Sched, task: usize, round: u32) -> bool {
    let children = &conf.tasks[task].children;
    let n_older = children.len() - sched.entries[task].n_recent.min(children.len());
    let mut work: Vec<usize> = children[..n_older].to_vec();
    while let Some(descendant) = work.pop() {
        if !conf.is_completed(descendant) && sched.entries[descendant].round <= round {
            return true;
        }
        work.extend(&conf.tasks[descendant].children);
    }
    false
}
