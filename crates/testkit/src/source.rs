//! From a text to a typed program.

use allways_base::Sources;
use allways_p::{Dialect, FileRole, Input, hir};

/// One program of one file.
pub struct Loaded {
    pub sources: Sources,
    pub program: hir::Program,
}

impl Loaded {
    /// Compiles a text; the messages of the front end when it is rejected.
    pub fn new(name: &str, text: &str) -> Result<Self, String> {
        Self::with_invariants(name, text, &[])
    }

    /// The same, with invariants that the user states.
    pub fn with_invariants(name: &str, text: &str, invariants: &[String]) -> Result<Self, String> {
        let mut sources = Sources::default();
        let file = sources.add(name.to_owned(), text.to_owned());
        let mut inputs = vec![Input { file, role: FileRole::Source }];
        for text in invariants {
            let file = sources.add("<--invariant>".to_owned(), text.clone());
            inputs.push(Input { file, role: FileRole::Invariant });
        }
        let compiled = allways_p::compile(&sources, &inputs, Dialect::default());
        match compiled.program {
            Some(program) => Ok(Loaded { sources, program }),
            None => {
                let messages = compiled.diagnostics.iter().map(|diagnostic| {
                    let place = diagnostic.primary.as_ref().map(|label| sources.place(label.span));
                    format!("{} {}", place.unwrap_or_default(), diagnostic.message)
                });
                Err(messages.collect::<Vec<_>>().join("\n"))
            }
        }
    }
}
