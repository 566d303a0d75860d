//! `cargo xtask differential`: the oracle against the kernel on random programs; with `--boogie`, the operational
//! schedulers against translated and verified programs.

mod boogie;

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::sync::Arc;

use allways_explore::search::{Order, Quotient, StoreKind};
use allways_machine::Executable;
use allways_run::{Bound, NetworkModel};
use allways_testkit::Loaded;
use allways_testkit::bounded;
use allways_testkit::case::{Case, shrunk};
use allways_testkit::differential::{
    Comparison, Only, Over, Statistics, compare_seed, network_of, shrink_difference,
};
use allways_testkit::generate::profile;
use allways_testkit::liveness;
use allways_testkit::oracle::{self, OracleOptions};
use allways_testkit::proof;
use allways_testkit::symbolic as with_symbols;

/// The comparison ends after so many differing programs.
const MAX_DIFFERENCES: usize = 5;
/// Configurations of programs that are shrunk.
const MAX_WHILE_SHRINKING: usize = 1_000;
/// Graphs that are analysed naively have so many configurations at most.
const MAX_NAIVE: usize = 400;

pub fn run(args: &[&str]) -> ExitCode {
    if let Some(at) = args.iter().position(|&word| word == "--boogie") {
        let rest: Vec<&str> = args[..at].iter().chain(&args[at + 1..]).copied().collect();
        return boogie::run(&rest);
    }
    let (mut n_programs, mut seed, mut max_configurations) = (5_000u64, 0u64, 20_000usize);
    let mut models = vec![NetworkModel::Inbox];
    let mut only = None;
    let faults = args.contains(&"--faults");
    let proves = args.contains(&"--prove");
    let lives = args.contains(&"--live");
    let quiesces = args.contains(&"--quiesce");
    let symbolically = args.contains(&"--symbolic");
    let as_published = args.contains(&"--paper");
    let filters = args.contains(&"--filters");
    let compares_quotients = args.contains(&"--quotients");
    let args: Vec<&str> = args
        .iter()
        .copied()
        .filter(|arg| {
            !matches!(
                *arg,
                "--faults"
                    | "--prove"
                    | "--live"
                    | "--quiesce"
                    | "--symbolic"
                    | "--paper"
                    | "--filters"
                    | "--quotients"
            )
        })
        .collect();
    let understood = crate::options(&args, |name, value| match name {
        "--programs" => value.parse().map(|n| n_programs = n).is_ok(),
        "--seed" => value.parse().map(|n| seed = n).is_ok(),
        "--max-configurations" => value.parse().map(|n| max_configurations = n).is_ok(),
        "--network" if value == "all" => {
            models = NetworkModel::ALL.to_vec();
            true
        }
        "--network" => NetworkModel::named(value).map(|model| models = vec![model]).is_some(),
        "--profile" => {
            let known = profile::ALL.iter().find(|profile| profile.name == value);
            only = match value {
                "ledgers" => Some(Only::Ledgers),
                "broadcasts" => Some(Only::Broadcasts),
                "liveness-cycles" => Some(Only::LivenessCycles),
                "races" => Some(Only::Races),
                "workers" => Some(Only::Workers),
                "carriers" => Some(Only::Carriers),
                "echoes" => Some(Only::Echoes),
                "counting" => Some(Only::Counting),
                _ => known.map(Only::Profile),
            };
            only.is_some()
        }
        _ => false,
    });
    if !understood {
        return usage();
    }
    let options = OracleOptions { max_configurations, ..OracleOptions::default() };
    let mut n_differences = 0;
    for model in models {
        if quiesces {
            n_differences += quiesce(model, seed..seed + n_programs);
            continue;
        }
        let compare = if compares_quotients {
            quotients
        } else if symbolically && as_published {
            if filters { paper_with_filters } else { paper }
        } else if symbolically && lives {
            symbolic_liveness
        } else if symbolically {
            symbolic
        } else if lives {
            live
        } else if proves {
            prove
        } else {
            compare
        };
        n_differences += compare(Over { model, faults, only }, seed..seed + n_programs, options);
    }
    if n_differences == 0 { ExitCode::SUCCESS } else { ExitCode::from(1) }
}

/// Prints a difference and a small program that shows it.
fn print(case: &Case, difference: &str, small: &str) {
    println!("{}: {difference}\n{small}", case.name());
}

/// The network that a summary is about.
fn network_words(over: Over) -> String {
    format!("network {}{}", over.model.as_str(), if over.faults { " with faults" } else { "" })
}

