//! The executable IR: flat register code.
//!
//! A function is a run of [`Op`]s. Its registers are its parameters, its locals and temporaries, in this
//! order; a call places its arguments in consecutive temporaries, which become the first registers of the
//! callee. Fields of the machine and constants are operands like registers, so that a bare variable is read
//! when its operator executes, as P does it, and not when the expression around it began.
//!
//! Properties that [`crate::verify`] checks: every operand exists where it is used, every jump stays in its
//! function, every function ends in an op that does not fall through.
//!
//! To add an op, see docs/how-to/add-an-operation.md.

use allways_base::{Idx, IndexVec, Span, Symbol, newtype_ids};
use allways_p::hir::{BinaryOp, Temperature};

pub use allways_p::hir::{EventId, FunId, InterfaceId, MachineId};

use crate::value::{Notation, PermissionId, ShapeId, Value};

newtype_ids! {
    /// A control state of the whole program: states are numbered through, machine by machine.
    ControlId = "st";
    /// What a `receive` waits for.
    ReceiveId = "recv";
    /// A field of named tuples, with the place that it has where the static type says so.
    AccessId = "acc";
    /// A format string.
    TemplateId = "tpl";
}

/// What an op reads or writes: a register, a field, or (reading only) a constant.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Operand(u32);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OperandView {
    Register(u32),
    Field(u32),
    Const(u32),
}

impl Operand {
    const SHIFT: u32 = 30;
    const MASK: u32 = (1 << Self::SHIFT) - 1;

    pub const fn register(n: u32) -> Self {
        Operand(n)
    }

    pub const fn field(n: u32) -> Self {
        Operand(1 << Self::SHIFT | n)
    }

    pub const fn constant(n: u32) -> Self {
        Operand(2 << Self::SHIFT | n)
    }

    #[inline]
    pub const fn view(self) -> OperandView {
        let n = self.0 & Self::MASK;
        match self.0 >> Self::SHIFT {
            0 => OperandView::Register(n),
            1 => OperandView::Field(n),
            _ => OperandView::Const(n),
        }
    }

    pub const fn bits(self) -> u32 {
        self.0
    }

    /// The operand of these bits, if they are those of one.
    pub const fn from_bits(bits: u32) -> Option<Self> {
        if bits >> Self::SHIFT < 3 { Some(Operand(bits)) } else { None }
    }
}

impl std::fmt::Debug for Operand {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.view() {
            OperandView::Register(n) => write!(f, "r{n}"),
            OperandView::Field(n) => write!(f, "f{n}"),
            OperandView::Const(n) => write!(f, "c{n}"),
        }
    }
}

