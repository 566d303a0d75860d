//! `allways show`: a run as a page for a browser, or as a test; and the pages of `--html`.

use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use allways_base::Sources;
use allways_driver::suite;
use allways_machine::Executable;
use allways_report::schedule_file;
use allways_report::trace_file::{self, Heading, ReadError, Sink};
use allways_run::Counterexample;
use allways_view::page::PageWriter;

use super::replay::{self, Outlook};
use crate::args::{Format, NetworkArgs, PageArgs, PageShape};
use crate::exit::ExitStatus;
use crate::printer;

pub fn show(args: &PageArgs) -> ExitStatus {
    let done = match (args.shape, is_schedule(&args.file)) {
        (_, Err(error)) => Err(format!("`{}` cannot be read: {error}", args.file.display())),
        (PageShape::Test, Ok(true)) => return show_test(args),
        (PageShape::Test, Ok(false)) => {
            Err(format!("`{}` is not a schedule; `--as test` needs a `.schedule` file", args.file.display()))
        }
        (PageShape::Page, Ok(true)) => return show_schedule(args),
        (PageShape::Page, Ok(false)) => show_trace(args),
    };
    match done {
        Ok(path) => {
            printer::out(&format!("{}\n", path.display()));
            ExitStatus::Success
        }
        Err(problem) => {
            printer::err(&format!("{problem}\n"));
            ExitStatus::Rejected
        }
    }
}

/// Traces are JSON; schedules are lines.
fn is_schedule(path: &Path) -> io::Result<bool> {
    let mut input = BufReader::new(File::open(path)?);
    let first = input.fill_buf()?.iter().copied().find(|byte| !byte.is_ascii_whitespace());
    Ok(!matches!(first, Some(b'{' | b'[')))
}

fn show_trace(args: &PageArgs) -> Result<PathBuf, String> {
    let path = args.output.clone().unwrap_or_else(|| page_beside(&args.file));
    let input = File::open(&args.file)
        .map_err(|error| format!("`{}` cannot be read: {error}", args.file.display()))?;
    let read = |sink: &mut dyn Sink| trace_file::read(input, sink);
    write_page(&path, read).map_err(|error| match error {
        ReadError::Format(problem) => format!("`{}`: {problem}", args.file.display()),
        ReadError::Io(error) => format!("`{}` cannot be written: {error}", path.display()),
    })?;
    Ok(path)
}

fn show_schedule(args: &PageArgs) -> ExitStatus {
    let asked = NetworkArgs::default();
    let (compilation, replayed) = match replay::run(&args.input, &args.file, Format::Text, &asked, "show") {
        Ok(replayed) => replayed,
        Err(status) => return status,
    };
    let path = args.output.clone().unwrap_or_else(|| page_beside(&args.file));
    let network = replayed.file.network.describe();
    let heading = Heading {
        project: &compilation.project.name,
        test: &replayed.file.test,
        network: network.as_deref(),
        monitor: replayed.monitor(),
    };
    let written = write_run(&path, &replayed.counterexample, &heading, compilation.sources());
    match written {
        Ok(()) => {
            printer::out(&format!("{}\n", path.display()));
            ExitStatus::Success
        }
        Err(error) => {
            printer::err(&format!("`{}` cannot be written: {error}\n", path.display()));
            ExitStatus::Rejected
        }
    }
}

/// The page of a trace: `x.allways.json` becomes `x.html`.
fn page_beside(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let stem = [".allways.json", ".json", ".schedule"].iter().find_map(|ending| name.strip_suffix(ending));
    path.with_file_name(format!("{}.html", stem.unwrap_or(&name)))
}

fn write_run(
    path: &Path,
    counterexample: &Counterexample,
    heading: &Heading<'_>,
    sources: &Sources,
) -> io::Result<()> {
    let emit =
        |sink: &mut dyn Sink| trace_file::emit(counterexample, heading, sources, sink).map_err(ReadError::Io);
    write_page(path, emit).map_err(|error| match error {
        ReadError::Io(error) => error,
        ReadError::Format(problem) => io::Error::other(problem),
    })
}

