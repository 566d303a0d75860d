//! Statements and expressions of one function.

use super::{Plan, Profile, Ty};
use crate::random::Random;

/// What the code of a function may do.
#[derive(Clone, Default)]
pub(super) struct Context {
    /// The machine it belongs to; a monitor otherwise.
    pub machine: Option<usize>,
    /// How many control states the monitor has, and in which of them this is.
    pub monitor_states: Option<(usize, usize)>,
    /// Events from this rank on may be sent without paying; none if absent.
    pub rank: Option<usize>,
    /// The parameter `p`.
    pub param: Option<Ty>,
    pub result: Option<Ty>,
    /// Functions of the machine that it may call: the first so many, so that there is no recursion.
    pub n_functions: usize,
    /// May end in `raise` or `goto`.
    pub may_leave: bool,
    pub may_receive: bool,
    /// Begins with a `receive`.
    pub receives_first: bool,
    /// The entry of a control state that is not the start state: it may be entered again.
    pub is_entry: bool,
    /// One statement at most.
    pub is_short: bool,
}

/// The body of a function.
pub(super) struct Written {
    /// The variables to declare.
    pub locals: Vec<(String, Ty)>,
    /// With their depth.
    pub lines: Vec<(usize, String)>,
}

/// Deepest nesting of blocks.
const MAX_DEPTH: usize = 2;

pub(super) struct BodyWriter<'a> {
    random: &'a mut Random,
    profile: &'a Profile,
    plan: &'a Plan,
    context: Context,
    locals: Vec<(String, Ty)>,
    /// Variables that expressions may use.
    visible: Vec<(String, Ty)>,
    lines: Vec<(usize, String)>,
    depth: usize,
    in_loop: bool,
}

impl<'a> BodyWriter<'a> {
    pub fn new(random: &'a mut Random, profile: &'a Profile, plan: &'a Plan, context: Context) -> Self {
        let mut visible = match context.machine {
            Some(machine) => plan.machines[machine].fields.clone(),
            None => vec![("v0".into(), Ty::Int), ("v1".into(), Ty::Set)],
        };
        if context.machine.is_none() && profile.nested > 0 {
            visible.push(("v2".into(), Ty::Votes));
        }
        visible.extend(context.param.map(|ty| ("p".into(), ty)));
        BodyWriter {
            random,
            profile,
            plan,
            context,
            locals: Vec::new(),
            visible,
            lines: Vec::new(),
            depth: 0,
            in_loop: false,
        }
    }

    pub fn finish(mut self) -> Written {
        let (low, high) = self.profile.statements;
        let n = if self.context.is_short { self.random.below(2) } else { self.random.between(low, high) };
        if self.context.receives_first {
            self.receive();
        }
        for _ in 0..n {
            self.statement();
        }
        self.ending();
        Written { locals: self.locals, lines: self.lines }
    }

    fn line(&mut self, text: impl Into<String>) {
        self.lines.push((self.depth, text.into()));
    }

    fn open(&mut self, text: impl Into<String>) {
        self.line(text);
        self.depth += 1;
    }

    fn close(&mut self) {
        self.depth -= 1;
        self.line("}");
    }

    fn local(&mut self, ty: Ty) -> String {
        let name = format!("w{}", self.locals.len());
        self.locals.push((name.clone(), ty));
        name
    }

    fn is_monitor(&self) -> bool {
        self.context.machine.is_none()
    }

    fn n_events(&self) -> usize {
        self.plan.events.len()
    }

