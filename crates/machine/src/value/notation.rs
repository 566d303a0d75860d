//! How values of a static type are shown to people: enums are numbers at run time, and names in the source.
//!
//! Only traces use it. What a program itself makes of a value, as `format` does, shows numbers, as P has it.

use allways_base::Symbol;
use allways_p::hir::{Enum, Program, Type, TypeId};

/// Where enums are in a value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Notation {
    /// There are none, as far as the type says.
    Plain,
    /// The elements by their numbers.
    Enum(Box<[(i64, Symbol)]>),
    /// A tuple, by places.
    Tuple(Box<[Notation]>),
    /// A named tuple. By names, since a value may have its fields in another order.
    Named(Box<[(Symbol, Notation)]>),
    /// A sequence or set.
    Elements(Box<Notation>),
    /// Keys, and what they lead to.
    Map(Box<[Notation; 2]>),
}

impl Notation {
    /// That of a type.
    pub fn of(program: &Program, ty: TypeId) -> Notation {
        let of = |ty: &TypeId| Notation::of(program, *ty);
        let whole = match program.types.get(ty) {
            Type::Enum(id) => return Notation::of_enum(&program.enums[*id]),
            Type::Seq(element) | Type::Set(element) => Notation::Elements(Box::new(of(element))),
            Type::Map(key, value) => Notation::Map(Box::new([of(key), of(value)])),
            Type::Tuple(parts) => Notation::Tuple(parts.iter().map(of).collect()),
            Type::NamedTuple(fields) => {
                Notation::Named(fields.iter().map(|(name, ty)| (*name, of(ty))).collect())
            }
            Type::Error
            | Type::Null
            | Type::Bool
            | Type::Int
            | Type::Float
            | Type::String
            | Type::Event
            | Type::Machine
            | Type::Any
            | Type::Data
            | Type::Foreign(_)
            | Type::Permission(..)
            | Type::Alias(_) => return Notation::Plain,
        };
        if whole.is_plain() { Notation::Plain } else { whole }
    }

    fn of_enum(def: &Enum) -> Notation {
        Notation::Enum(def.elements.iter().map(|&(name, number)| (number, name)).collect())
    }

    /// Nothing in it has a name; parts are made by `of`, so one level is enough.
    fn is_plain(&self) -> bool {
        let is_plain = |part: &Notation| *part == Notation::Plain;
        match self {
            Notation::Plain => true,
            Notation::Enum(_) => false,
            Notation::Tuple(parts) => parts.iter().all(is_plain),
            Notation::Named(fields) => fields.iter().all(|(_, part)| is_plain(part)),
            Notation::Elements(element) => is_plain(element),
            Notation::Map(parts) => parts.iter().all(is_plain),
        }
    }

    /// The name of an element, if it is one.
    pub(crate) fn element(&self, number: i64) -> Option<Symbol> {
        match self {
            Notation::Enum(elements) => elements.iter().find(|(n, _)| *n == number).map(|&(_, name)| name),
            _ => None,
        }
    }

    pub(crate) fn part(&self, at: usize) -> &Notation {
        match self {
            Notation::Tuple(parts) => parts.get(at).unwrap_or(&Notation::Plain),
            _ => &Notation::Plain,
        }
    }

    pub(crate) fn field(&self, name: Symbol) -> &Notation {
        match self {
            Notation::Named(fields) => {
                fields.iter().find(|(field, _)| *field == name).map_or(&Notation::Plain, |(_, part)| part)
            }
            _ => &Notation::Plain,
        }
    }

    pub(crate) fn elements(&self) -> &Notation {
        match self {
            Notation::Elements(element) => element,
            _ => &Notation::Plain,
        }
    }

    pub(crate) fn entries(&self) -> [&Notation; 2] {
        match self {
            Notation::Map(parts) => [&parts[0], &parts[1]],
            _ => [&Notation::Plain; 2],
        }
    }
}
