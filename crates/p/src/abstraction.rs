//! Predicate abstraction of types: is a value the distinguished one, or not?
//!
//! A foreign type of which a program only copies and compares values stands for an infinite set. One of its values is
//! *distinguished*; the abstract program knows of every value only whether it is that one (as PSYM, sections 6.1 and 7; with one value it is the data type
//! reduction of C. N. Ip and D. L. Dill, 1996). It is an ordinary typed program, so every engine runs it, and it has every
//! run of the program and maybe more:
//! - comparing two values that are not distinguished has either answer;
//! - a map keeps the entry of the distinguished key; of all other keys it only knows whether there may be some. Looking one up finds
//!   nothing, or any value;
//! - foreign functions of declared roles return the distinguished value, any value, or any value except their argument.
//!
//! What would need more than that (sizes and enumerations of such maps and sets, comparisons of collections that hold such values, texts
//! of them, casts) is a [`Problem`], so nothing is approximated in silence.
//!
//! An *instance* gives the same foreign functions bodies over a few numbers. Every run of it is a run of the program, so that a
//! violation found in it is real.

use allways_base::words::count;
use allways_base::{Idx, IndexVec, Span, Symbol};
use rustc_hash::FxHashMap;

use crate::hir::{
    BinaryOp, Body, Effects, Expr, ExprId, ExprKind, FunId, FunKind, Function, LocalId, PathKind, PathStep,
    Place, PlaceRoot, Program, Stmt, StmtId, StmtKind, Variable,
};
use crate::types::{Type, TypeId, Types};

/// A type and the foreign functions that make its values, by name.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct AbstractType {
    pub name: String,
    /// Return the distinguished value.
    pub distinguished: Vec<String>,
    /// Return any value.
    pub any: Vec<String>,
    /// Return any value except their argument.
    pub except: Vec<String>,
}

/// Why a program cannot be abstracted like that.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Problem {
    pub message: String,
    pub span: Option<Span>,
}

/// The distinguished value, and any other, as the abstract program has them.
const DISTINGUISHED: i64 = 0;
const OTHER: i64 = 1;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    Distinguished,
    Any,
    Except,
}

/// The program in which values of these types are the distinguished one or not.
///
/// # Errors
/// What the abstraction has no meaning for.
pub fn abstracted(program: &Program, types: &[AbstractType]) -> Result<Program, Vec<Problem>> {
    let mut pass = Pass::new(program, types)?;
    for (fun, role, ty) in pass.roles.clone() {
        let body = pass.abstract_body(role, ty, fun);
        pass.give_body(fun, body);
    }
    let funs: Vec<FunId> = program.functions.ids().collect();
    for fun in funs {
        if pass.roles.iter().all(|(known, _, _)| *known != fun) {
            pass.rewrite(fun);
        }
    }
    if pass.problems.is_empty() { Ok(pass.program) } else { Err(pass.problems) }
}

/// The program in which these types have so many values, at least two.
///
/// # Errors
/// When a type or function that is named does not exist, or does not have its role.
pub fn instance(program: &Program, types: &[AbstractType], n_values: u32) -> Result<Program, Vec<Problem>> {
    let mut pass = Pass::new(program, types)?;
    for (fun, role, ty) in pass.roles.clone() {
        let body = pass.instance_body(role, ty, fun, i64::from(n_values.max(2)));
        pass.give_body(fun, body);
    }
    Ok(pass.program)
}

struct Pass {
    program: Program,
    abstract_types: Vec<TypeId>,
    roles: Vec<(FunId, Role, TypeId)>,
    problems: Vec<Problem>,
    /// Helper functions, by what they do to which type.
    helpers: FxHashMap<(Helper, TypeId), FunId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Helper {
    /// Whether two values are the same.
    Same,
    /// Whether a set or map has a key.
    In,
    /// The value of a key.
    Get,
    /// Any value.
    Havoc,
}

impl Pass {
    fn new(program: &Program, types: &[AbstractType]) -> Result<Self, Vec<Problem>> {
        let mut pass = Pass {
            program: program.clone(),
            abstract_types: Vec::new(),
            roles: Vec::new(),
            problems: Vec::new(),
            helpers: FxHashMap::default(),
        };
        for wanted in types {
            let known = pass.program.foreign_types.iter().find(|it| program.name(it.name) == wanted.name);
            let Some(known) = known else {
                let message = format!("there is no foreign type `{}` to abstract", wanted.name);
                pass.problems.push(Problem { message, span: None });
                continue;
            };
            let Some(ty) = pass.program.types.foreign_named(known.name) else { continue };
            pass.abstract_types.push(ty);
            let roles = [
                (Role::Distinguished, &wanted.distinguished, 0),
                (Role::Any, &wanted.any, 0),
                (Role::Except, &wanted.except, 1),
            ];
            for (role, names, n_params) in roles {
                for name in names {
                    pass.add_role(role, name, n_params, ty);
                }
            }
        }
        if pass.problems.is_empty() { Ok(pass) } else { Err(pass.problems) }
    }

