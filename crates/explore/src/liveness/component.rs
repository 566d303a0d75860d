//! Strongly connected components of a part of a graph (Tarjan, 1972), without recursion.

use super::graph::Graph;

/// The components of the nodes in `within`, over the edges that `keeps`, targets before sources.
pub(crate) fn components(graph: &Graph, within: &[u32], keeps: &dyn Fn(u32) -> bool) -> Vec<Vec<u32>> {
    const UNSEEN: u32 = u32::MAX;
    let n = graph.nodes.len();
    let mut is_within = vec![false; n];
    for &node in within {
        is_within[node as usize] = true;
    }
    let mut order = vec![UNSEEN; n];
    let mut low = vec![0; n];
    let mut is_open = vec![false; n];
    let mut open = Vec::new();
    let mut next = 0;
    let mut found = Vec::new();
    // A node and its next edge.
    let mut work: Vec<(u32, u32)> = Vec::new();
    for &root in within {
        if order[root as usize] != UNSEEN {
            continue;
        }
        work.push((root, graph.nodes[root as usize].edges.start));
        while let Some((node, edge)) = work.last_mut() {
            let at = *node as usize;
            if order[at] == UNSEEN {
                order[at] = next;
                low[at] = next;
                next += 1;
                is_open[at] = true;
                open.push(*node);
            }
            if *edge < graph.nodes[at].edges.end {
                let this = *edge;
                *edge += 1;
                let to = graph.edges[this as usize].to;
                if !is_within[to as usize] || !keeps(this) {
                    continue;
                }
                if order[to as usize] == UNSEEN {
                    work.push((to, graph.nodes[to as usize].edges.start));
                } else if is_open[to as usize] {
                    low[at] = low[at].min(order[to as usize]);
                }
                continue;
            }
            work.pop();
            if let Some(&(parent, _)) = work.last() {
                let parent = parent as usize;
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
