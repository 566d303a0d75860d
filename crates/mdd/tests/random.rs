//! Diagrams against hash sets, on random sets and random systems of events.

use std::collections::{BTreeSet, HashMap};

use allways_mdd::{Diagrams, Events, Halt, Limits, LocalSteps, NewEvent, Node, Reach};

/// A small generator of pseudo-random numbers (xorshift).
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
        (0..8).for_each(|_| _ = random.below(2));
        random
    }

    fn below(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as u32 % n
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for at in (1..items.len()).rev() {
            items.swap(at, self.below(at as u32 + 1) as usize);
        }
    }
}

type Vector = Vec<u32>;

fn diagram(diagrams: &mut Diagrams<'_>, vectors: &BTreeSet<Vector>) -> Node {
    let mut set = Node::EMPTY;
    for vector in vectors {
        let one = diagrams.vector(vector).unwrap();
        set = diagrams.union(set, one).unwrap();
    }
    set
}

fn members(diagrams: &Diagrams<'_>, set: Node) -> BTreeSet<Vector> {
    diagrams.vectors(set).into_iter().collect()
}

#[test]
fn sets_are_those_of_hash_sets() {
    for seed in 0..300 {
        let mut random = Random::new(seed);
        let n = 1 + random.below(5);
        let width = 1 + random.below(4);
        let mut some = || -> BTreeSet<Vector> {
            (0..random.below(40)).map(|_| (0..n).map(|_| random.below(width)).collect()).collect()
        };
        let (a, b) = (some(), some());
        let mut diagrams = Diagrams::unlimited();
        let (x, y) = (diagram(&mut diagrams, &a), diagram(&mut diagrams, &b));
        let union = diagrams.union(x, y).unwrap();
        let minus = diagrams.minus(x, y).unwrap();
        let intersect = diagrams.intersect(x, y).unwrap();
        assert_eq!(members(&diagrams, union), &a | &b);
        assert_eq!(members(&diagrams, minus), &a - &b);
        assert_eq!(members(&diagrams, intersect), &a & &b);
        assert_eq!(diagrams.count(union).as_u64(), Some((&a | &b).len() as u64));
        assert_eq!(x == y, a == b, "equal sets are one node");
        let passes = |level: u32, value: u32| !(level + value).is_multiple_of(3);
        let with_level = |vector: &Vector| -> Vec<bool> {
            vector.iter().enumerate().map(|(at, &value)| passes(at as u32 + 1, value)).collect()
        };
        let all = diagrams.all(x, passes).unwrap();
        let is_all = |vector: &&Vector| with_level(vector).iter().all(|&passes| passes);
        assert_eq!(members(&diagrams, all), a.iter().filter(is_all).cloned().collect());
        let some = diagrams.some(x, passes).unwrap();
        let is_some = |vector: &&Vector| with_level(vector).iter().any(|&passes| passes);
        assert_eq!(members(&diagrams, some), a.iter().filter(is_some).cloned().collect());
        let level = 1 + random.below(n);
        let mut parts = diagrams.partition(x, level, |value| value % 2).unwrap();
        let class = |vector: &&Vector, class: u32| vector[level as usize - 1] % 2 == class;
        for wanted in [1, 0] {
            let found = parts.pop_if(|(class, _)| *class == wanted).map_or(Node::EMPTY, |(_, part)| part);
            assert_eq!(members(&diagrams, found), a.iter().filter(|v| class(v, wanted)).cloned().collect());
        }
        assert!(parts.is_empty());
        for vector in a.iter().chain(&b) {
            assert_eq!(diagrams.contains(x, vector), a.contains(vector));
        }
        assert_eq!(diagrams.pick(x).is_some(), !a.is_empty());
        assert!(diagrams.pick(x).is_none_or(|vector| a.contains(&vector)));
        // What is live stays, with the same number.
        diagrams.collect([minus, x]);
        assert_eq!(members(&diagrams, minus), &a - &b);
        let again = diagram(&mut diagrams, &a);
        assert_eq!(again, x);
    }
}

/// A random system: by slot and value the events led there, by slot, action and value the reactions.
#[derive(Clone)]
struct System {
    n_slots: u32,
    leads: HashMap<(u32, u32), Vec<NewEvent>>,
    reactions: HashMap<(u32, u32, u32), Vec<u32>>,
    /// Slots that exist from the beginning.
    n_known: u32,
    /// Reactions and leads that were asked for.
    asked: BTreeSet<(u32, u32, u32)>,
}

const NO_ACTION: u32 = u32::MAX;