    fn add_role(&mut self, role: Role, name: &str, n_params: usize, ty: TypeId) {
        let program = &self.program;
        let is_it = |it: &Function| it.body.is_none() && it.name.is_some_and(|it| program.name(it) == name);
        let found =
            program.functions.ids().map(|fun| (fun, &program.functions[fun])).find(|(_, it)| is_it(it));
        let problem = match found {
            None => Some((format!("there is no foreign function `{name}`"), None)),
            Some((_, it)) if it.result != ty || it.n_params != n_params => {
                let what = format!(
                    "`{name}` must return the abstract type and have {}",
                    count(n_params, "parameter")
                );
                Some((what, Some(it.span)))
            }
            Some((fun, _)) => {
                self.roles.push((fun, role, ty));
                None
            }
        };
        self.problems.extend(problem.map(|(message, span)| Problem { message, span }));
    }

    fn give_body(&mut self, fun: FunId, body: Body) {
        let function = &mut self.program.functions[fun];
        function.body = Some(body);
        function.effects.nondet = true;
    }

    fn is_abstract(&self, ty: TypeId) -> bool {
        self.abstract_types.contains(&ty)
    }

    /// Whether values of a type may hold one of an abstract type.
    fn holds(&self, ty: TypeId) -> bool {
        let kind = self.program.types.get(ty);
        matches!(kind, Type::Any | Type::Data)
            || self.is_abstract(ty)
            || kind.parts().any(|part| self.holds(part))
    }

    /// What a set or map is about: the type of its elements or keys.
    fn key_of(&self, ty: TypeId) -> Option<TypeId> {
        match self.program.types.get(ty) {
            Type::Set(key) | Type::Map(key, _) => Some(*key),
            _ => None,
        }
    }

    fn value_of(&self, ty: TypeId) -> TypeId {
        match self.program.types.get(ty) {
            Type::Map(_, value) => *value,
            _ => Types::NULL,
        }
    }

    fn problem(&mut self, span: Span, what: &str) {
        let message = format!("not supported: {what}");
        let problem = Problem { message, span: Some(span) };
        if !self.problems.contains(&problem) {
            self.problems.push(problem);
        }
    }

    // Functions that are made.

    fn abstract_body(&mut self, role: Role, ty: TypeId, fun: FunId) -> Body {
        let mut build = Build::new(self.program.functions[fun].span);
        match role {
            Role::Distinguished => build.returns(ExprKind::Int(DISTINGUISHED), ty),
            Role::Any => {
                let answer = build.choose(2);
                build.return_expr(answer);
            }
            Role::Except => {
                let is_distinguished = build.is_local(0, DISTINGUISHED, ty);
                let other = build.return_of(ExprKind::Int(OTHER), ty);
                build.when(is_distinguished, other);
                let answer = build.choose(2);
                build.return_expr(answer);
            }
        }
        build.body
    }

