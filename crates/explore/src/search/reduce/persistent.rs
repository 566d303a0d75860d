//! Persistent sets (Godefroid 1996), computed from a static topology and the references that machines hold.
//!
//! Two steps are dependent when their order is observable: both deliver to one machine, or monitors observe both, or one
//! delivers to a machine that the other lets act on an empty inbox. Delivering to a machine that stands before an effect is
//! independent of that effect, since it only fills an inbox that is read later. So in a configuration some machines
//! may step alone if no other machine can ever take a dependent step before one of them moves.
//!
//! Which machine can ever send to which is known from two sides. The topology says which kinds of machines send to which, and whose
//! references messages between them carry ([`Reach`]). The configuration says which machines each machine knows: it sends only
//! to those in its variables and inbox, to itself, and to those that it learns of from machines that know them. Machines that do
//! not exist yet count as their creators.
//!
//! A set is *closed*: with a machine before a delivery it contains all that may deliver to the same target; with one that waits, or acts
//! on its own inbox, all that may deliver to it; with one that is observed, all that may be observed. The closure is computed from each
//! enabled machine, and the smallest set is taken.
//!
//! **Cycle proviso** (the ignoring problem, Valmari 1990; Peled 1993): from every configuration that is expanded partially, partial steps lead to
//! one that is expanded fully. To establish this, the path of first outcomes is followed until it gets there; if that takes too long, or the path
//! runs into a cycle, the configuration is expanded fully. The configurations on the path choose their sets as the search does, so the condition holds in
//! the graph that is searched, and depends neither on the visited set nor on threads.
//!
//! Preserves: local states of machines before each effect, faults, monitor states, terminal configurations. Does not preserve: waiting states in between, since a
//! machine with a message at hand takes it at once; lengths of runs, the largest inbox, individual infinite runs. So it is for
//! searches without bounds; a counterexample is shortened again by `counterexample`; under `random` fairness, bottom components are
//! preserved (`liveness`), and `weak` fairness is decided on the full graph.
//!
//! Which of several sets is taken is decided by paths of machines, so that counts do not depend on threads.

use std::sync::Mutex;

use allways_base::Idx;
use allways_machine::Executable;
use allways_machine::topology::{SiteId, Target, Topology};

use super::canonical::Canonicalizer;
use crate::search::local::entries::{ActKind, End, HEARD_FAULT, HEARD_UNKNOWN};
use crate::search::local::memo::Memo;
use crate::search::local::states::{LocalStateId, LocalStates, Slot};
use crate::search::local::vector;
use crate::search::lock;

/// Machines and interfaces are bits of a word; of larger configurations and programs nothing is left out.
const MAX: usize = 64;
/// Steps of the longest path that is followed.
const MAX_WAY: usize = 64;

/// Possible sends between interfaces. A creator may do what the machines may that it creates.
pub(crate) struct Reach {
    /// Interfaces it may send to.
    sends: Vec<u64>,
    /// Monitors may hear of it.
    is_heard: Vec<bool>,
    /// By sender and receiver: interfaces of references that messages carry.
    carried: Vec<u64>,
    /// Interfaces that it may make, and those may make, and so on.
    makes: Vec<u64>,
    /// It may act on an empty inbox.
    has_null: Vec<bool>,
    names_itself: Vec<bool>,
}

