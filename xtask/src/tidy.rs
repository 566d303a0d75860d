//! Rules of the repository that no compiler checks: crate edges, module docs, references to files, serialization, prints.
//!
//! `cargo xtask tidy` lists what breaks a rule; the test below runs the same, so `cargo test` keeps the rules true.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub fn run(args: &[&str]) -> ExitCode {
    if !args.is_empty() {
        println!("usage: cargo xtask tidy");
        return ExitCode::from(2);
    }
    let problems = problems(&root());
    for problem in &problems {
        println!("{problem}");
    }
    println!("{} problem{}", problems.len(), if problems.len() == 1 { "" } else { "s" });
    if problems.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn problems(root: &Path) -> Vec<String> {
    let tree = Tree::read(root);
    let mut problems = crate_edges(root, &tree);
    for (name, text) in tree.rust_sources() {
        problems.extend(module_doc(name, text));
        problems.extend(serialization(name, text));
        problems.extend(prints(name, text));
        problems.extend(doc_test(name, text));
    }
    for (name, text) in &tree.files {
        problems.extend(dangling(&tree, name, text));
    }
    problems.sort();
    problems
}

/// The text files of the repository, by path from its root.
struct Tree {
    files: BTreeMap<String, String>,
    /// With the files that are not text, and folders.
    names: BTreeSet<String>,
}

impl Tree {
    fn read(root: &Path) -> Tree {
        let mut tree = Tree { files: BTreeMap::new(), names: BTreeSet::new() };
        tree.visit(root, "");
        tree
    }

    fn visit(&mut self, folder: &Path, prefix: &str) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        for entry in entries.flatten() {
            let file_name = entry.file_name().to_string_lossy().into_owned();
            // Build output and the repository's own data.
            if file_name.starts_with(".git") || file_name == "target" || file_name == "PCheckerOutput" {
                continue;
            }
            let name = format!("{prefix}{file_name}");
            let path = entry.path();
            if path.is_dir() {
                self.names.insert(name.clone());
                self.visit(&path, &format!("{name}/"));
            } else {
                let is_text = name.ends_with(".rs") || name.ends_with(".md");
                if is_text && let Ok(text) = fs::read_to_string(&path) {
                    self.files.insert(name.clone(), text);
                }
                self.names.insert(name);
            }
        }
    }

    /// Of crates, without tests and examples.
    fn rust_sources(&self) -> impl Iterator<Item = (&str, &str)> {
        let is_source =
            |name: &str| name.starts_with("crates/") && name.contains("/src/") && name.ends_with(".rs");
        self.files
            .iter()
            .filter(move |(name, _)| is_source(name))
            .map(|(name, text)| (name.as_str(), text.as_str()))
    }
}

/// The column "may use" of ARCHITECTURE.md's code map says exactly which crates each crate depends on.
fn crate_edges(root: &Path, tree: &Tree) -> Vec<String> {
    let mut problems = Vec::new();
    let Some(architecture) = tree.files.get("ARCHITECTURE.md") else {
        return vec!["ARCHITECTURE.md: missing".to_owned()];
    };
    let allowed = code_map(architecture);
    let folders =
        tree.names.iter().filter(|name| name.starts_with("crates/") && name.matches('/').count() == 1);
    for folder in folders {
        let Ok(manifest) = fs::read_to_string(root.join(folder).join("Cargo.toml")) else { continue };
        let used = dependencies(&manifest);
        let Some(allowed) = allowed.get(folder) else {
            problems.push(format!("ARCHITECTURE.md: the code map does not mention {folder}"));
            continue;
        };
        for name in used.difference(allowed) {
            problems
                .push(format!("{folder}/Cargo.toml: depends on {name}, which the code map does not allow"));
        }
        for name in allowed.difference(&used) {
            problems.push(format!("ARCHITECTURE.md: {folder} may use {name}, but does not depend on it"));
        }
    }
    for folder in allowed.keys().filter(|folder| !tree.names.contains(*folder)) {
        problems.push(format!("ARCHITECTURE.md: the code map mentions {folder}, which does not exist"));
    }
    problems
}

/// Rows like ``| `crates/run` | what it holds | base |``, by folder.
fn code_map(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    let rows = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.trim().trim_matches('|').split('|').map(str::trim).collect();
        let folder = cells.first()?.strip_prefix("`crates/")?.strip_suffix('`')?;
        let uses = cells.last()?.split(',').map(|name| name.trim().to_owned());
        let uses = uses.filter(|name| !name.is_empty() && name != "nothing").collect();
        Some((format!("crates/{folder}"), uses))
    });
    rows.collect()
}

/// Those of `[dependencies]` that are crates of the workspace; tests may use what they like.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let lines = manifest.lines().map(str::trim);
    let section =
        lines.skip_while(|line| *line != "[dependencies]").skip(1).take_while(|line| !line.starts_with('['));
    let names = section.filter_map(|line| line.strip_prefix("allways-"));
    names.map(|name| name.split(['.', ' ', '=']).next().unwrap_or_default().to_owned()).collect()
}

fn module_doc(name: &str, text: &str) -> Option<String> {
    let has_doc = text.lines().any(|line| line.starts_with("//!"));
    (!has_doc).then(|| format!("{name}: no module documentation"))
}

