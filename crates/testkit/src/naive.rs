//! What naive analyses of the graph of a small program share ([`crate::liveness`], [`crate::quiesce`]): components by asking
//! which nodes reach each other, and the answers of `$$` on each step. Quadratic on purpose, and nothing of it is the engines'.

use std::collections::{BTreeMap, BTreeSet};

use allways_machine::{DataPoint, Oracle, Script};
use allways_run::InstanceId;

/// A `$$` that was asked, by machine and op; the answer; how many there are.
pub type Flip = ((InstanceId, u32), u32, u32);

/// Steps of a graph, by source; the number of an edge is its place there.
pub struct Edges<'a, E> {
    pub by_source: &'a [Vec<E>],
    pub target: fn(&E) -> usize,
}

impl<E> Edges<'_, E> {
    /// The nodes reached by one step or more within some nodes, over some edges.
    fn reached(
        &self,
        from: usize,
        within: &BTreeSet<usize>,
        keeps: &dyn Fn(usize, usize) -> bool,
    ) -> BTreeSet<usize> {
        let mut seen = BTreeSet::new();
        let mut open = vec![from];
        while let Some(at) = open.pop() {
            for (place, edge) in self.by_source[at].iter().enumerate() {
                let to = (self.target)(edge);
                if within.contains(&to) && keeps(at, place) && seen.insert(to) {
                    open.push(to);
                }
            }
        }
        seen
    }

    /// Strongly connected components with an edge inside: every node reaches every node.
    pub fn components(
        &self,
        within: &BTreeSet<usize>,
        keeps: &dyn Fn(usize, usize) -> bool,
    ) -> Vec<BTreeSet<usize>> {
        let reached: BTreeMap<usize, BTreeSet<usize>> =
            within.iter().map(|&node| (node, self.reached(node, within, keeps))).collect();
        let mut components: Vec<BTreeSet<usize>> = Vec::new();
        for (&node, others) in &reached {
            if others.contains(&node) && !components.iter().any(|component| component.contains(&node)) {
                let mutual = others.iter().copied().filter(|other| reached[other].contains(&node));
                components.push(mutual.collect());
            }
        }
        components
    }
}

/// Answers by a script, and notes each `$$`.
pub struct Flips<'a> {
    pub script: &'a mut Script,
    pub given: Vec<Flip>,
}

impl Oracle for Flips<'_> {
    fn answer(&mut self, point: DataPoint) -> u32 {
        let answer = self.script.ask(point.n_answers);
        if point.is_fair {
            self.given.push(((point.machine, point.pc), answer, point.n_answers));
        }
        answer
    }
}

/// Each `$$` that does not give all its answers.
pub fn one_sided<'a>(flips: impl IntoIterator<Item = &'a Flip>) -> BTreeSet<(InstanceId, u32)> {
    let mut given: BTreeMap<(InstanceId, u32), (BTreeSet<u32>, u32)> = BTreeMap::new();
    for &(point, answer, n) in flips {
        given.entry(point).or_insert((BTreeSet::new(), n)).0.insert(answer);
    }
    given
        .into_iter()
        .filter(|(_, (answers, n))| (answers.len() as u32) < *n)
        .map(|(point, _)| point)
        .collect()
}
