//! The syntax tree of a Boogie program.
//!
//! A [`Program`] owns everything: the interner behind its [`Symbol`]s, the arenas of expressions,
//! types and statements, and the list of declarations. Nodes refer to each other by id, so a tree is
//! plain data: cloned as a whole, extended by pushing, never freed piecemeal.
//!
//! **Shape.** What the source groups, the tree spells out: `var a, b: int;` is two declarations,
//! `if .. else if .. else` is one [`StmtKind::If`] with several arms, a label is a statement of its
//! own that stands before the statement it names. Both spellings of a function's result are the same
//! node. Asynchrony keeps the spelling of its dialect here (attributes, `async call`, `yield`);
//! [`crate::dialect`] tells what a statement means.
//!
//! **Walking.** Long chains such as `a + b + c + ..` and `m[i := 1][j := 2]..` are as deep as they
//! are long, so nothing may recurse over expressions. [`crate::walk`] has the loops to use instead:
//! [`postorder`](Program::postorder) lists the nodes below a root with children first, and
//! [`rewrite_expr`](Program::rewrite_expr) rebuilds an expression bottom up. Blocks nest only as deep
//! as [`crate::parser::MAX_NESTING`], so recursion over statements is fine.
//!
//! **Building.** Push nodes with [`Program::add_expr`], [`add_type`](Program::add_type) and
//! [`add_stmt`](Program::add_stmt), or with the short forms (`var`, `int`, `binary`, ..), then put
//! the ids into declarations. Every node has a span; a built node takes the span of the source
//! construct it comes from, which is how traces find their way back. An id may have several parents
//! as long as all of them are in the same scope.

use allways_base::{IndexVec, Interner, Span, Symbol};

allways_base::newtype_ids! {
    /// An expression of a [`Program`].
    ExprId = "e";
    /// A type expression of a [`Program`].
    TypeId = "t";
    /// A statement of a [`Program`].
    StmtId = "s";
}

/// A whole Boogie program.
#[derive(Clone)]
pub struct Program {
    /// The texts of all names, numbers and strings.
    pub names: Interner,
    pub exprs: IndexVec<ExprId, Expr>,
    pub types: IndexVec<TypeId, Type>,
    pub stmts: IndexVec<StmtId, Stmt>,
    /// The declarations in source order.
    pub decls: Vec<Decl>,
}

/// A name at a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Ident {
    pub symbol: Symbol,
    pub span: Span,
}

/// `{:name args}`.
#[derive(Clone, Debug)]
pub struct Attr {
    pub name: Ident,
    /// Strings are expressions of kind [`ExprKind::Text`].
    pub args: Vec<ExprId>,
}

// ---------------------------------------------------------------------------------------------
// Declarations