impl System {
    fn new(random: &mut Random, may_fail: bool) -> Self {
        let n_slots = 2 + random.below(4);
        let width = 2 + random.below(3);
        let n_actions = 1 + random.below(3);
        let mut leads: HashMap<(u32, u32), Vec<NewEvent>> = HashMap::new();
        for _ in 0..1 + random.below(4 * n_slots) {
            let slot = random.below(n_slots);
            let mut others: Vec<u32> = (0..n_slots).filter(|&other| other != slot).collect();
            random.shuffle(&mut others);
            others.truncate(random.below(3) as usize);
            let parties = others.into_iter().map(|other| (other, random.below(n_actions))).collect();
            let (value, next) = (random.below(width), random.below(width));
            leads.entry((slot, value)).or_default().push(NewEvent { label: 0, parties, next });
        }
        let mut reactions = HashMap::new();
        for slot in 0..n_slots {
            for action in 0..n_actions {
                for value in 0..width {
                    let n = if may_fail { random.below(3) } else { 1 + random.below(2) };
                    let next = (0..n).map(|_| random.below(width)).collect();
                    reactions.insert((slot, action, value), next);
                }
            }
        }
        // Slots that are met later lead nothing before.
        let n_known = 1 + random.below(n_slots);
        leads.retain(|&(slot, value), _| slot < n_known || value > 0);
        System { n_slots, leads, reactions, n_known, asked: BTreeSet::new() }
    }

    /// Successors of a vector by slots.
    fn successors(&mut self, vector: &[u32]) -> BTreeSet<Vector> {
        let mut found = BTreeSet::new();
        for slot in 0..self.n_slots {
            let value = vector[slot as usize];
            self.asked.insert((slot, NO_ACTION, value));
            for NewEvent { parties, next, .. } in self.leads.get(&(slot, value)).into_iter().flatten() {
                let mut first = vector.to_vec();
                first[slot as usize] = *next;
                let mut all = vec![first];
                for &(party, action) in parties {
                    let before = vector[party as usize];
                    self.asked.insert((party, action, before));
                    let after = &self.reactions[&(party, action, before)];
                    all = all
                        .into_iter()
                        .flat_map(|one| {
                            after.iter().map(move |&value| {
                                let mut one = one.clone();
                                one[party as usize] = value;
                                one
                            })
                        })
                        .collect();
                }
                found.extend(all);
            }
        }
        found
    }

    /// Breadth-first layers from zero.
    fn layers(&mut self) -> Vec<BTreeSet<Vector>> {
        let start = BTreeSet::from([vec![0; self.n_slots as usize]]);
        let (mut seen, mut layers) = (start.clone(), vec![start]);
        loop {
            let mut next = BTreeSet::new();
            for vector in layers.last().unwrap() {
                next.extend(self.successors(vector));
            }
            let next = &next - &seen;
            if next.is_empty() {
                return layers;
            }
            seen.extend(next.iter().cloned());
            layers.push(next);
        }
    }
}

impl LocalSteps for System {
    fn leads(&mut self, slot: u32, value: u32, found: &mut Vec<NewEvent>) -> Result<(), Halt> {
        self.asked.insert((slot, NO_ACTION, value));
        found.extend(self.leads.get(&(slot, value)).into_iter().flatten().cloned());
        Ok(())
    }

    fn react(&mut self, slot: u32, action: u32, value: u32, next: &mut Vec<u32>) -> Result<(), Halt> {
        self.asked.insert((slot, action, value));
        next.extend(&self.reactions[&(slot, action, value)]);
        Ok(())
    }
}

/// The vectors of a set, by slots. Slots without a level are zero.
fn by_slots<S: LocalSteps>(reach: &Reach<'_, S>, set: Node, n_slots: u32) -> BTreeSet<Vector> {
    let order = reach.events.order();
    let vectors = reach.diagrams.vectors(set).into_iter();
    vectors
        .map(|vector| {
            let mut by_slot = vec![0; n_slots as usize];
            for (value, &slot) in vector.into_iter().zip(order) {
                by_slot[slot as usize] = value;
            }
            by_slot
        })
        .collect()
}

