//! Values: one word each.
//!
//! A [`Value`] is 8 bytes. Small integers, booleans, null, events and machine references live in the word;
//! everything else is a hash-consed node of a [`Store`], and the word holds its number, its [`Kind`] and
//! its [`Flags`]. Nodes never change, so sharing is copying, and two values of the same content *and*
//! storage order are the same word. The one exception are large collections while they are changed, see `draft`.
//!
//! P's equality is coarser than that: sets and maps ignore order, references ignore permissions, `0.0`
//! equals `-0.0`. The flag [`Flags::LOOSE`] marks values that may equal a different word; without it on
//! either side, comparing words decides.
//!
//! Integers are 64 bits and wrap around. Those that do not fit 60 bits are boxed.

mod collect;
mod collections;
mod draft;
mod notation;
mod store;
mod text;

pub(crate) use collect::Roots;
pub use collections::CollectionFault;
pub use notation::Notation;
pub(crate) use store::MAX_DEPTH;
pub use store::{Mark, Shapes, Store};
pub use text::{Form, InstanceNames, ProgramNames, write_value, write_value_as};
pub(crate) use text::{REF_CLOSE, REF_OPEN};

use allways_base::newtype_ids;
use allways_run::InstanceId;

use crate::ir::EventId;

newtype_ids! {
    /// The field names of a named tuple, in order, interned.
    ShapeId = "shape";
    /// An interned set of events that a reference permits.
    PermissionId = "perm";
}

/// What a node is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Kind {
    /// An integer beyond 60 bits.
    Int = 0,
    Float = 1,
    String = 2,
    Tuple = 3,
    Named = 4,
    Seq = 5,
    Set = 6,
    Map = 7,
}

impl Kind {
    const ALL: [Kind; 8] =
        [Kind::Int, Kind::Float, Kind::String, Kind::Tuple, Kind::Named, Kind::Seq, Kind::Set, Kind::Map];
}

/// What one must know about a value before treating its word as its identity.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Flags(u8);

impl Flags {
    pub const NONE: Flags = Flags(0);
    /// May equal a value with a different word.
    pub const LOOSE: Flags = Flags(1);
    /// A set or map in it has freed slots; a copy of it is compacted.
    pub const HOLES: Flags = Flags(2);
    /// Contains a NaN, so it does not even equal itself.
    pub const NAN: Flags = Flags(4);
    /// Contains a machine reference.
    pub const REFS: Flags = Flags(8);
    /// Is changed in place by the one place that holds it.
    pub const DRAFT: Flags = Flags(16);
    /// Contains an atom, see [`crate::data`]: comparing it is reported.
    pub const ATOMS: Flags = Flags(32);

    #[inline]
    pub fn has(self, other: Flags) -> bool {
        self.0 & other.0 != 0
    }

    #[inline]
    pub fn with(self, other: Flags) -> Flags {
        Flags(self.0 | other.0)
    }
}

/// A value of P, or a freed slot of a set or map.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
#[repr(transparent)]
pub struct Value(u64);

const TAG: u64 = 0xf;
const NULL: u64 = 0;
const BOOL: u64 = 1;
const INT: u64 = 2;
const EVENT: u64 = 3;
const REF: u64 = 4;
const NODE: u64 = 5;
const HOLE: u64 = 6;
const ATOM: u64 = 7;

/// A value taken apart as far as its word shows.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum View {
    Null,
    Bool(bool),
    /// An integer in the word; a boxed one is a [`View::Node`] of [`Kind::Int`].
    Int(i64),
    Event(EventId),
    Ref(InstanceId, PermissionId),
    Node(Kind, u32),
    /// A freed slot and the one freed before it.
    Hole(Option<u32>),
    /// An integer that stands for others: its class and itself. See [`crate::data`].
    Atom(u32, u32),
}

impl Value {
    pub const NULL: Value = Value(NULL);
    pub const FALSE: Value = Value(BOOL);
    pub const TRUE: Value = Value(BOOL | 16);
    pub const ZERO: Value = Value(INT);

    #[inline]
    pub const fn bool(b: bool) -> Value {
        if b { Value::TRUE } else { Value::FALSE }
    }

    /// An integer that fits the word.
    #[inline]
    pub(crate) const fn small_int(n: i64) -> Option<Value> {
        let word = ((n as u64) << 4) | INT;
        if (word as i64) >> 4 == n { Some(Value(word)) } else { None }
    }

    /// Sizes and indices always fit.
    #[inline]
    pub const fn size(n: usize) -> Value {
        Value(((n as u64) << 4) | INT)
    }

    #[inline]
    pub const fn event(event: EventId) -> Value {
        Value((event.as_u32() as u64) << 32 | EVENT)
    }

    #[inline]
    pub const fn reference(instance: InstanceId, permission: PermissionId) -> Value {
        Value((instance.as_u32() as u64) << 32 | (permission.as_u32() as u64) << 4 | REF)
    }