    fn statement(&mut self) {
        let p = self.profile;
        let machine = |weight: u32| if self.is_monitor() { 0 } else { weight };
        let nested = |weight: u32| if self.depth < MAX_DEPTH { weight } else { 0 };
        let receive = if self.context.may_receive { nested(p.receive) } else { 0 };
        let asserts = if self.is_monitor() { 14 } else { p.assert };
        let weights = [
            machine(p.send),
            machine(p.announce),
            p.assign,
            p.collection,
            nested(p.branch),
            nested(p.repeat),
            machine(receive),
            machine(p.call),
            machine(nested(p.create)),
            asserts,
        ];
        match self.random.weighted(&weights) {
            0 => self.send(),
            1 => self.announce(),
            2 => self.assign(),
            3 => self.collection(),
            4 => self.branch(),
            5 => self.repeat(),
            6 => self.receive(),
            7 => self.call(),
            8 => self.create(),
            _ => {
                let cond = self.claim();
                let n = self.lines.len();
                self.line(format!("assert {cond}, \"claim {n}\";"));
            }
        }
    }

    /// Something that is mostly true.
    fn claim(&mut self) -> String {
        let int = self.expr(Ty::Int, 1);
        match self.random.below(4) {
            0 => self.expr(Ty::Bool, 1),
            1 => format!("{int} != {}", self.random.between(1, 3)),
            _ => format!("{int} < {}", self.random.between(2, 4)),
        }
    }

    fn block(&mut self, n: usize) {
        for _ in 0..n {
            self.statement();
        }
    }

    // Messages.

    /// A machine to send to, and whether it may be null.
    fn target(&mut self) -> (String, bool) {
        let mut targets: Vec<(String, bool)> = vec![("this".into(), false)];
        for (name, ty) in &self.visible {
            match ty {
                Ty::Machine => targets.extend([(name.clone(), true), (name.clone(), true)]),
                Ty::Named => targets.push((format!("{name}.who"), true)),
                _ => {}
            }
        }
        let at = self.random.below(targets.len());
        targets.swap_remove(at)
    }

    fn payload(&mut self, event: usize) -> String {
        match self.plan.events[event] {
            Some(ty) => format!(", {}", self.expr(ty, 1)),
            None => String::new(),
        }
    }

    /// Opens a block that runs only while there is fuel.
    fn pay(&mut self) {
        self.open("if (fuel > 0) {");
        self.line("fuel = fuel - 1;");
    }

    fn send(&mut self) {
        let (target, may_be_null) = self.target();
        let is_halt = self.random.chance(self.profile.halt);
        let free = self.context.rank.filter(|&rank| rank < self.n_events());
        let is_free = is_halt || (free.is_some() && self.random.chance(75));
        let event = match free {
            Some(rank) if is_free => self.random.between(rank, self.n_events() - 1),
            _ => self.random.below(self.n_events()),
        };
        let what = match is_halt {
            true => "halt".to_owned(),
            false => format!("e{event}{}", self.payload(event)),
        };
        let asks = may_be_null && !self.random.chance(self.profile.careless);
        if asks {
            self.open(format!("if ({target} != null) {{"));
        }
        let is_gift = !is_free && self.profile.unpaid > 0 && self.random.chance(self.profile.unpaid);
        let pays = !is_free && !is_gift;
        if pays {
            self.pay();
        }
        self.line(format!("send {target}, {what};"));
        if pays {
            self.close();
        }
        if asks {
            self.close();
        }
    }

    fn announce(&mut self) {
        if self.random.chance(70) {
            let value = self.expr(Ty::Int, 1);
            self.line(format!("announce eSeen, {value};"));
        } else {
            let event = self.random.below(self.n_events());
            let payload = self.payload(event);
            self.line(format!("announce e{event}{payload};"));
        }
    }

    fn create(&mut self) {
        let first = self.context.machine.map_or(0, |machine| machine + 1);
        if first >= self.plan.machines.len() {
            return self.assign();
        }
        let other = self.random.between(first, self.plan.machines.len() - 1);
        self.pay();
        let machine = &self.plan.machines[other];
        let name = &machine.name;
        let argument = machine.constructor.map_or(String::new(), |ty| self.expr(ty, 1));
        self.line(format!("peer = new {name}({argument});"));
        self.close();
    }

