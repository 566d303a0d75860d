//! Which test cases a name means.

use allways_base::nearest::nearest;
use allways_p::hir;

/// Why no test case can be run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SelectError {
    /// The program has no test case at all.
    NoTests,
    /// Several, and none was named.
    Ambiguous(Vec<String>),
    /// None has this name, or begins with it.
    Unknown { name: String, all: Vec<String> },
}

impl std::fmt::Display for SelectError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SelectError::NoTests => {
                f.write_str("the program has no test case: it declares no `test` and has no machine `Main`")
            }
            // Scripts look for the first words, which are P's.
            SelectError::Ambiguous(names) => write!(
                f,
                "We found '{}' test cases. Please provide a more precise name of the test case you wish to check \
                 using (--testcase | -tc).\nPossible options are:\n{}",
                names.len(),
                names.join("\n")
            ),
            SelectError::Unknown { name, all } => {
                write!(f, "there is no test case `{name}`")?;
                if let Some(near) = nearest(name, all.iter().map(String::as_str)) {
                    write!(f, "; did you mean `{near}`?")?;
                }
                write!(f, "\nThe program has:\n{}", all.join("\n"))
            }
        }
    }
}

/// The test cases that the names stand for, each once, in the order of the program: for each name the test of exactly
/// that name, or else all that begin with it. Without names, the only one.
pub fn select_all(program: &hir::Program, names: &[String]) -> Result<Vec<usize>, SelectError> {
    if names.is_empty() {
        return select(program, None);
    }
    let mut found = Vec::new();
    for name in names {
        found.extend(select(program, Some(name))?);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// The test cases that `name` stands for: the one of exactly that name, or else all that begin with it.
pub fn select(program: &hir::Program, name: Option<&str>) -> Result<Vec<usize>, SelectError> {
    let names = || program.tests.iter().map(|test| test.name.clone()).collect::<Vec<_>>();
    let Some(name) = name else {
        return match program.tests.len() {
            0 => Err(SelectError::NoTests),
            1 => Ok(vec![0]),
            _ => Err(SelectError::Ambiguous(names())),
        };
    };
    if let Some(exact) = program.tests.iter().position(|test| test.name == name) {
        return Ok(vec![exact]);
    }
    let found: Vec<usize> =
        (0..program.tests.len()).filter(|&test| program.tests[test].name.starts_with(name)).collect();
    match found.as_slice() {
        [] if program.tests.is_empty() => Err(SelectError::NoTests),
        [] => Err(SelectError::Unknown { name: name.to_owned(), all: names() }),
        _ => Ok(found),
    }
}
