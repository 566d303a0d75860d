//! Suites: `allways.toml` beside a project names tests with the verdict that each is expected to give.
//!
//! ```toml
//! foreign = ["PForeign/bodies.p"]   # bodies in P for foreign functions
//!
//! [[abstract]]                       # for `prove --abstract`
//! type = "tKey"                      # a foreign type
//! distinguished = ["TheKey"]         # foreign functions that return its distinguished value,
//! any = ["AnyKey"]                   # any value,
//! except = ["OtherKey"]              # any value but their argument
//!
//! [filters]                          # for `prove --filters`
//! left-movers = ["eReply"]           # events
//! symmetric = ["Participant"]        # machines
//!
//! [defaults]
//! schedules = 10000
//!
//! [[test]]
//! name = "tcSafe"                    # expected to hold
//!
//! [[test]]
//! name = "tcMutant"
//! expect = "violated"
//! by = "assertion"                   # the kind of violation, or the name of a monitor
//! message = "lost update"            # part of the text
//! strategy = "pct"
//!
//! [[test]]
//! name = "tcFixed"
//! schedule = "schedules/found.schedule"   # run first
//! ```

use std::path::{Path, PathBuf};

use allways_base::nearest::nearest;
use allways_run::{NetworkModel, NetworkOptions};
use serde::Deserialize;

use crate::abstraction::AbstractEntry;
use crate::engine;
use crate::files::{Disk, Files};

pub const FILE_NAME: &str = "allways.toml";

/// The whole file.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Suite {
    /// Files with bodies for foreign functions, relative to this file.
    #[serde(default)]
    pub foreign: Vec<PathBuf>,
    /// Types without bound on their values, for `prove --abstract`.
    #[serde(default, rename = "abstract")]
    pub abstract_types: Vec<AbstractEntry>,
    /// What filters of the symbolic engine may rely on.
    #[serde(default)]
    pub filters: FilterEntry,
    #[serde(default)]
    pub defaults: Budget,
    #[serde(default, rename = "test")]
    pub tests: Vec<SuiteTest>,
}

impl Suite {
    /// Machines that are the environment of a test.
    pub fn stimuli_of(&self, test: &str) -> Vec<String> {
        let budget = self.tests.iter().find(|it| it.name == test).map(|it| it.budget.or(&self.defaults));
        budget.unwrap_or_else(|| self.defaults.clone()).stimuli.unwrap_or_default()
    }
}

/// What is said of a program for filters.
#[derive(Clone, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FilterEntry {
    /// Events whose messages commute to the left of everything.
    #[serde(default)]
    pub left_movers: Vec<String>,
    /// Machines that can be exchanged for each other.
    #[serde(default)]
    pub symmetric: Vec<String>,
}

/// How much is spent on a test.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Budget {
    pub schedules: Option<u64>,
    /// Seconds.
    pub timeout: Option<u64>,
    pub max_steps: Option<u64>,
    pub seed: Option<u64>,
    /// `random`, `probabilistic`, `pct`, `fairpct`, `pos`, `delay`, `dfs` or `portfolio`.
    pub strategy: Option<String>,
    /// The number that some strategies take.
    pub strategy_bound: Option<u32>,
    /// `inbox`, `causal`, `fifo` or `bag`.
    pub network: Option<String>,
    /// Events whose messages can be lost, or arrive twice.
    pub lossy: Option<Vec<String>>,
    pub duplicating: Option<Vec<String>>,
    /// Machines that can crash.
    pub crash: Option<Vec<String>>,
    /// Machines whose steps are the environment's, for `quiesce`.
    pub stimuli: Option<Vec<String>>,
    /// Only fair runs count, for `quiesce`.
    pub fair: Option<bool>,
    /// For `prove`: the name of an engine, or `auto`.
    pub engine: Option<String>,
    /// Gigabytes.
    pub memory: Option<f64>,
}

impl Budget {
    /// This budget where it says something, `defaults` elsewhere.
    pub fn or(&self, defaults: &Budget) -> Budget {
        Budget {
            schedules: self.schedules.or(defaults.schedules),
            timeout: self.timeout.or(defaults.timeout),
            max_steps: self.max_steps.or(defaults.max_steps),
            seed: self.seed.or(defaults.seed),
            strategy: self.strategy.clone().or_else(|| defaults.strategy.clone()),
            strategy_bound: self.strategy_bound.or(defaults.strategy_bound),
            network: self.network.clone().or_else(|| defaults.network.clone()),
            lossy: self.lossy.clone().or_else(|| defaults.lossy.clone()),
            duplicating: self.duplicating.clone().or_else(|| defaults.duplicating.clone()),
            crash: self.crash.clone().or_else(|| defaults.crash.clone()),
            stimuli: self.stimuli.clone().or_else(|| defaults.stimuli.clone()),
            fair: self.fair.or(defaults.fair),
            engine: self.engine.clone().or_else(|| defaults.engine.clone()),
            memory: self.memory.or(defaults.memory),
        }
    }
}

