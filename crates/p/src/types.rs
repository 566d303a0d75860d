//! Types of P, interned, and the relation "a location of type T accepts a value of type S".

use allways_base::{Idx, IndexVec, Interner, Symbol, newtype_ids};
use rustc_hash::FxHashMap;

use crate::hir::EventId;

newtype_ids! {
    /// An interned type: equal types have equal ids, except that an alias is a type of its own.
    TypeId = "t";
    EnumId = "enum";
    ForeignTypeId = "foreign";
    AliasId = "alias";
}

/// A set of events, as a bit per event.
#[derive(Clone, PartialEq, Eq, Hash, Default, Debug)]
pub struct EventSet {
    words: Vec<u64>,
}

impl EventSet {
    pub fn insert(&mut self, event: EventId) {
        let (word, bit) = (event.index() / 64, event.index() % 64);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        self.words[word] |= 1 << bit;
    }

    pub fn contains(&self, event: EventId) -> bool {
        let (word, bit) = (event.index() / 64, event.index() % 64);
        self.words.get(word).is_some_and(|w| w >> bit & 1 == 1)
    }

    pub fn union(&mut self, other: &EventSet) {
        if self.words.len() < other.words.len() {
            self.words.resize(other.words.len(), 0);
        }
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            *mine |= theirs;
        }
    }

    pub fn is_subset(&self, other: &EventSet) -> bool {
        self.iter().all(|event| other.contains(event))
    }

    pub fn is_disjoint(&self, other: &EventSet) -> bool {
        self.words.iter().zip(&other.words).all(|(a, b)| a & b == 0)
    }

    pub fn is_empty(&self) -> bool {
        self.words.iter().all(|&w| w == 0)
    }

    /// Events in order of their ids.
    pub fn iter(&self) -> impl Iterator<Item = EventId> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| EventId::new(i * 64 + bit))
        })
    }

    /// Without trailing zero words, so that equal sets are equal values.
    fn normalize(mut self) -> Self {
        while self.words.last() == Some(&0) {
            self.words.pop();
        }
        self
    }
}

