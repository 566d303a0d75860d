//! Test parameters: the assignments a parameterized test stands for, in P's order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use allways_base::words::count;
use allways_base::{Diagnostic, Span};
use rustc_hash::FxHashMap;

use super::Checker;
use crate::codes;
use crate::hir::{ParamId, ParamValue};
use crate::syntax::ast::{self, BinaryOp, ExprId, ExprKind, TestValue, Wise};
use crate::types::Types;

/// More assignments than anyone wants to run.
const MAX_ASSIGNMENTS: usize = 100_000;

/// The most combinations of assignments and subsets of parameters that coverage considers.
const MAX_COVERED: usize = 10_000_000;

/// One value for each parameter of the test, in the order of its `param` clause.
pub(super) type Assignment = Vec<(ParamId, ParamValue)>;

impl Checker<'_> {
    /// All assignments of a test; `None` when its parameters are wrong.
    pub(super) fn expand(&mut self, tree: &ast::Tree, test: &ast::Test) -> Option<Vec<Assignment>> {
        let params = self.test_params(test)?;
        let strength = self.strength(test, params.len())?;
        let mut assignments = Vec::new();
        let mut indices = vec![0usize; params.len()];
        loop {
            let assignment: Assignment =
                params.iter().zip(&indices).map(|((param, values), &i)| (*param, values[i])).collect();
            let holds = match test.assume {
                Some(assume) => self.assumption(tree, assume, &assignment)?,
                None => true,
            };
            if holds {
                assignments.push(indices.clone());
            }
            // The first parameter changes fastest.
            let mut at = 0;
            while at < indices.len() {
                indices[at] += 1;
                if indices[at] < params[at].1.len() {
                    break;
                }
                indices[at] = 0;
                at += 1;
            }
            if at == indices.len() {
                break;
            }
        }
        let chosen = if strength == params.len() {
            assignments
        } else if let Some(chosen) = cover(&assignments, params.len(), strength) {
            chosen
        } else {
            let span = test.params_span.unwrap_or(test.name.span);
            self.error(
                codes::BAD_TEST_PARAM,
                span,
                format!("covering all combinations of {strength} of these parameters takes too many test cases; use a smaller strength or fewer values"),
            );
            return None;
        };
        Some(
            chosen
                .into_iter()
                .map(|indices| {
                    params.iter().zip(&indices).map(|((param, values), &i)| (*param, values[i])).collect()
                })
                .collect(),
        )
    }

    /// The parameters with their values.
    fn test_params(&mut self, test: &ast::Test) -> Option<Vec<(ParamId, Vec<ParamValue>)>> {
        let mut is_right = true;
        let mut params: Vec<(ParamId, Vec<ParamValue>)> = Vec::new();
        for param in &test.params {
            let text = self.text(param.name.symbol).to_owned();
            let Some(&id) = self.globals.params.get(&param.name.symbol) else {
                let candidates = self.candidates(self.globals.params.keys());
                self.unknown(codes::UNKNOWN_PARAM, param.name, "global parameter", candidates);
                is_right = false;
                continue;
            };
            if params.iter().any(|&(other, _)| other == id) {
                is_right =
                    self.wrong_param(param.name.span, format!("the parameter `{text}` is given twice"));
                continue;
            }
            let is_bool = |value: TestValue| matches!(value, TestValue::Bool(_));
            let kind = is_bool(param.values[0].0);
            if let Some(&(_, span)) = param.values.iter().find(|&&(value, _)| is_bool(value) != kind) {
                is_right = self.wrong_param(
                    span,
                    "the values of a parameter must all be integers or all be booleans".to_owned(),
                );
                continue;
            }
            let mut seen = std::collections::BTreeSet::new();
            for &(value, span) in &param.values {
                if let TestValue::Int(value) = value
                    && !seen.insert(value)
                {
                    is_right = self.wrong_param(span, format!("the value {value} is listed twice"));
                }
            }
            let ty = self.params[id].ty;
            let value_ty = if kind { Types::BOOL } else { Types::INT };
            if !self.types.same(ty, value_ty) {
                let (ty, value_ty) = (self.show(ty), self.show(value_ty));
                is_right = self.wrong_param(
                    param.values[0].1,
                    format!("the parameter `{text}` has type `{ty}`, but its values here are `{value_ty}`"),
                );
                continue;
            }
            let values = param
                .values
                .iter()
                .map(|&(value, _)| match value {
                    TestValue::Bool(value) => ParamValue::Bool(value),
                    TestValue::Int(value) => ParamValue::Int(value),
                })
                .collect();
            params.push((id, values));
        }
        let n_assignments = params.iter().try_fold(1usize, |n, (_, values)| n.checked_mul(values.len()));
        if n_assignments.is_none_or(|n| n > MAX_ASSIGNMENTS)
            && let Some(span) = test.params_span
        {
            is_right = self.wrong_param(
                span,
                format!("this test has more than {MAX_ASSIGNMENTS} combinations of values"),
            );
        }
        is_right.then_some(params)
    }

    /// Always false: the parameters are not right.
    fn wrong_param(&mut self, span: Span, message: String) -> bool {
        self.error(codes::BAD_TEST_PARAM, span, message);
        false
    }

    /// How many parameters at a time must be covered in all combinations.
    fn strength(&mut self, test: &ast::Test, n_params: usize) -> Option<usize> {
        match test.wise {
            None => Some(n_params),
            Some(Wise::Pairwise(span)) => {
                if n_params < 2 {
                    self.report(
                        Diagnostic::warning(
                            codes::NO_TEST_CASES,
                            span,
                            "`pairwise` needs at least two parameters; this test expands to no test case",
                        )
                        .help("remove `pairwise`"),
                    );
                }
                Some(2)
            }
            Some(Wise::Wise(k, span)) => {
                if k >= 1 && k as usize <= n_params {
                    return Some(k as usize);
                }
                self.report(Diagnostic::error(
                    codes::BAD_TEST_PARAM,
                    span,
                    format!("a test with {} cannot be covered {k}-wise", count(n_params, "parameter")),
                ));
                None
            }
        }
    }

    fn assumption(&mut self, tree: &ast::Tree, assume: ExprId, assignment: &Assignment) -> Option<bool> {
        let span = tree.exprs[assume].span;
        match self.constant(tree, assume, assignment) {
            Ok(ParamValue::Bool(holds)) => Some(holds),
            Ok(ParamValue::Int(_)) => {
                self.error(codes::BAD_TEST_PARAM, span, "the assumption of a test must be a bool");
                None
            }
            Err((span, message)) => {
                self.error(codes::BAD_TEST_PARAM, span, message);
                None
            }
        }
    }

    fn constant(
        &self,
        tree: &ast::Tree,
        id: ExprId,
        assignment: &Assignment,
    ) -> Result<ParamValue, (Span, String)> {
        use ParamValue::{Bool, Int};
        let ast::Expr { kind, span } = &tree.exprs[id];
        let wrong = |message: &str| Err((*span, message.to_owned()));
        match kind {
            ExprKind::Bool(value) => Ok(Bool(*value)),
            ExprKind::Int(value) => Ok(Int(*value)),
            ExprKind::Name(symbol) => {
                let text = self.text(*symbol);
                let Some(&param) = self.globals.params.get(symbol) else {
                    return wrong(&format!("`{text}` is not a global parameter"));
                };
                match assignment.iter().find(|&&(id, _)| id == param) {
                    Some(&(_, value)) => Ok(value),
                    None => wrong(&format!("this test gives no values for `{text}`")),
                }
            }
            ExprKind::Neg(operand) => match self.constant(tree, *operand, assignment)? {
                Int(value) => Ok(Int(value.wrapping_neg())),
                Bool(_) => wrong("`-` takes an int"),
            },
            ExprKind::Not(operand) => match self.constant(tree, *operand, assignment)? {
                Bool(value) => Ok(Bool(!value)),
                Int(_) => wrong("`!` takes a bool"),
            },
            ExprKind::Binary(op, left, right, _) => {
                let (a, b) =
                    (self.constant(tree, *left, assignment)?, self.constant(tree, *right, assignment)?);
                match (op, a, b) {
                    (BinaryOp::Add, Int(a), Int(b)) => Ok(Int(a.wrapping_add(b))),
                    (BinaryOp::Sub, Int(a), Int(b)) => Ok(Int(a.wrapping_sub(b))),
                    (BinaryOp::Mul, Int(a), Int(b)) => Ok(Int(a.wrapping_mul(b))),
                    (BinaryOp::Div | BinaryOp::Mod, Int(_), Int(0)) => wrong("this divides by zero"),
                    (BinaryOp::Div, Int(a), Int(b)) => Ok(Int(a.wrapping_div(b))),
                    (BinaryOp::Mod, Int(a), Int(b)) => Ok(Int(a.wrapping_rem(b))),
                    (BinaryOp::Lt, Int(a), Int(b)) => Ok(Bool(a < b)),
                    (BinaryOp::Le, Int(a), Int(b)) => Ok(Bool(a <= b)),
                    (BinaryOp::Gt, Int(a), Int(b)) => Ok(Bool(a > b)),
                    (BinaryOp::Ge, Int(a), Int(b)) => Ok(Bool(a >= b)),
                    (BinaryOp::Eq, Int(_), Int(_)) | (BinaryOp::Eq, Bool(_), Bool(_)) => Ok(Bool(a == b)),
                    (BinaryOp::Ne, Int(_), Int(_)) | (BinaryOp::Ne, Bool(_), Bool(_)) => Ok(Bool(a != b)),
                    (BinaryOp::And, Bool(a), Bool(b)) => Ok(Bool(a && b)),
                    (BinaryOp::Or, Bool(a), Bool(b)) => Ok(Bool(a || b)),
                    _ => wrong("the operands of this operator have the wrong types"),
                }
            }
            _ => wrong("the assumption of a test may only use literals, operators and the test's parameters"),
        }
    }
}

