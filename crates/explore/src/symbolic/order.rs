//! The order of slots in diagrams: slots that take part in the same steps come near each other.
//!
//! Which slots do is learned from random walks, which meet more kinds of steps than a short breadth-first search. The sum of
//! the spans of steps is then minimised by simulated annealing (Kirkpatrick et al., 1983). A slot that takes part in very many
//! kinds of steps cannot be near all of its partners, so its steps count less.
//!
//! The direction matters too: events are cheap near the bottom. So callers try an order and its reverse.

use rustc_hash::FxHashMap;

use crate::search::context::Context;
use crate::search::expand::{Expander, Move, Sink, Successor};
use crate::search::local::states::{Cut, LocalStateId, Slot};
use crate::search::local::vector;

/// Walks, and steps of each.
const N_WALKS: usize = 100;
const N_STEPS: usize = 1_000;
/// Successors that all walks together compute, and that they compute without meeting a new kind of step.
const MAX_SUCCESSORS: usize = 200_000;
const MAX_WITHOUT_NEWS: usize = 20_000;
/// Evaluations of the span of one kind of step in one annealing, and moves for each pair of slots.
const ANNEALING: usize = 4_000_000;
const MOVES_PER_PAIR: usize = 50;

/// Pseudo-random numbers (xorshift), the same in every run.
pub(crate) struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x2545_f491_4f6c_dd1d | 1)
    }

    pub fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n.max(1)
    }

    /// In [0, 1).
    fn unit(&mut self) -> f64 {
        self.below(1 << 30) as f64 / (1u64 << 30) as f64
    }
}

/// What the walks found.
#[derive(Default)]
pub(crate) struct Walks {
    /// Slots that take part in a step together, sorted, and how many steps they have been seen in.
    pub groups: Vec<(Vec<u32>, f64)>,
    /// Slots that occurred.
    pub n_slots: usize,
    pub violation: Option<WalkedRun>,
}

/// A walk into a violation: the number of its first configuration, and its moves, of which the last one breaks a property.
pub(crate) struct WalkedRun {
    pub start: usize,
    pub moves: Vec<Move>,
}

#[derive(Default)]
struct WalkSink {
    groups: FxHashMap<Vec<u32>, f64>,
    successors: Vec<(Move, Vec<(Slot, LocalStateId)>)>,
    has_news: bool,
    broken: Option<Move>,
}

impl Sink for WalkSink {
    fn successor(&mut self, _: &[LocalStateId], successor: Successor<'_>) {
        let mut slots: Vec<u32> = successor.changes.iter().map(|&(slot, _)| slot.as_u32()).collect();
        slots.sort_unstable();
        let n_seen = self.groups.entry(slots).or_default();
        self.has_news |= *n_seen == 0.0;
        *n_seen += 1.0;
        self.successors.push((successor.by, successor.changes.to_vec()));
    }

    fn broken(&mut self, by: Move) {
        self.broken.get_or_insert(by);
    }

    fn cut(&mut self, _: Cut) {}
}

/// Walks at random from the first configurations, until a walk meets a violation or there is reason to stop.
pub(crate) fn walk(cx: Context<'_>, expander: &mut Expander<'_>, starts: &[Vec<LocalStateId>]) -> Walks {
    let mut random = Random::new(1);
    let mut sink = WalkSink::default();
    // Beyond a bound there is nothing to see. The first step is made.
    let most = cx.options.bounds.depth.map_or(usize::MAX, |depth| depth as usize);
    let n_steps = N_STEPS.min(most.saturating_sub(1));
    let (mut n_left, mut n_without_news) = (MAX_SUCCESSORS, 0);
    let mut violation = None;
    'walks: for number in 0..N_WALKS {
        let place = number % starts.len().max(1);
        let Some(start) = starts.get(place) else { break };
        let mut vector = start.clone();
        let mut moves = Vec::new();
        for _ in 0..n_steps {
            sink.successors.clear();
            expander.expand(&vector, &mut sink);
            n_left = n_left.saturating_sub(1 + sink.successors.len());
            n_without_news += 1 + sink.successors.len();
            if std::mem::take(&mut sink.has_news) {
                n_without_news = 0;
            }
            if let Some(by) = sink.broken {
                moves.push(by);
                violation = Some(WalkedRun { start: place, moves });
                break 'walks;
            }
            let is_enough = n_left == 0 || n_without_news > MAX_WITHOUT_NEWS;
            if is_enough || cx.stop_reason().is_some() {
                break 'walks;
            }
            if sink.successors.is_empty() {
                break;
            }
            let (by, changes) = &sink.successors[random.below(sink.successors.len())];
            moves.push(*by);
            for &(slot, local) in changes {
                vector::put(&mut vector, slot, local);
            }
        }
    }
    let mut groups: Vec<(Vec<u32>, f64)> = sink.groups.into_iter().collect();
    groups.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    let met = groups.iter().flat_map(|(slots, _)| slots).map(|&slot| slot as usize + 1);
    let n_slots = met.chain(starts.iter().map(Vec::len)).max().unwrap_or(0);
    Walks { groups, n_slots, violation }
}

/// How kinds of steps are weighed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Weight {
    /// All the same.
    Equal,
    /// By the square of the number of kinds that its busiest slot takes part in.
    WithoutHubs,
    /// By the square root of how often they were seen.
    Frequency,
}

