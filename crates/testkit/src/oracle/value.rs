//! Owned values with P's value semantics (docs/semantics.md, section 1), written for clarity, not for speed.
//!
//! Sets and maps keep their elements in slots: a new element takes the slot freed last, a copy has no free slots
//! (section 4.10). Programs see that order, so it is part of a value here; `==` of P is [`Value::equals`].

use std::rc::Rc;

use allways_base::Symbol;
use allways_p::hir::{EventId, Program, Type, TypeId};
use allways_run::ViolationKind;

/// A machine instance by the path from the main machine: which child of its creator, at every level.
pub type Path = Rc<[u32]>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    Null,
    Bool(bool),
    Int(i64),
    /// The bits, so that structural equality is an equivalence.
    Float(u64),
    String(String),
    Event(EventId),
    /// The instance and the events that this reference permits, sorted.
    Machine(Path, Rc<[EventId]>),
    Tuple(Vec<Value>),
    Named(Vec<(Symbol, Value)>),
    Seq(Vec<Value>),
    Set(Slots<Value>),
    Map(Slots<(Value, Value)>),
}

/// The storage of a set or map.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slots<T> {
    slots: Vec<Option<T>>,
    /// Free slots; the last is taken first.
    free: Vec<usize>,
}

impl<T> Default for Slots<T> {
    fn default() -> Self {
        Slots { slots: Vec::new(), free: Vec::new() }
    }
}

impl<T> FromIterator<T> for Slots<T> {
    fn from_iter<I: IntoIterator<Item = T>>(iter: I) -> Self {
        Slots { slots: iter.into_iter().map(Some).collect(), free: Vec::new() }
    }
}

impl<T> Slots<T> {
    pub fn iter(&self) -> impl Iterator<Item = &T> {
        self.slots.iter().flatten()
    }

    fn len(&self) -> usize {
        self.iter().count()
    }

    fn position(&self, is_it: impl Fn(&T) -> bool) -> Option<usize> {
        self.slots.iter().position(|slot| slot.as_ref().is_some_and(&is_it))
    }

    fn push(&mut self, item: T) {
        match self.free.pop() {
            Some(at) => self.slots[at] = Some(item),
            None => self.slots.push(Some(item)),
        }
    }

    fn remove(&mut self, at: usize) {
        self.slots[at] = None;
        self.free.push(at);
    }
}

/// A run-time error, by kind; the caller knows the place.
pub type Fault = ViolationKind;

impl Value {
    pub fn float(x: f64) -> Value {
        Value::Float(x.to_bits())
    }

    /// The value of an uninitialized variable.
    pub fn default_of(program: &Program, ty: TypeId) -> Value {
        match program.types.get(ty) {
            Type::Bool => Value::Bool(false),
            Type::Int => Value::Int(0),
            Type::Float => Value::float(0.0),
            Type::String => Value::String(String::new()),
            Type::Enum(id) => Value::Int(program.enums[*id].default_value()),
            Type::Seq(_) => Value::Seq(Vec::new()),
            Type::Set(_) => Value::Set(Slots::default()),
            Type::Map(..) => Value::Map(Slots::default()),
            Type::Tuple(parts) => {
                Value::Tuple(parts.iter().map(|&part| Value::default_of(program, part)).collect())
            }
            Type::NamedTuple(fields) => Value::Named(
                fields.iter().map(|&(name, ty)| (name, Value::default_of(program, ty))).collect(),
            ),
            Type::Null
            | Type::Event
            | Type::Machine
            | Type::Any
            | Type::Data
            | Type::Foreign(_)
            | Type::Permission(..)
            | Type::Alias(_)
            | Type::Error => Value::Null,
        }
    }

    /// Whether a cast to this type, or a parameter of it, takes the value: only the outer class counts.
    pub fn fits(&self, program: &Program, ty: TypeId) -> bool {
        let ty = program.types.get(ty);
        if matches!(ty, Type::Any | Type::Data | Type::Foreign(_)) {
            return true;
        }
        match self {
            Value::Null => !matches!(ty, Type::Int | Type::Enum(_) | Type::Bool | Type::Float | Type::String),
            Value::Bool(_) => matches!(ty, Type::Bool),
            Value::Int(_) => matches!(ty, Type::Int | Type::Enum(_)),
            Value::Float(_) => matches!(ty, Type::Float),
            Value::String(_) => matches!(ty, Type::String),
            Value::Event(_) => matches!(ty, Type::Event),
            Value::Machine(..) => matches!(ty, Type::Machine | Type::Permission(..)),
            Value::Tuple(_) => matches!(ty, Type::Tuple(_)),
            Value::Named(_) => matches!(ty, Type::NamedTuple(_)),
            Value::Seq(_) => matches!(ty, Type::Seq(_)),
            Value::Set(_) => matches!(ty, Type::Set(_)),
            Value::Map(_) => matches!(ty, Type::Map(..)),
        }
    }

