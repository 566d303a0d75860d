//! The size of a value. What the report says grows (`growth`) and what the user bounds (`variables`) is measured here, so that a bound on
//! what was reported to grow has an effect.

use allways_machine::value::{Kind, View};
use allways_machine::{Store, Value};
use rustc_hash::FxHashMap;

/// Of a value with all that is in it, keys of maps included.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Size {
    /// The largest number, without its sign.
    pub number: u64,
    /// The elements of the sequence, set or map that has most.
    pub length: u64,
}

impl Size {
    fn join(&mut self, other: Size) {
        self.number = self.number.max(other.number);
        self.length = self.length.max(other.length);
    }
}

/// Sizes of values of one store, which forgets none meanwhile; each is measured once, since values share what is in them.
#[derive(Default)]
pub(crate) struct Sizes {
    known: FxHashMap<u64, Size>,
}

impl Sizes {
    pub fn n_bytes(&self) -> usize {
        self.known.capacity() * (size_of::<(u64, Size)>() + 1)
    }

    /// Values are no deeper than the store allows.
    pub fn of(&mut self, store: &Store, value: Value) -> Size {
        let (kind, id) = match value.view() {
            View::Int(n) => return Size { number: n.unsigned_abs(), length: 0 },
            View::Atom(_, n) => return Size { number: n.into(), length: 0 },
            View::Node(kind, id) => (kind, id),
            View::Null | View::Bool(_) | View::Event(_) | View::Ref(..) | View::Hole(_) => {
                return Size::default();
            }
        };
        if let Some(&size) = self.known.get(&value.bits()) {
            return size;
        }
        let mut size = Size::default();
        match kind {
            Kind::Int => size.number = store.as_int(value).map_or(0, i64::unsigned_abs),
            Kind::Float | Kind::String => {}
            Kind::Tuple | Kind::Seq => {
                store.parts(id).iter().for_each(|&part| size.join(self.of(store, part)));
            }
            Kind::Named => store.named_parts(id).1.iter().for_each(|&part| size.join(self.of(store, part))),
            Kind::Set => store.set_elements(id).for_each(|part| size.join(self.of(store, part))),
            Kind::Map => store.map_entries(id).for_each(|(key, part)| {
                size.join(self.of(store, key));
                size.join(self.of(store, part));
            }),
        }
        if let Kind::Seq | Kind::Set | Kind::Map = kind {
            size.length = size.length.max(store.size_of(value).unwrap_or(0) as u64);
        }
        self.known.insert(value.bits(), size);
        size
    }
}
