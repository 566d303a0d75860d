//! The topology: exact on small programs, and never less than what runs show.

use std::collections::BTreeSet;
use std::sync::Arc;

use allways_machine::ir::EventId;
use allways_machine::topology::{SiteId, Target, Topology};
use allways_machine::value::{Kind, View};
use allways_machine::{DataPoint, Executable, Kernel, Note, Pending, Recorder, Scene, Store, Value};
use allways_run::{InstanceId, Limits};
use allways_testkit::generate::generate_any;
use allways_testkit::random::Random;

use crate::support::compile;

/// `sender -> target: events`, in order.
fn lines(exe: &Executable, topology: &Topology) -> Vec<String> {
    let name = |target| match target {
        Target::Site(site) => topology.name(exe, site),
        Target::Monitor(monitor) => exe.monitor_name(monitor as usize).to_owned(),
    };
    topology
        .edges()
        .map(|(from, target, events)| {
            let events: Vec<&str> = events.iter().map(|&event| exe.event_name(event)).collect();
            format!("{} -> {}: {}", topology.name(exe, from), name(target), events.join(" "))
        })
        .collect()
}

fn expect(text: &str, expected: &[&str]) -> (Executable, Topology) {
    let program = compile("small.p", text).unwrap_or_else(|error| panic!("{error}"));
    let exe = Executable::new(&program, 0);
    let topology = Topology::new(&exe);
    assert_eq!(lines(&exe, &topology), expected);
    (exe, topology)
}

#[test]
fn sites_and_parts_of_payloads_are_reported_apart() {
    let (_, topology) = expect(
        "event ping: (source: machine, other: machine); event pong; event go;
         machine Main {
           start state S { entry {
             var a: machine; var b: machine; var c: machine;
             a = new Echo(); b = new Echo(); c = new Client(a, b);
             send c, go;
           } }
         }
         machine Client {
           var a: machine; var b: machine;
           start state S {
             entry (p: (machine, machine)) { a = p.0; b = p.1; }
             on go do { send a, ping, (source = this, other = b); }
             on pong do {}
           }
         }
         machine Echo { start state S { on ping do (p: (source: machine, other: machine)) { send p.source, pong; } } }",
        &["Main -> Client: go", "Echo#1 -> Client: pong", "Client -> Echo#1: ping"],
    );
    // Main makes the client, so it can bring about what that sends; the second echo gets nothing and sends nothing.
    let [main, echo, other, client] = [0, 1, 2, 3].map(SiteId::from_u32);
    assert!(
        topology.is_potential_sender(main, Target::Site(echo))
            && !topology.sends(main, Target::Site(echo), EventId::from_u32(2))
    );
    assert!(!topology.is_potential_sender(client, Target::Site(other)));
    assert!(!topology.is_potential_sender(other, Target::Site(client)));
}

#[test]
fn what_a_machine_makes_depends_on_its_own_site() {
    expect(
        "event tick; event begin;
         machine Main { start state S { entry { new Node(); new Node(); } } }
         machine Node {
           var t: machine;
           start state S { entry { t = new Timer(this); send t, begin; } on tick do { send t, begin; } }
         }
         machine Timer {
           var owner: machine;
           start state S { entry (p: machine) { owner = p; } on begin do { send owner, tick; } }
         }",
        &[
            "Node#1 -> Timer#1: begin",
            "Node#2 -> Timer#2: begin",
            "Timer#1 -> Node#1: tick",
            "Timer#2 -> Node#2: tick",
        ],
    );
}

#[test]
fn references_pass_through_collections_calls_casts_raise_and_receive() {
    expect(
        "event give: any; event inner: machine; event hello; event word: event;
         fun pass(m: machine): machine { return m; }
         machine Main {
           var known: map[machine, seq[machine]];
           start state S { entry {
             var x: machine; var y: machine; var k: machine;
             x = new Sink(); y = new Sink();
             known[x] = default(seq[machine]);
             known[x] += (0, y);
             send new Holder(), give, known[x] as any;
             foreach (k in keys(known)) { send pass(k), hello; }
             raise inner, x;
           } on inner goto T; }
           state T { entry (m: machine) { send m, word, hello; receive { case word: (e: event) { } } } }
         }
         machine Holder {
           start state S {
             entry { var s: seq[machine]; receive { case give: (a: any) { s = a as seq[machine]; } } send s[0], hello; }
             ignore hello;
           }
         }
         machine Sink { start state S { ignore hello, word; } }",
        &["Main -> Sink#1: hello word", "Main -> Holder: give", "Holder -> Sink#2: hello"],
    );
}