/// The exhaustive search, in all variants, against the oracle.
fn prove(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let (mut n_programs, mut n_too_large, mut n_violated, mut n_differences) = (0, 0, 0, 0);
    let (mut n_oracle, mut n_searches) = (0, 0);
    // By the name of the variant: programs where nothing breaks, and configurations in them.
    let mut sizes: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    let mut within = WithinBounds::default();
    for seed in seeds {
        let case = Case::new(seed, over);
        let Case { loaded, network, exe, .. } = &case;
        n_programs += 1;
        if let Err(difference) = within.compare(seed, over, options) {
            n_differences += 1;
            println!("seed {seed} {} {difference}", network.describe().unwrap_or_default());
        }
        let reference = oracle::explore_over(&loaded.program, 0, options, network);
        if reference.bound_hit {
            n_too_large += 1;
            continue;
        }
        n_violated += usize::from(reference.is_violated());
        for way in proof::ways_over(exe) {
            n_searches += 1;
            match proof::compare(loaded, exe, &reference, way) {
                Ok(n)
                    if !reference.is_violated()
                        && (way.order, way.store, way.n_threads) == (Order::Breadth, StoreKind::Exact, 1) =>
                {
                    let (n_held, size) = sizes.entry(way.name).or_default();
                    *n_held += 1;
                    *size += n;
                }
                Ok(_) => {}
                Err(difference) => {
                    n_differences += 1;
                    let small = proof::shrink_difference(&case.text, network, options, way);
                    print(&case, &format!("{way:?}: {difference}"), &small);
                    break;
                }
            }
        }
        n_oracle += if reference.is_violated() { 0 } else { reference.n_configurations };
        if n_differences >= MAX_DIFFERENCES {
            break;
        }
    }
    println!(
        "prove, {}: {n_programs} programs, {n_too_large} too large, {} compared, {n_violated} of them violated, \
         {n_searches} searches, {n_differences} differences",
        network_words(over),
        n_programs - n_too_large,
    );
    within.tell();
    println!("configurations where nothing breaks: {n_oracle} of the oracle");
    for (name, (n_held, n)) in sizes {
        println!("  {name}: {n} in {n_held} programs");
    }
    n_differences
}

/// Whether quotients merge only configurations that behave alike, by all configurations of each program.
fn quotients(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let (mut n_programs, mut n_differences) = (0, 0);
    // By quotient: programs, those in which it merges anything, configurations, representatives.
    let mut sizes: BTreeMap<&str, [usize; 4]> = BTreeMap::new();
    for seed in seeds {
        let case = Case::new(seed, over);
        n_programs += 1;
        for (name, reductions) in proof::quotients() {
            match proof::compare_quotient(&case.exe, reductions, options.max_configurations) {
                Ok(None) => {}
                Ok(Some(Quotient { n_configurations, n_representatives })) => {
                    let known = sizes.entry(name).or_default();
                    let has_merged = usize::from(n_representatives < n_configurations);
                    for (sum, n) in known.iter_mut().zip([1, has_merged, n_configurations, n_representatives])
                    {
                        *sum += n;
                    }
                }
                Err(difference) => {
                    n_differences += 1;
                    // Loops that lose their end fill inboxes.
                    let most = options.max_configurations.min(300);
                    let small = case.shrunk(|loaded| {
                        let exe = proof::executable(loaded, &case.network).ok()?;
                        Some(proof::compare_quotient(&exe, reductions, most).is_err())
                    });
                    print(&case, &format!("{name}: {difference}"), &small);
                    break;
                }
            }
        }
        if n_differences >= MAX_DIFFERENCES {
            break;
        }
    }
    println!("quotients, {}: {n_programs} programs, {n_differences} differences", network_words(over));
    for (name, [n, n_merged, n_configurations, n_representatives]) in sizes {
        println!(
            "  {name}: {n} programs, merges in {n_merged}, {n_configurations} configurations, {n_representatives} after"
        );
    }
    n_differences
}

/// The same within a bound of a kind that depends on the seed.
#[derive(Default)]
struct WithinBounds {
    n_searches: usize,
    /// By what is bounded: programs that were compared, and how often the bound was met.
    n: BTreeMap<&'static str, (usize, usize)>,
}

