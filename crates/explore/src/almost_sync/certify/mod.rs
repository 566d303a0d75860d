//! The checker of certificates. It shares with the engine the kernel's steps, what the kernel leaves out of local states, the topology, which
//! it computes anew, and the names of the format; nothing else.
//!
//! It goes through the states in the order of the file. In each, the machines move that the file names. These must be all that move
//! together (see [`Checker::close`]); none of their steps breaks anything; each leads to a state of the file; and
//! the runs that do without them have the delegate that the file names. A state must come in the file after one that leads there, next to
//! those that are met with it, so nothing is left over.
//!
//! Why that is a proof is explained in `almost_sync` and `delegates`. What is checked of it here, at every state:
//! - *Closure.* What the movers' steps touch is a set of machines and monitors. A machine that may send to a member and waits is a member; one that
//!   may send to a member and can step is a mover, and what its step touches is in the set. There is one mover from which all of that follows.
//! - *Settled monitors* are never touched: nothing that they observe in their control state changes them (`topology::settled`).
//! - *Steps in vain* need not be made: each outcome of the step leads back to its machine's place, creates no machine, and leaves the receiver and the
//!   monitors where they are. Their machines count for the closure.
//! - *Delegates.* If others can make a step that is not in vain, there is a delegate. A step may leave its state to the delegate if it does not deliver to a machine
//!   that can step itself but is no mover. Of the states after such steps, the first of the file is the delegate from which the line of
//!   delegates, as known up to here, does not come back; if there is none, the state in which the movers are blocked.
//! - Lines of delegates have an end, since none comes back when it is made longer.

mod file;
mod local;
mod senders;

use std::rc::Rc;
use std::sync::Arc;

use allways_base::forest;
use allways_machine::{Executable, Topology};
use allways_run::{Cancel, Limits, Observer, Progress};

use super::certificate::{Delegate, topology_lines};
use file::{File, next_line};
use local::{Head, Places};
use senders::Senders;

/// In a slot: there is no such machine.
const ABSENT: u32 = 0;
/// In a slot: the machine is blocked or has halted.
const GONE: u32 = u32::MAX;

/// States between two words to the observer.
const INTERVAL: u32 = 1024;

/// What an accepted certificate is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// Inboxes are over-approximated beyond so many messages.
    pub inbox: Option<usize>,
    pub n_states: u64,
    pub n_steps: u64,
    /// Different places of machines and monitors.
    pub n_places: u64,
    /// Memory for states, roughly.
    pub n_bytes: u64,
}

/// The test that a certificate names.
pub fn test_of(text: &str) -> Option<&str> {
    text.lines().nth(1)?.strip_prefix("test ")
}

/// The label of the program that a certificate was written for, if it has one.
pub fn program_of(text: &str) -> Option<&str> {
    text.lines().nth(2)?.strip_prefix("program ")
}

/// A certificate with a label for the program that it was written for. It proves nothing, and tells a program that was
/// changed from a proof that is wrong.
pub fn with_program(text: &str, label: &str) -> String {
    let n_head = text.match_indices('\n').nth(1).map_or(text.len(), |(at, _)| at + 1);
    let (head, rest) = text.split_at(n_head);
    format!("{head}program {label}\n{rest}")
}

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Refusal {
    /// What is wrong.
    Wrong(String),
    /// The checker was stopped.
    Interrupted,
}

impl<S: Into<String>> From<S> for Refusal {
    fn from(what: S) -> Self {
        Refusal::Wrong(what.into())
    }
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::Wrong(what) => f.write_str(what),
            Refusal::Interrupted => f.write_str("interrupted"),
        }
    }
}

