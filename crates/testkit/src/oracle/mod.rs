//! The brute-force oracle: docs/semantics.md, section 1, enumerated.
//!
//! Every interleaving at every scheduling point, every data choice, configurations compared by structure, no
//! reduction and no hashing tricks. It is slow and simple on purpose, and an independent reading of the language: it
//! walks the typed program and knows neither code, registers nor outboxes.
//!
//! Reading order: [`value`], [`configuration`] (where every machine stands), [`machine`] (from one scheduling point to the
//! next), [`statements`] and [`expressions`] (tasks).
//!
//! Under P's own network a send puts its message into the inbox of the target ([`machine::Segment`] in one place). A
//! weaker one is a part of the [`Configuration`] that this place fills instead, and one more kind of move here; see
//! [`network`]. Crashes are moves too, after the end as well: which local work is still left at a crash depends on how
//! finely a model cuts, so a model that ends its runs where only crashes are left has to explore those by itself.

pub mod configuration;
pub mod expressions;
pub mod machine;
pub mod network;
pub mod statements;
pub mod text;
pub mod value;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::rc::Rc;

use allways_p::hir::{Action, Program, StateId, StmtKind, Temperature, Test};
use allways_run::{NetworkOptions, ViolationKind};

use crate::view::{At, LocalView, MonitorView, QuiescentView, Summary, shown};
use allways_machine::Script;
use configuration::{Configuration, Local, Status};
use machine::{Segment, Trap, new_machine};
use network::{Network, Rules};
use value::{Path, Value};

#[derive(Clone, Copy, Debug)]
pub struct OracleOptions {
    pub max_configurations: usize,
    /// Tasks between two scheduling points.
    pub max_tasks: u32,
    /// Configurations with a longer inbox are cut off, so that endless programs are followed further.
    pub max_inbox: Option<usize>,
    /// Answers to a choice of a number that are explored, spread from the first to the last.
    pub max_choices: Option<u32>,
    /// Texts of machines are those that P gives, with the number of the creation; otherwise with the path, which does not depend on
    /// the interleaving.
    pub exact_texts: bool,
}

impl Default for OracleOptions {
    fn default() -> Self {
        OracleOptions {
            max_configurations: 20_000,
            max_tasks: 20_000,
            max_inbox: None,
            max_choices: None,
            exact_texts: false,
        }
    }
}

/// Enumerates one test of a program.
pub fn explore(program: &Program, test_idx: usize, options: OracleOptions) -> Summary {
    explore_over(program, test_idx, options, &NetworkOptions::default())
}

/// The same over some network.
pub fn explore_over(
    program: &Program,
    test_idx: usize,
    options: OracleOptions,
    network: &NetworkOptions,
) -> Summary {
    let test = &program.tests[test_idx];
    let mut search = Search {
        program,
        test,
        rules: &Rules::new(program, network),
        options,
        summary: Summary::default(),
        seen: HashSet::new(),
        open: VecDeque::new(),
    };
    search.run();
    search.summary.n_configurations = search.seen.len();
    search.summary
}

struct Search<'a> {
    program: &'a Program,
    test: &'a Test,
    rules: &'a Rules,
    options: OracleOptions,
    summary: Summary,
    seen: HashSet<Rc<Configuration>>,
    /// First come, first served: a bound cuts off what lies far away.
    open: VecDeque<Rc<Configuration>>,
}