/// Writes a page aside and moves it at the end, so that there is never half a page.
fn write_page(
    path: &Path,
    fill: impl FnOnce(&mut dyn Sink) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(ReadError::Io)?;
    }
    let mut aside = path.as_os_str().to_owned();
    aside.push(format!(".{}", std::process::id()));
    let aside = PathBuf::from(aside);
    let written = (|| {
        let file = File::create(&aside).map_err(ReadError::Io)?;
        let mut page = PageWriter::new(BufWriter::new(file)).map_err(ReadError::Io)?;
        fill(&mut page)?;
        page.finish().map_err(ReadError::Io)?;
        fs::rename(&aside, path).map_err(ReadError::Io)
    })();
    if written.is_err() {
        let _ = fs::remove_file(&aside);
    }
    written
}

/// The run that `--html` asks for.
pub struct Shown<'a> {
    pub folder: &'a Path,
    pub project: &'a str,
    pub test: &'a str,
    /// Of several counterexamples of one test.
    pub number: usize,
    pub is_reported: bool,
}

/// Writes the page of a counterexample of a P program into the folder of `--html`.
pub fn write_html(shown: &Shown<'_>, exe: &Executable, counterexample: &Counterexample, sources: &Sources) {
    let network = exe.network.options().describe();
    let monitor = counterexample.violation.monitor.map(|monitor| exe.monitor_name(monitor));
    let heading = Heading { project: shown.project, test: shown.test, network: network.as_deref(), monitor };
    write_html_of(shown, &heading, counterexample, sources);
}

/// The same for any program.
pub fn write_html_of(
    shown: &Shown<'_>,
    heading: &Heading<'_>,
    counterexample: &Counterexample,
    sources: &Sources,
) {
    let safe: String =
        shown.test.chars().map(|c| if c.is_alphanumeric() || "_-.".contains(c) { c } else { '_' }).collect();
    let path = shown.folder.join(format!("{safe}_{}.html", shown.number));
    match write_run(&path, counterexample, heading, sources) {
        Ok(()) if shown.is_reported => printer::out(&format!("..... Writing {}\n", path.display())),
        Ok(()) => {}
        Err(error) => printer::err(&format!("`{}` cannot be written: {error}\n", path.display())),
    }
}

/// An entry of the suite for a schedule, with what it showed.
fn show_test(args: &PageArgs) -> ExitStatus {
    let asked = NetworkArgs::default();
    let (compilation, replayed) = match replay::run(&args.input, &args.file, Format::Text, &asked, "show") {
        Ok(replayed) => replayed,
        Err(status) => return status,
    };
    let folder = &compilation.project.folder;
    let kept = Path::new("schedules").join(args.file.file_name().unwrap_or_default());
    let violation = &replayed.counterexample.violation;
    let what = match replayed.verdict {
        Outlook::Violated => {
            let text = violation.text(compilation.sources());
            format!("{}: {}", violation.kind.as_str(), text.lines().next().unwrap_or_default())
        }
        Outlook::Repeats => "a run that repeats for ever".to_owned(),
        Outlook::Holds => "a run in which nothing breaks".to_owned(),
    };
    let entry = suite::schedule_entry(&replayed.file.test, &kept, &what, &replayed.file.network);
    // The schedule moves beside the suite, where it is kept with the program.
    let target = folder.join(&kept);
    let text = schedule_file::write(&replayed.file);
    let copied = target.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| fs::write(&target, text));
    if let Err(error) = copied {
        printer::err(&format!("`{}` cannot be written: {error}\n", target.display()));
        return ExitStatus::Rejected;
    }
    match &args.output {
        None => printer::out(&entry),
        Some(path) => {
            let appended = fs::OpenOptions::new()
                .create(true)
                .append(true)
                .open(path)
                .and_then(|mut file| file.write_all(entry.as_bytes()));
            if let Err(error) = appended {
                printer::err(&format!("`{}` cannot be written: {error}\n", path.display()));
                return ExitStatus::Rejected;
            }
        }
    }
    printer::err(&format!("... schedule in {}\n", target.display()));
    ExitStatus::Success
}