    fn receive(&mut self) {
        let n_cases = self.random.between(1, 2).min(self.n_events());
        let first = self.random.below(self.n_events());
        // What a machine has sent itself, it will not wait for in vain.
        if self.context.rank.is_some_and(|rank| rank <= first) && self.random.chance(50) {
            let payload = self.payload(first);
            self.line(format!("send this, e{first}{payload};"));
        }
        self.open("receive {");
        for k in 0..n_cases {
            let event = (first + k) % self.n_events();
            let n_visible = self.visible.len();
            match self.plan.events[event] {
                Some(ty) => {
                    let name = format!("q{}", self.lines.len());
                    self.open(format!("case e{event}: ({name}: {}) {{", ty.text()));
                    self.visible.push((name, ty));
                }
                None => self.open(format!("case e{event}: {{")),
            }
            let n = self.random.below(3);
            self.block(n);
            if self.context.result.is_none() && self.random.chance(10) {
                let word = if self.in_loop { "continue;" } else { "return;" };
                self.line(word);
            } else if self.random.chance(8) {
                self.line("break;");
            }
            self.visible.truncate(n_visible);
            self.close();
        }
        self.close();
    }

    fn call(&mut self) {
        let Some(at) = self.callable(None) else { return self.assign() };
        let text = self.call_text(at);
        self.line(format!("{text};"));
    }

    /// A function that this code may call, with this result if one is asked for.
    fn callable(&mut self, result: Option<Ty>) -> Option<usize> {
        let machine = &self.plan.machines[self.context.machine?];
        let rank = self.context.rank.unwrap_or(self.n_events());
        let candidates: Vec<usize> = (0..self.context.n_functions)
            .filter(|&at| {
                let function = &machine.functions[at];
                let fits = result.is_none() || function.result == result;
                fits && function.rank >= rank && (!function.may_receive || self.context.may_receive)
            })
            .collect();
        (!candidates.is_empty()).then(|| *self.random.pick(&candidates))
    }

    fn call_text(&mut self, at: usize) -> String {
        let machine = self.context.machine.unwrap_or(0);
        let function = &self.plan.machines[machine].functions[at];
        let argument = function.param.map_or(String::new(), |ty| self.expr(ty, 0));
        format!("{}({argument})", function.name)
    }

    // Data.

    fn assignable(&self) -> Vec<(String, Ty)> {
        let kept = |name: &str, ty: Ty| name != "fuel" && ty != Ty::Friends;
        self.visible.iter().filter(|(name, ty)| kept(name, *ty)).cloned().collect()
    }

    fn assign(&mut self) {
        let variables = self.assignable();
        let (name, ty) = self.random.pick(&variables).clone();
        match ty {
            Ty::Int => {
                let value = self.expr(Ty::Int, 2);
                self.line(format!("{name} = ({value}) % 3;"));
            }
            Ty::Pair if self.random.chance(50) => {
                let value = self.expr(Ty::Bool, 1);
                self.line(format!("{name}.1 = {value};"));
            }
            Ty::Named if self.random.chance(50) => {
                let value = self.expr(Ty::Int, 1);
                self.line(format!("{name}.n = ({value}) % 3;"));
            }
            Ty::Bool | Ty::Color | Ty::Machine | Ty::Pair | Ty::Named => {
                let value = self.expr(ty, 2);
                self.line(format!("{name} = {value};"));
            }
            Ty::Rows | Ty::Lists | Ty::Votes | Ty::Deep if self.random.chance(40) => {
                let value = self.expr(ty, 2);
                self.line(format!("{name} = {value};"));
            }
            Ty::Seq | Ty::Set | Ty::Map => self.change(&name, ty),
            Ty::Rows | Ty::Lists | Ty::Votes | Ty::Deep => self.change_nested(&name, ty),
            // Made once, and used.
            Ty::Friends => {}
        }
    }

    fn collection(&mut self) {
        let variables: Vec<(String, Ty)> = self
            .visible
            .iter()
            .filter(|(_, ty)| matches!(ty, Ty::Seq | Ty::Set | Ty::Map) || Ty::NESTED.contains(ty))
            .cloned()
            .collect();
        if variables.is_empty() {
            return self.assign();
        }
        let (name, ty) = self.random.pick(&variables).clone();
        if Ty::NESTED.contains(&ty) { self.change_nested(&name, ty) } else { self.change(&name, ty) }
    }

