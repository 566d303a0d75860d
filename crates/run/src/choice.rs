//! Choices and schedules.
//!
//! Every freedom of a run is a [`Choice`]: which machine steps, and how a `$` or `choose` resolves. The
//! list of them is a [`Schedule`], and it alone determines the run.

use allways_base::newtype_ids;

newtype_ids! {
    /// A machine instance, named by its creator and an index; the main machine is
    /// the first. The number stands for that name for as long as the process lives, so it does not
    /// depend on the interleaving. It says nothing about the order of creation.
    InstanceId = "i";
}

impl InstanceId {
    /// The main machine of the test.
    pub const MAIN: InstanceId = InstanceId::from_u32(0);
}

/// How one freedom was resolved.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Choice {
    /// This machine makes the next step.
    Machine(InstanceId),
    /// The network brings a message from `source` to `target`: the oldest, or, where messages overtake each other, the
    /// one at this place among the different ones, in the order of their bytes.
    Deliver { target: InstanceId, source: InstanceId, place: u32 },
    /// This machine stops for good.
    Crash(InstanceId),
    /// The index of the answer to a `$`, `$$` or `choose`, counted from zero; of a `$`, one is true. Also what becomes
    /// of a message that can be lost or doubled; zero is that it goes its way.
    Data(u32),
}

impl Choice {
    /// Whether a step begins with it. All others belong to the step before.
    #[inline]
    pub fn is_step(self) -> bool {
        !matches!(self, Choice::Data(_))
    }

    /// Who moves: a machine, or the channel between two, whichever of its messages it is.
    pub fn mover(self) -> Choice {
        match self {
            Choice::Deliver { target, source, .. } => Choice::Deliver { target, source, place: 0 },
            other => other,
        }
    }
}

/// The choices of one run in order, enough to replay it.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct Schedule {
    pub choices: Vec<Choice>,
}

impl Schedule {
    pub fn len(&self) -> usize {
        self.choices.len()
    }

    pub fn is_empty(&self) -> bool {
        self.choices.is_empty()
    }

    /// How many steps the run has, of machines and of the network.
    pub fn n_steps(&self) -> usize {
        self.choices.iter().filter(|choice| choice.is_step()).count()
    }

    /// How often the run turns from one machine or channel to another.
    pub fn n_switches(&self) -> usize {
        let movers = || self.choices.iter().filter(|choice| choice.is_step()).map(|choice| choice.mover());
        movers().zip(movers().skip(1)).filter(|(a, b)| a != b).count()
    }
}

impl FromIterator<Choice> for Schedule {
    fn from_iter<T: IntoIterator<Item = Choice>>(iter: T) -> Self {
        Schedule { choices: iter.into_iter().collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn switches_skip_data_choices() {
        let [a, b] = [0, 1].map(|n| Choice::Machine(InstanceId::from_u32(n)));
        let schedule: Schedule = [a, Choice::Data(1), a, b, Choice::Data(0), a].into_iter().collect();
        assert_eq!((schedule.n_steps(), schedule.n_switches()), (4, 2));
    }
}
