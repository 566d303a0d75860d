//! Output that cannot be written: the exit status stays that of the verdict, and the failure is named.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::common::{allways, assert_says, folder};

const PROGRAM: &str = "
event eOne;
machine Sink { start state Wait { on eOne do { } } }
machine Good { start state Begin { entry { send new Sink(), eOne; } } }
machine Bad { start state Begin { entry { assert false, \"broken\"; } } }
machine Walker { start state Begin { entry { send this, eOne; } on eOne do { send this, eOne; } } }
test tcGood [main = Good]: { Good, Sink };
test tcBad [main = Bad]: { Bad };
test tcWalk [main = Walker]: { Walker };
";

fn project(name: &str) -> PathBuf {
    let folder = folder(name);
    fs::write(folder.join("program.p"), PROGRAM).unwrap();
    folder
}

/// Commands with the status of their verdict. The files that some of them read are made first.
fn commands(folder: &Path) -> Vec<(&'static [&'static str], i32)> {
    let broken = ["check", "-tc", "tcBad", "-o", "kept"];
    assert_eq!(allways(folder, &broken).status.code(), Some(1));
    let proof = ["prove", "--engine", "asi", "-tc", "tcWalk", "--certificate", "proof.txt"];
    assert_eq!(allways(folder, &proof).status.code(), Some(0));
    fs::write(folder.join("wrong.txt"), "this is no certificate\n").unwrap();
    let schedule = folder.join("kept/tcBad/BugFinding");
    let written = fs::read_dir(schedule).unwrap().map(|entry| entry.unwrap().path());
    let written = written.filter(|path| path.extension().is_some_and(|end| end == "schedule"));
    fs::copy(written.last().unwrap(), folder.join("bad.schedule")).unwrap();
    vec![
        (&["check", "-tc", "tcBad", "-o", "out"], 1),
        (&["check", "-tc", "tcBad", "-o", "out", "--format", "json"], 1),
        (&["check", "-tc", "tcGood", "-s", "10"], 0),
        (&["check", "--all", "-s", "10", "-o", "out"], 1),
        (&["prove", "-tc", "tcBad", "-o", "out"], 1),
        (&["prove", "-tc", "tcBad", "-o", "out", "--format", "json"], 1),
        (&["prove", "-tc", "tcBad", "-o", "out", "--engine", "explicit"], 1),
        (&["prove", "-tc", "tcGood"], 0),
        (&["prove", "--all", "-o", "out"], 1),
        (&["replay", "bad.schedule"], 1),
        (&["replay", "bad.schedule", "--format", "json"], 1),
        (&["certify", "proof.txt"], 0),
        (&["certify", "wrong.txt"], 1),
        (&["compile"], 0),
        // Here the text is the answer.
        (&["graph", "-tc", "tcGood"], 2),
    ]
}

/// Runs a command with the given standard output. Gives back its status and standard error.
fn run(folder: &Path, args: &[&str], stdout: Stdio) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allways"));
    let output = command.current_dir(folder).args(args).stdout(stdout).output().unwrap();
    (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
}

/// A pipe whose reader is gone before anything is written, as behind `| true` and `| head -n 0`.
fn closed_pipe() -> Stdio {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    writer.into()
}

#[test]
fn a_closed_pipe_changes_no_status() {
    let folder = project("output-pipe");
    for (args, status) in commands(&folder) {
        let (found, text) = run(&folder, args, closed_pipe());
        assert_eq!(found, Some(status), "{args:?}: {text}");
        assert_says(&text, &["standard output cannot be written"]);
        assert_eq!(text.matches("cannot be written").count(), 1, "{args:?}: {text}");
    }
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_changes_no_status() {
    let folder = project("output-full");
    for (args, status) in commands(&folder) {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let (found, text) = run(&folder, args, full.into());
        assert_eq!(found, Some(status), "{args:?}: {text}");
        assert_says(&text, &["standard output cannot be written"]);
    }
}

/// Both streams at once: there is nowhere left to say anything.
#[test]
fn no_stream_at_all_changes_no_status() {
    let folder = project("output-none");
    for (args, status) in commands(&folder) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_allways"));
        command.current_dir(&folder).args(args).stdout(closed_pipe()).stderr(closed_pipe());
        assert_eq!(command.status().unwrap().code(), Some(status), "{args:?}");
    }
}

/// A folder that cannot be made, since a file has its name.
#[test]
fn files_that_cannot_be_written_cost_the_files_only() {
    let folder = project("output-files");
    fs::write(folder.join("taken"), "").unwrap();
    for (args, status) in [
        (&["check", "-tc", "tcBad", "-o", "taken"][..], 1),
        (&["check", "-tc", "tcBad", "-o", "taken", "--format", "json"], 1),
        (&["check", "-tc", "tcGood", "-s", "10", "-o", "taken"], 0),
        (&["check", "--all", "-s", "10", "-o", "taken"], 1),
        (&["check", "-tc", "tcBad", "-o", "out", "--junit", "taken/results.xml"], 1),
        (&["check", "-tc", "tcGood", "-s", "10", "--junit", "taken/results.xml"], 0),
        (&["check", "--all", "-s", "10", "-o", "out", "--junit", "taken/results.xml"], 1),
        (&["prove", "-tc", "tcBad", "-o", "taken"], 1),
        (&["prove", "-tc", "tcBad", "-o", "taken", "--engine", "explicit", "--format", "json"], 1),
        (&["prove", "-tc", "tcGood", "--junit", "taken/results.xml"], 0),
        (&["prove", "-tc", "tcWalk", "--engine", "asi", "--certificate", "taken/proof.txt"], 0),
    ] {
        let output = allways(&folder, args);
        let (text, problems) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(status), "{args:?}: {text}{problems}");
        assert_says(&problems, &["taken", "cannot be written"]);
        let verdict = if status == 1 { "violated" } else { "tc" };
        assert_says(&text, &[verdict]);
    }
}
