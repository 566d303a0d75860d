//! Terms: expressions as the solver will see them, still over program variables.
//!
//! Heads are SMT-LIB text. What is left open is which constant stands for a program variable
//! ([`TermKind::Var`]); the passive form decides that when it renders a term. Terms may be as deep as
//! the source has long chains, so all walks here are loops.

use allways_base::IndexVec;
use allways_boogie::check::Ty;

allways_base::newtype_ids! {
    /// A term.
    TermId = "t";
    /// A program variable of a flow graph: global, parameter, result, local or helper.
    VarRef = "x";
}

#[derive(Clone, Debug)]
pub enum TermKind {
    Var(VarRef),
    /// A variable of a quantifier or `let` around, by a number that is unique in the program.
    Bound(u32),
    /// A literal or a constant, as SMT-LIB text.
    Atom(String),
    App(String, Vec<TermId>),
    Quantified {
        forall: bool,
        vars: Vec<(u32, Ty)>,
        triggers: Vec<Vec<TermId>>,
        body: TermId,
    },
    /// A map given by its values; only some solvers have these.
    Lambda {
        vars: Vec<(u32, Ty)>,
        body: TermId,
    },
    /// The values do not see the variables.
    Let {
        vars: Vec<(u32, TermId)>,
        body: TermId,
    },
}

#[derive(Default, Debug)]
pub struct Terms {
    nodes: IndexVec<TermId, TermKind>,
}

impl Terms {
    pub fn add(&mut self, kind: TermKind) -> TermId {
        self.nodes.push(kind)
    }

    pub fn kind(&self, id: TermId) -> &TermKind {
        &self.nodes[id]
    }

    pub fn atom(&mut self, text: impl Into<String>) -> TermId {
        self.add(TermKind::Atom(text.into()))
    }

    pub fn bool(&mut self, value: bool) -> TermId {
        self.atom(if value { "true" } else { "false" })
    }

    pub fn var(&mut self, var: VarRef) -> TermId {
        self.add(TermKind::Var(var))
    }

    pub fn app(&mut self, head: &str, args: Vec<TermId>) -> TermId {
        self.add(TermKind::App(head.to_owned(), args))
    }

    pub fn not(&mut self, arg: TermId) -> TermId {
        match self.kind(arg) {
            TermKind::App(head, args) if head == "not" => args[0],
            TermKind::Atom(text) if text == "true" => self.bool(false),
            TermKind::Atom(text) if text == "false" => self.bool(true),
            _ => self.app("not", vec![arg]),
        }
    }

    pub fn is_true(&self, id: TermId) -> bool {
        matches!(self.kind(id), TermKind::Atom(text) if text == "true")
    }

    pub fn is_false(&self, id: TermId) -> bool {
        matches!(self.kind(id), TermKind::Atom(text) if text == "false")
    }

    /// Calls `f` on the parts of a term, triggers included.
    fn parts(&self, id: TermId, mut f: impl FnMut(TermId)) {
        match &self.nodes[id] {
            TermKind::Var(_) | TermKind::Bound(_) | TermKind::Atom(_) => {}
            TermKind::App(_, args) => args.iter().copied().for_each(f),
            TermKind::Quantified { triggers, body, .. } => {
                triggers.iter().flatten().copied().for_each(&mut f);
                f(*body);
            }
            TermKind::Lambda { body, .. } => f(*body),
            TermKind::Let { vars, body } => {
                vars.iter().for_each(|&(_, value)| f(value));
                f(*body);
            }
        }
    }

