//! Invariants that the user states, checked on a set of configurations.
//!
//! Connectives are operations on sets: each part of a formula divides a set into those configurations in which it holds, those in
//! which it does not, and those in which it has no value. A part without connectives is a function of what it reads of the
//! configuration; the set is divided by the values of the places that it asks for, one after the other, until the function has
//! all that it needs. So the cost follows the different values of what is read, not the configurations.

use allways_base::Idx;
use allways_machine::invariant::{At, Atom, Formula, Invariant, Place, Truth};
use allways_machine::{Actor, Value};
use allways_mdd::{Halt, Node};
use allways_run::{InstanceId, StopReason};
use rustc_hash::FxHashMap;

use super::engine::Search;
use super::split;
use crate::search::local::states::{Owner, Slot};

/// Why there is no answer.
pub(crate) enum Failure {
    Halt(Halt),
    /// Part of the invariant cannot be evaluated.
    Unknown(StopReason),
}

impl From<Halt> for Failure {
    fn from(halt: Halt) -> Self {
        Failure::Halt(halt)
    }
}

/// The configurations of a set that break an invariant, or in which it has no value.
///
/// # Errors
/// When a limit is met, or part of the invariant cannot be evaluated.
pub(crate) fn breaking(
    reach: &mut Search<'_>,
    reached: Node,
    invariant: &Invariant,
) -> Result<Node, Failure> {
    let reached = reach.lift(reached)?;
    let n_variables = invariant.variables.len();
    let known = FxHashMap::default();
    let mut check = Check { reach, invariant, known, machines: vec![None; n_variables] };
    let divided = check.divide(reached, &invariant.formula)?;
    Ok(check.reach.diagrams.union(divided.fails, divided.faults)?)
}

/// A set, by what a formula is in its configurations.
#[derive(Clone, Copy)]
struct Divided {
    holds: Node,
    fails: Node,
    faults: Node,
}

impl Divided {
    const NOTHING: Divided = Divided { holds: Node::EMPTY, fails: Node::EMPTY, faults: Node::EMPTY };
}

struct Check<'r, 's, 'a> {
    reach: &'r mut Search<'a>,
    invariant: &'s Invariant,
    /// What is at places, the same in all configurations at hand.
    known: FxHashMap<Place, At>,
    machines: Vec<Option<InstanceId>>,
}