    /// Changes a part of a nested value.
    fn change_nested(&mut self, name: &str, ty: Ty) {
        let number = self.random.below(3);
        match (ty, self.random.below(4)) {
            (Ty::Rows, 0 | 1) => {
                let place = if self.random.chance(50) { "0".into() } else { format!("sizeof({name})") };
                let row = self.expr(Ty::Named, 1);
                self.open(format!("if (sizeof({name}) < 2) {{"));
                self.line(format!("{name} += ({place}, {row});"));
                self.close();
            }
            (Ty::Rows, at) => {
                let change = match (at, self.random.below(2)) {
                    (2, 0) => format!("{name} -= (0);"),
                    (2, _) => format!("{name} -= (sizeof({name}) - 1);"),
                    (_, 0) => format!("{name}[0].n = {number};"),
                    _ => format!("{name}[0].who = {};", self.expr(Ty::Machine, 1)),
                };
                self.open(format!("if (sizeof({name}) > 0) {{"));
                self.line(change);
                self.close();
            }
            (Ty::Lists, 0) => self.line(format!("{name} -= ({number});")),
            (Ty::Lists, 1) => {
                let value = self.simple(Ty::Seq);
                self.line(format!("{name}[{number}] = {value};"));
            }
            (Ty::Lists, _) => {
                let value = self.simple(Ty::Int);
                self.open(format!("if (!({number} in {name})) {{"));
                self.line(format!("{name}[{number}] = default(seq[int]);"));
                self.close();
                self.open(format!("if (sizeof({name}[{number}]) < 2) {{"));
                self.line(format!("{name}[{number}] += (0, {value} % 3);"));
                self.close();
            }
            (Ty::Votes, 0) => {
                let key = self.expr(Ty::Machine, 1);
                self.line(format!("{name} -= ({key});"));
            }
            (Ty::Votes, 1) => {
                let key = self.simple(Ty::Machine);
                self.open(format!("if ({key} in {name}) {{"));
                self.line(format!("{name}[{key}].0 = {number};"));
                self.close();
            }
            (Ty::Votes, _) => {
                let (key, value) = (self.expr(Ty::Machine, 1), self.expr(Ty::Pair, 1));
                self.line(format!("{name}[{key}] = {value};"));
            }
            (_, 0) => {
                let value = self.expr(Ty::Pair, 1);
                self.line(format!("{name}.tag = {value};"));
            }
            (_, 1) => self.line(format!("{name}.tag.0 = {number};")),
            (_, _) => self.change_nested(&format!("{name}.rows"), Ty::Rows),
        }
    }

    fn change(&mut self, name: &str, ty: Ty) {
        let small = format!("({}) % 3", self.simple(Ty::Int));
        let is_careful = !self.random.chance(self.profile.careless);
        match (ty, self.random.below(3)) {
            (Ty::Seq, 0) => {
                self.open(format!("if (sizeof({name}) < 2) {{"));
                self.line(format!("{name} += (sizeof({name}), {small});"));
                self.close();
            }
            (Ty::Seq, 1) => {
                if is_careful {
                    self.open(format!("if (sizeof({name}) > 0) {{"));
                }
                self.line(format!("{name} -= (0);"));
                if is_careful {
                    self.close();
                }
            }
            (Ty::Seq, _) => {
                if is_careful {
                    self.open(format!("if (sizeof({name}) > 0) {{"));
                }
                self.line(format!("{name}[0] = {small};"));
                if is_careful {
                    self.close();
                }
            }
            (Ty::Set, 0) => self.line(format!("{name} -= ({small});")),
            (Ty::Set, _) => self.line(format!("{name} += ({small});")),
            (_, 0) => self.line(format!("{name} -= ({small});")),
            (_, 1) if !is_careful => {
                let value = self.simple(Ty::Int);
                self.line(format!("{name} += ({small}, {value} % 3);"));
            }
            (_, _) => {
                let value = self.simple(Ty::Int);
                self.line(format!("{name}[{small}] = {value} % 3;"));
            }
        }
    }