impl Search<'_> {
    fn run(&mut self) {
        let Some(initial) = self.initial() else { return };
        // Before the main machine has begun there is nothing to compare: engines start it together with the monitors.
        let initial = Rc::new(initial);
        self.seen.insert(initial.clone());
        self.expand(&initial, true);
        while let Some(conf) = self.open.pop_front() {
            if self.seen.len() >= self.options.max_configurations {
                self.summary.bound_hit = true;
                return;
            }
            self.expand(&conf, false);
        }
    }

    fn initial(&mut self) -> Option<Configuration> {
        let (program, test, rules) = (self.program, self.test, self.rules);
        let main: Path = [].into();
        let order = self.options.exact_texts.then(|| vec![(main.clone(), test.main_interface)]);
        let machine = new_machine(program, test, test.main_interface, Value::Null);
        let monitors = test.system.monitors.iter().map(|&(monitor, _)| {
            let start = program.machines[monitor].start.unwrap_or(StateId::from_u32(0));
            Rc::new(Local::new(program, monitor, None, start))
        });
        let conf = Configuration {
            machines: BTreeMap::from([(main, Rc::new(machine))]),
            monitors: monitors.collect(),
            network: Network::default(),
            order,
        };
        // Monitors make no choices.
        let mut script = Script::default();
        let fuel = self.options.max_tasks;
        let (max_choices, left_out) = (None, false);
        let mut segment =
            Segment { program, test, rules, conf, script: &mut script, fuel, max_choices, left_out };
        match segment.start_monitors() {
            Ok(()) => Some(segment.conf),
            Err(trap) => {
                self.trapped(trap);
                None
            }
        }
    }

    /// All successors of a configuration.
    fn expand(&mut self, conf: &Configuration, is_initial: bool) {
        let (program, test, rules) = (self.program, self.test, self.rules);
        let enabled: Vec<Path> = conf
            .machines
            .iter()
            .filter(|(_, local)| local.is_enabled())
            .map(|(path, _)| path.clone())
            .collect();
        for path in &enabled {
            let mut script = Script::default();
            loop {
                let OracleOptions { max_tasks: fuel, max_choices, .. } = self.options;
                let (conf_now, left_out) = (conf.clone(), false);
                let mut segment = Segment {
                    program,
                    test,
                    rules,
                    conf: conf_now,
                    script: &mut script,
                    fuel,
                    max_choices,
                    left_out,
                };
                let ended = segment.run(path);
                self.summary.answers_left_out |= segment.left_out;
                match ended {
                    Ok(()) => {
                        let next_conf = segment.conf;
                        self.visit((!is_initial).then_some(conf), next_conf);
                    }
                    Err(trap) => self.trapped(trap),
                }
                // One step may have millions of answers.
                if self.seen.len() > self.options.max_configurations {
                    self.summary.bound_hit = true;
                    return;
                }
                if !script.advance() {
                    break;
                }
            }
        }
        for id in conf.network.arrivals(rules.model) {
            let (mut script, fuel) = (Script::default(), self.options.max_tasks);
            let (max_choices, left_out) = (None, false);
            let mut segment = Segment {
                program,
                test,
                rules,
                conf: conf.clone(),
                script: &mut script,
                fuel,
                max_choices,
                left_out,
            };
            let message = segment.conf.network.take(&id);
            segment.enqueue(&id.0, message);
            let next_conf = segment.conf;
            self.visit(Some(conf), next_conf);
        }
        if enabled.is_empty() && conf.network.is_empty() {
            self.quiescent(conf);
        }
        // The first step starts the program; before that nothing can go wrong. Afterwards anything can, at any time, also
        // when no other machine has anything left to do.
        let crashing = conf.machines.iter().filter(|(_, local)| {
            !is_initial && local.status != Status::Halted && rules.crash.contains(&local.machine)
        });
        for (path, local) in crashing {
            let mut next_conf = conf.clone();
            let mut local = (**local).clone();
            local.halt();
            next_conf.machines.insert(path.clone(), Rc::new(local));
            self.visit(Some(conf), next_conf);
        }
    }

    fn visit(&mut self, parent: Option<&Configuration>, conf: Configuration) {
        if self.seen.contains(&conf) {
            return;
        }
        if let Some(bound) = self.options.max_inbox
            && conf.machines.values().any(|local| local.inbox.len() > bound)
        {
            self.summary.bound_hit = true;
            return;
        }
        // What the parent has too was seen with it.
        for (path, local) in &conf.machines {
            let known = parent.and_then(|parent| parent.machines.get(path));
            if !known.is_some_and(|known| Rc::ptr_eq(known, local)) {
                self.summary.locals.extend(self.local_view(path, local));
            }
        }
        let is_new = parent.is_none_or(|parent| {
            parent.monitors.iter().zip(&conf.monitors).any(|(old, new)| !Rc::ptr_eq(old, new))
        });
        if is_new {
            self.summary.monitors.insert(monitor_views(&conf));
        }
        let conf = Rc::new(conf);
        self.seen.insert(conf.clone());
        self.open.push_back(conf);
    }

    fn trapped(&mut self, trap: Trap) {
        match trap {
            Trap::Violation(kind, span) => {
                self.summary.violations.insert((kind, span));
            }
            Trap::Unknown => self.summary.is_unknown = true,
            Trap::Bound => self.summary.bound_hit = true,
        }
    }

    /// No machine can step: the run has terminated (docs/semantics.md, sections 1 and 6).
    fn quiescent(&mut self, conf: &Configuration) {
        let machines =
            conf.machines.iter().filter_map(|(path, local)| self.local_view(path, local)).collect();
        self.summary.quiescent.insert(QuiescentView { machines, monitors: monitor_views(conf) });
        if conf.machines.values().any(|local| matches!(local.status, Status::Blocked(_))) {
            self.summary.violations.insert((ViolationKind::Deadlock, None));
            return;
        }
        let hot = conf.monitors.iter().find_map(|local| {
            let def = &self.program.machines[local.machine];
            let state = &def.states[local.control];
            let is_scenario = def.kind == allways_p::hir::MachineKind::Scenario;
            (state.temperature == Temperature::Hot && !is_scenario).then_some(state.span)
        });
        if let Some(span) = hot {
            self.summary.violations.insert((ViolationKind::HotAtEnd, Some(span)));
        }
    }

    /// The machine as others see it; `None` between two effects.
    fn local_view(&self, path: &Path, local: &Local) -> Option<LocalView> {
        let program = self.program;
        let messages = |keep_ignored: bool| {
            let ignored = |event| local.action(program, event) == Some(Action::Ignore);
            let kept = local.inbox.iter().filter(|(event, _)| keep_ignored || !ignored(*event));
            kept.map(|(event, payload)| (*event, shown(payload))).collect()
        };
        let at = match &local.status {
            Status::Idle => At::Idle { inbox: messages(false) },
            // A control state with a null handler is never idle in P: it looks again and again.
            Status::BeforeLook if !local.can_take(program) => At::Idle { inbox: messages(false) },
            Status::Blocked(stmt) => {
                let calls = local.frames.iter().map(|frame| frame.fun).collect::<Vec<_>>();
                let body = program.functions[*calls.last()?].body.as_ref()?;
                debug_assert!(matches!(body.stmts[*stmt].kind, StmtKind::Receive { .. }));
                At::Blocked { receive: body.stmts[*stmt].span, calls, inbox: messages(true) }
            }
            Status::Halted => At::Halted,
            Status::Sending { target, message: (event, payload) } => {
                At::Sending { target: target.clone(), event: *event, payload: shown(payload) }
            }
            Status::Creating { interface, payload } => {
                At::Creating { interface: *interface, payload: shown(payload) }
            }
            Status::Running
            | Status::Created(_)
            | Status::Taken(_)
            | Status::BeforeLook
            | Status::BeforeNull
            | Status::Received(..)
            | Status::Woken => return None,
        };
        let fields = local.fields.iter().map(shown).collect();
        Some(LocalView { path: path.clone(), machine: local.machine, control: local.control, fields, at })
    }
}

fn monitor_views(conf: &Configuration) -> Vec<MonitorView> {
    conf.monitors
        .iter()
        .map(|local| MonitorView { control: local.control, fields: local.fields.iter().map(shown).collect() })
        .collect()
}
