//! Which functions and axioms the solver has to hear of.
//!
//! A front end's prelude describes hundreds of functions, a program uses a dozen. An axiom that shares no name with the
//! program, nor with an axiom that does, can only matter by being contradictory in itself; yet a quantified one keeps a solver
//! from answering *sat*. So the names that the procedures use are followed through bodies and axioms, and the rest is left out.
//! Axioms without quantifiers are kept: they cost nothing, say what constants are, and `axiom false` means what it says. So are those
//! that speak of all values of a declared type: they may limit how many there are.

use allways_boogie::check::{Checked, TyKind};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::flow::{Flow, InstrKind};
use crate::lower::{Axiom, Lowered};
use crate::term::{TermId, TermKind, Terms};

/// Leaves out what nothing refers to.
pub fn keep_relevant(checked: &Checked, lowered: &mut Lowered) {
    let terms = &lowered.flow.terms;
    let mut used = Names::default();
    used.flow(&lowered.flow);
    let bodies: FxHashMap<&str, Vec<&str>> = lowered
        .functions
        .iter()
        .filter_map(|function| Some((function.name.as_str(), names(terms, function.body?))))
        .collect();
    let axioms: Vec<(Axiom, Vec<&str>)> =
        lowered.axioms.iter().map(|&axiom| (axiom, through(&bodies, names(terms, axiom.term)))).collect();
    let mut is_kept = vec![false; axioms.len()];
    for ((axiom, names), is_kept) in axioms.iter().zip(&mut is_kept) {
        if always_matters(checked, terms, axiom.term) {
            *is_kept = true;
            used.known.extend(names);
        }
    }
    loop {
        let n_before = used.known.len();
        for function in &lowered.functions {
            if let Some(body) = function.body
                && used.known.contains(function.name.as_str())
            {
                used.term(terms, body);
            }
        }
        for lambda in &lowered.lambdas {
            if used.known.contains(lambda.name.as_str()) {
                used.term(terms, lambda.axiom);
            }
        }
        let open = axioms.iter().zip(&mut is_kept).filter(|(_, is_kept)| !**is_kept);
        for ((_, names), is_kept) in open {
            if names.iter().any(|name| used.known.contains(name)) {
                *is_kept = true;
                used.known.extend(names);
            }
        }
        if used.known.len() == n_before {
            break;
        }
    }
    let axioms: Vec<Axiom> =
        axioms.iter().zip(is_kept).filter(|(_, is_kept)| *is_kept).map(|((axiom, _), _)| *axiom).collect();
    let known: FxHashSet<String> = used.known.into_iter().map(str::to_owned).collect();
    lowered.axioms = axioms;
    lowered.functions.retain(|function| known.contains(&function.name));
    lowered.lambdas.retain(|lambda| known.contains(&lambda.name));
}

/// Names of functions and constants; literals are included, which does no harm.
#[derive(Default)]
struct Names<'a> {
    known: FxHashSet<&'a str>,
    seen: FxHashSet<TermId>,
}

impl<'a> Names<'a> {
    fn flow(&mut self, flow: &'a Flow) {
        for instr in flow.procs.iter().flat_map(|proc| &proc.blocks).flat_map(|block| &block.instrs) {
            match &instr.kind {
                InstrKind::Assign(pairs) => pairs.iter().for_each(|&(_, term)| self.term(&flow.terms, term)),
                InstrKind::Assume(term) => self.term(&flow.terms, *term),
                InstrKind::Call { args, .. } => args.iter().for_each(|&arg| self.term(&flow.terms, arg)),
                InstrKind::Havoc(_) | InstrKind::Mark(_) => {}
            }
        }
    }

    fn term(&mut self, terms: &'a Terms, root: TermId) {
        if self.seen.insert(root) {
            terms.walk(root, |kind| self.known.extend(name(kind)));
        }
    }
}

/// The names of an axiom: without literals and what every theory has, which would connect everything.
fn names(terms: &Terms, axiom: TermId) -> Vec<&str> {
    let mut names = Vec::new();
    terms.walk(axiom, |kind| names.extend(name(kind).filter(|name| name.starts_with('|'))));
    names
}

/// The names, with those in the bodies of the functions among them, and so on: what an axiom says about a function with a body,
/// it says about what the body mentions.
fn through<'a>(bodies: &FxHashMap<&'a str, Vec<&'a str>>, names: Vec<&'a str>) -> Vec<&'a str> {
    let mut all: FxHashSet<&str> = FxHashSet::default();
    let mut work = names;
    let mut order = Vec::new();
    while let Some(name) = work.pop() {
        if all.insert(name) {
            order.push(name);
            work.extend(bodies.get(name).into_iter().flatten());
        }
    }
    order
}

/// Whether an axiom has no variables, or one of a declared type, by itself or inside a map.
fn always_matters(checked: &Checked, terms: &Terms, axiom: TermId) -> bool {
    let mut types = Vec::new();
    terms.walk(axiom, |kind| {
        if let TermKind::Quantified { vars, .. } = kind {
            types.extend(vars.iter().map(|&(_, ty)| ty));
        }
    });
    let is_ground = types.is_empty();
    while let Some(ty) = types.pop() {
        if let TyKind::Con(..) = checked.types.kind(ty) {
            return true;
        }
        types.extend(checked.types.parts(ty));
    }
    is_ground
}

fn name(kind: &TermKind) -> Option<&str> {
    match kind {
        TermKind::Atom(name) | TermKind::App(name, _) => Some(name),
        TermKind::Var(_)
        | TermKind::Bound(_)
        | TermKind::Quantified { .. }
        | TermKind::Lambda { .. }
        | TermKind::Let { .. } => None,
    }
}
