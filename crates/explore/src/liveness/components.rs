//! Strongly connected components (Tarjan 1972), without recursion. Every search for infinite runs uses this one.

use std::ops::Range;

/// The strongly connected components of the nodes in `within`, over the edges that `keeps` accepts, in reverse topological
/// order; the nodes of each component are sorted. `edges` gives the outgoing edges of a node, `target` the node to which an edge leads.
pub(crate) fn components(
    n_nodes: usize,
    edges: impl Fn(u32) -> Range<usize>,
    target: impl Fn(usize) -> u32,
    within: impl Fn(u32) -> bool,
    keeps: impl Fn(usize) -> bool,
) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let mut order = vec![UNSEEN; n_nodes];
    let mut low = vec![0u32; n_nodes];
    let mut is_open = vec![false; n_nodes];
    let mut open: Vec<u32> = Vec::new();
    let mut n_seen = 0;
    let mut found = Vec::new();
    // A node, and its edges that are still to be followed.
    let mut work: Vec<(u32, Range<usize>)> = Vec::new();
    for root in 0..n_nodes as u32 {
        if order[root as usize] != UNSEEN || !within(root) {
            continue;
        }
        work.push((root, edges(root)));
        while let Some((node, left)) = work.last_mut() {
            let at = *node as usize;
            if order[at] == UNSEEN {
                order[at] = n_seen;
                low[at] = n_seen;
                n_seen += 1;
                is_open[at] = true;
                open.push(*node);
            }
            if let Some(edge) = left.next() {
                let to = target(edge);
                if !within(to) || !keeps(edge) {
                    continue;
                }
                if order[to as usize] == UNSEEN {
                    work.push((to, edges(to)));
                } else if is_open[to as usize] {
                    low[at] = low[at].min(order[to as usize]);
                }
                continue;
            }
            work.pop();
            if let Some((parent, _)) = work.last() {
                let parent = *parent as usize;
                low[parent] = low[parent].min(low[at]);
            }
            if low[at] == order[at] {
                let mut component = Vec::new();
                while let Some(member) = open.pop() {
                    is_open[member as usize] = false;
                    component.push(member);
                    if member as usize == at {
                        break;
                    }
                }
                component.sort_unstable();
                found.push(component);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cycles_are_components() {
        // 0 -> 1 -> 2 -> 1, 2 -> 3, 3 -> 3.
        let starts = [0, 1, 2, 4, 5];
        let targets = [1, 2, 1, 3, 3];
        let edges = |node: u32| starts[node as usize]..starts[node as usize + 1];
        let target = |edge: usize| targets[edge];
        let found = components(4, edges, target, |_| true, |_| true);
        assert_eq!(found, [vec![3], vec![1, 2], vec![0]]);
        let found = components(4, edges, target, |node| node != 3, |edge| edge != 2);
        assert_eq!(found, [vec![2], vec![1], vec![0]]);
    }
}
