//! Reading blocks: what becomes of a slot of several levels, and of the levels below it.
//!
//! A block is read from its first part, on top, down; what was read so far travels along as a number that the provider of
//! local steps gives out. Below the last part the step is known. On the way back each part gets the value that the step
//! writes, or keeps its own: so a traversal returns a list of steps, each with the set that it makes. Where a step takes out a part,
//! the parts below move up: that costs one visit of each node of these parts, whatever the values are.

use crate::cache::Key;
use crate::diagrams::{Edge, Halt, LIST_LEVEL, Node};
use crate::events::{Goal, LocalSteps};
use crate::reach::{BLOCK, Mode, RAISE, Reach};

impl<S: LocalSteps> Reach<'_, S> {
    /// What becomes of a block that has a value in its first part, and of the levels below: a list of its ends and images. The
    /// images are of the levels below the first part.
    pub(crate) fn block_images(
        &mut self,
        goal: Goal,
        level: u32,
        action: Option<u32>,
        value: u32,
        child: Node,
    ) -> Result<Node, Halt> {
        let slot = self.events.slot_of(level);
        loop {
            let Some(reading) = self.steps.enter(slot, action, value)? else { return Ok(Node::EMPTY) };
            let list = self.read_block(goal, (slot, action), 1, reading, child)?;
            // More has to be read than was known.
            if self.steps.enter(slot, action, value)? == Some(reading) {
                return Ok(list);
            }
        }
    }

    fn read_block(
        &mut self,
        goal: Goal,
        what: (u32, Option<u32>),
        part: u32,
        reading: u32,
        node: Node,
    ) -> Result<Node, Halt> {
        let (slot, _) = what;
        let pass = self.events.pass(goal, reading);
        let key = Key { operation: BLOCK, first: pass, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.diagrams.tick()?;
        let mut images: Vec<Edge> = Vec::new();
        if part == self.events.n_parts_of(slot) {
            // The rest of the event comes first: a party reacts only if some vector needs it.
            let of_party = match goal {
                Goal::Party(event) => Some(self.fire(event, node, Mode::Plain)?),
                Goal::Lead(_) | Goal::LeadOf(_) => None,
            };
            let ends = match of_party {
                Some(image) if image.is_empty() => 0..0,
                _ => self.events.finish(&mut self.steps, slot, reading)?,
            };
            for at in ends {
                let number = self.events.block_end(at);
                let image = match (goal, self.events.end(number).event, of_party) {
                    (Goal::Party(_), _, Some(image)) => image,
                    (Goal::Lead(top), Some(event), _) if self.events.top(event) == top => {
                        self.fire(event, node, Mode::Plain)?
                    }
                    (Goal::LeadOf(wanted), Some(event), _) if event == wanted => {
                        self.fire(event, node, Mode::Plain)?
                    }
                    _ => continue,
                };
                if !image.is_empty() {
                    images.push(Edge { value: number, child: image });
                }
            }
        } else {
            let level = self.diagrams.level(node);
            let mut found: Vec<(u32, u32, Node)> = Vec::new();
            for at in 0..self.diagrams.n_edges(node) {
                let Edge { value, child } = self.diagrams.edge(node, at);
                let Some(next) = self.steps.read(reading, part, value)? else { continue };
                let list = self.read_block(goal, what, part + 1, next, child)?;
                for at in 0..self.diagrams.n_edges(list) {
                    let Edge { value: end, child: image } = self.diagrams.edge(list, at);
                    found.push((end, self.events.after(end, part, value), image));
                }
            }
            found.sort_unstable();
            for one in found.chunk_by(|a, b| a.0 == b.0) {
                let end = one[0].0;
                let child = if self.events.removes(end, part) {
                    let mut all = Node::EMPTY;
                    for &(_, _, image) in one {
                        all = self.diagrams.union(all, image)?;
                    }
                    self.raise(all, level)?
                } else {
                    let base = self.diagrams.work.len();
                    for &(_, value, image) in one {
                        self.add(base, value, image)?;
                    }
                    self.diagrams.node_of_work(level, base)?
                };
                images.push(Edge { value: end, child });
            }
        }
        let list = self.diagrams.node(u32::from(LIST_LEVEL), &images)?;
        self.diagrams.images.insert(key, list);
        Ok(list)
    }

    /// Moves the parts of a block from the one below a level up by one, to that level on; the last part gets the value zero.
    fn raise(&mut self, node: Node, level: u32) -> Result<Node, Halt> {
        if node.is_empty() {
            return Ok(node);
        }
        let key = Key { operation: RAISE, first: level, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.diagrams.tick()?;
        let slot = self.events.slot_of(level);
        let raised = if self.events.part_of(level) + 1 == self.events.n_parts_of(slot) {
            self.diagrams.node(level, &[Edge { value: 0, child: node }])?
        } else {
            let base = self.diagrams.work.len();
            for at in 0..self.diagrams.n_edges(node) {
                let Edge { value, child } = self.diagrams.edge(node, at);
                let child = self.raise(child, level - 1)?;
                self.diagrams.work.push(Edge { value, child });
            }
            self.diagrams.node_of_work(level, base)?
        };
        self.diagrams.images.insert(key, raised);
        Ok(raised)
    }
}