    fn branch(&mut self) {
        let cond = self.expr(Ty::Bool, 2);
        self.open(format!("if ({cond}) {{"));
        let n = self.random.between(1, 2);
        self.block(n);
        if self.in_loop && self.random.chance(30) {
            let word = *self.random.pick(&["break;", "continue;"]);
            self.line(word);
        }
        if self.random.chance(50) {
            self.depth -= 1;
            self.open("} else {");
            self.block(1);
        }
        self.close();
    }

    fn repeat(&mut self) {
        let was_in_loop = std::mem::replace(&mut self.in_loop, true);
        let n_visible = self.visible.len();
        let collections: Vec<(String, Ty)> = self
            .visible
            .iter()
            .filter(|(_, ty)| matches!(ty, Ty::Seq | Ty::Set | Ty::Map) || Ty::NESTED.contains(ty))
            .cloned()
            .collect();
        if !collections.is_empty() && self.random.chance(60) {
            let (name, ty) = self.random.pick(&collections).clone();
            let is_map = matches!(ty, Ty::Map | Ty::Lists | Ty::Votes);
            let of_keys = is_map && self.random.chance(50);
            let items = match ty {
                _ if of_keys => format!("keys({name})"),
                _ if is_map => format!("values({name})"),
                Ty::Deep => format!("{name}.rows"),
                _ => name,
            };
            let of = match ty {
                Ty::Rows | Ty::Deep => Ty::Named,
                Ty::Lists if !of_keys => Ty::Seq,
                Ty::Votes if of_keys => Ty::Machine,
                Ty::Votes => Ty::Pair,
                _ => Ty::Int,
            };
            let variable = self.local(of);
            self.open(format!("foreach ({variable} in {items}) {{"));
            self.visible.push((variable, of));
        } else {
            let variable = self.local(Ty::Int);
            let n = self.random.between(1, 2);
            self.open(format!("while ({variable} < {n}) {{"));
            self.line(format!("{variable} = {variable} + 1;"));
        }
        let n = self.random.between(1, 2);
        self.block(n);
        self.close();
        self.visible.truncate(n_visible);
        self.in_loop = was_in_loop;
    }

    /// How the function ends.
    fn ending(&mut self) {
        if let Some(ty) = self.context.result {
            let value = self.expr(ty, 2);
            return self.line(match ty {
                Ty::Int => format!("return ({value}) % 3;"),
                _ => format!("return {value};"),
            });
        }
        if !self.context.may_leave {
            return;
        }
        if let Some((n_states, state)) = self.context.monitor_states {
            // Only onward, so that no two entries lead to each other for ever.
            if state + 1 < n_states && self.random.chance(20) {
                let target = self.random.between(state + 1, n_states - 1);
                self.line(format!("goto S{target};"));
            }
            return;
        }
        let rank = self.context.rank.unwrap_or(self.n_events());
        let is_conditional = self.random.chance(40);
        let p = self.profile;
        let rest = 100 - (p.raise + p.goto + p.halt).min(100);
        let statement = match self.random.weighted(&[p.raise, p.goto, p.halt, rest]) {
            0 if rank < self.n_events() => {
                let event = self.random.between(rank, self.n_events() - 1);
                format!("raise e{event}{};", self.payload(event))
            }
            1 => match self.goto_text(rank) {
                Some(text) => text,
                None => return,
            },
            2 => "raise halt;".to_owned(),
            _ => return,
        };
        if is_conditional {
            let cond = self.expr(Ty::Bool, 1);
            self.open(format!("if ({cond}) {{"));
        }
        self.line(statement);
        if is_conditional {
            self.close();
        }
    }

