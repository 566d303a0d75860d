//! Where solvers are looked for, in this order: the variable `ALLWAYS_SOLVER`; where `scripts/get-solver` puts one, that is
//! the build folder of a checkout (`target/solver/bin/z3`: the one that the process runs in, the one that the executable
//! stands in, the one that it was built from) and the user's data folder; `z3` and `cvc5` on the path.

use std::env;
use std::path::{Path, PathBuf};

use super::SolverError;

/// The variable that names a solver.
pub const VARIABLE: &str = "ALLWAYS_SOLVER";

/// An executable that is worth starting.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    pub program: PathBuf,
    pub dialect: Dialect,
}

/// Whose command line an executable understands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dialect {
    Z3,
    Cvc5,
}

impl Found {
    /// Takes an executable by name: what is not called cvc5 is taken for a Z3.
    pub fn new(program: impl Into<PathBuf>) -> Self {
        let program = program.into();
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let dialect = if name.contains("cvc5") { Dialect::Cvc5 } else { Dialect::Z3 };
        Found { program, dialect }
    }
}

/// The first solver in the order of this module.
pub fn find_solver() -> Result<Found, SolverError> {
    if let Some(program) = env::var_os(VARIABLE).filter(|value| !value.is_empty()) {
        return Ok(Found::new(program));
    }
    let candidates = near_workspace().into_iter().chain(near_executable()).chain(of_build()).chain(of_user());
    if let Some(program) = candidates.into_iter().find(|path| path.is_file()) {
        return Ok(Found::new(program));
    }
    ["z3", "cvc5"].into_iter().find_map(on_path).map(Found::new).ok_or(SolverError::Missing)
}

/// `target/solver/bin/z3` of the checkout that the process runs in.
fn near_workspace() -> Vec<PathBuf> {
    let mut candidates = Vec::new();
    if let Some(target) = env::var_os("CARGO_TARGET_DIR") {
        candidates.push(Path::new(&target).join("solver/bin/z3"));
    }
    if let Ok(current) = env::current_dir() {
        let roots = current.ancestors().filter(|folder| folder.join("Cargo.toml").is_file());
        candidates.extend(roots.map(|folder| folder.join("target/solver/bin/z3")));
    }
    candidates
}

/// Beside the executable: `target/release/allways` finds `target/solver/bin/z3`; test executables
/// stand one folder deeper.
fn near_executable() -> Vec<PathBuf> {
    let Ok(program) = env::current_exe() else { return Vec::new() };
    let folders = program.ancestors().skip(1).take(3);
    folders.map(|folder| folder.join("../solver/bin/z3")).collect()
}

/// That of the checkout that the executable was built from, so that a copy of it elsewhere finds the solver as well.
fn of_build() -> Option<PathBuf> {
    Some(Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?.join("target/solver/bin/z3"))
}

/// What `scripts/get-solver --user` installs: `allways/bin/z3` in the folder for data of this user.
fn of_user() -> Option<PathBuf> {
    let named = env::var_os("XDG_DATA_HOME").filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = named.or_else(|| Some(Path::new(&env::var_os("HOME")?).join(".local/share")))?;
    Some(data.join("allways/bin/z3"))
}

fn on_path(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    env::split_paths(&path)
        .flat_map(|folder| [folder.join(name), folder.join(format!("{name}{}", env::consts::EXE_SUFFIX))])
        .find(|candidate| candidate.is_file())
}
