// diagnostics: boogie-ignored@4, boogie-ignored@5
type T;
const a: T;
const b: T <: unique a complete;
const c: T <: ;
