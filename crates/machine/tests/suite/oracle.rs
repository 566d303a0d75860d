//! The kernel against brute force.
//!
//! The oracle is docs/semantics.md, section 1 to the letter: every scheduling point of P's checker, no outboxes, no
//! reduction. On random small programs both must reach the same local states (what handlers print), monitor states,
//! quiescent configurations and violations. They share the interpreter of single handlers, and the count of answers to choices.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::sync::Arc;

use allways_base::Sources;
use allways_machine::configuration::{Configuration, Roster};
use allways_machine::encode::encode_local;
use allways_machine::interpret::{Context, Effect, Input, resume};
use allways_machine::ir::{Action, EventId, InterfaceId, MachineId, Operand, OperandView, ReceiveId};
use allways_machine::{
    Actor, Executable, Kernel, Local, Message, Note, Outcome, Recorder, Scene, Script, Status, Store, Value,
};
use allways_p::hir::Temperature;
use allways_p::{Dialect, FileRole};
use allways_run::{InstanceId, Limits, ViolationKind};

const N_PROGRAMS: u64 = 400;
const MAX_CONFIGURATIONS: usize = 1_500;

/// What both sides are asked for.
#[derive(Default, PartialEq, Eq, Debug)]
struct Reached {
    prints: BTreeSet<String>,
    monitors: BTreeSet<String>,
    quiescent: BTreeSet<String>,
    violations: BTreeSet<String>,
}

impl Reached {
    /// What only one of the two has.
    fn difference(&self, oracle: &Reached) -> String {
        let mut out = String::new();
        for (what, mine, theirs) in [
            ("print", &self.prints, &oracle.prints),
            ("monitor state", &self.monitors, &oracle.monitors),
            ("quiescent configuration", &self.quiescent, &oracle.quiescent),
            ("violation", &self.violations, &oracle.violations),
        ] {
            for item in mine.difference(theirs) {
                let _ = writeln!(out, "only the kernel has {what} {item}");
            }
            for item in theirs.difference(mine) {
                let _ = writeln!(out, "only the oracle has {what} {item}");
            }
        }
        out
    }
}

#[test]
fn kernel_agrees_with_brute_force() {
    let (mut n_compared, mut n_large, mut n_violated) = (0, 0, 0);
    let (mut n_kernel, mut n_oracle) = (0, 0);
    for seed in 0..N_PROGRAMS {
        let text = generate(seed);
        let mut sources = Sources::default();
        let file = sources.add("random.p".into(), text.clone());
        let inputs = [allways_p::Input { file, role: FileRole::Source }];
        let compiled = allways_p::compile(&sources, &inputs, Dialect::default());
        let messages: Vec<&str> = compiled.diagnostics.iter().map(|d| d.message.as_str()).collect();
        let Some(program) = compiled.program else { panic!("seed {seed}: {messages:?}\n{text}") };
        let exe = Arc::new(Executable::new(&program, 0));
        let Some((by_oracle, size)) = PSemantics::new(&exe).explore() else {
            n_large += 1;
            continue;
        };
        let Some((by_kernel, kernel_size)) = explore(&exe) else {
            n_large += 1;
            continue;
        };
        n_compared += 1;
        n_oracle += size;
        n_kernel += kernel_size;
        n_violated += usize::from(!by_oracle.violations.is_empty());
        let difference = by_kernel.difference(&by_oracle);
        assert!(difference.is_empty(), "seed {seed}\n{text}\n{difference}");
    }
    // A test that compares nothing proves nothing.
    assert!(n_compared > 200, "compared {n_compared}, too large {n_large}");
    assert!(n_violated > 20 && n_violated < n_compared, "{n_violated} of {n_compared} violated");
    assert!(n_kernel * 2 < n_oracle, "{n_kernel} configurations against {n_oracle}");
}

/// Collects what is printed, with the name of the machine.
struct Prints<'a> {
    exe: &'a Executable,
    prints: &'a mut BTreeSet<String>,
}