/// A few of the assignments that cover every combination of `strength` parameters that any of them covers: again
/// and again the first one that covers most of what is left. `None` when there are too many combinations.
fn cover(assignments: &[Vec<usize>], n_params: usize, strength: usize) -> Option<Vec<Vec<usize>>> {
    if strength > n_params {
        return Some(Vec::new());
    }
    let subsets = subsets(n_params, strength, MAX_COVERED / assignments.len().max(1))?;
    let mut targets: FxHashMap<Vec<usize>, u32> = FxHashMap::default();
    // Which targets each assignment covers: a target is a subset and the values on it.
    let covers: Vec<Vec<u32>> = assignments
        .iter()
        .map(|assignment| {
            subsets
                .iter()
                .enumerate()
                .map(|(subset_idx, subset)| {
                    let mut key = vec![subset_idx];
                    key.extend(subset.iter().map(|&param| assignment[param]));
                    let next = targets.len() as u32;
                    *targets.entry(key).or_insert(next)
                })
                .collect()
        })
        .collect();
    let mut is_left = vec![true; targets.len()];
    // What an assignment gains only shrinks, so a gain counted earlier is a bound: the top of the heap whose
    // gain is still what it was is the first one of those that gain most.
    let mut heap: BinaryHeap<(usize, Reverse<usize>)> =
        covers.iter().enumerate().map(|(i, covered)| (covered.len(), Reverse(i))).collect();
    let mut chosen = Vec::new();
    while let Some((bound, Reverse(i))) = heap.pop() {
        let gain = covers[i].iter().filter(|&&target| is_left[target as usize]).count();
        if gain < bound {
            if gain > 0 {
                heap.push((gain, Reverse(i)));
            }
            continue;
        }
        for &target in &covers[i] {
            is_left[target as usize] = false;
        }
        chosen.push(assignments[i].clone());
    }
    Some(chosen)
}

