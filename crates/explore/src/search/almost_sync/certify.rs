//! The checker of certificates. It shares with the engine the kernel's `step`, the topology, which it computes anew, and the
//! names of the format; nothing else.
//!
//! It walks from the beginning through whole configurations of the kernel, with a set of blocked machines beside. In each it lets
//! the machines move that the certificate names, checks that these are enough (their destination set is closed) and
//! that what they do breaks nothing and leads to states of the certificate, and blocks them in turn. In the end every state of the
//! certificate must have been met. A message to a blocked machine reaches its inbox here; nobody looks there any more.
//!
//! Where the certificate keeps so many messages of an inbox in order, one that would have to wait behind these goes to the
//! machine's tail instead, a set. A machine that comes to rest may have found there nothing, or any message that it can take,
//! again and again. So a configuration with tails stands for all whose inboxes go on with messages of the tails.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::rc::Rc;
use std::sync::Arc;

use allways_machine::encode::{encode_message, encode_whole};
use allways_machine::topology::{Target, Topology};
use allways_machine::{
    Actor, Executable, Kernel, Message, Note, Outcome, Pending, Recorder, Scene, Script, Silent, Snapshot,
    Status, must_wait,
};
use allways_run::{InstanceId, Limits, ViolationKind};

use super::certificate::{HEAD, hex, place_line, topology_lines};

/// More ways of one step to resolve its choices are too many.
const MAX_WAYS: usize = 100_000;

/// What an accepted certificate is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// Inboxes are over-approximated beyond so many messages.
    pub inbox: Option<usize>,
    pub n_states: u64,
    pub n_steps: u64,
}

/// The test that a certificate names.
pub fn test_of(text: &str) -> Option<&str> {
    text.lines().nth(1)?.strip_prefix("test ")
}

/// Checks a certificate of a test.
///
/// # Errors
/// Why it is refused.
pub fn certify(exe: &Arc<Executable>, text: &str, limits: Limits) -> Result<Certified, String> {
    let mut checker = Checker {
        file: File::read(text)?,
        topology: Topology::new(exe),
        kernel: Kernel::new(exe.clone(), limits),
        met: HashSet::new(),
        open: Vec::new(),
        n_steps: 0,
    };
    if !exe.network.is_default() {
        return Err("certificates are for P's own network".to_owned());
    }
    if checker.file.test != exe.test_name {
        return Err(format!("it is about the test {}", checker.file.test));
    }
    if checker.file.topology != topology_lines(exe, &checker.topology) {
        return Err("its topology is not that of the program".to_owned());
    }
    checker.begin()?;
    while let Some(entry) = checker.open.pop() {
        checker.expand(&entry)?;
    }
    if checker.met.len() != checker.file.states.len() {
        let n_more = checker.file.states.len() - checker.met.len();
        return Err(format!("{n_more} of its states cannot be reached by its own moves"));
    }
    let Checker { file, met, n_steps, .. } = checker;
    Ok(Certified { inbox: file.inbox, n_states: met.len() as u64, n_steps })
}

/// The content of a certificate.
struct File {
    test: String,
    /// So many messages of an inbox are kept in order.
    inbox: Option<usize>,
    topology: Vec<String>,
    places: HashMap<String, u32>,
    lines: Vec<String>,
    /// Places of a state, with those that move.
    states: HashMap<Vec<u32>, Vec<u32>>,
}

impl File {
    fn read(text: &str) -> Result<File, String> {
        let mut lines = text.lines();
        if lines.next() != Some(HEAD) {
            return Err(format!("the first line is not `{HEAD}`"));
        }
        let test = lines.next().and_then(|line| line.strip_prefix("test ")).ok_or("no test is named")?;
        let mut file = File {
            test: test.to_owned(),
            inbox: None,
            topology: Vec::new(),
            places: HashMap::new(),
            lines: Vec::new(),
            states: HashMap::new(),
        };
        for line in &mut lines {
            let (word, rest) = line.split_once(' ').ok_or_else(|| format!("cannot read `{line}`"))?;
            match word {
                "inbox" if file.inbox.is_none() => {
                    let bound = rest.parse().map_err(|_| format!("cannot read `{line}`"))?;
                    file.inbox = Some(bound);
                }
                "send" => file.topology.push(line.to_owned()),
                "machine" | "monitor" | "gone" => {
                    let number = file.lines.len() as u32;
                    if file.places.insert(line.to_owned(), number).is_some() {
                        return Err("a place comes twice".to_owned());
                    }
                    file.lines.push(line.to_owned());
                }
                "state" => {
                    let (places, movers) = rest.split_once('|').ok_or("a state without movers")?;
                    let (places, movers) = (file.numbers(places)?, file.numbers(movers)?);
                    if !movers.iter().all(|mover| places.contains(mover)) {
                        return Err("a mover that is not in the state".to_owned());
                    }
                    if file.states.insert(places, movers).is_some() {
                        return Err("a state comes twice".to_owned());
                    }
                }
                "end" => {
                    let counts = [file.topology.len(), file.lines.len(), file.states.len()];
                    let expected: Vec<String> = counts.iter().map(usize::to_string).collect();
                    return match (rest == expected.join(" "), lines.next()) {
                        (true, None) => Ok(file),
                        _ => Err("it does not have as many lines as it says".to_owned()),
                    };
                }
                _ => return Err(format!("cannot read `{line}`")),
            }
        }
        Err("the end is missing".to_owned())
    }

