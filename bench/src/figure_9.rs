//! Figure 9 of Emmi, Ozkan and Tasiran's paper: time to find the failure at the end of a chain of posts that are
//! waited for, by the length of the chain. Depth first with waiting needs no delay, depth first one for each link.
//!
//! The whole pipeline is measured, from the text to the counterexample that the interpreter has repeated. The
//! baseline is what the paper's tool took for the same chains on its machine, from its published log.

use std::fmt::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use allways_base::Sources;
use allways_driver::boogie::{BoogieOptions, Loaded, SchedulerKind, check};
use allways_run::{Quiet, Verdict};

/// Seconds of the paper's tool by length: depth first with waiting, and depth first.
const PAPER_DFW: [(u32, f64); 4] = [(1, 0.56), (10, 0.74), (20, 1.18), (50, 4.4)];
const PAPER_DF: [(u32, f64); 6] = [(1, 0.6), (5, 0.9), (6, 1.5), (7, 3.9), (8, 5.9), (9, 21.4)];

/// What the paper's figure shows at its last length.
const PAPER_AT_50: f64 = 5.0;

/// A series ends with the first length that takes so many seconds.
const PATIENCE: f64 = 30.0;

pub struct FigureOptions {
    pub max: u32,
    /// Every length, not a tenth of them.
    pub every: bool,
    pub out: PathBuf,
}

impl FigureOptions {
    /// `[--max N] [--every] [-o FILE]`; `None` for anything else.
    pub fn parse(words: &[&str]) -> Option<Self> {
        let mut options = FigureOptions { max: 50, every: false, out: "target/figure-9.svg".into() };
        let mut rest = words;
        loop {
            rest = match rest {
                [] => return Some(options),
                ["--max", n, more @ ..] => {
                    options.max = n.parse().ok().filter(|&n| n > 0)?;
                    more
                }
                ["--every", more @ ..] => {
                    options.every = true;
                    more
                }
                ["-o", file, more @ ..] => {
                    options.out = (*file).into();
                    more
                }
                _ => return None,
            };
        }
    }
}

pub struct Series {
    pub name: &'static str,
    pub colour: &'static str,
    pub is_baseline: bool,
    pub points: Vec<(u32, f64)>,
}

