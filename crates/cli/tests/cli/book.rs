//! The README and the book: every command that they show is run and its output compared, every program is checked, every link
//! resolves, and the reference is what `--help` says. `ALLWAYS_BLESS=1` rewrites outputs and reference; review the diff.
//!
//! In a `console` fence, lines that begin with `$ ` are commands for `sh`, run one after the other in a folder of the page
//! in which `models` and `corpus` are those of the repository. What follows a command is its output; a line `...` stands for any lines,
//! and times count for nothing. A `p` fence is a whole program: `p` must be accepted, `p,holds` proved, `p,violated,KIND` violated,
//! `p,rejected,CODE` rejected. Fences of other kinds are not run.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::common::{allways, fences, folder};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn book() -> PathBuf {
    repository().join("docs/book/src")
}

fn markdown_below(folder: &Path, found: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            markdown_below(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "md") {
            found.push(path);
        }
    }
}

/// The README, then the pages of the book.
fn pages() -> Vec<PathBuf> {
    let mut pages = vec![repository().join("README.md")];
    markdown_below(&book(), &mut pages);
    pages
}

fn name_of(page: &Path) -> String {
    page.strip_prefix(repository()).unwrap().display().to_string()
}

#[test]
fn sessions_are_as_shown() {
    let is_blessing = std::env::var_os("ALLWAYS_BLESS").is_some();
    let mut wrong = String::new();
    for page in pages() {
        let text = fs::read_to_string(&page).unwrap();
        if !text.contains("```console") {
            continue;
        }
        let mut session = Session::new(&name_of(&page));
        let (mut out, mut block) = (String::new(), None::<String>);
        for line in text.split_inclusive('\n') {
            match (&mut block, line.trim_end()) {
                (None, "```console") => {
                    out.push_str(line);
                    block = Some(String::new());
                }
                (Some(shown), "```") => {
                    let seen = session.play(shown, &mut wrong);
                    out.push_str(&seen);
                    out.push_str(line);
                    block = None;
                }
                (Some(shown), _) => shown.push_str(line),
                (None, _) => out.push_str(line),
            }
        }
        if is_blessing && out != text {
            fs::write(&page, out).unwrap();
        }
    }
    assert!(is_blessing || wrong.is_empty(), "{wrong}");
}

/// The shell of one page.
struct Session {
    page: String,
    folder: PathBuf,
}

impl Session {
    fn new(page: &str) -> Self {
        let home = folder(&format!("book/{}", page.replace('/', "-")));
        let bin = home.join(".bin");
        fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_allways"), bin.join("allways")).unwrap();
        for name in ["models", "corpus"] {
            std::os::unix::fs::symlink(repository().join(name), home.join(name)).unwrap();
        }
        Session { page: page.to_owned(), folder: home }
    }

    /// Runs the commands of a block. Gives back the block as it should be.
    fn play(&mut self, shown: &str, wrong: &mut String) -> String {
        let mut block = String::new();
        let mut rest = shown.lines().peekable();
        while let Some(line) = rest.next() {
            let command =
                line.strip_prefix("$ ").unwrap_or_else(|| panic!("{}: `{line}` is no command", self.page));
            // What a shell asks for with `> ` belongs to the command.
            let mut whole = command.to_owned();
            let mut lines = format!("$ {command}\n");
            while let Some(line) = rest.next_if(|line| line.starts_with('>')) {
                let _ = writeln!(lines, "{line}");
                whole.push('\n');
                whole
                    .push_str(line.strip_prefix("> ").or_else(|| line.strip_prefix('>')).unwrap_or_default());
            }
            let mut expected = Vec::new();
            while let Some(line) = rest.next_if(|line| !line.starts_with("$ ")) {
                expected.push(line);
            }
            let seen = self.run(&whole);
            block.push_str(&lines);
            if is_like(&expected, &seen) {
                for line in expected {
                    let _ = writeln!(block, "{line}");
                }
            } else {
                let _ = writeln!(
                    wrong,
                    "{}: $ {command}\n-- shown\n{}\n-- seen\n{}",
                    self.page,
                    expected.join("\n"),
                    seen.join("\n")
                );
                for line in seen {
                    let _ = writeln!(block, "{line}");
                }
            }
        }
        block
    }

    fn run(&mut self, command: &str) -> Vec<String> {
        if let Some(folder) = command.strip_prefix("cd ") {
            self.folder.push(folder);
            return Vec::new();
        }
        let home = self.folder.ancestors().find(|folder| folder.join(".bin").is_dir()).unwrap();
        let path = format!("{}:{}", home.join(".bin").display(), std::env::var("PATH").unwrap());
        let shell = format!("{{ {command}\n}} 2>&1");
        let mut process = Command::new("sh");
        process.arg("-c").arg(shell).current_dir(&self.folder).env("PATH", path);
        let output = process.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines()
            .filter(|line| !line.starts_with("... Elapsed"))
            .map(|line| line.trim_end().to_owned())
            .collect()
    }
}

