//! Runs the programs of `corpus/p/run`, each of which tells its verdict in its first line:
//!
//! ```text
//! // expect: holds
//! // expect: violated KIND [words of the message]
//! // expect: unknown [words of the reason]
//! ```
//!
//! A program *holds* when no schedule breaks it: all of them where a depth-first enumeration ends, else those that
//! it reached and some hundred more by chance. Every schedule that ends a run is replayed, and so is its trace.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allways_base::Sources;
use allways_machine::configuration::Local;
use allways_machine::encode::{encode_in_flight, encode_local, encode_whole};
use allways_machine::value::Form;
use allways_machine::{DataPoint, Executable, Kernel, Oracle, Outcome, Silent, Tracer, replay_on};
use allways_p::{Dialect, FileRole, Input};
use allways_run::datum::write_float;
use allways_run::{Activity, Choice, Datum, Limits, StopReason, Trace, TraceState};

const MAX_STEPS: u64 = 200;
const MAX_DFS_SCHEDULES: usize = 3_000;
const N_RANDOM_SCHEDULES: u64 = 200;

fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../corpus/p/run")
}

fn limits() -> Limits {
    Limits { instructions: 20_000, call_depth: 500, ..Limits::default() }
}

#[test]
fn programs_have_their_verdicts() {
    let mut files: Vec<PathBuf> = std::fs::read_dir(corpus())
        .expect("the corpus is there")
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|ext| ext == "p"))
        .collect();
    files.sort();
    let mut problems = String::new();
    for path in &files {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let text = std::fs::read_to_string(path).expect("readable");
        if let Err(problem) = check(&name, &text) {
            let _ = writeln!(problems, "{name}: {problem}");
        }
    }
    assert!(problems.is_empty(), "\n{problems}");
    assert!(files.len() >= 120, "only {} programs", files.len());
}

fn check(name: &str, text: &str) -> Result<(), String> {
    let expected = text
        .lines()
        .next()
        .and_then(|line| line.strip_prefix("// expect: "))
        .ok_or("no expectation in the first line")?
        .trim();
    let mut sources = Sources::default();
    let file = sources.add(format!("{name}.p"), text.to_owned());
    let compiled =
        allways_p::compile(&sources, &[Input { file, role: FileRole::Source }], Dialect::default());
    let Some(program) = compiled.program else {
        let messages: Vec<&str> = compiled.diagnostics.iter().map(|d| d.message.as_str()).collect();
        return Err(format!("rejected: {}", messages.join("; ")));
    };
    if program.tests.is_empty() {
        return Err("no test".into());
    }
    for test in 0..program.tests.len() {
        let exe = Arc::new(Executable::new(&program, test));
        allways_machine::verify::verify(&exe)?;
        let found = explore(&exe)?;
        compare(expected, found.as_ref(), &sources).map_err(|e| format!("{}: {e}", exe.test_name))?;
    }
    Ok(())
}

fn compare(expected: &str, found: Option<&Outcome>, sources: &Sources) -> Result<(), String> {
    let (verdict, rest) = expected.split_once(' ').unwrap_or((expected, ""));
    match (verdict, found) {
        ("holds", None) => Ok(()),
        ("violated", Some(Outcome::Violated(violation))) => {
            let (kind, words) = rest.split_once(' ').unwrap_or((rest, ""));
            let text = violation.text(sources);
            if violation.kind.as_str() == kind && text.contains(words) {
                Ok(())
            } else {
                Err(format!("expected {expected}, found {} {text}", violation.kind.as_str()))
            }
        }
        ("unknown", Some(Outcome::Unknown(reason))) => {
            let text = match reason {
                StopReason::ForeignFunction { name } => name.clone(),
                other => format!("{other:?}"),
            };
            if text.contains(rest) { Ok(()) } else { Err(format!("expected {expected}, found {text}")) }
        }
        (_, Some(Outcome::Violated(violation))) => {
            Err(format!("expected {expected}, found {} {}", violation.kind.as_str(), violation.text(sources)))
        }
        (_, other) => Err(format!("expected {expected}, found {other:?}")),
    }
}

/// The first outcome that is not fine.
fn explore(exe: &Arc<Executable>) -> Result<Option<Outcome>, String> {
    let mut kernel = Kernel::new(exe.clone(), limits());
    let mut again = Kernel::new(exe.clone(), limits());
    let mut tree = Tree::default();
    for _ in 0..MAX_DFS_SCHEDULES {
        if let Some(outcome) = run(&mut kernel, &mut again, &mut tree)? {
            return Ok(Some(outcome));
        }
        if !tree.advance() {
            return Ok(None);
        }
    }
    for seed in 0..N_RANDOM_SCHEDULES {
        if let Some(outcome) = run(&mut kernel, &mut again, &mut Random(seed * 2 + 1))? {
            return Ok(Some(outcome));
        }
    }
    Ok(None)
}

