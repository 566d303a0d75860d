//! From words of the store to values for people, with names and texts shared.

use std::sync::Arc;

use allways_base::Symbol;
use allways_run::{Datum, InstanceId, Name};
use rustc_hash::FxHashMap;

use crate::record::Scene;
use crate::value::{Kind, Notation, Value, View};

#[derive(Clone, Default, Debug)]
pub(super) struct Data {
    symbols: FxHashMap<Symbol, Name>,
    machines: FxHashMap<InstanceId, Name>,
    /// Strings by their words.
    texts: FxHashMap<u64, Name>,
    /// Payloads, by their words and how they are shown.
    payloads: FxHashMap<(u64, usize), Arc<Datum>>,
}

impl Data {
    pub fn symbol(&mut self, scene: &Scene<'_>, symbol: Symbol) -> Name {
        self.symbols.entry(symbol).or_insert_with(|| scene.exe.symbols.text(symbol).into()).clone()
    }

    pub fn name_machine(&mut self, instance: InstanceId, name: Name) {
        self.machines.insert(instance, name);
    }

    /// A value that many places show.
    pub fn shared(&mut self, scene: &Scene<'_>, notation: &Notation, value: Value) -> Arc<Datum> {
        // The address tells notations of one executable apart.
        let key = (value.bits(), std::ptr::from_ref(notation) as usize);
        if let Some(known) = self.payloads.get(&key) {
            return known.clone();
        }
        let datum = Arc::new(self.datum(scene, notation, value));
        self.payloads.insert(key, datum.clone());
        datum
    }

    pub fn datum(&mut self, scene: &Scene<'_>, notation: &Notation, value: Value) -> Datum {
        let store = scene.store;
        if let Some(number) = store.shown_int(value) {
            return match notation.element(number) {
                Some(element) => Datum::Enum { name: self.symbol(scene, element), number },
                None => Datum::Int(number),
            };
        }
        match value.view() {
            View::Null | View::Hole(_) => Datum::Null,
            View::Bool(b) => Datum::Bool(b),
            View::Int(n) => Datum::Int(n),
            View::Atom(_, n) => Datum::Int(n.into()),
            View::Event(event) => Datum::Event(self.symbol(scene, scene.exe.events[event])),
            View::Ref(instance, _) => {
                let name = self.machines.entry(instance).or_insert_with(|| scene.name(instance).into());
                Datum::Machine(name.clone())
            }
            View::Node(kind, id) => match kind {
                Kind::Int => Datum::Int(store.as_int(value).unwrap_or(0)),
                Kind::Float => Datum::Float(store.as_float(value).unwrap_or(0.0)),
                Kind::String => {
                    let text = || scene.reveal(store.as_str(value).unwrap_or("")).into();
                    Datum::Text(self.texts.entry(value.bits()).or_insert_with(text).clone())
                }
                Kind::Tuple => {
                    let parts = store.parts(id).iter().enumerate();
                    Datum::Tuple(
                        parts.map(|(at, &part)| self.datum(scene, notation.part(at), part)).collect(),
                    )
                }
                Kind::Named => {
                    let (shape, parts) = store.named_parts(id);
                    let fields = scene.exe.shapes[shape].iter().zip(parts);
                    let field = |(&name, &part): (&Symbol, &Value)| {
                        (self.symbol(scene, name), self.datum(scene, notation.field(name), part))
                    };
                    Datum::Named(fields.map(field).collect())
                }
                Kind::Seq => {
                    let parts = store.parts(id).iter();
                    Datum::Seq(parts.map(|&part| self.datum(scene, notation.elements(), part)).collect())
                }
                Kind::Set => {
                    let elements = store.set_elements(id);
                    Datum::Set(elements.map(|part| self.datum(scene, notation.elements(), part)).collect())
                }
                Kind::Map => {
                    let [of_key, of_value] = notation.entries();
                    let entry = |(k, v): (Value, Value)| {
                        (self.datum(scene, of_key, k), self.datum(scene, of_value, v))
                    };
                    Datum::Map(store.map_entries(id).map(entry).collect())
                }
            },
        }
    }
}