/// Checks a certificate of a test.
///
/// # Errors
/// Why it is refused.
pub fn certify(
    exe: &Arc<Executable>,
    text: &str,
    limits: Limits,
    observer: &dyn Observer,
    cancel: &dyn Cancel,
) -> Result<Certified, Refusal> {
    if !exe.network.is_default() {
        return Err("certificates are for P's own network".into());
    }
    if exe.observed_text.is_some() {
        return Err(
            "runs of the program may depend on the texts of machines, which certificates do not cover".into(),
        );
    }
    let file = File::read(text, exe.monitors.len() as u32)?;
    let topology = Topology::new(exe);
    if file.test != exe.test_name {
        return Err(format!("it is about the test {}", file.test).into());
    }
    if file.topology != topology_lines(exe, &topology) {
        return Err("its topology is not that of the program".into());
    }
    let n_states = file.states.len() as u32;
    let mut checker = Checker {
        places: Places::new(exe, &file, limits)?,
        senders: Senders::new(exe, &topology, file.n_slots as usize),
        topology,
        n_monitors: exe.monitors.len(),
        file: &file,
        n_met: 0,
        fresh: Vec::new(),
        delegates: (0..n_states).collect(),
        n_steps: 0,
        set: vec![false; file.n_slots as usize],
        movers: Vec::new(),
    };
    for vector in checker.places.begin()? {
        checker.meet(&vector)?;
    }
    checker.settle()?;
    let mut lines = file.lines;
    for state in 0..n_states {
        let line = next_line(&mut lines).ok_or("the end is missing")?;
        checker.check(state, line.split_once(' ').map_or("", |(_, moves)| moves))?;
        if state % INTERVAL == 0 {
            observer.progress(&Progress {
                n_steps: checker.n_steps,
                n_configurations: Some(u64::from(state)),
                frontier: Some(u64::from(n_states - state)),
                bytes: Some((text.len() + file.states.n_bytes()) as u64),
                ..Progress::default()
            });
        }
        if state % INTERVAL == 0 && cancel.reason().is_some() {
            return Err(Refusal::Interrupted);
        }
    }
    Ok(Certified {
        inbox: file.inbox,
        n_states: u64::from(n_states),
        n_steps: checker.n_steps,
        n_places: file.places.len() as u64,
        n_bytes: (text.len() + file.states.n_bytes()) as u64 + u64::from(n_states) * 4,
    })
}

struct Checker<'t> {
    file: &'t File<'t>,
    topology: Topology,
    places: Places<'t>,
    senders: Senders,
    n_monitors: usize,
    /// States that were met: the first so many.
    n_met: u32,
    /// Those that are met now for the first time.
    fresh: Vec<u32>,
    /// By state: the delegate, or a later one of its line; itself at the end.
    delegates: Vec<u32>,
    n_steps: u64,
    /// For use again: the destination set, and the movers that it makes move.
    set: Vec<bool>,
    movers: Vec<usize>,
}

/// A machine that can step.
struct Mover {
    slot: u32,
    head: Rc<Head>,
    is_vain: bool,
}

/// A state, looked at.
struct Scene {
    vector: Vec<u32>,
    movers: Vec<Mover>,
    receiving: Vec<u32>,
    /// Monitors that nothing changes any more.
    settled: Vec<u32>,
}

impl Scene {
    /// What a step touches; machines that are gone are not there.
    fn touches<'s>(&'s self, mover: &'s Mover) -> impl Iterator<Item = u32> + 's {
        let touched = mover.head.touches.iter().copied();
        touched.filter(|slot| self.vector[*slot as usize] != GONE && !self.settled.contains(slot))
    }
}