fn run(kernel: &mut Kernel, again: &mut Kernel, picker: &mut impl Picker) -> Result<Option<Outcome>, String> {
    kernel.reset();
    picker.restart();
    while kernel.is_running() && kernel.n_steps() < MAX_STEPS {
        let n = picker.pick(kernel.n_enabled() as u32);
        let choice = kernel.nth_enabled(n as usize).ok_or("a running kernel has an enabled machine")?;
        let mut answers = Answers(picker);
        kernel.take(choice, &mut answers, &mut Silent).map_err(|e| format!("{e:?}"))?;
        // In the middle of calls, which no run ends in.
        for (_, local) in kernel.configuration().instances().filter(|(_, local)| local.frames.len() > 1) {
            read_again(kernel, local, again)?;
        }
    }
    // Whatever happened must happen again, also when a recorder listens.
    let mut tracer = Tracer::default();
    replay_on(again, kernel.schedule(), &mut tracer).map_err(|e| format!("does not replay: {e}"))?;
    if again.outcome() != kernel.outcome() {
        return Err(format!("replays to {:?}, not {:?}", again.outcome(), kernel.outcome()));
    }
    let trace = tracer.finish(again);
    if trace.schedule() != *kernel.schedule() {
        return Err("the trace has another schedule".into());
    }
    let mut state = TraceState::first(&trace);
    trace.steps.iter().for_each(|step| state.apply(step));
    compare_states(&trace, &state, again)?;
    if kernel.encoded() != again.encoded() {
        return Err("replays to another configuration".into());
    }
    decode_again(kernel, again)?;
    Ok(match kernel.outcome() {
        Outcome::Running | Outcome::Quiescent => None,
        other => Some(other.clone()),
    })
}

/// What one kernel writes another reads, and writes again.
fn read_again(kernel: &Kernel, local: &Local, again: &mut Kernel) -> Result<Vec<u8>, String> {
    let (mut bytes, mut other) = (Vec::new(), Vec::new());
    encode_local(kernel.executable(), kernel.store(), local, &mut bytes);
    let read = again.decode_local(&bytes).map_err(|error| format!("cannot be read: {error}"))?;
    encode_whole(kernel.executable(), again.store(), &read, &mut other);
    if bytes == other { Ok(bytes) } else { Err("is read as another local".into()) }
}

/// The same of a whole configuration; what was cut short is refused.
fn decode_again(kernel: &Kernel, again: &mut Kernel) -> Result<(), String> {
    let (exe, conf) = (kernel.executable(), kernel.configuration());
    let locals = conf.monitors.iter().chain(conf.instances().map(|(_, local)| local));
    for local in locals {
        let (bytes, mut other) = (read_again(kernel, local, again)?, Vec::new());
        // All parts of what is long would fill the store.
        if bytes.len() > 500 {
            continue;
        }
        if (0..bytes.len()).any(|n| again.decode_local(&bytes[..n]).is_ok()) {
            return Err("part of a local is read as a local".into());
        }
        // Changed bytes are a local or are refused, and what is read is what is written.
        for at in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[at] ^= 1 << (at % 8);
            if let Ok(read) = again.decode_local(&changed) {
                other.clear();
                encode_whole(exe, again.store(), &read, &mut other);
                let twice = again.decode_local(&other).map_err(|error| format!("not again: {error}"))?;
                let mut bytes = Vec::new();
                encode_whole(exe, again.store(), &twice, &mut bytes);
                if bytes != other {
                    return Err("changed bytes are read differently each time".into());
                }
            }
        }
    }
    let (mut bytes, mut other) = (Vec::new(), Vec::new());
    encode_in_flight(exe, kernel.store(), &conf.network, &mut bytes);
    let read = again.decode_in_flight(&bytes).map_err(|error| format!("cannot be read: {error}"))?;
    encode_in_flight(exe, again.store(), &read, &mut other);
    if bytes == other { Ok(()) } else { Err("is read as another network".into()) }
}

/// The differences of a trace must add up to the configuration at its end.
fn compare_states(trace: &Trace, state: &TraceState, kernel: &Kernel) -> Result<(), String> {
    let (scene, conf, exe) = (kernel.scene(), kernel.configuration(), kernel.executable());
    let locals = conf.monitors.iter().chain(conf.instances().map(|(_, local)| local));
    for ((actor, now), local) in trace.actors.iter().zip(&state.actors).zip(locals) {
        let name = &actor.name;
        if &*now.state != exe.state_name(local.control) {
            return Err(format!("trace: {name} is in {}, not {}", now.state, exe.state_name(local.control)));
        }
        if now.activity == Activity::Halted {
            continue;
        }
        for ((variable, value), &real) in now.variables.iter().zip(&local.registers) {
            let (value, real) = (plain(value), scene.text(Form::Plain, real));
            if value != real {
                return Err(format!("trace: {name}.{variable} is {value}, not {real}"));
            }
        }
        let inbox: Vec<&str> = now.inbox.iter().map(|&message| &*trace.message(message).event).collect();
        let real: Vec<&str> = local.inbox.iter().map(|message| exe.event_name(message.event)).collect();
        if kernel.is_running() && inbox != real {
            return Err(format!("trace: the inbox of {name} is {inbox:?}, not {real:?}"));
        }
    }
    Ok(())
}

