//! What changed between two values of one variable, as edits at paths.
//!
//! Values are hash-consed, so equal parts are found at once. Places that are in both are followed into their parts;
//! sequences of different lengths become one splice.

use allways_run::{Datum, Edit, PathStep};
use rustc_hash::FxHashMap;

use super::data::{Data, MAX_PARTS};
use crate::record::Scene;
use crate::value::{Kind, Notation, Value, View};

type Edits = Vec<(Vec<PathStep>, Edit)>;

/// Beyond so many places, the whole value is shown before and after.
const MAX_EDITS: usize = 32;

pub(super) fn diff(
    data: &mut Data,
    scene: &Scene<'_>,
    notation: &Notation,
    before: Value,
    after: Value,
) -> Edits {
    let mut differ = Differ { data, scene, path: Vec::new(), edits: Vec::new() };
    differ.compare(notation, before, after);
    let edits = std::mem::take(&mut differ.edits);
    if edits.len() <= MAX_EDITS {
        return edits;
    }
    let [before, after] = [before, after].map(|value| Some(data.datum(scene, notation, value)));
    vec![(Vec::new(), Edit::Replace { before, after })]
}

struct Differ<'a, 'b> {
    data: &'a mut Data,
    scene: &'a Scene<'b>,
    path: Vec<PathStep>,
    edits: Edits,
}

impl Differ<'_, '_> {
    fn replace(&mut self, before: Option<Datum>, after: Option<Datum>) {
        self.edits.push((self.path.clone(), Edit::Replace { before, after }));
    }

    fn within(&mut self, step: PathStep, notation: &Notation, before: Value, after: Value) {
        self.path.push(step);
        self.compare(notation, before, after);
        self.path.pop();
    }

    fn compare(&mut self, notation: &Notation, before: Value, after: Value) {
        if before == after || self.edits.len() > MAX_EDITS {
            return;
        }
        let (store, scene) = (self.scene.store, self.scene);
        match (before.view(), after.view()) {
            (View::Node(Kind::Named, a), View::Node(Kind::Named, b))
                if store.named_parts(a).0 == store.named_parts(b).0 =>
            {
                let ((shape, a), (_, b)) = (store.named_parts(a), store.named_parts(b));
                for ((&name, &a), &b) in scene.exe.shapes[shape].iter().zip(a).zip(b) {
                    if a != b {
                        let step = PathStep::Field(self.data.symbol(scene, name));
                        self.within(step, notation.field(name), a, b);
                    }
                }
            }
            (View::Node(Kind::Tuple, a), View::Node(Kind::Tuple, b))
                if store.parts(a).len() == store.parts(b).len() =>
            {
                for (at, (&a, &b)) in store.parts(a).iter().zip(store.parts(b)).enumerate() {
                    self.within(PathStep::Part(at as u32), notation.part(at), a, b);
                }
            }
            (View::Node(Kind::Seq, a), View::Node(Kind::Seq, b)) => {
                self.sequences(notation.elements(), store.parts(a), store.parts(b));
            }
            (View::Node(Kind::Map, a), View::Node(Kind::Map, b)) => self.maps(notation, a, b),
            (View::Node(Kind::Set, a), View::Node(Kind::Set, b)) => self.sets(notation.elements(), a, b),
            _ => {
                let [before, after] =
                    [before, after].map(|value| Some(self.data.datum(scene, notation, value)));
                self.replace(before, after);
            }
        }
    }

    fn sequences(&mut self, notation: &Notation, before: &[Value], after: &[Value]) {
        if before.len() == after.len() {
            for (at, (&a, &b)) in before.iter().zip(after).enumerate() {
                if a != b {
                    self.within(PathStep::Key(Datum::Int(at as i64)), notation, a, b);
                }
            }
            return;
        }
        let at = before.iter().zip(after).take_while(|(a, b)| a == b).count();
        let whole = (before, after);
        let (before, after) = (&before[at..], &after[at..]);
        let same = before.iter().rev().zip(after.iter().rev()).take_while(|(a, b)| a == b).count();
        let scene = self.scene;
        let (before, after) = (&before[..before.len() - same], &after[..after.len() - same]);
        // A splice counts elements, so that none of them may be left out.
        if before.len() + after.len() > MAX_PARTS {
            let [before, after] =
                [whole.0, whole.1].map(|all| Some(self.data.sequence(scene, notation, all)));
            return self.replace(before, after);
        }
        let [removed, inserted] = [before, after].map(|values| self.data.each(scene, notation, values));
        self.edits.push((self.path.clone(), Edit::Splice { at, removed, inserted }));
    }

    fn maps(&mut self, notation: &Notation, before: u32, after: u32) {
        let (store, scene) = (self.scene.store, self.scene);
        let [of_key, of_value] = notation.entries();
        let new: FxHashMap<Value, Value> = store.map_entries(after).collect();
        let old: FxHashMap<Value, Value> = store.map_entries(before).collect();
        for (key, value) in store.map_entries(before) {
            match new.get(&key) {
                Some(&now) if now == value => {}
                Some(&now) => {
                    let step = PathStep::Key(self.data.datum(scene, of_key, key));
                    self.within(step, of_value, value, now);
                }
                None => {
                    let step = PathStep::Key(self.data.datum(scene, of_key, key));
                    let value = self.data.datum(scene, of_value, value);
                    self.path.push(step);
                    self.replace(Some(value), None);
                    self.path.pop();
                }
            }
        }
        for (key, value) in store.map_entries(after).filter(|(key, _)| !old.contains_key(key)) {
            let step = PathStep::Key(self.data.datum(scene, of_key, key));
            let value = self.data.datum(scene, of_value, value);
            self.path.push(step);
            self.replace(None, Some(value));
            self.path.pop();
        }
    }

    fn sets(&mut self, notation: &Notation, before: u32, after: u32) {
        let (store, scene) = (self.scene.store, self.scene);
        let [old, new] = [before, after].map(|id| store.set_elements(id).collect::<Vec<Value>>());
        let has = |list: &[Value]| list.iter().copied().collect::<rustc_hash::FxHashSet<Value>>();
        let (in_old, in_new) = (has(&old), has(&new));
        let gone = old.iter().filter(|element| !in_new.contains(element)).map(|&element| (element, false));
        let come = new.iter().filter(|element| !in_old.contains(element)).map(|&element| (element, true));
        for (element, is_new) in gone.chain(come) {
            let element = self.data.datum(scene, notation, element);
            self.path.push(PathStep::Element(element.clone()));
            let (before, after) = if is_new { (None, Some(element)) } else { (Some(element), None) };
            self.replace(before, after);
            self.path.pop();
        }
    }
}
