//! `allways new`: a small project with a planted bug.

use std::fs;
use std::path::Path;

use crate::args::NewArgs;
use crate::exit::ExitStatus;
use crate::printer;

/// The files, by their paths in the new folder.
const FILES: &[(&str, &str)] = &[
    ("PSrc/TicketOffice.p", include_str!("../../template/PSrc/TicketOffice.p")),
    ("PSpec/Specs.p", include_str!("../../template/PSpec/Specs.p")),
    ("PTst/Tests.p", include_str!("../../template/PTst/Tests.p")),
    ("allways.toml", include_str!("../../template/allways.toml")),
];
const PROJECT: &str = include_str!("../../template/project.pproj");

pub fn new(args: &NewArgs) -> ExitStatus {
    let folder = &args.folder;
    let name = match project_name(folder) {
        Ok(name) => name,
        Err(problem) => return rejected(&problem),
    };
    let is_free = match fs::read_dir(folder) {
        Ok(mut entries) => entries.next().is_none(),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => true,
        Err(_) => false,
    };
    if !is_free {
        return rejected(&format!(
            "`{}` exists and is not an empty folder; choose another name",
            folder.display()
        ));
    }
    let project = PROJECT.replace("NAME", &name);
    let project_file = format!("{name}.pproj");
    for (path, text) in FILES.iter().copied().chain([(project_file.as_str(), project.as_str())]) {
        let path = folder.join(path);
        let made = path.parent().map_or(Ok(()), fs::create_dir_all);
        if let Err(error) = made.and_then(|()| fs::write(&path, text)) {
            return rejected(&format!("`{}` cannot be written: {error}", path.display()));
        }
    }
    let shown = folder.display();
    printer::out(&format!("created {shown}: a ticket office that sometimes sells a seat twice\n"));
    printer::detail(&format!(
        "
  cd {shown}
  allways check -tc tcOneSeat   shows how it happens
  (edit PSrc/TicketOffice.p)    the line marked FIX repairs it
  allways prove --all           proves that it cannot happen any more
"
    ));
    ExitStatus::Success
}

/// The last part of the path, which must be an identifier of P.
fn project_name(folder: &Path) -> Result<String, String> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_identifier = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    if is_identifier {
        return Ok(name.to_owned());
    }
    let mut suggestion: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if !suggestion.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        suggestion.insert(0, 'p');
    }
    Err(format!(
        "`{name}` cannot be the name of a project: use letters, digits and `_`, as in `{suggestion}`"
    ))
}

fn rejected(problem: &str) -> ExitStatus {
    printer::err(&format!("{problem}\n"));
    ExitStatus::Rejected
}