    fn instance_body(&mut self, role: Role, ty: TypeId, fun: FunId, n_values: i64) -> Body {
        let mut build = Build::new(self.program.functions[fun].span);
        match role {
            Role::Distinguished => build.returns(ExprKind::Int(DISTINGUISHED), ty),
            Role::Any => {
                let answer = build.choose(n_values);
                build.return_expr(answer);
            }
            Role::Except => {
                // A number below the rest, moved up by one from the argument on.
                let name = self.program.functions[fun].locals[LocalId::new(0)].name;
                let span = self.program.functions[fun].span;
                let chosen = self.program.functions[fun].locals.push(Variable { name, span, ty: Types::INT });
                let argument = build.local(LocalId::new(0), ty);
                let null = build.expr(ExprKind::Null, Types::NULL);
                let is_null = build.expr(ExprKind::Binary(BinaryOp::Eq, argument, null), Types::BOOL);
                let all = build.choose(n_values);
                let all = build.stmt(StmtKind::Return(Some(all)));
                build.when(is_null, all);
                let fewer = build.choose(n_values - 1);
                build.assign(chosen, Types::INT, fewer);
                let argument = build.local(LocalId::new(0), ty);
                let found = build.local(chosen, Types::INT);
                let is_below = build.expr(ExprKind::Binary(BinaryOp::Lt, found, argument), Types::BOOL);
                let found = build.local(chosen, Types::INT);
                let low = build.stmt(StmtKind::Return(Some(found)));
                build.when(is_below, low);
                let (found, one) = (build.local(chosen, Types::INT), build.int(1));
                let moved = build.expr(ExprKind::Binary(BinaryOp::Add, found, one), Types::INT);
                build.return_expr(moved);
            }
        }
        build.body
    }

    fn helper(&mut self, helper: Helper, ty: TypeId, span: Span, name: Symbol) -> FunId {
        if let Some(&known) = self.helpers.get(&(helper, ty)) {
            return known;
        }
        let mut build = Build::new(span);
        let params: Vec<TypeId>;
        let result;
        match helper {
            Helper::Same => {
                params = vec![ty, ty];
                result = Types::BOOL;
                let (a, b) = (build.is_local(0, OTHER, ty), build.is_local(1, OTHER, ty));
                let either = build.return_of(ExprKind::Nondet { fair: false }, Types::BOOL);
                let inner = build.if_stmt(b, either);
                build.when(a, inner);
                let (a, b) = (build.local(LocalId::new(0), ty), build.local(LocalId::new(1), ty));
                build.returns(ExprKind::Binary(BinaryOp::Eq, a, b), Types::BOOL);
            }
            Helper::In => {
                let key = self.key_of(ty).unwrap_or(ty);
                params = vec![key, ty];
                result = Types::BOOL;
                let has_other = build.has_other(1, ty);
                let either = build.return_of(ExprKind::Nondet { fair: false }, Types::BOOL);
                let some = build.if_stmt(has_other, either);
                let none = build.return_of(ExprKind::Bool(false), Types::BOOL);
                let block = build.stmt(StmtKind::Block(vec![some, none]));
                let is_other = build.is_local(0, OTHER, key);
                build.when(is_other, block);
                let (key, all) = (build.local(LocalId::new(0), key), build.local(LocalId::new(1), ty));
                build.returns(ExprKind::Binary(BinaryOp::In, key, all), Types::BOOL);
            }
            Helper::Get => {
                let (key, value) = (self.key_of(ty).unwrap_or(ty), self.value_of(ty));
                params = vec![ty, key];
                result = value;
                // Nothing, or anything.
                let empty = build.expr(ExprKind::Default(ty), ty);
                let at = build.local(LocalId::new(1), key);
                let missing = build.return_of(ExprKind::Index(empty, at), value);
                let either = build.expr(ExprKind::Nondet { fair: false }, Types::BOOL);
                let missing = build.if_stmt(either, missing);
                let any = self.havoc(&mut build, value, span, name);
                let any = build.stmt(StmtKind::Return(Some(any)));
                let block = build.stmt(StmtKind::Block(vec![missing, any]));
                let has_other = build.has_other(0, ty);
                let some = build.if_stmt(has_other, block);
                let is_other = build.is_local(1, OTHER, key);
                build.when(is_other, some);
                let (all, at) = (build.local(LocalId::new(0), ty), build.local(LocalId::new(1), key));
                build.returns(ExprKind::Index(all, at), value);
            }
            Helper::Havoc => {
                params = Vec::new();
                result = ty;
                let answers: Vec<ExprKind> = match self.program.types.get(ty) {
                    Type::Enum(id) => {
                        let elements = &self.program.enums[*id].elements;
                        elements.iter().map(|&(_, number)| ExprKind::EnumElement(number)).collect()
                    }
                    // A variable that was never set is null.
                    _ => vec![ExprKind::Null, ExprKind::Int(DISTINGUISHED), ExprKind::Int(OTHER)],
                };
                let n = answers.len();
                for (at, answer) in answers.into_iter().enumerate() {
                    let answer = build.return_of(answer, ty);
                    if at + 1 == n {
                        build.body.block.push(answer);
                    } else {
                        let either = build.expr(ExprKind::Nondet { fair: false }, Types::BOOL);
                        build.when(either, answer);
                    }
                }
            }
        }
        let locals: IndexVec<LocalId, Variable> =
            params.iter().map(|&ty| Variable { name, span, ty }).collect();
        let callees = build.callees;
        let fun = self.program.functions.push(Function {
            name: None,
            span,
            kind: FunKind::Named,
            owner: None,
            n_params: params.len(),
            locals,
            result,
            body: Some(build.body),
            effects: Effects { nondet: true, ..Effects::default() },
            callees,
            foreign_creates: Vec::new(),
        });
        self.helpers.insert((helper, ty), fun);
        fun
    }

