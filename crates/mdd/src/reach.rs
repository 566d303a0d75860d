//! Forward search: the image of a set, saturation, chaining and breadth-first layers.
//!
//! A local relation is asked for only when the rest of the vector is there: the lead's value is checked first, the levels
//! below are searched, and only if something is left does a party react. So, where no party lacks a successor, a
//! reaction is asked for only if some reachable vector needs it.
//!
//! Collections happen in the middle of a search. What must stay is in [`Reach::kept`], on the stack of roots (sets that a
//! function further up reads) or on the work stack (edges under construction).

use crate::cache::Key;
use crate::diagrams::{Diagrams, Edge, Halt, LIST_LEVEL, Node};
use crate::events::{EventId, Events, Goal, LocalSteps, Role};

/// Operations in the cache of images. What saturates has the next number.
const FIRE: u32 = 1;
const BELOW: u32 = 3;
const SATURATE: u32 = 5;
const IMAGE: u32 = 6;
const IMAGE_AT: u32 = 7;
const LEARN: u32 = 8;
/// Backward operations: with the number of what they read, in the bits above.
pub(crate) const PRE_EVENT: u32 = 9;
pub(crate) const PRE_IMAGE: u32 = 10;
pub(crate) const BLOCK: u32 = 11;
pub(crate) const RAISE: u32 = 12;
pub(crate) const OPERATION_BITS: u32 = 4;

/// Whether what an event makes is saturated at once.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Mode {
    Plain,
    Saturating,
}

impl Mode {
    fn of(self, operation: u32) -> u32 {
        operation + u32::from(self == Mode::Saturating)
    }
}

/// Where the images of an edge go: among the edges on the work stack from `base` on.
#[derive(Clone, Copy, Debug)]
enum Destination {
    /// A level under saturation, whose children are closed; the children that fired are noted from `first` on.
    Saturated { base: usize, first: usize },
    /// A node under construction, for one step.
    Image { base: usize },
}

pub struct Reach<'s, S> {
    pub diagrams: Diagrams<'s>,
    pub events: Events,
    pub steps: S,
    /// Sets that the caller goes on using.
    pub kept: Vec<Node>,
    /// Whether a party may lack a successor, so that an event is known to happen only when all of it was computed.
    pub parties_may_fail: bool,
    pub(crate) roots: Vec<Node>,
    /// Beside the edges of levels under saturation: the child for which events were fired last.
    fired: Vec<Node>,
    pub(crate) n_backward: u32,
}

impl<'s, S: LocalSteps> Reach<'s, S> {
    pub fn new(diagrams: Diagrams<'s>, events: Events, steps: S) -> Self {
        Reach {
            diagrams,
            events,
            steps,
            kept: Vec::new(),
            parties_may_fail: false,
            roots: Vec::new(),
            fired: Vec::new(),
            n_backward: 0,
        }
    }

    /// A set that has all levels there are: slots that are new have the value zero.
    ///
    /// # Errors
    /// When a limit is met.
    pub fn lift(&mut self, set: Node) -> Result<Node, Halt> {
        let mut set = set;
        while !set.is_empty() && self.diagrams.level(set) < self.events.n_levels() {
            let level = self.diagrams.level(set) + 1;
            set = self.diagrams.node(level, &[Edge { value: 0, child: set }])?;
        }
        Ok(set)
    }

    /// All vectors that events reach from a set, by saturation.
    ///
    /// # Errors
    /// When a limit is met, or the steps ask for an end.
    pub fn saturate(&mut self, start: Node) -> Result<Node, Halt> {
        self.begin();
        let mut set = self.saturate_node(start)?;
        while !set.is_empty() && self.diagrams.level(set) < self.events.n_levels() {
            self.learn(set)?;
            let level = self.diagrams.level(set) + 1;
            let base = self.diagrams.work.len();
            self.diagrams.work.push(Edge { value: 0, child: set });
            set = self.close(level, base)?;
        }
        Ok(set)
    }

    /// The vectors that one event of any kind reaches from a set in one step, lifted to the levels that there are then.
    ///
    /// # Errors
    /// When a limit is met, or the steps ask for an end.
    pub fn image(&mut self, set: Node) -> Result<Node, Halt> {
        self.begin();
        let mut set = set;
        loop {
            self.roots.push(set);
            let image = self.image_of(set)?;
            self.roots.pop();
            // A step may have met a new slot: then events that reach it were not made.
            let lifted = self.lift(set)?;
            if lifted == set {
                return Ok(image);
            }
            self.learn(set)?;
            set = lifted;
        }
    }