    /// Numbers of places, in order and once each.
    fn numbers(&self, text: &str) -> Result<Vec<u32>, String> {
        let numbers: Result<Vec<u32>, _> = text.split_whitespace().map(str::parse).collect();
        let numbers = numbers.map_err(|_| format!("not numbers: `{text}`"))?;
        let is_fine = numbers.windows(2).all(|pair| pair[0] < pair[1])
            && numbers.last().is_none_or(|&last| (last as usize) < self.lines.len());
        if is_fine { Ok(numbers) } else { Err(format!("not places in order: `{text}`")) }
    }
}

/// A state that was met and has to be looked at.
struct Entry {
    snapshot: Snapshot,
    state: Vec<u32>,
    beside: Beside,
}

/// By machine: the messages that may wait behind its inbox, by their bytes. None is empty.
type Tails = BTreeMap<InstanceId, BTreeMap<String, Message>>;

/// What belongs to a configuration beside what the kernel has.
#[derive(Clone, Default)]
struct Beside {
    blocked: Rc<BTreeSet<InstanceId>>,
    /// Where each machine was made.
    sites: Rc<HashMap<InstanceId, u32>>,
    tails: Rc<Tails>,
}

struct Checker {
    file: File,
    topology: Topology,
    kernel: Kernel,
    met: HashSet<Vec<u32>>,
    open: Vec<Entry>,
    n_steps: u64,
}

/// Who a step touches.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Touched {
    Machine(InstanceId),
    Monitor(u32),
}

#[derive(Default)]
struct Watch {
    monitors: BTreeSet<u32>,
}

impl Recorder for Watch {
    fn record(&mut self, _: &Scene<'_>, note: Note) {
        match note {
            Note::Observe { monitor, .. } => {
                self.monitors.insert(monitor);
            }
            Note::Enter { actor: Actor::Monitor(monitor), .. } => {
                self.monitors.insert(monitor);
            }
            _ => {}
        }
    }
}

impl Checker {
    fn begin(&mut self) -> Result<(), String> {
        let start = self.kernel.save();
        let sites = Rc::new(HashMap::from([(InstanceId::MAIN, 0)]));
        let beside = Beside { sites, ..Beside::default() };
        self.steps(&start, InstanceId::MAIN, &beside, &mut BTreeSet::new())
    }

    /// All ways of a step: none breaks anything, and each leads to states of the certificate.
    fn steps(
        &mut self,
        from: &Snapshot,
        machine: InstanceId,
        beside: &Beside,
        touched: &mut BTreeSet<Touched>,
    ) -> Result<(), String> {
        let mut script = Script::default();
        for n_ways in 0.. {
            self.kernel.restore(from);
            let mut beside = beside.clone();
            let newborn = self.created(machine, &beside.sites)?;
            let n_before = self.kernel.configuration().roster.len();
            let mut watch = Watch::default();
            let mut finders = BTreeSet::from([machine]);
            let stepped = match self.overflow(machine, &beside) {
                Some((target, message)) => {
                    let mut bytes = Vec::new();
                    encode_message(self.kernel.executable(), self.kernel.store(), message, &mut bytes);
                    Rc::make_mut(&mut beside.tails).entry(target).or_default().insert(hex(&bytes), message);
                    self.kernel.step_undelivered(machine, &mut script, &mut watch)
                }
                None => {
                    if let Some(Pending::Deliver { target, .. }) = self.kernel.pending(machine) {
                        finders.insert(target);
                    }
                    self.kernel.step(machine, &mut script, &mut watch)
                }
            };
            stepped.map_err(|_| "a machine that moves cannot step".to_owned())?;
            self.n_steps += 1;
            touched.extend(watch.monitors.into_iter().map(Touched::Monitor));
            self.check_outcome()?;
            if let Some(child) = self.kernel.configuration().roster.iter().nth(n_before) {
                let site = newborn.ok_or("a machine is made that the topology does not know")?;
                Rc::make_mut(&mut beside.sites).insert(child, site);
            }
            self.meet(&beside)?;
            self.find(&finders, &beside)?;
            if !script.advance() {
                return Ok(());
            }
            if n_ways > MAX_WAYS {
                break;
            }
        }
        Err("a step with too many choices".to_owned())
    }