impl Recorder for Prints<'_> {
    fn record(&mut self, scene: &Scene<'_>, note: Note) {
        if let Note::Print { actor: Actor::Machine(machine), text, .. } = note {
            let text = scene.store.as_str(text).unwrap_or("");
            self.prints.insert(format!("{} {text}", self.exe.instance_path(machine)));
        }
    }
}

fn show_local(local: &Local) -> String {
    if local.status == Status::Halted {
        return "halted".into();
    }
    // All fields of these programs are words, except references, whose ids are stable.
    format!("{} {:?}", local.control.as_u32(), local.registers)
}

fn show_monitors(monitors: &[Local]) -> String {
    monitors.iter().map(show_local).collect::<Vec<_>>().join("; ")
}

// The kernel, exhaustively.

fn explore(exe: &Arc<Executable>) -> Option<(Reached, usize)> {
    let mut reached = Reached::default();
    let mut kernel = Kernel::new(exe.clone(), Limits::default());
    let mut seen = HashSet::new();
    let mut open = vec![kernel.save()];
    while let Some(snapshot) = open.pop() {
        kernel.restore(&snapshot);
        let machines: Vec<InstanceId> = kernel.enabled().collect();
        for machine in machines {
            let mut script = Script::default();
            loop {
                kernel.restore(&snapshot);
                let mut recorder = Prints { exe, prints: &mut reached.prints };
                kernel.step(machine, &mut script, &mut recorder).expect("enabled");
                let conf = kernel.configuration();
                match kernel.outcome() {
                    Outcome::Violated(violation) => {
                        let text = match violation.kind.as_str() {
                            // Names count in order of creation, which the oracle does not keep.
                            "unhandled-event" | "deadlock" => "",
                            _ => &violation.message,
                        };
                        reached.violations.insert(format!("{} {text}", violation.kind.as_str()));
                        // These are seen after the step, not in it.
                        if matches!(violation.kind, ViolationKind::Deadlock | ViolationKind::HotAtEnd) {
                            reached.monitors.insert(show_monitors(&conf.monitors));
                        }
                    }
                    Outcome::Unknown(reason) => panic!("{reason:?}"),
                    Outcome::Running | Outcome::Quiescent => {
                        reached.monitors.insert(show_monitors(&conf.monitors));
                    }
                }
                if *kernel.outcome() == Outcome::Quiescent {
                    reached.quiescent.insert(show_quiescent(exe, conf));
                }
                if kernel.is_running() && seen.insert(kernel.encoded()) {
                    open.push(kernel.save());
                }
                if !script.advance() {
                    break;
                }
            }
        }
        if seen.len() > MAX_CONFIGURATIONS {
            return None;
        }
    }
    Some((reached, seen.len()))
}

fn show_quiescent(exe: &Executable, conf: &Configuration) -> String {
    let machines: BTreeMap<String, String> =
        conf.instances().map(|(instance, local)| (exe.instance_path(instance), show_local(local))).collect();
    format!("{machines:?} {}", show_monitors(&conf.monitors))
}

// Section 1, to the letter.

/// What an instance does when it is scheduled next.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Phase {
    Start(Value),
    Deliver(InstanceId, Message),
    Create(InterfaceId, Value, Operand),
    /// Woken from idle: takes its message without another scheduling point.
    Woken,
    /// Took a message, and handles it when it is scheduled again.
    Took(Message),
    /// Looks into the inbox before the null event may fire.
    NullCheck,
    NullFire,
    /// A `receive` found this message, or was handed it.
    Received(Message),
    Blocked(ReceiveId),
    Idle,
    Halted,
}

#[derive(Clone)]
struct World {
    instances: BTreeMap<InstanceId, (Phase, Local)>,
    monitors: Vec<Local>,
    is_started: bool,
}

struct PSemantics<'a> {
    exe: &'a Executable,
    store: Store,
    limits: Limits,
    roster: Roster,
    reached: Reached,
    script: Script,
}

/// The run broke off.
struct Broken;

