//! How `-h` and `--help` look: options in two columns under their headings, wrapped to the terminal, from the table of arguments.
//!
//! clap's own long form takes three lines for an option and does not wrap. Options for Boogie files are shown by
//! `--help-boogie`, except where a command takes nothing else, so that users of P programs do not have to read past them.

use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use super::heading;

/// How much of the table is shown.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Extent {
    /// `-h`: what most people need.
    Short,
    /// `--help`.
    Long,
    /// `--help-boogie`: the options for Boogie files.
    Boogie,
}

/// Descriptions begin in this column; a longer option has a line of its own.
const COLUMN: usize = 26;

/// The page of a command that was built by [`Command::build`].
pub fn page(command: &Command, extent: Extent, width: usize) -> String {
    let mut out = String::new();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let usage = command.clone().render_usage().to_string();
    let _ = write!(out, "{}\n\n{}\n", wrap(&about, width).join("\n"), bold_head(&usage));
    if extent != Extent::Boogie {
        commands(command, width, &mut out);
    }
    let is_boogie_apart = command.get_arguments().any(|arg| arg.get_id() == "help_boogie");
    for (title, args) in sections(command) {
        let shown = match extent {
            Extent::Boogie => title == heading::BOOGIE,
            _ => title != heading::BOOGIE || !is_boogie_apart,
        };
        let args: Vec<&Arg> = args.into_iter().filter(|arg| is_shown(arg, extent)).collect();
        if !shown || args.is_empty() {
            continue;
        }
        let _ = write!(out, "\n{}:\n", bold(&title));
        for arg in args {
            entry(&spec(arg), &description(arg, extent), width, &mut out);
        }
    }
    let after = match extent {
        Extent::Short => command.get_after_help(),
        _ => command.get_after_long_help().or(command.get_after_help()),
    };
    if extent != Extent::Boogie
        && let Some(after) = after
    {
        out.push('\n');
        for line in after.to_string().lines() {
            // Lines that are indented are a table already.
            match line.starts_with(' ') {
                true => out.push_str(line),
                false => out.push_str(&wrap(line, width).join("\n")),
            }
            out.push('\n');
        }
    }
    out
}

fn bold(text: &str) -> String {
    format!("\x1b[1m{text}\x1b[0m")
}

/// `Usage:` in bold, the rest as it is.
fn bold_head(usage: &str) -> String {
    match usage.split_once(':') {
        Some((head, rest)) => format!("{}:{rest}", bold(head)),
        None => usage.to_owned(),
    }
}

fn commands(command: &Command, width: usize, out: &mut String) {
    let shown: Vec<&Command> = command.get_subcommands().filter(|command| !command.is_hide_set()).collect();
    if shown.is_empty() {
        return;
    }
    let _ = write!(out, "\n{}:\n", bold("Commands"));
    let column = shown.iter().map(|command| command.get_name().len()).max().unwrap_or(0) + 4;
    for command in shown {
        let about = match command.get_name() {
            "help" => "Show the help of a command".to_owned(),
            _ => command.get_about().map(ToString::to_string).unwrap_or_default(),
        };
        let lines = wrap(&about, width.saturating_sub(column));
        for (i, line) in lines.iter().enumerate() {
            let name = if i == 0 { command.get_name() } else { "" };
            let _ = writeln!(out, "  {name:<0$}{line}", column - 2);
        }
    }
}

/// Options under their headings, in the order of the table; those about help come last.
fn sections(command: &Command) -> Vec<(String, Vec<&Arg>)> {
    let mut sections: Vec<(String, Vec<&Arg>)> = vec![("Arguments".to_owned(), Vec::new())];
    let mut about_help = Vec::new();
    for arg in command.get_arguments() {
        let is_help = matches!(
            arg.get_action(),
            ArgAction::Help | ArgAction::HelpShort | ArgAction::HelpLong | ArgAction::Version
        );
        if is_help {
            about_help.push(arg);
            continue;
        }
        let title = match arg.is_positional() {
            true => "Arguments",
            false => arg.get_help_heading().unwrap_or("Options"),
        };
        match sections.iter_mut().find(|(known, _)| known == title) {
            Some((_, args)) => args.push(arg),
            None => sections.push((title.to_owned(), vec![arg])),
        }
    }
    sections.push(("Help".to_owned(), about_help));
    sections
}