/// As `print` shows a value.
fn plain(datum: &Datum) -> String {
    let joined = |parts: &[Datum]| parts.iter().map(plain).collect::<Vec<_>>().join(", ");
    let sorted = |mut parts: Vec<(String, String)>| {
        parts.sort();
        format!("({})", parts.into_iter().map(|(a, b)| format!("<{a}{b}>")).collect::<Vec<_>>().join(", "))
    };
    match datum {
        Datum::Null => String::new(),
        Datum::Bool(b) => if *b { "True" } else { "False" }.to_owned(),
        Datum::Int(n) | Datum::Enum { number: n, .. } => n.to_string(),
        Datum::Float(x) => {
            let mut out = String::new();
            write_float(*x, &mut out);
            out
        }
        Datum::Text(text) | Datum::Event(text) | Datum::Machine(text) | Datum::Other(text) => {
            text.to_string()
        }
        Datum::Tuple(parts) => {
            format!("<{}>", parts.iter().map(|part| plain(part) + ",").collect::<String>())
        }
        Datum::Named(fields) => {
            let field = |(name, value): &(allways_run::Name, Datum)| format!("{name}:{}, ", plain(value));
            format!("<{}>", fields.iter().map(field).collect::<String>())
        }
        Datum::Seq(parts) => format!("({})", joined(parts)),
        Datum::Set(parts) => sorted(parts.iter().map(|part| (plain(part), String::new())).collect()),
        Datum::Map(entries) => {
            sorted(entries.iter().map(|(key, value)| (plain(key), format!("->{}", plain(value)))).collect())
        }
    }
}

trait Picker {
    fn restart(&mut self) {}
    fn pick(&mut self, n: u32) -> u32;
}

struct Answers<'a, P>(&'a mut P);

impl<P: Picker> Oracle for Answers<'_, P> {
    fn answer(&mut self, point: DataPoint) -> u32 {
        self.0.pick(point.n_answers)
    }
}

/// Enumerates all choices, last first.
#[derive(Default)]
struct Tree {
    /// Choice and number of choices.
    path: Vec<(u32, u32)>,
    at: usize,
}

impl Tree {
    /// On to the next leaf; `false` when there is none.
    fn advance(&mut self) -> bool {
        while let Some((choice, n)) = self.path.pop() {
            if choice + 1 < n {
                self.path.push((choice + 1, n));
                return true;
            }
        }
        false
    }
}

impl Picker for Tree {
    fn restart(&mut self) {
        self.at = 0;
    }

    fn pick(&mut self, n: u32) -> u32 {
        if self.at == self.path.len() {
            self.path.push((0, n));
        }
        self.at += 1;
        self.path[self.at - 1].0
    }
}

struct Random(u64);

impl Picker for Random {
    fn pick(&mut self, n: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        ((self.0 >> 33) % n as u64) as u32
    }
}

fn executable(text: &str) -> Arc<Executable> {
    let mut sources = Sources::default();
    let file = sources.add("x.p".into(), text.into());
    let compiled =
        allways_p::compile(&sources, &[Input { file, role: FileRole::Source }], Dialect::default());
    Arc::new(Executable::new(&compiled.program.expect("accepted"), 0))
}

/// Limits of time and memory hold inside a handler only if it is asked about them as often as it does much.
#[test]
fn a_handler_that_copies_much_is_often_asked_whether_to_stop() {
    let text = "machine Main { start state S { entry { var text: string; var i: int;
        while (i < 3000) { text = format(\"{0} and {1}\", text, i); i = i + 1; } } } }";
    let exe = executable(text);
    let n_asked = AtomicU64::new(0);
    let count = || {
        n_asked.fetch_add(1, Ordering::Relaxed);
        None
    };
    let mut kernel = Kernel::with_stop(exe, Limits::default(), &count);
    let main = [Choice::Machine(allways_run::InstanceId::MAIN)].into_iter().collect();
    replay_on(&mut kernel, &main, &mut Silent).expect("it steps");
    assert_eq!(*kernel.outcome(), Outcome::Quiescent);
    // The texts have more than 35 MB together.
    let n_asked = n_asked.into_inner();
    assert!(n_asked >= 30, "asked {n_asked} times");
}

#[test]
fn schedules_of_other_programs_are_refused() {
    let text = "event eA; machine Main { start state S { entry { send this, eA; } on eA do { } } }";
    let exe = executable(text);
    let mut kernel = Kernel::new(exe.clone(), limits());
    let main = Choice::Machine(allways_run::InstanceId::MAIN);
    let other = Choice::Machine(exe.instance_at("0.3").expect("a path"));
    for (choices, ok) in [
        (vec![main, main], true),
        (vec![main], true),
        (vec![main, Choice::Data(0)], false),
        (vec![other], false),
        (vec![main, main, main], false),
    ] {
        let schedule = choices.into_iter().collect();
        assert_eq!(replay_on(&mut kernel, &schedule, &mut Silent).is_ok(), ok, "{schedule:?}");
    }
    assert_eq!(exe.instance_at("1"), None);
    assert_eq!(exe.instance_at("0.x"), None);
}