impl<'a> PSemantics<'a> {
    fn new(exe: &'a Arc<Executable>) -> Self {
        PSemantics {
            exe,
            store: Kernel::new(exe.clone(), Limits::default()).store().clone(),
            limits: Limits::default(),
            roster: Roster::default(),
            reached: Reached::default(),
            script: Script::default(),
        }
    }

    fn explore(mut self) -> Option<(Reached, usize)> {
        let main = self.exe.main;
        let mut world = World { instances: BTreeMap::new(), monitors: Vec::new(), is_started: false };
        world.instances.insert(InstanceId::MAIN, (Phase::Start(Value::NULL), self.new_local(main)));
        for monitor in &self.exe.monitors {
            world.monitors.push(self.local_of(monitor.machine, InterfaceId::from_u32(0)));
        }
        let mut seen = HashSet::new();
        let mut open = vec![world];
        while let Some(world) = open.pop() {
            let enabled: Vec<InstanceId> = world
                .instances
                .iter()
                .filter(|(_, (phase, _))| !matches!(phase, Phase::Idle | Phase::Blocked(_) | Phase::Halted))
                .map(|(&instance, _)| instance)
                .collect();
            if enabled.is_empty() {
                self.end(&world);
            }
            for instance in enabled {
                self.script = Script::default();
                loop {
                    let mut next = world.clone();
                    if self.step(&mut next, instance).is_ok() {
                        self.reached.monitors.insert(show_monitors(&next.monitors));
                        if seen.insert(self.key(&next)) {
                            open.push(next);
                        }
                    }
                    if !self.script.advance() {
                        break;
                    }
                }
            }
            if seen.len() > 8 * MAX_CONFIGURATIONS {
                return None;
            }
        }
        Some((self.reached, seen.len()))
    }

    fn end(&mut self, world: &World) {
        if world.instances.values().any(|(phase, _)| matches!(phase, Phase::Blocked(_))) {
            self.reached.violations.insert("deadlock ".into());
            return;
        }
        for (monitor, local) in world.monitors.iter().enumerate() {
            let state = &self.exe.states[local.control];
            if state.temperature == Temperature::Hot {
                self.reached.violations.insert(format!(
                    "hot-at-end Monitor '{}' detected liveness bug in hot state '{}' at the end of program execution.",
                    self.exe.monitor_name(monitor),
                    self.exe.symbols.text(state.name)
                ));
                return;
            }
        }
        let machines: BTreeMap<String, String> = world
            .instances
            .iter()
            .map(|(&instance, (phase, local))| {
                let text = if *phase == Phase::Halted { "halted".into() } else { show_local(local) };
                (self.exe.instance_path(instance), text)
            })
            .collect();
        self.reached.quiescent.insert(format!("{machines:?} {}", show_monitors(&world.monitors)));
    }

    fn key(&self, world: &World) -> Vec<u8> {
        let mut key = Vec::new();
        let mut text = String::new();
        for (instance, (phase, local)) in &world.instances {
            let _ = write!(text, "{instance:?} {phase:?} ");
            encode_local(self.exe, &self.store, local, &mut key);
        }
        key.extend_from_slice(text.as_bytes());
        for monitor in &world.monitors {
            encode_local(self.exe, &self.store, monitor, &mut key);
        }
        key
    }

    fn new_local(&self, interface: InterfaceId) -> Local {
        let machine = self.exe.interfaces[interface].machine.expect("bound");
        self.local_of(machine, interface)
    }

    fn local_of(&self, machine: MachineId, interface: InterfaceId) -> Local {
        let def = &self.exe.machines[machine];
        Local {
            machine,
            interface,
            control: def.start.expect("has a start state"),
            status: Status::Idle,
            registers: def.fields.iter().map(|&(_, value)| value).collect(),
            ..Local::default()
        }
    }

