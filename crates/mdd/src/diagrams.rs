//! Nodes: hash-consed, named by 32-bit numbers, collected by mark and sweep.
//!
//! A node has a level and edges, sorted by value, to nodes of the level below; the one node of level zero is [`Node::UNIT`].
//! No level is skipped. Two nodes of one level with the same edges are one node, so sets are equal when their nodes are.
//!
//! Levels are counted from below. A new slot gets a level on top of all others, and no node changes.
//!
//! Edges lie in one arena, each node's behind a header that names the node. Collection slides live edges down, so that the
//! arena has no holes; numbers of nodes do not change. It runs only where a caller asks for it ([`Diagrams::collect`]),
//! with the nodes that must stay; edges on the work stack stay too.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::cache::{Cache, Key};

/// A set of vectors, as a node of a [`Diagrams`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Node(u32);

impl Node {
    /// The empty set, of any level.
    pub const EMPTY: Node = Node(0);
    /// The set of the vector without slots.
    pub const UNIT: Node = Node(1);

    pub(crate) fn number(self) -> u32 {
        self.0
    }

    pub fn is_empty(self) -> bool {
        self == Node::EMPTY
    }
}

/// The vectors of `child`, each with `value` above.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Edge {
    pub value: u32,
    pub child: Node,
}

/// Why an operation ended without a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Halt {
    /// More live nodes, or more operations, than the budget allows.
    Nodes,
    /// More memory than the limit allows.
    Memory,
    /// The stop callback, or the provider of local steps, asked for it.
    Stopped,
}

/// What an operation may use.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub bytes: usize,
    pub nodes: usize,
    /// Operations that no cache answers.
    pub operations: u64,
    /// Nodes after which a collection is worth its time.
    pub collect_after: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Limits { bytes: usize::MAX, nodes: usize::MAX, operations: u64::MAX, collect_after: 1 << 18 }
    }
}

/// Figures of a [`Diagrams`].
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Usage {
    /// Nodes in use, live or not yet collected.
    pub n_nodes: usize,
    pub peak_nodes: usize,
    pub n_edges: usize,
    pub n_bytes: usize,
    pub peak_bytes: usize,
    pub n_collections: u64,
    /// Operations that no cache answered.
    pub n_operations: u64,
}

#[derive(Clone, Copy)]
struct Record {
    /// Of its header in the arena.
    offset: u32,
    level: u16,
    is_marked: bool,
    is_used: bool,
}

/// Levels from here on are for lists of nodes that are no sets.
pub(crate) const LIST_LEVEL: u16 = u16::MAX;
/// More levels are not supported.
pub const MAX_LEVELS: u32 = 1 << 15;
/// Operations between two checks of clock and memory.
const POLL_AFTER: u32 = 1 << 12;

/// Decides, from time to time, whether to stop.
pub type Stop<'s> = Box<dyn FnMut(&Usage) -> bool + 's>;

pub struct Diagrams<'s> {
    records: Vec<Record>,
    free: Vec<u32>,
    /// A header for each node: its number, and how many edges follow.
    arena: Vec<Edge>,
    table: HashTable<u32>,
    pub(crate) sets: Cache,
    pub(crate) images: Cache,
    /// Edges of nodes under construction; they are roots.
    pub(crate) work: Vec<Edge>,
    limits: Limits,
    stop: Stop<'s>,
    until_poll: u32,
    /// Live nodes after the last collection.
    n_survivors: usize,
    usage: Usage,
}

fn hash(level: u16, edges: &[Edge]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u16(level);
    for edge in edges {
        hasher.write_u64(u64::from(edge.value) << 32 | u64::from(edge.child.0));
    }
    hasher.finish()
}

impl<'s> Diagrams<'s> {
    pub fn new(limits: Limits, stop: Stop<'s>) -> Self {
        // Two caches, an eighth of the memory each at most; entries have 16 bytes.
        let most = (limits.bytes / 8 / 16).clamp(1 << 10, 1 << 25);
        let max_entries = if most.is_power_of_two() { most } else { most.next_power_of_two() / 2 };
        let terminal = Record { offset: 0, level: 0, is_marked: true, is_used: true };
        Diagrams {
            records: vec![terminal; 2],
            free: Vec::new(),
            arena: vec![Edge { value: 0, child: Node::EMPTY }],
            table: HashTable::new(),
            sets: Cache::new(max_entries),
            images: Cache::new(max_entries),
            work: Vec::new(),
            limits,
            stop,
            until_poll: POLL_AFTER,
            n_survivors: 0,
            usage: Usage::default(),
        }
    }