/// Kinds of steps and their weights, as annealing needs them.
struct Spans<'w> {
    groups: Vec<(&'w [u32], f64)>,
    /// By slot, which groups it is in.
    of_slot: Vec<Vec<u32>>,
}

impl<'w> Spans<'w> {
    fn new(walks: &'w Walks, weight: Weight) -> Self {
        let groups = || walks.groups.iter().filter(|(slots, _)| slots.len() > 1);
        let mut of_slot = vec![Vec::new(); walks.n_slots];
        for (number, (slots, _)) in groups().enumerate() {
            for &slot in slots {
                of_slot[slot as usize].push(number as u32);
            }
        }
        let weight_of = |slots: &[u32], n_seen: f64| match weight {
            Weight::Equal => 1.0,
            Weight::Frequency => n_seen.sqrt(),
            Weight::WithoutHubs => {
                let degrees = slots.iter().map(|&slot| of_slot[slot as usize].len() as f64);
                degrees.fold(1.0, f64::max).powi(-2)
            }
        };
        let mut weighted: Vec<(&[u32], f64)> =
            groups().map(|(slots, n_seen)| (&slots[..], weight_of(slots, *n_seen))).collect();
        let mean = weighted.iter().map(|(_, weight)| weight).sum::<f64>() / weighted.len().max(1) as f64;
        weighted.iter_mut().for_each(|(_, weight)| *weight /= mean);
        Spans { groups: weighted, of_slot }
    }

    fn span(&self, group: usize, places: &[u32]) -> f64 {
        let (slots, weight) = self.groups[group];
        let (mut low, mut high) = (u32::MAX, 0);
        for &slot in slots {
            let place = places[slot as usize];
            (low, high) = (low.min(place), high.max(place));
        }
        f64::from(high - low) * weight
    }

    fn all(&self, places: &[u32]) -> f64 {
        (0..self.groups.len()).map(|group| self.span(group, places)).sum()
    }

    /// Of the groups of two slots; those of both count twice, before and after.
    fn of_two(&self, a: u32, b: u32, places: &[u32]) -> f64 {
        let groups = self.of_slot[a as usize].iter().chain(&self.of_slot[b as usize]);
        groups.map(|&group| self.span(group as usize, places)).sum()
    }
}

fn note(order: &[u32], places: &mut [u32], low: usize, high: usize) {
    for at in low..=high {
        places[order[at] as usize] = at as u32;
    }
}

/// An order of the slots, from the bottom level up, with short spans. Two slots change places, or a part of the order is turned
/// round or shifted.
pub(crate) fn anneal(walks: &Walks, weight: Weight, seed: u64) -> Vec<u32> {
    let n = walks.n_slots;
    let mut order: Vec<u32> = (0..n as u32).collect();
    let spans = Spans::new(walks, weight);
    if n < 3 || spans.groups.is_empty() {
        return order;
    }
    let mut random = Random::new(seed);
    let mut places: Vec<u32> = (0..n as u32).collect();
    let mut now = spans.all(&places);
    let (mut best, mut best_order) = (now, order.clone());
    // An exchange costs the groups of two slots, every eighth move costs all.
    let degree = spans.of_slot.iter().map(Vec::len).sum::<usize>() / n + 1;
    let cost = 4 * degree + spans.groups.len() / 8 + n / 8;
    let n_moves = (ANNEALING / cost).clamp(500, MOVES_PER_PAIR * n * n + 500);
    let mut temperature = (now / spans.groups.len() as f64).max(0.02);
    let cooling = (0.01 / temperature).powf(1.0 / n_moves as f64);
    for number in 0..n_moves {
        let (from, until) = (random.below(n), random.below(n));
        let (low, high) = (from.min(until), from.max(until));
        let mut accepts = |more: f64| more <= 0.0 || (-more / temperature).exp() > random.unit();
        match number % 8 {
            0 | 4 => {
                let turns = number % 8 == 0;
                let change = |order: &mut [u32], back: bool| match (turns, (from < until) != back) {
                    (true, _) => order[low..=high].reverse(),
                    (false, true) => order[low..=high].rotate_left(1),
                    (false, false) => order[low..=high].rotate_right(1),
                };
                change(&mut order, false);
                note(&order, &mut places, low, high);
                let after = spans.all(&places);
                if accepts(after - now) {
                    now = after;
                } else {
                    change(&mut order, true);
                    note(&order, &mut places, low, high);
                }
            }
            _ => {
                // Mostly near each other.
                let high = if number % 2 == 0 { high } else { (low + 1 + high % 4).min(n - 1) };
                let (a, b) = (order[low], order[high]);
                let before = spans.of_two(a, b, &places);
                order.swap(low, high);
                (places[a as usize], places[b as usize]) = (high as u32, low as u32);
                let more = spans.of_two(a, b, &places) - before;
                if accepts(more) {
                    // Groups of both do not change, so nothing counts twice.
                    now += more;
                } else {
                    order.swap(low, high);
                    (places[a as usize], places[b as usize]) = (low as u32, high as u32);
                }
            }
        }
        if now < best - 1e-9 {
            best = now;
            best_order.copy_from_slice(&order);
        }
        temperature *= cooling;
    }
    best_order
}

/// Any order.
pub(crate) fn shuffled(n_slots: usize, seed: u64) -> Vec<u32> {
    let mut random = Random::new(seed);
    let mut order: Vec<u32> = (0..n_slots as u32).collect();
    for at in (1..n_slots).rev() {
        order.swap(at, random.below(at + 1));
    }
    order
}
