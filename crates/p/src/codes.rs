//! The codes of everything the P front end can say about a program. Each has a page in `docs/codes`.

allways_base::codes! {
    // Characters and words.
    UNKNOWN_CHARACTER = "unknown-character": "a character that P does not use";
    UNTERMINATED_STRING = "unterminated-string": "a string literal without a closing quote";
    UNTERMINATED_COMMENT = "unterminated-comment": "a block comment without end";
    INTEGER_TOO_LARGE = "integer-too-large": "an integer literal above 2147483647";
    BAD_ESCAPE = "bad-escape": "a backslash sequence that strings do not have";
    BAD_FORMAT = "bad-format": "braces or arguments of a format string that do not fit";
    LINE_BREAK_IN_STRING = "line-break-in-string": "a string literal that contains a line break";

    // Grammar.
    SYNTAX_ERROR = "syntax-error": "something else was expected here";
    RESERVED_WORD = "reserved-word": "a reserved word where a name is expected";
    NESTED_TOO_DEEP = "nested-too-deep": "parentheses, blocks or types nested too deeply";
    REMOVED_SYNTAX = "removed-syntax": "a construct of older versions of P that is gone";
    MISSING_COMMA = "missing-comma": "a tuple with one field needs a trailing comma";
    STRAY_SEMICOLON = "stray-semicolon": "a semicolon where no declaration ends";
    LATE_DECLARATION = "late-declaration": "a variable declared after the first statement";
    NO_INITIALIZER = "no-initializer": "a variable declaration with an initial value";
    COLLECTION_UPDATE = "collection-update": "`+=` without the parentheses that P asks for";
    ASSIGNMENT_IN_EXPRESSION = "assignment-in-expression": "`=` where `==` is meant";

    // Programs of other versions, and proofs.
    LEGACY_NAME = "legacy-name": "a word that P 3 reserves for proofs, used as a name";
    LEGACY_QUEUE_BOUND = "legacy-queue-bound": "a queue bound of older versions of P";
    LEGACY_SHARED_NAME = "legacy-shared-name": "a function and a state with the same name";
    DUPLICATE_FILE = "duplicate-file": "a file that the project reaches twice";
    PROOF_NOT_CHECKED = "proof-not-checked": "declarations for the P verifier, not checked here";
    PROOF_ONLY = "proof-only": "an expression or statement that only proofs may use";

    // Names.
    DUPLICATE_NAME = "duplicate-name": "two declarations with the same name";
    BAD_INVARIANT = "bad-invariant": "something that an invariant of `prove --invariant` cannot say";
    UNKNOWN_NAME = "unknown-name": "a name in an expression that nothing declares";
    UNKNOWN_EVENT = "unknown-event": "an event that is not declared";
    UNKNOWN_STATE = "unknown-state": "a state that the machine does not have";
    UNKNOWN_FUNCTION = "unknown-function": "a function that is not declared";
    UNKNOWN_TYPE = "unknown-type": "a type that is not declared";
    UNKNOWN_INTERFACE = "unknown-interface": "a machine or interface that is not declared";
    UNKNOWN_MODULE = "unknown-module": "a module that is not declared";
    UNKNOWN_SPEC = "unknown-spec": "a spec that is not declared";
    UNKNOWN_PARAM = "unknown-param": "a test parameter that no `param` declares";
    CIRCULAR_TYPE = "circular-type": "a type that contains itself";
    CIRCULAR_MODULE = "circular-module": "a module that contains itself";
    DUPLICATE_FIELD = "duplicate-field": "a named tuple with two fields with the same name";
    PARAM_MISUSE = "param-misuse": "a global parameter that is declared again or assigned";
    ENUM_NUMBER_SHARED = "enum-number-shared": "an enum element that has the number of another";

    // Machines and states.
    DUPLICATE_ENTRY = "duplicate-entry": "a second entry or exit in one state";
    DUPLICATE_ACTION = "duplicate-action": "two actions for one event in one state";
    DUPLICATE_START = "duplicate-start": "a second start state";
    NO_START_STATE = "no-start-state": "a machine without a start state";
    FORBIDDEN_IN_SPEC = "forbidden-in-spec": "something a spec may not do";
    BAD_HANDLER = "bad-handler": "a function that cannot be used as this handler";
    PAYLOAD_MISMATCH = "payload-mismatch": "a payload of the wrong type";
    ESCAPES_TRANSITION = "escapes-transition": "an exit or `with` function that can raise or goto";
    UNOBSERVED_EVENT = "unobserved-event": "a spec handles an event it does not observe";
    SCENARIO_SHAPE = "scenario-shape": "a scenario that cannot be covered, or always is";

    // Types.
    TYPE_MISMATCH = "type-mismatch": "a value of the wrong type";
    ALIAS_HIDES_TYPE = "alias-hides-type": "a typedef name where P wants the type itself";
    NOT_COMPARABLE = "not-comparable": "`==` between types that are never equal";
    BAD_CAST = "bad-cast": "a conversion that P does not have";
    BAD_OPERANDS = "bad-operands": "an operator on types it is not for";
    NO_SUCH_FIELD = "no-such-field": "a field that the tuple does not have";
    NOT_A_COLLECTION = "not-a-collection": "a collection operation on something else";
    NOT_ASSIGNABLE = "not-assignable": "something that cannot be assigned to";
    WRONG_ARGUMENT_COUNT = "wrong-argument-count": "too few or too many arguments";
    TOO_MANY_CHOICES = "too-many-choices": "`choose` with a literal above 10000";
    THIS_OUTSIDE_MACHINE = "this-outside-machine": "`this` where no machine is known";
    NULL_EVENT = "null-event": "`null` where an event is sent, raised or announced";

    // Functions.
    MISSING_RETURN = "missing-return": "a function that can end without its result";
    OUTSIDE_LOOP = "outside-loop": "`break` or `continue` outside of a loop";
    GOTO_IN_FUNCTION = "goto-in-function": "`raise` or `goto` in a function that cannot leave the handler";
    RECEIVE_CASE = "receive-case": "a receive case that does not fit its events";

    // Modules and tests.
    MODULE_CONFLICT = "module-conflict": "modules that cannot be put together";
    BINDING_MISMATCH = "binding-mismatch": "a machine that does not implement the interface";
    NOT_CLOSED = "not-closed": "a test whose module leaves machines unbound";
    BAD_MAIN = "bad-main": "a main machine that cannot start the test";
    BAD_TEST_PARAM = "bad-test-param": "values of test parameters that are wrong or missing";
    UNSUPPORTED_MODULE = "unsupported-module": "a module or test form that P itself cannot run";
    NO_TEST_CASES = "no-test-cases": "a parameterized test that expands to nothing";

    // Files and projects.
    UNREADABLE_FILE = "unreadable-file": "a file that cannot be read";
    NOT_UTF8 = "not-utf8": "a file that is not UTF-8 text";
    FILE_TOO_LARGE = "file-too-large": "a file above the size limit";
    BAD_PROJECT = "bad-project": "a project file that cannot be used";
    SEVERAL_PROJECTS = "several-projects": "a folder with more than one project file";
    NO_SOURCES = "no-sources": "an input without any P file";
    INCLUDE_CYCLE = "include-cycle": "projects that include each other";
}
