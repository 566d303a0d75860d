//! From a model of the verifier to the words of the interpreter: values, steps, and what is known beforehand.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::sync::Arc;

use allways_bmc::{Assigned, Trace, TraceStep, Value};
use allways_boogie::check::{Checked, Ty, TyKind};
use allways_boogie::interp;
use allways_boogie::interp::value::{MapValue, Ratio, n_indices};
use allways_sequentialize::decode::{Named, Step};
use allways_sequentialize::{Role, Sequentialized};

/// Translates values of one model.
pub struct Concrete<'a> {
    original: &'a Checked,
    translated: &'a Checked,
    /// The uninterpreted types of the original, by the text that both programs have for them.
    types: BTreeMap<String, Ty>,
    /// The elements of uninterpreted types by their names in the model; the place is the number.
    elements: RefCell<BTreeMap<Ty, Vec<String>>>,
}

impl<'a> Concrete<'a> {
    pub fn new(original: &'a Checked, translated: &'a Checked, unique: &[Vec<usize>], trace: &Trace) -> Self {
        let mut types = BTreeMap::new();
        for var in original.vars.iter() {
            let mut work = vec![var.ty];
            while let Some(ty) = work.pop() {
                if let TyKind::Con(..) = original.types.kind(ty) {
                    types.insert(original.show_type(ty), ty);
                }
                work.extend(original.types.parts(ty));
            }
        }
        for &ty in original.function_results.values() {
            types.entry(original.show_type(ty)).or_insert(ty);
        }
        let concrete = Concrete { original, translated, types, elements: RefCell::default() };
        // The interpreter numbers the unique constants of a type in their order, so they come first.
        for &slot in unique.iter().flatten() {
            let name = original.program.text(original.vars[original.consts[slot]].name.symbol);
            if let Some(assigned) = trace.constants.iter().find(|assigned| assigned.name == name) {
                concrete.assigned(assigned);
            }
        }
        // So that all elements that occur are known before a map over them is spelled out.
        for assigned in trace.constants.iter().chain(&trace.initial) {
            concrete.assigned(assigned);
        }
        concrete.steps(trace);
        concrete
    }

    fn assigned(&self, assigned: &Assigned) -> Option<interp::Value> {
        self.value(&assigned.value, assigned.ty)
    }

    /// A value of a type of the translated program, if the interpreter has such values.
    fn value(&self, value: &Value, ty: Ty) -> Option<interp::Value> {
        Some(match (value, self.translated.types.kind(ty)) {
            (Value::Bool(value), _) => interp::Value::Bool(*value),
            (Value::Int(digits), TyKind::Real) => {
                interp::Value::Real(Ratio::new(digits.parse().ok()?, 1).ok()?)
            }
            (Value::Int(digits), _) => interp::Value::Int(digits.parse().ok()?),
            (Value::Real(num, den), _) => {
                interp::Value::Real(Ratio::new(num.parse().ok()?, den.parse().ok()?).ok()?)
            }
            (Value::Bv { width, bits }, _) => interp::Value::Bv { width: *width, bits: *bits },
            (Value::Element(name), TyKind::Con(..)) => {
                let ty = *self.types.get(&self.translated.show_type(ty))?;
                let mut elements = self.elements.borrow_mut();
                let known = elements.entry(ty).or_default();
                let number = known.iter().position(|element| element == name).unwrap_or_else(|| {
                    known.push(name.clone());
                    known.len() - 1
                });
                interp::Value::Element(ty, u32::try_from(number).ok()?)
            }
            (Value::Map { .. }, TyKind::Map(args, result)) => {
                let n_indices = n_indices(self.translated, args);
                let mut entries = Vec::new();
                let default = match self.flatten(value, args, *result, &mut Vec::new(), &mut entries) {
                    Some(default) => default,
                    None => {
                        entries.clear();
                        self.spell_out(value, args, *result, &mut entries)?
                    }
                };
                let mut map = MapValue::constant(default, n_indices);
                for (index, value) in entries {
                    map.set(index, value);
                }
                interp::Value::Map(Arc::new(map))
            }
            (Value::Element(_) | Value::Map { .. } | Value::Other(_), _) => return None,
        })
    }

    /// The entries of nested maps as entries of one with several indices, later ones first; the default of all.
    fn flatten(
        &self,
        value: &Value,
        args: &[Ty],
        result: Ty,
        index: &mut Vec<interp::Value>,
        entries: &mut Vec<(Vec<interp::Value>, interp::Value)>,
    ) -> Option<interp::Value> {
        let [first, rest @ ..] = args else {
            return self.value(value, result);
        };
        let Value::Map { entries: own, default } = value else { return None };
        let all = self.flatten(default, rest, result, index, &mut Vec::new())?;
        // Entries under a default index belong to no single index.
        if let Value::Map { entries: inner, .. } = &**default
            && !rest.is_empty()
            && !inner.is_empty()
        {
            return None;
        }
        for (key, inner) in own.iter().rev() {
            index.push(self.value(key, *first)?);
            if rest.is_empty() {
                entries.push((index.clone(), self.value(inner, result)?));
            } else if self.flatten(inner, rest, result, index, entries)? != all {
                return None;
            }
            index.pop();
        }
        Some(all)
    }