    fn step(&mut self, world: &mut World, instance: InstanceId) -> Result<(), Broken> {
        if !world.is_started {
            world.is_started = true;
            for monitor in 0..world.monitors.len() {
                self.monitor(world, monitor as u32, Input::Start(Value::NULL))?;
            }
        }
        let (phase, _) = world.instances[&instance];
        match phase {
            Phase::Start(payload) => self.run(world, instance, Input::Start(payload)),
            Phase::Deliver(target, message) => {
                self.enqueue(world, target, message);
                self.run(world, instance, Input::Continue)
            }
            Phase::Create(interface, payload, dst) => {
                let (_, local) = world.instances.get_mut(&instance).expect("exists");
                let child = self.exe.instances.child(instance, local.n_children);
                local.n_children += 1;
                let base = local.frames.last().expect("in a handler").base as usize;
                let receives = self.exe.interfaces[interface].receives;
                let value = Value::reference(child, receives);
                match dst.view() {
                    OperandView::Register(n) => local.registers[base + n as usize] = value,
                    OperandView::Field(n) => local.registers[n as usize] = value,
                    OperandView::Const(_) => unreachable!(),
                }
                let created = self.new_local(interface);
                world.instances.insert(child, (Phase::Start(payload), created));
                self.run(world, instance, Input::Continue)
            }
            Phase::Woken => {
                let message = self.take(world, instance).expect("woken for a message");
                self.run(world, instance, Input::Handle(message))
            }
            Phase::Took(message) => self.run(world, instance, Input::Handle(message)),
            Phase::NullCheck => {
                let phase = match self.take(world, instance) {
                    Some(message) => Phase::Took(message),
                    None => Phase::NullFire,
                };
                world.instances.get_mut(&instance).expect("exists").0 = phase;
                Ok(())
            }
            Phase::NullFire => self.run(
                world,
                instance,
                Input::Handle(Message { event: EventId::NULL, payload: Value::NULL }),
            ),
            Phase::Received(message) => self.run(world, instance, Input::Received(message)),
            Phase::Blocked(_) | Phase::Idle | Phase::Halted => unreachable!(),
        }
    }

    fn enqueue(&mut self, world: &mut World, target: InstanceId, message: Message) {
        let (phase, local) = world.instances.get_mut(&target).expect("exists");
        match *phase {
            Phase::Halted => {}
            Phase::Blocked(table) if self.wants(table, message.event) => *phase = Phase::Received(message),
            _ => {
                local.inbox.push_back(message);
                let actions = &self.exe.states[local.control].actions;
                let is_takeable = |m: &Message| !matches!(actions[m.event], Action::Ignore | Action::Defer);
                if *phase == Phase::Idle && local.inbox.iter().any(is_takeable) {
                    *phase = Phase::Woken;
                }
            }
        }
    }

    fn wants(&self, table: ReceiveId, event: EventId) -> bool {
        event == EventId::HALT || self.exe.receives[table].cases[event].is_some()
    }

    fn take(&self, world: &mut World, instance: InstanceId) -> Option<Message> {
        let (_, local) = world.instances.get_mut(&instance).expect("exists");
        let actions = &self.exe.states[local.control].actions;
        let mut at = 0;
        while let Some(&message) = local.inbox.get(at) {
            match actions[message.event] {
                Action::Ignore => {
                    local.inbox.remove(at);
                }
                Action::Defer => at += 1,
                _ => return local.inbox.remove(at),
            }
        }
        None
    }

    fn resume(&mut self, local: &mut Local, actor: Actor, input: Input) -> Effect {
        let mut fuel = self.limits.instructions;
        let mut recorder = Prints { exe: self.exe, prints: &mut self.reached.prints };
        let context = Context {
            exe: self.exe,
            store: &mut self.store,
            roster: &self.roster,
            limits: &self.limits,
            recorder: &mut recorder,
            actor,
            fuel: &mut fuel,
        };
        resume(context, local, input)
    }