    /// The breadth-first layer after `front`: what one step reaches and is not in `reached`. Both sets come back lifted, the
    /// second with the layer.
    ///
    /// # Errors
    /// When a limit is met, or the steps ask for an end.
    pub fn layer(&mut self, front: Node, reached: Node) -> Result<(Node, Node), Halt> {
        self.kept.extend([front, reached]);
        let image = self.image(front);
        self.kept.truncate(self.kept.len() - 2);
        let image = image?;
        let reached = self.lift(reached)?;
        let front = self.diagrams.minus(image, reached)?;
        Ok((front, self.diagrams.union(reached, front)?))
    }

    /// One round of chaining from a set: fires the events level by level, each on all that was reached before. `step` is given
    /// every set that is larger than the one before.
    ///
    /// # Errors
    /// When a limit is met, or the steps ask for an end.
    pub fn chain(
        &mut self,
        set: Node,
        mut step: impl FnMut(&mut Self, Node) -> Result<(), Halt>,
    ) -> Result<Node, Halt> {
        self.begin();
        // The caller compares with it.
        self.kept.push(set);
        let chained = self.chain_levels(set, &mut step);
        self.kept.pop();
        chained
    }

    fn chain_levels(
        &mut self,
        set: Node,
        step: &mut dyn FnMut(&mut Self, Node) -> Result<(), Halt>,
    ) -> Result<Node, Halt> {
        let mut set = self.lift(set)?;
        let mut level = 1;
        while level <= self.events.n_levels() {
            self.collect_if_due([set]);
            set = self.lift(set)?;
            self.roots.push(set);
            let image = self.image_at(set, level)?;
            self.roots.pop();
            let larger = self.diagrams.union(set, image)?;
            if larger != set {
                set = larger;
                step(self, set)?;
            }
            level += 1;
        }
        self.lift(set)
    }

    /// Forgets what a search that was ended early has left on its stacks.
    pub(crate) fn begin(&mut self) {
        self.roots.clear();
        self.fired.clear();
        self.diagrams.work.clear();
    }

    pub(crate) fn collect_if_due(&mut self, more: impl IntoIterator<Item = Node>) {
        if self.diagrams.is_collection_due() {
            let roots = self.kept.iter().chain(&self.roots).chain(&self.fired).copied().chain(more);
            self.diagrams.collect(roots);
        }
    }

