//! Forgetting nodes that nothing holds any more.
//!
//! A run makes new nodes all the time, and most of them are of no use a moment later. When a store has grown to twice what
//! was alive the last time, what is reachable from the roots is moved together: so the memory of a run is that of what it
//! holds, and the cost is a share of what making the nodes has cost. Only a store whose values are all known to the caller
//! can be collected: that of a kernel which runs, not of a search that keeps configurations.

use super::draft::DRAFT;
use super::store::Node;
use super::{Kind, Mark, Store, Value, View};

/// Below so many bytes nothing is collected.
const SMALLEST: usize = 8 << 20;

/// Shows every value that the caller holds.
pub(crate) type Roots<'a> = dyn FnMut(&mut dyn FnMut(&mut Value)) + 'a;

impl Store {
    fn n_used(&self) -> usize {
        self.n_words() * 8 + self.n_text_bytes() + self.n_nodes() * size_of::<Node>() + self.draft_words * 8
    }

    /// Whether it is time to collect.
    #[inline]
    pub(crate) fn is_full(&self) -> bool {
        self.n_used() > self.collect_at.max(SMALLEST)
    }

    /// Forgets what cannot be reached from the roots, and renumbers the rest but for what was there at `base`.
    pub(crate) fn collect(&mut self, base: Mark, roots: &mut Roots<'_>) {
        let mut live = Live { nodes: vec![false; self.n_nodes()], drafts: vec![false; self.drafts.len()] };
        live.nodes[..base.n_nodes()].fill(true);
        let mut open = Vec::new();
        roots(&mut |value| open.push(*value));
        while let Some(value) = open.pop() {
            let View::Node(kind, id) = value.view() else { continue };
            let is_known = match id & DRAFT {
                0 => std::mem::replace(&mut live.nodes[id as usize], true),
                _ => std::mem::replace(&mut live.drafts[(id & !DRAFT) as usize], true),
            };
            if !is_known && kind >= Kind::Tuple {
                open.extend_from_slice(self.raw(id));
            }
        }
        let places = self.keep(base, &live.nodes);
        let moved = |value: &mut Value| {
            if let View::Node(kind, id) = value.view()
                && id & DRAFT == 0
            {
                *value = Value::node(kind, value.flags(), places[id as usize]);
            }
        };
        roots(&mut { moved });
        self.keep_drafts(&live.drafts, &moved);
        self.collect_at = 2 * self.n_used();
    }

    fn keep_drafts(&mut self, live: &[bool], moved: &dyn Fn(&mut Value)) {
        self.free_drafts.clear();
        self.draft_words = 0;
        for (at, draft) in self.drafts.iter_mut().enumerate() {
            draft.forget_node();
            if live[at] {
                draft.content.iter_mut().for_each(moved);
                self.draft_words += draft.content.len();
            } else {
                draft.content = Vec::new();
                draft.index = None;
                self.free_drafts.push(at as u32);
            }
        }
    }
}

struct Live {
    nodes: Vec<bool>,
    drafts: Vec<bool>,
}
