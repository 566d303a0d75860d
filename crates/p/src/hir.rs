//! The typed program: the result of the P front end.
//!
//! Properties of this form:
//! - *resolved*: every name is an id; the only symbols left are for people and for named-tuple fields;
//! - *typed*: every expression carries its canonical type (no aliases inside);
//! - *checked*: a [`Program`] exists only when no error was reported;
//! - *close to the source*: evaluation order, control flow and receive cases are as written. Code is
//!   made from it by `allways-machine`, not here.
//!
//! Two liberties are taken with the source. An anonymous handler is a [`Function`] like any other, and
//! the locals of a `receive` case live in the frame of the function around it ([`Case::locals`] says
//! which of them start anew when the case is entered).

use allways_base::{IndexVec, Interner, Span, Symbol, newtype_ids};

pub use crate::types::{EnumId, EventSet, ForeignTypeId, Type, TypeId, Types};

newtype_ids! {
    /// A declared event. [`EventId::NULL`] and [`EventId::HALT`] are always there.
    EventId = "ev";
    /// A machine, spec or scenario declaration.
    MachineId = "m";
    /// A control state of one machine.
    StateId = "st";
    /// A function: global, of a machine, or an anonymous handler.
    FunId = "f";
    /// A field of one machine.
    FieldId = "fld";
    /// A parameter or local of one function.
    LocalId = "loc";
    /// An interface: every machine declares one of its own name.
    InterfaceId = "if";
    /// A global `param`.
    ParamId = "par";
    /// An expression of one function body.
    ExprId = "e";
    /// A statement of one function body.
    StmtId = "s";
}

impl EventId {
    /// The event of `on null`. It is in no event set.
    pub const NULL: EventId = EventId::from_u32(0);
    /// The event that stops a machine.
    pub const HALT: EventId = EventId::from_u32(1);
}

/// A whole accepted input.
#[derive(Clone)]
pub struct Program {
    pub symbols: Interner,
    pub types: Types,
    pub enums: IndexVec<EnumId, Enum>,
    pub foreign_types: IndexVec<ForeignTypeId, ForeignType>,
    pub events: IndexVec<EventId, Event>,
    pub interfaces: IndexVec<InterfaceId, Interface>,
    pub machines: IndexVec<MachineId, Machine>,
    pub functions: IndexVec<FunId, Function>,
    pub params: IndexVec<ParamId, GlobalParam>,
    /// Runnable test cases in the order P lists them: parameters expanded, modules evaluated.
    pub tests: Vec<Test>,
    /// What the user states to hold of all configurations, in the order in which it was given.
    pub invariants: Vec<Invariant>,
}

impl Program {
    pub fn name(&self, symbol: Symbol) -> &str {
        self.symbols.text(symbol)
    }

    /// What a function is called in messages.
    pub fn function_name(&self, fun: FunId) -> &str {
        self.functions[fun].name.map_or("anonymous function", |name| self.symbols.text(name))
    }
}

#[derive(Clone, Debug)]
pub struct Enum {
    pub name: Symbol,
    pub span: Span,
    /// Elements in order of declaration, with their numbers.
    pub elements: Vec<(Symbol, i64)>,
}

impl Enum {
    /// The value of an uninitialized variable: the smallest number.
    pub fn default_value(&self) -> i64 {
        self.elements.iter().map(|&(_, value)| value).min().unwrap_or(0)
    }
}