impl WithinBounds {
    fn compare(&mut self, seed: u64, over: Over, options: OracleOptions) -> Result<(), String> {
        let text = bounded::program_of(seed, over);
        let loaded = Loaded::new("random.p", &text)?;
        let network = &network_of(&loaded.program, seed, over);
        let exe = &proof::executable(&loaded, network)?;
        // What can still crash at the end is not followed by this reference.
        if !network.crash.is_empty() {
            return Ok(());
        }
        let within = bounded::within(&loaded.program, exe, seed);
        let Some(reference) = bounded::explore(&loaded, exe, &within, options, network) else {
            return Ok(());
        };
        let kind = match within.bound {
            Some(Bound::Steps(_)) => "steps",
            Some(Bound::InboxLength(_)) => "messages in an inbox",
            Some(Bound::Occurrences(_)) => "messages of one event",
            Some(Bound::Machines(_)) => "machines",
            Some(Bound::Choices(_)) => "answers",
            Some(Bound::Variables) => "variables",
            Some(Bound::Delays(_) | Bound::Rounds(_) | Bound::Nesting(_)) | None => return Ok(()),
        };
        let (n, n_met) = self.n.entry(kind).or_default();
        *n += 1;
        *n_met += usize::from(reference.is_hit);
        for way in proof::ways_within(exe, &within) {
            self.n_searches += 1;
            if let Err(difference) = proof::compare_within(&loaded, exe, &reference, way, &within) {
                let small = shrunk(&text, |loaded| {
                    let exe = proof::executable(loaded, network).ok()?;
                    let within = bounded::within(&loaded.program, &exe, seed);
                    let reference = bounded::explore(loaded, &exe, &within, options, network)?;
                    Some(proof::compare_within(loaded, &exe, &reference, way, &within).is_err())
                });
                return Err(format!("{within:?} {way:?}: {difference}\n{small}"));
            }
        }
        Ok(())
    }

    fn tell(&self) {
        println!("within a bound: {} searches", self.n_searches);
        for (kind, (n, n_met)) in &self.n {
            println!("  {kind}: {n} programs, met in {n_met}");
        }
    }
}

/// Whether every run ends, against a naive analysis of the graph.
fn quiesce(model: NetworkModel, seeds: std::ops::Range<u64>) -> usize {
    let mut tally = allways_testkit::quiesce::Tally::default();
    for seed in seeds {
        allways_testkit::quiesce::compare_seeds(seed..seed + 1, model, &mut tally, &mut |difference| {
            println!("{difference}");
        });
        if tally.n_differences >= MAX_DIFFERENCES as u64 {
            break;
        }
    }
    println!(
        "quiesce, network {}: {} programs, {} with their whole graph, {} answers that they end, {} that they do not, \
         {} unknown, {} skipped, {} differences",
        model.as_str(),
        tally.n_programs,
        tally.n_whole,
        tally.n_quiescing,
        tally.n_diverging,
        tally.n_unknown,
        tally.n_skipped,
        tally.n_differences
    );
    tally.n_differences as usize
}

