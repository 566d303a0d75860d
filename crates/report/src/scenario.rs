//! Coverage of scenarios: the file that P writes of it, the lines of a summary, and the sum over several test cases.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use crate::text::count;

/// How the files of P's tools end.
pub const FILE_SUFFIX: &str = "_scenario_coverage.json";

/// Of the files; it is P's.
const VERSION: u32 = 1;

/// One scenario in the schedules of one test case.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Scenario {
    pub name: String,
    pub satisfied: bool,
    pub satisfying_schedules: u64,
    /// Satisfying schedules that differ in which events some machine type takes after which others.
    pub distinct_satisfying_timelines: u64,
    /// The most control states of the scenario that one schedule visited.
    pub max_states_visited: u64,
    pub monitor_states: u64,
}

/// All scenarios of one test case, as a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScenarioFile {
    version: u32,
    pub test_case: String,
    pub scenarios: Vec<Scenario>,
}

impl ScenarioFile {
    pub fn new(test_case: &str, scenarios: &[Scenario]) -> Self {
        let mut scenarios = scenarios.to_vec();
        scenarios.sort_by(|a, b| a.name.cmp(&b.name));
        ScenarioFile { version: VERSION, test_case: test_case.to_owned(), scenarios }
    }
}

/// Reads a file that P or Allways wrote.
pub fn parse(text: &str) -> Result<ScenarioFile, String> {
    let file: ScenarioFile = serde_json::from_str(text).map_err(|error| error.to_string())?;
    if file.version != VERSION {
        return Err(format!("version {} of the format is not known, only {VERSION}", file.version));
    }
    Ok(file)
}

/// One line that counts, then a line for each scenario: those that were covered, then the gaps.
pub fn render(scenarios: &[Scenario]) -> String {
    let Some(mut out) = head("", scenarios.iter().map(|scenario| scenario.satisfied), "covered") else {
        return String::new();
    };
    for scenario in by_coverage(scenarios) {
        let Scenario { name, satisfying_schedules, distinct_satisfying_timelines, .. } = scenario;
        let _ = match scenario.satisfied {
            true => writeln!(
                out,
                ".......  [covered] {name}: triggered in {}, {}",
                count(*satisfying_schedules, "schedule"),
                count(*distinct_satisfying_timelines, "unique satisfying timeline")
            ),
            false => writeln!(
                out,
                ".......  [  GAP  ] {name}: not covered (best partial progress: {}/{} states)",
                scenario.max_states_visited, scenario.monitor_states
            ),
        };
    }
    out
}

/// `Scenario coverage: 1/2 scenarios covered (1 gap)`
fn head(across: &str, satisfied: impl Iterator<Item = bool>, covered: &str) -> Option<String> {
    let (mut n, mut n_covered) = (0, 0);
    for is_satisfied in satisfied {
        n += 1;
        n_covered += u64::from(is_satisfied);
    }
    if n == 0 {
        return None;
    }
    let gaps = match n - n_covered {
        0 => String::new(),
        n => format!(" ({})", count(n, "gap")),
    };
    Some(format!("..... Scenario coverage{across}: {n_covered}/{n} scenarios {covered}{gaps}\n"))
}

fn by_coverage(scenarios: &[Scenario]) -> Vec<&Scenario> {
    let mut sorted: Vec<&Scenario> = scenarios.iter().collect();
    sorted.sort_by(|a, b| (!a.satisfied, &a.name).cmp(&(!b.satisfied, &b.name)));
    sorted
}

/// The sum over test cases: counts are added up, and progress is the best anywhere.
pub fn render_sum(files: &[ScenarioFile]) -> String {
    // By scenario: its sum, the test cases that cover it, and in how many it was watched.
    let mut sums: BTreeMap<&str, (Scenario, Vec<&str>, u64)> = BTreeMap::new();
    for file in files {
        for scenario in &file.scenarios {
            let none = || {
                (
                    Scenario {
                        satisfying_schedules: 0,
                        distinct_satisfying_timelines: 0,
                        ..scenario.clone()
                    },
                    Vec::new(),
                    0,
                )
            };
            let (sum, covering, n_watched) = sums.entry(&scenario.name).or_insert_with(none);
            sum.satisfied |= scenario.satisfied;
            sum.satisfying_schedules += scenario.satisfying_schedules;
            sum.distinct_satisfying_timelines += scenario.distinct_satisfying_timelines;
            sum.max_states_visited = sum.max_states_visited.max(scenario.max_states_visited);
            sum.monitor_states = sum.monitor_states.max(scenario.monitor_states);
            if scenario.satisfied {
                covering.push(&file.test_case);
            }
            *n_watched += 1;
        }
    }
    let across = format!(" across {}", count(files.len() as u64, "test case"));
    let satisfied = sums.values().map(|(sum, ..)| sum.satisfied);
    let Some(mut out) = head(&across, satisfied, "covered in at least one test case") else {
        return "no scenario coverage was recorded\n".to_owned();
    };
    let mut sums: Vec<_> = sums.into_values().collect();
    sums.sort_by_key(|(sum, ..)| (!sum.satisfied, sum.name.clone()));
    for (sum, covering, n_watched) in sums {
        let name = &sum.name;
        let _ = match sum.satisfied {
            true => writeln!(
                out,
                ".......  [covered] {name}: covered in {}/{} ({}); {}, {} (summed per test case)",
                covering.len(),
                count(n_watched, "test case"),
                covering.join(", "),
                count(sum.satisfying_schedules, "total trigger"),
                count(sum.distinct_satisfying_timelines, "satisfying timeline")
            ),
            false => writeln!(
                out,
                ".......  [  GAP  ] {name}: never covered in any of {}; best progress anywhere {}/{} states",
                count(n_watched, "test case"),
                sum.max_states_visited,
                sum.monitor_states
            ),
        };
    }
    out
}