impl Reach {
    /// `None` for a program that is too large, or has one machine only.
    pub fn new(exe: &Executable) -> Option<Reach> {
        let n = exe.interfaces.len();
        if n > MAX {
            return None;
        }
        let topology = Topology::new(exe);
        let sites = topology.sites();
        if sites.len() < 2 {
            return None;
        }
        let interface = |site: SiteId| sites[site].interface.index();
        // By interface: itself and what it makes, as sites.
        let mut families: Vec<Vec<bool>> = vec![vec![false; sites.len()]; n];
        for (site, known) in sites.iter().enumerate() {
            families[known.interface.index()][site] = true;
        }
        let mut changed = true;
        while std::mem::take(&mut changed) {
            for (creator, created) in topology.creations() {
                for family in &mut families {
                    if family[creator.index()] && !std::mem::replace(&mut family[created.index()], true) {
                        changed = true;
                    }
                }
            }
        }
        let mut reach = Reach {
            sends: vec![0; n],
            is_heard: vec![false; n],
            carried: vec![0; n * n],
            makes: vec![0; n],
            has_null: vec![false; n],
            names_itself: vec![false; n],
        };
        let members =
            |family: &[bool]| -> Vec<SiteId> { sites.ids().filter(|&site| family[site.index()]).collect() };
        for (creator, created) in topology.creations() {
            let family = &families[interface(created)];
            for site in members(family) {
                reach.makes[interface(creator)] |= 1 << interface(site);
            }
        }
        for (me, family) in families.iter().enumerate() {
            // Of sends and what is heard the topology counts that of machines that are made; of references it does not.
            for from in members(family) {
                reach.names_itself[me] |= topology.names_itself(from);
                let machine = sites[from].machine;
                let mut states = exe.states.iter();
                reach.has_null[me] |= states.any(|state| state.machine == machine && state.has_null);
                for monitor in 0..exe.monitors.len() as u32 {
                    reach.is_heard[me] |= topology.is_potential_sender(from, Target::Monitor(monitor));
                }
                for to in sites.ids() {
                    if topology.is_potential_sender(from, Target::Site(to)) {
                        reach.sends[me] |= 1 << interface(to);
                    }
                }
                for (you, family) in families.iter().enumerate() {
                    for to in members(family) {
                        for of in topology.carried(from, to) {
                            reach.carried[me * n + you] |= 1 << interface(of);
                        }
                    }
                }
            }
        }
        Some(reach)
    }
}

/// What a local state says about its machine.
#[derive(Clone, Copy, Default)]
struct Fact {
    is_known: bool,
    interface: u8,
    /// Slots of the machines that it mentions.
    knows: u64,
}

/// Tables by slot that depend only on which machines exist.
#[derive(Default)]
struct Scene {
    /// By slot, the interface plus one; zero for an absent or halted machine.
    interfaces: Vec<u8>,
    /// Slots whose machines are of interfaces that it may send to.
    sends: Vec<u64>,
    /// By sender and receiver.
    carried: Vec<u64>,
    /// Slots of those that may create a machine that it may send to.
    sends_to_made: Vec<u64>,
    heard: u64,
    has_null: u64,
}

/// Steps that are enough for now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Chosen {
    /// Slots.
    pub movers: u64,
    /// Machines whose steps come later.
    pub n_put_off: u64,
}

impl Chosen {
    /// The machine that steps alone, if one does.
    pub fn alone(self) -> Option<Slot> {
        self.movers.is_power_of_two().then(|| Slot::from_u32(self.movers.trailing_zeros()))
    }
}

/// A configuration on a path that was followed.
#[derive(Default)]
struct Stop {
    /// As the step left it.
    raw: Vec<LocalStateId>,
    vector: Vec<LocalStateId>,
    chosen: Option<Chosen>,
}

/// Paths are this long at most, in steps that are remembered.
const MAX_STOPS: usize = 16;

/// Possible deliveries, given the enabled machines and what all know: remembered in a table of bounded size, since
/// few of the many configurations differ in that.
#[derive(Default)]
struct KnownSenders {
    /// Which scene is set; how many slots there are at most.
    scene: u64,
    n: usize,
    /// Entries of equal length: the scene, the enabled machines, those that may be observed, those that each knows, those that may deliver to each.
    entries: Vec<u64>,
}

/// Entries, as a power of two.
const KNOWN_BITS: u32 = 9;

impl KnownSenders {
    /// Another scene is set.
    fn change(&mut self, n: usize) {
        self.scene += 1;
        if self.n < n {
            self.n = n;
            self.entries.clear();
            self.entries.resize((3 + 2 * n) << KNOWN_BITS, 0);
        }
    }