impl Check<'_, '_, '_> {
    fn divide(&mut self, set: Node, formula: &Formula) -> Result<Divided, Failure> {
        if set.is_empty() {
            return Ok(Divided::NOTHING);
        }
        match formula {
            Formula::Atom(atom) => self.atom(set, atom),
            Formula::Not(inner) => {
                let Divided { holds, fails, faults } = self.divide(set, inner)?;
                Ok(Divided { holds: fails, fails: holds, faults })
            }
            Formula::And(a, b) => {
                let first = self.divide(set, a)?;
                let second = self.divide(first.holds, b)?;
                Ok(Divided {
                    holds: second.holds,
                    fails: self.union(first.fails, second.fails)?,
                    faults: self.union(first.faults, second.faults)?,
                })
            }
            Formula::Or(a, b) => {
                let first = self.divide(set, a)?;
                let second = self.divide(first.fails, b)?;
                Ok(Divided {
                    holds: self.union(first.holds, second.holds)?,
                    fails: second.fails,
                    faults: self.union(first.faults, second.faults)?,
                })
            }
            Formula::Iff(a, b) => {
                let first = self.divide(set, a)?;
                let where_holds = self.divide(first.holds, b)?;
                let where_fails = self.divide(first.fails, b)?;
                let faults = self.union(where_holds.faults, where_fails.faults)?;
                Ok(Divided {
                    holds: self.union(where_holds.holds, where_fails.fails)?,
                    fails: self.union(where_holds.fails, where_fails.holds)?,
                    faults: self.union(first.faults, faults)?,
                })
            }
            Formula::Quantified { is_universal, variable, body } => {
                self.quantified(set, *is_universal, *variable, body)
            }
        }
    }

    fn union(&mut self, a: Node, b: Node) -> Result<Node, Failure> {
        Ok(self.reach.diagrams.union(a, b)?)
    }

    fn quantified(
        &mut self,
        set: Node,
        is_universal: bool,
        variable: usize,
        body: &Formula,
    ) -> Result<Divided, Failure> {
        let kind = self.invariant.variables[variable].0;
        // Universal: `open` is where it holds so far, and `ended` where it fails. Otherwise they are the other way round.
        let (mut open, mut ended, mut faults) = (set, Node::EMPTY, Node::EMPTY);
        for instance in self.instances() {
            let place = Place::Kind(Actor::Machine(instance));
            let by_kind = match self.known.get(&place) {
                Some(&at) => vec![(at, open)],
                None => self.by_place(open, place)?,
            };
            open = Node::EMPTY;
            for (at, part) in by_kind {
                if at != At::Kind(Some(kind)) {
                    open = self.union(open, part)?;
                    continue;
                }
                let before = self.known.insert(place, at);
                self.machines[variable] = Some(instance);
                let divided = self.divide(part, body);
                self.machines[variable] = None;
                if before.is_none() {
                    self.known.remove(&place);
                }
                let divided = divided?;
                let (goes_on, ends) = match is_universal {
                    true => (divided.holds, divided.fails),
                    false => (divided.fails, divided.holds),
                };
                open = self.union(open, goes_on)?;
                ended = self.union(ended, ends)?;
                faults = self.union(faults, divided.faults)?;
            }
        }
        Ok(match is_universal {
            true => Divided { holds: open, fails: ended, faults },
            false => Divided { holds: ended, fails: open, faults },
        })
    }

    /// All machines that some configuration has.
    fn instances(&self) -> Vec<InstanceId> {
        let locals = self.reach.steps.expander.memo.locals();
        let machine = |owner: &Owner| match owner {
            Owner::Machine(instance) => Some(*instance),
            Owner::Monitor(_) | Owner::Network(_) => None,
        };
        locals.owners.iter().filter_map(machine).collect()
    }

    fn atom(&mut self, set: Node, atom: &Atom) -> Result<Divided, Failure> {
        let truth = {
            let mut locals = self.reach.steps.expander.memo.locals();
            let mut evaluator = locals.kernel.evaluator();
            let known = &self.known;
            evaluator.atom(atom, &self.machines, &mut |place| known.get(&place).copied())
        };
        let place = match truth {
            Truth::Holds => return Ok(Divided { holds: set, ..Divided::NOTHING }),
            Truth::Fails => return Ok(Divided { fails: set, ..Divided::NOTHING }),
            Truth::Fault(..) => return Ok(Divided { faults: set, ..Divided::NOTHING }),
            Truth::Unknown(reason) => return Err(Failure::Unknown(reason)),
            Truth::DependsOn(place) => place,
        };
        self.reach.steps.poll()?;
        let mut all = Divided::NOTHING;
        for (at, part) in self.by_place(set, place)? {
            self.known.insert(place, at);
            let divided = self.atom(part, atom);
            self.known.remove(&place);
            let Divided { holds, fails, faults } = divided?;
            all.holds = self.union(all.holds, holds)?;
            all.fails = self.union(all.fails, fails)?;
            all.faults = self.union(all.faults, faults)?;
        }
        Ok(all)
    }

    /// The configurations of a set by what is at a place.
    fn by_place(&mut self, set: Node, place: Place) -> Result<Vec<(At, Node)>, Failure> {
        let (Place::Kind(actor) | Place::Control(actor) | Place::Field(actor, _)) = place;
        let nothing = match place {
            Place::Kind(_) => At::Kind(None),
            Place::Control(_) => At::Control(None),
            Place::Field(..) => At::Value(Value::NULL),
        };
        let slot = match actor {
            Actor::Monitor(monitor) => Some(monitor),
            Actor::Machine(instance) => {
                let locals = self.reach.steps.expander.memo.locals();
                locals.known_slot(instance.index()).map(Slot::as_u32)
            }
        };
        let Search { diagrams, events, steps, .. } = &mut *self.reach;
        let part = |slot| match place {
            Place::Field(_, field) if steps.blocks.is_split(slot) => split::FIELDS + field,
            _ => 0,
        };
        let level = slot.and_then(|slot| {
            let part = part(slot);
            (1..=events.n_levels()).find(|&l| events.slot_of(l) == slot && events.part_of(l) == part)
        });
        let (Some(slot), Some(level)) = (slot, level) else { return Ok(vec![(nothing, set)]) };
        let part = part(slot);
        let mut classes: Vec<At> = Vec::new();
        let mut numbers: FxHashMap<At, u32> = FxHashMap::default();
        let parts = diagrams.partition(set, level, |value| {
            let at = match place {
                Place::Kind(_) => At::Kind(steps.standing(slot, value).map(|(machine, _)| machine)),
                Place::Control(_) => At::Control(steps.standing(slot, value).map(|(_, control)| control)),
                Place::Field(_, wanted) => {
                    let mut found = nothing;
                    steps.each_field(slot, part, value, |field, value| {
                        if field == wanted as usize {
                            found = At::Value(value);
                        }
                    });
                    found
                }
            };
            *numbers.entry(at).or_insert_with(|| {
                classes.push(at);
                classes.len() as u32 - 1
            })
        })?;
        Ok(parts.into_iter().map(|(class, set)| (classes[class as usize], set)).collect())
    }
}
