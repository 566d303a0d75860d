//! Projects: which files make up a program.
//!
//! A project is a `.pproj` file with everything it lists and includes, a folder, a list of files or one
//! file. Paths in a project file are read in every way that P's users read them, see [`find_include`].

use std::collections::BTreeSet;
use std::io;
use std::path::{Component, Path, PathBuf};

use allways_base::{Diagnostic, FileId, Severity, Sources, Span};
use allways_p::{FileRole, Input, codes};

use crate::files::Files;

/// Larger files are not programs that people wrote.
const MAX_FILE_BYTES: u64 = 32 << 20;
/// Spans count bytes of one file in 32 bits; the whole input stays far below that too.
const MAX_TOTAL_BYTES: u64 = 512 << 20;
const MAX_FOLDER_DEPTH: usize = 64;

/// What the user asked for.
#[derive(Clone, Debug, Default)]
pub struct Request {
    /// Files, or one folder or project. Empty means the current folder.
    pub paths: Vec<PathBuf>,
    /// Files with bodies for foreign functions; [`ANY`] is not a file, but the policy of that name.
    pub foreign: Vec<PathBuf>,
    /// Texts of invariants that the user states.
    pub invariants: Vec<String>,
}

/// In place of a file: foreign functions without a body answer with every value of their type.
pub const ANY: &str = "any";

/// The sources of one program.
#[derive(Debug, Default)]
pub struct Project {
    pub name: String,
    /// Where relative things (output, `allways.toml`) belong.
    pub folder: PathBuf,
    pub sources: Sources,
    pub inputs: Vec<Input>,
    /// The project's target is the P verifier.
    pub for_verifier: bool,
    /// Files of foreign code in other languages, which are not read.
    pub foreign_code: Vec<PathBuf>,
    /// Foreign functions without a body answer with every value of their type.
    pub has_any_policy: bool,
}

/// Finds and reads everything. What cannot be read is reported; the rest is loaded all the same.
pub fn load(files: &dyn Files, request: &Request) -> (Project, Vec<Diagnostic>) {
    let mut loader = Loader {
        files,
        project: Project::default(),
        diagnostics: Vec::new(),
        seen_files: BTreeSet::new(),
        seen_projects: BTreeSet::new(),
        open_projects: Vec::new(),
        root: PathBuf::new(),
        total_bytes: 0,
    };
    loader.request(request);
    for text in &request.invariants {
        let file = loader.project.sources.add("<--invariant>".to_owned(), text.clone());
        loader.project.inputs.push(Input { file, role: FileRole::Invariant });
    }
    if loader.project.name.is_empty() {
        loader.project.name = name_of(files, request).unwrap_or_else(|| "generatedOutput".to_owned());
    }
    (loader.project, loader.diagnostics)
}

/// Without a project file: the name of the folder, or of the only file. It becomes part of file names, so it must be a plain word.
fn name_of(files: &dyn Files, request: &Request) -> Option<String> {
    let path = match request.paths.as_slice() {
        [] => Path::new("."),
        [path] => path,
        _ => return None,
    };
    let name = if files.is_folder(path) {
        files.canonical(path).file_name()?.to_str()?.to_owned()
    } else {
        path.file_stem()?.to_str()?.to_owned()
    };
    let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.');
    (name.chars().all(is_plain) && !name.starts_with('.')).then_some(name)
}

struct Loader<'f> {
    files: &'f dyn Files,
    project: Project,
    diagnostics: Vec<Diagnostic>,
    /// Files already read, by their canonical path.
    seen_files: BTreeSet<PathBuf>,
    /// Project files already read, and those being read, outermost first.
    seen_projects: BTreeSet<PathBuf>,
    open_projects: Vec<PathBuf>,
    root: PathBuf,
    total_bytes: u64,
}