    /// Any value of a type, if that can be said in a few words.
    fn havoc(&mut self, build: &mut Build, ty: TypeId, span: Span, name: Symbol) -> ExprId {
        let kind = match self.program.types.get(ty).clone() {
            Type::Bool => ExprKind::Nondet { fair: false },
            Type::Null => ExprKind::Null,
            Type::Enum(_) => {
                let fun = self.helper(Helper::Havoc, ty, span, name);
                build.callees.push(fun);
                ExprKind::Call(fun, Vec::new())
            }
            Type::Foreign(_) if self.is_abstract(ty) => {
                let fun = self.helper(Helper::Havoc, ty, span, name);
                build.callees.push(fun);
                ExprKind::Call(fun, Vec::new())
            }
            Type::Tuple(parts) => {
                ExprKind::Tuple(parts.iter().map(|&part| self.havoc(build, part, span, name)).collect())
            }
            Type::NamedTuple(fields) => ExprKind::NamedTuple(
                fields.iter().map(|&(field, part)| (field, self.havoc(build, part, span, name))).collect(),
            ),
            _ => {
                self.problem(span, "a look-up in a map with abstract keys, unless its values are bools, enums or abstract, or tuples of these");
                ExprKind::Null
            }
        };
        build.expr(kind, ty)
    }

    // Functions that are there.

    fn rewrite(&mut self, fun: FunId) {
        let Some(body) = self.program.functions[fun].body.take() else { return };
        let function = &self.program.functions[fun];
        let name = function.name.or(function.locals.iter().next().map(|local| local.name));
        let name = name.or_else(|| self.program.foreign_types.iter().next().map(|it| it.name));
        let Some(name) = name else { return };
        let mut rewriting = Rewriting {
            build: Build { body, ..Build::new(function.span) },
            locals: function.locals.clone(),
            name,
        };
        let texts = rewriting.shown_texts();
        for at in 0..rewriting.build.body.exprs.len() {
            self.rewrite_expr(&mut rewriting, ExprId::new(at), &texts);
        }
        for at in 0..rewriting.build.body.stmts.len() {
            self.rewrite_stmt(&mut rewriting, StmtId::new(at));
        }
        let function = &mut self.program.functions[fun];
        function.body = Some(rewriting.build.body);
        function.locals = rewriting.locals;
        function.effects.nondet |= !rewriting.build.callees.is_empty();
        for callee in rewriting.build.callees {
            if !function.callees.contains(&callee) {
                function.callees.push(callee);
            }
        }
    }

