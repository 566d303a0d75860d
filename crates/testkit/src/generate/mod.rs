//! Random small P programs, as text.
//!
//! A seed and a [`Profile`] name a program. State spaces are finite by construction. Events have ranks: code that
//! runs because of an event sends only events of a higher rank, so that no message begets messages for ever. Where that
//! is too narrow, a send or creation costs one unit of a field `fuel` that nothing refills. Numbers are kept small by
//! remainders, collections by asking for their size. Profiles of endless programs break the rule for messages, on purpose:
//! there machines have a [`Role`] that never ends, and some sends cost nothing. Local work ends there, too.
//!
//! One statement stands on one line, and a block ends on a line of its own: the shrinker works on lines.

mod body;
pub mod broadcasts;
pub mod carrier;
pub mod chatter;
pub mod circle;
pub mod counting;
pub mod echoes;
pub mod heavy;
pub mod ledger;
pub mod liveness_cycles;
pub mod profile;
pub mod races;
pub mod workers;

use std::fmt::Write as _;

pub use profile::Profile;

use crate::random::Random;
use body::{BodyWriter, Context, Written};

/// Types of variables and payloads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Ty {
    Int,
    Bool,
    Color,
    Machine,
    Pair,
    Named,
    Seq,
    Set,
    Map,
    /// The machines that the main one has made, when it makes several alike; never empty after its opening.
    Friends,
    Rows,
    Lists,
    Votes,
    Deep,
}

impl Ty {
    const PAYLOADS: [Ty; 6] = [Ty::Int, Ty::Bool, Ty::Color, Ty::Machine, Ty::Pair, Ty::Named];
    const FIELDS: [Ty; 7] = [Ty::Int, Ty::Bool, Ty::Color, Ty::Pair, Ty::Seq, Ty::Set, Ty::Map];
    const NESTED: [Ty; 4] = [Ty::Rows, Ty::Lists, Ty::Votes, Ty::Deep];

    fn random_payload(random: &mut Random, profile: &Profile) -> Ty {
        if is_nested(random, profile) { *random.pick(&Ty::NESTED) } else { *random.pick(&Ty::PAYLOADS) }
    }

    fn random_field(random: &mut Random, profile: &Profile) -> Ty {
        if is_nested(random, profile) { *random.pick(&Ty::NESTED) } else { *random.pick(&Ty::FIELDS) }
    }

    fn text(self) -> &'static str {
        match self {
            Ty::Int => "int",
            Ty::Bool => "bool",
            Ty::Color => "Color",
            Ty::Machine => "machine",
            Ty::Pair => "(int, bool)",
            Ty::Named => "(n: int, who: machine)",
            Ty::Seq => "seq[int]",
            Ty::Set => "set[int]",
            Ty::Map => "map[int, int]",
            Ty::Friends => "seq[machine]",
            Ty::Rows => "seq[(n: int, who: machine)]",
            Ty::Lists => "map[int, seq[int]]",
            Ty::Votes => "map[machine, (int, bool)]",
            Ty::Deep => "(rows: seq[(n: int, who: machine)], tag: (int, bool))",
        }
    }
}

/// Asks for no random number where the profile has nothing nested, so that its programs stay the same.
fn is_nested(random: &mut Random, profile: &Profile) -> bool {
    profile.nested > 0 && random.chance(profile.nested)
}

/// A program for this seed.
pub fn generate(seed: u64, profile: &Profile) -> String {
    let mut random = Random::new(seed);
    let plan = Plan::new(&mut random, profile);
    let mut program = ProgramWriter { random, profile, plan, out: String::new() };
    program.write();
    program.out
}

/// The program of a seed, with profiles in turn.
pub fn generate_any(seed: u64) -> (String, &'static Profile) {
    let profile = &profile::ALL[(seed % profile::ALL.len() as u64) as usize];
    (generate(seed, profile), profile)
}

/// The endless program of a seed, with profiles in turn.
pub fn generate_endless(seed: u64) -> (String, &'static Profile) {
    let profile = &profile::ENDLESS[(seed % profile::ENDLESS.len() as u64) as usize];
    (generate(seed, profile), profile)
}

