//! Passive form: an acyclic graph as constraints, once per procedure, ready to be instantiated.
//!
//! Each value that a variable takes is a constant of its own (dynamic single assignment). An
//! assignment defines a constant; where ways join, a variable with several values gets a new constant
//! and each way an equality. A block has a literal `at`, and `at` implies what the block assumes and
//! that some way out of it is taken. Since constants are shared by all ways, every path of true
//! literals in a model is an execution, and no clause has to say where control came from.
//!
//! The text of a [`Template`] leaves open the number of the instance and the names of its interface:
//! the literal of the call, the inputs and the outputs. These are the caller's constants, so a call
//! costs no equalities.

use std::fmt::Write;
use std::rc::Rc;

use allways_base::Idx;
use allways_boogie::check::Checked;
use allways_boogie::tree::StmtId;
use rustc_hash::FxHashMap;

use crate::flow::*;
use crate::term::{TermId, TermKind, VarRef, quotable};
use crate::theory;

/// Stands for the number of the instance.
const INSTANCE: char = '\u{1}';
/// Begins and ends the number of a slot of the interface.
const SLOT_START: char = '\u{2}';
const SLOT_END: char = '\u{3}';

/// The constraints of a procedure with holes.
#[derive(Debug)]
pub struct Template {
    /// Parameters, then what is read from the surroundings. Slots from 1.
    pub inputs: Vec<VarRef>,
    /// Results, then what is written in the surroundings. Slots after the inputs.
    pub outputs: Vec<VarRef>,
    text: String,
    /// Variables of its own that are read before they are assigned.
    pub unset: Vec<(VarRef, String)>,
    pub entry: usize,
    pub blocks: Vec<BlockTemplate>,
    pub calls: Vec<CallTemplate>,
}

#[derive(Debug)]
pub struct BlockTemplate {
    pub steps: Vec<StepTemplate>,
    /// The literal of each way out, and the block it leads to.
    pub ways: Vec<(String, usize)>,
    pub failure: Option<usize>,
}

#[derive(Debug)]
pub struct StepTemplate {
    pub origin: Option<StmtId>,
    /// What was assigned or chosen.
    pub values: Vec<(VarRef, String)>,
    /// The call made here, by its place in [`Template::calls`].
    pub call: Option<usize>,
    /// Which way a nondeterministic branch took.
    pub way: Option<u32>,
}

#[derive(Debug)]
pub struct CallTemplate {
    pub callee: ProcId,
    /// True when the call is made.
    pub literal: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
}

impl Template {
    /// The text of an instance. `slots` are the call literal, the inputs and the outputs.
    pub fn instantiate(&self, number: usize, slots: &[Rc<str>]) -> String {
        fill(&self.text, number, slots)
    }

    pub fn n_slots(&self) -> usize {
        1 + self.inputs.len() + self.outputs.len()
    }
}

/// Fills the holes of a text.
pub fn fill(text: &str, number: usize, slots: &[Rc<str>]) -> String {
    let number = number.to_string();
    let mut out = String::with_capacity(text.len() + text.len() / 4);
    let mut rest = text;
    while let Some(at) = rest.find([INSTANCE, SLOT_START]) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix(INSTANCE) {
            out.push_str(&number);
            rest = after;
        } else {
            let (slot, after) = rest[1..].split_once(SLOT_END).unwrap_or((&rest[1..], ""));
            let name = slot.parse::<usize>().ok().and_then(|slot| slots.get(slot));
            debug_assert!(name.is_some(), "slot {slot} of an instance with {} slots", slots.len());
            out.push_str(name.map_or("", |name| name));
            rest = after;
        }
    }
    out.push_str(rest);
    out
}

fn slot(number: usize) -> Rc<str> {
    format!("{SLOT_START}{number}{SLOT_END}").into()
}

/// Makes the template of a procedure whose graph is acyclic and linked.
pub fn passive_form(checked: &Checked, flow: &Flow, id: ProcId) -> Template {
    Passive::new(checked, flow, id).run()
}