/// Runs what is asked with few slots known at first, and collections all the time.
fn check(seed: u64, may_fail: bool) {
    let mut random = Random::new(seed);
    let system = System::new(&mut random, may_fail);
    let mut explicit = system.clone();
    let layers = explicit.layers();
    let asked = explicit.asked.clone();
    let all: BTreeSet<Vector> = layers.iter().flatten().cloned().collect();
    let mut order: Vec<u32> = (0..system.n_known).collect();
    random.shuffle(&mut order);
    let collect_after = [1, 20, 1 << 18][random.below(3) as usize];
    let limits = Limits { collect_after, ..Limits::default() };
    let begin = || {
        let diagrams = Diagrams::new(limits, Box::new(|_| false));
        let mut reach = Reach::new(diagrams, Events::new(&order), system.clone());
        reach.parties_may_fail = may_fail;
        let start = reach.diagrams.vector(&vec![0; order.len()]).unwrap();
        (reach, start)
    };
    let n_slots = system.n_slots;

    let (mut reach, start) = begin();
    let set = reach.saturate(start).unwrap();
    assert_eq!(by_slots(&reach, set, n_slots), all, "saturation, seed {seed}");
    assert_eq!(reach.diagrams.count(set).as_u64(), Some(all.len() as u64));
    // Slots that no event reaches have no level.
    let backward = reach.backward();
    let target = reach.diagrams.all(set, |level, value| level != 1 || value == 0).unwrap();
    let targets = by_slots(&reach, target, n_slots);
    let before = reach.preimage(&backward, target).unwrap();
    let before = reach.diagrams.intersect(before, set).unwrap();
    let leads_there =
        |vector: &&Vector| explicit.clone().successors(vector).iter().any(|next| targets.contains(next));
    let expected: BTreeSet<Vector> = all.iter().filter(leads_there).cloned().collect();
    assert_eq!(by_slots(&reach, before, n_slots), expected, "preimage, seed {seed}");
    let (rings, closed) = reach.rings(&backward, target, set).unwrap();
    let mut seen = targets;
    for (distance, &ring) in rings.iter().enumerate() {
        let ring = by_slots(&reach, ring, n_slots);
        if distance > 0 {
            assert!(ring.is_disjoint(&seen));
            assert!(ring.iter().all(|one| !explicit.successors(one).is_disjoint(&seen)));
        }
        seen.extend(ring);
    }
    let leads_in =
        |one: &&Vector| !seen.contains(*one) && !explicit.clone().successors(one).is_disjoint(&seen);
    assert_eq!(all.iter().find(leads_in), None, "rings are closed, seed {seed}");
    assert_eq!(by_slots(&reach, closed, n_slots), seen);
    let (forever, n_steps) = reach.forever(&backward, set, set).unwrap();
    let (mut left, mut n_rounds) = (all.clone(), 0);
    loop {
        let goes_on = |one: &&Vector| !explicit.clone().successors(one).is_disjoint(&left);
        let next: BTreeSet<Vector> = left.iter().filter(goes_on).cloned().collect();
        if next.is_empty() || next == left {
            left = next;
            break;
        }
        left = next;
        n_rounds += 1;
    }
    assert_eq!(by_slots(&reach, forever, n_slots), left, "steps for ever, seed {seed}");
    assert_eq!(n_steps, n_rounds, "longest run, seed {seed}");
    if !may_fail {
        let is_known = |&(slot, ..): &(u32, u32, u32)| reach.events.order().contains(&slot);
        let needed: BTreeSet<_> = asked.into_iter().filter(is_known).collect();
        assert_eq!(reach.steps.asked, needed, "only what is needed is asked for, seed {seed}");
    }

    let (mut reach, mut set) = begin();
    loop {
        let next = reach.chain(set, |_, _| Ok(())).unwrap();
        if next == set {
            break;
        }
        set = next;
    }
    assert_eq!(by_slots(&reach, set, n_slots), all, "chaining, seed {seed}");

    let (mut reach, start) = begin();
    let (mut front, mut reached) = (start, start);
    for layer in &layers {
        assert_eq!(&by_slots(&reach, front, n_slots), layer, "layers, seed {seed}");
        (front, reached) = reach.layer(front, reached).unwrap();
    }
    assert!(front.is_empty());
    assert_eq!(by_slots(&reach, reached, n_slots), all);
}

#[test]
fn searches_reach_what_explicit_search_does() {
    (0..400).for_each(|seed| check(seed, false));
}

#[test]
fn parties_without_successor_block_an_event() {
    (0..400).for_each(|seed| check(seed, true));
}

#[test]
fn limits_end_every_operation() {
    /// Many independent counters that wait for each other: enough work to meet every limit.
    struct Counters;
    impl LocalSteps for Counters {
        fn leads(&mut self, slot: u32, value: u32, found: &mut Vec<NewEvent>) -> Result<(), Halt> {
            let parties = vec![((slot + 7) % 24, 0)];
            if value < 6 {
                found.push(NewEvent { label: 0, parties, next: value + 1 });
            }
            Ok(())
        }

        fn react(&mut self, _: u32, _: u32, value: u32, next: &mut Vec<u32>) -> Result<(), Halt> {
            next.push(value ^ 1);
            Ok(())
        }
    }
    let order: Vec<u32> = (0..24).collect();
    let run = |limits, stop| {
        let mut reach = Reach::new(Diagrams::new(limits, stop), Events::new(&order), Counters);
        let start = reach.diagrams.vector(&[0; 24])?;
        reach.saturate(start)
    };
    let small = Limits { bytes: 1 << 20, ..Limits::default() };
    assert_eq!(run(small, Box::new(|_| false)), Err(Halt::Memory));
    let few = Limits { nodes: 1000, collect_after: 1000, ..Limits::default() };
    assert_eq!(run(few, Box::new(|_| false)), Err(Halt::Nodes));
    let mut n_polls = 0;
    let stop = Box::new(move |_: &_| {
        n_polls += 1;
        n_polls > 3
    });
    assert_eq!(run(Limits::default(), stop), Err(Halt::Stopped));
}
