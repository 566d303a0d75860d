//! Arguments of commands with a page for a browser.

use std::path::PathBuf;

use clap::ValueEnum;

use super::heading;
use super::input::{InputArgs, NetworkArgs};

#[derive(clap::Args)]
pub struct ExploreArgs {
    #[command(flatten)]
    pub input: InputArgs,

    /// The test case [-tc]
    #[arg(long, value_name = "NAME", help_heading = heading::TESTS)]
    pub testcase: Option<String>,

    /// The port on 127.0.0.1; 0 is any that is free
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub port: u16,

    /// Seconds after which it ends
    #[arg(short, long, value_name = "SECONDS")]
    pub timeout: Option<u64>,

    #[command(flatten)]
    pub network: NetworkArgs,
}

#[derive(clap::Args)]
pub struct PageArgs {
    /// The trace (`.allways.json`) or the schedule
    pub file: PathBuf,

    #[command(flatten)]
    pub input: InputArgs,

    /// What becomes of it
    #[arg(long = "as", value_enum, value_name = "WHAT", default_value_t = PageShape::Page)]
    pub shape: PageShape,

    /// Where it goes [default: beside the trace, with the ending `.html`; a test goes to standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum PageShape {
    /// One HTML file: sequence diagram, steps, states; nothing is loaded from anywhere
    Page,
    /// An entry for `allways.toml` that runs the schedule first, so that the bug stays fixed
    Test,
}