fn is_shown(arg: &Arg, extent: Extent) -> bool {
    let is_left_out = extent == Extent::Short && arg.is_hide_short_help_set();
    !arg.is_hide_set() && !is_left_out
}

fn spec(arg: &Arg) -> String {
    if arg.is_positional() {
        return arg.to_string();
    }
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(_)) => format!("-{short}, {arg}"),
        (None, Some(_)) => format!("    {arg}"),
        _ => arg.to_string(),
    }
}

/// Paragraphs: what it does with its default, then its values.
fn description(arg: &Arg, extent: Extent) -> Vec<String> {
    let help = match extent {
        Extent::Short => arg.get_help(),
        _ => arg.get_long_help().or(arg.get_help()),
    };
    let is_about_help = matches!(arg.get_action(), ArgAction::Help) && arg.get_id() == "help";
    let help = match is_about_help {
        true => "Show the common options (-h) or all of them (--help)".to_owned(),
        false => help.map(ToString::to_string).unwrap_or_default(),
    };
    let mut paragraphs: Vec<String> = help
        .split("\n\n")
        .map(|paragraph| paragraph.split_whitespace().collect::<Vec<_>>().join(" "))
        .collect();
    let mut remarks = String::new();
    let takes_value = arg.get_action().takes_values();
    if takes_value && !arg.is_hide_default_value_set() && !arg.get_default_values().is_empty() {
        let values: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let _ = write!(remarks, " [default: {}]", values.join(" "));
    }
    for alias in arg.get_visible_aliases().unwrap_or_default() {
        let _ = write!(remarks, " [alias: --{alias}]");
    }
    let values: Vec<_> = match takes_value && !arg.is_hide_possible_values_set() {
        true => arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set()).collect(),
        false => Vec::new(),
    };
    let is_explained = extent != Extent::Short && values.iter().any(|value| value.get_help().is_some());
    if !values.is_empty() && !is_explained {
        let names: Vec<&str> = values.iter().map(clap::builder::PossibleValue::get_name).collect();
        let _ = write!(remarks, " [values: {}]", names.join(", "));
    }
    paragraphs.first_mut().expect("a split gives one part at least").push_str(&remarks);
    if is_explained {
        let column = values.iter().map(|value| value.get_name().len()).max().unwrap_or(0);
        for value in values {
            let help = value.get_help().map(ToString::to_string).unwrap_or_default();
            paragraphs.push(format!("{VALUE}{:<column$}  {help}", value.get_name()));
        }
    }
    paragraphs
}

/// Marks a paragraph whose further lines are indented below its second word.
const VALUE: char = '\t';

fn entry(spec: &str, paragraphs: &[String], width: usize, out: &mut String) {
    let _ = write!(out, "  {spec}");
    let mut at = 2 + spec.chars().count();
    for paragraph in paragraphs {
        let (text, hanging) = match paragraph.strip_prefix(VALUE) {
            Some(text) => {
                let name = text.find(' ').unwrap_or(text.len());
                (text, name + text[name..].chars().take_while(|c| *c == ' ').count())
            }
            None => (paragraph.as_str(), 0),
        };
        let room = width.saturating_sub(COLUMN + hanging).max(20);
        let (head, rest) = text.split_at(hanging);
        for (i, line) in wrap(rest, room).iter().enumerate() {
            if at + 2 > COLUMN {
                out.push('\n');
                at = 0;
            }
            let head = if i == 0 { head } else { "" };
            let text = format!("{}{head:<hanging$}{line}", " ".repeat(COLUMN - at));
            out.push_str(text.trim_end());
            at = usize::MAX - 2;
        }
    }
    out.push('\n');
}

/// Lines of at most so many columns, broken at spaces.
fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let line = lines.last_mut().expect("there is a line");
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}
