// The mathematical spellings of current Boogie.
axiom (∀ x: int • x ≤ 0 ∨ ¬(x ≠ 0 ∧ x < 1));
axiom (∃ b: bool • b ⇒ b);
axiom true ⇔ true;
axiom true ⇐ false;
axiom (λ x: int • x)[3] ≥ 3;
