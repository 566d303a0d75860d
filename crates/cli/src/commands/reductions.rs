//! Which reductions are asked for. One that is named and would do nothing is refused: who names it wants to see what it does, and
//! would take a search without it for one with it.

use allways_driver::engine;
use allways_explore::search::Reductions;
use allways_run::NetworkModel;

use crate::args::{OrderArg, ProveArgs, ProveFairnessArg};

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

/// What is wrong with the reductions that are named.
pub fn wrong_use(args: &ProveArgs) -> Option<String> {
    if let Some(name) = args.no_reduction.iter().find(|name| matches!(name.as_str(), "none" | "default")) {
        return Some(format!("--no-reduction {name} leaves nothing out: name a reduction, or `all`"));
    }
    let mut on = reductions(args);
    let names =
        Reductions::NAMES.into_iter().filter(|name| args.reductions.iter().any(|given| given == name));
    for name in names {
        if on.by_name(name).is_none_or(|is_on| !*is_on) {
            continue;
        }
        if let Some(reason) = in_vain(args, name) {
            return Some(format!("--reductions {name} does nothing here: {reason}"));
        }
        if let Some(base) = Reductions::base_of(name)
            && on.by_name(base).is_some_and(|is_on| !*is_on)
        {
            let advice = match args.no_reduction.iter().any(|given| given == base) {
                true => format!("leave out `--no-reduction {base}`"),
                false => format!("give `--reductions {base},{name}`"),
            };
            return Some(format!("--reductions {name} does nothing without {base}: {advice}"));
        }
    }
    None
}

/// What goes with a reduction that is turned off, though nobody said so.
pub fn notes(args: &ProveArgs) -> Vec<String> {
    let mut on = reductions(args);
    let mut notes = Vec::new();
    for name in Reductions::NAMES {
        if let Some(base) = Reductions::base_of(name)
            && args.no_reduction.iter().any(|given| given == base)
            && on.by_name(name).is_some_and(|is_on| *is_on)
        {
            notes.push(format!("`--no-reduction {base}` turns off {name} too, which needs it"));
        }
    }
    notes
}

/// Why a reduction has no part in a search that is asked for like this, whatever the program.
fn in_vain(args: &ProveArgs, name: &str) -> Option<&'static str> {
    if args.engine() == engine::ALMOST_SYNC {
        let is_known =
            matches!(name, "dead-variables" | "unread-payloads" | "collection-order" | "data-independence");
        return (!is_known).then_some("it is for `--engine explicit`");
    }
    let network = args.network.options();
    let has_faults =
        !(network.lossy.is_empty() && network.duplicating.is_empty() && network.crash.is_empty());
    let has_network = has_faults || network.model != NetworkModel::Inbox;
    let has_bounds = args.max_depth.is_some()
        || args.max_inbox.is_some()
        || args.max_occurrences.is_some()
        || !args.max_value.is_empty();
    let is_breadth = args.order == OrderArg::Breadth;
    match name {
        "symmetry" | "persistent-sets" | "path-compression" | "broadcasts" if has_network => {
            Some("it is for P's own network, without faults")
        }
        "persistent-sets" | "path-compression" | "broadcasts" | "confluent-sends" | "lazy-faults"
            if has_bounds =>
        {
            Some("it is for searches without bounds")
        }
        "path-compression" | "broadcasts" | "confluent-sends" | "lazy-faults" if !is_breadth => {
            Some("it is for `--order breadth`")
        }
        "persistent-sets" if args.order == OrderArg::Deepening => {
            Some("it is for `--order breadth` and `--order depth`")
        }
        "broadcasts" if args.fairness == ProveFairnessArg::Weak => {
            Some("it is for `--fairness random` and `--fairness none`")
        }
        "confluent-sends" if !matches!(network.model, NetworkModel::Bag | NetworkModel::Fifo) => {
            Some("it is for `--network bag` and `--network fifo`")
        }
        "confluent-sends" if has_faults && !reductions(args).lazy_faults => {
            Some("with faults it needs `lazy-faults`, too")
        }
        "data-independence" if args.max_choices.is_some() || !args.max_value.is_empty() => {
            Some("it is for searches without a bound on answers or variables")
        }
        "data-independence" if args.fairness == ProveFairnessArg::Weak => {
            Some("it is for `--fairness random` and `--fairness none`")
        }
        "lazy-faults" if !has_faults => Some("it is for networks with faults"),
        "lazy-faults" if network.model == NetworkModel::Inbox && network.crash.is_empty() => {
            Some("over `--network inbox` it is for `--crash`")
        }
        "unread-payloads" | "collection-order" if network.model == NetworkModel::Bag => {
            Some("it is not for `--network bag`")
        }
        _ => None,
    }
}