    /// A copy, as assignments, arguments and payloads make it: no free slots at any depth.
    pub fn copied(&self) -> Value {
        let copy_all = |parts: &[Value]| parts.iter().map(Value::copied).collect();
        match self {
            Value::Tuple(parts) => Value::Tuple(copy_all(parts)),
            Value::Seq(parts) => Value::Seq(copy_all(parts)),
            Value::Named(fields) => {
                Value::Named(fields.iter().map(|(name, value)| (*name, value.copied())).collect())
            }
            Value::Set(slots) => Value::Set(slots.iter().map(Value::copied).collect()),
            Value::Map(slots) => Value::Map(slots.iter().map(|(k, v)| (k.copied(), v.copied())).collect()),
            simple => simple.clone(),
        }
    }

    /// `==` of P: order of sets and maps and permissions of references do not count.
    pub fn equals(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Float(a), Value::Float(b)) => f64::from_bits(*a) == f64::from_bits(*b),
            (Value::Machine(a, _), Value::Machine(b, _)) => a == b,
            (Value::Tuple(a), Value::Tuple(b)) | (Value::Seq(a), Value::Seq(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.equals(b))
            }
            (Value::Named(a), Value::Named(b)) => {
                a.len() == b.len() && a.iter().zip(b).all(|((n, a), (m, b))| n == m && a.equals(b))
            }
            (Value::Set(a), Value::Set(b)) => {
                a.len() == b.len() && a.iter().all(|x| b.iter().any(|y| x.equals(y)))
            }
            (Value::Map(a), Value::Map(b)) => {
                a.len() == b.len() && a.iter().all(|(k, v)| b.iter().any(|(l, w)| k.equals(l) && v.equals(w)))
            }
            (a, b) => a == b,
        }
    }

    /// The elements that `foreach` and `choose` go through: of a map, its keys.
    pub fn elements(&self) -> Result<Vec<Value>, Fault> {
        match self {
            Value::Seq(parts) => Ok(parts.iter().map(Value::copied).collect()),
            Value::Set(slots) => Ok(slots.iter().map(Value::copied).collect()),
            Value::Map(slots) => Ok(slots.iter().map(|(key, _)| key.copied()).collect()),
            _ => Err(Fault::Cast),
        }
    }

    /// `values(m)`
    pub fn map_values(&self) -> Result<Vec<Value>, Fault> {
        match self {
            Value::Map(slots) => Ok(slots.iter().map(|(_, value)| value.copied()).collect()),
            _ => Err(Fault::Cast),
        }
    }

    /// `x in c`
    pub fn contains(&self, item: &Value) -> Result<bool, Fault> {
        match self {
            Value::Map(_) if *item == Value::Null => Err(Fault::NullElement),
            _ => Ok(self.elements()?.iter().any(|element| element.equals(item))),
        }
    }

    /// `c[i]`
    pub fn at(&self, index: &Value) -> Result<Value, Fault> {
        match self {
            Value::Seq(_) | Value::Set(_) => {
                let elements = self.elements()?;
                let at = in_range(index, elements.len())?;
                Ok(elements[at].copied())
            }
            Value::Map(_) if *index == Value::Null => Err(Fault::NullElement),
            Value::Map(slots) => match slots.iter().find(|(key, _)| key.equals(index)) {
                Some((_, value)) => Ok(value.copied()),
                None => Err(Fault::MissingKey),
            },
            _ => Err(Fault::Cast),
        }
    }

    /// What stands at an index, to be changed. A map must have the key.
    pub fn at_mut(&mut self, index: &Value) -> Result<&mut Value, Fault> {
        match self {
            Value::Seq(parts) => {
                let at = in_range(index, parts.len())?;
                Ok(&mut parts[at])
            }
            Value::Map(_) if *index == Value::Null => Err(Fault::NullElement),
            Value::Map(slots) => {
                let found = slots.slots.iter_mut().flatten().find(|(key, _)| key.equals(index));
                found.map(|(_, value)| value).ok_or(Fault::MissingKey)
            }
            _ => Err(Fault::Cast),
        }
    }

    /// `c[i] = v`
    pub fn set_at(&mut self, index: &Value, value: Value) -> Result<(), Fault> {
        match self {
            Value::Map(slots) if *index != Value::Null => {
                match slots.position(|(key, _)| key.equals(index)) {
                    Some(at) => {
                        if let Some((_, old)) = &mut slots.slots[at] {
                            *old = value;
                        }
                    }
                    None => slots.push((index.copied(), value)),
                }
                Ok(())
            }
            _ => {
                *self.at_mut(index)? = value;
                Ok(())
            }
        }
    }

    /// `c += (i, v)`
    pub fn insert(&mut self, index: &Value, value: Value) -> Result<(), Fault> {
        match self {
            Value::Seq(parts) => {
                let at = in_range(index, parts.len() + 1)?;
                parts.insert(at, value);
                Ok(())
            }
            Value::Map(_) if *index == Value::Null => Err(Fault::NullElement),
            Value::Map(slots) => match slots.position(|(key, _)| key.equals(index)) {
                Some(_) => Err(Fault::DuplicateKey),
                None => {
                    slots.push((index.copied(), value));
                    Ok(())
                }
            },
            _ => Err(Fault::Cast),
        }
    }

    /// `c += (v)`
    pub fn add(&mut self, item: Value) -> Result<(), Fault> {
        match self {
            Value::Set(_) if item == Value::Null => Err(Fault::NullElement),
            Value::Set(slots) => {
                if slots.position(|element| element.equals(&item)).is_none() {
                    slots.push(item);
                }
                Ok(())
            }
            _ => Err(Fault::Cast),
        }
    }

    /// `c -= k`
    pub fn remove(&mut self, key: &Value) -> Result<(), Fault> {
        match self {
            Value::Seq(parts) => {
                let at = in_range(key, parts.len())?;
                parts.remove(at);
                Ok(())
            }
            Value::Set(slots) => {
                if let Some(at) = slots.position(|element| element.equals(key)) {
                    slots.remove(at);
                }
                Ok(())
            }
            Value::Map(_) if *key == Value::Null => Err(Fault::NullElement),
            Value::Map(slots) => {
                if let Some(at) = slots.position(|(known, _)| known.equals(key)) {
                    slots.remove(at);
                }
                Ok(())
            }
            _ => Err(Fault::Cast),
        }
    }

    /// `e.0`
    pub fn part(&self, at: usize) -> Result<&Value, Fault> {
        match self {
            Value::Tuple(parts) => parts.get(at).ok_or(Fault::Cast),
            _ => Err(Fault::Cast),
        }
    }

    pub fn part_mut(&mut self, at: usize) -> Result<&mut Value, Fault> {
        match self {
            Value::Tuple(parts) => parts.get_mut(at).ok_or(Fault::Cast),
            _ => Err(Fault::Cast),
        }
    }

    /// `e.f`
    pub fn field(&self, name: Symbol) -> Result<&Value, Fault> {
        match self {
            Value::Named(fields) => {
                fields.iter().find(|(n, _)| *n == name).map(|(_, value)| value).ok_or(Fault::MissingField)
            }
            _ => Err(Fault::Cast),
        }
    }

    pub fn field_mut(&mut self, name: Symbol) -> Result<&mut Value, Fault> {
        match self {
            Value::Named(fields) => {
                fields.iter_mut().find(|(n, _)| *n == name).map(|(_, value)| value).ok_or(Fault::MissingField)
            }
            _ => Err(Fault::Cast),
        }
    }
}