    fn rewrite_expr(&mut self, rewriting: &mut Rewriting, id: ExprId, shown: &[ExprId]) {
        let Expr { kind, ty, span } = rewriting.build.body.exprs[id].clone();
        let type_of = |rewriting: &Rewriting, id: ExprId| rewriting.build.body.exprs[id].ty;
        match kind {
            ExprKind::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                let (ta, tb) = (type_of(rewriting, a), type_of(rewriting, b));
                let abstract_type = [ta, tb].into_iter().find(|&ty| self.is_abstract(ty));
                match abstract_type {
                    Some(of) if [ta, tb].iter().all(|&ty| ty == of || ty == Types::NULL) => {
                        let fun = self.helper(Helper::Same, of, span, rewriting.name);
                        rewriting.build.callees.push(fun);
                        let call = ExprKind::Call(fun, vec![a, b]);
                        rewriting.build.body.exprs[id].kind = match op {
                            BinaryOp::Eq => call,
                            _ => ExprKind::Not(rewriting.build.body.exprs.push(Expr {
                                kind: call,
                                ty: Types::BOOL,
                                span,
                            })),
                        };
                    }
                    None if ![ta, tb].iter().any(|&ty| self.holds(ty)) || [ta, tb].contains(&Types::NULL) => {
                    }
                    _ => self.problem(span, "comparing values that may hold abstract ones"),
                }
            }
            ExprKind::Binary(BinaryOp::In, _, collection) => {
                let of = type_of(rewriting, collection);
                match self.key_of(of) {
                    Some(key) if self.is_abstract(key) => {
                        let fun = self.helper(Helper::In, of, span, rewriting.name);
                        rewriting.build.callees.push(fun);
                        let ExprKind::Binary(_, key, collection) = kind else { return };
                        rewriting.build.body.exprs[id].kind = ExprKind::Call(fun, vec![key, collection]);
                    }
                    Some(key) if !self.holds(key) => {}
                    None if !self.holds(of) => {}
                    _ => self.problem(span, "`in` with values that may hold abstract ones"),
                }
            }
            ExprKind::Index(collection, index) => {
                let of = type_of(rewriting, collection);
                match (self.program.types.get(of).clone(), self.key_of(of)) {
                    (Type::Map(..), Some(key)) if self.is_abstract(key) => {
                        let fun = self.helper(Helper::Get, of, span, rewriting.name);
                        rewriting.build.callees.push(fun);
                        rewriting.build.body.exprs[id].kind = ExprKind::Call(fun, vec![collection, index]);
                    }
                    (_, Some(key)) if self.holds(key) => {
                        self.problem(span, "an index into a collection of abstract values");
                    }
                    _ => {}
                }
            }
            ExprKind::Keys(e) | ExprKind::Values(e) | ExprKind::Sizeof(e) | ExprKind::Choose(Some(e)) => {
                let of = type_of(rewriting, e);
                let is_any = matches!(self.program.types.get(of), Type::Any | Type::Data);
                if is_any || self.key_of(of).is_some_and(|key| self.holds(key)) {
                    self.problem(span, "size, keys, values or elements of a collection of abstract values");
                }
            }
            ExprKind::Format(_, args) => {
                if !shown.contains(&id) && args.iter().any(|&arg| self.holds(type_of(rewriting, arg))) {
                    self.problem(span, "the text of an abstract value");
                }
            }
            ExprKind::Cast(e) | ExprKind::Coerce(e) => {
                // A number that is in truth an abstract value would be distinguished from others.
                if self.is_abstract(ty) || self.holds(type_of(rewriting, e)) {
                    self.problem(span, "a cast of abstract values");
                }
            }
            _ => {}
        }
    }

    /// The holder of each step of a path.
    fn holders(&self, place: &Place) -> Vec<TypeId> {
        std::iter::once(place.root_ty).chain(place.path.iter().map(|step| step.ty)).collect()
    }

    /// Whether a path leads through a collection with abstract keys before its last step.
    fn check_path(&mut self, place: &Place, n_steps: usize) {
        let holders = self.holders(place);
        for (step, &holder) in place.path[..n_steps].iter().zip(&holders) {
            let is_index = matches!(step.kind, PathKind::Index(_));
            if is_index && self.key_of(holder).is_some_and(|key| self.holds(key)) {
                self.problem(step.span, "a change inside a value of a map with abstract keys");
            }
        }
    }

