//! Types as the checker knows them: interned, synonyms expanded, compared by number.

use allways_base::{IndexVec, Interner, Span, Symbol};
use rustc_hash::FxHashMap;

use crate::tree::{Program, TypeId, TypeKind};

allways_base::newtype_ids! {
    /// A type of a checked program. Equal types have equal ids.
    Ty = "ty";
}

#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum TyKind {
    /// What could not be determined; never in a program without errors, save for the expressions in
    /// attributes, which have no type.
    Error,
    Bool,
    Int,
    Real,
    Bv(u32),
    /// A declared constructor with its arguments.
    Con(Symbol, Vec<Ty>),
    Map(Vec<Ty>, Ty),
    /// A type parameter of the enclosing declaration or quantifier.
    Param(Symbol),
    /// Stands for a type during inference; gone afterwards.
    Infer(u32),
}

impl Ty {
    pub const ERROR: Ty = Ty::from_u32(0);
    pub const BOOL: Ty = Ty::from_u32(1);
    pub const INT: Ty = Ty::from_u32(2);
    pub const REAL: Ty = Ty::from_u32(3);
}

/// The table behind [`Ty`].
#[derive(Clone)]
pub struct TyTable {
    kinds: IndexVec<Ty, TyKind>,
    ids: FxHashMap<TyKind, Ty>,
}

impl Default for TyTable {
    fn default() -> Self {
        let mut table = TyTable { kinds: IndexVec::new(), ids: FxHashMap::default() };
        for kind in [TyKind::Error, TyKind::Bool, TyKind::Int, TyKind::Real] {
            table.intern(kind);
        }
        table
    }
}

impl TyTable {
    pub fn intern(&mut self, kind: TyKind) -> Ty {
        if let Some(&ty) = self.ids.get(&kind) {
            return ty;
        }
        let ty = self.kinds.push(kind.clone());
        self.ids.insert(kind, ty);
        ty
    }

    pub fn kind(&self, ty: Ty) -> &TyKind {
        &self.kinds[ty]
    }

    /// Adds the type as written to a program that is being built.
    pub fn write(&self, ty: Ty, span: Span, out: &mut Program) -> TypeId {
        let kind = match self.kind(ty) {
            TyKind::Bool | TyKind::Error | TyKind::Infer(_) => TypeKind::Bool,
            TyKind::Int => TypeKind::Int,
            TyKind::Real => TypeKind::Real,
            TyKind::Bv(width) => TypeKind::Bv(*width),
            TyKind::Param(name) => TypeKind::Named(*name, Vec::new()),
            TyKind::Con(name, args) => {
                TypeKind::Named(*name, args.iter().map(|&arg| self.write(arg, span, out)).collect())
            }
            TyKind::Map(args, result) => TypeKind::Map {
                type_params: Vec::new(),
                args: args.iter().map(|&arg| self.write(arg, span, out)).collect(),
                result: self.write(*result, span, out),
            },
        };
        out.add_type(kind, span)
    }

    pub fn bv(&mut self, width: u32) -> Ty {
        self.intern(TyKind::Bv(width))
    }

    /// The types directly inside.
    pub fn parts(&self, ty: Ty) -> Vec<Ty> {
        match self.kind(ty) {
            TyKind::Con(_, args) => args.clone(),
            TyKind::Map(args, result) => args.iter().copied().chain([*result]).collect(),
            TyKind::Error
            | TyKind::Bool
            | TyKind::Int
            | TyKind::Real
            | TyKind::Bv(_)
            | TyKind::Param(_)
            | TyKind::Infer(_) => Vec::new(),
        }
    }

    /// Replaces the leaves for which `f` has an answer.
    pub fn substitute(&mut self, ty: Ty, f: &impl Fn(&TyKind) -> Option<Ty>) -> Ty {
        if let Some(new) = f(self.kind(ty)) {
            return if new == ty { ty } else { self.substitute(new, f) };
        }
        match self.kind(ty).clone() {
            TyKind::Con(name, args) => {
                let args = args.into_iter().map(|arg| self.substitute(arg, f)).collect();
                self.intern(TyKind::Con(name, args))
            }
            TyKind::Map(args, result) => {
                let args = args.into_iter().map(|arg| self.substitute(arg, f)).collect();
                let result = self.substitute(result, f);
                self.intern(TyKind::Map(args, result))
            }
            TyKind::Error
            | TyKind::Bool
            | TyKind::Int
            | TyKind::Real
            | TyKind::Bv(_)
            | TyKind::Param(_)
            | TyKind::Infer(_) => ty,
        }
    }

    /// Whether some part satisfies `f`.
    pub fn contains(&self, ty: Ty, f: &impl Fn(&TyKind) -> bool) -> bool {
        f(self.kind(ty)) || self.parts(ty).iter().any(|&part| self.contains(part, f))
    }

    /// Neither parameters nor holes inside.
    pub fn is_ground(&self, ty: Ty) -> bool {
        !self.contains(ty, &|kind| matches!(kind, TyKind::Param(_) | TyKind::Infer(_) | TyKind::Error))
    }

    /// The type as Boogie text.
    pub fn show(&self, ty: Ty, names: &Interner) -> String {
        self.show_at(ty, names, false)
    }

    fn show_at(&self, ty: Ty, names: &Interner, atomic: bool) -> String {
        match self.kind(ty) {
            TyKind::Error => "?".to_owned(),
            TyKind::Bool => "bool".to_owned(),
            TyKind::Int => "int".to_owned(),
            TyKind::Real => "real".to_owned(),
            TyKind::Bv(width) => format!("bv{width}"),
            TyKind::Con(name, args) if args.is_empty() => names.text(*name).to_owned(),
            TyKind::Con(name, args) => {
                let mut text = names.text(*name).to_owned();
                for &arg in args {
                    text.push(' ');
                    text.push_str(&self.show_at(arg, names, true));
                }
                if atomic { format!("({text})") } else { text }
            }
            TyKind::Map(args, result) => {
                let args: Vec<String> = args.iter().map(|&arg| self.show_at(arg, names, false)).collect();
                let text = format!("[{}]{}", args.join(", "), self.show_at(*result, names, false));
                if atomic { format!("({text})") } else { text }
            }
            TyKind::Param(name) => names.text(*name).to_owned(),
            TyKind::Infer(_) => "_".to_owned(),
        }
    }
}
