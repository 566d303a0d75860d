//! The syntax tree of one file. Nodes live in arenas and name each other by id, so that a tree of any
//! shape is dropped and walked without recursion over long chains (`a + b + c + ...`).
//!
//! What could not be parsed is absent, or [`ExprKind::Error`]; a diagnostic has been reported then.

use allways_base::{FileId, IndexVec, Span, Symbol, newtype_ids};

newtype_ids! {
    ExprId = "e";
    StmtId = "s";
    TypeId = "t";
    ModuleId = "mod";
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    pub symbol: Symbol,
    pub span: Span,
}

/// What a syntax error has taken out of the tree.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Damage {
    None,
    /// Statements only: every declaration is there.
    Statements,
    /// Something that other code may refer to.
    Declarations,
}

#[derive(Clone, Debug)]
pub struct Tree {
    pub file: FileId,
    pub damage: Damage,
    pub decls: Vec<Decl>,
    pub exprs: IndexVec<ExprId, Expr>,
    pub stmts: IndexVec<StmtId, Stmt>,
    pub types: IndexVec<TypeId, Type>,
    pub modules: IndexVec<ModuleId, Module>,
    /// Contracts and loop invariants, which only the verifier reads.
    pub proofs: Vec<Span>,
}

#[derive(Clone, Debug)]
pub enum Decl {
    /// A foreign type has no definition.
    Type {
        name: Name,
        definition: Option<TypeId>,
    },
    Enum {
        name: Name,
        elements: Vec<(Name, Option<i64>)>,
    },
    Event {
        name: Name,
        payload: Option<TypeId>,
    },
    EventSet {
        name: Name,
        events: Vec<EventRef>,
    },
    Interface {
        name: Name,
        constructor: Option<TypeId>,
        receives: Vec<EventRef>,
    },
    Machine(Machine),
    Fun(Fun),
    Module {
        name: Name,
        module: ModuleId,
    },
    Test(Test),
    Implementation {
        name: Name,
        main: Option<Name>,
        module: ModuleId,
    },
    Param {
        names: Vec<Name>,
        ty: TypeId,
    },
    /// The whole text of an invariant that the user states for a search.
    Invariant {
        condition: ExprId,
    },
    /// A declaration for the P verifier: parsed, not kept.
    Proof {
        span: Span,
    },
}