/// Measures, prints the table and writes the plot. False if a figure is not as it should be.
pub fn run(options: &FigureOptions) -> bool {
    let step = if options.every { 1 } else { (options.max / 10).max(1) };
    let lengths: Vec<u32> = (1..=options.max).filter(|n| *n == 1 || n % step == 0).collect();
    println!(
        "{:>5} {:>12} {:>10} {:>12} {:>14} {:>16}",
        "N", "dfw(0) s", "in solver", "df(N) s", "df(N-1) s", "paper dfw(0) s"
    );
    let mut dfw =
        Series { name: "dfw, no delays", colour: "#1b6ca8", is_baseline: false, points: Vec::new() };
    let mut df = Series { name: "df, N delays", colour: "#b8420f", is_baseline: false, points: Vec::new() };
    let mut less =
        Series { name: "df, N-1 delays: nothing", colour: "#8a8a00", is_baseline: false, points: Vec::new() };
    // The first start of the solver reads it from the disk.
    let mut is_right = measure(1, SchedulerKind::Dfw, 0).found;
    for n in lengths {
        // The shortest of five, since the machine does other things too.
        let mut best: Option<Measured> = None;
        for _ in 0..5 {
            let once = measure(n, SchedulerKind::Dfw, 0);
            if best.as_ref().is_none_or(|best| once.seconds < best.seconds) {
                best = Some(once);
            }
        }
        let Some(with_waiting) = best else { return false };
        is_right &= with_waiting.found;
        dfw.points.push((n, with_waiting.seconds));
        let mut also = |series: &mut Series, delays: u32, should_find: bool| -> String {
            if series.points.last().is_some_and(|&(_, seconds)| seconds > PATIENCE) {
                return "-".to_owned();
            }
            let measured = measure(n, SchedulerKind::Df, delays);
            is_right &= measured.found == should_find;
            series.points.push((n, measured.seconds));
            format!("{:.3}", measured.seconds)
        };
        let (enough, too_few) = (also(&mut df, n, true), also(&mut less, n - 1, false));
        let paper = PAPER_DFW.iter().find(|point| point.0 == n);
        let paper = paper.map(|point| point.1.to_string()).unwrap_or_default();
        println!(
            "{n:>5} {:>12.3} {:>10.3} {enough:>12} {too_few:>14} {paper:>16}",
            with_waiting.seconds,
            with_waiting.solver.as_secs_f64()
        );
    }
    for series in [&dfw, &df, &less] {
        if let Some(exponent) = growth(&series.points) {
            println!("{}: grows like N^{exponent:.2}", series.name);
        }
    }
    if !is_right {
        println!("WRONG: a failure was missed, or found with too few delays");
    }
    let exponent = growth(&dfw.points);
    let mut is_good = is_right;
    if let Some(exponent) = exponent {
        let is_enough = exponent <= 2.0;
        println!("dfw grows at most quadratically: {}", yes(is_enough));
        is_good &= is_enough;
    }
    if let Some(&(_, seconds)) = dfw.points.iter().find(|point| point.0 == 50) {
        println!(
            "dfw at N = 50: {seconds:.3} s, the paper's {PAPER_AT_50} s, ratio {:.1} (wanted: 5): {}",
            PAPER_AT_50 / seconds,
            yes(seconds * 5.0 <= PAPER_AT_50)
        );
        is_good &= seconds * 5.0 <= PAPER_AT_50;
    }
    let baseline = |name, colour, points: &[(u32, f64)]| {
        let points = points.iter().copied().filter(|point| point.0 <= options.max).collect();
        Series { name, colour, is_baseline: true, points }
    };
    let all = [
        dfw,
        df,
        less,
        baseline("dfw, the paper's tool", "#1b6ca8", &PAPER_DFW),
        baseline("df, the paper's tool", "#b8420f", &PAPER_DF),
    ];
    match std::fs::write(&options.out, plot(&all, options.max, "length of the chain")) {
        Ok(()) => println!("plot: {}", options.out.display()),
        Err(error) => {
            println!("cannot write {}: {error}", options.out.display());
            is_good = false;
        }
    }
    is_good
}

fn yes(holds: bool) -> &'static str {
    if holds { "yes" } else { "NO" }
}

struct Measured {
    seconds: f64,
    solver: Duration,
    found: bool,
}

fn chain(n: u32) -> String {
    format!(
        "type task a;\nvar i: int;\nprocedure p() returns (r: int) {{ }}\nprocedure {{:entrypoint}} Main() {{\n  \
         var t: task int; var x: int;\n  i := 0;\n  while (i < {n}) {{\n    call {{:async t}} x := p();\n    \
         i := i + 1;\n    yield;\n    assume {{:wait t}} true;\n  }}\n  assert false;\n}}\n"
    )
}

fn measure(n: u32, scheduler: SchedulerKind, delays: u32) -> Measured {
    let start = Instant::now();
    let mut sources = Sources::default();
    let file = sources.add("chain.bpl".to_owned(), chain(n));
    let (checked, diagnostics) = allways_boogie::analyze(file, &sources.file(file).text);
    let Some(checked) = checked else { panic!("the chain is a program: {diagnostics:?}") };
    let loaded = Loaded { sources, checked: None, diagnostics };
    let options =
        BoogieOptions { scheduler, delays: Some(delays), recursion: Some(n + 1), ..BoogieOptions::default() };
    let report = match check(&loaded, &checked, &options, &Quiet) {
        Ok(report) => report,
        Err(error) => panic!("{error:?}"),
    };
    let found = match &report.verdict {
        Verdict::Violated(_) => report.evidence.is_some_and(|evidence| evidence.is_repeated),
        Verdict::Holds(_) => false,
        Verdict::Unknown(why) => panic!("{why:?}"),
    };
    Measured { seconds: start.elapsed().as_secs_f64(), solver: report.stats.solver_time, found }
}