    #[inline]
    pub(crate) const fn node(kind: Kind, flags: Flags, id: u32) -> Value {
        Value((id as u64) << 32 | (flags.0 as u64) << 8 | (kind as u64) << 4 | NODE)
    }

    pub(crate) const fn hole(next: Option<u32>) -> Value {
        match next {
            None => Value(HOLE),
            Some(next) => Value((next as u64 + 1) << 32 | HOLE),
        }
    }

    /// A number that stands for all of its block in a class.
    #[inline]
    pub(crate) const fn atom(class: u32, number: u32) -> Value {
        Value((number as u64) << 32 | (class as u64) << 4 | ATOM)
    }

    /// The word. Equal words are equal in content and storage order, within one store.
    #[inline]
    pub const fn bits(self) -> u64 {
        self.0
    }

    #[inline]
    pub(crate) const fn from_bits(bits: u64) -> Value {
        Value(bits)
    }

    #[inline]
    pub fn view(self) -> View {
        match self.0 & TAG {
            NULL => View::Null,
            BOOL => View::Bool(self.0 & 16 != 0),
            INT => View::Int(self.0 as i64 >> 4),
            EVENT => View::Event(EventId::from_u32((self.0 >> 32) as u32)),
            REF => View::Ref(
                InstanceId::from_u32((self.0 >> 32) as u32),
                PermissionId::from_u32((self.0 as u32) >> 4),
            ),
            NODE => View::Node(self.kind_bits(), (self.0 >> 32) as u32),
            ATOM => View::Atom((self.0 as u32) >> 4, (self.0 >> 32) as u32),
            _ => View::Hole(((self.0 >> 32) as u32).checked_sub(1)),
        }
    }

    #[inline]
    fn kind_bits(self) -> Kind {
        Kind::ALL[(self.0 >> 4 & 7) as usize]
    }

    /// What kind of node it is, if it is one.
    #[inline]
    pub fn kind(self) -> Option<Kind> {
        (self.0 & TAG == NODE).then(|| self.kind_bits())
    }

    #[inline]
    pub fn is_null(self) -> bool {
        self.0 == NULL
    }

    #[inline]
    pub(crate) fn is_draft(self) -> bool {
        self.0 & (TAG | 16 << 8) == NODE | 16 << 8
    }

    #[inline]
    pub(crate) fn is_atom(self) -> bool {
        self.0 & TAG == ATOM
    }

    #[inline]
    pub(crate) fn is_hole(self) -> bool {
        self.0 & TAG == HOLE
    }

    #[inline]
    pub fn as_bool(self) -> Option<bool> {
        match self {
            Value::TRUE => Some(true),
            Value::FALSE => Some(false),
            _ => None,
        }
    }

    #[inline]
    pub(crate) fn as_small_int(self) -> Option<i64> {
        (self.0 & TAG == INT).then_some(self.0 as i64 >> 4)
    }

    #[inline]
    pub fn as_event(self) -> Option<EventId> {
        (self.0 & TAG == EVENT).then_some(EventId::from_u32((self.0 >> 32) as u32))
    }

    #[inline]
    pub fn as_ref(self) -> Option<(InstanceId, PermissionId)> {
        match self.view() {
            View::Ref(instance, permission) => Some((instance, permission)),
            _ => None,
        }
    }

    #[inline]
    pub fn flags(self) -> Flags {
        match self.0 & TAG {
            NODE => Flags((self.0 >> 8 & 0x3f) as u8),
            REF => Flags::LOOSE.with(Flags::REFS),
            ATOM => Flags::LOOSE.with(Flags::ATOMS),
            _ => Flags::NONE,
        }
    }
}

impl std::fmt::Debug for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.view() {
            View::Null => f.write_str("null"),
            View::Bool(b) => write!(f, "{b}"),
            View::Int(n) => write!(f, "{n}"),
            View::Event(e) => write!(f, "event{}", e.as_u32()),
            View::Ref(instance, permission) => write!(f, "{instance:?}/{permission:?}"),
            View::Node(kind, id) => write!(f, "{kind:?}#{id}"),
            View::Hole(next) => write!(f, "hole({next:?})"),
            View::Atom(class, n) => write!(f, "{n}~{class}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_what_they_hold() {
        for n in [0, 1, -1, i64::MAX >> 4, i64::MIN >> 4] {
            assert_eq!(Value::small_int(n).map(Value::view), Some(View::Int(n)));
        }
        assert_eq!(Value::small_int(i64::MAX), None);
        assert_eq!(Value::small_int((i64::MAX >> 4) + 1), None);
        let (i, p) = (InstanceId::from_u32(7), PermissionId::from_u32(3));
        assert_eq!(Value::reference(i, p).as_ref(), Some((i, p)));
        assert_eq!(Value::hole(Some(0)).view(), View::Hole(Some(0)));
        assert_eq!(Value::hole(None).view(), View::Hole(None));
        assert_eq!(Value::bool(true).as_bool(), Some(true));
        assert_eq!(Value::NULL.as_bool(), None);
    }
}