    /// Where the entry is, if there is one.
    #[inline]
    fn place(&self, enabled: u64, knows: &[u64]) -> usize {
        let hash = knows.iter().fold(enabled ^ self.scene << 32, |hash, &knows| {
            (hash.rotate_left(23) ^ knows).wrapping_mul(0xd6e8_feb8_6659_fd93)
        });
        (hash >> (64 - KNOWN_BITS)) as usize * (3 + 2 * self.n)
    }

    #[inline]
    fn get(&self, place: usize, enabled: u64, knows: &[u64]) -> Option<(u64, &[u64])> {
        let entry = &self.entries[place..place + 3 + 2 * self.n];
        let is_it = entry[0] == self.scene && entry[1] == enabled && entry[3..3 + knows.len()] == *knows;
        is_it.then(|| (entry[2], &entry[3 + self.n..][..knows.len()]))
    }

    fn put(&mut self, place: usize, (heard, senders): (u64, &[u64])) {
        self.entries[place + 2] = heard;
        self.entries[place + 3 + self.n..][..senders.len()].copy_from_slice(senders);
    }

    fn claim(&mut self, place: usize, enabled: u64, knows: &[u64]) {
        self.entries[place] = self.scene;
        self.entries[place + 1] = enabled;
        self.entries[place + 3..][..knows.len()].copy_from_slice(knows);
    }
}

/// Finds persistent sets.
pub(crate) struct PersistentSets<'a> {
    locals: &'a Mutex<LocalStates<'a>>,
    reach: &'a Reach,
    n_monitors: usize,
    facts: Vec<Fact>,
    scene: Scene,
    interfaces: Vec<u8>,
    knows: [u64; MAX],
    senders: [u64; MAX],
    /// Slots in an order that depends on paths alone.
    order: Vec<Slot>,
    way: Vec<LocalStateId>,
    /// The path that was followed last, as far as it is remembered, and how much of it was used since.
    stops: Vec<Stop>,
    n_stops: usize,
    n_reported: usize,
    known: KnownSenders,
}

impl<'a> PersistentSets<'a> {
    pub fn new(locals: &'a Mutex<LocalStates<'a>>, reach: &'a Reach) -> Self {
        let n_monitors = lock(locals).n_monitors();
        PersistentSets {
            locals,
            reach,
            n_monitors,
            facts: Vec::new(),
            scene: Scene::default(),
            interfaces: Vec::new(),
            knows: [0; MAX],
            senders: [0; MAX],
            order: Vec::new(),
            way: Vec::new(),
            stops: Vec::new(),
            n_stops: 0,
            n_reported: 0,
            known: KnownSenders::default(),
        }
    }

    pub fn n_bytes(&self) -> usize {
        self.facts.capacity() * size_of::<Fact>() + self.known.entries.capacity() * 8
    }

    /// Machines whose steps are enough, if these are not all enabled ones.
    pub fn find(
        &mut self,
        memo: &mut Memo<'_>,
        vector: &[LocalStateId],
        canonicalizer: Option<&mut Canonicalizer<'_>>,
    ) -> Option<Chosen> {
        self.n_stops = 0;
        self.n_reported = 0;
        let chosen = self.least(memo, vector)?;
        let mut way = std::mem::take(&mut self.way);
        way.clear();
        way.extend_from_slice(vector);
        let ends = self.ends(memo, &mut way, chosen, canonicalizer);
        self.way = way;
        ends.then_some(chosen)
    }

