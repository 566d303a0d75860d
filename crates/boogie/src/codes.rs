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
}
