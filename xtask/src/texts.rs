//! `cargo xtask texts` lists what users may read: every string of several words in the sources of the crates that speak to
//! them (scripts of pages too), with its place, so that a reader can go through all of it. Tests and comments are left out.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const CRATES: &[&str] = &[
    "base",
    "bmc",
    "boogie",
    "cli",
    "driver",
    "explore",
    "explorer",
    "machine",
    "p",
    "report",
    "run",
    "sequentialize",
    "view",
];

pub fn run(args: &[&str]) -> ExitCode {
    if !args.is_empty() {
        println!("usage: cargo xtask texts");
        return ExitCode::from(2);
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    for name in CRATES {
        for folder in ["src", "assets"] {
            sources(&root.join("crates").join(name).join(folder), &mut files);
        }
    }
    files.sort();
    let mut n = 0;
    for file in files {
        let Ok(text) = fs::read_to_string(&file) else { continue };
        let name = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        for (line, text) in strings(&text, name.ends_with(".js")) {
            n += 1;
            println!("{name}:{line}: {text}");
        }
    }
    println!("{n} texts; the pages of codes are in docs/codes, the book is in docs/book");
    ExitCode::SUCCESS
}

fn sources(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            sources(&path, files);
        } else if path.extension().is_some_and(|ext| ext == "rs" || ext == "js") {
            files.push(path);
        }
    }
}

/// Strings of two words or more, with their lines. A module of tests ends a file.
fn strings(source: &str, is_script: bool) -> Vec<(usize, String)> {
    let source = source.split("#[cfg(test)]\nmod ").next().unwrap_or(source);
    let quotes: &[char] = if is_script { &['"', '`', '\''] } else { &['"'] };
    let mut found = Vec::new();
    // The line in which a string begins, its quotation mark, and its text.
    let mut open: Option<(usize, char, String)> = None;
    for (at, line) in source.lines().enumerate() {
        let start = line.trim_start();
        let is_comment = start.starts_with("//") || is_script && start.starts_with(['*', '/']);
        if open.is_none() && is_comment {
            continue;
        }
        let mut chars = start.chars().peekable();
        while let Some(c) = chars.next() {
            match (&mut open, c) {
                // A quotation mark as a character begins nothing.
                (None, '\'') if !is_script && chars.peek() == Some(&'"') => drop(chars.next()),
                (None, quote) if quotes.contains(&quote) => open = Some((at + 1, quote, String::new())),
                (None, _) => {}
                (Some((_, quote, _)), c) if *quote == c => {
                    found.extend(open.take().map(|(line, _, text)| (line, text)));
                }
                (Some((.., text)), '\\') => match chars.next() {
                    Some('n') => text.push(' '),
                    // The text goes on in the next line.
                    None => {}
                    Some(other) => text.push(other),
                },
                (Some((.., text)), c) => text.push(c),
            }
        }
    }
    found.retain(|(_, text)| text.split_whitespace().count() >= 2);
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_of_several_words_are_found() {
        let source = "// \"not in a comment\"\nlet a = \"one two three\";\nlet q = '\"'; let b = \"short\";\n\
                      f(\"it goes \\\n   on here\");\n#[cfg(test)]\nmod tests { \"not in a test\" }";
        let found = strings(source, false);
        assert_eq!(found, [(2, "one two three".to_owned()), (4, "it goes on here".to_owned())]);
        let script = "// no `text here`\nconst a = h(\"p\", {}, `step ${at} of`, 'not found');";
        let found = strings(script, true);
        assert_eq!(found, [(2, "step ${at} of".to_owned()), (2, "not found".to_owned())]);
    }
}