    fn goto_text(&mut self, rank: usize) -> Option<String> {
        let states = &self.plan.machines[self.context.machine?].states;
        // An entry goes on to entries of a higher rank only.
        let targets: Vec<usize> = (1..states.len())
            .filter(|&target| states[target].rank >= rank + self.context.is_entry as usize)
            .collect();
        if targets.is_empty() {
            return None;
        }
        let target = *self.random.pick(&targets);
        Some(match states[target].entry {
            Some(ty) => format!("goto S{target}, {};", self.expr(ty, 1)),
            None => format!("goto S{target};"),
        })
    }

    // Expressions.

    fn variables(&self, ty: Ty) -> Vec<String> {
        self.visible.iter().filter(|(_, t)| *t == ty).map(|(name, _)| name.clone()).collect()
    }

    /// A variable or a constant.
    fn simple(&mut self, ty: Ty) -> String {
        let variables = self.variables(ty);
        if !variables.is_empty() && self.random.chance(70) {
            return self.random.pick(&variables).clone();
        }
        match ty {
            // A monitor has no reference of its own.
            Ty::Machine if self.is_monitor() => "null".into(),
            Ty::Named if self.is_monitor() => "default((n: int, who: machine))".into(),
            _ => constant(self.random, ty),
        }
    }

    fn expr(&mut self, ty: Ty, depth: usize) -> String {
        if depth == 0 {
            return self.simple(ty);
        }
        let d = depth - 1;
        let chooses = !self.is_monitor() && self.random.chance(self.profile.choice);
        match ty {
            Ty::Int if chooses => format!("choose({})", self.random.between(2, 3)),
            Ty::Int => match self.random.below(10) {
                0 => format!("({} + {})", self.expr(Ty::Int, d), self.expr(Ty::Int, d)),
                1 => format!("({} * 2)", self.expr(Ty::Int, d)),
                2 => format!("larger({}, {})", self.expr(Ty::Int, d), self.simple(Ty::Int)),
                3 => format!("({} to int)", self.simple(Ty::Color)),
                4 | 9 => match self.callable(Some(Ty::Int)) {
                    Some(at) => format!("({} + {})", self.simple(Ty::Int), self.call_text(at)),
                    None => self.simple(Ty::Int),
                },
                5 => match self.compound() {
                    Some(text) => text,
                    None => self.simple(Ty::Int),
                },
                _ => self.simple(Ty::Int),
            },
            Ty::Bool if chooses => "$".into(),
            Ty::Bool => match self.random.below(10) {
                0 => format!("!{}", self.simple(Ty::Bool)),
                1 => format!("({} && {})", self.expr(Ty::Bool, d), self.expr(Ty::Bool, d)),
                2 => format!("({} || {})", self.expr(Ty::Bool, d), self.expr(Ty::Bool, d)),
                3 => format!("({} == {})", self.simple(Ty::Color), self.simple(Ty::Color)),
                4 => format!("({} == {})", self.simple(Ty::Machine), self.simple(Ty::Machine)),
                5 => match self.variables(Ty::Set).first() {
                    Some(set) => format!("({} in {set})", self.simple(Ty::Int)),
                    None => self.simple(Ty::Bool),
                },
                6 => match self.callable(Some(Ty::Bool)) {
                    Some(at) => self.call_text(at),
                    None => self.simple(Ty::Bool),
                },
                7 => match self.nested_claim() {
                    Some(text) => text,
                    None => self.simple(Ty::Bool),
                },
                _ => {
                    let op = *self.random.pick(&["<", "==", "!=", ">="]);
                    format!("({} {op} {})", self.expr(Ty::Int, d), self.expr(Ty::Int, d))
                }
            },
            Ty::Color => self.simple(Ty::Color),
            Ty::Machine if self.has_friends() && self.random.chance(40) => {
                let seen = if self.random.chance(4) { "friends[0]" } else { "choose(friends)" };
                seen.to_owned()
            }
            Ty::Machine => match self.random.below(4) {
                0 if !self.is_monitor() => "this".into(),
                _ => self.simple(Ty::Machine),
            },
            Ty::Pair if self.random.chance(60) => {
                format!("(({}) % 3, {})", self.expr(Ty::Int, d), self.expr(Ty::Bool, d))
            }
            Ty::Named if self.random.chance(60) => {
                format!("(n = ({}) % 3, who = {})", self.expr(Ty::Int, d), self.expr(Ty::Machine, d))
            }
            Ty::Rows if self.random.chance(30) => format!("oneRow({})", self.expr(Ty::Named, d)),
            Ty::Deep if self.random.chance(50) => {
                format!("(rows = {}, tag = {})", self.expr(Ty::Rows, d), self.expr(Ty::Pair, d))
            }
            Ty::Pair
            | Ty::Named
            | Ty::Seq
            | Ty::Set
            | Ty::Map
            | Ty::Friends
            | Ty::Rows
            | Ty::Lists
            | Ty::Votes
            | Ty::Deep => self.simple(ty),
        }
    }