    /// Whether the path by chosen steps from a configuration soon comes to one where all are needed.
    fn ends(
        &mut self,
        memo: &mut Memo<'_>,
        way: &mut Vec<LocalStateId>,
        chosen: Chosen,
        mut canonicalizer: Option<&mut Canonicalizer<'_>>,
    ) -> bool {
        let mut movers = chosen.movers;
        for _ in 0..MAX_WAY {
            if !self.follow(memo, way, movers) {
                return false;
            }
            let at = self.n_stops;
            let is_kept = at < MAX_STOPS;
            if is_kept {
                if self.stops.len() == at {
                    self.stops.push(Stop::default());
                }
                self.stops[at].raw.clone_from(way);
            }
            if let Some(canonicalizer) = &mut canonicalizer {
                let next = canonicalizer.canonical(way);
                way.clear();
                way.extend_from_slice(next);
            }
            let next = self.least(memo, way);
            if is_kept {
                let stop = &mut self.stops[at];
                stop.vector.clone_from(way);
                stop.chosen = next;
                self.n_stops = at + 1;
            }
            match next {
                None => return true,
                Some(next) => movers = next.movers,
            }
        }
        false
    }

    /// What is known of a configuration if it is the next on the path that was followed last: the one that stands for it, and
    /// what is chosen there.
    pub fn recall(&mut self, raw: &[LocalStateId]) -> Option<(&[LocalStateId], Option<Chosen>)> {
        let stop = self.stops[..self.n_stops].get(self.n_reported)?;
        if stop.raw != raw {
            return None;
        }
        self.n_reported += 1;
        Some((&stop.vector, stop.chosen))
    }

    /// The machine whose steps are enough, if one machine is. Whether others are put off for ever by that is not asked.
    pub fn alone(&mut self, memo: &mut Memo<'_>, vector: &[LocalStateId]) -> Option<Slot> {
        let enabled = self.enabled(memo, vector)?;
        if enabled.is_power_of_two() {
            return Some(Slot::from_u32(enabled.trailing_zeros()));
        }
        self.least(memo, vector)?.alone()
    }

    /// The enabled machines, with all facts about them at hand. `None` where no step is postponed.
    fn enabled(&mut self, memo: &mut Memo<'_>, vector: &[LocalStateId]) -> Option<u64> {
        if vector.len() > MAX {
            return None;
        }
        let mut enabled = 0u64;
        self.interfaces.clear();
        for (slot, &local) in vector.iter().enumerate() {
            self.interfaces.push(0);
            if slot < self.n_monitors || local.is_absent() {
                continue;
            }
            let act = memo.act(local);
            let fact = self.fact(local);
            if act.is_halted {
                continue;
            }
            self.interfaces[slot] = fact.interface + 1;
            self.knows[slot] = fact.knows;
            match act.kind {
                ActKind::Unasked | ActKind::Rest | ActKind::Blocked => {}
                ActKind::Alone | ActKind::Create | ActKind::Deliver => enabled |= 1 << slot,
                // What comes of these is for the whole search to say.
                ActKind::Network | ActKind::Fault | ActKind::Unknown => return None,
            }
        }
        if self.scene.interfaces != self.interfaces {
            self.set_scene();
        }
        Some(enabled)
    }

    /// The least of the sets that are enough, if these are not all enabled ones.
    fn least(&mut self, memo: &mut Memo<'_>, vector: &[LocalStateId]) -> Option<Chosen> {
        let n = vector.len();
        let enabled = self.enabled(memo, vector)?;
        if enabled.count_ones() < 2 {
            return None;
        }
        let heard = self.find_senders(enabled);
        if self.order.len() < n - self.n_monitors {
            let locals = lock(self.locals);
            self.order = (self.n_monitors..locals.n_slots()).map(Slot::new).collect();
            self.order.sort_by_cached_key(|&slot| locals.rank(slot));
        }
        let mut best: Option<Chosen> = None;
        // A set with one of these contains all enabled machines.
        let mut hopeless = 0u64;
        let mut size = enabled.count_ones();
        for at in 0..self.order.len() {
            let seed = self.order[at].as_u32();
            if seed as usize >= n || enabled >> seed & 1 == 0 {
                continue;
            }
            let Some(set) = self.close(memo, vector, seed, enabled, heard, hopeless) else {
                hopeless |= 1 << seed;
                continue;
            };
            let movers = set & enabled;
            if movers.count_ones() < size {
                size = movers.count_ones();
                best = Some(Chosen { movers, n_put_off: u64::from(enabled.count_ones() - size) });
                if size == 1 {
                    break;
                }
            }
        }
        best
    }