/// All subsets of `0..n` with `k` elements, in lexicographic order, unless they are more than `max`.
fn subsets(n: usize, k: usize, max: usize) -> Option<Vec<Vec<usize>>> {
    let mut all = Vec::new();
    let mut current: Vec<usize> = (0..k).collect();
    loop {
        if all.len() >= max {
            return None;
        }
        all.push(current.clone());
        let Some(at) = (0..k).rev().find(|&at| current[at] < n - k + at) else { return Some(all) };
        current[at] += 1;
        for next in at + 1..k {
            current[next] = current[next - 1] + 1;
        }
    }
}

/// `T___p_1__q_true`
pub(super) fn expanded_name(checker: &Checker<'_>, name: &str, assignment: &Assignment) -> String {
    let values: Vec<String> = assignment
        .iter()
        .map(|&(param, value)| {
            let param = checker.symbols.text(checker.params[param].name);
            match value {
                ParamValue::Bool(value) => format!("{param}_{value}"),
                ParamValue::Int(value) if value < 0 => format!("{param}_neg{}", -value),
                ParamValue::Int(value) => format!("{param}_{value}"),
            }
        })
        .collect();
    if values.is_empty() { name.to_owned() } else { format!("{name}___{}", values.join("__")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn subsets_are_in_order() {
        assert_eq!(subsets(3, 2, 9).unwrap(), [[0, 1], [0, 2], [1, 2]]);
        assert_eq!(subsets(2, 2, 9).unwrap(), [[0, 1]]);
        assert_eq!(subsets(3, 0, 9).unwrap(), [[0usize; 0]; 1]);
        assert!(subsets(30, 15, 1000).is_none());
    }

    #[test]
    fn pairs_of_three_booleans_need_four_assignments() {
        let all: Vec<Vec<usize>> = (0..8).map(|i| vec![i & 1, i >> 1 & 1, i >> 2 & 1]).collect();
        assert_eq!(cover(&all, 3, 2).unwrap().len(), 4);
        assert_eq!(cover(&all, 3, 3).unwrap().len(), 8);
        assert!(cover(&all, 3, 4).unwrap().is_empty());
    }
}