    fn check_outcome(&self) -> Result<(), String> {
        match self.kernel.outcome() {
            Outcome::Running | Outcome::Quiescent => Ok(()),
            Outcome::Violated(found)
                if matches!(found.kind, ViolationKind::Deadlock | ViolationKind::HotAtEnd) =>
            {
                Ok(())
            }
            Outcome::Violated(found) => Err(format!("a violation is reached: {}", found.message)),
            Outcome::Unknown(_) => Err("a run cannot be continued".to_owned()),
        }
    }

    /// The message that a machine is about to send and its target, if it goes to the tail there.
    fn overflow(&self, machine: InstanceId, beside: &Beside) -> Option<(InstanceId, Message)> {
        let bound = self.file.inbox?;
        let Some(Pending::Deliver { target, message }) = self.kernel.pending(machine) else { return None };
        let local = self.kernel.configuration().local(target);
        let is_full = beside.tails.contains_key(&target) || local.inbox.len() >= bound;
        let waits = must_wait(self.kernel.executable(), local, message.event);
        (is_full && waits && !beside.blocked.contains(&target)).then_some((target, message))
    }

    /// Machines that have come to rest may find messages in their tails. All that comes of it must be in the certificate.
    fn find(&mut self, finders: &BTreeSet<InstanceId>, beside: &Beside) -> Result<(), String> {
        let exe = self.kernel.executable().clone();
        let has_tail =
            |machine: &&InstanceId| beside.tails.contains_key(machine) && !beside.blocked.contains(machine);
        let finders: Vec<InstanceId> = finders.iter().filter(has_tail).copied().collect();
        let mut open = Vec::new();
        let mut known = HashSet::new();
        if !finders.is_empty() {
            open.push(self.kernel.save());
        }
        while let Some(from) = open.pop() {
            for &machine in &finders {
                for &message in beside.tails[&machine].values() {
                    self.kernel.restore(&from);
                    let local = self.kernel.configuration().local(machine);
                    let rests = matches!(local.status, Status::Idle | Status::Blocked { .. });
                    if !rests || must_wait(&exe, local, message.event) {
                        continue;
                    }
                    let mut script = Script::default();
                    for n_ways in 0.. {
                        self.kernel.restore(&from);
                        self.kernel.find(machine, message, &mut script, &mut Silent);
                        self.n_steps += 1;
                        self.check_outcome()?;
                        let mut bytes = Vec::new();
                        self.kernel.encode_whole(&mut bytes);
                        if known.insert(bytes) {
                            self.meet(beside)?;
                            open.push(self.kernel.save());
                        }
                        if !script.advance() {
                            break;
                        }
                        if n_ways > MAX_WAYS {
                            return Err("a step with too many choices".to_owned());
                        }
                    }
                }
            }
        }
        Ok(())
    }

    fn created(&self, machine: InstanceId, sites: &HashMap<InstanceId, u32>) -> Result<Option<u32>, String> {
        match self.kernel.pending(machine) {
            Some(Pending::Create { .. }) => {
                let local = self.kernel.configuration().local(machine);
                let site = self.topology.created(sites[&machine], local);
                site.map(Some).ok_or_else(|| "a machine is made that the topology does not know".to_owned())
            }
            _ => Ok(None),
        }
    }

    /// The state in which the kernel stands must be one of the certificate.
    fn meet(&mut self, beside: &Beside) -> Result<(), String> {
        let exe = self.kernel.executable().clone();
        let conf = self.kernel.configuration();
        let encoded = |local| {
            let mut bytes = Vec::new();
            encode_whole(&exe, self.kernel.store(), local, &mut bytes);
            bytes
        };
        let machines = conf.instances().map(|(instance, local)| {
            let path = exe.instance_path(instance);
            if beside.blocked.contains(&instance) || local.status == Status::Halted {
                format!("gone {path}")
            } else {
                let tail = beside.tails.get(&instance).into_iter().flat_map(BTreeMap::keys);
                place_line(&format!("machine {path}"), &encoded(local), tail.cloned())
            }
        });
        let monitors = conf.monitors.iter().enumerate();
        let monitors = monitors
            .map(|(at, local)| place_line(&format!("monitor {at}"), &encoded(local), std::iter::empty()));
        let mut state = Vec::new();
        for line in machines.chain(monitors) {
            let place = self.file.places.get(&line);
            state.push(*place.ok_or_else(|| format!("a place is missing: {line}"))?);
        }
        state.sort_unstable();
        if !self.file.states.contains_key(&state) {
            return Err("a state is missing".to_owned());
        }
        if self.met.insert(state.clone()) {
            self.open.push(Entry { snapshot: self.kernel.save(), state, beside: beside.clone() });
        }
        Ok(())
    }

