//! `allways completions` and `allways man`, both from the table of arguments.

use std::path::Path;

use clap::CommandFactory;

use crate::args::{Args, CompletionsArgs, ManArgs};
use crate::exit::ExitStatus;
use crate::printer;

/// Prints completions for a shell.
pub fn completions(args: &CompletionsArgs) -> ExitStatus {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "allways", &mut text);
    let text = String::from_utf8_lossy(&text).into_owned();
    let text = if args.shell == clap_complete::Shell::Fish { for_fish(&text) } else { text };
    printer::out(&text);
    ExitStatus::Success
}

/// Descriptions of values stand between double quotes, where fish would read `$` as the start of a variable.
fn for_fish(text: &str) -> String {
    let first = text.find("\ncomplete ").unwrap_or(text.len());
    let mut out = text[..first].to_owned();
    let mut quote = None;
    let mut is_escaped = false;
    for c in text[first..].chars() {
        match (quote, c) {
            _ if is_escaped => {}
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            (Some('"'), '$') => out.push('\\'),
            _ => {}
        }
        is_escaped = c == '\\' && !is_escaped;
        out.push(c);
    }
    out
}

/// Prints one man page, or writes all.
pub fn man(args: &ManArgs) -> ExitStatus {
    let mut table = Args::command();
    table.build();
    if let Some(folder) = &args.output {
        return write_all(&table, folder);
    }
    let command = match &args.command {
        None => &table,
        Some(name) => match table.find_subcommand(name) {
            Some(command) => command,
            None => {
                let names = table.get_subcommands().map(clap::Command::get_name);
                let near = allways_base::nearest::nearest(name, names);
                let hint = near.map_or_else(String::new, |near| format!("; did you mean `{near}`?"));
                printer::err(&format!("there is no command `{name}`{hint}\n"));
                return ExitStatus::Rejected;
            }
        },
    };
    match render(command) {
        Ok(page) => {
            printer::out(&page);
            ExitStatus::Success
        }
        Err(error) => {
            printer::err(&format!("the man page cannot be made: {error}\n"));
            ExitStatus::Internal
        }
    }
}

fn render(command: &clap::Command) -> std::io::Result<String> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    Ok(String::from_utf8_lossy(&page).into_owned())
}

fn write_all(table: &clap::Command, folder: &Path) -> ExitStatus {
    if let Err(error) = std::fs::create_dir_all(folder) {
        printer::err(&format!("`{}` cannot be created: {error}\n", folder.display()));
        return ExitStatus::Rejected;
    }
    let visible = table.get_subcommands().filter(|command| !command.is_hide_set());
    for command in std::iter::once(table).chain(visible) {
        let name = match command.get_name() {
            "allways" => "allways.1".to_owned(),
            name => format!("allways-{name}.1"),
        };
        let Ok(page) = render(command) else { return ExitStatus::Internal };
        if !printer::file(&folder.join(&name), &page) {
            return ExitStatus::Rejected;
        }
        printer::detail(&format!("{name}\n"));
    }
    ExitStatus::Success
}
