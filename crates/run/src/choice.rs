//! Choices and schedules.
//!
//! Every freedom of a run is a [`Choice`]: which machine steps, and how a `$` or `choose` resolves. The
//! list of them is a [`Schedule`], and it alone determines the run.

use allways_base::newtype_ids;

newtype_ids! {
    /// A machine instance, named by its creator and the how-manieth it is there; the main machine is
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
    /// The how-manieth answer of a `$`, `$$` or `choose`, counted from zero; of a `$`, one is true.
    Data(u32),
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

    /// How many machine steps the run has.
    pub fn n_steps(&self) -> usize {
        self.choices.iter().filter(|choice| matches!(choice, Choice::Machine(_))).count()
    }

    /// How often the run turns from one machine to another.
    pub fn n_switches(&self) -> usize {
        let machines = || {
            self.choices.iter().filter_map(|choice| match choice {
                Choice::Machine(machine) => Some(*machine),
                Choice::Data(_) => None,
            })
        };
        machines().zip(machines().skip(1)).filter(|(a, b)| a != b).count()
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
