//! What the solver has to know before any procedure: sorts, constants, functions, axioms.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::tree::DeclKind;

use crate::lower::{FunctionTerm, Lowered, constant_name};
use crate::term::{TermId, TermKind, quotable};

/// `**` on reals, which SMT-LIB does not have: a function about which nothing is known.
pub const POWER: &str = "|**|";

/// A type as an SMT sort. Several indices are nested arrays; none is the value itself.
pub fn sort(checked: &Checked, ty: Ty) -> String {
    match checked.types.kind(ty) {
        TyKind::Bool => "Bool".to_owned(),
        TyKind::Int => "Int".to_owned(),
        TyKind::Real => "Real".to_owned(),
        TyKind::Bv(width) => format!("(_ BitVec {width})"),
        TyKind::Map(args, result) => args
            .iter()
            .rev()
            .fold(sort(checked, *result), |result, &arg| format!("(Array {} {result})", sort(checked, arg))),
        TyKind::Con(..) | TyKind::Param(_) | TyKind::Error | TyKind::Infer(_) => uninterpreted(checked, ty),
    }
}

fn uninterpreted(checked: &Checked, ty: Ty) -> String {
    format!("|{} type|", quotable(&checked.show_type(ty)))
}

fn declare_fun(
    checked: &Checked,
    name: &str,
    params: impl Iterator<Item = Ty>,
    result: Ty,
    out: &mut String,
) {
    let params: Vec<String> = params.map(|ty| sort(checked, ty)).collect();
    let _ = writeln!(out, "(declare-fun {name} ({}) {})", params.join(" "), sort(checked, result));
}

/// The declarations that come first; [`axioms`] follow them.
pub fn prelude(checked: &Checked, lowered: &Lowered) -> String {
    let mut out = String::new();
    sorts(checked, &mut out);
    constants(checked, &mut out);
    let uses_power = uses(lowered, POWER);
    if uses_power {
        let _ = writeln!(out, "(declare-fun {POWER} (Real Real) Real)");
    }
    for lambda in &lowered.lambdas {
        declare_fun(checked, &lambda.name, lambda.params.iter().copied(), lambda.result, &mut out);
    }
    functions(checked, lowered, &mut out);
    for lambda in &lowered.lambdas {
        let _ = writeln!(out, "(assert {})", render(checked, lowered, lambda.axiom));
    }
    out
}

/// The axioms, each asserted.
pub fn axioms(checked: &Checked, lowered: &Lowered) -> String {
    let mut out = String::new();
    for axiom in &lowered.axioms {
        let _ = writeln!(out, "(assert {})", render(checked, lowered, axiom.term));
    }
    out
}

/// A term without program variables.
pub(crate) fn render(checked: &Checked, lowered: &Lowered, term: TermId) -> String {
    let mut text = String::new();
    lowered.flow.terms.render(term, &mut text, &mut |_, _| {}, &|ty| sort(checked, ty));
    text
}

fn uses(lowered: &Lowered, head: &str) -> bool {
    lowered.flow.terms.any(|kind| matches!(kind, TermKind::App(name, _) if name == head))
}

fn sorts(checked: &Checked, out: &mut String) {
    let mut names = BTreeSet::new();
    let mut work: Vec<Ty> = checked.vars.iter().map(|var| var.ty).collect();
    work.extend(checked.function_results.values());
    while let Some(ty) = work.pop() {
        if let TyKind::Con(..) = checked.types.kind(ty)
            && checked.types.is_ground(ty)
        {
            names.insert(uninterpreted(checked, ty));
            continue;
        }
        work.extend(checked.types.parts(ty));
    }
    for name in names {
        let _ = writeln!(out, "(declare-sort {name} 0)");
    }
}

fn constants(checked: &Checked, out: &mut String) {
    let unique: BTreeSet<_> = checked
        .program
        .decls
        .iter()
        .filter_map(|decl| match &decl.kind {
            DeclKind::Const(constant) if constant.unique => Some(constant.name.symbol),
            _ => None,
        })
        .collect();
    let mut groups: BTreeMap<Ty, Vec<String>> = BTreeMap::new();
    for &var in &checked.consts {
        let info = &checked.vars[var];
        let name = constant_name(checked.program.text(info.name.symbol));
        let _ = writeln!(out, "(declare-const {name} {})", sort(checked, info.ty));
        if unique.contains(&info.name.symbol) {
            groups.entry(info.ty).or_default().push(name);
        }
    }
    for group in groups.values().filter(|group| group.len() > 1) {
        let _ = writeln!(out, "(assert (distinct {}))", group.join(" "));
    }
}

/// Functions with a body are definitions, callees first; those that call themselves are axioms.
fn functions(checked: &Checked, lowered: &Lowered, out: &mut String) {
    let by_name: BTreeMap<&str, usize> =
        lowered.functions.iter().enumerate().map(|(idx, function)| (function.name.as_str(), idx)).collect();
    let callees = |function: &FunctionTerm| {
        let mut found = BTreeSet::new();
        if let Some(body) = function.body {
            lowered.flow.terms.walk(body, |kind| {
                if let TermKind::App(name, _) = kind
                    && let Some(&idx) = by_name.get(name.as_str())
                {
                    found.insert(idx);
                }
            });
        }
        found
    };
    // A lambda in a body may call any function, so its functions are kept apart from definitions.
    let mut left: Vec<(usize, BTreeSet<usize>)> =
        lowered.functions.iter().enumerate().map(|(idx, function)| (idx, callees(function))).collect();
    let declare = |function: &FunctionTerm, out: &mut String| {
        let params = function.params.iter().map(|&(_, ty)| ty);
        declare_fun(checked, &function.name, params, function.result, out);
    };
    left.retain(|&(idx, _)| {
        let function = &lowered.functions[idx];
        if function.body.is_none() {
            declare(function, out);
        }
        function.body.is_some()
    });
    loop {
        let waiting: BTreeSet<usize> = left.iter().map(|&(idx, _)| idx).collect();
        let n_before = left.len();
        left.retain(|(idx, callees)| {
            if callees.iter().any(|callee| waiting.contains(callee)) {
                return true;
            }
            let function = &lowered.functions[*idx];
            let Some(body) = function.body else { return false };
            let params: Vec<String> = function
                .params
                .iter()
                .map(|&(number, ty)| format!("({} {})", crate::term::bound_name(number), sort(checked, ty)))
                .collect();
            let _ = writeln!(
                out,
                "(define-fun {} ({}) {} {})",
                function.name,
                params.join(" "),
                sort(checked, function.result),
                render(checked, lowered, body)
            );
            false
        });
        if left.len() == n_before {
            break;
        }
    }
    for (idx, _) in &left {
        declare(&lowered.functions[*idx], out);
    }
    for (idx, _) in &left {
        let function = &lowered.functions[*idx];
        let Some(body) = function.body else { continue };
        let params: Vec<String> = function
            .params
            .iter()
            .map(|&(number, ty)| format!("({} {})", crate::term::bound_name(number), sort(checked, ty)))
            .collect();
        let args: Vec<String> =
            function.params.iter().map(|&(number, _)| crate::term::bound_name(number)).collect();
        let body = render(checked, lowered, body);
        let call = format!("({} {})", function.name, args.join(" "));
        if args.is_empty() {
            let _ = writeln!(out, "(assert (= {} {body}))", function.name);
        } else {
            let _ = writeln!(
                out,
                "(assert (forall ({}) (! (= {call} {body}) :pattern ({call}))))",
                params.join(" ")
            );
        }
    }
}