    /// Without limits.
    pub fn unlimited() -> Diagrams<'static> {
        Diagrams::new(Limits::default(), Box::new(|_| false))
    }

    pub fn level(&self, node: Node) -> u32 {
        u32::from(self.records[node.0 as usize].level)
    }

    #[inline]
    pub fn edges(&self, node: Node) -> &[Edge] {
        let offset = self.records[node.0 as usize].offset as usize;
        let n = self.arena[offset].child.0 as usize;
        &self.arena[offset + 1..offset + 1 + n]
    }

    #[inline]
    pub(crate) fn edge(&self, node: Node, at: usize) -> Edge {
        self.arena[self.records[node.0 as usize].offset as usize + 1 + at]
    }

    #[inline]
    pub(crate) fn n_edges(&self, node: Node) -> usize {
        self.arena[self.records[node.0 as usize].offset as usize].child.0 as usize
    }

    pub fn usage(&self) -> Usage {
        let n_nodes = self.records.len() - self.free.len();
        let n_bytes = self.n_bytes();
        Usage {
            n_nodes,
            peak_nodes: self.usage.peak_nodes.max(n_nodes),
            n_edges: self.arena.len(),
            n_bytes,
            peak_bytes: self.usage.peak_bytes.max(n_bytes),
            ..self.usage
        }
    }

    fn n_bytes(&self) -> usize {
        self.records.capacity() * size_of::<Record>()
            + self.free.capacity() * 4
            + (self.arena.capacity() + self.work.capacity()) * size_of::<Edge>()
            + self.table.capacity() * 5
            + self.sets.n_bytes()
            + self.images.n_bytes()
    }

    /// The limits from now on.
    pub fn set_limits(&mut self, limits: Limits) {
        self.limits = limits;
    }

    /// Counts one operation; from time to time looks whether to stop.
    #[inline]
    pub(crate) fn tick(&mut self) -> Result<(), Halt> {
        self.until_poll -= 1;
        if self.until_poll == 0 { self.poll() } else { Ok(()) }
    }

    #[cold]
    fn poll(&mut self) -> Result<(), Halt> {
        self.until_poll = POLL_AFTER;
        self.usage.n_operations += u64::from(POLL_AFTER);
        self.usage = self.usage();
        if (self.stop)(&self.usage) {
            return Err(Halt::Stopped);
        }
        // Garbage counts only where a collection does not come soon.
        if self.usage.n_bytes > self.limits.bytes {
            return Err(Halt::Memory);
        }
        if self.n_survivors > self.limits.nodes || self.usage.n_nodes / 4 > self.limits.nodes {
            return Err(Halt::Nodes);
        }
        if self.usage.n_operations > self.limits.operations {
            return Err(Halt::Nodes);
        }
        Ok(())
    }

    /// The node of a level with these edges, which are sorted by value and lead to nodes of the level below.
    pub fn node(&mut self, level: u32, edges: &[Edge]) -> Result<Node, Halt> {
        let base = self.work.len();
        self.work.extend_from_slice(edges);
        self.node_of_work(level, base)
    }

    /// The same for what is on the work stack from there on, which is taken off.
    pub(crate) fn node_of_work(&mut self, level: u32, base: usize) -> Result<Node, Halt> {
        debug_assert!(level < MAX_LEVELS || level == u32::from(LIST_LEVEL));
        let node = self.find_or_add(level as u16, base);
        self.work.truncate(base);
        node
    }

    #[inline]
    fn find_or_add(&mut self, level: u16, base: usize) -> Result<Node, Halt> {
        let edges = &self.work[base..];
        if edges.is_empty() {
            return Ok(Node::EMPTY);
        }
        debug_assert!(edges.is_sorted_by(|a, b| a.value < b.value));
        debug_assert!(edges.iter().all(|edge| !edge.child.is_empty()));
        let hash_of = hash(level, edges);
        let (records, arena) = (&self.records, &self.arena);
        let is_it = |&number: &u32| {
            let record = records[number as usize];
            let (offset, n) = (record.offset as usize, edges.len());
            record.level == level
                && arena[offset].child.0 as usize == n
                && arena[offset + 1..offset + 1 + n] == *edges
        };
        if let Some(&number) = self.table.find(hash_of, is_it) {
            return Ok(Node(number));
        }
        self.add(level, base, hash_of)
    }

    fn add(&mut self, level: u16, base: usize, hash_of: u64) -> Result<Node, Halt> {
        let n = self.work.len() - base;
        let offset = self.arena.len();
        if offset + n + 1 > u32::MAX as usize {
            return Err(Halt::Memory);
        }
        self.make_room(n + 1)?;
        let record = Record { offset: offset as u32, level, is_marked: false, is_used: true };
        let number = match self.free.pop() {
            Some(number) => {
                self.records[number as usize] = record;
                number
            }
            None => {
                self.records.push(record);
                self.records.len() as u32 - 1
            }
        };
        self.arena.push(Edge { value: number, child: Node(n as u32) });
        self.arena.extend_from_slice(&self.work[base..]);
        let (records, arena) = (&self.records, &self.arena);
        self.table.insert_unique(hash_of, number, |&number| rehash(records, arena, number));
        self.tick()?;
        Ok(Node(number))
    }

    /// Room for more edges in the arena, in steps that stay within the limit of memory.
    fn make_room(&mut self, n: usize) -> Result<(), Halt> {
        let (len, capacity) = (self.arena.len(), self.arena.capacity());
        if len + n <= capacity {
            return Ok(());
        }
        let left = self.limits.bytes.saturating_sub(self.n_bytes()) / size_of::<Edge>();
        let more = (capacity / 2).min(left).max(n);
        if more > left {
            return Err(Halt::Memory);
        }
        self.arena.try_reserve_exact(capacity - len + more).map_err(|_| Halt::Memory)
    }

    /// A vector set with one vector; values from the bottom level up.
    pub fn vector(&mut self, values: &[u32]) -> Result<Node, Halt> {
        let mut node = Node::UNIT;
        for (below, &value) in values.iter().enumerate() {
            node = self.node(below as u32 + 1, &[Edge { value, child: node }])?;
        }
        Ok(node)
    }

    /// Whether enough was made since the last collection to be worth another.
    pub fn is_collection_due(&self) -> bool {
        let n_nodes = self.records.len() - self.free.len();
        n_nodes - self.n_survivors.min(n_nodes) >= self.limits.collect_after.max(self.n_survivors)
            || self.arena.capacity() * size_of::<Edge>() > self.limits.bytes / 2
                && n_nodes > self.n_survivors + self.n_survivors / 4
    }

    /// Frees all nodes but those below the roots and below the work stack.
    pub fn collect(&mut self, roots: impl IntoIterator<Item = Node>) {
        self.usage = self.usage();
        self.usage.n_collections += 1;
        let mut open: Vec<Node> = roots.into_iter().collect();
        open.extend(self.work.iter().map(|edge| edge.child));
        while let Some(node) = open.pop() {
            let record = &mut self.records[node.0 as usize];
            if std::mem::replace(&mut record.is_marked, true) {
                continue;
            }
            let offset = record.offset as usize;
            let n = self.arena[offset].child.0 as usize;
            let edges = &self.arena[offset + 1..offset + 1 + n];
            let records = &self.records;
            open.extend(
                edges.iter().map(|edge| edge.child).filter(|child| !records[child.0 as usize].is_marked),
            );
        }
        self.slide();
        let records = &self.records;
        let is_live = |node: Node| records[node.0 as usize].is_used;
        // The first operand is a node too in operations on sets; in images it is a parameter.
        self.sets
            .retain(|key: Key, result| is_live(Node(key.first)) && is_live(key.second) && is_live(result));
        self.images.retain(|key: Key, result| is_live(key.second) && is_live(result));
        for record in &mut self.records[2..] {
            record.is_marked = false;
        }
        self.n_survivors = self.records.len() - self.free.len();
    }

    /// Moves the edges of marked nodes down, frees the others, and makes the table again.
    fn slide(&mut self) {
        self.table.clear();
        let (mut from, mut to) = (1, 1);
        while from < self.arena.len() {
            let Edge { value: number, child } = self.arena[from];
            let n = child.0 as usize + 1;
            let record = &mut self.records[number as usize];
            if record.is_marked {
                record.offset = to as u32;
                self.arena.copy_within(from..from + n, to);
                to += n;
            } else {
                record.is_used = false;
                self.free.push(number);
            }
            from += n;
        }
        self.arena.truncate(to);
        let (records, arena) = (&self.records, &self.arena);
        let mut at = 1;
        while at < arena.len() {
            let Edge { value: number, child } = arena[at];
            let hash_of = rehash(records, arena, number);
            self.table.insert_unique(hash_of, number, |&number| rehash(records, arena, number));
            at += child.0 as usize + 1;
        }
        if self.arena.capacity() > 4 * self.arena.len().max(1 << 12) {
            self.arena.shrink_to(2 * self.arena.len());
        }
    }

    /// Nodes and edges below a node, itself included.
    pub fn size(&self, node: Node) -> (usize, usize) {
        let mut seen = rustc_hash::FxHashSet::default();
        let (mut open, mut n_edges) = (vec![node], 0);
        while let Some(node) = open.pop() {
            if node.0 < 2 || !seen.insert(node) {
                continue;
            }
            n_edges += self.n_edges(node);
            open.extend(self.edges(node).iter().map(|edge| edge.child));
        }
        (seen.len(), n_edges)
    }
}

fn rehash(records: &[Record], arena: &[Edge], number: u32) -> u64 {
    let Record { offset, level, .. } = records[number as usize];
    let offset = offset as usize;
    hash(level, &arena[offset + 1..offset + 1 + arena[offset].child.0 as usize])
}