/// Whether lines are as shown, where `...` stands for any.
fn is_like(shown: &[&str], seen: &[String]) -> bool {
    match shown.split_first() {
        None => seen.is_empty(),
        Some((&"...", rest)) => (0..=seen.len()).any(|at| is_like(rest, &seen[at..])),
        Some((line, rest)) if line.starts_with("... Elapsed") => is_like(rest, seen),
        Some((line, rest)) => {
            seen.first().is_some_and(|first| without_times(first) == without_times(line))
                && is_like(rest, &seen[1..])
        }
    }
}

/// The line without what differs from run to run: times, and in a table how much was explored, since that depends on which
/// engine of a race was first.
fn without_times(line: &str) -> String {
    let is_row = line.starts_with("ok ") || line.starts_with("!! ") || line.starts_with("   test ");
    let words: Vec<&str> = if is_row { line.split_whitespace().collect() } else { line.split(' ').collect() };
    let follows = |at: usize, units: &[&str]| words.get(at + 1).is_some_and(|unit| units.contains(unit));
    let counts = ["configuration", "configurations", "state", "states", "schedule", "schedules"];
    let mut out: Vec<&str> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let is_time = word.contains('.') && word.parse::<f64>().is_ok() && follows(at, &["s", "s,", "s)"]);
        let is_count = is_row && word.parse::<u64>().is_ok() && follows(at, &counts);
        let is_unit = is_row && counts.contains(word);
        match () {
            () if is_time => out.push("0.00"),
            () if is_count || is_unit => {}
            () => out.push(word),
        }
    }
    out.join(" ").trim_end().to_owned()
}