/// An event in a list: a name, `halt` or (where the grammar allows it) `null`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct EventRef {
    pub kind: EventRefKind,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EventRefKind {
    Null,
    Halt,
    Named(Symbol),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineKind {
    Machine,
    Spec,
    Scenario,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub kind: MachineKind,
    pub name: Name,
    /// `None` without a clause: everything.
    pub receives: Option<Vec<EventRef>>,
    pub sends: Option<Vec<EventRef>>,
    pub observes: Vec<EventRef>,
    pub vars: Vec<Var>,
    /// Functions and states in source order: which comes first decides whether they clash.
    pub members: Vec<Member>,
}

#[derive(Clone, Debug)]
pub enum Member {
    Fun(Fun),
    State(State),
}

#[derive(Clone, Debug)]
pub struct Var {
    pub name: Name,
    pub ty: TypeId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Temperature {
    Warm,
    Hot,
    Cold,
}

#[derive(Clone, Debug)]
pub struct State {
    /// The word `start`, if it is there.
    pub start: Option<Span>,
    pub temperature: Temperature,
    pub name: Name,
    pub items: Vec<StateItem>,
}

#[derive(Clone, Debug)]
pub struct StateItem {
    pub kind: StateItemKind,
    /// The word that begins it.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StateItemKind {
    Entry(Handler),
    Exit(Handler),
    Defer(Vec<EventRef>),
    Ignore(Vec<EventRef>),
    Do(Vec<EventRef>, Handler),
    Goto(Vec<EventRef>, Name, Option<Handler>),
}

#[derive(Clone, Debug)]
pub enum Handler {
    Named(Name),
    Anonymous(AnonymousFun),
}

#[derive(Clone, Debug)]
pub struct AnonymousFun {
    pub param: Option<Var>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub struct Fun {
    pub name: Name,
    pub params: Vec<Var>,
    pub result: Option<TypeId>,
    /// `None` for a foreign function.
    pub body: Option<Body>,
    pub creates: Option<Name>,
}

#[derive(Clone, Debug)]
pub struct Body {
    pub vars: Vec<Var>,
    pub stmts: Vec<StmtId>,
    /// From brace to brace.
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Empty,
    Block(Vec<StmtId>),
    Assert(ExprId, Option<ExprId>),
    Assume(ExprId, Option<ExprId>),
    Print(ExprId),
    Return(Option<ExprId>),
    Break,
    Continue,
    /// The place is a name with field and index accesses; anything else is rejected by the checker.
    Assign(ExprId, ExprId),
    Insert(ExprId, ExprId, ExprId),
    Add(ExprId, ExprId),
    Remove(ExprId, ExprId),
    While(ExprId, StmtId),
    Foreach {
        item: Name,
        collection: ExprId,
        body: StmtId,
    },
    /// `else if` continues the list, so that a long chain is not deep.
    If {
        arms: Vec<(ExprId, StmtId)>,
        otherwise: Option<StmtId>,
    },
    New(Name, Vec<ExprId>),
    Call(Name, Vec<ExprId>),
    Raise(ExprId, Vec<ExprId>),
    Send(ExprId, ExprId, Vec<ExprId>),
    Announce(ExprId, Vec<ExprId>),
    Goto(Name, Vec<ExprId>),
    Receive(Vec<Case>),
}

#[derive(Clone, Debug)]
pub struct Case {
    pub events: Vec<EventRef>,
    pub handler: AnonymousFun,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Error,
    Name(Symbol),
    Int(i64),
    Float(f64),
    /// `float(a, b)`: in the grammar, in no compiler.
    FloatPair,
    Bool(bool),
    Null,
    Nondet {
        fair: bool,
    },
    Halt,
    This,
    /// A literal, with the arguments of `format` (`None` without it). The span of the literal.
    Format(Span, Option<Vec<ExprId>>),
    Tuple(Vec<ExprId>),
    NamedTuple(Vec<(Name, ExprId)>),
    Field(ExprId, Name),
    TupleField(ExprId, i64, Span),
    Index(ExprId, ExprId),
    Keys(ExprId),
    Values(ExprId),
    Sizeof(ExprId),
    Default(TypeId),
    New(Name, Vec<ExprId>),
    Call(Name, Vec<ExprId>),
    Choose(Option<ExprId>),
    Neg(ExprId),
    Not(ExprId),
    /// With the span of the operator.
    Binary(BinaryOp, ExprId, ExprId, Span),
    As(ExprId, TypeId),
    To(ExprId, TypeId),
    /// `forall (a: A, b: B) :: e` or `exists ...`, in proofs and invariants only.
    Quantified(Quantified),
    /// `e is K`, in proofs and invariants only.
    Is(ExprId, Name),
    /// A form that only proofs have: `targets`, `inflight`, `sent`, `forall new`.
    Proof,
}

#[derive(Clone, Debug)]
pub struct Quantified {
    pub is_universal: bool,
    pub variables: Vec<Var>,
    pub body: ExprId,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    Lt,
    Le,
    Gt,
    Ge,
    In,
    Eq,
    Ne,
    And,
    Or,
    Implies,
    Iff,
}

#[derive(Clone, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Bool,
    Int,
    Float,
    String,
    Event,
    Machine,
    Data,
    Any,
    Seq(TypeId),
    Set(TypeId),
    Map(TypeId, TypeId),
    Tuple(Vec<TypeId>),
    NamedTuple(Vec<(Name, TypeId)>),
    Named(Symbol),
}

#[derive(Clone, Debug)]
pub struct Module {
    pub kind: ModuleKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ModuleKind {
    /// `{ M, N -> I }`
    Primitive(Vec<(Name, Option<Name>)>),
    Named(Symbol),
    Compose(Vec<ModuleId>),
    Union(Vec<ModuleId>),
    HideEvents(Vec<EventRef>, ModuleId),
    HideInterfaces(Vec<Name>, ModuleId),
    Assert(Vec<Name>, ModuleId),
    Rename(Name, Name, ModuleId),
    Main(Name, ModuleId),
}

#[derive(Clone, Debug)]
pub struct Test {
    pub name: Name,
    pub main: Name,
    pub module: ModuleId,
    /// The right side of `refines`.
    pub refines: Option<ModuleId>,
    pub params: Vec<TestParam>,
    /// The `param (...)` clause, if any.
    pub params_span: Option<Span>,
    pub assume: Option<ExprId>,
    pub wise: Option<Wise>,
}

#[derive(Clone, Debug)]
pub struct TestParam {
    pub name: Name,
    pub values: Vec<(TestValue, Span)>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestValue {
    Bool(bool),
    Int(i64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wise {
    Pairwise(Span),
    /// `(k wise)`
    Wise(i64, Span),
}