/// Liveness, in all variants, against a naive analysis of the graph. Programs that go round, unless another kind is asked for.
fn live(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let over = Over { only: over.only.or(Some(Only::LivenessCycles)), ..over };
    let max_configurations = options.max_configurations.min(MAX_NAIVE);
    let (mut n_programs, mut n_compared, mut n_endless, mut n_differences) = (0, 0, 0, 0);
    let (mut n_at_random, mut n_weakly) = (0, 0);
    for seed in seeds {
        let case = Case::new(seed, over);
        n_programs += 1;
        let look = |loaded: &Loaded| -> Option<(Arc<Executable>, liveness::Graph)> {
            let exe = proof::executable(loaded, &case.network).ok()?;
            let graph = liveness::Graph::new(&exe, max_configurations)?;
            Some((exe, graph))
        };
        let Some((exe, graph)) = look(&case.loaded) else { continue };
        n_compared += 1;
        n_endless += usize::from(graph.is_endless());
        let expected = liveness::Expected::of(&graph);
        n_at_random += usize::from(expected.at_random);
        n_weakly += usize::from(expected.weakly);
        if let Err(difference) = liveness::compare(&exe, expected) {
            n_differences += 1;
            let small = case.shrunk(|loaded| {
                let (exe, graph) = look(loaded)?;
                Some(liveness::compare(&exe, liveness::Expected::of(&graph)).is_err())
            });
            print(&case, &difference, &small);
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    println!(
        "live, {}: {n_programs} programs, {n_compared} compared, {n_endless} of them endless, \
         {n_at_random} broken at random, {n_weakly} weakly, {n_differences} differences",
        network_words(over),
    );
    n_differences
}

/// Symbolic exploration against the oracle and explicit search, also within a bound.
fn symbolic(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let (mut n_programs, mut n_compared, mut n_violated, mut n_bounded) = (0, 0, 0, 0);
    let (mut n_configurations, mut n_differences) = (0, 0);
    // Programs with lines left out may have many more configurations, and larger ones.
    let while_shrinking = OracleOptions { max_configurations: MAX_WHILE_SHRINKING, ..options };
    for seed in seeds {
        n_programs += 1;
        let case = Case::new(seed, over);
        let network = &case.network;
        let look = |loaded: &Loaded, options| {
            let exe = proof::executable(loaded, network).ok()?;
            let reference = oracle::explore_over(&loaded.program, 0, options, network);
            (!reference.bound_hit).then(|| (exe, bounded::Reference::from(reference)))
        };
        let whole = bounded::Within::default();
        if let Some((exe, reference)) = look(&case.loaded, options) {
            n_compared += 1;
            n_violated += usize::from(reference.summary.is_violated());
            match with_symbols::compare(&case.loaded, &exe, &reference, &whole, seed) {
                Ok(n) => n_configurations += n,
                Err(difference) => {
                    n_differences += 1;
                    println!("{}: {difference}", case.name());
                    let small = case.shrunk(|loaded| {
                        let (exe, reference) = look(loaded, while_shrinking)?;
                        Some(with_symbols::compare(loaded, &exe, &reference, &whole, seed).is_err())
                    });
                    println!("{small}");
                }
            }
        }
        let text = bounded::program_of(seed, over);
        let within = |loaded: &Loaded, options| {
            // What can still crash at the end is not followed by this reference.
            if !network.crash.is_empty() {
                return None;
            }
            let exe = proof::executable(loaded, network).ok()?;
            let within = bounded::within(&loaded.program, &exe, seed);
            let reference = bounded::explore(loaded, &exe, &within, options, network)?;
            Some(with_symbols::compare(loaded, &exe, &reference, &within, seed))
        };
        if let Ok(loaded) = Loaded::new("random.p", &text)
            && let Some(compared) = within(&loaded, options)
        {
            n_bounded += 1;
            if let Err(difference) = compared {
                n_differences += 1;
                println!("seed {seed} within a bound: {difference}");
                println!("{}", shrunk(&text, |loaded| Some(within(loaded, while_shrinking)?.is_err())));
            }
        }
        if n_differences >= MAX_DIFFERENCES {
            break;
        }
    }
    println!(
        "symbolic, {}: {n_programs} programs, {n_compared} compared, {n_violated} of them violated, {n_bounded} within a \
         bound, {n_configurations} configurations where nothing breaks, {n_differences} differences",
        network_words(over),
    );
    n_differences
}

/// How often the published algorithm may ask whether to stop, which it does after so much work: some seconds.
const PAPER_POLLS: u64 = 20_000;

/// The published algorithm against the oracle and explicit search.
fn paper(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let (mut n_programs, mut n_compared, mut n_violated, mut n_undecided, mut n_differences) =
        (0, 0, 0, 0, 0);
    for seed in seeds {
        n_programs += 1;
        let case = Case::new(seed, over);
        let network = &case.network;
        let compared = |loaded: &Loaded| {
            let exe = proof::executable(loaded, network).ok()?;
            let reference = oracle::explore_over(&loaded.program, 0, options, network);
            (!reference.bound_hit).then(|| {
                let whole = bounded::Within::default();
                with_symbols::compare_paper(&exe, reference.is_violated(), &whole, PAPER_POLLS)
            })
        };
        match compared(&case.loaded) {
            None => {}
            Some(Ok(with_symbols::PaperOutcome::Undecided)) => n_undecided += 1,
            Some(Ok(with_symbols::PaperOutcome::Agrees { is_violated })) => {
                n_compared += 1;
                n_violated += usize::from(is_violated);
            }
            Some(Err(difference)) => {
                n_differences += 1;
                let small = case.shrunk(|loaded| Some(compared(loaded)?.is_err()));
                print(&case, &difference, &small);
                if n_differences == MAX_DIFFERENCES {
                    break;
                }
            }
        }
    }
    println!(
        "published algorithm, network {}: {n_programs} programs, {n_compared} compared, {n_violated} of them violated, \
         {n_undecided} undecided, {n_differences} differences",
        over.model.as_str(),
    );
    n_differences
}

/// The published algorithm with filters, against the oracle and itself without them.
fn paper_with_filters(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let (mut n_programs, mut n_searches, mut n_pruned, mut n_differences) = (0, 0, 0, 0);
    for seed in seeds {
        n_programs += 1;
        let case = Case::new(seed, over);
        let Case { loaded, network, exe, .. } = &case;
        let reference = oracle::explore_over(&loaded.program, 0, options, network);
        if reference.bound_hit {
            continue;
        }
        match with_symbols::compare_filters(exe, reference.is_violated(), PAPER_POLLS) {
            Ok((searches, pruned)) => {
                n_searches += searches;
                n_pruned += pruned;
            }
            Err(difference) => {
                n_differences += 1;
                println!("{}: {difference}", case.name());
                if n_differences == MAX_DIFFERENCES {
                    break;
                }
            }
        }
    }
    println!(
        "filters of the published algorithm, network {}: {n_programs} programs, {n_searches} searches compared, \
         {n_pruned} steps left out, {n_differences} differences",
        over.model.as_str(),
    );
    n_differences
}

/// The same for liveness, against a naive analysis of the graph.
fn symbolic_liveness(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let over = Over { only: over.only.or(Some(Only::LivenessCycles)), ..over };
    let max_configurations = options.max_configurations.min(MAX_NAIVE);
    let (mut n_programs, mut n_compared, mut n_violated, mut n_differences) = (0, 0, 0, 0);
    for seed in seeds {
        n_programs += 1;
        let case = Case::new(seed, over);
        let compared = |loaded: &Loaded| {
            let exe = proof::executable(loaded, &case.network).ok()?;
            let graph = liveness::Graph::new(&exe, max_configurations)?;
            let expected = liveness::Expected::of(&graph).at_random;
            Some((expected, with_symbols::compare_liveness(&exe, expected, seed)))
        };
        let Some((is_violated, compared_here)) = compared(&case.loaded) else { continue };
        n_compared += 1;
        n_violated += usize::from(is_violated);
        if let Err(difference) = compared_here {
            n_differences += 1;
            let small = case.shrunk(|loaded| Some(compared(loaded)?.1.is_err()));
            print(&case, &difference, &small);
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    println!(
        "symbolic liveness, {}: {n_programs} programs, {n_compared} compared, {n_violated} of them violated, \
         {n_differences} differences",
        network_words(over),
    );
    n_differences
}

fn compare(over: Over, seeds: std::ops::Range<u64>, options: OracleOptions) -> usize {
    let mut statistics = Statistics::default();
    let mut n_differences = 0;
    for seed in seeds {
        let (text, compared) = compare_seed(seed, over, options);
        statistics.add(&compared);
        if let Comparison::Differ(difference) = &compared.comparison {
            n_differences += 1;
            let network = Loaded::new("random.p", &text)
                .map(|loaded| network_of(&loaded.program, seed, over))
                .unwrap_or_default();
            let words = network.describe().unwrap_or_default();
            let small = shrink_difference(&text, &network, options);
            println!("seed {seed} {words}: {difference}\n{small}");
            if n_differences == MAX_DIFFERENCES {
                break;
            }
        }
    }
    let s = &statistics;
    println!(
        "{}: {} programs, {} too large, {n_differences} differences",
        network_words(over),
        s.n_programs,
        s.n_too_large
    );
    println!(
        "{} configurations of the oracle, {} of the kernel",
        s.n_oracle_configurations, s.n_kernel_configurations
    );
    println!("{} % violated", s.share(s.n_violated));
    for (what, n) in s.kinds.iter().chain(&s.features) {
        println!("  {what}: {n} ({} %)", s.share(*n));
    }
    n_differences
}

fn usage() -> ExitCode {
    println!(
        "cargo xtask differential [--programs N] [--seed S] [--max-configurations N] [--prove|--live|--quiesce|--quotients|--symbolic [--live|--paper [--filters]]] \
         [--network inbox|causal|fifo|bag|all] [--faults] [--profile NAME]"
    );
    let names: Vec<&str> = profile::ALL.iter().map(|profile| profile.name).collect();
    println!(
        "  profiles: {}, ledgers, broadcasts, liveness-cycles, races, carriers, echoes, counting, workers",
        names.join(", ")
    );
    println!("cargo xtask differential --boogie [--quiesce] [--programs N] [--seed S]");
    ExitCode::from(2)
}