    /// The closure of a set under all events at or below its level.
    fn saturate_node(&mut self, node: Node) -> Result<Node, Halt> {
        if node.is_empty() || node == Node::UNIT {
            return Ok(node);
        }
        let key = Key { operation: SATURATE, first: 0, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.roots.push(node);
        let base = self.diagrams.work.len();
        for at in 0..self.diagrams.n_edges(node) {
            let Edge { value, child } = self.diagrams.edge(node, at);
            let child = self.saturate_node(child)?;
            self.diagrams.work.push(Edge { value, child });
        }
        let closed = self.close(self.diagrams.level(node), base)?;
        self.roots.pop();
        self.diagrams.images.insert(key, closed);
        Ok(closed)
    }

    /// The same for edges on the work stack, whose children are closed.
    fn close(&mut self, level: u32, base: usize) -> Result<Node, Halt> {
        let n = self.diagrams.work.len();
        self.diagrams.work.extend_from_within(base..n);
        let open = self.diagrams.node_of_work(level, n)?;
        let key = Key { operation: SATURATE, first: 0, second: open };
        if let Some(known) = self.diagrams.images.get(key) {
            self.diagrams.work.truncate(base);
            return Ok(known);
        }
        self.roots.push(open);
        self.collect_if_due([]);
        let first = self.fired.len();
        self.fired.resize(first + n - base, Node::EMPTY);
        let mut any = true;
        while any {
            any = false;
            let mut at = 0;
            while base + at < self.diagrams.work.len() {
                let Edge { value, child } = self.diagrams.work[base + at];
                if self.fired[first + at] != child {
                    any = true;
                    self.fired[first + at] = child;
                    self.fire_all(level, Destination::Saturated { base, first }, value, child)?;
                }
                at += 1;
            }
        }
        self.fired.truncate(first);
        let closed = self.diagrams.node_of_work(level, base)?;
        self.roots.pop();
        self.diagrams.images.insert(key, closed);
        self.diagrams.images.insert(Key { second: closed, ..key }, closed);
        Ok(closed)
    }

    /// Fires all events with their top here on one edge.
    fn fire_all(&mut self, level: u32, to: Destination, value: u32, child: Node) -> Result<(), Halt> {
        // Values of one level may go on without end while no new node is made.
        self.diagrams.tick()?;
        let is_block = self.events.is_block(level);
        if is_block && self.events.part_of(level) > 0 {
            return Ok(());
        }
        if is_block {
            let list = self.block_images(Goal::Lead(level), level, None, value, child)?;
            self.add_list(list, to, value)?;
        }
        let mode = self.mode_for(to);
        let mut last = None;
        let led = if is_block { 0..0 } else { self.events.leads(&mut self.steps, level, value)? };
        for at in led {
            let (event, next) = self.events.led(at);
            if self.events.top(event) != level {
                continue;
            }
            let image = match last {
                Some((known, image)) if known == event => image,
                _ => {
                    let image = self.fire(event, child, mode)?;
                    self.finished(image, mode, to)?
                }
            };
            last = Some((event, image));
            if !image.is_empty() {
                self.add_to(to, next, image)?;
            }
        }
        let mut number = 0;
        while let Some(lead) = self.events.lead_below(level, number) {
            number += 1;
            let list = self.fire_below(lead, level, child, mode)?;
            for at in 0..self.diagrams.n_edges(list) {
                let Edge { value: event, child: image } = self.diagrams.edge(list, at);
                let Role::Party(relation) = self.events.role(event, level) else { continue };
                let targets = self.events.react(&mut self.steps, relation, value)?;
                if targets.is_empty() {
                    continue;
                }
                self.roots.push(list);
                let image = self.finished(image, mode, to)?;
                self.roots.pop();
                for at in targets {
                    self.add_to(to, self.events.target(at), image)?;
                }
            }
        }
        let mut number = 0;
        while let Some(event) = self.events.alone_at(level, number) {
            number += 1;
            let Role::Party(relation) = self.events.role(event, level) else { continue };
            if is_block {
                let (_, action) = self.events.slot_and_action(relation);
                let list = self.block_images(Goal::Party(event), level, Some(action), value, child)?;
                self.add_list(list, to, value)?;
                continue;
            }
            let image = self.fire(event, child, Mode::Plain)?;
            if image.is_empty() {
                continue;
            }
            let targets = self.events.react(&mut self.steps, relation, value)?;
            if targets.is_empty() {
                continue;
            }
            let image = self.finished(image, Mode::Plain, to)?;
            for at in targets {
                self.add_to(to, self.events.target(at), image)?;
            }
        }
        Ok(())
    }

    /// Adds what becomes of a block that had a value in its first part.
    fn add_list(&mut self, list: Node, to: Destination, value: u32) -> Result<(), Halt> {
        for at in 0..self.diagrams.n_edges(list) {
            let Edge { value: end, child: image } = self.diagrams.edge(list, at);
            self.roots.push(list);
            let image = self.finished(image, Mode::Plain, to)?;
            self.roots.pop();
            self.add_to(to, self.events.after(end, 0, value), image)?;
        }
        Ok(())
    }

    /// How images below an edge are computed. Where parties may fail, they are closed only when they are known to be real.
    fn mode_for(&self, to: Destination) -> Mode {
        match to {
            Destination::Saturated { .. } if !self.parties_may_fail => Mode::Saturating,
            Destination::Saturated { .. } | Destination::Image { .. } => Mode::Plain,
        }
    }

    /// An image as its destination needs it: closed, if the level is saturated.
    fn finished(&mut self, image: Node, mode: Mode, to: Destination) -> Result<Node, Halt> {
        match (to, mode) {
            (Destination::Saturated { .. }, Mode::Plain) => self.saturate_node(image),
            (Destination::Saturated { .. }, Mode::Saturating) | (Destination::Image { .. }, _) => Ok(image),
        }
    }

    fn add_to(&mut self, to: Destination, value: u32, child: Node) -> Result<(), Halt> {
        match to {
            Destination::Saturated { base, first } => self.add_fired(base, first, value, child),
            Destination::Image { base } => self.add(base, value, child),
        }
    }

    /// Adds to the edges of a level under saturation.
    fn add_fired(&mut self, base: usize, first: usize, value: u32, child: Node) -> Result<(), Halt> {
        match self.diagrams.work[base..].binary_search_by_key(&value, |edge| edge.value) {
            Ok(at) => {
                let old = self.diagrams.work[base + at].child;
                self.diagrams.work[base + at].child = self.diagrams.union(old, child)?;
            }
            Err(at) => {
                self.diagrams.work.insert(base + at, Edge { value, child });
                self.fired.insert(first + at, Node::EMPTY);
            }
        }
        Ok(())
    }

    /// Adds to the edges of a node under construction.
    pub(crate) fn add(&mut self, base: usize, value: u32, child: Node) -> Result<(), Halt> {
        match self.diagrams.work[base..].binary_search_by_key(&value, |edge| edge.value) {
            Ok(at) => {
                let old = self.diagrams.work[base + at].child;
                self.diagrams.work[base + at].child = self.diagrams.union(old, child)?;
            }
            Err(at) => self.diagrams.work.insert(base + at, Edge { value, child }),
        }
        Ok(())
    }

    fn finish(&mut self, level: u32, base: usize, mode: Mode) -> Result<Node, Halt> {
        if self.diagrams.work.len() == base {
            return Ok(Node::EMPTY);
        }
        match mode {
            Mode::Plain => self.diagrams.node_of_work(level, base),
            Mode::Saturating => self.close(level, base),
        }
    }

    /// Makes a node of the edges of another, `key.second`, and remembers it: `each` adds to the edges on the work stack from the given
    /// place on.
    pub(crate) fn rebuild(
        &mut self,
        key: Key,
        mode: Mode,
        mut each: impl FnMut(&mut Self, usize, Edge) -> Result<(), Halt>,
    ) -> Result<Node, Halt> {
        self.diagrams.tick()?;
        let node = key.second;
        self.roots.push(node);
        let base = self.diagrams.work.len();
        for at in 0..self.diagrams.n_edges(node) {
            let edge = self.diagrams.edge(node, at);
            each(self, base, edge)?;
        }
        let made = self.finish(self.diagrams.level(node), base, mode)?;
        self.roots.pop();
        self.diagrams.images.insert(key, made);
        Ok(made)
    }

    /// What an event makes of the levels at and below a node.
    pub(crate) fn fire(&mut self, event: EventId, node: Node, mode: Mode) -> Result<Node, Halt> {
        let level = self.diagrams.level(node);
        if node.is_empty() || level < self.events.bottom(event) {
            return Ok(node);
        }
        let key = Key { operation: mode.of(FIRE), first: event, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        let role = self.events.role(event, level);
        let is_block = self.events.is_block(level);
        self.rebuild(key, mode, |reach, base, Edge { value, child }| {
            match role {
                Role::Lead | Role::Party(_) if is_block => {
                    let (goal, action) = match role {
                        Role::Party(relation) => {
                            (Goal::Party(event), Some(reach.events.slot_and_action(relation).1))
                        }
                        _ => (Goal::LeadOf(event), None),
                    };
                    let list = reach.block_images(goal, level, action, value, child)?;
                    reach.add_list(list, Destination::Image { base }, value)?;
                }
                Role::Lead => {
                    let led = reach.events.leads(&mut reach.steps, level, value)?;
                    let mut image = None;
                    for at in led {
                        let (offered, next) = reach.events.led(at);
                        if offered != event {
                            continue;
                        }
                        let below = match image {
                            Some(below) => below,
                            None => reach.fire(event, child, mode)?,
                        };
                        image = Some(below);
                        if !below.is_empty() {
                            reach.add(base, next, below)?;
                        }
                    }
                }
                Role::None => {
                    let below = reach.fire(event, child, mode)?;
                    if !below.is_empty() {
                        reach.diagrams.work.push(Edge { value, child: below });
                    }
                }
                Role::Party(relation) => {
                    let below = reach.fire(event, child, mode)?;
                    if !below.is_empty() {
                        for at in reach.events.react(&mut reach.steps, relation, value)? {
                            reach.add(base, reach.events.target(at), below)?;
                        }
                    }
                }
            }
            Ok(())
        })
    }

    /// What all events that a level leads, with their top further up, make of the levels at and below a node: a list of
    /// events and images.
    fn fire_below(&mut self, lead: u32, top: u32, node: Node, mode: Mode) -> Result<Node, Halt> {
        let level = self.diagrams.level(node);
        let key = Key { operation: mode.of(BELOW), first: lead << 16 | top, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.diagrams.tick()?;
        let n_roots = self.roots.len();
        self.roots.push(node);
        // Event, value, and what is below; what is below is on the stack of roots too.
        let mut parts: Vec<(EventId, u32, Node)> = Vec::new();
        for at in 0..self.diagrams.n_edges(node) {
            let Edge { value, child } = self.diagrams.edge(node, at);
            if level == lead {
                let mut last = None;
                for at in self.events.leads(&mut self.steps, level, value)? {
                    let (event, next) = self.events.led(at);
                    if !self.events.is_found_below(event, top) {
                        continue;
                    }
                    let image = match last {
                        Some((known, image)) if known == event => image,
                        _ => self.fire(event, child, mode)?,
                    };
                    last = Some((event, image));
                    if !image.is_empty() {
                        self.roots.push(image);
                        parts.push((event, next, image));
                    }
                }
            } else {
                let list = self.fire_below(lead, top, child, mode)?;
                for at in 0..self.diagrams.n_edges(list) {
                    let Edge { value: event, child: image } = self.diagrams.edge(list, at);
                    self.roots.push(image);
                    match self.events.role(event, level) {
                        Role::Party(relation) => {
                            for at in self.events.react(&mut self.steps, relation, value)? {
                                parts.push((event, self.events.target(at), image));
                            }
                        }
                        Role::None | Role::Lead => parts.push((event, value, image)),
                    }
                }
            }
        }
        parts.sort_unstable();
        let mut images: Vec<Edge> = Vec::new();
        for part in parts.chunk_by(|a, b| a.0 == b.0) {
            let base = self.diagrams.work.len();
            for &(_, value, image) in part {
                self.add(base, value, image)?;
            }
            let image = self.finish(level, base, mode)?;
            self.roots.push(image);
            images.push(Edge { value: part[0].0, child: image });
        }
        let list = self.diagrams.node(u32::from(LIST_LEVEL), &images)?;
        self.roots.truncate(n_roots);
        self.diagrams.images.insert(key, list);
        Ok(list)
    }

    /// What one step makes of the levels at and below a node, by events with their top there.
    fn image_of(&mut self, node: Node) -> Result<Node, Halt> {
        if node.is_empty() || node == Node::UNIT {
            return Ok(Node::EMPTY);
        }
        let key = Key { operation: IMAGE, first: 0, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        self.collect_if_due([node]);
        let level = self.diagrams.level(node);
        self.rebuild(key, Mode::Plain, |reach, base, Edge { value, child }| {
            let below = reach.image_of(child)?;
            if !below.is_empty() {
                reach.add(base, value, below)?;
            }
            reach.fire_all(level, Destination::Image { base }, value, child)
        })
    }

    /// The same by events with their top at one level, for a node at or above it.
    fn image_at(&mut self, node: Node, top: u32) -> Result<Node, Halt> {
        if node.is_empty() {
            return Ok(Node::EMPTY);
        }
        let key = Key { operation: IMAGE_AT, first: top, second: node };
        if let Some(known) = self.diagrams.images.get(key) {
            return Ok(known);
        }
        let level = self.diagrams.level(node);
        self.rebuild(key, Mode::Plain, |reach, base, Edge { value, child }| {
            if level == top {
                reach.learn(child)?;
                return reach.fire_all(level, Destination::Image { base }, value, child);
            }
            let below = reach.image_at(child, top)?;
            if !below.is_empty() {
                reach.diagrams.work.push(Edge { value, child: below });
            }
            Ok(())
        })
    }

    /// Asks for all that values at and below a node lead, so that it is known which events reach the levels above.
    fn learn(&mut self, node: Node) -> Result<(), Halt> {
        let key = Key { operation: LEARN, first: self.events.generation(), second: node };
        if node.is_empty() || node == Node::UNIT || self.diagrams.images.get(key).is_some() {
            return Ok(());
        }
        self.diagrams.tick()?;
        let level = self.diagrams.level(node);
        for at in 0..self.diagrams.n_edges(node) {
            let Edge { value, child } = self.diagrams.edge(node, at);
            match (self.events.is_block(level), self.events.part_of(level)) {
                (false, _) => {
                    self.events.leads(&mut self.steps, level, value)?;
                }
                // No event has its top at level zero.
                (true, 0) => {
                    self.block_images(Goal::Lead(0), level, None, value, child)?;
                }
                (true, _) => {}
            }
            self.learn(child)?;
        }
        self.diagrams.images.insert(key, Node::UNIT);
        Ok(())
    }
}
