//! Foreign functions without a body in P.
//!
//! P lets a function be written in C# or Java; no engine here runs such code. So a run that calls one ends as *unknown*, unless a
//! body is given: by a file ([`stubs`] writes a first one), or by the policy *any* ([`any_bodies`]), under which a function
//! answers with every value of its type. That covers whatever the real function answers, as long as it has no other effect.
//! Types with too many values, and functions that specs call (which make no choices), are left without a body.

use std::fmt::Write as _;

use allways_base::{Idx, Symbol};
use allways_p::hir::{self, FunId, Program, Type, TypeId};

/// The most values that a function answers with under the policy *any*.
const MAX_VALUES: u64 = 1_000;

/// The functions without a body, in order of declaration.
fn missing(program: &Program) -> impl Iterator<Item = (FunId, &hir::Function)> {
    program.functions.iter_ids().filter(|(_, function)| function.body.is_none())
}

/// What the function is called, with its machine.
fn qualified_name(program: &Program, fun: FunId) -> String {
    let name = program.function_name(fun);
    match program.functions[fun].owner {
        Some(owner) => format!("{}.{name}", program.name(program.machines[owner].name)),
        None => name.to_owned(),
    }
}

/// The names of all functions without a body.
pub fn missing_names(program: &Program) -> Vec<String> {
    missing(program).map(|(id, _)| qualified_name(program, id)).collect()
}

/// A file for `--foreign` that gives every function without a body one that returns the default of its type. `None` if none is missing.
pub fn stubs(program: &Program) -> Option<String> {
    let mut text = "// Bodies in P for functions that the program declares as foreign. Each returns the default value of its type:\n\
                    // write what matters instead. Use the file with `--foreign FILE`, or name it in `allways.toml`:\n\
                    // foreign = [\"FILE\"]\n"
        .to_owned();
    for ty in &program.foreign_types {
        let name = program.name(ty.name);
        let _ = writeln!(
            text,
            "\n// The foreign type `{name}` can be given a definition, too:\n// type {name} = int;"
        );
    }
    let bodies = bodies(program, |_, function| {
        Some(match program.types.get(function.result) {
            Type::Null => String::new(),
            _ => format!("return default({});", type_text(program, function.result)),
        })
    });
    (!bodies.1.is_empty()).then(|| text + &bodies.0)
}

/// Bodies that answer with every value of the type, and the names of the functions that have one.
pub fn any_bodies(program: &Program) -> (String, Vec<String>) {
    let in_specs = called_by_specs(program);
    bodies(program, |id, function| {
        if in_specs[id.index()] {
            return None;
        }
        if let Type::Null = program.types.get(function.result) {
            return Some(String::new());
        }
        n_values(program, function.result).filter(|&n| n <= MAX_VALUES)?;
        let mut code =
            Code { program, function, n_locals: 0, declarations: String::new(), statements: String::new() };
        let value = code.any(function.result);
        Some(format!("{}{}return {value};", code.declarations, code.statements))
    })
}

/// A declaration for each missing function that `body` has code for, and their names.
fn bodies(
    program: &Program,
    body: impl Fn(FunId, &hir::Function) -> Option<String>,
) -> (String, Vec<String>) {
    let mut text = String::new();
    let mut names = Vec::new();
    for (id, function) in missing(program) {
        let Some(code) = body(id, function) else { continue };
        names.push(qualified_name(program, id));
        let params: Vec<String> = function
            .locals
            .iter()
            .take(function.n_params)
            .map(|param| format!("{}: {}", program.name(param.name), type_text(program, param.ty)))
            .collect();
        let result = match program.types.get(function.result) {
            Type::Null => String::new(),
            _ => format!(": {}", type_text(program, function.result)),
        };
        let declaration =
            format!("fun {}({}){result} {{ {code} }}", program.function_name(id), params.join(", "));
        let _ = match function.owner.map(|owner| &program.machines[owner]) {
            None => writeln!(text, "\n{declaration}"),
            Some(machine) => {
                let name = program.name(machine.name);
                let head = match machine.kind {
                    hir::MachineKind::Machine => format!("machine {name}"),
                    hir::MachineKind::Spec => format!("spec {name} observes {}", observed(program, machine)),
                    hir::MachineKind::Scenario => {
                        format!("scenario {name} observes {}", observed(program, machine))
                    }
                };
                writeln!(text, "\n{head} {{\n  {declaration}\n}}")
            }
        };
    }
    (text, names)
}

/// Some event that a monitor observes: the grammar wants one.
fn observed(program: &Program, machine: &hir::Machine) -> String {
    let mut events = program.events.iter_ids().filter(|(id, _)| machine.observes.contains(*id));
    events.next().map_or_else(|| "halt".to_owned(), |(_, event)| program.name(event.name).to_owned())
}

