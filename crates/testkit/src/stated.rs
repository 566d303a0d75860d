//! Invariants that the user states, against a look at every configuration.
//!
//! The reference enumerates the configurations that the kernel reaches and evaluates the invariant in each; the symbolic engine
//! divides sets. They share the evaluation of parts without connectives, and nothing else.

use std::collections::HashSet;
use std::sync::Arc;

use allways_explore::Never;
use allways_explore::search::ProveOptions;
use allways_explore::symbolic::{self, SlotOrder, Split, SymbolicOptions};
use allways_machine::invariant::Truth;
use allways_machine::{Executable, Kernel, Outcome, Script, Silent};
use allways_p::hir::{Program, Type};
use allways_run::{NetworkOptions, Quiet, Verdict, ViolationKind};

use crate::Loaded;
use crate::liveness::limits;
use crate::random::Random;

/// Invariants about the machines, states and variables of a program; some hold and some do not.
pub fn of_program(program: &Program, seed: u64) -> Vec<String> {
    let mut random = Random::new(seed);
    let text = |symbol| program.symbols.text(symbol);
    let machines: Vec<_> = program.machines.iter().filter(|machine| !machine.is_monitor()).collect();
    let specs: Vec<_> = program.machines.iter().filter(|machine| machine.is_monitor()).collect();
    let part = |variables: &[(&str, usize)], random: &mut Random| -> String {
        let (name, machine) = variables[random.below(variables.len())];
        let machine = machines[machine];
        let ints: Vec<&str> = machine
            .fields
            .iter()
            .filter(|field| *program.types.get(field.ty) == Type::Int)
            .map(|field| text(field.name))
            .collect();
        match random.below(4) {
            0 if !ints.is_empty() => {
                let relation = ["<=", "==", "!=", ">"][random.below(4)];
                format!("{name}.{} {relation} {}", ints[random.below(ints.len())], random.below(4))
            }
            1 if !specs.is_empty() => {
                let spec = specs[random.below(specs.len())];
                let states: Vec<&str> = spec.states.iter().map(|state| text(state.name)).collect();
                format!("{} is {}", text(spec.name), states[random.below(states.len())])
            }
            2 => {
                let (other, _) = variables[random.below(variables.len())];
                format!("{name} == {other}")
            }
            _ => {
                let states: Vec<&str> = machine.states.iter().map(|state| text(state.name)).collect();
                format!("{name} is {}", states[random.below(states.len())])
            }
        }
    };
    let mut found = Vec::new();
    for _ in 0..6 {
        let (a, b) = (random.below(machines.len()), random.below(machines.len()));
        let variables = [("x", a), ("y", b)];
        let parts: Vec<String> = (0..3).map(|_| part(&variables, &mut random)).collect();
        let connective = |random: &mut Random| ["&&", "||", "==>", "<==>"][random.below(4)];
        let quantifier = |random: &mut Random| ["forall", "exists"][random.below(2)];
        found.push(format!(
            "{} (x: {}) :: {} (y: {}) :: {}({} {} {}) {} {}",
            quantifier(&mut random),
            text(machines[a].name),
            quantifier(&mut random),
            text(machines[b].name),
            if random.below(2) == 0 { "!" } else { "" },
            parts[0],
            connective(&mut random),
            parts[1],
            connective(&mut random),
            parts[2],
        ));
    }
    found
}

/// Whether some configuration after the first step breaks the only invariant of a test; `None` if there are more configurations, or
/// something else breaks.
fn is_broken(exe: &Arc<Executable>, max_configurations: usize) -> Option<bool> {
    let mut kernel = Kernel::new(exe.clone(), limits());
    let mut known: HashSet<Vec<u8>> = HashSet::new();
    let mut open = vec![kernel.save()];
    let mut is_broken = false;
    while let Some(snapshot) = open.pop() {
        kernel.restore(&snapshot);
        let choices: Vec<_> = kernel.choices().collect();
        for choice in choices {
            let mut script = Script::default();
            loop {
                kernel.restore(&snapshot);
                let mut ask = |point: allways_machine::DataPoint| script.ask(point.n_answers);
                kernel.take(choice, &mut ask, &mut Silent).ok()?;
                if !matches!(kernel.outcome(), Outcome::Running | Outcome::Quiescent) {
                    return None;
                }
                let mut bytes = Vec::new();
                kernel.encode(&mut bytes);
                if known.insert(bytes) {
                    if known.len() > max_configurations {
                        return None;
                    }
                    is_broken |= kernel.check_invariant(&exe.invariants[0]).0 != Truth::Holds;
                    open.push(kernel.save());
                }
                if !script.advance() {
                    break;
                }
            }
        }
    }
    Some(is_broken)
}

/// What was compared.
#[derive(Clone, Copy, Default, Debug)]
pub struct Compared {
    pub n_holding: usize,
    pub n_broken: usize,
}

/// Compares the symbolic engine, whole and split, on invariants of a program.
///
/// # Errors
/// The difference, in words.
pub fn compare(
    text: &str,
    network: &NetworkOptions,
    seed: u64,
    max_configurations: usize,
) -> Result<Compared, String> {
    let program = Loaded::new("random.p", text)?.program;
    let mut compared = Compared::default();
    for invariant in of_program(&program, seed) {
        let loaded = Loaded::with_invariants("random.p", text, std::slice::from_ref(&invariant))?;
        let exe = crate::proof::executable(&loaded, network)?;
        let Some(expected) = is_broken(&exe, max_configurations) else { break };
        for split in [Split::Never, Split::Always] {
            let search = ProveOptions { limits: limits(), fairness: None, ..ProveOptions::default() };
            let order = SlotOrder::Random(seed);
            let options = SymbolicOptions { search, order, split, ..SymbolicOptions::default() };
            let found = symbolic::prove(&exe, &options, &Quiet, &Never)
                .map_err(|error| format!("`{invariant}`, {split:?}: {error}"))?;
            let is_right = match &found.report.verdict {
                Verdict::Holds(_) => !expected,
                Verdict::Violated(found) => expected && found.violation.kind == ViolationKind::Invariant,
                // Liveness and ends are judged before invariants are.
                Verdict::Unknown(_) => false,
            };
            if !is_right {
                let verdict = &found.report.verdict;
                return Err(format!("`{invariant}`, {split:?}: {verdict:?}, broken {expected}"));
            }
        }
        match expected {
            true => compared.n_broken += 1,
            false => compared.n_holding += 1,
        }
    }
    Ok(compared)
}
