//! Guards: propositional formulas over choice variables, as binary decision diagrams.
//!
//! Diagrams are reduced, ordered and hash-consed with complement edges (R. E. Bryant, 1986; K. S. Brace, R. L. Rudell and
//! R. E. Bryant, 1990), so that equivalent formulas have the same [`Guard`]. The newest variable is on top: a guard of the past
//! joined with a fresh variable is one new node, not a copy. Handles have no reference counts; [`Guards::collect`] frees
//! what its roots do not need, at moments that the caller chooses, and no handle moves.
//!
//! Limits hold inside every operation. When one is met, the manager *halts*: from then on all operations answer at once,
//! with guards that mean nothing, and [`Guards::halted`] says why. Code that draws a conclusion asks it first.

use hashbrown::HashTable;

/// A formula. Equal handles are equivalent formulas, as long as both are alive.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Guard(u32);

impl Guard {
    pub const TRUE: Guard = Guard(0);
    pub const FALSE: Guard = Guard(1);

    #[inline]
    pub fn is_false(self) -> bool {
        self == Guard::FALSE
    }

    /// The negation, which costs nothing.
    #[must_use]
    #[inline]
    #[expect(clippy::should_implement_trait, reason = "reads better as a word beside `and` and `or`")]
    pub fn not(self) -> Guard {
        Guard(self.0 ^ 1)
    }
}

/// Why a manager stopped working.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    Memory,
    /// The callback asked for it.
    Stopped,
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Node {
    level: u32,
    lo: u32,
    /// Never complemented.
    hi: u32,
}

const TERMINAL: u32 = u32::MAX;
/// A node that is free for use; `lo` is the next one.
const FREE: u32 = u32::MAX - 1;
/// The level of the first variable; later ones are above it.
const FIRST: u32 = u32::MAX - 2;
const NO_NODE: u32 = u32::MAX;
/// Operations between two calls of the stop callback.
const OPERATIONS_PER_POLL: u64 = 1 << 12;
const SMALLEST_CACHE: usize = 1 << 12;
const LARGEST_CACHE: usize = 1 << 22;

/// Figures of a [`Guards`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct GuardUsage {
    /// Nodes in use, or not yet collected.
    pub n_nodes: usize,
    pub peak_nodes: usize,
    /// Conjunctions that no cache answered.
    pub n_operations: u64,
    pub n_variables: u32,
    pub n_collections: u64,
}

/// One value for each variable, in order of their making; variables beyond its end are false.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Assignment(pub Vec<bool>);

/// The manager of all guards that may meet each other.
pub struct Guards<'a> {
    nodes: Vec<Node>,
    free: u32,
    n_free: usize,
    table: HashTable<u32>,
    /// Results of conjunctions: both operands and the result.
    cache: Vec<(u32, u32, u32)>,
    max_bytes: usize,
    stop: &'a dyn Fn() -> bool,
    halted: Option<Halt>,
    usage: GuardUsage,
}

#[inline]
fn mix(a: u32, b: u32, c: u32) -> u64 {
    let mut hash = (u64::from(a) | u64::from(b) << 32).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    hash ^= hash >> 31;
    hash = (hash ^ u64::from(c)).wrapping_mul(0xC2B2_AE3D_27D4_EB4F);
    hash ^ hash >> 29
}

impl<'a> Guards<'a> {
    /// A manager that may use so many bytes, and asks `stop` from time to time.
    pub fn new(max_bytes: usize, stop: &'a dyn Fn() -> bool) -> Self {
        Guards {
            nodes: vec![Node { level: TERMINAL, lo: 0, hi: 0 }],
            free: NO_NODE,
            n_free: 0,
            table: HashTable::new(),
            cache: vec![(u32::MAX, 0, 0); SMALLEST_CACHE],
            max_bytes,
            stop,
            halted: None,
            usage: GuardUsage { n_nodes: 1, peak_nodes: 1, ..GuardUsage::default() },
        }
    }

    /// Why nothing works any more, if so.
    #[inline]
    pub fn halted(&self) -> Option<Halt> {
        self.halted
    }

    /// Stops all work.
    pub fn halt(&mut self, why: Halt) {
        self.halted.get_or_insert(why);
    }

    /// Asks the callback whether to stop.
    pub fn poll(&mut self) {
        if (self.stop)() {
            self.halt(Halt::Stopped);
        }
    }

    pub fn usage(&self) -> GuardUsage {
        GuardUsage { n_nodes: self.nodes.len() - self.n_free, ..self.usage }
    }