fn in_range(index: &Value, n: usize) -> Result<usize, Fault> {
    let Value::Int(index) = index else { return Err(Fault::Cast) };
    usize::try_from(*index).ok().filter(|&at| at < n).ok_or(Fault::Index)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set_of(items: &[i64]) -> Value {
        Value::Set(items.iter().map(|&n| Value::Int(n)).collect())
    }

    #[test]
    fn freed_slot_is_taken_first_and_copies_are_compact() {
        let mut set = set_of(&[1, 2, 3]);
        set.remove(&Value::Int(1)).unwrap();
        assert_ne!(set, set_of(&[2, 3]));
        assert_eq!(set.copied(), set_of(&[2, 3]));
        set.add(Value::Int(4)).unwrap();
        assert_eq!(set, set_of(&[4, 2, 3]));
        assert!(set.equals(&set_of(&[2, 3, 4])));
    }

    #[test]
    fn faults_have_kinds() {
        let mut seq = Value::Seq(vec![Value::Int(7)]);
        assert_eq!(seq.at(&Value::Int(1)), Err(Fault::Index));
        assert_eq!(seq.insert(&Value::Int(1), Value::Int(8)), Ok(()));
        assert_eq!(seq.remove(&Value::Int(-1)), Err(Fault::Index));
        let mut map = Value::Map(Slots::default());
        assert_eq!(map.at(&Value::Int(0)), Err(Fault::MissingKey));
        assert_eq!(map.set_at(&Value::Int(0), Value::Null), Ok(()));
        assert_eq!(map.insert(&Value::Int(0), Value::Null), Err(Fault::DuplicateKey));
        assert_eq!(map.contains(&Value::Null), Err(Fault::NullElement));
    }
}