#[test]
fn programs_are_what_they_are_said_to_be() {
    let folder = folder("book_programs");
    let (mut wrong, mut n) = (String::new(), 0);
    for page in pages() {
        for (i, (info, program)) in fences(&fs::read_to_string(&page).unwrap()).into_iter().enumerate() {
            let mut parts = info.split(',');
            if parts.next() != Some("p") {
                continue;
            }
            n += 1;
            let file = format!("{}-{i}.p", name_of(&page).replace(['/', '.'], "-"));
            fs::write(folder.join(&file), program).unwrap();
            let (expected, detail) = (parts.next().unwrap_or("accepted"), parts.next().unwrap_or_default());
            let (args, status) = match expected {
                "accepted" => (vec!["compile", &file], 0),
                // Every name begins with nothing: all tests of the program are meant.
                "holds" => (vec!["prove", "-q", &file, "-tc", ""], 0),
                "violated" => (vec!["prove", "-q", &file, "-tc", ""], 1),
                "rejected" => (vec!["compile", &file], 2),
                other => panic!("{}: a fence `p,{other}`", page.display()),
            };
            let output = allways(&folder, &args);
            let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
            text.push_str(&String::from_utf8_lossy(&output.stderr));
            let is_said = detail.is_empty() || text.contains(&format!("error[{detail}]"));
            let is_clean = expected != "accepted" || !text.contains("warning");
            if output.status.code() != Some(status) || !is_said || !is_clean {
                let _ = writeln!(wrong, "{}, fence {} `{info}`:\n{text}", name_of(&page), i + 1);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
    assert!(n >= 20, "only {n} programs");
}

/// Reserved words that P has no construct for.
const UNUSED_WORDS: &[&str] = &["creates", "paramtest", "safe"];

#[test]
fn every_construct_of_the_language_has_a_program() {
    let mut pages = Vec::new();
    markdown_below(&book().join("language"), &mut pages);
    let programs: String = pages
        .iter()
        .flat_map(|page| fences(&fs::read_to_string(page).unwrap()))
        .filter(|(info, _)| info.split(',').next() == Some("p"))
        .map(|(_, program)| program + "\n")
        .collect();
    let words: BTreeSet<&str> = programs.split(|c: char| !c.is_alphanumeric() && c != '_').collect();
    let missing: Vec<&str> = allways_p::syntax::words::reserved()
        .filter(|word| !words.contains(word) && !UNUSED_WORDS.contains(word))
        .collect();
    assert!(missing.is_empty(), "no program in docs/book/src/language shows {missing:?}");
}

/// Where the links of a page lead.
fn links(text: &str) -> Vec<String> {
    let mut is_code = false;
    let mut links = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            is_code = !is_code;
        }
        if is_code {
            continue;
        }
        for (at, _) in line.match_indices("](") {
            let target = &line[at + 2..];
            links.push(target[..target.find(')').unwrap_or(target.len())].to_owned());
        }
    }
    links
}

/// The anchor that a heading gets.
fn anchor(heading: &str) -> String {
    let plain: String =
        heading.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_')).collect();
    plain.trim().to_lowercase().replace(' ', "-")
}

#[test]
fn every_link_resolves() {
    let mut all = pages();
    for name in ["ARCHITECTURE.md", "CONTRIBUTING.md"] {
        all.push(repository().join(name));
    }
    markdown_below(&repository().join("docs"), &mut all);
    let mut wrong = Vec::new();
    for page in all {
        for link in links(&fs::read_to_string(&page).unwrap()) {
            if link.starts_with("http") {
                continue;
            }
            let (file, fragment) = link.split_once('#').unwrap_or((&link, ""));
            let target = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let has_anchor = || {
                let text = fs::read_to_string(&target).unwrap_or_default();
                let headings = text.lines().filter(|line| line.starts_with('#'));
                let mut anchors = headings.map(|line| anchor(line.trim_start_matches('#')));
                anchors.any(|found| found == fragment)
            };
            if !target.exists() || !fragment.is_empty() && !has_anchor() {
                wrong.push(format!("{}: {link}", name_of(&page)));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A link that leaves the folder of the book works in the repository and not in the pages that mdBook makes.
#[test]
fn links_of_the_book_stay_within_it_and_included_files_exist() {
    let root = book().canonicalize().unwrap();
    let mut pages = Vec::new();
    markdown_below(&book(), &mut pages);
    let mut wrong = Vec::new();
    for page in pages {
        let text = fs::read_to_string(&page).unwrap();
        let folder = page.parent().unwrap();
        for link in links(&text).iter().filter(|link| !link.starts_with("http")) {
            let target = folder.join(link.split('#').next().unwrap());
            if !target.canonicalize().is_ok_and(|target| target.starts_with(&root)) {
                wrong.push(format!("{}: {link}", name_of(&page)));
            }
        }
        for (_, rest) in text.match_indices("{{#include ").map(|(at, found)| text[at..].split_at(found.len()))
        {
            let file = rest.split("}}").next().unwrap();
            let Ok(included) = fs::read_to_string(folder.join(file)) else {
                wrong.push(format!("{}: {file}", name_of(&page)));
                continue;
            };
            // Links of the included text are read as those of this page.
            for link in links(&included).iter().filter(|link| !link.starts_with("http")) {
                let target = folder.join(link.split('#').next().unwrap());
                if !link.starts_with('#')
                    && !target.canonicalize().is_ok_and(|target| target.starts_with(&root))
                {
                    wrong.push(format!("{}, included {file}: {link}", name_of(&page)));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn the_summary_lists_every_page_once() {
    let clean = |path: &Path| -> PathBuf {
        path.components().filter(|component| *component != Component::CurDir).collect()
    };
    let listed = links(&fs::read_to_string(book().join("SUMMARY.md")).unwrap());
    let unique: BTreeSet<PathBuf> = listed.iter().map(|link| clean(Path::new(link))).collect();
    assert_eq!(unique.len(), listed.len(), "a page is listed twice");
    let mut pages = Vec::new();
    markdown_below(&book(), &mut pages);
    let pages: BTreeSet<PathBuf> = pages
        .iter()
        .map(|page| page.strip_prefix(book()).unwrap().to_owned())
        .filter(|page| page != Path::new("SUMMARY.md"))
        .collect();
    assert_eq!(pages, unique);
}

/// The commands that a help page lists. Lines that go on with a description are indented further.
fn commands(page: &str) -> Vec<&str> {
    let listed = page.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = listed.take_while(|line| !line.is_empty()).filter_map(|line| {
        line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')).and_then(|rest| rest.split(' ').next())
    });
    names.filter(|name| *name != "help").collect()
}

#[test]
fn the_reference_is_what_help_says() {
    let help = |args: &[&str]| {
        let output = allways(Path::new("."), args);
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        text.lines().fold(String::new(), |all, line| all + line.trim_end() + "\n")
    };
    let mut text = String::from(
        "# Commands and options\n\nThis page is made from the table of arguments that the program itself uses; \
         `allways COMMAND -h` shows the common part.\n\n",
    );
    let overview = help(&["--help"]);
    let _ = write!(text, "## allways\n\n```text\n{}\n```\n", overview.trim_end());
    for command in commands(&overview) {
        let page = help(&[command, "--help"]);
        let _ = write!(text, "\n## allways {command}\n\n```text\n{}\n```\n", page.trim_end());
        if page.contains("--help-boogie") {
            let page = help(&[command, "--help-boogie"]);
            let _ = write!(text, "\n### For Boogie files\n\n```text\n{}\n```\n", page.trim_end());
        }
        for part in commands(&page) {
            let page = help(&[command, part, "--help"]);
            let _ = write!(text, "\n## allways {command} {part}\n\n```text\n{}\n```\n", page.trim_end());
        }
    }
    let list = help(&["explain"]);
    let _ = write!(
        text,
        "\n## Codes\n\n`allways explain CODE` shows the page of a code.\n\n```text\n{}\n```\n",
        list.trim_end()
    );
    let file = book().join("reference/commands.md");
    if std::env::var_os("ALLWAYS_BLESS").is_some() {
        fs::write(&file, text).unwrap();
        return;
    }
    let written = fs::read_to_string(&file).unwrap_or_default();
    assert!(
        written == text,
        "docs/book/src/reference/commands.md is out of date: run the tests with ALLWAYS_BLESS=1"
    );
}
