//! Files that a run leaves behind, with the names and in the folders that P's checker uses.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use allways_driver::Compilation;
use allways_explorer::choices;
use allways_machine::Executable;
use allways_p::FileRole;
use allways_report::check::CheckReport;
use allways_report::limited::Limited;
use allways_report::scenario::{self, ScenarioFile};
use allways_report::schedule_file::{self, ScheduleFile};
use allways_report::{check as check_report, itf, json, p_log, trace_file};
use allways_run::{Certainty, Counterexample, ViolationKind};

use super::check::Checked;
use crate::args::Format;
use crate::printer;

const DEFAULT_FOLDER: &str = "PCheckerOutput";
/// Earlier results are kept as `BugFinding0` to `BugFinding9`.
const N_KEPT: usize = 10;

/// Bytes of the largest file. A run that sends one large value many times has a small schedule, and a log that is far larger.
const MAX_BYTES: usize = 256 << 20;

/// Writes what testing found. Without a folder given, files appear only when something broke, or when there are scenarios, of which other
/// commands read the coverage.
pub fn write(
    compilation: &Compilation,
    checked: &Checked,
    report: &CheckReport,
    outdir: Option<&Path>,
    format: Format,
) -> Result<Option<PathBuf>, String> {
    if outdir.is_none() && checked.report.findings.is_empty() && report.scenarios.is_empty() {
        return Ok(None);
    }
    let folder = Folder::make(outdir, &checked.name, format)?;
    let project = &compilation.project.name;
    for (k, finding) in checked.report.findings.iter().enumerate() {
        let strategy = finding.strategy.to_string();
        folder.put_run(
            compilation,
            &checked.executable,
            &checked.name,
            k,
            &finding.counterexample,
            &strategy,
        )?;
    }
    folder.put(&format!("{project}.coverage.txt"), &check_report::render_coverage(report))?;
    folder.put(&format!("{project}.report.json"), &json::to_text(report))?;
    folder.put(&format!("{project}_pchecker_summary.txt"), &summary(report))?;
    if !report.scenarios.is_empty() {
        let file = ScenarioFile::new(&checked.name, &report.scenarios);
        folder.put(&format!("{project}_{}{}", checked.name, scenario::FILE_SUFFIX), &json::to_text(&file))?;
    }
    if !checked.report.findings.is_empty() {
        folder.say_how_to_look(project);
    }
    Ok(Some(folder.path))
}

/// The folder, if one was written. What cannot be written is named on standard error, and costs the files only.
pub fn named(written: Result<Option<PathBuf>, String>) -> Option<PathBuf> {
    written.unwrap_or_else(|problem| {
        printer::err(&format!("{problem}\n"));
        None
    })
}

/// Writes the counterexample of a proof attempt.
pub fn write_counterexample(
    compilation: &Compilation,
    exe: &Executable,
    test: &str,
    counterexample: &Counterexample,
    engine: &str,
    outdir: Option<&Path>,
    format: Format,
) -> Result<Option<PathBuf>, String> {
    let folder = Folder::make(outdir, test, format)?;
    folder.put_run(compilation, exe, test, 0, counterexample, engine)?;
    folder.say_how_to_look(&compilation.project.name);
    Ok(Some(folder.path))
}

/// The folder of one test's results.
struct Folder {
    path: PathBuf,
    is_reported: bool,
}