    /// Memory in use, roughly.
    pub fn n_bytes(&self) -> usize {
        self.nodes.capacity() * size_of::<Node>()
            + self.table.capacity() * 5
            + self.cache.len() * size_of::<(u32, u32, u32)>()
    }

    pub fn max_bytes(&self) -> usize {
        self.max_bytes
    }

    /// Changes how much memory guards may use, when others use more or less.
    pub fn set_max_bytes(&mut self, max_bytes: usize) {
        self.max_bytes = max_bytes;
    }

    /// A variable that nothing depends on yet.
    pub fn fresh(&mut self) -> Guard {
        let level = FIRST - self.usage.n_variables;
        self.usage.n_variables += 1;
        self.node(level, 1, 0)
    }

    #[inline]
    fn level(&self, f: u32) -> u32 {
        self.nodes[f as usize >> 1].level
    }

    #[inline]
    fn lo(&self, f: u32) -> u32 {
        self.nodes[f as usize >> 1].lo ^ (f & 1)
    }

    #[inline]
    fn hi(&self, f: u32) -> u32 {
        self.nodes[f as usize >> 1].hi ^ (f & 1)
    }

    fn node(&mut self, level: u32, lo: u32, hi: u32) -> Guard {
        if lo == hi {
            return Guard(lo);
        }
        let sign = hi & 1;
        let node = Node { level, lo: lo ^ sign, hi: hi ^ sign };
        let hash = mix(node.level, node.lo, node.hi);
        let nodes = &self.nodes;
        if let Some(&found) = self.table.find(hash, |&at| nodes[at as usize] == node) {
            return Guard(found << 1 | sign);
        }
        let at = match self.free {
            NO_NODE => {
                let at = self.nodes.len() as u32;
                if self.nodes.len() == self.nodes.capacity() && !self.can_grow() {
                    return Guard::FALSE;
                }
                self.nodes.push(node);
                at
            }
            at => {
                self.free = self.nodes[at as usize].lo;
                self.n_free -= 1;
                self.nodes[at as usize] = node;
                at
            }
        };
        let nodes = &self.nodes;
        self.table.insert_unique(hash, at, |&at| {
            let node = nodes[at as usize];
            mix(node.level, node.lo, node.hi)
        });
        self.usage.peak_nodes = self.usage.peak_nodes.max(self.nodes.len() - self.n_free);
        if self.nodes.len() > self.cache.len() && self.cache.len() < LARGEST_CACHE {
            self.cache = vec![(u32::MAX, 0, 0); self.cache.len() * 4];
        }
        Guard(at << 1 | sign)
    }

    /// Whether twice as many nodes fit. Handles have 31 bits.
    fn can_grow(&mut self) -> bool {
        let fits = self.n_bytes() + self.nodes.len() * (size_of::<Node>() + 5) <= self.max_bytes;
        if !fits || self.nodes.len() >= 1 << 30 {
            self.halt(Halt::Memory);
        }
        self.halted.is_none()
    }

    #[must_use]
    pub fn and(&mut self, a: Guard, b: Guard) -> Guard {
        if self.halted.is_some() {
            return Guard::FALSE;
        }
        Guard(self.and_of(a.0, b.0))
    }

    fn and_of(&mut self, a: u32, b: u32) -> u32 {
        const TRUE: u32 = Guard::TRUE.0;
        const FALSE: u32 = Guard::FALSE.0;
        if a == b || b == TRUE {
            return a;
        }
        if a == TRUE {
            return b;
        }
        if a == FALSE || b == FALSE || a == b ^ 1 {
            return FALSE;
        }
        let (a, b) = (a.min(b), a.max(b));
        let slot = mix(a, b, 0) as usize & (self.cache.len() - 1);
        let known = self.cache[slot];
        if (known.0, known.1) == (a, b) {
            return known.2;
        }
        self.usage.n_operations += 1;
        if self.usage.n_operations.is_multiple_of(OPERATIONS_PER_POLL) && (self.stop)() {
            self.halt(Halt::Stopped);
        }
        if self.halted.is_some() {
            return FALSE;
        }
        let (level_a, level_b) = (self.level(a), self.level(b));
        let level = level_a.min(level_b);
        let (a0, a1) = if level_a == level { (self.lo(a), self.hi(a)) } else { (a, a) };
        let (b0, b1) = if level_b == level { (self.lo(b), self.hi(b)) } else { (b, b) };
        let lo = self.and_of(a0, b0);
        let hi = self.and_of(a1, b1);
        let Guard(result) = self.node(level, lo, hi);
        if self.halted.is_none() {
            let slot = mix(a, b, 0) as usize & (self.cache.len() - 1);
            self.cache[slot] = (a, b, result);
        }
        result
    }

