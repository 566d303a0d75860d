//! Runs the binary in folders made for one test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

/// An empty folder of its own for one test.
pub fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

pub fn allways(folder: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_allways")).current_dir(folder).args(args).output().unwrap()
}

/// Runs a command that must be rejected, and returns what it said.
#[track_caller]
pub fn rejected(folder: &Path, args: &[&str]) -> String {
    let output = allways(folder, args);
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{args:?} said: {text}");
    assert!(!text.contains('\u{1b}'), "no colors without a terminal");
    text
}

#[track_caller]
pub fn assert_says(text: &str, words: &[&str]) {
    for word in words {
        assert!(text.contains(word), "`{word}` is missing in:\n{text}");
    }
}

/// The content of the fences of a page, each with what stands behind the backticks.
pub fn fences(text: &str) -> Vec<(String, String)> {
    let mut fences = Vec::new();
    let mut open: Option<(String, String)> = None;
    for line in text.lines() {
        match (line.strip_prefix("```"), &mut open) {
            (Some(info), None) => open = Some((info.to_owned(), String::new())),
            (Some(_), Some(_)) => fences.extend(open.take()),
            (None, Some((_, content))) => {
                content.push_str(line);
                content.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a fence is not closed");
    fences
}