/// What a machine does for ever.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Role {
    /// Sends the event to its peer without end, as soon as it exists.
    Produces(usize),
    /// One of the two events, each time.
    Alternates(usize, usize),
    /// Sends the event to itself whenever it takes it.
    Ticks(usize),
    /// The same, and one to its peer each time.
    Drives(usize),
    /// Hands on the event to its peer.
    Relays(usize),
    /// Answers its peer with another event.
    Answers(usize, usize),
}

/// What is decided before any code is written.
struct Plan {
    /// Payloads of events by rank.
    events: Vec<Option<Ty>>,
    machines: Vec<MachinePlan>,
    n_monitors: usize,
}

struct MachinePlan {
    name: String,
    constructor: Option<Ty>,
    fields: Vec<(String, Ty)>,
    states: Vec<StatePlan>,
    functions: Vec<FunctionPlan>,
    role: Option<Role>,
}

struct StatePlan {
    entry: Option<Ty>,
    /// Its entry sends events of a higher rank only, and is reached by code of no higher rank.
    rank: usize,
}

struct FunctionPlan {
    name: String,
    param: Option<Ty>,
    result: Option<Ty>,
    /// Sends events of a higher rank only.
    rank: usize,
    may_receive: bool,
}

impl Plan {
    fn new(random: &mut Random, profile: &Profile) -> Self {
        let n_events = random.between(profile.events.0, profile.events.1);
        let events = (0..n_events)
            .map(|_| random.chance(65).then(|| Ty::random_payload(random, profile)))
            .collect::<Vec<_>>();
        let n_machines = 1 + random.between(profile.machines.0, profile.machines.1);
        let machines = (0..n_machines).map(|at| MachinePlan::new(random, profile, at, n_events)).collect();
        let n_monitors = random.between(profile.monitors.0, profile.monitors.1);
        Plan { events, machines, n_monitors }
    }
}

impl MachinePlan {
    fn new(random: &mut Random, profile: &Profile, at: usize, n_events: usize) -> Self {
        let mut fields = vec![("fuel".to_owned(), Ty::Int), ("peer".to_owned(), Ty::Machine)];
        for k in 0..random.between(1, 3) {
            let ty = if k == 0 && random.chance(60) { Ty::Int } else { Ty::random_field(random, profile) };
            fields.push((format!("v{k}"), ty));
        }
        if at == 0 && profile.copies.1 > 1 {
            fields.push(("friends".to_owned(), Ty::Friends));
        }
        let n_states = random.between(profile.states.0, profile.states.1);
        // The start state is entered once, before any event.
        let states = (0..n_states)
            .map(|state| StatePlan {
                entry: (state > 0 && random.chance(35)).then(|| Ty::random_payload(random, profile)),
                rank: if state == 0 { 0 } else { random.below(n_events + 1).max(random.below(n_events + 1)) },
            })
            .collect();
        let functions = (0..random.below(4))
            .map(|k| FunctionPlan {
                name: format!("f{k}"),
                param: random.chance(50).then(|| Ty::random_payload(random, profile)),
                result: random.chance(55).then(|| *random.pick(&[Ty::Int, Ty::Bool, Ty::Int])),
                rank: random.between(1, n_events),
                may_receive: random.below(100) < 4 * profile.receive as usize,
            })
            .collect();
        let constructor = match random.below(4) {
            _ if at == 0 => None,
            0 => None,
            1 => Some(Ty::Named),
            _ => Some(Ty::Machine),
        };
        let name = if at == 0 { "Main".to_owned() } else { format!("M{at}") };
        let has_role = profile.roles > 0 && random.chance(profile.roles);
        let role = has_role.then(|| Role::random(random, n_events));
        MachinePlan { name, constructor, fields, states, functions, role }
    }
}

impl Role {
    fn random(random: &mut Random, n_events: usize) -> Self {
        let (one, other) = (random.below(n_events), random.below(n_events));
        match random.below(8) {
            0 | 1 => Role::Produces(one),
            2 => Role::Alternates(one, other),
            3 => Role::Ticks(one),
            4 => Role::Drives(one),
            5 | 6 => Role::Relays(one),
            _ => Role::Answers(one, other),
        }
    }
}

struct ProgramWriter<'a> {
    random: Random,
    profile: &'a Profile,
    plan: Plan,
    out: String,
}