    #[must_use]
    pub fn or(&mut self, a: Guard, b: Guard) -> Guard {
        self.and(a.not(), b.not()).not()
    }

    /// `a` without `b`.
    #[must_use]
    pub fn minus(&mut self, a: Guard, b: Guard) -> Guard {
        self.and(a, b.not())
    }

    #[must_use]
    pub fn any(&mut self, guards: impl IntoIterator<Item = Guard>) -> Guard {
        guards.into_iter().fold(Guard::FALSE, |all, guard| self.or(all, guard))
    }

    /// Whether `a` implies `b`.
    #[must_use]
    pub fn implies(&mut self, a: Guard, b: Guard) -> bool {
        self.minus(a, b).is_false()
    }

    /// Whether both can hold.
    #[must_use]
    pub fn meet(&mut self, a: Guard, b: Guard) -> bool {
        !self.and(a, b).is_false()
    }

    /// Disjoint guards over fresh variables that cover everything, one for each of `n` alternatives: the last has what the others leave.
    #[must_use]
    pub fn alternatives(&mut self, n: usize) -> Vec<Guard> {
        if n <= 1 {
            return vec![Guard::TRUE; n];
        }
        let n_bits = usize::BITS - (n - 1).leading_zeros();
        let bits: Vec<Guard> = (0..n_bits).map(|_| self.fresh()).collect();
        let mut left = Guard::TRUE;
        (0..n)
            .map(|alternative| {
                if alternative == n - 1 {
                    return left;
                }
                let guard = bits.iter().enumerate().fold(Guard::TRUE, |guard, (at, &bit)| {
                    let is_set = alternative >> at & 1 == 1;
                    self.and(guard, if is_set { bit } else { bit.not() })
                });
                left = self.minus(left, guard);
                guard
            })
            .collect()
    }

    /// An assignment under which the guard holds, if there is one: the first in order, false before true, newest variable first.
    pub fn pick(&self, guard: Guard) -> Option<Assignment> {
        if guard.is_false() || self.halted.is_some() {
            return None;
        }
        let mut values = vec![false; self.usage.n_variables as usize];
        let mut at = guard.0;
        while at != Guard::TRUE.0 {
            let lo = self.lo(at);
            let is_set = lo == Guard::FALSE.0;
            values[(FIRST - self.level(at)) as usize] = is_set;
            at = if is_set { self.hi(at) } else { lo };
        }
        Some(Assignment(values))
    }

    /// Whether the guard holds under an assignment.
    pub fn holds(&self, guard: Guard, assignment: &Assignment) -> bool {
        let mut at = guard.0;
        while at > 1 {
            let variable = (FIRST - self.level(at)) as usize;
            let is_set = assignment.0.get(variable).copied().unwrap_or(false);
            at = if is_set { self.hi(at) } else { self.lo(at) };
        }
        at == Guard::TRUE.0
    }

    /// Nodes of these guards together.
    pub fn size(&self, roots: impl IntoIterator<Item = Guard>) -> usize {
        self.reached(roots).iter().filter(|&&is_live| is_live).count()
    }

    fn reached(&self, roots: impl IntoIterator<Item = Guard>) -> Vec<bool> {
        let mut is_live = vec![false; self.nodes.len()];
        is_live[0] = true;
        let mut open: Vec<u32> = roots.into_iter().map(|guard| guard.0 >> 1).collect();
        while let Some(at) = open.pop() {
            if !std::mem::replace(&mut is_live[at as usize], true) {
                let node = self.nodes[at as usize];
                open.push(node.lo >> 1);
                open.push(node.hi >> 1);
            }
        }
        is_live
    }

    /// Frees all nodes that the roots do not need. Guards that are not among the roots, or parts of them, mean nothing then.
    pub fn collect(&mut self, roots: impl IntoIterator<Item = Guard>) {
        let is_live = self.reached(roots);
        self.usage.n_collections += 1;
        self.table.clear();
        self.free = NO_NODE;
        self.n_free = 0;
        for at in (1..self.nodes.len()).rev() {
            let node = self.nodes[at];
            if is_live[at] {
                let nodes = &self.nodes;
                self.table.insert_unique(mix(node.level, node.lo, node.hi), at as u32, |&at| {
                    let node = nodes[at as usize];
                    mix(node.level, node.lo, node.hi)
                });
            } else {
                self.nodes[at] = Node { level: FREE, lo: self.free, hi: 0 };
                self.free = at as u32;
                self.n_free += 1;
            }
        }
        self.cache.fill((u32::MAX, 0, 0));
    }
}
