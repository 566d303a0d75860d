//! Filters by name, and whether they lose anything (PSYM, section 6.2).
//!
//! A filter takes away steps that need not be looked at ([`allways_lifted::filters`]). Two of them rest on what the user says of the program, so a
//! proof with them is a proof under that assumption. [`compare`] holds a filtered search against one without filters: the verdicts, and the control
//! states in which machines and monitors were seen.

use std::collections::BTreeSet;

use allways_base::nearest::nearest;
use allways_lifted::FilterOptions;
use allways_machine::Executable;
use allways_machine::ir::ControlId;
use allways_run::{NetworkModel, Verdict};

/// Filters, with the names that users give.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct FilterNames {
    pub send_order: bool,
    pub monotonic: bool,
    /// Events whose messages are left movers.
    pub left_movers: Vec<String>,
    /// Machines that are exchangeable.
    pub symmetric: Vec<String>,
}

impl FilterNames {
    pub fn is_empty(&self) -> bool {
        *self == FilterNames::default()
    }

    /// Whether a filter rests on what the user says.
    pub fn has_claims(&self) -> bool {
        self.send_order || !self.left_movers.is_empty()
    }

    /// The filters for a test.
    ///
    /// # Errors
    /// In one sentence, when a name is not one of the program.
    pub fn resolve(&self, exe: &Executable) -> Result<FilterOptions, String> {
        let mut options = FilterOptions {
            send_order: self.send_order,
            monotonic: self.monotonic,
            ..FilterOptions::default()
        };
        for name in &self.left_movers {
            let known = || exe.events.iter_ids().map(|(event, _)| (event, exe.event_name(event)));
            let found = known().find(|(_, known)| known == name);
            let (event, _) = found.ok_or_else(|| unknown("event", name, known().map(|(_, name)| name)))?;
            options.left_movers.push(event);
        }
        for name in &self.symmetric {
            let machines = || exe.machines.iter_ids().filter(|(_, machine)| !machine.is_monitor);
            let known = || machines().map(|(machine, _)| (machine, exe.machine_name(machine)));
            let found = known().find(|(_, known)| known == name);
            let (machine, _) =
                found.ok_or_else(|| unknown("machine", name, known().map(|(_, name)| name)))?;
            options.symmetric.push(machine);
        }
        Ok(options)
    }

    /// Why one of them has no meaning for a search, if so: one sentence for users.
    pub(super) fn unsupported(&self, exe: &Executable, is_paper: bool) -> Option<String> {
        if let Err(problem) = self.resolve(exe) {
            return Some(format!("filters: {problem}"));
        }
        let model = exe.network.options().model;
        let problem = if !is_paper && (self.monotonic || self.send_order || !self.symmetric.is_empty()) {
            "the filters `monotonic`, `send-order` and `symmetry` without `--symbolic paper`; sets of configurations forget how they were reached"
        } else if self.send_order && model != NetworkModel::Fifo {
            "the filter `send-order` with a network other than `fifo` (with inboxes, only the next send of a machine is enabled)"
        } else if !self.left_movers.is_empty() && !is_paper && exe.network.is_delayed() {
            "the filter `left-movers` over a network that delays, without `--symbolic paper`"
        } else {
            return None;
        };
        Some(problem.to_owned())
    }
}

fn unknown<'a>(what: &str, name: &str, known: impl Iterator<Item = &'a str>) -> String {
    let hint = nearest(name, known).map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
    format!("the program has no {what} `{name}`{hint}")
}

/// Control states in which machines and monitors were seen.
pub(super) type Seen = BTreeSet<ControlId>;

/// Whether filters kept everything, in a sentence for users.
pub(super) fn compare(exe: &Executable, filtered: (&Verdict, &Seen), whole: (&Verdict, &Seen)) -> String {
    let lost = |what: &str| {
        format!(
            "the filters change the result: {what}; the names under `[filters]` are wrong for this program"
        )
    };
    match (filtered.0, whole.0) {
        (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => {
            "the filters were not compared: one of the searches has no answer".to_owned()
        }
        (Verdict::Holds(_), Verdict::Violated(_)) => lost("without them there is a violation"),
        (Verdict::Violated(_), Verdict::Holds(_)) => {
            lost("with them there is a violation that does not exist")
        }
        (Verdict::Violated(_), Verdict::Violated(_)) => {
            "without filters there is a violation, too".to_owned()
        }
        (Verdict::Holds(_), Verdict::Holds(_)) => match whole.1.difference(filtered.1).next() {
            Some(&control) => {
                let machine = exe.machine_name(exe.states[control].machine);
                lost(&format!("`{machine}` is never seen in `{}`", exe.state_name(control)))
            }
            None => "the search without filters has the same verdict and the same control states".to_owned(),
        },
    }
}