/// The slope of a line through the points from N = 10 on, both axes logarithmic, without what one link takes: that
/// is mostly the start of the solver.
fn growth(points: &[(u32, f64)]) -> Option<f64> {
    let fixed = points.iter().find(|point| point.0 == 1).map_or(0.0, |point| point.1);
    let logs: Vec<(f64, f64)> = points
        .iter()
        .filter(|&&(n, seconds)| n >= 10 && seconds > fixed)
        .map(|&(n, seconds)| (f64::from(n).ln(), (seconds - fixed).ln()))
        .collect();
    if logs.len() < 3 {
        return None;
    }
    let count = logs.len() as f64;
    let (mean_x, mean_y) =
        (logs.iter().map(|p| p.0).sum::<f64>() / count, logs.iter().map(|p| p.1).sum::<f64>() / count);
    let above: f64 = logs.iter().map(|p| (p.0 - mean_x) * (p.1 - mean_y)).sum();
    let below: f64 = logs.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    Some(above / below)
}

/// Seconds over a number as SVG; the axis of seconds is logarithmic.
pub fn plot(series: &[Series], max: u32, number: &str) -> String {
    const WIDTH: f64 = 760.0;
    const HEIGHT: f64 = 460.0;
    const LEFT: f64 = 70.0;
    const RIGHT: f64 = 200.0;
    const TOP: f64 = 30.0;
    const BOTTOM: f64 = 50.0;
    let all = || series.iter().flat_map(|s| s.points.iter().map(|p| p.1.max(0.001).log10()));
    let low = all().fold(0.0f64, f64::min).floor();
    let high = all().fold(0.0f64, f64::max).ceil().max(low + 1.0);
    let x = |n: f64| LEFT + (WIDTH - LEFT - RIGHT) * n / f64::from(max.max(1));
    let y = |log: f64| TOP + (HEIGHT - TOP - BOTTOM) * (high - log) / (high - low);
    let mut out = String::new();
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{WIDTH}\" height=\"{HEIGHT}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>"
    );
    let mut log = low;
    while log <= high {
        let at = y(log);
        let _ = writeln!(
            out,
            "<line x1=\"{LEFT}\" y1=\"{at:.1}\" x2=\"{:.1}\" y2=\"{at:.1}\" stroke=\"#dddddd\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            WIDTH - RIGHT,
            LEFT - 6.0,
            at + 4.0,
            10f64.powf(log)
        );
        log += 1.0;
    }
    for tick in 0..=5 {
        let n = f64::from(max) * f64::from(tick) / 5.0;
        let _ = writeln!(
            out,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{n:.0}</text>",
            x(n),
            HEIGHT - BOTTOM + 18.0
        );
    }
    let _ = writeln!(
        out,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{number}</text>\n\
         <text x=\"{LEFT}\" y=\"18\" text-anchor=\"middle\">seconds</text>",
        (LEFT + WIDTH - RIGHT) / 2.0,
        HEIGHT - 12.0
    );
    for (row, series) in series.iter().enumerate() {
        let places: Vec<(f64, f64)> =
            series.points.iter().map(|p| (x(f64::from(p.0)), y(p.1.max(0.001).log10()))).collect();
        let line: Vec<String> = places.iter().map(|p| format!("{:.1},{:.1}", p.0, p.1)).collect();
        let dashes = if series.is_baseline { " stroke-dasharray=\"5 4\"" } else { "" };
        let colour = series.colour;
        let _ = writeln!(
            out,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>",
            line.join(" ")
        );
        for place in &places {
            let _ = writeln!(
                out,
                "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"2.5\" fill=\"{colour}\"/>",
                place.0, place.1
            );
        }
        let (at, from) = (TOP + 20.0 * row as f64 + 10.0, WIDTH - RIGHT + 12.0);
        let _ = writeln!(
            out,
            "<line x1=\"{from}\" y1=\"{at}\" x2=\"{}\" y2=\"{at}\" stroke=\"{colour}\" stroke-width=\"2\"{dashes}/>\n\
             <text x=\"{}\" y=\"{}\">{}</text>",
            from + 24.0,
            from + 30.0,
            at + 4.0,
            series.name
        );
    }
    out.push_str("</svg>\n");
    out
}
