//! Operations on sets: union, difference, intersection, selection, counting, one member.

use rustc_hash::FxHashMap;

use crate::cache::Key;
use crate::count::Count;
use crate::diagrams::{Diagrams, Edge, Halt, Node};

const UNION: u32 = 1;
const MINUS: u32 = 2;
const INTERSECT: u32 = 3;

/// Which vectors a selection keeps.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Quantifier {
    /// Those of which the values of all levels pass.
    All,
    /// Those of which some value passes.
    Some,
}

impl Diagrams<'_> {
    /// The vectors in one of two sets of the same level, or in both.
    pub fn union(&mut self, a: Node, b: Node) -> Result<Node, Halt> {
        if a == b || b.is_empty() {
            return Ok(a);
        }
        if a.is_empty() {
            return Ok(b);
        }
        let (a, b) = (a.min(b), a.max(b));
        let key = Key { operation: UNION, first: a.number(), second: b };
        if let Some(known) = self.sets.get(key) {
            return Ok(known);
        }
        self.tick()?;
        debug_assert_eq!(self.level(a), self.level(b));
        let base = self.work.len();
        let (n_a, n_b) = (self.n_edges(a), self.n_edges(b));
        let (mut i, mut j) = (0, 0);
        while i < n_a && j < n_b {
            let (x, y) = (self.edge(a, i), self.edge(b, j));
            let edge = match x.value.cmp(&y.value) {
                std::cmp::Ordering::Less => {
                    i += 1;
                    x
                }
                std::cmp::Ordering::Greater => {
                    j += 1;
                    y
                }
                std::cmp::Ordering::Equal => {
                    (i, j) = (i + 1, j + 1);
                    Edge { value: x.value, child: self.union(x.child, y.child)? }
                }
            };
            self.work.push(edge);
        }
        self.push_rest(a, i);
        self.push_rest(b, j);
        let result = self.node_of_work(self.level(a), base)?;
        self.sets.insert(key, result);
        Ok(result)
    }

    /// Appends the edges of a node from one on to the work stack.
    fn push_rest(&mut self, node: Node, from: usize) {
        for at in from..self.n_edges(node) {
            let edge = self.edge(node, at);
            self.work.push(edge);
        }
    }

    /// The vectors of the first set that are not in the second.
    pub fn minus(&mut self, a: Node, b: Node) -> Result<Node, Halt> {
        if a == b || a.is_empty() {
            return Ok(Node::EMPTY);
        }
        if b.is_empty() {
            return Ok(a);
        }
        let key = Key { operation: MINUS, first: a.number(), second: b };
        self.by_value(a, b, key, |sets, x, y| match y {
            Some(y) => sets.minus(x, y),
            None => Ok(x),
        })
    }

    /// The vectors in both sets.
    pub fn intersect(&mut self, a: Node, b: Node) -> Result<Node, Halt> {
        if a == b || b.is_empty() {
            return Ok(b);
        }
        if a.is_empty() {
            return Ok(a);
        }
        let (a, b) = (a.min(b), a.max(b));
        let key = Key { operation: INTERSECT, first: a.number(), second: b };
        self.by_value(a, b, key, |sets, x, y| match y {
            Some(y) => sets.intersect(x, y),
            None => Ok(Node::EMPTY),
        })
    }

    /// For each value of the first set, what `combine` makes of its child and that of the second set, if it has one.
    fn by_value(
        &mut self,
        a: Node,
        b: Node,
        key: Key,
        combine: impl Fn(&mut Self, Node, Option<Node>) -> Result<Node, Halt>,
    ) -> Result<Node, Halt> {
        if let Some(known) = self.sets.get(key) {
            return Ok(known);
        }
        self.tick()?;
        debug_assert_eq!(self.level(a), self.level(b));
        let base = self.work.len();
        let n_b = self.n_edges(b);
        let mut j = 0;
        for i in 0..self.n_edges(a) {
            let Edge { value, child } = self.edge(a, i);
            while j < n_b && self.edge(b, j).value < value {
                j += 1;
            }
            let other = (j < n_b).then(|| self.edge(b, j)).filter(|other| other.value == value);
            let child = combine(self, child, other.map(|other| other.child))?;
            if !child.is_empty() {
                self.work.push(Edge { value, child });
            }
        }
        let result = self.node_of_work(self.level(a), base)?;
        self.sets.insert(key, result);
        Ok(result)
    }

    /// The vectors of which every value passes; levels are counted from one, from below.
    pub fn all(&mut self, set: Node, mut passes: impl FnMut(u32, u32) -> bool) -> Result<Node, Halt> {
        self.select(set, Quantifier::All, &mut passes, &mut FxHashMap::default())
    }

    /// The vectors of which some value passes.
    pub fn some(&mut self, set: Node, mut passes: impl FnMut(u32, u32) -> bool) -> Result<Node, Halt> {
        self.select(set, Quantifier::Some, &mut passes, &mut FxHashMap::default())
    }

    fn select(
        &mut self,
        set: Node,
        quantifier: Quantifier,
        passes: &mut dyn FnMut(u32, u32) -> bool,
        known: &mut FxHashMap<Node, Node>,
    ) -> Result<Node, Halt> {
        if set.is_empty() || set == Node::UNIT {
            return Ok(if quantifier == Quantifier::All { set } else { Node::EMPTY });
        }
        if let Some(&found) = known.get(&set) {
            return Ok(found);
        }
        self.tick()?;
        let level = self.level(set);
        let base = self.work.len();
        for at in 0..self.n_edges(set) {
            let Edge { value, child } = self.edge(set, at);
            let child = match (quantifier, passes(level, value)) {
                (Quantifier::All, false) => continue,
                (Quantifier::Some, true) => child,
                (Quantifier::All, true) | (Quantifier::Some, false) => {
                    self.select(child, quantifier, passes, known)?
                }
            };
            if !child.is_empty() {
                self.work.push(Edge { value, child });
            }
        }
        let result = self.node_of_work(level, base)?;
        known.insert(set, result);
        Ok(result)
    }

    /// The vectors by the class of their value at a level, classes in order. Only nodes above the level are made anew.
    pub fn partition(
        &mut self,
        set: Node,
        level: u32,
        mut class: impl FnMut(u32) -> u32,
    ) -> Result<Vec<(u32, Node)>, Halt> {
        self.partition_at(set, level, &mut class, &mut FxHashMap::default())
    }

    fn partition_at(
        &mut self,
        set: Node,
        level: u32,
        class: &mut dyn FnMut(u32) -> u32,
        known: &mut FxHashMap<Node, Vec<(u32, Node)>>,
    ) -> Result<Vec<(u32, Node)>, Halt> {
        if set.is_empty() {
            return Ok(Vec::new());
        }
        if let Some(found) = known.get(&set) {
            return Ok(found.clone());
        }
        self.tick()?;
        let here = self.level(set);
        let mut edges: Vec<(u32, Edge)> = Vec::new();
        for at in 0..self.n_edges(set) {
            let edge = self.edge(set, at);
            if here == level {
                edges.push((class(edge.value), edge));
                continue;
            }
            let children = self.partition_at(edge.child, level, class, known)?;
            edges.extend(children.into_iter().map(|(class, child)| (class, Edge { child, ..edge })));
        }
        // Stable, so that values of a class stay sorted.
        edges.sort_by_key(|&(class, _)| class);
        let mut found = Vec::new();
        for same in edges.chunk_by(|a, b| a.0 == b.0) {
            let base = self.work.len();
            self.work.extend(same.iter().map(|&(_, edge)| edge));
            found.push((same[0].0, self.node_of_work(here, base)?));
        }
        known.insert(set, found.clone());
        Ok(found)
    }

    /// Whether a vector is in a set; values from the bottom level up.
    pub fn contains(&self, set: Node, values: &[u32]) -> bool {
        let mut node = set;
        for value in values.iter().rev() {
            match self.edges(node).binary_search_by_key(value, |edge| edge.value) {
                Ok(at) => node = self.edge(node, at).child,
                Err(_) => return false,
            }
        }
        node == Node::UNIT
    }

    /// The first vector of a set, by values from the top down; given from the bottom level up.
    pub fn pick(&self, set: Node) -> Option<Vec<u32>> {
        if set.is_empty() {
            return None;
        }
        let mut values = Vec::with_capacity(self.level(set) as usize);
        let mut node = set;
        while node != Node::UNIT {
            let Edge { value, child } = self.edge(node, 0);
            values.push(value);
            node = child;
        }
        values.reverse();
        Some(values)
    }

    /// How many vectors a set has.
    pub fn count(&self, set: Node) -> Count {
        let mut small: FxHashMap<Node, u128> = FxHashMap::default();
        match self.count_small(set, &mut small) {
            Some(n) => Count::from(n),
            None => self.count_large(set, &mut FxHashMap::default()),
        }
    }

    /// `None` where 128 bits are too few.
    fn count_small(&self, set: Node, known: &mut FxHashMap<Node, u128>) -> Option<u128> {
        if set.number() < 2 {
            return Some(u128::from(set.number()));
        }
        if let Some(&n) = known.get(&set) {
            return Some(n);
        }
        let mut sum = 0u128;
        for edge in self.edges(set) {
            sum = sum.checked_add(self.count_small(edge.child, known)?)?;
        }
        known.insert(set, sum);
        Some(sum)
    }

    fn count_large(&self, set: Node, known: &mut FxHashMap<Node, Count>) -> Count {
        if set.number() < 2 {
            return Count::from(u64::from(set.number()));
        }
        if let Some(n) = known.get(&set) {
            return n.clone();
        }
        let mut sum = Count::default();
        for edge in self.edges(set) {
            sum += &self.count_large(edge.child, known);
        }
        known.insert(set, sum.clone());
        sum
    }

    /// The largest sum, over the vectors of a set, of what its values weigh; zero for the empty set.
    pub fn most(&self, set: Node, weight: impl Fn(u32, u32) -> u32) -> u32 {
        self.most_of(set, &weight, &mut FxHashMap::default())
    }

    fn most_of(&self, set: Node, weight: &impl Fn(u32, u32) -> u32, known: &mut FxHashMap<Node, u32>) -> u32 {
        if set.number() < 2 {
            return 0;
        }
        if let Some(&most) = known.get(&set) {
            return most;
        }
        let level = self.level(set);
        let sums = self.edges(set).iter();
        let sums = sums.map(|edge| weight(level, edge.value) + self.most_of(edge.child, weight, known));
        let most = sums.max().unwrap_or(0);
        known.insert(set, most);
        most
    }

    /// The values that occur at each level, from below, sorted.
    pub fn values(&self, set: Node) -> Vec<Vec<u32>> {
        let mut values = vec![Vec::new(); self.level(set) as usize];
        let mut seen = rustc_hash::FxHashSet::default();
        let mut open = vec![set];
        while let Some(node) = open.pop() {
            if node.number() < 2 || !seen.insert(node) {
                continue;
            }
            let level = self.level(node) as usize - 1;
            for edge in self.edges(node) {
                values[level].push(edge.value);
                open.push(edge.child);
            }
        }
        for values in &mut values {
            values.sort_unstable();
            values.dedup();
        }
        values
    }

    /// All vectors of a set, by values from the top down; each from the bottom level up. For sets that are small.
    pub fn vectors(&self, set: Node) -> Vec<Vec<u32>> {
        let mut found = Vec::new();
        let mut path = vec![0; self.level(set) as usize];
        self.collect_vectors(set, &mut path, &mut found);
        found
    }

    fn collect_vectors(&self, node: Node, path: &mut Vec<u32>, found: &mut Vec<Vec<u32>>) {
        if node == Node::UNIT {
            found.push(path.clone());
            return;
        }
        for at in 0..if node.is_empty() { 0 } else { self.n_edges(node) } {
            let Edge { value, child } = self.edge(node, at);
            path[self.level(node) as usize - 1] = value;
            self.collect_vectors(child, path, found);
        }
    }
}
