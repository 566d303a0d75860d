//! Abstract proofs against instances: what is proved for any values of a type must hold with two values and with three.

use std::fmt::Write as _;

use allways_explore::Never;
use allways_explore::search::{self, ProveOptions};
use allways_p::abstraction::{AbstractType, abstracted, instance};
use allways_run::{Quiet, Verdict};

use crate::Loaded;
use crate::liveness::limits;

/// The abstract type of random programs.
pub fn abstract_type() -> AbstractType {
    let names = |name: &str| vec![name.to_owned()];
    AbstractType {
        name: "tKey".to_owned(),
        distinguished: names("The"),
        any: names("Any"),
        except: names("Except"),
    }
}

/// A program of two machines that exchange, compare, store and look up values of a foreign type.
pub fn program_of(seed: u64) -> String {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut below = |n: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 9) as usize % n
    };
    let mut body = |n: usize| {
        let mut out = String::new();
        for _ in 0..n {
            let (a, b) = (["x", "y", "p"][below(3)], ["x", "y", "p"][below(3)]);
            let value = ["The()", "Any()", "Except(x)", "Except(The())", "y", "p"][below(6)];
            let what = match below(10) {
                0 | 1 => format!("{} = {value};", ["x", "y"][below(2)]),
                2 => format!("if ({a} == {b}) {{ n = n + 1; }}"),
                3 => format!("if ({a} != The()) {{ flag = !flag; }}"),
                4 => format!("m[{a}] = {b} == The();"),
                5 => format!("if ({a} in m) {{ flag = m[{a}]; }}"),
                6 => format!("s += ({a}); if ({b} in s) {{ n = n + 1; }}"),
                7 => format!("m -= {a}; s -= {b};"),
                8 => format!("assert {a} != {b} || n < 2;"),
                _ => format!("if ({a} in s) {{ assert !flag || {b} in m; }}"),
            };
            let _ = writeln!(out, "      {what}");
        }
        out
    };
    let (first, second) = (body(4), body(4));
    let (sent, answered) = (["x", "y", "p"][below(3)], ["x", "y", "p"][below(3)]);
    format!(
        "type tKey; fun The(): tKey; fun Any(): tKey; fun Except(k: tKey): tKey;
event eGo: (from: machine, key: tKey); event eBack: tKey;
machine Main {{
  var o: machine; var x: tKey; var y: tKey; var n: int; var flag: bool; var m: map[tKey, bool]; var s: set[tKey];
  start state S {{
    entry {{
      var p: tKey;
      p = Any(); x = The(); y = Except(x); o = new Other();
      send o, eGo, (from = this, key = {sent});
    }}
    on eBack do (p: tKey) {{
{first}    }}
  }}
}}
machine Other {{
  var x: tKey; var y: tKey; var n: int; var flag: bool; var m: map[tKey, bool]; var s: set[tKey];
  start state S {{
    entry {{ x = The(); y = Any(); }}
    on eGo do (go: (from: machine, key: tKey)) {{
      var p: tKey;
      p = go.key;
{second}      send go.from, eBack, {answered};
    }}
  }}
}}
"
    )
}

/// Whether the abstract program was proved.
///
/// # Errors
/// The difference, in words.
pub fn compare(loaded: &Loaded) -> Result<bool, String> {
    let types = [abstract_type()];
    let options = ProveOptions { limits: limits(), fairness: None, ..ProveOptions::default() };
    let prove = |program: &allways_p::hir::Program| {
        let exe = std::sync::Arc::new(allways_machine::Executable::new(program, 0));
        search::prove(&exe, &options, &Quiet, &Never).map(|it| it.verdict).map_err(|error| error.to_string())
    };
    let program = abstracted(&loaded.program, &types).map_err(|problems| format!("{problems:?}"))?;
    let is_proved = matches!(prove(&program)?, Verdict::Holds(_));
    for n_values in [2, 3] {
        let program =
            instance(&loaded.program, &types, n_values).map_err(|problems| format!("{problems:?}"))?;
        if let (true, Verdict::Violated(found)) = (is_proved, prove(&program)?) {
            return Err(format!("proved, but with {n_values} values: {}", found.violation.message));
        }
    }
    Ok(is_proved)
}