#[derive(Clone, Debug)]
pub struct Decl {
    pub attrs: Vec<Attr>,
    pub kind: DeclKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum DeclKind {
    Type(TypeDecl),
    Const(ConstDecl),
    Function(FunctionDecl),
    Axiom(ExprId),
    /// A global variable. The attributes of the declaration are in [`Decl::attrs`].
    Var(Binding),
    Procedure(ProcedureDecl),
    Implementation(Implementation),
}

/// `type C a b;` or `type S a = T;`.
#[derive(Clone, Debug)]
pub struct TypeDecl {
    pub name: Ident,
    pub params: Vec<Ident>,
    /// The type a synonym stands for; `None` declares a constructor.
    pub synonym: Option<TypeId>,
    pub finite: bool,
}

#[derive(Clone, Debug)]
pub struct ConstDecl {
    pub name: Ident,
    pub ty: TypeId,
    /// Differs from all other unique constants of its type.
    pub unique: bool,
    /// `<: ..`, read and ignored.
    pub order: Option<Order>,
}

/// The order specification of a constant.
#[derive(Clone, Debug)]
pub struct Order {
    /// The parents, each with whether it is marked `unique`.
    pub parents: Vec<(bool, Ident)>,
    pub complete: bool,
}

#[derive(Clone, Debug)]
pub struct FunctionDecl {
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<FunctionParam>,
    pub result: FunctionParam,
    pub body: Option<ExprId>,
}

/// A parameter or the result of a function; the name is optional.
#[derive(Clone, Debug)]
pub struct FunctionParam {
    pub attrs: Vec<Attr>,
    pub name: Option<Ident>,
    pub ty: TypeId,
}

/// A variable with its type: global, parameter, result, local or bound.
#[derive(Clone, Debug)]
pub struct Binding {
    pub attrs: Vec<Attr>,
    pub name: Ident,
    pub ty: TypeId,
    /// `where e`. Names declared together share one expression. Bound variables have none.
    pub where_clause: Option<ExprId>,
}

#[derive(Clone, Debug)]
pub struct ProcedureDecl {
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<Binding>,
    pub results: Vec<Binding>,
    pub specs: Vec<Spec>,
    /// A body written with the procedure; further ones may stand in implementations.
    pub body: Option<Body>,
}

#[derive(Clone, Debug)]
pub struct Implementation {
    pub name: Ident,
    pub type_params: Vec<Ident>,
    pub params: Vec<Binding>,
    pub results: Vec<Binding>,
    pub body: Body,
}

#[derive(Clone, Debug)]
pub struct Spec {
    pub free: bool,
    pub attrs: Vec<Attr>,
    pub kind: SpecKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum SpecKind {
    Requires(ExprId),
    Ensures(ExprId),
    Modifies(Vec<Ident>),
    /// `posts p, q;` of old inputs: read and ignored.
    Posts(Vec<Ident>),
}

#[derive(Clone, Debug)]
pub struct Body {
    pub locals: Vec<Binding>,
    pub block: Block,
    /// From the opening to the closing brace.
    pub span: Span,
}

// ---------------------------------------------------------------------------------------------
// Statements

/// A list of statements; labels are statements in it.
#[derive(Clone, Default, Debug)]
pub struct Block {
    pub stmts: Vec<StmtId>,
}

#[derive(Clone, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Names the statement after it, or the end of the block.
    Label(Ident),
    Assert {
        attrs: Vec<Attr>,
        expr: ExprId,
    },
    Assume {
        attrs: Vec<Attr>,
        expr: ExprId,
    },
    Havoc(Vec<Ident>),
    /// As many left sides as right sides (the parser leaves this to the checker).
    Assign {
        lhs: Vec<Lhs>,
        rhs: Vec<ExprId>,
    },
    Call(Call),
    /// `yield;`.
    Yield,
    /// `if`, any number of `else if`, and an optional `else`. At least one arm.
    If {
        arms: Vec<Arm>,
        otherwise: Option<Block>,
    },
    While {
        /// `None` is the guard `*`.
        guard: Option<ExprId>,
        invariants: Vec<Invariant>,
        body: Block,
    },
    Break(Option<Ident>),
    Goto(Vec<Ident>),
    Return,
}

/// `x` or `m[i][j, k]` on the left of an assignment.
#[derive(Clone, Debug)]
pub struct Lhs {
    pub name: Ident,
    /// One list of indices per pair of brackets.
    pub indices: Vec<Vec<ExprId>>,
}

/// `[async] [free] call attrs outs := callee(args);`.
#[derive(Clone, Debug)]
pub struct Call {
    /// Written `async call`. The attribute `{:async}` is another dialect: see [`crate::dialect`].
    pub is_async: bool,
    pub free: bool,
    pub attrs: Vec<Attr>,
    /// Where the results go; `None` is `*`.
    pub outs: Vec<Option<Ident>>,
    pub callee: Ident,
    pub args: Vec<ExprId>,
}

#[derive(Clone, Debug)]
pub struct Arm {
    /// `None` is the guard `*`.
    pub guard: Option<ExprId>,
    pub body: Block,
}

#[derive(Clone, Debug)]
pub struct Invariant {
    pub free: bool,
    pub attrs: Vec<Attr>,
    pub expr: ExprId,
}

// ---------------------------------------------------------------------------------------------
// Types

#[derive(Clone, Debug)]
pub struct Type {
    pub kind: TypeKind,
    pub span: Span,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeKind {
    Bool,
    Int,
    Real,
    Bv(u32),
    /// A constructor, a synonym or a type parameter.
    Named(Symbol, Vec<TypeId>),
    Map {
        type_params: Vec<Ident>,
        args: Vec<TypeId>,
        result: TypeId,
    },
}

// ---------------------------------------------------------------------------------------------
// Expressions

#[derive(Clone, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub enum ExprKind {
    Bool(bool),
    /// Decimal digits without sign; the value may be of any size.
    Int(Symbol),
    /// Decimal digits with a point, an exponent, or both.
    Real(Symbol),
    /// `digits bv width`.
    Bv {
        digits: Symbol,
        width: u32,
    },
    /// A string, in arguments of attributes only. The symbol is the text between the quotes as
    /// written.
    Text(Symbol),
    Var(Symbol),
    /// Application of a function.
    Apply {
        function: Ident,
        args: Vec<ExprId>,
    },
    Unary(UnaryOp, ExprId),
    Binary(BinaryOp, ExprId, ExprId),
    /// `map[indices]`.
    Select {
        map: ExprId,
        indices: Vec<ExprId>,
    },
    /// `map[indices := value]`.
    Store {
        map: ExprId,
        indices: Vec<ExprId>,
        value: ExprId,
    },
    /// `arg[hi:lo]`: the bits `lo..hi`, `hi` excluded.
    Extract {
        arg: ExprId,
        hi: u32,
        lo: u32,
    },
    /// `arg: ty`, which only helps type inference.
    Coerce {
        arg: ExprId,
        ty: TypeId,
    },
    Old(ExprId),
    /// `int(arg)`: the floor of a real.
    ToInt(ExprId),
    /// `real(arg)`.
    ToReal(ExprId),
    If {
        cond: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    Quantified(Box<Quantified>),
    /// `(var x := e; body)`.
    Let(Box<Let>),
}

/// `(forall <a> x: T :: {:attr} {trigger} body)`, `exists` or `lambda`.
#[derive(Clone, Debug)]
pub struct Quantified {
    pub quantifier: Quantifier,
    pub type_params: Vec<Ident>,
    pub vars: Vec<Binding>,
    pub attrs: Vec<Attr>,
    pub triggers: Vec<Vec<ExprId>>,
    pub body: ExprId,
}

#[derive(Clone, Debug)]
pub struct Let {
    pub names: Vec<Ident>,
    /// As many as names (the parser leaves this to the checker).
    pub values: Vec<ExprId>,
    pub body: ExprId,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    Forall,
    Exists,
    Lambda,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Not,
    Neg,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Iff,
    Implies,
    /// `a <== b`.
    Explies,
    And,
    Or,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `<:`, the order of constants.
    Below,
    /// `++` on bitvectors.
    Concat,
    Add,
    Sub,
    Mul,
    /// `/`: real division, and integer division in old inputs.
    Slash,
    /// `%`: integer remainder in old inputs.
    Percent,
    Div,
    Mod,
    Pow,
}

impl UnaryOp {
    pub const fn text(self) -> &'static str {
        match self {
            UnaryOp::Not => "!",
            UnaryOp::Neg => "-",
        }
    }
}

impl BinaryOp {
    pub const fn text(self) -> &'static str {
        match self {
            BinaryOp::Iff => "<==>",
            BinaryOp::Implies => "==>",
            BinaryOp::Explies => "<==",
            BinaryOp::And => "&&",
            BinaryOp::Or => "||",
            BinaryOp::Eq => "==",
            BinaryOp::Ne => "!=",
            BinaryOp::Lt => "<",
            BinaryOp::Le => "<=",
            BinaryOp::Gt => ">",
            BinaryOp::Ge => ">=",
            BinaryOp::Below => "<:",
            BinaryOp::Concat => "++",
            BinaryOp::Add => "+",
            BinaryOp::Sub => "-",
            BinaryOp::Mul => "*",
            BinaryOp::Slash => "/",
            BinaryOp::Percent => "%",
            BinaryOp::Div => "div",
            BinaryOp::Mod => "mod",
            BinaryOp::Pow => "**",
        }
    }
}