    /// Calls `f` on every node below and including `root`, some more than once.
    pub fn walk<'a>(&'a self, root: TermId, mut f: impl FnMut(&'a TermKind)) {
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            f(&self.nodes[id]);
            self.parts(id, |part| work.push(part));
        }
    }

    /// The same with the ids of the nodes.
    pub fn walk_ids(&self, root: TermId, mut f: impl FnMut(TermId)) {
        let mut work = vec![root];
        while let Some(id) = work.pop() {
            f(id);
            self.parts(id, |part| work.push(part));
        }
    }

    /// Whether a term mentions a variable, of the program or bound.
    pub fn has_variables(&self, root: TermId) -> bool {
        let mut found = false;
        self.walk(root, |kind| found |= matches!(kind, TermKind::Var(_) | TermKind::Bound(_)));
        found
    }

    /// The program variables of a term, in order of first use.
    pub fn vars_of(&self, root: TermId) -> Vec<VarRef> {
        let mut vars = Vec::new();
        self.walk(root, |kind| {
            if let TermKind::Var(var) = kind
                && !vars.contains(var)
            {
                vars.push(*var);
            }
        });
        vars
    }

    /// Replaces program variables by terms. Nodes in which nothing changes are shared.
    pub fn replace_vars(&mut self, root: TermId, pairs: &[(VarRef, TermId)]) -> TermId {
        enum Work {
            Visit(TermId),
            Build(TermId),
        }
        let mut work = vec![Work::Visit(root)];
        let mut done: Vec<TermId> = Vec::new();
        while let Some(item) = work.pop() {
            match item {
                Work::Visit(id) => match &self.nodes[id] {
                    TermKind::Var(var) => {
                        let new = pairs.iter().find(|(old, _)| old == var).map_or(id, |&(_, term)| term);
                        done.push(new);
                    }
                    TermKind::Bound(_) | TermKind::Atom(_) => done.push(id),
                    TermKind::App(..)
                    | TermKind::Quantified { .. }
                    | TermKind::Lambda { .. }
                    | TermKind::Let { .. } => {
                        work.push(Work::Build(id));
                        let at = work.len();
                        self.parts(id, |part| work.push(Work::Visit(part)));
                        work[at..].reverse();
                    }
                },
                Work::Build(id) => {
                    let mut n_parts = 0;
                    self.parts(id, |_| n_parts += 1);
                    let mut parts = done.split_off(done.len() - n_parts).into_iter();
                    let mut kind = self.nodes[id].clone();
                    let mut take = |slot: &mut TermId| {
                        if let Some(part) = parts.next() {
                            *slot = part;
                        }
                    };
                    match &mut kind {
                        TermKind::Var(_) | TermKind::Bound(_) | TermKind::Atom(_) => {}
                        TermKind::App(_, args) => args.iter_mut().for_each(take),
                        TermKind::Quantified { triggers, body, .. } => {
                            triggers.iter_mut().flatten().for_each(&mut take);
                            take(body);
                        }
                        TermKind::Lambda { body, .. } => take(body),
                        TermKind::Let { vars, body } => {
                            vars.iter_mut().for_each(|(_, value)| take(value));
                            take(body);
                        }
                    }
                    done.push(self.add(kind));
                }
            }
        }
        done.pop().unwrap_or(root)
    }

    /// Whether a bound variable occurs that is bound outside of the term.
    pub fn mentions_bound(&self, root: TermId, wanted: &[u32]) -> bool {
        let mut found = false;
        self.walk(root, |kind| found |= matches!(kind, TermKind::Bound(var) if wanted.contains(var)));
        found
    }

    /// Appends the term as SMT-LIB text. `var` writes a program variable, `sort` a type.
    pub fn render(
        &self,
        root: TermId,
        out: &mut String,
        var: &mut dyn FnMut(VarRef, &mut String),
        sort: &dyn Fn(Ty) -> String,
    ) {
        enum Work {
            Term(TermId),
            Text(&'static str),
            Owned(String),
        }
        let mut work = vec![Work::Term(root)];
        while let Some(item) = work.pop() {
            let id = match item {
                Work::Text(text) => {
                    out.push_str(text);
                    continue;
                }
                Work::Owned(text) => {
                    out.push_str(&text);
                    continue;
                }
                Work::Term(id) => id,
            };
            match &self.nodes[id] {
                TermKind::Var(name) => var(*name, out),
                TermKind::Bound(name) => out.push_str(&bound_name(*name)),
                TermKind::Atom(text) => out.push_str(text),
                TermKind::App(head, args) if args.is_empty() => out.push_str(head),
                TermKind::App(head, args) => {
                    out.push('(');
                    out.push_str(head);
                    work.push(Work::Text(")"));
                    for &arg in args.iter().rev() {
                        work.push(Work::Term(arg));
                        work.push(Work::Text(" "));
                    }
                }
                TermKind::Quantified { forall, vars, triggers, body } => {
                    out.push_str(if *forall { "(forall (" } else { "(exists (" });
                    for (name, ty) in vars {
                        out.push_str(&format!("({} {})", bound_name(*name), sort(*ty)));
                    }
                    out.push_str(") ");
                    work.push(Work::Text(")"));
                    if !triggers.is_empty() {
                        out.push_str("(! ");
                        work.push(Work::Text(")"));
                        for trigger in triggers.iter().rev() {
                            work.push(Work::Text(")"));
                            for &part in trigger.iter().rev() {
                                work.push(Work::Term(part));
                                work.push(Work::Text(" "));
                            }
                            work.push(Work::Text(" :pattern ("));
                        }
                    }
                    work.push(Work::Term(*body));
                }
                TermKind::Lambda { vars, body } => {
                    // Several indices are nested arrays, so these are nested too.
                    for (name, ty) in vars {
                        out.push_str(&format!("(lambda (({} {})) ", bound_name(*name), sort(*ty)));
                        work.push(Work::Text(")"));
                    }
                    work.push(Work::Term(*body));
                }
                TermKind::Let { vars, body } => {
                    out.push_str("(let (");
                    work.push(Work::Text(")"));
                    work.push(Work::Term(*body));
                    work.push(Work::Text(") "));
                    for &(name, value) in vars.iter().rev() {
                        work.push(Work::Text(")"));
                        work.push(Work::Term(value));
                        work.push(Work::Owned(format!("({} ", bound_name(name))));
                    }
                }
            }
        }
    }

    /// Whether some node has a property.
    pub fn any(&self, f: impl FnMut(&TermKind) -> bool) -> bool {
        self.nodes.iter().any(f)
    }
}

/// The SMT name of a bound variable.
pub fn bound_name(number: u32) -> String {
    format!("|?{number}|")
}

/// A Boogie name inside the bars of a quoted symbol. Neither bars nor backslashes may stand there, and a point at the
/// start is the solver's own; no Boogie name begins with a minus.
pub fn quotable(name: &str) -> String {
    let name = name.replace(['\\', '|'], "!");
    if name.starts_with('.') { format!("-{name}") } else { name }
}