    fn run(&mut self, world: &mut World, instance: InstanceId, mut input: Input) -> Result<(), Broken> {
        loop {
            let (_, mut local) = world.instances.get(&instance).cloned().expect("exists");
            let effect = self.resume(&mut local, Actor::Machine(instance), input);
            let interface = local.interface;
            let has_null = self.exe.states[local.control].has_null;
            world.instances.get_mut(&instance).expect("exists").1 = local;
            let phase = match effect {
                Effect::Yield => panic!("handlers of these programs are short"),
                Effect::Observe(message) => {
                    for &monitor in self.exe.observers(interface, message.event) {
                        self.monitor(world, monitor, Input::Handle(message))?;
                    }
                    input = Input::Observed;
                    continue;
                }
                Effect::Deliver { target, message } => Phase::Deliver(target, message),
                Effect::Create { interface, payload, dst } => Phase::Create(interface, payload, dst),
                Effect::Choose { n_answers, .. } => {
                    input = Input::Chosen(self.script.ask(n_answers));
                    continue;
                }
                Effect::Receive { table } => {
                    let (_, local) = world.instances.get_mut(&instance).expect("exists");
                    let at = local.inbox.iter().position(|message| self.wants(table, message.event));
                    match at.and_then(|at| local.inbox.remove(at)) {
                        Some(message) => Phase::Received(message),
                        None => Phase::Blocked(table),
                    }
                }
                Effect::Done if has_null => Phase::NullCheck,
                Effect::Done => match self.take(world, instance) {
                    Some(message) => Phase::Took(message),
                    None => Phase::Idle,
                },
                Effect::Halt => {
                    world.instances.get_mut(&instance).expect("exists").1 = Local::default();
                    Phase::Halted
                }
                Effect::Fault(fault) => return Err(self.broken(fault)),
                Effect::Exceeds(_) => panic!("handlers of these programs are small"),
                Effect::Foreign { .. } => unreachable!(),
            };
            world.instances.get_mut(&instance).expect("exists").0 = phase;
            return Ok(());
        }
    }

    fn monitor(&mut self, world: &mut World, monitor: u32, input: Input) -> Result<(), Broken> {
        let mut local = world.monitors[monitor as usize].clone();
        let effect = self.resume(&mut local, Actor::Monitor(monitor), input);
        world.monitors[monitor as usize] = local;
        match effect {
            Effect::Done => Ok(()),
            Effect::Fault(fault) => Err(self.broken(fault)),
            other => unreachable!("{other:?}"),
        }
    }

    fn broken(&mut self, fault: allways_machine::configuration::Fault) -> Broken {
        let text = match fault.kind.as_str() {
            "unhandled-event" => "",
            _ => self.store.as_str(fault.text).unwrap_or(""),
        };
        self.reached.violations.insert(format!("{} {text}", fault.kind.as_str()));
        Broken
    }
}

// Random programs.

struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 20) % n
    }

    fn chance(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }
}

fn generate(seed: u64) -> String {
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for _ in 0..4 {
        random.below(2);
    }
    let n_kinds = 1 + random.below(2);
    let mut out = String::from("event e0: int; event e1: int; event e2: int; event eObs: int;\n");
    generate_spec(&mut random, &mut out);
    let _ = writeln!(out, "machine Main {{\n  var p0: machine; var p1: machine; var n: int; var k: int;");
    let _ = writeln!(out, "  start state Init {{\n    entry {{\n      p0 = new W0((this, this));");
    let _ = writeln!(out, "      p1 = new W{}((p0, this));", random.below(n_kinds));
    for _ in 0..1 + random.below(2) {
        let _ = writeln!(out, "      send p{}, e{}, {};", random.below(2), random.below(3), random.below(2));
    }
    out.push_str("      goto S0;\n    }\n  }\n");
    generate_states(&mut random, &mut out, n_kinds);
    for kind in 0..n_kinds {
        let _ =
            writeln!(out, "machine W{kind} {{\n  var p0: machine; var p1: machine; var n: int; var k: int;");
        out.push_str(
            "  start state Init {\n    entry (x: (machine, machine)) {\n      p0 = x.0; p1 = x.1; n = 1;\n",
        );
        if random.chance(40) {
            generate_statement(&mut random, &mut out, n_kinds, false);
        }
        out.push_str("      goto S0;\n    }\n  }\n");
        generate_states(&mut random, &mut out, n_kinds);
    }
    out
}