impl Quantifier {
    pub const fn text(self) -> &'static str {
        match self {
            Quantifier::Forall => "forall",
            Quantifier::Exists => "exists",
            Quantifier::Lambda => "lambda",
        }
    }
}

// ---------------------------------------------------------------------------------------------
// Building

impl Default for Program {
    fn default() -> Self {
        Program {
            names: Interner::with(crate::lexer::RESERVED),
            exprs: IndexVec::new(),
            types: IndexVec::new(),
            stmts: IndexVec::new(),
            decls: Vec::new(),
        }
    }
}

impl Program {
    pub fn text(&self, symbol: Symbol) -> &str {
        self.names.text(symbol)
    }

    pub fn intern(&mut self, text: &str) -> Symbol {
        self.names.intern(text)
    }

    /// A name at the place it comes from.
    pub fn ident(&mut self, text: &str, span: Span) -> Ident {
        Ident { symbol: self.names.intern(text), span }
    }

    pub fn add_expr(&mut self, kind: ExprKind, span: Span) -> ExprId {
        self.exprs.push(Expr { kind, span })
    }

    pub fn add_type(&mut self, kind: TypeKind, span: Span) -> TypeId {
        self.types.push(Type { kind, span })
    }

    pub fn add_stmt(&mut self, kind: StmtKind, span: Span) -> StmtId {
        self.stmts.push(Stmt { kind, span })
    }