/// One instruction. `first` is the first of consecutive registers; tables are those of the [`Executable`].
///
/// [`Executable`]: crate::Executable
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    /// A copy, so freed slots of sets and maps do not come along.
    Move {
        dst: Operand,
        src: Operand,
    },
    /// Never `And` or `Or`: these are jumps.
    Binary {
        op: BinaryOp,
        dst: Operand,
        a: Operand,
        b: Operand,
    },
    Not {
        dst: Operand,
        src: Operand,
    },
    Neg {
        dst: Operand,
        src: Operand,
    },
    Tuple {
        dst: Operand,
        first: u32,
        n: u32,
    },
    Named {
        dst: Operand,
        first: u32,
        shape: ShapeId,
    },
    /// `t.0`
    Part {
        dst: Operand,
        src: Operand,
        index: u32,
    },
    /// `t.f`: `access` names the field and where it usually is.
    Field {
        dst: Operand,
        src: Operand,
        access: AccessId,
    },
    Index {
        dst: Operand,
        src: Operand,
        index: Operand,
    },
    Keys {
        dst: Operand,
        src: Operand,
    },
    Values {
        dst: Operand,
        src: Operand,
    },
    Sizeof {
        dst: Operand,
        src: Operand,
    },
    /// `as`: a copy if the value is of the class, else a fault.
    Cast {
        dst: Operand,
        src: Operand,
        class: Class,
    },
    ToInt {
        dst: Operand,
        src: Operand,
    },
    ToFloat {
        dst: Operand,
        src: Operand,
    },
    ToPermission {
        dst: Operand,
        src: Operand,
        permission: PermissionId,
    },
    Format {
        dst: Operand,
        template: TemplateId,
        first: u32,
    },
    /// The same for a text that is only printed: empty when nothing records it.
    FormatForPrint {
        dst: Operand,
        template: TemplateId,
        first: u32,
    },
    This {
        dst: Operand,
    },
    /// `$` and `$$`
    Flip {
        dst: Operand,
        fair: bool,
    },
    /// `choose` of a number or collection.
    Choose {
        dst: Operand,
        src: Operand,
    },
    Jump {
        to: u32,
    },
    JumpIf {
        cond: Operand,
        to: u32,
    },
    JumpIfNot {
        cond: Operand,
        to: u32,
    },
    /// The next element of the collection in register `iter`; its position is in the register after. Jumps
    /// when there is none.
    Next {
        dst: Operand,
        iter: u32,
        end: u32,
    },
    Call {
        dst: Operand,
        fun: FunId,
        first: u32,
    },
    Return {
        src: Operand,
    },
    /// `root.path = src`
    Store {
        root: Operand,
        path: u32,
        src: Operand,
    },
    /// `root.path += (key, src)`; the key is the last step of the path.
    Insert {
        root: Operand,
        path: u32,
        src: Operand,
    },
    /// `root.path += (src)`
    Add {
        root: Operand,
        path: u32,
        src: Operand,
    },
    /// `root.path -= key`; the key is the last step of the path.
    Remove {
        root: Operand,
        path: u32,
    },
    /// A failed assertion with its message.
    Fail {
        message: Operand,
    },
    Print {
        src: Operand,
    },
    /// `print` of a template, which is filled in only when a recorder listens.
    PrintFormat {
        template: TemplateId,
        first: u32,
    },
    Send {
        target: Operand,
        event: Operand,
        payload: Operand,
    },
    Announce {
        event: Operand,
        payload: Operand,
    },
    New {
        dst: Operand,
        interface: InterfaceId,
        payload: Operand,
    },
    Raise {
        event: Operand,
        payload: Operand,
    },
    Goto {
        state: ControlId,
        payload: Operand,
    },
    Receive {
        table: ReceiveId,
    },
    /// The body of a foreign function that was not supplied.
    Foreign {
        fun: FunId,
    },
}

/// One step of a path into a variable.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Step {
    Part(u32),
    Field(AccessId),
    Index(Operand),
}

/// What a cast, a parameter or an operation looks at: the outermost class of a value only.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// Everything, also foreign values, of which there is none but null.
    Any,
    /// Enums too.
    Int,
    Bool,
    Float,
    String,
    Event,
    Machine,
    Tuple,
    Named,
    Seq,
    Set,
    Map,
    Null,
}

impl Class {
    pub const fn as_str(self) -> &'static str {
        match self {
            Class::Any => "any",
            Class::Int => "int",
            Class::Bool => "bool",
            Class::Float => "float",
            Class::String => "string",
            Class::Event => "event",
            Class::Machine => "machine",
            Class::Tuple => "tuple",
            Class::Named => "named tuple",
            Class::Seq => "seq",
            Class::Set => "set",
            Class::Map => "map",
            Class::Null => "null",
        }
    }
}

/// A set of events as bits.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct EventBits(Box<[u64]>);

impl EventBits {
    pub fn new(n_events: usize, events: impl IntoIterator<Item = EventId>) -> Self {
        let mut words = vec![0; n_events.div_ceil(64)].into_boxed_slice();
        for event in events {
            words[event.index() / 64] |= 1 << (event.index() % 64);
        }
        EventBits(words)
    }

    #[inline]
    pub fn contains(&self, event: EventId) -> bool {
        self.0[event.index() / 64] >> (event.index() % 64) & 1 == 1
    }

    pub fn is_superset(&self, other: &EventBits) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & b == *b)
    }

    pub fn iter(&self) -> impl Iterator<Item = EventId> + '_ {
        (0..self.0.len() * 64).map(EventId::new).filter(|&event| self.contains(event))
    }
}