impl FromIterator<EventId> for EventSet {
    fn from_iter<T: IntoIterator<Item = EventId>>(iter: T) -> Self {
        let mut set = EventSet::default();
        for event in iter {
            set.insert(event);
        }
        set
    }
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Type {
    /// Stands for a type that could not be determined; everything accepts it, so that one mistake is
    /// reported once. Never in an accepted program.
    Error,
    /// The type of `null`, of "no payload" and of "no result".
    Null,
    Bool,
    Int,
    Float,
    String,
    Event,
    /// Any machine reference.
    Machine,
    Any,
    /// Values without machine references.
    Data,
    Seq(TypeId),
    Set(TypeId),
    Map(TypeId, TypeId),
    Tuple(Vec<TypeId>),
    NamedTuple(Vec<(Symbol, TypeId)>),
    Enum(EnumId),
    Foreign(ForeignTypeId),
    /// A reference that may be sent these events only; the name is what the source called it.
    Permission(Symbol, EventSet),
    /// A typedef name. Never in the typed program.
    Alias(AliasId),
}

impl Type {
    /// The types directly inside: of elements, keys and values, parts.
    pub fn parts(&self) -> impl Iterator<Item = TypeId> {
        let (mut one, mut two) = (None, None);
        let (mut list, mut named): (&[TypeId], &[(Symbol, TypeId)]) = (&[], &[]);
        match self {
            Type::Seq(element) | Type::Set(element) => one = Some(*element),
            Type::Map(key, value) => (one, two) = (Some(*key), Some(*value)),
            Type::Tuple(parts) => list = parts,
            Type::NamedTuple(fields) => named = fields,
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
            | Type::Enum(_)
            | Type::Foreign(_)
            | Type::Permission(..)
            | Type::Alias(_) => {}
        }
        one.into_iter().chain(two).chain(list.iter().copied()).chain(named.iter().map(|&(_, ty)| ty))
    }
}

#[derive(Clone, Debug)]
struct Alias {
    name: Symbol,
    /// What it stands for; [`Types::ERROR`] until resolved.
    target: TypeId,
}

/// The table of types.
#[derive(Clone)]
pub struct Types {
    types: IndexVec<TypeId, Type>,
    ids: FxHashMap<Type, TypeId>,
    aliases: IndexVec<AliasId, Alias>,
    /// Names of enums and foreign types, for messages.
    enum_names: IndexVec<EnumId, Symbol>,
    foreign_names: IndexVec<ForeignTypeId, Symbol>,
    canonical: FxHashMap<TypeId, TypeId>,
    /// Answers about compound types: a type that shares its parts is a graph, and is visited once.
    accepted: FxHashMap<(TypeId, TypeId), bool>,
    permissions: FxHashMap<TypeId, Option<EventSet>>,
}

impl Default for Types {
    fn default() -> Self {
        let mut types = Types {
            types: IndexVec::new(),
            ids: FxHashMap::default(),
            aliases: IndexVec::new(),
            enum_names: IndexVec::new(),
            foreign_names: IndexVec::new(),
            canonical: FxHashMap::default(),
            accepted: FxHashMap::default(),
            permissions: FxHashMap::default(),
        };
        for ty in [
            Type::Error,
            Type::Null,
            Type::Bool,
            Type::Int,
            Type::Float,
            Type::String,
            Type::Event,
            Type::Machine,
            Type::Any,
            Type::Data,
        ] {
            types.intern(ty);
        }
        types
    }
}

/// A name cut to a length that a message can bear.
pub(crate) fn short(name: &str) -> &str {
    // Names are ASCII; anything else would only be cut elsewhere.
    name.get(..100).unwrap_or(name)
}

impl Types {
    pub const ERROR: TypeId = TypeId::from_u32(0);
    pub const NULL: TypeId = TypeId::from_u32(1);
    pub const BOOL: TypeId = TypeId::from_u32(2);
    pub const INT: TypeId = TypeId::from_u32(3);
    pub const FLOAT: TypeId = TypeId::from_u32(4);
    pub const STRING: TypeId = TypeId::from_u32(5);
    pub const EVENT: TypeId = TypeId::from_u32(6);
    pub const MACHINE: TypeId = TypeId::from_u32(7);
    pub const ANY: TypeId = TypeId::from_u32(8);
    pub const DATA: TypeId = TypeId::from_u32(9);

    pub fn intern(&mut self, ty: Type) -> TypeId {
        let ty = match ty {
            Type::Permission(name, events) => Type::Permission(name, events.normalize()),
            other => other,
        };
        if let Some(&id) = self.ids.get(&ty) {
            return id;
        }
        let id = self.types.push(ty.clone());
        self.ids.insert(ty, id);
        id
    }

    pub fn get(&self, id: TypeId) -> &Type {
        &self.types[id]
    }

    pub fn len(&self) -> usize {
        self.types.len()
    }

    pub fn is_empty(&self) -> bool {
        self.types.is_empty()
    }

    pub fn new_enum(&mut self, name: Symbol) -> TypeId {
        let id = self.enum_names.push(name);
        self.intern(Type::Enum(id))
    }

    pub fn new_foreign(&mut self, name: Symbol) -> TypeId {
        let id = self.foreign_names.push(name);
        self.intern(Type::Foreign(id))
    }

    /// The foreign type of a name.
    pub fn foreign_named(&self, name: Symbol) -> Option<TypeId> {
        let at = self.foreign_names.iter().position(|&known| known == name)?;
        self.ids.get(&Type::Foreign(ForeignTypeId::new(at))).copied()
    }

    /// A typedef whose definition is set later, so that cycles can be found.
    pub fn new_alias(&mut self, name: Symbol) -> TypeId {
        let id = self.aliases.push(Alias { name, target: Self::ERROR });
        self.intern(Type::Alias(id))
    }

