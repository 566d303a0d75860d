//! An option that a command does not have: which of its options may be meant, or which command has it.

use allways_base::nearest::nearest;
use clap::Command;

use super::heading;

/// What to say about it. `path` is the command as it was typed, from the name of the program on.
pub fn message(table: &Command, path: &[&Command], option: &str) -> String {
    let command = path.last().copied().unwrap_or(table);
    let names: Vec<&str> = path.iter().map(|command| command.get_name()).collect();
    let typed = match names.split_first() {
        Some((_, [])) => "allways".to_owned(),
        Some((_, rest)) => format!("allways {}", rest.join(" ")),
        None => "allways".to_owned(),
    };
    let text = option.trim_start_matches('-');
    // Options of P programs come first: they are what most people mean.
    let meant = nearest(text, options(command, false))
        .or_else(|| nearest(text, options(command, true)))
        .map(|name| format!("; did you mean `--{name}`?"))
        .or_else(|| {
            let others = table.get_subcommands().filter(|other| !other.is_hide_set());
            let has_it =
                |other: &&Command| options(other, false).chain(options(other, true)).any(|name| name == text);
            let others: Vec<String> =
                others.filter(has_it).map(|other| format!("`{}`", other.get_name())).collect();
            match others.split_last() {
                None => None,
                Some((last, [])) => Some(format!(": it is an option of {last}")),
                Some((last, rest)) => Some(format!(": it is an option of {} and {last}", rest.join(", "))),
            }
        })
        .unwrap_or_default();
    format!("`{typed}` has no option `{option}`{meant}\n`{typed} --help` lists all options\n")
}

/// The long names of a command's options, with their aliases; either those for Boogie files or the others.
fn options(command: &Command, is_boogie: bool) -> impl Iterator<Item = &str> {
    command
        .get_arguments()
        .filter(move |arg| {
            !arg.is_hide_set() && (arg.get_help_heading() == Some(heading::BOOGIE)) == is_boogie
        })
        .flat_map(|arg| arg.get_long().into_iter().chain(arg.get_visible_aliases().into_iter().flatten()))
}