/// What a control state does with an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Action {
    None,
    Defer,
    Ignore,
    Do(FunId),
    /// Exit, then the function if there is one, then the entry of the target.
    Goto(ControlId, Option<FunId>),
}

#[derive(Clone, Debug)]
pub struct StateDef {
    pub name: Symbol,
    pub span: Span,
    pub machine: MachineId,
    pub temperature: Temperature,
    pub entry: Option<FunId>,
    pub exit: Option<FunId>,
    /// By event.
    pub actions: IndexVec<EventId, Action>,
    /// There is an action for null.
    pub has_null: bool,
}

impl StateDef {
    /// Whether a monitor in it is hot.
    pub fn is_hot(&self) -> bool {
        self.temperature == Temperature::Hot
    }
}

#[derive(Clone, Debug)]
pub struct MachineDef {
    pub name: Symbol,
    pub span: Span,
    pub is_monitor: bool,
    /// A coverage monitor, never a liveness property.
    pub is_scenario: bool,
    pub fields: Vec<(Symbol, Value)>,
    /// How fields are shown.
    pub notations: Vec<Notation>,
    pub start: Option<ControlId>,
    pub sends: EventBits,
    /// What `this` permits.
    pub receives: PermissionId,
}

#[derive(Clone, Debug)]
pub struct InterfaceDef {
    pub name: Symbol,
    pub receives: PermissionId,
    /// The machine that the test binds to it.
    pub machine: Option<MachineId>,
    /// How payloads of its constructor are shown.
    pub payload: Notation,
}

#[derive(Clone, Debug)]
pub struct FunDef {
    pub name: Option<Symbol>,
    pub span: Span,
    /// First and past-last op.
    pub entry: u32,
    pub end: u32,
    pub n_registers: u32,
    pub params: Vec<Class>,
    /// Parameters and named locals, for people.
    pub locals: Vec<Symbol>,
    /// Fields of the owner that the code may use.
    pub n_fields: u32,
}

/// What a `receive` waits for: the case of an event, as its first op and its parameter.
#[derive(Clone, Debug)]
pub struct ReceiveTable {
    /// By event.
    pub cases: IndexVec<EventId, Option<ReceiveCase>>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReceiveCase {
    pub to: u32,
    /// The register of the parameter and its class.
    pub param: Option<(u32, Class)>,
}

/// Text and arguments in turn.
#[derive(Clone, Debug)]
pub struct Template {
    pub pieces: Vec<TemplatePiece>,
    pub n_args: u32,
    /// Some argument may be a machine or hold one.
    pub has_machines: bool,
}

#[derive(Clone, Debug)]
pub enum TemplatePiece {
    Text(String),
    Arg(u32),
}

/// How to compute a part of a condition again, when the assertion has failed. Nothing in it has an effect.
#[derive(Clone, PartialEq, Debug)]
pub enum Inspect {
    Operand(Operand),
    Part(Box<Inspect>, u32),
    /// By the table of accesses.
    Field(Box<Inspect>, AccessId),
    Index(Box<Inspect>, Box<Inspect>),
    Sizeof(Box<Inspect>),
}

/// A part of a condition that people want to see the value of.
#[derive(Clone, Debug)]
pub struct InspectedPart {
    pub span: Span,
    pub inspect: Inspect,
    pub notation: Notation,
}

/// The condition of an assertion, for people.
#[derive(Clone, Debug)]
pub struct Inspection {
    /// The op that fails.
    pub pc: u32,
    pub condition: Span,
    pub parts: Vec<InspectedPart>,
}

#[derive(Clone, Debug)]
pub struct MonitorDef {
    pub machine: MachineId,
}

impl Op {
    /// Whether control never reaches the op after it.
    pub fn ends(&self) -> bool {
        matches!(
            self,
            Op::Jump { .. }
                | Op::Return { .. }
                | Op::Fail { .. }
                | Op::Raise { .. }
                | Op::Goto { .. }
                | Op::Receive { .. }
                | Op::Foreign { .. }
        )
    }
}