    pub fn set_alias(&mut self, alias: TypeId, target: TypeId) {
        if let Type::Alias(id) = self.types[alias] {
            self.aliases[id].target = target;
        }
    }

    /// What an alias stands for; `None` for other types.
    pub fn alias_target(&self, alias: TypeId) -> Option<TypeId> {
        match self.types[alias] {
            Type::Alias(id) => Some(self.aliases[id].target),
            _ => None,
        }
    }

    /// The type with every alias replaced by its definition. Definitions are acyclic by then.
    pub fn canonical(&mut self, id: TypeId) -> TypeId {
        if id <= Self::DATA {
            return id;
        }
        if let Some(&known) = self.canonical.get(&id) {
            return known;
        }
        let result = match self.types[id].clone() {
            Type::Alias(alias) => {
                let target = self.aliases[alias].target;
                self.canonical(target)
            }
            Type::Seq(t) => {
                let t = self.canonical(t);
                self.intern(Type::Seq(t))
            }
            Type::Set(t) => {
                let t = self.canonical(t);
                self.intern(Type::Set(t))
            }
            Type::Map(k, v) => {
                let (k, v) = (self.canonical(k), self.canonical(v));
                self.intern(Type::Map(k, v))
            }
            Type::Tuple(fields) => {
                let fields = fields.into_iter().map(|t| self.canonical(t)).collect();
                self.intern(Type::Tuple(fields))
            }
            Type::NamedTuple(fields) => {
                let fields = fields.into_iter().map(|(n, t)| (n, self.canonical(t))).collect();
                self.intern(Type::NamedTuple(fields))
            }
            _ => id,
        };
        self.canonical.insert(id, result);
        result
    }

    /// The shape of a type with aliases at the top replaced.
    pub fn shape(&mut self, id: TypeId) -> Type {
        let id = self.canonical(id);
        self.types[id].clone()
    }

    /// Whether a location of type `to` accepts a value of type `from`.
    ///
    /// Like P's own compiler this looks at `from` without replacing an alias at its top when `to` is
    /// `machine`, an enum or a permission type; see the diagnostic `alias-hides-type`.
    pub fn accepts(&mut self, to: TypeId, from: TypeId) -> bool {
        let to = self.canonical(to);
        if to == Self::ERROR || from == Self::ERROR || to == Self::ANY {
            return true;
        }
        let from_canonical = self.canonical(from);
        if from_canonical == Self::ERROR {
            return true;
        }
        let is_alias = matches!(self.types[from], Type::Alias(_));
        if to == from_canonical {
            return !(is_alias && matches!(self.types[to], Type::Enum(_) | Type::Permission(..)));
        }
        if let Some(&known) = self.accepted.get(&(to, from)) {
            return known;
        }
        let answer = self.accepts_other(to, from_canonical, is_alias);
        self.accepted.insert((to, from), answer);
        answer
    }

    /// Two different canonical types; `is_alias` when the second was written as an alias.
    fn accepts_other(&mut self, to: TypeId, from: TypeId, is_alias: bool) -> bool {
        match (self.types[to].clone(), self.types[from].clone()) {
            (Type::Data, _) => self.permissions(from).is_some_and(|set| set.is_empty()),
            (Type::Machine, Type::Null) => true,
            (Type::Machine, Type::Permission(..)) => !is_alias,
            (Type::Event, Type::Null) => true,
            (Type::Permission(_, a), Type::Permission(_, b)) => a == b && !is_alias,
            (Type::Seq(a), Type::Seq(b)) | (Type::Set(a), Type::Set(b)) => self.accepts(a, b),
            (Type::Map(k1, v1), Type::Map(k2, v2)) => self.accepts(k1, k2) && self.accepts(v1, v2),
            (Type::Tuple(a), Type::Tuple(b)) => {
                a.len() == b.len() && a.iter().zip(&b).all(|(&a, &b)| self.accepts(a, b))
            }
            (Type::NamedTuple(a), Type::NamedTuple(b)) => {
                a.len() == b.len()
                    && a.iter().zip(&b).all(|(&(n1, t1), &(n2, t2))| n1 == n2 && self.accepts(t1, t2))
            }
            _ => false,
        }
    }