#[derive(Clone, Debug)]
pub struct ForeignType {
    pub name: Symbol,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct Event {
    pub name: Symbol,
    pub span: Span,
    /// `Null` for an event without payload.
    pub payload: TypeId,
}

#[derive(Clone, Debug)]
pub struct Interface {
    pub name: Symbol,
    pub span: Span,
    pub receives: EventSet,
    /// `Null` when the constructor takes nothing.
    pub constructor: TypeId,
    /// The machine that declared it implicitly.
    pub machine: Option<MachineId>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum MachineKind {
    Machine,
    Spec,
    /// A coverage monitor: attached to every test, never a liveness property.
    Scenario,
}

#[derive(Clone, Debug)]
pub struct Machine {
    pub name: Symbol,
    pub span: Span,
    pub kind: MachineKind,
    pub receives: EventSet,
    pub sends: EventSet,
    /// Empty for ordinary machines.
    pub observes: EventSet,
    pub fields: IndexVec<FieldId, Variable>,
    pub states: IndexVec<StateId, State>,
    /// Absent only in a spec or scenario, where P does not ask for one: attaching such a spec fails
    /// at run time.
    pub start: Option<StateId>,
    pub functions: Vec<FunId>,
    /// The interface of its own name; `None` for specs and scenarios.
    pub interface: Option<InterfaceId>,
    /// The parameter type of the start state's entry, `Null` if it has none.
    pub constructor: TypeId,
    /// Interfaces that its code may create.
    pub creates: Vec<InterfaceId>,
}

impl Machine {
    pub fn is_monitor(&self) -> bool {
        self.kind != MachineKind::Machine
    }
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: Symbol,
    pub span: Span,
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
    pub name: Symbol,
    pub span: Span,
    pub temperature: Temperature,
    pub entry: Option<FunId>,
    pub exit: Option<FunId>,
    /// Sorted by event; at most one action for an event.
    pub actions: Vec<(EventId, Action)>,
}

impl State {
    pub fn action(&self, event: EventId) -> Option<Action> {
        let at = self.actions.binary_search_by_key(&event, |&(e, _)| e).ok()?;
        Some(self.actions[at].1)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    Defer,
    Ignore,
    Do(FunId),
    /// Exit, then the `with` function, then the entry of the target.
    Goto(StateId, Option<FunId>),
}

/// What a function may do, itself or through what it calls.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effects {
    pub raises: bool,
    pub gotos: bool,
    pub receives: bool,
    pub creates: bool,
    pub sends: bool,
    pub nondet: bool,
}

impl Effects {
    pub fn union(self, other: Effects) -> Effects {
        Effects {
            raises: self.raises | other.raises,
            gotos: self.gotos | other.gotos,
            receives: self.receives | other.receives,
            creates: self.creates | other.creates,
            sends: self.sends | other.sends,
            nondet: self.nondet | other.nondet,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FunKind {
    /// Declared with `fun`.
    Named,
    /// Written in place: entry, exit, `do` or `with`.
    Anonymous,
}

#[derive(Clone, Debug)]
pub struct Function {
    pub name: Option<Symbol>,
    /// The name if there is one, else the whole handler.
    pub span: Span,
    pub kind: FunKind,
    /// `None` for a global function.
    pub owner: Option<MachineId>,
    pub n_params: usize,
    /// Parameters first, then locals, then the locals of receive cases.
    pub locals: IndexVec<LocalId, Variable>,
    pub result: TypeId,
    /// `None` for a foreign function.
    pub body: Option<Body>,
    pub effects: Effects,
    /// Functions that the body calls directly, without repetition.
    pub callees: Vec<FunId>,
    /// What the `creates` clause of a foreign function names.
    pub foreign_creates: Vec<InterfaceId>,
}

#[derive(Clone, Debug, Default)]
pub struct Body {
    pub exprs: IndexVec<ExprId, Expr>,
    pub stmts: IndexVec<StmtId, Stmt>,
    pub block: Vec<StmtId>,
}

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub ty: TypeId,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Null,
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Text and arguments in turn; a plain literal is one piece of text. Escapes are resolved.
    Format(Vec<FormatPiece>, Vec<ExprId>),
    Event(EventId),
    /// An enum element is its number at run time.
    EnumElement(i64),
    /// The machine that runs the code.
    This,
    /// `$` (`fair` false) or `$$` (`fair` true).
    Nondet {
        fair: bool,
    },
    Local(LocalId),
    Field(FieldId),
    Param(ParamId),
    Tuple(Vec<ExprId>),
    NamedTuple(Vec<(Symbol, ExprId)>),
    /// `e.0`
    TupleGet(ExprId, usize),
    /// `e.f`: the field and its position in the static type.
    FieldGet(ExprId, Symbol, usize),
    /// `e[i]` on a seq, set or map (see the type of the first).
    Index(ExprId, ExprId),
    Keys(ExprId),
    Values(ExprId),
    Sizeof(ExprId),
    Default(TypeId),
    New(InterfaceId, Option<ExprId>),
    Call(FunId, Vec<ExprId>),
    /// `choose()` is `None`.
    Choose(Option<ExprId>),
    Neg(ExprId),
    Not(ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    /// `e as T`: copy, and check the run-time class.
    Cast(ExprId),
    /// `e to T`: convert a number, or check the permissions of a reference.
    Coerce(ExprId),
}

impl ExprKind {
    /// The expressions directly inside, as they stand in the source. In which order they are evaluated, and when a variable among them is
    /// read, is up to the code that executes them.
    pub fn operands(&self) -> impl DoubleEndedIterator<Item = ExprId> {
        let (mut one, mut two) = (None, None);
        let (mut list, mut named): (&[ExprId], &[(Symbol, ExprId)]) = (&[], &[]);
        match self {
            ExprKind::Null
            | ExprKind::Bool(_)
            | ExprKind::Int(_)
            | ExprKind::Float(_)
            | ExprKind::Event(_)
            | ExprKind::EnumElement(_)
            | ExprKind::This
            | ExprKind::Nondet { .. }
            | ExprKind::Local(_)
            | ExprKind::Field(_)
            | ExprKind::Param(_)
            | ExprKind::Default(_) => {}
            ExprKind::Format(_, args) | ExprKind::Tuple(args) | ExprKind::Call(_, args) => list = args,
            ExprKind::NamedTuple(fields) => named = fields,
            ExprKind::New(_, operand) | ExprKind::Choose(operand) => one = *operand,
            ExprKind::TupleGet(e, _)
            | ExprKind::FieldGet(e, _, _)
            | ExprKind::Keys(e)
            | ExprKind::Values(e)
            | ExprKind::Sizeof(e)
            | ExprKind::Neg(e)
            | ExprKind::Not(e)
            | ExprKind::Cast(e)
            | ExprKind::Coerce(e) => one = Some(*e),
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => (one, two) = (Some(*a), Some(*b)),
        }
        let named = named.iter().map(|&(_, e)| e);
        one.into_iter().chain(two).chain(list.iter().copied()).chain(named)
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormatPiece {
    Text(String),
    /// The index of the argument.
    Arg(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
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
    /// Both short-circuit.
    And,
    Or,
}

/// A condition on all machines and specs at once. It is about values that code computes on one machine: for each part without
/// quantifiers and connectives there is a function, which gets what the part reads as its parameters and asserts it.
#[derive(Clone, Debug)]
pub struct Invariant {
    pub span: Span,
    /// Machines that it names, by number in the order in which names are bound: of which kind, and what they are called.
    pub variables: Vec<(MachineId, Symbol)>,
    pub formula: Formula,
}

/// Its depth is that of an expression.
#[derive(Clone, Debug)]
pub enum Formula {
    Atom(Atom),
    Not(Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Iff(Box<Formula>, Box<Formula>),
    /// Of every machine of the variable's kind that exists, or of some.
    Quantified {
        is_universal: bool,
        variable: usize,
        body: Box<Formula>,
    },
}

/// A part that one function evaluates.
#[derive(Clone, Debug)]
pub struct Atom {
    pub fun: FunId,
    /// The arguments.
    pub reads: Vec<Read>,
    pub span: Span,
}

/// Something that an invariant reads of a configuration.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Read {
    /// A reference to the machine that a variable stands for.
    Machine(usize),
    /// A variable of a machine, which must be one of this declaration.
    Field(Box<Read>, MachineId, FieldId),
    SpecField(MachineId, FieldId),
    /// Whether the machine is in a control state.
    IsIn(Box<Read>, MachineId, StateId),
    SpecIsIn(MachineId, StateId),
    /// Whether it is one of this declaration.
    IsKind(Box<Read>, MachineId),
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    Block(Vec<StmtId>),
    /// The message is evaluated only when the condition is false.
    Assert {
        cond: ExprId,
        message: Option<ExprId>,
    },
    Print(ExprId),
    /// Inside a receive case it returns from the function around it.
    Return(Option<ExprId>),
    Break,
    Continue,
    Assign {
        place: Place,
        value: ExprId,
    },
    /// `p += (key, value)` on a seq or map, by the type of the place.
    Insert {
        place: Place,
        key: ExprId,
        value: ExprId,
    },
    /// `p += (value)` on a set.
    Add {
        place: Place,
        value: ExprId,
    },
    /// `p -= key` on a seq, set or map.
    Remove {
        place: Place,
        key: ExprId,
    },
    While {
        cond: ExprId,
        body: StmtId,
    },
    Foreach {
        item: Place,
        collection: ExprId,
        body: StmtId,
    },
    If {
        arms: Vec<(ExprId, StmtId)>,
        otherwise: Option<StmtId>,
    },
    /// A call or creation for its effect.
    Eval(ExprId),
    Raise {
        event: ExprId,
        payload: Option<ExprId>,
    },
    Send {
        target: ExprId,
        event: ExprId,
        payload: Option<ExprId>,
    },
    Announce {
        event: ExprId,
        payload: Option<ExprId>,
    },
    Goto {
        state: StateId,
        payload: Option<ExprId>,
    },
    Receive {
        cases: Vec<Case>,
    },
}

impl StmtKind {
    /// What the statement assigns to or changes.
    pub fn place(&self) -> Option<&Place> {
        match self {
            StmtKind::Assign { place, .. }
            | StmtKind::Insert { place, .. }
            | StmtKind::Add { place, .. }
            | StmtKind::Remove { place, .. }
            | StmtKind::Foreach { item: place, .. } => Some(place),
            _ => None,
        }
    }

    /// The same, to be changed.
    pub fn place_mut(&mut self) -> Option<&mut Place> {
        match self {
            StmtKind::Assign { place, .. }
            | StmtKind::Insert { place, .. }
            | StmtKind::Add { place, .. }
            | StmtKind::Remove { place, .. }
            | StmtKind::Foreach { item: place, .. } => Some(place),
            _ => None,
        }
    }

    /// The expressions directly inside, those in the path of the place first; not those of statements inside.
    pub fn operands(&self) -> impl Iterator<Item = ExprId> {
        let mut own = [None; 3];
        let mut conditions: &[(ExprId, StmtId)] = &[];
        match self {
            StmtKind::Block(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Receive { .. } => {}
            StmtKind::Assert { cond, message } => own = [Some(*cond), *message, None],
            StmtKind::Print(e) | StmtKind::Eval(e) => own[0] = Some(*e),
            StmtKind::Return(e) | StmtKind::Goto { payload: e, .. } => own[0] = *e,
            StmtKind::Assign { value: e, .. }
            | StmtKind::Add { value: e, .. }
            | StmtKind::Remove { key: e, .. }
            | StmtKind::While { cond: e, .. }
            | StmtKind::Foreach { collection: e, .. } => own[0] = Some(*e),
            StmtKind::Insert { key, value, .. } => own = [Some(*key), Some(*value), None],
            StmtKind::If { arms, .. } => conditions = arms,
            StmtKind::Raise { event, payload } | StmtKind::Announce { event, payload } => {
                own = [Some(*event), *payload, None];
            }
            StmtKind::Send { target, event, payload } => own = [Some(*target), Some(*event), *payload],
        }
        let path = self.place().into_iter().flat_map(|place| &place.path);
        let keys = path.filter_map(|step| match step.kind {
            PathKind::Index(key) => Some(key),
            PathKind::Tuple(_) | PathKind::Field(..) => None,
        });
        keys.chain(own.into_iter().flatten()).chain(conditions.iter().map(|&(cond, _)| cond))
    }
}

#[derive(Clone, Debug)]
pub struct Case {
    pub events: Vec<EventId>,
    pub param: Option<LocalId>,
    /// Locals of the case (without the parameter): they take their default values on entry.
    pub locals: Vec<LocalId>,
    pub block: Vec<StmtId>,
    pub span: Span,
}

/// Something that can be assigned: a variable and a path into it.
#[derive(Clone, Debug)]
pub struct Place {
    pub root: PlaceRoot,
    /// Each step with the type of what it reaches.
    pub path: Vec<PathStep>,
    pub root_ty: TypeId,
    /// The type of the whole place.
    pub ty: TypeId,
    pub span: Span,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PlaceRoot {
    Local(LocalId),
    Field(FieldId),
}

#[derive(Clone, Debug)]
pub struct PathStep {
    pub kind: PathKind,
    /// The type of what this step reaches.
    pub ty: TypeId,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum PathKind {
    Tuple(usize),
    Field(Symbol, usize),
    /// Into a seq (existing index) or a map (insert or overwrite when it is the last step).
    Index(ExprId),
}

#[derive(Clone, Debug)]
pub struct GlobalParam {
    pub name: Symbol,
    pub span: Span,
    pub ty: TypeId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum ParamValue {
    Bool(bool),
    Int(i64),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TestKind {
    Test,
    Implementation,
    /// Made up for a program without tests that has a machine `Main`; every spec is attached to it.
    Default,
}

/// One runnable test case.
#[derive(Clone, Debug)]
pub struct Test {
    /// With parameter values for an expanded test: `T___p_1__q_true`.
    pub name: String,
    pub span: Span,
    pub kind: TestKind,
    pub main: MachineId,
    /// The interface under which the main machine runs.
    pub main_interface: InterfaceId,
    /// Parameters that the test sets; the others keep the default of their type.
    pub params: Vec<(ParamId, ParamValue)>,
    pub system: System,
}

/// A closed module: what a test puts together.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// Which machine implements an interface. Sorted by interface.
    pub bindings: Vec<(InterfaceId, MachineId)>,
    /// What `new created` means in a machine that runs as `creator`: `((creator, created), actual)`.
    /// Sorted; pairs that are absent mean themselves.
    pub links: Vec<((InterfaceId, InterfaceId), InterfaceId)>,
    /// Attached specs and scenarios in order of attachment, with the interfaces they watch.
    pub monitors: Vec<(MachineId, Vec<InterfaceId>)>,
}

impl System {
    pub fn machine_of(&self, interface: InterfaceId) -> Option<MachineId> {
        let at = self.bindings.binary_search_by_key(&interface, |&(i, _)| i).ok()?;
        Some(self.bindings[at].1)
    }

    /// The interface that is really created by `new created` in a machine running as `creator`.
    pub fn link(&self, creator: InterfaceId, created: InterfaceId) -> InterfaceId {
        match self.links.binary_search_by_key(&(creator, created), |&(pair, _)| pair) {
            Ok(at) => self.links[at].1,
            Err(_) => created,
        }
    }
}