/// Formats are promises to scripts, so they live in `report`. `driver` reads `allways.toml`.
fn serialization(name: &str, text: &str) -> Option<String> {
    let derives = |what: &str| {
        text.lines().any(|line| {
            line.contains("derive(") && line.split(['(', ',', ')']).any(|word| word.trim() == what)
        })
    };
    let is_report = name.starts_with("crates/report/");
    if derives("Serialize") && !is_report {
        return Some(format!("{name}: derives Serialize outside of crates/report"));
    }
    if derives("Deserialize") && !is_report && !name.starts_with("crates/driver/") {
        return Some(format!("{name}: derives Deserialize outside of crates/report and crates/driver"));
    }
    None
}

/// Clippy finds prints; this finds where clippy was silenced.
fn prints(name: &str, text: &str) -> Option<String> {
    let is_silenced = text.contains("clippy::print_std") && !name.starts_with("crates/cli/");
    is_silenced.then(|| format!("{name}: allows prints, which belong to crates/cli"))
}

/// Examples in comments do not run (`doctest = false`: of all crates none had one, and looking for them took time). A fence names
/// another language, so that none passes for an example that runs.
fn doc_test(name: &str, text: &str) -> Option<String> {
    let fences = text.lines().map(str::trim_start).filter_map(|line| {
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"))?;
        comment.trim_start().strip_prefix("```")
    });
    // Every second one closes.
    let is_rust = |info: &str| matches!(info.trim(), "" | "rust" | "should_panic" | "no_run");
    let mut opening = fences.step_by(2);
    opening.any(is_rust).then(|| format!("{name}: an example in a comment, which no test runs; write a test"))
}

/// Links of Markdown files, and names of Markdown files in comments, lead somewhere.
fn dangling(tree: &Tree, name: &str, text: &str) -> Vec<String> {
    let references: Vec<&str> = if name.ends_with(".md") { links(text) } else { named_documents(text) };
    let folder = name.rsplit_once('/').map_or("", |(folder, _)| folder);
    let is_there = |reference: &&str| {
        let from_root = normal(reference);
        let from_here = normal(&format!("{folder}/{reference}"));
        tree.names.contains(&from_root) || tree.names.contains(&from_here)
    };
    let lost = references.into_iter().filter(|reference| !is_there(reference));
    lost.map(|reference| format!("{name}: refers to {reference}, which does not exist")).collect()
}

fn links(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut in_code = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            in_code = !in_code;
        }
        if in_code {
            continue;
        }
        let targets = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
        found.extend(targets.filter(|target| !target.is_empty() && !target.contains("://")));
    }
    found
}

/// Words of comments that end in `.md`.
fn named_documents(text: &str) -> Vec<&str> {
    let comments = text.lines().map(str::trim_start).filter(|line| line.starts_with("//"));
    let words = comments.flat_map(|line| line.split(|c: char| !c.is_alphanumeric() && !"./_-".contains(c)));
    words
        .map(|word| word.trim_end_matches('.'))
        .filter(|word| word.len() > 3 && word.ends_with(".md"))
        .collect()
}

/// A path without `.` and `..`.
fn normal(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_repository_is_tidy() {
        let problems = problems(&root());
        assert!(problems.is_empty(), "{}", problems.join("\n"));
    }

    #[test]
    fn each_rule_finds_what_breaks_it() {
        assert_eq!(module_doc("a.rs", "fn f() {}\n").as_deref(), Some("a.rs: no module documentation"));
        assert_eq!(module_doc("a.rs", "//! One.\nfn f() {}\n"), None);
        let derived = "#[derive(Clone, Serialize)]\nstruct A;\n";
        assert!(serialization("crates/run/src/a.rs", derived).is_some());
        assert!(serialization("crates/report/src/a.rs", derived).is_none());
        assert!(prints("crates/run/src/a.rs", "#![allow(clippy::print_stdout)]").is_some());
        assert!(doc_test("a.rs", "/// ```\n/// f();\n/// ```\n").is_some());
        assert!(doc_test("a.rs", "//! ```text\n//! f\n//! ```\n").is_none());
        let map = code_map("| folder | holds | may use |\n|---|---|---|\n| `crates/b` | things | a, c |\n");
        assert_eq!(map["crates/b"], ["a", "c"].map(str::to_owned).into());
        let used = dependencies(
            "[dependencies]\nallways-a.workspace = true\n[dev-dependencies]\nallways-d.workspace = true\n",
        );
        assert_eq!(used, ["a".to_owned()].into());
        let names = ["docs".to_owned(), "docs/a.md".to_owned()].into();
        let tree = Tree { files: BTreeMap::new(), names };
        assert!(dangling(&tree, "docs/b.md", "[a](a.md) and [c](../docs/a.md#x)").is_empty());
        assert_eq!(dangling(&tree, "docs/b.md", "[a](c.md)").len(), 1);
        assert_eq!(dangling(&tree, "crates/x/src/y.rs", "//! See docs/z.md.").len(), 1);
        assert!(dangling(&tree, "crates/x/src/y.rs", "let name = \"z.md\";").is_empty());
    }
}