    /// Whether `from` would be accepted if its alias were written out: the one case where P's rule
    /// surprises.
    pub fn alias_hides(&mut self, to: TypeId, from: TypeId) -> bool {
        let written_out = self.canonical(from);
        !self.accepts(to, from) && self.accepts(to, written_out)
    }

    /// "The same type": each accepts the other.
    pub fn same(&mut self, a: TypeId, b: TypeId) -> bool {
        self.accepts(a, b) && self.accepts(b, a)
    }

    /// Whether `==` and `as` are allowed between the two.
    pub fn comparable(&mut self, a: TypeId, b: TypeId) -> bool {
        self.accepts(a, b) || self.accepts(b, a)
    }

    /// The events that references inside values of this type may be sent; `None` when unknown.
    pub fn permissions(&mut self, id: TypeId) -> Option<EventSet> {
        let id = self.canonical(id);
        if let Some(known) = self.permissions.get(&id) {
            return known.clone();
        }
        let answer = match self.types[id].clone() {
            Type::Any | Type::Machine | Type::Foreign(_) => None,
            Type::Permission(_, events) => Some(events),
            other => self.union_permissions(other.parts()),
        };
        self.permissions.insert(id, answer.clone());
        answer
    }

    fn union_permissions(&mut self, parts: impl IntoIterator<Item = TypeId>) -> Option<EventSet> {
        let mut all = EventSet::default();
        for part in parts {
            all.union(&self.permissions(part)?);
        }
        Some(all)
    }

    /// The type as a user would write it.
    pub fn show(&self, id: TypeId, symbols: &Interner) -> String {
        let mut out = String::new();
        self.write(id, symbols, &mut out);
        out
    }

    fn write(&self, id: TypeId, symbols: &Interner, out: &mut String) {
        // A type as deep as the parser allows is not worth reading in full.
        if out.len() > 400 {
            if !out.ends_with('…') {
                out.push('…');
            }
            return;
        }
        match &self.types[id] {
            Type::Error => out.push('?'),
            Type::Null => out.push_str("null"),
            Type::Bool => out.push_str("bool"),
            Type::Int => out.push_str("int"),
            Type::Float => out.push_str("float"),
            Type::String => out.push_str("string"),
            Type::Event => out.push_str("event"),
            Type::Machine => out.push_str("machine"),
            Type::Any => out.push_str("any"),
            Type::Data => out.push_str("data"),
            Type::Seq(t) => self.write_parts("seq[", &[*t], "]", symbols, out),
            Type::Set(t) => self.write_parts("set[", &[*t], "]", symbols, out),
            Type::Map(k, v) => self.write_parts("map[", &[*k, *v], "]", symbols, out),
            Type::Tuple(fields) => self.write_parts("(", fields, ")", symbols, out),
            Type::NamedTuple(fields) => {
                out.push('(');
                for (i, &(name, ty)) in fields.iter().enumerate() {
                    if i > 0 {
                        out.push_str(", ");
                    }
                    out.push_str(short(symbols.text(name)));
                    out.push_str(": ");
                    self.write(ty, symbols, out);
                }
                out.push(')');
            }
            Type::Enum(id) => out.push_str(short(symbols.text(self.enum_names[*id]))),
            Type::Foreign(id) => out.push_str(short(symbols.text(self.foreign_names[*id]))),
            Type::Permission(name, _) => out.push_str(short(symbols.text(*name))),
            Type::Alias(id) => out.push_str(short(symbols.text(self.aliases[*id].name))),
        }
    }

    fn write_parts(&self, open: &str, parts: &[TypeId], close: &str, symbols: &Interner, out: &mut String) {
        out.push_str(open);
        for (i, &part) in parts.iter().enumerate() {
            if i > 0 {
                out.push_str(", ");
            }
            self.write(part, symbols, out);
        }
        out.push_str(close);
    }
}