    /// The least closed set with a machine in it; `None` when it contains all enabled machines.
    fn close(
        &self,
        memo: &mut Memo<'_>,
        vector: &[LocalStateId],
        seed: u32,
        enabled: u64,
        heard: u64,
        hopeless: u64,
    ) -> Option<u64> {
        let (mut set, mut done) = (1u64 << seed, 0u64);
        while set != done {
            let slot = (set & !done).trailing_zeros() as usize;
            done |= 1 << slot;
            let act = memo.act(vector[slot]);
            match act.kind {
                ActKind::Unasked | ActKind::Rest | ActKind::Blocked => set |= self.senders[slot],
                ActKind::Alone => {
                    set |= self.senders[slot];
                    if !act.is_unheard {
                        set |= heard;
                    }
                }
                ActKind::Create if act.is_unheard => {}
                ActKind::Create => set |= heard,
                ActKind::Deliver => {
                    let (target, _) = act.delivery;
                    set |= self.senders[target.index()];
                    if !act.is_unheard {
                        set |= heard;
                    }
                }
                ActKind::Network | ActKind::Fault | ActKind::Unknown => return None,
            }
            if set & hopeless != 0 || set & enabled == enabled {
                return None;
            }
        }
        Some(set)
    }

    /// For each machine, those that may ever deliver to it; and those that may be observed.
    fn find_senders(&mut self, enabled: u64) -> u64 {
        let Scene { interfaces, sends, carried, sends_to_made, heard, has_null } = &self.scene;
        let n = interfaces.len();
        // An absent machine knows nothing; stale bits are cleared.
        for (knows, _) in self.knows.iter_mut().zip(interfaces).filter(|(_, interface)| **interface == 0) {
            *knows = 0;
        }
        let place = self.known.place(enabled, &self.knows[..n]);
        if let Some((heard, senders)) = self.known.get(place, enabled, &self.knows[..n]) {
            self.senders[..n].copy_from_slice(senders);
            return heard;
        }
        self.known.claim(place, enabled, &self.knows[..n]);
        // Others never do anything again.
        let mut live = enabled;
        loop {
            let mut changed = false;
            for from in ones(live) {
                let from = from as usize;
                let targets = sends[from] & self.knows[from];
                changed |= targets & !live != 0;
                live |= targets;
                for to in ones(targets | sends_to_made[from] & live) {
                    let to = to as usize;
                    let learned = self.knows[from] & carried[from * n + to];
                    changed |= learned & !self.knows[to] != 0;
                    self.knows[to] |= learned;
                }
            }
            if !changed {
                break;
            }
        }
        self.senders[..n].fill(0);
        for from in ones(live) {
            for to in ones(sends[from as usize] & self.knows[from as usize]) {
                self.senders[to as usize] |= 1 << from;
            }
        }
        for slot in ones(live & has_null) {
            self.senders[slot as usize] |= 1 << slot;
        }
        let heard = heard & live;
        self.known.put(place, (heard, &self.senders[..n]));
        heard
    }

