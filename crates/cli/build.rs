//! Puts the pages of `docs/codes` and the models of `allways new` and `allways demo` into the binary, so that an installed
//! `allways` needs no other files.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let root = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../..");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets it"));
    let codes = root.join("docs/codes");
    let mut text = table("PAGES", &codes, ".md");
    text.push_str(&table("RUN_PAGES", &codes.join("run"), ".md"));
    fs::write(out.join("pages.rs"), text).expect("the output folder can be written");
}

/// A constant with the files of a folder, by name without ending.
fn table(constant: &str, folder: &Path, ending: &str) -> String {
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(ending).map(str::to_owned))
        .collect();
    names.sort();
    let mut table = format!("pub const {constant}: &[(&str, &str)] = &[\n");
    for name in names {
        let path = folder.join(format!("{name}{ending}")).canonicalize().expect("just listed");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table.push_str("];\n");
    table
}