fn generate_spec(random: &mut Random, out: &mut String) {
    let (a, b) = (random.below(3), random.below(4));
    let _ = writeln!(out, "spec M observes eObs, e{a} {{\n  var last: int; var c: int;");
    let temperature = if random.chance(25) { "hot " } else { "" };
    let _ = writeln!(
        out,
        "  start state A {{ on eObs goto B with (v: int) {{ last = v; }} on e{a} do (v: int) {{ c = (c + 1 + v) % 3; }} }}"
    );
    let assertion =
        if random.chance(40) { format!("assert c != 2 || v != {b}, \"monitor\";") } else { String::new() };
    let _ = writeln!(
        out,
        "  {temperature}state B {{ on eObs goto A; on e{a} do (v: int) {{ {assertion} c = (c + last) % 3; }} }}\n}}"
    );
}

fn generate_states(random: &mut Random, out: &mut String, n_kinds: u64) {
    out.push_str("  state S0 {\n");
    generate_actions(random, out, n_kinds);
    out.push_str("  }\n  state S1 {\n");
    if random.chance(50) {
        out.push_str("    entry {\n");
        generate_statement(random, out, n_kinds, true);
        out.push_str("    }\n");
    }
    if random.chance(30) {
        out.push_str("    exit { k = (k + 2) % 3; }\n");
    }
    generate_actions(random, out, n_kinds);
    out.push_str("  }\n}\n");
}

fn generate_actions(random: &mut Random, out: &mut String, n_kinds: u64) {
    for event in 0..3 {
        match random.below(20) {
            0..3 => {
                let _ = writeln!(out, "    defer e{event};");
            }
            3..5 => {
                let _ = writeln!(out, "    ignore e{event};");
            }
            5..9 => {
                let _ = writeln!(out, "    on e{event} goto S{};", random.below(2));
            }
            9 => {
                if !random.chance(30) {
                    let _ = writeln!(out, "    ignore e{event};");
                }
            }
            _ => {
                let _ = writeln!(out, "    on e{event} do (v: int) {{");
                for _ in 0..1 + random.below(3) {
                    generate_statement(random, out, n_kinds, true);
                }
                out.push_str("      print format(\"{0} {1}\", n, k);\n    }\n");
            }
        }
    }
    if random.chance(12) {
        out.push_str("    on null do {\n");
        generate_statement(random, out, n_kinds, true);
        out.push_str("      if (k == 2) { goto S1; } k = k + 1;\n    }\n");
    }
}

fn generate_statement(random: &mut Random, out: &mut String, n_kinds: u64, may_jump: bool) {
    let guard = "      if (n < 2) { n = n + 1; ";
    let _ = match random.below(20) {
        0..3 => writeln!(out, "      k = (k + 1) % 3;"),
        3..9 => {
            writeln!(out, "{guard}send p{}, e{}, k; }}", random.below(2), random.below(3))
        }
        9 | 10 => writeln!(out, "{guard}announce eObs, k; }}"),
        11 | 12 => writeln!(out, "      if ($) {{ k = (k + 1) % 3; }}"),
        13 => writeln!(out, "      k = choose(3);"),
        14 if may_jump => writeln!(out, "{guard}raise e{}, k; }}", random.below(3)),
        15 if may_jump => writeln!(out, "{guard}goto S{}; }}", random.below(2)),
        16 => writeln!(out, "{guard}receive {{ case e{}: (w: int) {{ k = w; }} }} }}", random.below(3)),
        17 if random.chance(40) => writeln!(out, "      assert k != 2, \"machine\";"),
        18 if random.chance(50) => writeln!(out, "{guard}send p{}, halt; }}", random.below(2)),
        19 if random.chance(50) => {
            writeln!(out, "      if (n < 1) {{ n = 1; new W{}((this, p1)); }}", random.below(n_kinds))
        }
        _ => writeln!(out, "{guard}send this, e{}, k; }}", random.below(3)),
    };
}