impl Loader<'_> {
    fn request(&mut self, request: &Request) {
        for path in &request.foreign {
            if path == Path::new(ANY) {
                self.project.has_any_policy = true;
                continue;
            }
            self.read_file(path, FileRole::ForeignBodies, None);
        }
        match request.paths.as_slice() {
            [] => self.folder(Path::new("")),
            [path] => self.single(path),
            paths => {
                for path in paths {
                    match path.extension().and_then(|e| e.to_str()) {
                        Some("p") | None if self.files.is_folder(path) => {
                            self.scan(path, FileRole::Source, MAX_FOLDER_DEPTH, None)
                        }
                        Some("cs" | "java") => self.project.foreign_code.push(path.clone()),
                        _ => self.read_file(path, FileRole::Source, None),
                    }
                }
            }
        }
        let has_errors = allways_base::diagnostic::has_errors(&self.diagnostics);
        let has_source = self.project.inputs.iter().any(|input| input.role != FileRole::ForeignBodies);
        if !has_source && !has_errors {
            let place = match request.paths.as_slice() {
                [] => "the current folder".to_owned(),
                [path] => format!("`{}`", path.display()),
                _ => "what was given".to_owned(),
            };
            self.error(codes::NO_SOURCES, format!("there is no P file in {place}")).help.extend([
                "give a `.pproj` file, a folder with `.p` files, or `.p` files".to_owned(),
                "`allways new NAME` makes a small project to start from".to_owned(),
            ]);
        }
    }

    fn single(&mut self, path: &Path) {
        if self.files.is_folder(path) {
            return self.folder(path);
        }
        // A pipe exists, and is refused when it is read.
        if !self.files.is_file(path) && self.files.n_bytes(path).is_err() {
            let message = format!("`{}` does not exist", path.display());
            self.error(codes::UNREADABLE_FILE, message);
            return;
        }
        match path.extension().and_then(|extension| extension.to_str()) {
            Some("pproj") => {
                self.root = parent(path);
                self.project.folder = self.root.clone();
                self.read_project(path, FileRole::Source, None);
            }
            _ => {
                self.project.folder = parent(path);
                self.read_file(path, FileRole::Source, None);
            }
        }
    }

    /// A folder: its project file, or every `.p` file in it and one level below.
    fn folder(&mut self, folder: &Path) {
        self.root = folder.to_owned();
        self.project.folder = folder.to_owned();
        let entries = match list(self.files, folder) {
            Ok(entries) => entries,
            Err(error) => {
                self.unreadable(folder, &error, None);
                return;
            }
        };
        let files = self.files;
        let is_project =
            |path: &&PathBuf| path.extension().is_some_and(|e| e == "pproj") && files.is_file(path);
        let projects: Vec<&PathBuf> = entries.iter().filter(is_project).collect();
        match projects.as_slice() {
            [] => self.scan(folder, FileRole::Source, 1, None),
            [project] => self.read_project(project, FileRole::Source, None),
            several => {
                let names: Vec<String> = several.iter().map(|path| format!("`{}`", path.display())).collect();
                let message = format!("the folder has {} project files: {}", several.len(), names.join(", "));
                self.error(codes::SEVERAL_PROJECTS, message)
                    .help
                    .push("give the path of the one to use".to_owned());
            }
        }
    }

    /// Reads the `.p` files of a folder and of folders below it, `depth` levels down.
    fn scan(&mut self, folder: &Path, role: FileRole, depth: usize, at: Option<Span>) {
        let entries = match list(self.files, folder) {
            Ok(entries) => entries,
            Err(error) => return self.unreadable(folder, &error, at),
        };
        for path in entries {
            if self.files.is_folder(&path) {
                if depth > 0 {
                    self.scan(&path, role, depth - 1, at);
                }
                continue;
            }
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("p") => self.read_file(&path, role, at),
                Some("cs" | "java") => self.project.foreign_code.push(path),
                _ => {}
            }
        }
    }

    fn read_file(&mut self, path: &Path, role: FileRole, at: Option<Span>) {
        if self.files.is_folder(path) {
            let message = format!("`{}` is a folder, not a file", path.display());
            self.error_at(codes::UNREADABLE_FILE, message, at);
            return;
        }
        let canonical = self.files.canonical(path);
        if self.seen_files.contains(&canonical) {
            // A body file that lies inside the project is not a second source.
            let is_body = role != FileRole::ForeignBodies
                && self.project.inputs.iter().any(|input| {
                    input.role == FileRole::ForeignBodies
                        && Path::new(&self.project.sources.file(input.file).name) == clean(path)
                });
            if !is_body {
                let message = format!("`{}` is listed twice and read once", clean(path).display());
                let diagnostic = Diagnostic::new(Severity::Warning, codes::DUPLICATE_FILE, message);
                self.push(diagnostic, at);
            }
            return;
        }
        if let Some(text) = self.read_text(path, at) {
            self.seen_files.insert(canonical);
            let file = self.project.sources.add(clean(path).display().to_string(), text);
            self.project.inputs.push(Input { file, role });
        }
    }

    /// The text of a file, without byte-order mark.
    fn read_text(&mut self, path: &Path, at: Option<Span>) -> Option<String> {
        let read = self.files.n_bytes(path).and_then(|n_bytes| {
            // Reading a pipe or a device may never end.
            if !self.files.is_file(path) {
                return Err(io::Error::other("it is a pipe, a socket or a device, not a regular file"));
            }
            if n_bytes > MAX_FILE_BYTES || self.total_bytes + n_bytes > MAX_TOTAL_BYTES {
                return Ok(None);
            }
            self.files.read(path).map(Some)
        });
        let bytes = match read {
            Ok(Some(bytes)) => bytes,
            Ok(None) => {
                let message = format!("`{}` is too large to be a P program", path.display());
                let diagnostic = Diagnostic::new(Severity::Error, codes::FILE_TOO_LARGE, message)
                    .note(format!("the limit is {} MiB for one file", MAX_FILE_BYTES >> 20));
                self.push(diagnostic, at);
                return None;
            }
            Err(error) => {
                self.unreadable(path, &error, at);
                return None;
            }
        };
        self.total_bytes += bytes.len() as u64;
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => {
                let valid = error.utf8_error().valid_up_to();
                let line = 1 + error.as_bytes()[..valid].iter().filter(|&&b| b == b'\n').count();
                let message = format!("`{}` is not UTF-8 text (line {line}, byte {valid})", path.display());
                let diagnostic =
                    Diagnostic::new(Severity::Error, codes::NOT_UTF8, message).help("save the file as UTF-8");
                self.push(diagnostic, at);
                return None;
            }
        };
        Some(match text.strip_prefix('\u{feff}') {
            Some(rest) => rest.to_owned(),
            None => text,
        })
    }

    fn read_project(&mut self, path: &Path, role: FileRole, at: Option<Span>) {
        let canonical = self.files.canonical(path);
        if self.open_projects.contains(&canonical) {
            let message = format!("the project `{}` includes itself", clean(path).display());
            self.error_at(codes::INCLUDE_CYCLE, message, at);
            return;
        }
        if !self.seen_projects.insert(canonical.clone()) {
            return;
        }
        let Some(text) = self.read_text(path, at) else { return };
        let file = self.project.sources.add(clean(path).display().to_string(), text.clone());
        let document = match roxmltree::Document::parse(&text) {
            Ok(document) => document,
            Err(error) => {
                let span = span_of_position(file, &text, error.pos());
                self.error_at(
                    codes::BAD_PROJECT,
                    format!("the project file is not well-formed XML: {error}"),
                    Some(span),
                );
                return;
            }
        };
        self.open_projects.push(canonical);
        self.read_project_elements(path, file, document.root_element(), role);
        self.open_projects.pop();
    }

    fn read_project_elements(
        &mut self,
        path: &Path,
        file: FileId,
        root: roxmltree::Node<'_, '_>,
        role: FileRole,
    ) {
        let folder = parent(path);
        let span = |node: roxmltree::Node<'_, '_>| {
            let range = node.range();
            Span::new(file, range.start as u32, range.end as u32)
        };
        if root.tag_name().name() != "Project" {
            let message =
                format!("a project file begins with `<Project>`, not `<{}>`", root.tag_name().name());
            self.error_at(codes::BAD_PROJECT, message, Some(span(root)));
            return;
        }
        let text_of = |node: roxmltree::Node<'_, '_>| node.text().unwrap_or("").trim().to_owned();
        let named = |name: &'static str| root.descendants().filter(move |node| node.has_tag_name(name));
        match named("ProjectName").next() {
            Some(node) => {
                let name = text_of(node);
                let is_identifier = !name.is_empty()
                    && !name.starts_with(|c: char| c.is_ascii_digit())
                    && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
                if !is_identifier {
                    let message = format!("`{name}` cannot be the name of a project");
                    self.error_at(codes::BAD_PROJECT, message, Some(span(node)))
                        .help
                        .push("use letters, digits and `_`, not beginning with a digit".to_owned());
                } else if role == FileRole::Source {
                    self.project.name = name;
                }
            }
            None => {
                self.error_at(
                    codes::BAD_PROJECT,
                    "the project has no `<ProjectName>`".to_owned(),
                    Some(span(root)),
                );
            }
        }
        if role == FileRole::Source {
            self.project.for_verifier =
                named("Target").any(|node| text_of(node).to_lowercase().contains("pverifier"));
        }
        for node in named("PFile") {
            let listed = text_of(node);
            let target = folder.join(&listed);
            if self.files.is_folder(&target) {
                self.scan(&target, role, MAX_FOLDER_DEPTH, Some(span(node)));
            } else if self.files.is_file(&target) {
                match target.extension().and_then(|extension| extension.to_str()) {
                    Some("p") => self.read_file(&target, role, Some(span(node))),
                    Some("cs" | "java") => self.project.foreign_code.push(target),
                    _ => {
                        let message = format!("`{listed}` is not a `.p` file and is left out");
                        let diagnostic = Diagnostic::new(Severity::Warning, codes::BAD_PROJECT, message);
                        self.push(diagnostic, Some(span(node)));
                    }
                }
            } else {
                let message = format!("`{listed}` does not exist and is left out");
                let diagnostic = Diagnostic::new(Severity::Warning, codes::BAD_PROJECT, message)
                    .note(format!("looked for `{}`", clean(&target).display()));
                self.push(diagnostic, Some(span(node)));
            }
        }
        for node in named("IncludeProject") {
            let listed = text_of(node);
            match find_include(self.files, &listed, &folder, &self.root) {
                Some(target) => self.read_project(&target, FileRole::Included, Some(span(node))),
                None => {
                    let message = format!("the included project `{listed}` does not exist");
                    self.error_at(codes::BAD_PROJECT, message, Some(span(node))).notes.push(format!(
                        "looked beside this file (`{}`), beside the main project and in the current folder",
                        clean(&folder.join(&listed)).display()
                    ));
                }
            }
        }
    }

    fn push(&mut self, diagnostic: Diagnostic, at: Option<Span>) {
        self.diagnostics.push(match at {
            Some(span) => diagnostic.at(span, ""),
            None => diagnostic,
        });
    }

    fn error(&mut self, code: allways_base::Code, message: String) -> &mut Diagnostic {
        self.error_at(code, message, None)
    }

    fn error_at(&mut self, code: allways_base::Code, message: String, at: Option<Span>) -> &mut Diagnostic {
        self.push(Diagnostic::new(Severity::Error, code, message), at);
        self.diagnostics.last_mut().expect("just pushed")
    }

    fn unreadable(&mut self, path: &Path, error: &io::Error, at: Option<Span>) {
        let shown = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let message = match error.kind() {
            io::ErrorKind::NotFound => format!("`{}` does not exist", shown.display()),
            io::ErrorKind::PermissionDenied => format!("no permission to read `{}`", shown.display()),
            _ => format!("`{}` cannot be read: {error}", shown.display()),
        };
        self.error_at(codes::UNREADABLE_FILE, message, at);
    }
}