impl ProgramWriter<'_> {
    fn line(&mut self, depth: usize, text: &str) {
        let _ = writeln!(self.out, "{:1$}{text}", "", 2 * depth);
    }

    fn write(&mut self) {
        self.line(0, "enum Color { Red, Green, Blue }");
        for at in 0..self.plan.events.len() {
            let text = match self.plan.events[at] {
                Some(ty) => format!("event e{at}: {};", ty.text()),
                None => format!("event e{at};"),
            };
            self.line(0, &text);
        }
        self.line(0, "event eSeen: int;");
        self.line(0, "fun larger(a: int, b: int): int {");
        self.line(1, "if (a < b) {");
        self.line(2, "return b;");
        self.line(1, "}");
        self.line(1, "return a;");
        self.line(0, "}");
        if self.profile.nested > 0 {
            self.nested_functions();
        }
        for machine in 0..self.plan.machines.len() {
            self.machine(machine);
        }
        for monitor in 0..self.plan.n_monitors {
            self.monitor(monitor);
        }
        self.test();
    }

    /// What reads and makes nested values in expressions.
    fn nested_functions(&mut self) {
        let functions: [&[&str]; 4] = [
            &[
                "fun firstOf(rows: seq[(n: int, who: machine)]): int {",
                "  if (sizeof(rows) == 0) {",
                "    return 0;",
                "  }",
                "  return rows[0].n;",
                "}",
            ],
            &[
                "fun sumOf(rows: seq[(n: int, who: machine)]): int {",
                "  var row: (n: int, who: machine);",
                "  var sum: int;",
                "  foreach (row in rows) {",
                "    sum = (sum + row.n) % 3;",
                "  }",
                "  return sum;",
                "}",
            ],
            &[
                "fun oneRow(row: (n: int, who: machine)): seq[(n: int, who: machine)] {",
                "  var rows: seq[(n: int, who: machine)];",
                "  rows += (0, row);",
                "  return rows;",
                "}",
            ],
            &[
                "fun numberIn(lists: map[int, seq[int]], at: int): int {",
                "  if (!(at in lists)) {",
                "    return 0;",
                "  }",
                "  if (sizeof(lists[at]) == 0) {",
                "    return 1;",
                "  }",
                "  return lists[at][sizeof(lists[at]) - 1];",
                "}",
            ],
        ];
        for line in functions.into_iter().flatten() {
            self.line(0, line);
        }
    }

    /// Sometimes a test of its own, which may attach fewer monitors and watch fewer machines.
    fn test(&mut self) {
        if !self.random.chance(35) {
            return;
        }
        let machines: Vec<String> = self.plan.machines.iter().map(|machine| machine.name.clone()).collect();
        let all = format!("{{ {} }}", machines.join(", "));
        let n_attached = self.random.below(self.plan.n_monitors + 1);
        let attached: Vec<String> = (0..n_attached).map(|k| format!("Spec{k}")).collect();
        let attached = attached.join(", ");
        let text = match (n_attached, self.random.below(3)) {
            (0, _) => all,
            (_, 0) => {
                let (watched, rest) = machines.split_at(1 + self.random.below(machines.len() - 1));
                let (watched, rest) = (watched.join(", "), rest.join(", "));
                format!("(union (assert {attached} in {{ {watched} }}), {{ {rest} }})")
            }
            _ => format!("assert {attached} in {all}"),
        };
        self.line(0, &format!("test tc [main=Main]: {text};"));
    }

    /// Writes a function: its head, its variables, its body.
    fn function(&mut self, depth: usize, head: &str, context: Context, opening: &[String]) {
        let writer = BodyWriter::new(&mut self.random, self.profile, &self.plan, context);
        let Written { locals, lines } = writer.finish();
        self.line(depth, &format!("{head} {{"));
        for (name, ty) in locals {
            self.line(depth + 1, &format!("var {name}: {};", ty.text()));
        }
        for line in opening {
            self.line(depth + 1, line);
        }
        for (inner, line) in lines {
            self.line(depth + 1 + inner, &line);
        }
        self.line(depth, "}");
    }

    fn machine(&mut self, at: usize) {
        let name = self.plan.machines[at].name.clone();
        self.line(0, &format!("machine {name} {{"));
        for k in 0..self.plan.machines[at].fields.len() {
            let (field, ty) = self.plan.machines[at].fields[k].clone();
            self.line(1, &format!("var {field}: {};", ty.text()));
        }
        for state in 0..self.plan.machines[at].states.len() {
            self.state(at, state);
        }
        for k in 0..self.plan.machines[at].functions.len() {
            let plan = &self.plan.machines[at].functions[k];
            let param = plan.param.map_or(String::new(), |ty| format!("p: {}", ty.text()));
            let result = plan.result.map_or(String::new(), |ty| format!(": {}", ty.text()));
            let head = format!("fun {}({param}){result}", plan.name);
            let context = Context {
                machine: Some(at),
                rank: Some(plan.rank),
                param: plan.param,
                result: plan.result,
                n_functions: k,
                may_receive: plan.may_receive,
                receives_first: plan.may_receive && self.random.chance(60),
                ..Context::default()
            };
            // A function that changes a field shows when its caller reads that field.
            let changes = self.plan.machines[at].fields[2].1 == Ty::Int && self.random.chance(60);
            let opening = if changes { vec!["v0 = (v0 + 1) % 3;".to_owned()] } else { Vec::new() };
            self.function(1, &head, context, &opening);
        }
        self.line(0, "}");
    }

    fn state(&mut self, at: usize, state: usize) {
        let start = if state == 0 { "start " } else { "" };
        self.line(1, &format!("{start}state S{state} {{"));
        let machine = &self.plan.machines[at];
        let n_functions = machine.functions.len();
        let rank = machine.states[state].rank;
        let entry = if state == 0 { machine.constructor } else { machine.states[state].entry };
        let base = Context { machine: Some(at), n_functions, ..Context::default() };
        if state == 0 {
            let opening = self.opening(at);
            let head = head("entry", entry);
            // The opening does what the start state is for; more code comes rarely, lest programs grow large.
            let context =
                Context { param: entry, rank: Some(0), may_leave: true, is_short: true, ..base.clone() };
            self.function(2, &head, context, &opening);
        } else if entry.is_some() || self.random.chance(60) {
            let context = Context {
                param: entry,
                rank: Some(rank),
                may_leave: true,
                is_entry: true,
                may_receive: true,
                ..base.clone()
            };
            self.function(2, &head("entry", entry), context, &[]);
        }
        if self.random.chance(self.profile.exit) {
            self.function(2, "exit", Context { is_short: true, ..base.clone() }, &[]);
        }
        for event in 0..self.plan.events.len() {
            self.action(at, event, &base);
        }
        if self.random.chance(20) {
            let action = *self.random.pick(&["defer halt;", "ignore halt;", "on halt do {"]);
            self.line(2, action);
            if action.ends_with('{') {
                self.line(3, "fuel = 0;");
                self.line(2, "}");
            }
        }
        if self.random.chance(self.profile.null_handler) {
            // Null fires again and again: nothing that follows may send without paying.
            let targets = self.goto_targets(at, self.plan.events.len(), None);
            if !targets.is_empty() && self.random.chance(50) {
                let target = *self.random.pick(&targets);
                self.line(2, &format!("on null goto S{target};"));
            } else {
                let context = Context { may_leave: true, is_short: true, ..base.clone() };
                let announces = self.random.chance(60);
                let opening = if announces { vec!["announce eSeen, 2;".to_owned()] } else { Vec::new() };
                self.function(2, "on null do", context, &opening);
            }
        }
        self.line(1, "}");
    }

    /// Control states that code of this rank may enter with a payload of this type at hand.
    fn goto_targets(&self, at: usize, rank: usize, payload: Option<Ty>) -> Vec<usize> {
        let states = self.plan.machines[at].states.iter().enumerate().skip(1);
        states
            .filter(|(_, state)| state.rank >= rank && (state.entry.is_none() || state.entry == payload))
            .map(|(target, _)| target)
            .collect()
    }

    fn action(&mut self, at: usize, event: usize, base: &Context) {
        let profile = self.profile;
        let targets = self.goto_targets(at, event + 1, self.plan.events[event]);
        let on_goto = if targets.is_empty() { 0 } else { profile.on_goto };
        let rest = 100 - (profile.defer + profile.ignore + on_goto + profile.unhandled);
        let weights = [profile.defer, profile.ignore, on_goto, profile.unhandled, rest];
        match self.random.weighted(&weights) {
            0 => self.line(2, &format!("defer e{event};")),
            1 => self.line(2, &format!("ignore e{event};")),
            2 => {
                let target = *self.random.pick(&targets);
                if self.random.chance(40) {
                    let param = self.plan.events[event].filter(|_| self.random.chance(60));
                    let context = Context { param, rank: Some(event + 1), is_short: true, ..base.clone() };
                    let head = head(&format!("on e{event} goto S{target} with"), param);
                    self.function(2, &head, context, &[]);
                } else {
                    self.line(2, &format!("on e{event} goto S{target};"));
                }
            }
            3 => {}
            _ => {
                let param = self.plan.events[event].filter(|_| self.random.chance(profile.reads));
                let context = Context {
                    param,
                    rank: Some(event + 1),
                    may_leave: true,
                    may_receive: true,
                    ..base.clone()
                };
                let opening = self.routine(at, event, param.is_some());
                self.function(2, &head(&format!("on e{event} do"), param), context, &opening);
            }
        }
    }

    /// The first lines of a start entry: fuel, references, creations, messages.
    fn opening(&mut self, at: usize) -> Vec<String> {
        let mut lines = vec![format!("fuel = {};", self.random.below(2))];
        let constructor = self.plan.machines[at].constructor;
        match constructor {
            Some(Ty::Machine) => lines.push("peer = p;".into()),
            Some(_) => lines.push("peer = p.who;".into()),
            None => {}
        }
        // The main machine makes the others, sometimes leaving one to those it makes.
        let n_machines = self.plan.machines.len();
        for other in at + 1..n_machines {
            let chance = if at == 0 { if other == 1 { 100 } else { 65 } } else { 25 };
            if self.random.chance(chance) {
                // Before the first creation the main machine knows no other machine.
                let is_first = at == 0 && other == 1;
                let reference = if is_first { "this" } else { *self.random.pick(&["this", "peer"]) };
                let n = self.random.below(3);
                let argument = match self.plan.machines[other].constructor {
                    None => String::new(),
                    Some(Ty::Machine) => reference.to_owned(),
                    Some(_) => format!("(n = {n}, who = {reference})"),
                };
                let name = &self.plan.machines[other].name;
                if at == 0 && self.profile.copies.1 > 1 {
                    // Some programs see the order of their friends, some do not.
                    for _ in 0..self.random.between(self.profile.copies.0, self.profile.copies.1) {
                        let place = *self.random.pick(&["sizeof(friends)", "0"]);
                        lines.push(format!("friends += ({place}, new {name}({argument}));"));
                    }
                    lines.push("peer = choose(friends);".to_owned());
                    continue;
                }
                lines.push(match is_first || self.random.chance(70) {
                    true => format!("peer = new {name}({argument});"),
                    false => format!("new {name}({argument});"),
                });
            }
        }
        let n_sends = self.random.between(self.profile.opening_sends.0, self.profile.opening_sends.1);
        for _ in 0..n_sends {
            let event = self.random.below(self.plan.events.len());
            let payload = self.plan.events[event]
                .map_or(String::new(), |ty| format!(", {}", body::constant(&mut self.random, ty)));
            if at > 0 && constructor.is_none() {
                continue;
            }
            let target = if self.random.chance(75) { "peer" } else { "this" };
            lines.push(format!("send {target}, e{event}{payload};"));
        }
        self.beginning(at, &mut lines);
        lines
    }

    /// A send of a constant.
    fn send_text(&mut self, target: &str, event: usize) -> String {
        let payload = self.plan.events[event]
            .map_or(String::new(), |ty| format!(", {}", body::constant(&mut self.random, ty)));
        format!("send {target}, e{event}{payload};")
    }

    /// How the role of a machine begins: by the last lines of its start entry's opening.
    fn beginning(&mut self, at: usize, lines: &mut Vec<String>) {
        let Some(role) = self.plan.machines[at].role else { return };
        // A machine that knows no other machine sends to itself.
        let peer = if at > 0 && self.plan.machines[at].constructor.is_none() { "this" } else { "peer" };
        match role {
            Role::Produces(event) => {
                let send = self.send_text(peer, event);
                lines.extend(["while (true) {".to_owned(), format!("  {send}"), "}".to_owned()]);
            }
            Role::Alternates(one, other) => {
                let (one, other) = (self.send_text(peer, one), self.send_text(peer, other));
                let lines_of_loop = [
                    "while (true) {",
                    "  if ($) {",
                    &format!("    {one}"),
                    "  } else {",
                    &format!("    {other}"),
                ];
                lines.extend(lines_of_loop.map(str::to_owned));
                lines.extend(["  }".to_owned(), "}".to_owned()]);
            }
            Role::Ticks(event) | Role::Drives(event) => lines.push(self.send_text("this", event)),
            Role::Relays(_) => {}
            Role::Answers(_, event) => {
                if self.random.chance(50) {
                    lines.push(self.send_text(peer, event));
                }
            }
        }
    }

    /// What the role of a machine does first when an event is taken.
    fn routine(&mut self, at: usize, event: usize, has_param: bool) -> Vec<String> {
        match self.plan.machines[at].role {
            Some(Role::Ticks(tick)) if tick == event => vec![self.send_text("this", tick)],
            Some(Role::Drives(tick)) if tick == event => {
                let other = self.random.below(self.plan.events.len());
                let to_peer = self.send_text("peer", other);
                let lines = ["if (peer != null) {", &format!("  {to_peer}"), "}"].map(str::to_owned);
                lines.into_iter().chain([self.send_text("this", tick)]).collect()
            }
            Some(Role::Relays(relayed)) if relayed == event => {
                let send = match has_param {
                    true => format!("send peer, e{event}, p;"),
                    false => self.send_text("peer", event),
                };
                ["if (peer != null) {", &format!("  {send}"), "}"].map(str::to_owned).into()
            }
            Some(Role::Answers(question, answer)) if question == event => {
                let send = self.send_text("peer", answer);
                ["if (peer != null) {", &format!("  {send}"), "}"].map(str::to_owned).into()
            }
            _ => Vec::new(),
        }
    }

    fn monitor(&mut self, at: usize) {
        let n_events = self.plan.events.len();
        let mut observed: Vec<usize> = (0..n_events).filter(|_| self.random.chance(50)).collect();
        // The last number stands for the event that is only announced.
        if observed.is_empty() || self.random.chance(50) {
            observed.push(n_events);
        }
        let name_of = |event: usize| if event == n_events { "eSeen".into() } else { format!("e{event}") };
        let names: Vec<String> = observed.iter().map(|&event| name_of(event)).collect();
        self.line(0, &format!("spec Spec{at} observes {} {{", names.join(", ")));
        self.line(1, "var v0: int;");
        self.line(1, "var v1: set[int];");
        if self.profile.nested > 0 {
            self.line(1, &format!("var v2: {};", Ty::Votes.text()));
        }
        let n_states = self.random.between(1, 3);
        for state in 0..n_states {
            let kind = match self.random.below(100) as u32 {
                n if n < self.profile.hot => "hot ",
                n if n < 2 * self.profile.hot => "cold ",
                _ => "",
            };
            let start = if state == 0 { "start " } else { "" };
            self.line(1, &format!("{start}{kind}state S{state} {{"));
            let base = Context {
                monitor_states: Some((n_states, state)),
                may_leave: true,
                is_short: true,
                ..Context::default()
            };
            if self.random.chance(40) {
                self.function(2, "entry", base.clone(), &[]);
            }
            if self.random.chance(15) {
                self.function(2, "exit", Context { may_leave: false, ..base.clone() }, &[]);
            }
            for &event in &observed {
                let name = name_of(event);
                match self.random.weighted(&[self.profile.unhandled, 12, 35, 50]) {
                    0 => {}
                    1 => self.line(2, &format!("ignore {name};")),
                    2 => {
                        let target = self.random.below(n_states);
                        self.line(2, &format!("on {name} goto S{target};"));
                    }
                    _ => {
                        let payload = if event == n_events { Some(Ty::Int) } else { self.plan.events[event] };
                        let context = Context { param: payload, ..base.clone() };
                        // The order of what it has seen shows in the state of the monitor.
                        let what = if event == n_events { "p".to_owned() } else { (event + 1).to_string() };
                        let opening = match self.random.chance(50) {
                            true => vec![format!("v0 = (v0 * 2 + {what}) % 7;")],
                            false => Vec::new(),
                        };
                        self.function(2, &head(&format!("on {name} do"), payload), context, &opening);
                    }
                }
            }
            self.line(1, "}");
        }
        self.line(0, "}");
    }
}

fn head(words: &str, param: Option<Ty>) -> String {
    match param {
        Some(ty) => format!("{words} (p: {})", ty.text()),
        None => words.to_owned(),
    }
}
