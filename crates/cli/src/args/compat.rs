//! Options of `p`, so that scripts and habits carry over. What has an equivalent is rewritten to it; what means something
//! else here is accepted, and a note says what is done.

use std::ffi::{OsStr, OsString};
use std::path::Path;

/// Whether the program was started under the name `p`, as through a link for the tools of P.
pub fn is_called_p(program: &OsStr) -> bool {
    Path::new(program).file_stem().is_some_and(|name| name == "p")
}

/// Options of `p` that have several letters after one dash.
const SHORT_WORDS: &[(&str, &str)] = &[
    ("-pp", "--pproj"),
    ("-pf", "--pfiles"),
    ("-pn", "--projname"),
    ("-po", "--pobserve-package"),
    ("-se", "--strict-errors"),
    ("-nch", "--no-event-handler-checks"),
    ("-pb", "--proof-blocks"),
    ("-co", "--check-only"),
    ("-tc", "--testcase"),
    ("-tsmoke", "--smoke-testing"),
    ("-ms", "--max-steps"),
    ("-md", "--mode"),
    ("-sp", "--sch-probabilistic"),
];

/// The arguments with P's short options written out.
pub fn normalize(args: impl Iterator<Item = OsString>) -> Vec<OsString> {
    args.map(|arg| {
        let found = SHORT_WORDS.iter().find(|(short, _)| arg == *short);
        found.map_or(arg, |&(_, long)| OsString::from(long))
    })
    .collect()
}

/// Options of `p check` that mean something else here.
#[derive(clap::Args)]
pub struct CheckCompatArgs {
    #[arg(long, hide = true, value_name = "MODE")]
    pub mode: Option<String>,
    #[arg(long, hide = true)]
    pub xml_trace: bool,
    #[arg(long, hide = true)]
    pub graph: bool,
    #[arg(long, hide = true)]
    pub graph_bug: bool,
    #[arg(long, hide = true)]
    pub smoke_testing: bool,
    #[arg(short = 'd', long, hide = true)]
    pub debug: bool,
    #[arg(long, hide = true, value_name = "N")]
    pub liveness_temperature_threshold: Option<u64>,
    #[arg(long, hide = true, value_name = "ARGS", allow_hyphen_values = true)]
    pub checker_args: Option<String>,
    #[arg(long, hide = true, value_name = "ARGS", allow_hyphen_values = true)]
    pub jvm_args: Option<String>,
    #[arg(long, hide = true, value_name = "ARGS", allow_hyphen_values = true)]
    pub psym_args: Option<String>,
    #[arg(long, hide = true, value_name = "NAME")]
    pub timeline_repr: Option<String>,
    #[arg(long, hide = true, value_name = "N")]
    pub timeline_kgram: Option<u32>,
    #[arg(long, hide = true)]
    pub timeline_payload: bool,
}

impl CheckCompatArgs {
    /// What to say before `check` begins.
    ///
    /// # Errors
    /// When something else is meant than testing.
    pub fn notes(&self) -> Result<Vec<String>, String> {
        match self.mode.as_deref().map(str::to_ascii_lowercase).as_deref() {
            None | Some("bugfinding" | "pchecker") => {}
            Some("pex") => {
                return Err("`--mode pex` explores all runs: use `allways prove`".to_owned());
            }
            Some("verification" | "pverifier") => {
                return Err("`--mode verification` proves by invariants, which Allways does not do; \
                            `allways prove` explores all runs"
                    .to_owned());
            }
            Some(other) => {
                return Err(format!(
                    "there is no `--mode {other}`; `allways check` tests, `allways prove` proves"
                ));
            }
        }
        let notes = [
            (self.xml_trace, "`--xml-trace`: traces are written as text and as JSON, not as XML"),
            (
                self.graph || self.graph_bug,
                "`--graph`: `check` draws no graph; `allways graph` draws small programs",
            ),
            (self.smoke_testing, "`--smoke-testing` is ignored: use `--all` to run every test case"),
            (
                self.liveness_temperature_threshold.is_some(),
                "`--liveness-temperature-threshold` is ignored: a potential liveness violation depends on `--max-steps`",
            ),
            (
                self.checker_args.is_some() || self.jvm_args.is_some() || self.psym_args.is_some(),
                "`--checker-args`, `--jvm-args` and `--psym-args` are ignored: they are for programs that \
                 Allways does not start",
            ),
            (
                self.timeline_repr.is_some() || self.timeline_kgram.is_some() || self.timeline_payload,
                "`--timeline-*` is ignored: no strategy here is guided by feedback",
            ),
        ];
        Ok(notes.into_iter().filter(|(is_given, _)| *is_given).map(|(_, note)| note.to_owned()).collect())
    }
}

/// Options of `p compile` that are about generated code, of which there is none here.
#[derive(clap::Args)]
pub struct CompileCompatArgs {
    #[arg(long, hide = true, value_name = "MODE")]
    pub mode: Option<String>,
    #[arg(long, hide = true, value_name = "NAME")]
    pub projname: Option<String>,
    #[arg(short = 'o', long, hide = true, value_name = "DIR")]
    pub outdir: Option<OsString>,
    #[arg(long, hide = true, value_name = "NAME")]
    pub pobserve_package: Option<String>,
    #[arg(short = 'd', long, hide = true)]
    pub debug: bool,
    #[arg(long, hide = true)]
    pub strict_errors: bool,
    #[arg(short = 't', long, hide = true, value_name = "SECONDS")]
    pub timeout: Option<u64>,
    #[arg(long, hide = true)]
    pub no_event_handler_checks: bool,
    #[arg(long, hide = true, value_name = "NAME", num_args = 1..)]
    pub proof_blocks: Vec<String>,
    #[arg(long, hide = true, value_name = "NAME")]
    pub check_only: Option<String>,
    #[arg(short = 'j', long, hide = true, value_name = "N")]
    pub jobs: Option<u32>,
}

impl CompileCompatArgs {
    /// What to say before `compile` begins.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(folder) = &self.outdir {
            let folder = folder.to_string_lossy();
            notes.push(format!("`-o {folder}`: no code is generated; `allways check` reads the sources"));
        }
        if let Some(mode) = &self.mode
            && !matches!(mode.to_ascii_lowercase().as_str(), "bugfinding" | "pchecker")
        {
            notes.push(format!("`--mode {mode}`: the program is checked; no code is generated"));
        }
        let is_for_proofs = self.no_event_handler_checks
            || !self.proof_blocks.is_empty()
            || self.check_only.is_some()
            || self.timeout.is_some()
            || self.jobs.is_some();
        if is_for_proofs {
            notes.push(
                "options of the P verifier are ignored: proofs by invariants are not checked".to_owned(),
            );
        }
        notes
    }
}
