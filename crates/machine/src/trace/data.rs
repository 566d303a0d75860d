//! From words of the store to values for people, with names and texts shared.
//!
//! A value of the store may stand for billions of elements, since equal parts are stored once. What is shown of one is therefore cut
//! off after [`MAX_PARTS`], with how many elements are left out, and earlier when a trace shows very many.

use std::sync::Arc;

use allways_base::Symbol;
use allways_run::{Datum, InstanceId, Name};
use rustc_hash::FxHashMap;

use crate::record::Scene;
use crate::value::{Kind, Notation, Value, View};

/// Parts of one value that are shown, and characters of one text.
pub(super) const MAX_PARTS: usize = 10_000;
const MAX_TEXT: usize = 100_000;
/// Parts of all values of a trace. When they are used up, few of each value are shown.
const MAX_IN_ALL: usize = 500_000;
const FEW_PARTS: usize = 100;

#[derive(Clone, Default, Debug)]
pub(super) struct Data {
    symbols: FxHashMap<Symbol, Name>,
    machines: FxHashMap<InstanceId, Name>,
    /// Strings by their words.
    texts: FxHashMap<u64, Name>,
    /// Payloads, by their words and how they are shown.
    payloads: FxHashMap<(u64, usize), Arc<Datum>>,
    /// Parts shown so far.
    n_shown: usize,
    /// Parts of the present value that may still be shown.
    n_left: usize,
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

    /// A value as far as it is shown.
    pub fn datum(&mut self, scene: &Scene<'_>, notation: &Notation, value: Value) -> Datum {
        self.whole(|data| data.part(scene, notation, value))
    }

    /// A sequence as far as it is shown.
    pub fn sequence(&mut self, scene: &Scene<'_>, notation: &Notation, values: &[Value]) -> Datum {
        self.whole(|data| data.seq(scene, notation, values))
    }

    /// Elements, all of them, but of each only as much as is shown of all together.
    pub fn each(&mut self, scene: &Scene<'_>, notation: &Notation, values: &[Value]) -> Vec<Datum> {
        self.whole(|data| {
            data.n_left = data.n_left.saturating_sub(values.len());
            values.iter().map(|&value| data.part(scene, notation, value)).collect()
        })
    }

    fn whole<T>(&mut self, show: impl FnOnce(&mut Data) -> T) -> T {
        let allowed = MAX_PARTS.min(MAX_IN_ALL.saturating_sub(self.n_shown)).max(FEW_PARTS);
        self.n_left = allowed;
        let datum = show(self);
        self.n_shown += allowed - self.n_left;
        datum
    }

    fn seq(&mut self, scene: &Scene<'_>, notation: &Notation, values: &[Value]) -> Datum {
        let parts = values.iter();
        Datum::Seq(self.some(parts, |data, &part| data.part(scene, notation, part), |rest| rest))
    }

    /// Those of many parts that are shown, and what stands for the rest.
    fn some<T, U>(
        &mut self,
        mut parts: impl Iterator<Item = T>,
        mut show: impl FnMut(&mut Data, T) -> U,
        rest: impl FnOnce(Datum) -> U,
    ) -> Vec<U> {
        let mut shown = Vec::new();
        while self.n_left > 0
            && let Some(part) = parts.next()
        {
            self.n_left -= 1;
            shown.push(show(self, part));
        }
        match parts.count() {
            0 => {}
            n => shown.push(rest(Datum::Other(format!("... {n} more").into()))),
        }
        shown
    }

    fn text(&mut self, scene: &Scene<'_>, value: Value) -> Datum {
        let whole = scene.store.as_str(value).unwrap_or("");
        if whole.len() > MAX_TEXT {
            let few: String = whole.chars().take(FEW_PARTS).collect();
            return Datum::Other(format!("{few:?}... (text of {} bytes)", whole.len()).into());
        }
        let text = || scene.reveal(whole).into();
        Datum::Text(self.texts.entry(value.bits()).or_insert_with(text).clone())
    }

    fn part(&mut self, scene: &Scene<'_>, notation: &Notation, value: Value) -> Datum {
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
                Kind::String => self.text(scene, value),
                Kind::Tuple => {
                    let parts = store.parts(id).iter().enumerate();
                    Datum::Tuple(parts.map(|(at, &part)| self.part(scene, notation.part(at), part)).collect())
                }
                Kind::Named => {
                    let (shape, parts) = store.named_parts(id);
                    let fields = scene.exe.shapes[shape].iter().zip(parts);
                    let field = |(&name, &part): (&Symbol, &Value)| {
                        (self.symbol(scene, name), self.part(scene, notation.field(name), part))
                    };
                    Datum::Named(fields.map(field).collect())
                }
                Kind::Seq => self.seq(scene, notation.elements(), store.parts(id)),
                Kind::Set => {
                    let (parts, of_part) = (store.set_elements(id), notation.elements());
                    Datum::Set(self.some(parts, |data, part| data.part(scene, of_part, part), |rest| rest))
                }
                Kind::Map => {
                    let [of_key, of_value] = notation.entries();
                    let entry = |data: &mut Data, (k, v): (Value, Value)| {
                        (data.part(scene, of_key, k), data.part(scene, of_value, v))
                    };
                    let rest = |rest| (rest, Datum::Other("...".into()));
                    Datum::Map(self.some(store.map_entries(id), entry, rest))
                }
            },
        }
    }
}