type Env = FxHashMap<VarRef, Rc<str>>;

struct Passive<'a> {
    checked: &'a Checked,
    flow: &'a Flow,
    proc: &'a Proc,
    inputs: Vec<VarRef>,
    outputs: Vec<VarRef>,
    text: String,
    n_constants: usize,
    unset: Vec<(VarRef, String)>,
    calls: Vec<CallTemplate>,
}

impl<'a> Passive<'a> {
    fn new(checked: &'a Checked, flow: &'a Flow, id: ProcId) -> Self {
        let proc = &flow.procs[id];
        let inputs = proc.params.iter().chain(&proc.reads).copied().collect();
        let outputs = proc.results.iter().chain(&proc.writes).copied().collect();
        let text = String::new();
        Passive {
            checked,
            flow,
            proc,
            inputs,
            outputs,
            text,
            n_constants: 0,
            unset: Vec::new(),
            calls: Vec::new(),
        }
    }

    /// The blocks on ways from the entry to the exit, each before its successors.
    fn order(&self) -> Vec<BlockId> {
        let blocks = &self.proc.blocks;
        let mut reaches_exit = vec![false; blocks.len()];
        let mut forward = vec![false; blocks.len()];
        let mut finished = Vec::new();
        let mut work = vec![(self.proc.entry, 0usize)];
        forward[self.proc.entry.index()] = true;
        while let Some((block, next)) = work.pop() {
            match blocks[block].next.get(next) {
                Some(&to) => {
                    work.push((block, next + 1));
                    if !forward[to.index()] {
                        forward[to.index()] = true;
                        work.push((to, 0));
                    }
                }
                None => {
                    reaches_exit[block.index()] = block == self.proc.exit
                        || blocks[block].next.iter().any(|to| reaches_exit[to.index()]);
                    finished.push(block);
                }
            }
        }
        finished.reverse();
        finished.retain(|block| reaches_exit[block.index()]);
        finished
    }

