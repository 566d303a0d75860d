//! Which reductions are asked for. One that is named and does not apply is refused: users who name it want to see its effect, and
//! would take a search without it for one with it. Whether it applies is in the table of reductions.

use allways_base::Sources;
use allways_driver::engine;
use allways_explore::search::{Obstacle, REDUCTIONS, Reduction, Reductions, Setting};
use allways_machine::{Executable, Refused};

use crate::args::ProveArgs;

pub fn reductions(args: &ProveArgs) -> Reductions {
    let mut reductions = if args.reductions.is_empty() { Reductions::default() } else { Reductions::NONE };
    let named = args.reductions.iter().map(|name| (name, true));
    for (name, is_on) in named.chain(args.no_reduction.iter().map(|name| (name, false))) {
        match name.as_str() {
            "all" => reductions = if is_on { Reductions::ALL } else { Reductions::NONE },
            "default" if is_on => reductions = Reductions::default(),
            name => {
                if let Some(reduction) = reductions.by_name(name) {
                    *reduction = is_on;
                }
            }
        }
    }
    reductions
}

/// Numbers that are counted up and yet not renumbered, with the reasons, a line each: what keeps a search from its end, perhaps.
pub fn kept_counters(exe: &Executable, sources: &Sources, args: &ProveArgs) -> String {
    let (on, setting) = (reductions(args), setting(args));
    let row = REDUCTIONS.iter().find(|row| row.is_on(on) && row.name == "counters");
    if row.is_none_or(|row| row.why_not(&setting, on).is_some()) {
        return String::new();
    }
    let line = |refused: &Refused| {
        let place = refused.span.map(|span| format!(" ({})", sources.place(span))).unwrap_or_default();
        format!("..... not renumbered: {} {}{place}\n", refused.name, refused.why.as_str())
    };
    exe.numbers().refused().iter().map(line).collect()
}

/// What is wrong with the reductions that are named.
pub fn wrong_use(args: &ProveArgs) -> Option<String> {
    if let Some(name) = args.no_reduction.iter().find(|name| matches!(name.as_str(), "none" | "default")) {
        return Some(format!("--no-reduction {name} turns nothing off: name a reduction, or `all`"));
    }
    let on = reductions(args);
    let setting = setting(args);
    let named = REDUCTIONS.iter().filter(|row| args.reductions.iter().any(|given| given == row.name));
    for row in named.filter(|row| row.is_on(on)) {
        let name = row.name;
        let obstacle = row.why_not(&setting, on);
        let obstacle = match args.engine() == engine::ALMOST_SYNC {
            true if obstacle == Some(Obstacle::SymbolicOnly) => obstacle,
            true => (!row.is_local).then_some(Obstacle::OtherEngine),
            false => obstacle,
        };
        if let Some(obstacle) = obstacle {
            return Some(format!("--reductions {name} does nothing here: {obstacle}"));
        }
        if let Some(base) = missing_base(row, on) {
            let advice = match args.no_reduction.iter().any(|given| given == base) {
                true => format!("leave out `--no-reduction {base}`"),
                false => format!("give `--reductions {base},{name}`"),
            };
            return Some(format!("--reductions {name} does nothing without {base}: {advice}"));
        }
    }
    None
}

/// The reduction on which one builds, if that is off.
fn missing_base(row: &Reduction, on: Reductions) -> Option<&'static str> {
    row.base.and_then(Reduction::find).filter(|base| !base.is_on(on)).map(|base| base.name)
}

/// What is asked, before the program is known.
fn setting(args: &ProveArgs) -> Setting {
    let is_bounded = args.max_depth.is_some()
        || args.max_inbox.is_some()
        || args.max_occurrences.is_some()
        || !args.max_value.is_empty();
    let bounds_data = args.max_choices.is_some() || !args.max_value.is_empty();
    Setting {
        bounds_data,
        is_symbolic: !matches!(args.engine(), engine::EXPLICIT | engine::ALMOST_SYNC),
        ..Setting::asked(&args.network.options(), is_bounded, args.order(), args.fairness())
    }
}

/// Reductions that are turned off with the one they build on, although they were not named.
pub fn notes(args: &ProveArgs) -> Vec<String> {
    let on = reductions(args);
    let rows = REDUCTIONS.iter().filter(|row| row.is_on(on));
    let missing = rows.filter_map(|row| Some((row.name, missing_base(row, on)?)));
    missing
        .filter(|(_, base)| args.no_reduction.iter().any(|given| given == base))
        .map(|(name, base)| format!("`--no-reduction {base}` turns off {name} too, which needs it"))
        .collect()
}