    /// Where the first of the chosen machines leads, by the first outcome that changes anything.
    fn follow(&self, memo: &mut Memo<'_>, vector: &mut Vec<LocalStateId>, movers: u64) -> bool {
        for &slot in
            self.order.iter().filter(|&&slot| slot.as_u32() < u64::BITS && movers >> slot.as_u32() & 1 == 1)
        {
            let local = vector[slot.index()];
            let act = memo.act(local);
            let (target, (first, n)) = match act.kind {
                ActKind::Deliver => {
                    let (target, message) = act.delivery;
                    (Some(target), memo.deliver(vector[target.index()], message))
                }
                ActKind::Alone | ActKind::Create => (None, (0, 1)),
                ActKind::Unasked
                | ActKind::Rest
                | ActKind::Blocked
                | ActKind::Network
                | ActKind::Fault
                | ActKind::Unknown => continue,
            };
            for at in first..first + n {
                let reaction = memo.outs[at as usize];
                if target.is_some() && reaction.extra != 0 {
                    continue;
                }
                for own in 0..act.n {
                    let out = memo.outs[(act.first + own) as usize];
                    let extra = memo.extras[out.extra as usize];
                    let is_same = target.is_none_or(|target| reaction.next == vector[target.index()]);
                    if extra.end != End::Stands || is_same && out.next == local && extra.created.is_none() {
                        continue;
                    }
                    for place in extra.observed() {
                        let (monitor, message) = memo.observed[place];
                        let heard = memo.hear(vector[monitor.index()], message);
                        if heard.extra & (HEARD_FAULT | HEARD_UNKNOWN) != 0 {
                            return false;
                        }
                        vector[monitor.index()] = heard.next;
                    }
                    if let Some(target) = target {
                        vector[target.index()] = reaction.next;
                    }
                    vector[slot.index()] = out.next;
                    if let Some((slot, local, _)) = extra.created {
                        vector::put(vector, slot, local);
                    }
                    return true;
                }
            }
        }
        false
    }

    #[inline]
    fn fact(&mut self, local: LocalStateId) -> Fact {
        match self.facts.get(local.index()) {
            Some(fact) if fact.is_known => *fact,
            _ => self.ask_fact(local),
        }
    }

    #[cold]
    fn ask_fact(&mut self, local: LocalStateId) -> Fact {
        if local.is_absent() {
            return Fact::default();
        }
        let mut locals = lock(self.locals);
        let mut mentions = Vec::new();
        let (_, owner, interface) = locals.form(local, &mut mentions);
        let mut knows = 0;
        if self.reach.names_itself[interface.index()] {
            mentions.push((owner, 0));
        }
        for (slot, _) in mentions {
            knows |= 1u64.checked_shl(slot.as_u32()).unwrap_or(0);
        }
        let fact = Fact { is_known: true, interface: interface.as_u32() as u8, knows };
        if self.facts.len() <= local.index() {
            self.facts.resize(locals.n_local_states() + 1, Fact::default());
        }
        self.facts[local.index()] = fact;
        fact
    }

    #[cold]
    fn set_scene(&mut self) {
        let reach = self.reach;
        let n_interfaces = reach.sends.len();
        let n = self.interfaces.len();
        let mut by_interface = vec![0u64; n_interfaces];
        let machines: Vec<(usize, usize)> = (0..n)
            .filter(|&slot| self.interfaces[slot] != 0)
            .map(|slot| (slot, usize::from(self.interfaces[slot]) - 1))
            .collect();
        for &(slot, interface) in &machines {
            by_interface[interface] |= 1 << slot;
        }
        let slots = |interfaces: u64| ones(interfaces).fold(0, |all, at| all | by_interface[at as usize]);
        let mut scene = Scene {
            interfaces: self.interfaces.clone(),
            sends: vec![0; n],
            carried: vec![0; n * n],
            sends_to_made: vec![0; n],
            heard: 0,
            has_null: 0,
        };
        for &(from, sender) in &machines {
            scene.sends[from] = slots(reach.sends[sender]);
            scene.heard |= u64::from(reach.is_heard[sender]) << from;
            scene.has_null |= u64::from(reach.has_null[sender]) << from;
            for &(to, receiver) in &machines {
                scene.carried[from * n + to] = slots(reach.carried[sender * n_interfaces + receiver]);
                if reach.sends[sender] & reach.makes[receiver] != 0 {
                    scene.sends_to_made[from] |= 1 << to;
                }
            }
        }
        self.scene = scene;
        self.known.change(n);
    }
}

/// The places of the bits of a word.
#[inline]
fn ones(word: u64) -> impl Iterator<Item = u32> {
    std::iter::successors((word != 0).then_some(word), |&word| {
        let rest = word & (word - 1);
        (rest != 0).then_some(rest)
    })
    .map(u64::trailing_zeros)
}