#[test]
fn machines_that_make_their_like_are_one_site() {
    let (_, topology) = expect(
        "event e;
         machine Main { start state S { entry { new Cell(this); } ignore e; } }
         machine Cell { start state S { entry (up: machine) { send up, e; if ($) { new Cell(this); } } ignore e; } }
         spec Watch observes e { start state S { ignore e; } }",
        &[
            "Cell#1 -> Main: e",
            "Cell#1 -> Watch: e",
            "Cell#2 -> Cell#1: e",
            "Cell#2 -> Cell#2: e",
            "Cell#2 -> Watch: e",
        ],
    );
    assert_eq!(topology.sites().len(), 3, "the first, made by Main, and all others");
    assert!(
        topology.is_potential_sender(SiteId::MAIN, Target::Monitor(0)),
        "the main machine makes a sender"
    );
}

/// What the steps of a run show.
struct Watch<'a> {
    topology: &'a Topology,
    /// By instance.
    sites: Vec<Option<SiteId>>,
    missing: BTreeSet<String>,
    n_pairs: usize,
    n_references: usize,
}

/// The machines in a value.
fn references(store: &Store, value: Value, out: &mut Vec<InstanceId>) {
    match value.view() {
        View::Ref(machine, _) => out.push(machine),
        View::Node(Kind::Tuple | Kind::Seq, id) => {
            store.parts(id).iter().for_each(|&part| references(store, part, out));
        }
        View::Node(Kind::Named, id) => {
            store.named_parts(id).1.iter().for_each(|&part| references(store, part, out));
        }
        View::Node(Kind::Set, id) => store.set_elements(id).for_each(|part| references(store, part, out)),
        View::Node(Kind::Map, id) => store.map_entries(id).for_each(|(key, part)| {
            references(store, key, out);
            references(store, part, out);
        }),
        View::Node(Kind::Int | Kind::Float | Kind::String, _)
        | View::Null
        | View::Bool(_)
        | View::Int(_)
        | View::Event(_)
        | View::Hole(_)
        | View::Atom(..) => {}
    }
}

impl Watch<'_> {
    fn site(&self, instance: InstanceId) -> Option<SiteId> {
        self.sites.get(instance.as_u32() as usize).copied().flatten()
    }

    /// Which machine gets which reference is known, too.
    fn see_references(&mut self, scene: &Scene<'_>, from: InstanceId, to: InstanceId, payload: Value) {
        let mut machines = Vec::new();
        references(scene.store, payload, &mut machines);
        let Some((sender, receiver)) = self.site(from).zip(self.site(to)) else { return };
        for machine in machines {
            self.n_references += 1;
            let mut carried = self.topology.carried(sender, receiver);
            if !self.site(machine).is_some_and(|of| carried.any(|site| site == of)) {
                self.missing.insert(format!("{sender:?} sends {receiver:?} a reference to {machine:?}"));
            }
        }
    }

    fn see(&mut self, exe: &Executable, from: InstanceId, target: Option<Target>, event: EventId) {
        self.n_pairs += 1;
        let known = self.site(from).zip(target).is_some_and(|(from, target)| {
            self.topology.sends(from, target, event) && self.topology.is_potential_sender(from, target)
        });
        if !known {
            let from = self.site(from).map(|site| self.topology.name(exe, site));
            self.missing.insert(format!("{from:?} to {target:?}: {}", exe.event_name(event)));
        }
    }
}

impl Recorder for Watch<'_> {
    fn record(&mut self, scene: &Scene<'_>, note: Note) {
        match note {
            Note::Send { machine, target, message, .. } => {
                self.see_references(scene, machine, target, message.payload);
                let target = self.site(target).map(Target::Site);
                self.see(scene.exe, machine, target, message.event);
            }
            Note::Observe { machine, monitor, message, .. } => {
                self.see(scene.exe, machine, Some(Target::Monitor(monitor)), message.event);
            }
            _ => {}
        }
    }
}

