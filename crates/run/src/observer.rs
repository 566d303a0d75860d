//! What an engine says while it works. Engines never print: they tell an observer.

/// Figures of a search so far. Those that an engine does not have are `None`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Progress {
    /// What comes after the search proper, if it is that.
    pub phase: Option<&'static str>,
    pub n_schedules: Option<u64>,
    pub n_steps: u64,
    pub n_configurations: Option<u64>,
    /// Configurations that wait to be expanded.
    pub frontier: Option<u64>,
    pub depth: u64,
    /// Things covered so far: control states, transitions, events.
    pub n_covered: Option<u64>,
    pub bytes: Option<u64>,
    /// Nodes of decision diagrams.
    pub n_nodes: Option<u64>,
}

/// Listens to a search, from whichever thread has news.
pub trait Observer: Sync {
    fn progress(&self, _progress: &Progress) {}

    /// Asked from time to time; `true` ends the search with what it has.
    fn should_stop(&self) -> bool {
        false
    }
}

/// Hears nothing and never interrupts.
#[derive(Clone, Copy, Default, Debug)]
pub struct Quiet;

impl Observer for Quiet {}