    fn rewrite_stmt(&mut self, rewriting: &mut Rewriting, id: StmtId) {
        let Stmt { kind, span } = rewriting.build.body.stmts[id].clone();
        rewriting.build.span = span;
        match kind {
            StmtKind::Assign { place, value } => {
                let n = place.path.len();
                let holders = self.holders(&place);
                let Some(PathStep { kind: PathKind::Index(key), .. }) = place.path.last().cloned() else {
                    return self.check_path(&place, n);
                };
                self.check_path(&place, n - 1);
                let holder = holders[n - 1];
                let Some(key_type) = self.key_of(holder).filter(|&key| self.holds(key)) else { return };
                if !self.is_abstract(key_type) {
                    return self.problem(span, "a map with keys that may hold abstract values");
                }
                let (of_key, of_value) = (key_type, self.value_of(holder));
                let (key, set_key) = rewriting.keep(key, of_key);
                let (value, set_value) = rewriting.keep(value, of_value);
                let holder = Place { path: place.path[..n - 1].to_vec(), ty: holder, ..place };
                let mark = rewriting.set_entry(&holder, key, of_key, None, of_value);
                let exact = rewriting.set_entry(&holder, key, of_key, Some(value), of_value);
                let change = rewriting.by_key(key, of_key, mark, Some(exact));
                rewriting.build.body.stmts[id].kind = StmtKind::Block(vec![set_key, set_value, change]);
            }
            StmtKind::Insert { place, key, value } => {
                self.check_path(&place, place.path.len());
                let Some(of_key) = self.key_of(place.ty).filter(|&key| self.holds(key)) else { return };
                if !self.is_abstract(of_key) {
                    return self.problem(span, "a map with keys that may hold abstract values");
                }
                let of_value = self.value_of(place.ty);
                let (key, set_key) = rewriting.keep(key, of_key);
                let (value, set_value) = rewriting.keep(value, of_value);
                // The key is new, or it is there already.
                let mark = rewriting.set_entry(&place, key, of_key, None, of_value);
                let nothing = rewriting.build.expr(ExprKind::Default(of_value), of_value);
                let fails = rewriting.insert(&place, key, of_key, nothing);
                let either = rewriting.build.expr(ExprKind::Nondet { fair: false }, Types::BOOL);
                let other =
                    rewriting.build.stmt(StmtKind::If { arms: vec![(either, mark)], otherwise: Some(fails) });
                let value = rewriting.build.local(value, of_value);
                let exact = rewriting.insert(&place, key, of_key, value);
                let change = rewriting.by_key(key, of_key, other, Some(exact));
                rewriting.build.body.stmts[id].kind = StmtKind::Block(vec![set_key, set_value, change]);
            }
            StmtKind::Add { place, .. } => {
                self.check_path(&place, place.path.len());
                if self.key_of(place.ty).is_some_and(|key| self.holds(key) && !self.is_abstract(key)) {
                    self.problem(span, "a set of values that may hold abstract ones");
                }
            }
            StmtKind::Remove { place, key } => {
                self.check_path(&place, place.path.len());
                let Some(of_key) = self.key_of(place.ty).filter(|&key| self.holds(key)) else { return };
                if !self.is_abstract(of_key) {
                    return self.problem(span, "a collection of values that may hold abstract ones");
                }
                // Another key may stay.
                let (key, set_key) = rewriting.keep(key, of_key);
                let nothing = rewriting.build.stmt(StmtKind::Block(Vec::new()));
                let at = rewriting.build.local(key, of_key);
                let exact = rewriting.build.stmt(StmtKind::Remove { place, key: at });
                let change = rewriting.by_key(key, of_key, nothing, Some(exact));
                rewriting.build.body.stmts[id].kind = StmtKind::Block(vec![set_key, change]);
            }
            StmtKind::Foreach { collection, .. } => {
                let of = rewriting.build.body.exprs[collection].ty;
                let is_any = matches!(self.program.types.get(of), Type::Any | Type::Data);
                if is_any || self.key_of(of).is_some_and(|key| self.holds(key)) {
                    self.problem(span, "a loop over a collection of abstract values");
                }
            }
            _ => {}
        }
    }
}

/// A function that is changed.
struct Rewriting {
    build: Build,
    locals: IndexVec<LocalId, Variable>,
    /// For locals that are made.
    name: Symbol,
}

impl Rewriting {
    /// Texts that are only shown: printed, or the message of an assertion.
    fn shown_texts(&self) -> Vec<ExprId> {
        let of = |stmt: &Stmt| match stmt.kind {
            StmtKind::Print(text) => Some(text),
            StmtKind::Assert { message, .. } => message,
            _ => None,
        };
        self.build.body.stmts.iter().filter_map(of).collect()
    }

    /// Keeps a value in a new local.
    fn keep(&mut self, value: ExprId, ty: TypeId) -> (LocalId, StmtId) {
        let local = self.locals.push(Variable { name: self.name, span: self.build.span, ty });
        (local, self.build.assignment(local, ty, value))
    }