/// Random runs of a test; every pair of sender and target must be known. How many were seen.
fn watch_runs(
    name: &str,
    exe: &Arc<Executable>,
    n_runs: u64,
    n_references: &mut usize,
    problems: &mut Vec<String>,
) -> usize {
    let topology = Topology::new(exe);
    let mut n_pairs = 0;
    for run in 0..n_runs {
        let mut random = Random::new(run);
        let mut kernel = Kernel::new(exe.clone(), Limits { instructions: 20_000, ..Limits::default() });
        let mut watch = Watch {
            topology: &topology,
            sites: vec![Some(SiteId::MAIN)],
            missing: BTreeSet::new(),
            n_pairs: 0,
            n_references: 0,
        };
        for _ in 0..150 {
            if !kernel.is_running() || kernel.n_enabled() == 0 {
                break;
            }
            let machine = kernel.enabled().nth(random.below(kernel.n_enabled())).expect("there are so many");
            let mut newborn = None;
            if let Some(Pending::Create { .. }) = kernel.pending(machine) {
                let local = kernel.configuration().local(machine);
                newborn = watch.site(machine).and_then(|site| topology.created(site, local));
                if newborn.is_none() {
                    problems.push(format!("{name}: no site for a machine that is made"));
                }
            }
            let before = kernel.configuration().roster.len();
            let mut oracle = |point: DataPoint| random.below(point.n_answers as usize) as u32;
            kernel.step(machine, &mut oracle, &mut watch).expect("it is enabled");
            for instance in kernel.configuration().roster.iter().skip(before) {
                let at = instance.as_u32() as usize;
                watch.sites.resize(watch.sites.len().max(at + 1), None);
                watch.sites[at] = newborn;
            }
        }
        n_pairs += watch.n_pairs;
        *n_references += watch.n_references;
        problems.extend(watch.missing.into_iter().map(|missing| format!("{name}: {missing}")));
    }
    n_pairs
}

#[test]
fn random_runs_of_random_programs_show_nothing_else() {
    let mut problems = Vec::new();
    let (mut n_pairs, mut n_references) = (0, 0);
    for seed in 70_000..70_600 {
        let (text, _) = generate_any(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        n_pairs += watch_runs(&format!("seed {seed}"), &exe, 6, &mut n_references, &mut problems);
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_references > 1_000, "only {n_references} references");
    assert!(n_pairs > 10_000, "only {n_pairs} sends");
}

#[test]
fn random_runs_of_models_and_corpus_show_nothing_else() {
    let mut problems = Vec::new();
    let (mut n_pairs, mut n_references) = (0, 0);
    let mut programs = crate::support::corpus();
    for folder in crate::support::folders("models") {
        let texts: Vec<String> = crate::support::texts(&folder).into_iter().map(|(_, text)| text).collect();
        programs.push((folder, texts.join("\n")));
    }
    for (name, text) in programs {
        let Ok(program) = compile(&name, &text) else { continue };
        for test in 0..program.tests.len() {
            let exe = Arc::new(Executable::new(&program, test));
            let name = format!("{name}, {}", exe.test_name);
            n_pairs += watch_runs(&name, &exe, 4, &mut n_references, &mut problems);
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
    assert!(n_pairs > 10_000, "only {n_pairs} sends");
}

#[test]
fn monitors_that_nothing_changes_are_settled() {
    let program = compile(
        "small.p",
        "event a: int; event b;
         machine Main { start state Only { entry { announce a, 1; announce b; } } }
         fun small(n: int): bool { var twice: int; twice = n * 2; return twice < 9; }
         fun unusual(n: int) { if (n > 3) { raise b; } }
         spec Looks observes a, b {
           var seen: int;
           start state Judges { on a do (n: int) { assert small(n + seen); } ignore b; }
           state Jumps { on a goto Judges; ignore b; }
           state Counts { on a do (n: int) { seen = n; } ignore b; }
           state Raises { on a do (n: int) { unusual(n); } ignore b; }
           state Refuses { ignore a; }
         }",
    )
    .unwrap_or_else(|error| panic!("{error}"));
    let exe = Executable::new(&program, 0);
    let topology = Topology::new(&exe);
    let settled: Vec<&str> = exe
        .states
        .ids()
        .filter(|&state| topology.is_settled(state))
        .map(|state| exe.state_name(state))
        .collect();
    assert_eq!(settled, ["Judges", "Refuses"]);
}
