//! Words with a meaning. They are interned first, in this order, so that a symbol below a border *is*
//! such a word and no further look-up is needed.

use allways_base::{Interner, Symbol};

macro_rules! words {
    ($($group:ident { $($name:ident = $text:literal,)* })*) => {
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        #[repr(u32)]
        enum Order { $($($name,)*)* }

        $($(pub const $name: Symbol = Symbol::from_u32(Order::$name as u32);)*)*

        const TEXTS: &[&str] = &[$($($text,)*)*];
    };
}

words! {
    reserved {
        ANY = "any", BOOL = "bool", ENUM = "enum", EVENT = "event", EVENTSET = "eventset",
        FLOAT = "float", INT = "int", MACHINE = "machine", INTERFACE = "interface", MAP = "map",
        SET = "set", STRING = "string", SEQ = "seq", DATA = "data", TYPE = "type", VAR = "var",
        FUN = "fun", STATE = "state", SPEC = "spec", PARAM = "param",
        MODULE = "module", IMPLEMENTATION = "implementation", TEST = "test", PARAMTEST = "paramtest",
        ANNOUNCE = "announce", AS = "as", ASSERT = "assert", ASSUME = "assume", BREAK = "break",
        CASE = "case", CHOOSE = "choose", CONTINUE = "continue", DEFAULT = "default", DEFER = "defer",
        DO = "do", ELSE = "else", ENTRY = "entry", EXIT = "exit", FOREACH = "foreach",
        FORMAT = "format", GOTO = "goto", HALT = "halt", IF = "if", IGNORE = "ignore", IN = "in",
        KEYS = "keys", NEW = "new", ON = "on", PRINT = "print", RAISE = "raise", RECEIVE = "receive",
        RETURN = "return", SEND = "send", SIZEOF = "sizeof", THIS = "this", VALUES = "values",
        WHILE = "while", WITH = "with", COLD = "cold", HOT = "hot", START = "start",
        OBSERVES = "observes", RECEIVES = "receives", SENDS = "sends", CREATES = "creates",
        COMPOSE = "compose", UNION = "union", HIDEE = "hidee", HIDEI = "hidei", RENAME = "rename",
        SAFE = "safe", MAIN = "main", REFINES = "refines", TO = "to", PAIRWISE = "pairwise",
        WISE = "wise", TRUE = "true", FALSE = "false", NULL = "null",
    }
    // Reserved by P since July 2026 for one declaration: an ordinary name elsewhere, with a warning.
    recent {
        SCENARIO = "scenario",
    }
    // Reserved by P 3 for proofs only: ordinary names elsewhere, with a warning.
    proof {
        INVARIANT = "invariant", AXIOM = "axiom", IS = "is", INFLIGHT = "inflight",
        TARGETS = "targets", SENT = "sent", PROOF = "Proof", PROVE = "prove", USING = "using",
        LEMMA = "Lemma", THEOREM = "Theorem", EXCEPT = "except", REQUIRES = "requires",
        ENSURES = "ensures", FORALL = "forall", EXISTS = "exists", PURE = "pure",
    }
    known {
        // `init-condition` is one word to P; here it is `init`, `-`, `condition` in a row.
        INIT = "init", CONDITION = "condition",
        MAIN_MACHINE = "Main",
        // Statements of older versions, for better messages.
        PUSH = "push", POP = "pop",
    }
}

/// An interner that knows these words.
pub fn interner() -> Interner {
    Interner::with(TEXTS)
}

/// The texts of all reserved words.
pub fn reserved() -> impl Iterator<Item = &'static str> {
    TEXTS[..Order::SCENARIO as usize].iter().copied()
}

pub fn is_reserved(symbol: Symbol) -> bool {
    symbol < SCENARIO
}

/// Reserved by P 3, for proofs only.
pub fn is_proof_word(symbol: Symbol) -> bool {
    (INVARIANT..INIT).contains(&symbol)
}

/// Whether a line that begins with this reserved word begins a statement, a member or a declaration, and not the next part of an
/// expression or type.
pub fn begins_line(symbol: Symbol) -> bool {
    !matches!(
        symbol,
        ANY | BOOL
            | FLOAT
            | INT
            | MAP
            | SET
            | STRING
            | SEQ
            | DATA
            | AS
            | CHOOSE
            | DEFAULT
            | FORMAT
            | HALT
            | IN
            | KEYS
            | NEW
            | SIZEOF
            | THIS
            | VALUES
            | TO
            | TRUE
            | FALSE
            | NULL
    )
}