impl Checker<'_> {
    fn check(&mut self, state: u32, moves: &str) -> Result<(), String> {
        if state >= self.n_met {
            return Err("a state to which no state before it leads".to_owned());
        }
        let scene = self.scene(state)?;
        let n_real = scene.movers.iter().filter(|mover| !mover.is_vain).count();
        let (chosen, said) = read_moves(moves).ok_or_else(|| format!("cannot read `{moves}`"))?;
        if chosen.is_empty() {
            return if n_real == 0 { Ok(()) } else { Err("no machine moves where one can".to_owned()) };
        }
        let chosen = self.chosen(&scene, &chosen)?;
        // Without other movers there are no runs that need a delegate.
        let needs_delegate = chosen.len() < n_real;
        let mut delegate = None;
        let mut successors = Vec::new();
        for &mover in &chosen {
            let Mover { slot, head, .. } = &scene.movers[mover];
            successors.clear();
            self.step(&scene, *slot, head, &mut successors)?;
            let goes_on = |target: u32| {
                let other = scene.movers.iter().position(|mover| mover.slot == target);
                other.is_some_and(|other| !chosen.contains(&other))
            };
            if !needs_delegate
                || !self.file.is_lean
                || head.deliver.is_some_and(|(target, _)| goes_on(target))
            {
                continue;
            }
            for &next in &successors {
                if delegate.is_none_or(|(delegate, _)| next < delegate)
                    && forest::root(&mut self.delegates, next) != state
                {
                    delegate = Some((next, Delegate::Step(*slot)));
                }
            }
        }
        if needs_delegate && delegate.is_none() {
            let mut blocked = scene.vector.clone();
            for &mover in &chosen {
                blocked[scene.movers[mover].slot as usize] = GONE;
            }
            delegate = Some((self.meet(&blocked)?, Delegate::Blocked));
        }
        if said != delegate.map_or(Delegate::None, |(_, delegate)| delegate) {
            return Err("the delegate is not the expected one".to_owned());
        }
        if let Some((delegate, _)) = delegate {
            let end = forest::root(&mut self.delegates, delegate);
            if end == state {
                return Err("a cycle of delegates".to_owned());
            }
            self.delegates[state as usize] = end;
        }
        self.settle()
    }

    /// The places of a state.
    fn scene(&mut self, state: u32) -> Result<Scene, String> {
        let vector = self.file.states.get(state);
        let mut scene = Scene { vector, movers: Vec::new(), receiving: Vec::new(), settled: Vec::new() };
        for slot in 0..self.n_monitors {
            let place = scene.vector.get(slot).copied().unwrap_or(ABSENT);
            if self.file.is_lean
                && place != ABSENT
                && self.topology.is_settled(self.places.local(place)?.control)
            {
                scene.settled.push(slot as u32);
            }
        }
        for slot in self.n_monitors..scene.vector.len() {
            let place = scene.vector[slot];
            if place == ABSENT || place == GONE {
                continue;
            }
            let head = self.places.head(place)?;
            let slot = slot as u32;
            if let Some(created) = head.creates {
                self.senders.creates(&self.topology, slot, created, self.places.local(place)?)?;
            }
            if head.receives {
                scene.receiving.push(slot);
            }
            if head.moves {
                let is_vain = self.file.is_lean && self.is_vain(&scene.vector, place, &head)?;
                scene.movers.push(Mover { slot, head, is_vain });
            }
        }
        Ok(scene)
    }

    /// Whether a step leaves everything as it is.
    fn is_vain(&mut self, vector: &[u32], place: u32, head: &Head) -> Result<bool, String> {
        for way in &head.ways {
            if way.end != Ok(place) || way.created.is_some() {
                return Ok(false);
            }
            for &(monitor, message) in way.observed.iter() {
                let place = vector[monitor as usize];
                if self.places.hear(place, message) != Ok(place) {
                    return Ok(false);
                }
            }
        }
        let Some((target, message)) = head.deliver else { return Ok(true) };
        let place = vector[target as usize];
        Ok(place == GONE || self.places.react(place, message)?.iter().all(|end| *end == Ok(place)))
    }

    /// The movers that the file names, which must be all that move together.
    fn chosen(&mut self, scene: &Scene, slots: &[u32]) -> Result<Vec<usize>, String> {
        let find = |&slot: &u32| {
            let mut movers = scene.movers.iter();
            movers.position(|mover| mover.slot == slot && !mover.is_vain)
        };
        let chosen: Option<Vec<usize>> = slots.iter().map(find).collect();
        let chosen = chosen.ok_or("it moves a machine that cannot move")?;
        for &seed in &chosen {
            self.close(scene, seed)?;
            let real = self.movers.iter().filter(|&&mover| !scene.movers[mover].is_vain);
            if real.eq(&chosen) {
                return Ok(chosen);
            }
        }
        Err("the machines that move are not those that must move together".to_owned())
    }

    /// The machines that move together with one, in order: all whose steps touch the least closed set that has what its step touches.
    fn close(&mut self, scene: &Scene, seed: usize) -> Result<(), String> {
        self.set.fill(false);
        self.movers.clear();
        self.movers.push(seed);
        let mut open: Vec<u32> = scene.touches(&scene.movers[seed]).collect();
        while let Some(member) = open.pop() {
            if std::mem::replace(&mut self.set[member as usize], true) {
                continue;
            }
            let senders = scene.receiving.iter().copied();
            open.extend(senders.filter(|&sender| self.senders.may_send(sender, member)));
            for (at, mover) in scene.movers.iter().enumerate() {
                if self.senders.may_send(mover.slot, member) && !self.movers.contains(&at) {
                    self.movers.push(at);
                    open.extend(scene.touches(mover));
                }
            }
        }
        self.movers.sort_unstable();
        let is_outside = |at: &usize| !self.movers.contains(at);
        for mover in (0..scene.movers.len()).filter(is_outside).map(|at| &scene.movers[at]) {
            if scene.touches(mover).any(|slot| self.set[slot as usize]) {
                return Err("a step to a machine to which the topology has no edge".to_owned());
            }
        }
        Ok(())
    }

    /// All outcomes of a step: none breaks anything, and each leads to states of the certificate, which are appended.
    fn step(
        &mut self,
        scene: &Scene,
        slot: u32,
        head: &Head,
        successors: &mut Vec<u32>,
    ) -> Result<(), String> {
        let vector = &scene.vector;
        let delivery = head.deliver.filter(|&(target, _)| vector[target as usize] != GONE);
        let reactions = match delivery {
            Some((target, message)) => Some((target, self.places.react(vector[target as usize], message)?)),
            None => None,
        };
        let mut next = Vec::with_capacity(vector.len());
        for way in &head.ways {
            next.clear();
            next.extend_from_slice(vector);
            for &(monitor, message) in way.observed.iter() {
                next[monitor as usize] = self.places.hear(next[monitor as usize], message)?;
                if next[monitor as usize] != vector[monitor as usize] && scene.settled.contains(&monitor) {
                    return Err("it changes a monitor that nothing may change".to_owned());
                }
            }
            next[slot as usize] = way.end.clone()?;
            if let Some((created, place)) = way.created {
                next[created as usize] = place;
            }
            let Some((target, reactions)) = &reactions else {
                self.n_steps += 1;
                successors.push(self.meet(&next)?);
                continue;
            };
            for place in reactions.iter() {
                self.n_steps += 1;
                next[*target as usize] = place.clone()?;
                successors.push(self.meet(&next)?);
            }
        }
        Ok(())
    }

    /// A state that is reached must be one of the certificate.
    fn meet(&mut self, vector: &[u32]) -> Result<u32, String> {
        let Some(state) = self.file.states.find(vector) else {
            let missing = vector.iter().find_map(|&place| self.places.missing(place));
            return Err(match missing {
                Some(text) => format!("a place is missing: {text}"),
                None => "a state is missing".to_owned(),
            });
        };
        if state >= self.n_met && !self.fresh.contains(&state) {
            self.fresh.push(state);
        }
        Ok(state)
    }

    /// States that are met together come next in the file.
    fn settle(&mut self) -> Result<(), String> {
        self.n_met += self.fresh.len() as u32;
        let is_next = self.fresh.iter().all(|&state| state < self.n_met);
        self.fresh.clear();
        if is_next { Ok(()) } else { Err("states are not in the order in which they are met".to_owned()) }
    }
}

/// The slots of the movers, in order, and the delegate.
fn read_moves(text: &str) -> Option<(Vec<u32>, Delegate<u32>)> {
    let (movers, delegate) = if let Some(movers) = text.strip_suffix('!') {
        (movers, Delegate::Blocked)
    } else if let Some((movers, mut delegate)) = text.split_once('>') {
        let slot = file::slot(&mut delegate)?;
        (movers, Delegate::Step(if delegate.is_empty() { slot } else { return None }))
    } else {
        (text, Delegate::None)
    };
    let mut slots: Vec<u32> = Vec::new();
    let mut rest = movers;
    while !rest.is_empty() {
        let slot = file::slot(&mut rest)?;
        if slots.last().is_some_and(|&last| last >= slot) {
            return None;
        }
        slots.push(slot);
    }
    // Where no machine moves there is no delegate.
    (!slots.is_empty() || delegate == Delegate::None).then_some((slots, delegate))
}