    /// `place[key] = value`, or some value if there is none to keep.
    fn set_entry(
        &mut self,
        place: &Place,
        key: LocalId,
        of_key: TypeId,
        value: Option<LocalId>,
        of_value: TypeId,
    ) -> StmtId {
        let at = self.build.local(key, of_key);
        let mut path = place.path.clone();
        path.push(PathStep { kind: PathKind::Index(at), ty: of_value, span: self.build.span });
        let value = match value {
            Some(value) => self.build.local(value, of_value),
            None => self.build.expr(ExprKind::Default(of_value), of_value),
        };
        let place = Place { path, ty: of_value, ..place.clone() };
        self.build.stmt(StmtKind::Assign { place, value })
    }

    fn insert(&mut self, place: &Place, key: LocalId, of_key: TypeId, value: ExprId) -> StmtId {
        let key = self.build.local(key, of_key);
        self.build.stmt(StmtKind::Insert { place: place.clone(), key, value })
    }

    /// One statement for keys that are not distinguished, another for all else.
    fn by_key(&mut self, key: LocalId, of_key: TypeId, other: StmtId, otherwise: Option<StmtId>) -> StmtId {
        let (key, number) =
            (self.build.local(key, of_key), self.build.expr(ExprKind::Int(OTHER), Types::INT));
        let is_other = self.build.expr(ExprKind::Binary(BinaryOp::Eq, key, number), Types::BOOL);
        self.build.stmt(StmtKind::If { arms: vec![(is_other, other)], otherwise })
    }
}

/// A body that is made.
struct Build {
    body: Body,
    span: Span,
    callees: Vec<FunId>,
}

impl Build {
    fn new(span: Span) -> Self {
        Build { body: Body::default(), span, callees: Vec::new() }
    }

    fn expr(&mut self, kind: ExprKind, ty: TypeId) -> ExprId {
        self.body.exprs.push(Expr { kind, ty, span: self.span })
    }

    fn stmt(&mut self, kind: StmtKind) -> StmtId {
        self.body.stmts.push(Stmt { kind, span: self.span })
    }

    fn local(&mut self, local: LocalId, ty: TypeId) -> ExprId {
        self.expr(ExprKind::Local(local), ty)
    }

    fn int(&mut self, n: i64) -> ExprId {
        self.expr(ExprKind::Int(n), Types::INT)
    }

    fn choose(&mut self, n: i64) -> ExprId {
        let n = self.int(n);
        self.expr(ExprKind::Choose(Some(n)), Types::INT)
    }

    /// Whether a parameter is a number.
    fn is_local(&mut self, at: usize, number: i64, ty: TypeId) -> ExprId {
        let (local, number) = (self.local(LocalId::new(at), ty), self.int(number));
        self.expr(ExprKind::Binary(BinaryOp::Eq, local, number), Types::BOOL)
    }

    /// Whether a collection, which is a parameter, may have a key that is not distinguished.
    fn has_other(&mut self, at: usize, ty: TypeId) -> ExprId {
        let (number, all) = (self.int(OTHER), self.local(LocalId::new(at), ty));
        self.expr(ExprKind::Binary(BinaryOp::In, number, all), Types::BOOL)
    }

    fn return_of(&mut self, kind: ExprKind, ty: TypeId) -> StmtId {
        let value = self.expr(kind, ty);
        self.stmt(StmtKind::Return(Some(value)))
    }

    fn if_stmt(&mut self, cond: ExprId, then: StmtId) -> StmtId {
        self.stmt(StmtKind::If { arms: vec![(cond, then)], otherwise: None })
    }

    fn when(&mut self, cond: ExprId, then: StmtId) {
        let stmt = self.if_stmt(cond, then);
        self.body.block.push(stmt);
    }

    fn return_expr(&mut self, value: ExprId) {
        let stmt = self.stmt(StmtKind::Return(Some(value)));
        self.body.block.push(stmt);
    }

    fn returns(&mut self, kind: ExprKind, ty: TypeId) {
        let stmt = self.return_of(kind, ty);
        self.body.block.push(stmt);
    }

    fn assign(&mut self, local: LocalId, ty: TypeId, value: ExprId) {
        let stmt = self.assignment(local, ty, value);
        self.body.block.push(stmt);
    }

    fn assignment(&mut self, local: LocalId, ty: TypeId, value: ExprId) -> StmtId {
        let (root, span) = (PlaceRoot::Local(local), self.span);
        let place = Place { root, path: Vec::new(), root_ty: ty, ty, span };
        self.stmt(StmtKind::Assign { place, value })
    }
}