/// An included project: P reads the path from the current folder, which for its users is the folder of the
/// main project; others write it relative to the file it stands in. Models that were moved keep paths to a
/// neighbor that now lies inside the project, so that is tried last.
fn find_include(files: &dyn Files, listed: &str, folder: &Path, root: &Path) -> Option<PathBuf> {
    let listed = Path::new(listed);
    let without_parents: PathBuf = listed
        .components()
        .filter(|component| !matches!(component, Component::ParentDir | Component::CurDir))
        .collect();
    [root.join(listed), folder.join(listed), listed.to_owned(), root.join(without_parents)]
        .into_iter()
        .find(|path| files.is_file(path))
}

/// The visible entries of a folder, by name.
fn list(files: &dyn Files, folder: &Path) -> io::Result<Vec<PathBuf>> {
    let names = files.list(folder)?.into_iter().filter(|name| !name.starts_with('.'));
    let mut entries: Vec<PathBuf> = names.map(|name| folder.join(name)).collect();
    entries.sort();
    Ok(entries)
}

fn parent(path: &Path) -> PathBuf {
    path.parent().map(Path::to_owned).unwrap_or_default()
}

/// The path as people write it: without `.`, and without `x/..`.
fn clean(path: &Path) -> PathBuf {
    let mut cleaned = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(cleaned.components().next_back(), Some(Component::Normal(_))) =>
            {
                cleaned.pop();
            }
            component => cleaned.push(component),
        }
    }
    cleaned
}

fn span_of_position(file: FileId, text: &str, position: roxmltree::TextPos) -> Span {
    let line_start: usize =
        text.split_inclusive('\n').take(position.row.saturating_sub(1) as usize).map(str::len).sum();
    let line = &text[line_start.min(text.len())..];
    let offset: usize = line.chars().take(position.col.saturating_sub(1) as usize).map(char::len_utf8).sum();
    let at = (line_start + offset).min(text.len()) as u32;
    Span::new(file, at, at)
}