/// By function: whether code of a spec or scenario may call it.
fn called_by_specs(program: &Program) -> Vec<bool> {
    let mut is_called = vec![false; program.functions.len()];
    let mut open: Vec<FunId> = program
        .functions
        .iter_ids()
        .filter(|(_, function)| function.owner.is_some_and(|owner| program.machines[owner].is_monitor()))
        .map(|(id, _)| id)
        .collect();
    while let Some(fun) = open.pop() {
        if !std::mem::replace(&mut is_called[fun.index()], true) {
            open.extend(&program.functions[fun].callees);
        }
    }
    is_called
}

/// How many values a type has; `None` for those without a bound, or with too many to count.
fn n_values(program: &Program, ty: TypeId) -> Option<u64> {
    let product = |parts: &mut dyn Iterator<Item = TypeId>| {
        let mut all = 1u64;
        for part in parts {
            // Stops at once, so that a type that shares its parts costs no more than it is worth.
            all = all.checked_mul(n_values(program, part)?).filter(|&n| n <= MAX_VALUES)?;
        }
        Some(all)
    };
    match program.types.get(ty) {
        Type::Bool => Some(2),
        Type::Enum(id) => Some(program.enums[*id].elements.len() as u64),
        Type::Tuple(parts) => product(&mut parts.iter().copied()),
        Type::NamedTuple(fields) => product(&mut fields.iter().map(|&(_, ty)| ty)),
        Type::Error
        | Type::Null
        | Type::Int
        | Type::Float
        | Type::String
        | Type::Event
        | Type::Machine
        | Type::Any
        | Type::Data
        | Type::Seq(_)
        | Type::Set(_)
        | Type::Map(..)
        | Type::Foreign(_)
        | Type::Permission(..)
        | Type::Alias(_) => None,
    }
}

/// The body of one function, under the policy *any*.
struct Code<'a> {
    program: &'a Program,
    function: &'a hir::Function,
    n_locals: usize,
    declarations: String,
    statements: String,
}

impl Code<'_> {
    /// An expression that has any value of a finite type.
    fn any(&mut self, ty: TypeId) -> String {
        let program = self.program;
        match program.types.get(ty) {
            Type::Bool => "$".to_owned(),
            Type::Enum(id) => self.any_element(&program.enums[*id].elements, ty),
            Type::Tuple(parts) => {
                let parts: Vec<String> = parts.iter().map(|&part| self.any(part)).collect();
                list(&parts)
            }
            Type::NamedTuple(fields) => {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|&(name, ty)| format!("{} = {}", program.name(name), self.any(ty)))
                    .collect();
                list(&fields)
            }
            _ => format!("default({})", type_text(program, ty)),
        }
    }

    fn any_element(&mut self, elements: &[(Symbol, i64)], ty: TypeId) -> String {
        let program = self.program;
        let (value, answer) = (self.local(&type_text(program, ty)), self.local("int"));
        let _ = write!(self.statements, "{answer} = choose({}); ", elements.len());
        for (at, &(element, _)) in elements.iter().enumerate() {
            let _ =
                write!(self.statements, "if ({answer} == {at}) {{ {value} = {}; }} ", program.name(element));
        }
        value
    }

    /// A new variable, with a name that nothing else has here.
    fn local(&mut self, ty: &str) -> String {
        let program = self.program;
        loop {
            let name = format!("any_{}", self.n_locals);
            self.n_locals += 1;
            let is_param = self.function.locals.iter().any(|local| program.name(local.name) == name);
            let is_param = is_param || program.params.iter().any(|param| program.name(param.name) == name);
            if !is_param {
                let _ = write!(self.declarations, "var {name}: {ty}; ");
                return name;
            }
        }
    }
}

/// A tuple; one with a single field needs a comma.
fn list(fields: &[String]) -> String {
    let comma = if fields.len() == 1 { "," } else { "" };
    format!("({}{comma})", fields.join(", "))
}

/// The type as it is written in P, in full.
fn type_text(program: &Program, ty: TypeId) -> String {
    let all =
        |parts: &[TypeId]| parts.iter().map(|&part| type_text(program, part)).collect::<Vec<_>>().join(", ");
    match program.types.get(ty) {
        Type::Seq(element) => format!("seq[{}]", all(&[*element])),
        Type::Set(element) => format!("set[{}]", all(&[*element])),
        Type::Map(key, value) => format!("map[{}]", all(&[*key, *value])),
        Type::Tuple(parts) => format!("({})", all(parts)),
        Type::NamedTuple(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|&(name, ty)| format!("{}: {}", program.name(name), type_text(program, ty)))
                .collect();
            format!("({})", fields.join(", "))
        }
        Type::Enum(id) => program.name(program.enums[*id].name).to_owned(),
        Type::Foreign(id) => program.name(program.foreign_types[*id].name).to_owned(),
        Type::Permission(name, _) => program.name(*name).to_owned(),
        Type::Alias(_)
        | Type::Error
        | Type::Null
        | Type::Bool
        | Type::Int
        | Type::Float
        | Type::String
        | Type::Event
        | Type::Machine
        | Type::Any
        | Type::Data => program.types.show(ty, &program.symbols),
    }
}