    /// Something about a nested value, if there is one.
    fn nested_claim(&mut self) -> Option<String> {
        let nested: Vec<(String, Ty)> =
            self.visible.iter().filter(|(_, ty)| Ty::NESTED.contains(ty)).cloned().collect();
        if nested.is_empty() {
            return None;
        }
        let (name, ty) = self.random.pick(&nested).clone();
        Some(match (ty, self.random.below(3)) {
            (_, 0) => format!("({name} == {})", self.simple(ty)),
            (Ty::Votes, _) => format!("({} in {name})", self.simple(Ty::Machine)),
            (Ty::Rows, _) => format!("({} in {name})", self.simple(Ty::Named)),
            (Ty::Lists, _) => format!("({} in {name})", self.random.below(3)),
            _ => format!("{name}.tag.1"),
        })
    }

    fn has_friends(&self) -> bool {
        self.visible.iter().any(|(_, ty)| *ty == Ty::Friends)
    }

    /// A number out of something larger.
    fn compound(&mut self) -> Option<String> {
        let at = if self.profile.nested > 0 { self.random.below(3) } else { 0 };
        let parts: Vec<String> = self
            .visible
            .iter()
            .filter_map(|(name, ty)| match ty {
                Ty::Pair => Some(format!("{name}.0")),
                Ty::Named => Some(format!("{name}.n")),
                Ty::Rows if at == 0 => Some(format!("firstOf({name})")),
                Ty::Rows if at == 1 => Some(format!("sumOf({name})")),
                Ty::Lists if at > 0 => Some(format!("numberIn({name}, {at})")),
                Ty::Deep if at == 0 => Some(format!("sumOf({name}.rows)")),
                Ty::Deep => Some(format!("{name}.tag.0")),
                Ty::Seq | Ty::Set | Ty::Map | Ty::Rows | Ty::Lists | Ty::Votes => {
                    Some(format!("sizeof({name})"))
                }
                Ty::Int | Ty::Bool | Ty::Color | Ty::Machine | Ty::Friends => None,
            })
            .collect();
        (!parts.is_empty()).then(|| self.random.pick(&parts).clone())
    }
}

/// A constant, or what comes closest.
pub(super) fn constant(random: &mut Random, ty: Ty) -> String {
    match ty {
        Ty::Int => random.below(3).to_string(),
        Ty::Bool => random.pick(&["true", "false"]).to_string(),
        Ty::Color => random.pick(&["Red", "Green", "Blue"]).to_string(),
        Ty::Machine => if random.chance(5) { "null as machine" } else { "this" }.to_string(),
        Ty::Pair => format!("({}, {})", random.below(3), random.chance(50)),
        Ty::Named => format!("(n = {}, who = this)", random.below(3)),
        Ty::Seq => "default(seq[int])".into(),
        Ty::Set => "default(set[int])".into(),
        Ty::Map => "default(map[int, int])".into(),
        Ty::Friends => "default(seq[machine])".into(),
        Ty::Rows | Ty::Lists | Ty::Votes | Ty::Deep => format!("default({})", ty.text()),
    }
}
