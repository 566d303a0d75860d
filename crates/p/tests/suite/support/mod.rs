//! Shared by the tests of the front end: reading the corpus, and compiling texts without files.

// Every test binary uses a part of this.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

use allways_base::{Diagnostic, Sources};
use allways_p::{Compiled, Dialect, FileRole, Input, compile};

/// One program of the corpus: a file, or a folder of files that belong together.
pub struct Case {
    /// The path below the corpus, for messages.
    pub name: String,
    pub files: Vec<CaseFile>,
}

pub struct CaseFile {
    pub path: PathBuf,
    pub text: String,
}

impl CaseFile {
    /// `x.included.p` belongs to an included project, `x.foreign.p` gives bodies to foreign functions, `x.invariant.p` is an
    /// invariant.
    fn role(&self) -> FileRole {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        match stem.rsplit_once('.') {
            Some((_, "included")) => FileRole::Included,
            Some((_, "foreign")) => FileRole::ForeignBodies,
            Some((_, "invariant")) => FileRole::Invariant,
            _ => FileRole::Source,
        }
    }
}

impl Case {
    pub fn dialect(&self) -> Dialect {
        dialect_of(&self.files[0].text)
    }

    pub fn compile(&self) -> (Sources, Compiled) {
        let mut sources = Sources::default();
        let inputs: Vec<Input> = self
            .files
            .iter()
            .map(|file| {
                let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
                let file_id = sources.add(name.unwrap_or_default(), file.text.clone());
                Input { file: file_id, role: file.role() }
            })
            .collect();
        let compiled = compile(&sources, &inputs, self.dialect());
        (sources, compiled)
    }
}

/// The words of a first line such as `// strict`.
pub fn dialect_of(text: &str) -> Dialect {
    let first = text.lines().next().and_then(|line| line.strip_prefix("//")).unwrap_or_default();
    let has = |word| first.split_whitespace().any(|w| w == word) && first.len() < 30;
    Dialect { strict: has("strict"), verifier: has("verifier") }
}

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The programs below a folder of the corpus, in order of their names: `topic/scenario.p`, or the folder
/// `topic/scenario/` for a program of several files.
pub fn cases(folder: &str) -> Vec<Case> {
    let root = repository().join("corpus/p").join(folder);
    let mut cases = Vec::new();
    for topic in entries(&root) {
        // A file beside the topics is a program of its own.
        let scenarios = if topic.is_dir() { entries(&topic) } else { vec![topic] };
        for scenario in scenarios {
            let name = scenario.strip_prefix(&root).unwrap_or(&scenario).display().to_string();
            let paths = if scenario.is_dir() { entries(&scenario) } else { vec![scenario] };
            cases.push(Case { name, files: paths.into_iter().map(read).collect() });
        }
    }
    cases
}

fn read(path: PathBuf) -> CaseFile {
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    CaseFile { path, text }
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let listing = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = listing.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// Compiles one text as a program.
pub fn compile_text(text: &str, dialect: Dialect) -> (Sources, Compiled) {
    let mut files = vec![(text.to_owned(), FileRole::Source)];
    // The page of a code about invariants states them in comments.
    let stated = text.lines().filter_map(|line| line.strip_prefix("// --invariant "));
    files.extend(stated.map(|text| (text.trim_matches('\'').to_owned(), FileRole::Invariant)));
    compile_files(&files, dialect)
}

pub fn compile_files(files: &[(String, FileRole)], dialect: Dialect) -> (Sources, Compiled) {
    let mut sources = Sources::default();
    let inputs: Vec<Input> = files
        .iter()
        .map(|(text, role)| Input { file: sources.add("test.p".to_owned(), text.clone()), role: *role })
        .collect();
    let compiled = compile(&sources, &inputs, dialect);
    (sources, compiled)
}

/// What renderers rely on: places lie inside their file, on borders of characters.
pub fn check_places(sources: &Sources, diagnostics: &[Diagnostic]) {
    for diagnostic in diagnostics {
        for label in diagnostic.primary.iter().chain(&diagnostic.secondary) {
            let text = &sources.file(label.span.file).text;
            let range = label.span.start as usize..label.span.end as usize;
            assert!(
                text.get(range).is_some(),
                "{}: the place {:?} is not in the file",
                diagnostic.code,
                label
            );
        }
    }
}
