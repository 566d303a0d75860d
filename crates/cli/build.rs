//! Puts the pages of `docs/codes` into the binary, so that `allways explain` needs no files.

use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

fn main() {
    let folder = Path::new(&env::var("CARGO_MANIFEST_DIR").expect("cargo sets it")).join("../../docs/codes");
    println!("cargo::rerun-if-changed={}", folder.display());
    let mut names: Vec<String> = fs::read_dir(&folder)
        .into_iter()
        .flatten()
        .filter_map(Result::ok)
        .filter_map(|entry| entry.file_name().to_str()?.strip_suffix(".md").map(str::to_owned))
        .collect();
    names.sort();
    let mut table = String::from("pub const PAGES: &[(&str, &str)] = &[\n");
    for name in names {
        let path = folder.join(format!("{name}.md")).canonicalize().expect("just listed");
        writeln!(table, "    ({name:?}, include_str!({path:?})),").expect("writing to a string");
    }
    table.push_str("];\n");
    let out = Path::new(&env::var("OUT_DIR").expect("cargo sets it")).join("pages.rs");
    fs::write(out, table).expect("the output folder can be written");
}
