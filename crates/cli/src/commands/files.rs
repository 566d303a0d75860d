//! Files that a run leaves behind, with the names and in the folders that P's checker uses.

use std::fs;
use std::path::Path;

use allways_driver::Compilation;
use allways_machine::Executable;
use allways_report::check::CheckReport;
use allways_report::schedule_file::{self, FileChoice, ScheduleFile};
use allways_report::{check as check_report, json, p_log};
use allways_run::{Choice, Counterexample};

use super::check::Checked;
use crate::args::Format;
use crate::printer;

const DEFAULT_FOLDER: &str = "PCheckerOutput";
/// Earlier results are kept as `BugFinding0` to `BugFinding9`.
const N_KEPT: usize = 10;

/// Writes what was found. Without a folder given, files appear only when something broke.
pub fn write(
    compilation: &Compilation,
    checked: &Checked,
    report: &CheckReport,
    outdir: Option<&Path>,
    format: Format,
) -> Result<(), String> {
    if outdir.is_none() && checked.report.findings.is_empty() {
        return Ok(());
    }
    let root = outdir.unwrap_or(Path::new(DEFAULT_FOLDER)).join(&checked.name);
    let folder = root.join("BugFinding");
    rotate(&root, &folder).map_err(|error| format!("`{}` cannot be written: {error}", folder.display()))?;
    let project = &compilation.project.name;
    let put = |name: String, text: String| -> Result<(), String> {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| format!("`{}` cannot be written: {error}", path.display()))?;
        if format == Format::Text {
            printer::out(&format!("..... Writing {}\n", path.display()));
        }
        Ok(())
    };
    let sources = compilation.sources();
    for (k, finding) in checked.report.findings.iter().enumerate() {
        let counterexample = &finding.counterexample;
        let strategy = finding.strategy.to_string();
        put(
            format!("{project}_0_{k}.txt"),
            p_log::render_text(&counterexample.trace, &checked.name, &strategy, sources),
        )?;
        put(format!("{project}_0_{k}.trace.json"), p_log::render_json(&counterexample.trace, sources))?;
        put(
            format!("{project}_0_{k}.schedule"),
            schedule_file::write(&schedule(compilation, &checked.executable, &checked.name, counterexample)),
        )?;
    }
    put(format!("{project}.coverage.txt"), check_report::render_coverage(report))?;
    put(format!("{project}.report.json"), json::to_text(report))?;
    put(format!("{project}_pchecker_summary.txt"), summary(report))
}

/// Makes room for new files; earlier ones are kept aside.
fn rotate(root: &Path, folder: &Path) -> std::io::Result<()> {
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
        compilation.project.inputs.iter().map(|input| sources.file(input.file).text.as_str()),
    )
}

fn schedule(
    compilation: &Compilation,
    exe: &Executable,
    test: &str,
    counterexample: &Counterexample,
) -> ScheduleFile {
    ScheduleFile {
        test: test.to_owned(),
        program: program_fingerprint(compilation),
        choices: counterexample
            .schedule
            .choices
            .iter()
            .map(|choice| match *choice {
                Choice::Machine(machine) => FileChoice::Machine(exe.instance_path(machine)),
                Choice::Data(answer) => FileChoice::Data(answer),
            })
            .collect(),
        loop_start: counterexample.loop_start,
    }
}
