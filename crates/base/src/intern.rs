//! Interned names: a [`Symbol`] is compared and hashed as a number.

use std::hash::{BuildHasher, BuildHasherDefault};

use hashbrown::HashTable;
use rustc_hash::FxHasher;

use crate::{Idx, IndexVec};

crate::newtype_ids! {
    /// A name, by number. Two names are the same text exactly when they are the same symbol.
    Symbol = "sym";
}

/// The table behind [`Symbol`]s. Texts live in one buffer; symbols count up from zero.
#[derive(Clone, Default)]
pub struct Interner {
    buffer: String,
    ends: IndexVec<Symbol, u32>,
    table: HashTable<Symbol>,
}

impl Interner {
    /// An interner whose first symbols are `texts`, in order.
    pub fn with(texts: &[&str]) -> Self {
        let mut interner = Interner::default();
        for text in texts {
            interner.intern(text);
        }
        debug_assert_eq!(interner.ends.len(), texts.len(), "predefined names are distinct");
        interner
    }

    pub fn intern(&mut self, text: &str) -> Symbol {
        let hash = hash_of(text);
        let (buffer, ends) = (&self.buffer, &self.ends);
        let is_text = |&symbol: &Symbol| text_of(buffer, ends, symbol) == text;
        if let Some(&symbol) = self.table.find(hash, is_text) {
            return symbol;
        }
        self.buffer.push_str(text);
        let symbol = self.ends.push(self.buffer.len() as u32);
        let (buffer, ends) = (&self.buffer, &self.ends);
        self.table.insert_unique(hash, symbol, |&s| hash_of(text_of(buffer, ends, s)));
        symbol
    }

    /// The symbol of `text` if it has been interned.
    pub fn get(&self, text: &str) -> Option<Symbol> {
        self.table.find(hash_of(text), |&symbol| text_of(&self.buffer, &self.ends, symbol) == text).copied()
    }

    pub fn text(&self, symbol: Symbol) -> &str {
        text_of(&self.buffer, &self.ends, symbol)
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

fn hash_of(text: &str) -> u64 {
    BuildHasherDefault::<FxHasher>::default().hash_one(text)
}

fn text_of<'a>(buffer: &'a str, ends: &IndexVec<Symbol, u32>, symbol: Symbol) -> &'a str {
    let end = ends[symbol] as usize;
    let start = match symbol.index() {
        0 => 0,
        i => ends[Symbol::new(i - 1)] as usize,
    };
    &buffer[start..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn same_text_is_same_symbol() {
        let mut interner = Interner::with(&["", "a"]);
        let a = interner.intern("a");
        let b = interner.intern("b");
        assert_ne!(a, b);
        assert_eq!(interner.intern("b"), b);
        assert_eq!((interner.text(a), interner.text(b)), ("a", "b"));
        assert_eq!(interner.get(""), Some(Symbol::from_u32(0)));
        assert_eq!(interner.get("c"), None);
    }
}