    pub fn expr(&self, id: ExprId) -> &Expr {
        &self.exprs[id]
    }

    pub fn stmt(&self, id: StmtId) -> &Stmt {
        &self.stmts[id]
    }

    pub fn bool(&mut self, value: bool, span: Span) -> ExprId {
        self.add_expr(ExprKind::Bool(value), span)
    }

    /// An integer literal; a negative one is a negation.
    pub fn int(&mut self, value: i64, span: Span) -> ExprId {
        let digits = self.names.intern(&value.unsigned_abs().to_string());
        let literal = self.add_expr(ExprKind::Int(digits), span);
        if value < 0 { self.add_expr(ExprKind::Unary(UnaryOp::Neg, literal), span) } else { literal }
    }

    pub fn var(&mut self, name: Symbol, span: Span) -> ExprId {
        self.add_expr(ExprKind::Var(name), span)
    }

    pub fn not(&mut self, arg: ExprId) -> ExprId {
        let span = self.exprs[arg].span;
        self.add_expr(ExprKind::Unary(UnaryOp::Not, arg), span)
    }

    pub fn binary(&mut self, op: BinaryOp, left: ExprId, right: ExprId, span: Span) -> ExprId {
        self.add_expr(ExprKind::Binary(op, left, right), span)
    }

    /// The conjunction of all, `true` for none.
    pub fn and_all(&mut self, parts: &[ExprId], span: Span) -> ExprId {
        match parts {
            [] => self.bool(true, span),
            [first, rest @ ..] => {
                rest.iter().fold(*first, |acc, &part| self.binary(BinaryOp::And, acc, part, span))
            }
        }
    }

    /// `name := value;`
    pub fn assign(&mut self, name: Ident, value: ExprId, span: Span) -> StmtId {
        let lhs = vec![Lhs { name, indices: Vec::new() }];
        self.add_stmt(StmtKind::Assign { lhs, rhs: vec![value] }, span)
    }

    /// `assume expr;`
    pub fn assume(&mut self, expr: ExprId, span: Span) -> StmtId {
        self.add_stmt(StmtKind::Assume { attrs: Vec::new(), expr }, span)
    }

    /// The attribute with this name, if the list has one.
    pub fn attr<'a>(&self, attrs: &'a [Attr], name: &str) -> Option<&'a Attr> {
        attrs.iter().find(|attr| self.names.text(attr.name.symbol) == name)
    }

    pub fn has_attr(&self, attrs: &[Attr], name: &str) -> bool {
        self.attr(attrs, name).is_some()
    }

    /// The procedure declaration with this name.
    pub fn procedure(&self, name: Symbol) -> Option<(usize, &ProcedureDecl)> {
        self.decls.iter().enumerate().find_map(|(decl_idx, decl)| match &decl.kind {
            DeclKind::Procedure(procedure) if procedure.name.symbol == name => Some((decl_idx, procedure)),
            _ => None,
        })
    }
}
