//! Arguments. `p` has options of two letters with one dash (`-pp`, `-tc`), which are rewritten before the
//! ordinary parser sees them, so that habits and scripts carry over.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

use crate::exit::ExitStatus;
use crate::printer;

#[derive(Parser)]
#[command(
    name = "allways",
    version,
    about = "Finds the schedule that breaks an asynchronous program, or proves that none exists",
    after_help = "Exit status: 0 holds or accepted, 1 violated, 2 input rejected or wrong usage, \
                  3 inconclusive, 101 internal error, 130 interrupted"
)]
pub struct Args {
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Subcommand)]
pub enum Command {
    /// Check that a program is well-formed: names, types and every static rule
    Compile(CompileArgs),
    /// List the test cases of a program
    Tests(CompileArgs),
    /// Explain a code that a diagnostic carries
    Explain(ExplainArgs),
}

#[derive(clap::Args)]
pub struct InputArgs {
    /// A folder, a `.pproj` file or `.p` files; the current folder if nothing is given
    pub paths: Vec<PathBuf>,

    /// The project file
    #[arg(long = "pproj", visible_alias = "pp", value_name = "FILE", conflicts_with = "paths")]
    pub project: Option<PathBuf>,

    /// The source files
    #[arg(long = "pfiles", visible_alias = "pf", value_name = "FILE", num_args = 1.., conflicts_with = "paths")]
    pub files: Vec<PathBuf>,

    /// Bodies in P for functions that the program declares as foreign
    #[arg(long, value_name = "FILE")]
    pub foreign: Vec<PathBuf>,

    /// Reject what the compiler of P 3 rejects, also where programs of older versions would be understood
    #[arg(long)]
    pub strict: bool,
}

impl InputArgs {
    pub fn request(&self) -> allways_driver::Request {
        let mut paths = self.paths.clone();
        paths.extend(self.project.clone());
        paths.extend(self.files.iter().cloned());
        allways_driver::Request { paths, foreign: self.foreign.clone() }
    }
}

#[derive(clap::Args)]
pub struct CompileArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// How results are written
    #[arg(long, value_enum, default_value_t = Format::Text)]
    pub format: Format,
}

#[derive(clap::Args)]
pub struct ExplainArgs {
    /// The code, such as `unknown-event`; without it, all codes are listed
    pub code: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For scripts
    Json,
}

/// Options of `p` that have several letters after one dash.
const SHORT_WORDS: &[(&str, &str)] = &[("-pp", "--pproj"), ("-pf", "--pfiles")];

/// The arguments with P's short options written out.
pub fn normalize(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    args.map(|arg| {
        let found = SHORT_WORDS.iter().find(|(short, _)| arg == *short);
        found.map_or(arg, |&(_, long)| OsString::from(long))
    })
    .collect()
}

/// Shows help or what is wrong with the arguments.
pub fn show_usage(error: &clap::Error) -> ExitStatus {
    use clap::error::ErrorKind;
    let text = error.render().ansi().to_string();
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            printer::out(&text);
            ExitStatus::Success
        }
        _ => {
            printer::err(&text);
            ExitStatus::Rejected
        }
    }
}
