//! The diagnostic codes of the Boogie front end. Each has a page under `docs/codes`, whose first
//! example triggers it; a test keeps the two together.

allways_base::codes! {
    UNEXPECTED_CHARACTER = "boogie-unexpected-character": "a character that no Boogie token starts with";
    UNTERMINATED_COMMENT = "boogie-unterminated-comment": "a block comment without its end";
    UNTERMINATED_STRING = "boogie-unterminated-string": "a string without its closing quote";
    SYNTAX = "boogie-syntax": "the text does not follow the grammar";
    NESTING = "boogie-nesting": "parentheses, blocks or types nested too deeply";
    MIXED_LOGIC = "boogie-mixed-logic": "`&&` and `||` mixed without parentheses";
    MIXED_ARROWS = "boogie-mixed-arrows": "`==>` and `<==` mixed without parentheses";
    CHAINED_RELATION = "boogie-chained-relation": "a comparison of a comparison without parentheses";
    NUMBER = "boogie-number": "a number that does not fit where it stands";
    UNSUPPORTED = "boogie-unsupported": "a construct of Boogie that Allways does not handle";
    IGNORED = "boogie-ignored": "a construct that is read and has no effect";
    OLD_DIVISION = "boogie-old-division": "`/` between integers where an integer has to stand";
    UNUSED_AXIOM = "boogie-unused-axiom": "a polymorphic axiom that mentions no type in use";
    DUPLICATE = "boogie-duplicate": "a name declared twice in one scope";
    UNKNOWN_NAME = "boogie-unknown-name": "a variable or constant that is not declared here";
    UNKNOWN_TYPE = "boogie-unknown-type": "a type that is not declared";
    UNKNOWN_FUNCTION = "boogie-unknown-function": "a function that is not declared";
    UNKNOWN_PROCEDURE = "boogie-unknown-procedure": "a procedure that is not declared";
    UNKNOWN_LABEL = "boogie-unknown-label": "a jump to a label that cannot be reached from there";
    MISPLACED_BREAK = "boogie-misplaced-break": "a `break` outside of a loop or labelled statement";
    CYCLIC_SYNONYM = "boogie-cyclic-synonym": "a type synonym that refers to itself";
    TYPE_ARGUMENTS = "boogie-type-arguments": "a type with the wrong number of arguments";
    TYPE_MISMATCH = "boogie-type-mismatch": "an expression whose type does not fit its context";
    AMBIGUOUS_TYPE = "boogie-ambiguous-type": "a use of a polymorphic name whose types are not determined";
    ARITY = "boogie-arity": "too many or too few arguments, results or indices";
    NOT_A_MAP = "boogie-not-a-map": "an index on something that is not a map";
    NOT_ASSIGNABLE = "boogie-not-assignable": "an assignment to a constant or an input parameter";
    REPEATED_TARGET = "boogie-repeated-target": "a variable assigned twice by one statement";
    MISPLACED_OLD = "boogie-misplaced-old": "`old` where there is no earlier state";
    MISPLACED_GLOBAL = "boogie-misplaced-global": "a global variable in a function or an axiom";
    IMPLEMENTATION_MISMATCH = "boogie-implementation-mismatch": "an implementation that differs from its procedure";
    HANDLE = "boogie-handle": "a task handle of the wrong kind or type";
    HANDLE_STORAGE = "boogie-handle-storage": "a task handle in a global variable or a map";
    ASYNC_RESULTS = "boogie-async-results": "an asynchronous call whose results cannot be delivered";
    WAIT_ARGUMENTS = "boogie-wait-arguments": "a `{:wait}` without its variables";
    YIELD_ARGUMENTS = "boogie-yield-arguments": "a `{:yield}` with arguments it does not take";
    NO_ENTRY_POINT = "boogie-no-entry-point": "no procedure to start from";
}