    /// The entries of a map whose indices are elements of uninterpreted types, one by one: the model has finitely many, and
    /// those that occur in the run are known.
    fn spell_out(
        &self,
        value: &Value,
        args: &[Ty],
        result: Ty,
        entries: &mut Vec<(Vec<interp::Value>, interp::Value)>,
    ) -> Option<interp::Value> {
        let mut tuples: Vec<(Vec<interp::Value>, &Value)> = vec![(Vec::new(), value)];
        for &arg in args {
            let ty = *self.types.get(&self.translated.show_type(arg))?;
            let names = self.elements.borrow().get(&ty).cloned().unwrap_or_default();
            let mut longer = Vec::new();
            for (index, map) in tuples {
                let Value::Map { entries, default } = map else { return None };
                for (number, name) in names.iter().enumerate() {
                    let is_it =
                        |(key, _): &&(Value, Value)| matches!(key, Value::Element(key) if key == name);
                    let inner = entries.iter().find(is_it).map_or(&**default, |(_, value)| value);
                    let element = interp::Value::Element(ty, u32::try_from(number).ok()?);
                    longer.push((index.iter().cloned().chain([element]).collect(), inner));
                }
            }
            tuples = longer;
        }
        for (index, value) in tuples {
            entries.push((index, self.value(value, result)?));
        }
        entries.first().map(|(_, value)| value.clone())
    }

    /// The value as the model has it.
    fn back(&self, value: &interp::Value) -> Option<Value> {
        Some(match value {
            interp::Value::Bool(value) => Value::Bool(*value),
            interp::Value::Int(value) => Value::Int(value.to_string()),
            interp::Value::Bv { width, bits } => Value::Bv { width: *width, bits: *bits },
            interp::Value::Element(ty, number) => {
                Value::Element(self.elements.borrow().get(ty)?.get(*number as usize)?.clone())
            }
            interp::Value::Real(_) | interp::Value::Map(_) | interp::Value::Task(_) => return None,
        })
    }

    /// What a function of the original gives, by its place in the interpreter's list.
    pub fn apply(&self, trace: &Trace, function: usize, args: &[interp::Value]) -> Option<interp::Value> {
        let functions = self.original.program.decls.iter().filter_map(|decl| match &decl.kind {
            allways_boogie::tree::DeclKind::Function(function) => Some(function.name.symbol),
            _ => None,
        });
        let name = functions.into_iter().nth(function)?;
        let args: Option<Vec<Value>> = args.iter().map(|arg| self.back(arg)).collect();
        let value = trace.model.apply(self.original.program.text(name), &args?)?;
        self.value(&value, *self.translated.function_results.get(&name)?)
    }

    fn named(&self, assigned: &[Assigned]) -> Named {
        assigned.iter().filter_map(|a| Some((a.name.clone(), self.assigned(a)?))).collect()
    }

    /// The steps of a run of the translated program.
    pub fn steps(&self, trace: &Trace) -> Vec<Step> {
        let step = |step: &TraceStep| match step {
            TraceStep::Enter { procedure, is_loop, args, locals } => Step::Enter {
                procedure: (!is_loop).then(|| procedure.clone()),
                values: self.named(args).into_iter().chain(self.named(locals)).collect(),
            },
            TraceStep::Leave { .. } => Step::Leave,
            TraceStep::Body(number) => Step::Body(*number),
            TraceStep::Stmt { stmt, values, way } => {
                Step::Stmt { stmt: *stmt, way: *way, values: self.named(values) }
            }
        };
        trace.steps.iter().map(step).collect()
    }

    /// The globals of the original at the start, by slot.
    pub fn initial(&self, done: &Sequentialized, trace: &Trace) -> Vec<Option<interp::Value>> {
        let of = |name| {
            let new = done.initials.iter().find(|(original, _)| *original == name);
            let new = done.program.text(new.map_or(name, |&(_, new)| new));
            self.assigned(trace.initial.iter().find(|assigned| assigned.name == new)?)
        };
        self.original.globals.iter().map(|&var| of(self.original.vars[var].name.symbol)).collect()
    }

    /// The constants of the original, by slot.
    pub fn constants(&self, trace: &Trace) -> Vec<Option<interp::Value>> {
        let of = |name: &str| self.assigned(trace.constants.iter().find(|assigned| assigned.name == name)?);
        let text = |&var| self.original.program.text(self.original.vars[var].name.symbol);
        self.original.consts.iter().map(|var| of(text(var))).collect()
    }

    /// A constant of the translated program.
    pub fn constant(&self, trace: &Trace, name: &str) -> Option<interp::Value> {
        self.assigned(trace.constants.iter().find(|assigned| assigned.name == name)?)
    }

    /// Values that occur, for questions that were not expected.
    pub fn pool(&self, done: &Sequentialized, trace: &Trace) -> Vec<interp::Value> {
        let mut pool = Vec::new();
        let choices = trace.steps.iter().filter_map(|step| match step {
            TraceStep::Stmt { stmt, values, .. } => {
                let is_choice = done.origins.get(stmt).is_none_or(|origin| origin.role == Role::Choice);
                is_choice.then_some(values)
            }
            TraceStep::Enter { .. } | TraceStep::Leave { .. } | TraceStep::Body(_) => None,
        });
        for assigned in trace.constants.iter().chain(choices.flatten()) {
            if let Some(value) = self.assigned(assigned)
                && !pool.contains(&value)
            {
                pool.push(value);
            }
        }
        pool
    }
}