impl Folder {
    fn make(outdir: Option<&Path>, test: &str, format: Format) -> Result<Self, String> {
        let root = outdir.unwrap_or(Path::new(DEFAULT_FOLDER)).join(test);
        let path = root.join("BugFinding");
        rotate(&root, &path).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
        Ok(Folder { path, is_reported: format.is_text() })
    }

    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        self.put_by(name, |out| out.write_all(text.as_bytes()))
    }

    /// Writes a file piece by piece.
    fn put_by(
        &self,
        name: &str,
        write: impl FnOnce(&mut dyn io::Write) -> io::Result<()>,
    ) -> Result<(), String> {
        let path = self.path.join(name);
        let written = fs::File::create(&path).map(io::BufWriter::new).and_then(|mut out| {
            write(&mut Limited::new(&mut out, MAX_BYTES))?;
            out.flush()
        });
        match written {
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                let _ = fs::remove_file(&path);
                if self.is_reported {
                    printer::out(&format!("..... Not writing {}: it would be too large\n", path.display()));
                }
                return Ok(());
            }
            written => {
                written.map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
            }
        }
        if self.is_reported {
            printer::detail(&format!("..... Writing {}\n", path.display()));
        }
        Ok(())
    }

    /// The run as a log, as a trace and as a schedule.
    fn put_run(
        &self,
        compilation: &Compilation,
        exe: &Executable,
        test: &str,
        k: usize,
        counterexample: &Counterexample,
        strategy: &str,
    ) -> Result<(), String> {
        let (project, sources) = (&compilation.project.name, compilation.sources());
        let trace = &counterexample.trace;
        self.put_by(&format!("{project}_0_{k}.txt"), |out| {
            p_log::write_text(trace, test, strategy, sources, out)
        })?;
        self.put_by(&format!("{project}_0_{k}.trace.json"), |out| p_log::write_json(trace, sources, out))?;
        let network = exe.network.options().describe();
        let monitor = counterexample.violation.monitor.map(|monitor| exe.monitor_name(monitor));
        let heading = trace_file::Heading { project, test, network: network.as_deref(), monitor };
        self.put_by(&format!("{project}_0_{k}.allways.json"), |out| {
            trace_file::write(counterexample, &heading, sources, out)
        })?;
        if trace.steps.len() <= itf::MAX_STEPS {
            let place = counterexample.violation.span.map(|span| sources.place(span));
            self.put_by(&format!("{project}_0_{k}.itf.json"), |out| {
                itf::write(counterexample, test, place, out)
            })?;
        }
        let schedule = schedule_file::write(&schedule(compilation, exe, test, counterexample));
        self.put(&format!("{project}_0_{k}.schedule"), &schedule)
    }

    /// Says how to look at the first run. Comes after all files.
    fn say_how_to_look(&self, project: &str) {
        let trace = self.path.join(format!("{project}_0_0.allways.json"));
        if self.is_reported && trace.exists() {
            printer::detail(&format!(
                "`allways show {}` makes a page of it for a browser\n",
                trace.display()
            ));
        }
    }
}

/// Makes room for new files; earlier ones are kept aside.
fn rotate(root: &Path, folder: &Path) -> io::Result<()> {
    if folder.exists() {
        let kept = |i: usize| root.join(format!("BugFinding{i}"));
        if kept(N_KEPT - 1).exists() {
            fs::remove_dir_all(kept(N_KEPT - 1))?;
        }
        for i in (0..N_KEPT - 1).rev().filter(|&i| kept(i).exists()).collect::<Vec<_>>() {
            fs::rename(kept(i), kept(i + 1))?;
        }
        fs::rename(folder, kept(0))?;
    }
    fs::create_dir_all(folder)
}

fn summary(report: &CheckReport) -> String {
    format!(
        "bugs:{}\nschedules:{}\nmax_depth:{}\n",
        report.violations.len(),
        report.statistics.n_schedules,
        report.statistics.max_length
    )
}

/// A name for the program that the schedule belongs to.
pub fn program_fingerprint(compilation: &Compilation) -> String {
    let sources = compilation.sources();
    schedule_file::fingerprint(
        compilation
            .project
            .inputs
            .iter()
            .filter(|input| input.role != FileRole::Invariant)
            .map(|input| sources.file(input.file).text.as_str()),
    )
}

fn schedule(
    compilation: &Compilation,
    exe: &Executable,
    test: &str,
    counterexample: &Counterexample,
) -> ScheduleFile {
    let (machines, choices) = choices::to_file(exe, &counterexample.schedule);
    ScheduleFile {
        test: test.to_owned(),
        program: program_fingerprint(compilation),
        machines,
        choices,
        loop_start: counterexample.loop_start,
        potential: match counterexample.violation.kind {
            ViolationKind::Liveness(Certainty::Potential) => {
                counterexample.violation.monitor.map(|monitor| exe.monitor_name(monitor).to_owned())
            }
            _ => None,
        },
        hot: match counterexample.violation.kind {
            ViolationKind::Liveness(Certainty::Certain) if counterexample.loop_start.is_some() => {
                counterexample.violation.monitor.map(|monitor| exe.monitor_name(monitor).to_owned())
            }
            _ => None,
        },
        step_bound: match counterexample.violation.kind {
            ViolationKind::StepBound(steps) => Some(steps),
            _ => None,
        },
        invariant: match (counterexample.violation.kind, counterexample.violation.span) {
            (ViolationKind::Invariant, Some(span)) => {
                Some(compilation.sources().file(span.file).text.lines().collect::<Vec<_>>().join(" "))
            }
            _ => None,
        },
        network: exe.network.options().clone(),
    }
}
