//! Where a program starts.

use allways_base::{Diagnostic, Severity, Symbol};

use crate::codes;
use crate::tree::{DeclKind, ProcedureDecl, Program};

/// The procedure to start from: the one asked for by name, else the one marked `{:entrypoint}`, else
/// the one called `main` or `Main`.
pub fn entry_point(program: &Program, wanted: Option<&str>) -> Result<Symbol, Box<Diagnostic>> {
    let procedures = || {
        program.decls.iter().filter_map(|decl| match &decl.kind {
            DeclKind::Procedure(procedure) => Some((decl, procedure)),
            _ => None,
        })
    };
    let named = |name: &str| procedures().find(|(_, p)| program.text(p.name.symbol) == name).map(|(_, p)| p);
    let complaint = |message: String| Diagnostic::new(Severity::Error, codes::NO_ENTRY_POINT, message);
    let name_of = |procedure: &ProcedureDecl| procedure.name.symbol;
    if let Some(wanted) = wanted {
        return named(wanted).map(name_of).ok_or_else(|| {
            let all: Vec<&str> = procedures().map(|(_, p)| program.text(p.name.symbol)).take(10).collect();
            let diagnostic = complaint(format!("there is no procedure `{wanted}` to start from"));
            Box::new(diagnostic.help(format!("the procedures are: {}", all.join(", "))))
        });
    }
    let marked = procedures().find(|(decl, _)| program.has_attr(&decl.attrs, "entrypoint")).map(|(_, p)| p);
    marked.or_else(|| named("main")).or_else(|| named("Main")).map(name_of).ok_or_else(|| {
        let diagnostic = complaint("this program has no procedure to start from".to_owned());
        Box::new(diagnostic.help("mark one with `{:entrypoint}`, or call it `main`"))
    })
}