    fn run(mut self) -> Template {
        let order = self.order();
        let position: FxHashMap<BlockId, usize> =
            order.iter().enumerate().map(|(idx, &b)| (b, idx)).collect();
        let next: Vec<Vec<usize>> = order
            .iter()
            .map(|&b| self.proc.blocks[b].next.iter().filter_map(|to| position.get(to).copied()).collect())
            .collect();
        let mut preds: Vec<Vec<usize>> = vec![Vec::new(); order.len()];
        for (from, targets) in next.iter().enumerate() {
            targets.iter().for_each(|&to| preds[to].push(from));
        }
        let mut template = Template {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            text: String::new(),
            unset: Vec::new(),
            entry: 0,
            blocks: Vec::new(),
            calls: Vec::new(),
        };
        let call_literal = slot(0);
        if order.is_empty() {
            // No way to the end: the call never happens.
            let _ = writeln!(template.text, "(assert (not {call_literal}))");
            return template;
        }
        let live = self.live(&order, &next);
        let mut at: Vec<Rc<str>> = Vec::new();
        let mut envs: Vec<Env> = Vec::new();
        // Per block, the variables that have a new constant there.
        let mut joined: Vec<Vec<(VarRef, Rc<str>)>> = vec![Vec::new(); order.len()];
        let mut blocks: Vec<BlockTemplate> = Vec::new();
        for (idx, &id) in order.iter().enumerate() {
            let literal: Rc<str> = match preds[idx][..] {
                [] => call_literal.clone(),
                [pred] if next[pred].len() == 1 => at[pred].clone(),
                _ => {
                    let name: Rc<str> = format!("|at {idx}@{INSTANCE}|").into();
                    let _ = writeln!(self.text, "(declare-const {name} Bool)");
                    name
                }
            };
            let mut env: Env = match preds[idx][..] {
                [] => self.initial(&live[idx]),
                [pred] => envs[pred].clone(),
                _ => {
                    let mut env = Env::default();
                    for &var in &live[idx] {
                        let first = envs[preds[idx][0]].get(&var).cloned();
                        let same = preds[idx].iter().all(|&pred| envs[pred].get(&var) == first.as_ref());
                        let value = match first {
                            Some(value) if same => value,
                            _ => {
                                let constant = self.constant(var);
                                joined[idx].push((var, constant.clone()));
                                constant
                            }
                        };
                        env.insert(var, value);
                    }
                    env
                }
            };
            let steps = self.instrs(id, &literal, &mut env);
            if id == self.proc.exit {
                for (position, &output) in self.outputs.clone().iter().enumerate() {
                    let name = slot(1 + self.inputs.len() + position);
                    let value = self.value(output, &mut env);
                    let _ = writeln!(self.text, "(assert (=> {literal} (= {name} {value})))");
                }
            }
            at.push(literal);
            envs.push(env);
            let failure = self.proc.blocks[id].failure;
            blocks.push(BlockTemplate { steps, ways: Vec::new(), failure });
        }
        for idx in 0..order.len() {
            let mut literals: Vec<Rc<str>> = Vec::new();
            for &to in &next[idx] {
                let alone = next[idx].len() == 1;
                let way: Rc<str> = if alone {
                    at[idx].clone()
                } else if preds[to].len() == 1 {
                    at[to].clone()
                } else {
                    let name: Rc<str> = format!("|go {idx} {to}@{INSTANCE}|").into();
                    let _ = writeln!(self.text, "(declare-const {name} Bool)");
                    name
                };
                if way != at[to] {
                    let _ = writeln!(self.text, "(assert (=> {way} {}))", at[to]);
                }
                for (var, constant) in joined[to].clone() {
                    let value = self.value(var, &mut envs[idx]);
                    if *value != *constant {
                        let _ = writeln!(self.text, "(assert (=> {way} (= {constant} {value})))");
                    }
                }
                literals.push(way.clone());
                blocks[idx].ways.push((way.to_string(), to));
            }
            if literals.len() > 1 {
                let _ = writeln!(self.text, "(assert (=> {} (or {})))", at[idx], literals.join(" "));
            }
        }
        template.text = self.text;
        template.unset = self.unset;
        template.calls = self.calls;
        template.blocks = blocks;
        template
    }

    /// The variables that are live at the start of each block.
    fn live(&self, order: &[BlockId], next: &[Vec<usize>]) -> Vec<Vec<VarRef>> {
        let mut live: Vec<std::collections::BTreeSet<VarRef>> = vec![Default::default(); order.len()];
        for idx in (0..order.len()).rev() {
            let mut now: std::collections::BTreeSet<VarRef> =
                next[idx].iter().flat_map(|&to| live[to].iter().copied()).collect();
            if order[idx] == self.proc.exit {
                now.extend(&self.outputs);
            }
            for instr in self.proc.blocks[order[idx]].instrs.iter().rev() {
                instr.defines(self.flow, |var| {
                    now.remove(&var);
                });
                instr.uses(self.flow, |var| {
                    now.insert(var);
                });
            }
            live[idx] = now;
        }
        live.into_iter().map(|set| set.into_iter().collect()).collect()
    }

    /// Inputs are the caller's; everything else that is read before it is written is arbitrary.
    fn initial(&mut self, live: &[VarRef]) -> Env {
        let mut env = Env::default();
        for (position, &input) in self.inputs.iter().enumerate() {
            env.insert(input, slot(1 + position));
        }
        for &var in live {
            env.entry(var).or_insert_with(|| {
                let constant = self.constant(var);
                self.unset.push((var, constant.to_string()));
                constant
            });
        }
        env
    }

    fn sort(&self, var: VarRef) -> String {
        theory::sort(self.checked, self.flow.vars[var].ty)
    }