    fn expand(&mut self, entry: &Entry) -> Result<(), String> {
        self.kernel.restore(&entry.snapshot);
        let exe = self.kernel.executable().clone();
        let mut can_move = BTreeSet::new();
        let mut receiving = BTreeSet::new();
        for (instance, local) in self.kernel.configuration().instances() {
            if entry.beside.blocked.contains(&instance) {
                continue;
            }
            match local.status {
                Status::Halted => {}
                Status::Blocked { .. } => drop(receiving.insert(instance)),
                Status::Idle => {
                    receiving.insert(instance);
                    if exe.states[local.control as usize].has_null {
                        can_move.insert(instance);
                    }
                }
                Status::Pending(Pending::Fault(_)) => return Err("a fault is reached".to_owned()),
                Status::Pending(_) => drop(can_move.insert(instance)),
            }
        }
        let movers = self.movers(entry)?;
        if !movers.is_subset(&can_move) {
            return Err("a machine is said to move that cannot".to_owned());
        }
        if movers.is_empty() && !can_move.is_empty() {
            return Err("nobody moves where somebody can".to_owned());
        }
        let mut touched = BTreeSet::new();
        for &machine in &movers {
            self.kernel.restore(&entry.snapshot);
            let conf = self.kernel.configuration();
            let is_there = |instance: InstanceId| {
                !entry.beside.blocked.contains(&instance) && conf.local(instance).status != Status::Halted
            };
            match conf.local(machine).status {
                Status::Pending(Pending::Deliver { target, .. }) if is_there(target) => {
                    touched.insert(Touched::Machine(target));
                }
                Status::Idle => drop(touched.insert(Touched::Machine(machine))),
                _ => {}
            }
            self.steps(&entry.snapshot, machine, &entry.beside, &mut touched)?;
        }
        self.check_closed(entry, &movers, &can_move, &receiving, touched)?;
        if movers.len() < can_move.len() {
            self.kernel.restore(&entry.snapshot);
            let blocked = entry.beside.blocked.union(&movers).copied().collect();
            self.meet(&Beside { blocked: Rc::new(blocked), ..entry.beside.clone() })?;
        }
        Ok(())
    }

    /// The machines that the certificate lets move.
    fn movers(&self, entry: &Entry) -> Result<BTreeSet<InstanceId>, String> {
        let exe = self.kernel.executable();
        let mut movers = BTreeSet::new();
        for &place in &self.file.states[&entry.state] {
            let path = self.file.lines[place as usize].strip_prefix("machine ");
            let path = path.and_then(|rest| rest.split(' ').next());
            let instance = path.and_then(|path| exe.instance_at(path));
            movers.insert(instance.ok_or("a mover that is no machine")?);
        }
        Ok(movers)
    }

    /// Whoever may still send to what is touched waits, and is then as good as touched, or is among the movers.
    fn check_closed(
        &self,
        entry: &Entry,
        movers: &BTreeSet<InstanceId>,
        can_move: &BTreeSet<InstanceId>,
        receiving: &BTreeSet<InstanceId>,
        touched: BTreeSet<Touched>,
    ) -> Result<(), String> {
        let exe = self.kernel.executable();
        let mut open: Vec<Touched> = touched.iter().copied().collect();
        let mut known = touched;
        while let Some(member) = open.pop() {
            for &sender in can_move.union(receiving) {
                let site = entry.beside.sites[&sender];
                let machine = self.topology.sites()[site as usize].machine;
                let acts_on_itself =
                    || exe.states.iter().any(|state| state.machine == machine && state.has_null);
                let may_send = match member {
                    Touched::Monitor(monitor) => {
                        self.topology.is_potential_sender(site, Target::Monitor(monitor))
                    }
                    Touched::Machine(target) => {
                        let target_site = entry.beside.sites[&target];
                        self.topology.is_potential_sender(site, Target::Site(target_site))
                            || (target == sender && acts_on_itself())
                    }
                };
                if !may_send {
                    continue;
                }
                if can_move.contains(&sender) && !movers.contains(&sender) {
                    return Err("the machines that move are not enough".to_owned());
                }
                if receiving.contains(&sender) && known.insert(Touched::Machine(sender)) {
                    open.push(Touched::Machine(sender));
                }
            }
        }
        Ok(())
    }
}