impl Budget {
    /// Looks up the names, so that every command reports a wrong one in the same way.
    fn check(&self) -> Result<(), String> {
        let engines = engine::ENGINES.iter().filter(|entry| entry.proves).map(|entry| entry.name);
        let engines: Vec<&str> = std::iter::once(engine::AUTO).chain(engines).collect();
        let networks: Vec<&str> = NetworkModel::ALL.iter().map(|model| model.as_str()).collect();
        known("strategy", self.strategy.as_deref(), STRATEGIES)?;
        known("network", self.network.as_deref(), &networks)?;
        known("engine", self.engine.as_deref(), &engines)?;
        match self.memory {
            Some(gigabytes) if !(gigabytes > 0.0 && gigabytes.is_finite()) => {
                Err(format!("`memory = {gigabytes}`: a positive number of gigabytes is needed"))
            }
            _ => Ok(()),
        }
    }
}

/// Strategies by name.
pub const STRATEGIES: &[&str] =
    &["portfolio", "random", "probabilistic", "pct", "fairpct", "pos", "delay", "dfs"];

fn known(what: &str, name: Option<&str>, all: &[&str]) -> Result<(), String> {
    match name {
        Some(name) if !all.contains(&name) => {
            let hint = match nearest(name, all.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("choose one of {}", all.join(", ")),
            };
            Err(format!("there is no {what} `{name}`; {hint}"))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expectation {
    #[default]
    Holds,
    Violated,
    /// Every run ends.
    Quiesces,
    /// Some run does not end.
    Diverges,
}

impl Expectation {
    /// As it is written.
    pub const fn as_str(self) -> &'static str {
        match self {
            Expectation::Holds => "holds",
            Expectation::Violated => "violated",
            Expectation::Quiesces => "quiesces",
            Expectation::Diverges => "diverges",
        }
    }

    /// Whether it is about runs that end.
    pub const fn is_quiescence(self) -> bool {
        matches!(self, Expectation::Quiesces | Expectation::Diverges)
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SuiteTest {
    pub name: String,
    #[serde(default)]
    pub expect: Expectation,
    /// Only with `expect = "violated"`.
    pub by: Option<String>,
    pub message: Option<String>,
    /// A schedule that is run first, relative to this file: a bug that was found once stays fixed.
    pub schedule: Option<PathBuf>,
    #[serde(flatten)]
    pub budget: Budget,
}

/// Reads the suite of a folder; `None` if there is none.
pub fn load(folder: &Path) -> Result<Option<Suite>, String> {
    load_from(&Disk, folder)
}

/// The same, from files that need not be on disk.
///
/// # Errors
/// When the file is there and is no suite.
pub fn load_from(files: &dyn Files, folder: &Path) -> Result<Option<Suite>, String> {
    let path = folder.join(FILE_NAME);
    if !files.is_file(&path) {
        return Ok(None);
    }
    let unreadable = |error: &dyn std::fmt::Display| format!("`{}` cannot be read: {error}", path.display());
    let bytes = files.read(&path).map_err(|error| unreadable(&error))?;
    let text = String::from_utf8(bytes).map_err(|error| unreadable(&error))?;
    let mut suite = parse(&text).map_err(|error| format!("`{}`: {error}", path.display()))?;
    for file in suite.foreign.iter_mut().filter(|file| *file != Path::new(crate::project::ANY)) {
        *file = folder.join(&file);
    }
    for file in suite.tests.iter_mut().filter_map(|test| test.schedule.as_mut()) {
        *file = folder.join(&file);
    }
    Ok(Some(suite))
}

/// An entry that runs a schedule and then tests as usual; `what` says in a comment what the schedule showed.
pub fn schedule_entry(test: &str, schedule: &Path, what: &str, network: &NetworkOptions) -> String {
    let quoted = |text: &str| toml::Value::String(text.to_owned()).to_string();
    let list = |names: &[String]| names.iter().map(|name| quoted(name)).collect::<Vec<_>>().join(", ");
    let what: String = what.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let schedule = quoted(&schedule.to_string_lossy().replace('\\', "/"));
    let mut out = format!("\n# {what}\n[[test]]\nname = {}\nschedule = {schedule}\n", quoted(test));
    if network.model != NetworkModel::Inbox {
        out.push_str(&format!("network = {}\n", quoted(network.model.as_str())));
    }
    for (key, names) in
        [("lossy", &network.lossy), ("duplicating", &network.duplicating), ("crash", &network.crash)]
    {
        if !names.is_empty() {
            out.push_str(&format!("{key} = [{}]\n", list(names)));
        }
    }
    out
}

fn parse(text: &str) -> Result<Suite, String> {
    let suite: Suite = toml::from_str(text).map_err(|error| match misplaced(text) {
        Some(key) => {
            format!("{error}help: `{key}` belongs in a `[[test]]`, or in `[defaults]` for all of them\n")
        }
        None => error.to_string(),
    })?;
    let budgets = suite.tests.iter().map(|test| (format!("the test `{}`", test.name), &test.budget));
    for (whose, budget) in std::iter::once(("[defaults]".to_owned(), &suite.defaults)).chain(budgets) {
        budget.check().map_err(|problem| format!("{whose}: {problem}"))?;
    }
    for test in &suite.tests {
        if test.expect != Expectation::Violated && (test.by.is_some() || test.message.is_some()) {
            return Err(format!(
                "the test `{}` has `expect = \"{}\"`, so `by` and `message` have no effect",
                test.name,
                test.expect.as_str()
            ));
        }
    }
    Ok(suite)
}

/// A setting of tests that stands outside of all of them.
fn misplaced(text: &str) -> Option<String> {
    let table: toml::Table = text.parse().ok()?;
    let is_setting = |(key, value): &(String, toml::Value)| {
        toml::Table::from_iter([(key.clone(), value.clone())]).try_into::<Budget>().is_ok()
    };
    table.into_iter().find(is_setting).map(|(key, _)| key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suite_is_read() {
        let suite = parse(
            "foreign = ['b.p']\n[defaults]\nschedules = 5\n\n[[test]]\nname = 'a'\n\n[[test]]\nname = 'b'\n\
             expect = 'violated'\nby = 'assertion'\nschedules = 7\nnetwork = 'fifo'\nlossy = ['eA']\n",
        )
        .unwrap();
        assert_eq!(suite.tests[0].expect, Expectation::Holds);
        assert_eq!(suite.tests[0].budget.or(&suite.defaults).schedules, Some(5));
        assert_eq!(suite.tests[1].by.as_deref(), Some("assertion"));
        let budget = suite.tests[1].budget.or(&suite.defaults);
        assert_eq!((budget.schedules, budget.network.as_deref()), (Some(7), Some("fifo")));
        assert_eq!(budget.lossy, Some(vec!["eA".to_owned()]));
    }

    #[test]
    fn a_schedule_becomes_an_entry() {
        let network = NetworkOptions {
            model: NetworkModel::Fifo,
            lossy: vec!["eA".to_owned(), "eB".to_owned()],
            ..NetworkOptions::default()
        };
        let entry = schedule_entry("t", Path::new("schedules/x \"1\".schedule"), "assertion: a\nb", &network);
        let suite = parse(&entry).unwrap();
        let test = &suite.tests[0];
        assert_eq!((test.name.as_str(), test.expect), ("t", Expectation::Holds));
        assert_eq!(test.schedule.as_deref(), Some(Path::new("schedules/x \"1\".schedule")));
        assert_eq!(test.budget.network.as_deref(), Some("fifo"));
        assert_eq!(test.budget.lossy, Some(vec!["eA".to_owned(), "eB".to_owned()]));
    }

    #[test]
    fn mistakes_are_reported() {
        assert!(parse("[[tests]]\nname = 'a'").unwrap_err().contains("tests"));
        assert!(parse("[[test]]\nexpect = 'holds'").unwrap_err().contains("name"));
        assert!(parse("[[test]]\nname = 'a'\nexpect = 'works'").unwrap_err().contains("works"));
        assert!(parse("[defaults]\nstrategy = 'pkt'").unwrap_err().contains("did you mean `pct`?"));
        assert!(parse("[[test]]\nname = 'a'\nengine = 'x'").unwrap_err().contains("auto, explicit"));
        assert!(parse("[[test]]\nname = 'a'\nby = 'deadlock'").unwrap_err().contains("hold"));
        // A mistyped key would let a test pass that is expected to fail.
        for key in ["expekt = 'violated'", "max_steps = 5"] {
            assert!(parse(&format!("[[test]]\nname = 'a'\n{key}")).unwrap_err().contains("unknown field"));
        }
        assert!(parse("stimuli = ['Timer']").unwrap_err().contains("or in `[defaults]`"));
        assert!(!parse("[[tests]]\nname = 'a'").unwrap_err().contains("or in `[defaults]`"));
        for memory in ["0", "-1.5", "nan", "inf"] {
            assert!(parse(&format!("[defaults]\nmemory = {memory}")).unwrap_err().contains("positive"));
        }
    }
}