    fn constant_name(&mut self, var: VarRef) -> Rc<str> {
        self.n_constants += 1;
        format!("|{}#{}@{INSTANCE}|", quotable(&self.flow.vars[var].name), self.n_constants).into()
    }

    /// A new constant with any value.
    fn constant(&mut self, var: VarRef) -> Rc<str> {
        let name = self.constant_name(var);
        let sort = self.sort(var);
        let _ = writeln!(self.text, "(declare-const {name} {sort})");
        name
    }

    fn value(&mut self, var: VarRef, env: &mut Env) -> Rc<str> {
        if let Some(value) = env.get(&var) {
            return value.clone();
        }
        let constant = self.constant(var);
        env.insert(var, constant.clone());
        constant
    }

    fn term(&mut self, term: TermId, env: &mut Env) -> String {
        for var in self.flow.terms.vars_of(term) {
            self.value(var, env);
        }
        let mut text = String::new();
        let mut var = |var: VarRef, out: &mut String| {
            if let Some(value) = env.get(&var) {
                out.push_str(value);
            }
        };
        self.flow.terms.render(term, &mut text, &mut var, &|ty| theory::sort(self.checked, ty));
        text
    }

    /// A term as a name or literal; larger ones get a definition named after `var`.
    fn named(&mut self, var: VarRef, term: TermId, env: &mut Env) -> Rc<str> {
        let text = self.term(term, env);
        if matches!(self.flow.terms.kind(term), TermKind::Var(_) | TermKind::Atom(_)) {
            return text.into();
        }
        let name = self.constant_name(var);
        let sort = self.sort(var);
        let _ = writeln!(self.text, "(define-fun {name} () {sort} {text})");
        name
    }

    fn instrs(&mut self, id: BlockId, literal: &Rc<str>, env: &mut Env) -> Vec<StepTemplate> {
        let mut steps = Vec::new();
        let proc = self.proc;
        for instr in &proc.blocks[id].instrs {
            let mut step = StepTemplate { origin: instr.origin, values: Vec::new(), call: None, way: None };
            match &instr.kind {
                InstrKind::Assign(pairs) => {
                    let values: Vec<(VarRef, Rc<str>)> =
                        pairs.iter().map(|&(var, term)| (var, self.named(var, term, env))).collect();
                    for (var, value) in values {
                        step.values.push((var, value.to_string()));
                        env.insert(var, value);
                    }
                }
                InstrKind::Havoc(var) => {
                    let constant = self.constant(*var);
                    step.values.push((*var, constant.to_string()));
                    env.insert(*var, constant);
                }
                InstrKind::Assume(term) => {
                    if self.flow.terms.is_false(*term) {
                        let _ = writeln!(self.text, "(assert (not {literal}))");
                    } else if !self.flow.terms.is_true(*term) {
                        let text = self.term(*term, env);
                        let _ = writeln!(self.text, "(assert (=> {literal} {text}))");
                    }
                }
                InstrKind::Call { callee, args, outs } => {
                    let callee_id = *callee;
                    let callee = &self.flow.procs[callee_id];
                    let mut inputs: Vec<String> = Vec::new();
                    for (&param, &arg) in callee.params.iter().zip(args) {
                        inputs.push(self.named(param, arg, env).to_string());
                    }
                    for &var in &callee.reads {
                        inputs.push(self.value(var, env).to_string());
                    }
                    let mut outputs = Vec::new();
                    for &out in outs.iter().chain(&callee.writes) {
                        let constant = self.constant(out);
                        step.values.push((out, constant.to_string()));
                        outputs.push(constant.to_string());
                        env.insert(out, constant);
                    }
                    step.call = Some(self.calls.len());
                    let literal = literal.to_string();
                    self.calls.push(CallTemplate { callee: callee_id, literal, inputs, outputs });
                }
                InstrKind::Mark(way) => step.way = *way,
            }
            if step.origin.is_some() || step.call.is_some() || step.way.is_some() {
                steps.push(step);
            }
        }
        steps
    }
}
