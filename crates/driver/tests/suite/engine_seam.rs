//! The seam for engines, from outside: a toy engine that knows nothing but the seam and the kernel, alone and in a race.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allways_driver::Request;
use allways_driver::engine::race::{race, race_step_by_step};
use allways_driver::engine::{
    self, ALMOST_SYNC, AUTO, Answer, BestSoFar, Budget, ENGINES, EXPLICIT, Effort, Engine, Figure, Means,
    Question, Settings,
};
use allways_explore::{Claim, InternalError, Never, confirm};
use allways_machine::{DataPoint, Executable, Kernel, Oracle, Outcome, Silent};
use allways_run::{Guarantee, NetworkModel, NetworkOptions, Progress, Quiet, StopReason, Verdict};

/// Walks at random, to a depth, a number of times. It can find a violation and prove nothing.
struct RandomWalk {
    depth: u64,
    n_walks: u64,
}

/// Numbers that look random (Marsaglia's xorshift).
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % n.max(1) as u64) as usize
    }
}

impl Oracle for Dice {
    fn answer(&mut self, point: DataPoint) -> u32 {
        self.below(point.n_answers as usize) as u32
    }
}

impl Engine for RandomWalk {
    fn name(&self) -> &'static str {
        "random-walk"
    }

    fn proves(&self) -> bool {
        false
    }

    fn refuses(&self, question: &Question) -> Option<String> {
        (!question.exe.network.is_default()).then(|| "random walks over other networks".to_owned())
    }

    fn run(&self, question: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
        let mut dice = Dice(0x9e37_79b9_7f4a_7c15);
        let mut kernel = Kernel::new(question.exe.clone(), question.limits);
        let n_walks = if means.budget.effort == Effort::Brief { 1 } else { self.n_walks };
        let mut n_steps = 0;
        for walk in 0..n_walks {
            kernel.reset();
            while kernel.is_running() && (kernel.schedule().len() as u64) < self.depth {
                if let Some(reason) = means.cancel.reason() {
                    return Ok(Answer::new(self.name(), Verdict::Unknown(reason)));
                }
                let choice = kernel.nth_enabled(dice.below(kernel.n_enabled())).expect("it is running");
                kernel.take(choice, &mut dice, &mut Silent).expect("it is enabled");
                n_steps += 1;
            }
            means.observer.progress(&Progress {
                n_schedules: Some(walk + 1),
                n_steps,
                ..Progress::default()
            });
            if let Outcome::Violated(violation) = kernel.outcome() {
                let (violation, schedule) = ((**violation).clone(), kernel.schedule().clone());
                let claim = Claim { violation, schedule, loop_start: None };
                let found = confirm(&question.exe, question.limits, claim)?;
                return Ok(self.answer(Verdict::Violated(Box::new(found)), walk + 1, n_steps));
            }
        }
        let holds = Guarantee::Sampled { n_schedules: n_walks, n_steps };
        Ok(self.answer(Verdict::Holds(holds), n_walks, n_steps))
    }
}

impl RandomWalk {
    fn answer(&self, verdict: Verdict, n_walks: u64, n_steps: u64) -> Answer {
        let mut answer = Answer::new(self.name(), verdict);
        answer.figures.more = vec![
            Figure { name: "nWalks", unit: "walks", n: n_walks },
            Figure { name: "nSteps", unit: "steps", n: n_steps },
        ];
        answer
    }
}

/// Breaks on some schedules, after a few steps.
const RACE: &str = "
event eOne; event eTwo;
machine Sink { start state S { on eOne goto T; on eTwo do { assert false, \"two came first\"; } } state T { ignore eTwo; } }
machine Sender { start state S { entry (sink: Sink) { send sink, eTwo; } } }
machine Main { start state S { entry { var sink: Sink; sink = new Sink(); new Sender(sink); send sink, eOne; } } }
";

/// Finite, and holds.
const CALM: &str = "
event eOne;
machine Sink { start state S { on eOne do { } } }
machine Main { start state S { entry { send new Sink(), eOne; } } }
";

/// Inboxes have no bound: explicit search does not end.
const FLOOD: &str = "
event eOne;
machine Sink { start state S { defer eOne; } }
machine Main { start state S { entry { var sink: Sink; sink = new Sink(); while (true) { send sink, eOne; } } } }
";

fn question(name: &str, text: &str) -> Question {
    Question::new(Arc::new(executable(name, text)))
}

fn executable(name: &str, text: &str) -> Executable {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("program.p"), text).unwrap();
    let request = Request { paths: vec![folder], ..Request::default() };
    let program = allways_driver::compile(&request, false).program.expect("it is well-formed");
    Executable::new(&program, 0)
}

const BUDGET: Budget = Budget { n_threads: 2, memory_bytes: Some(64 << 20), effort: Effort::Whole };
const MEANS: Means<'static> = Means { budget: BUDGET, observer: &Quiet, cancel: &Never };

fn is_violated(answer: &Answer) -> bool {
    matches!(answer.verdict, Verdict::Violated(_))
}

fn toy(n_walks: u64) -> Box<dyn Engine> {
    Box::new(RandomWalk { depth: 20, n_walks })
}

fn with_all(first: Box<dyn Engine>) -> Vec<Box<dyn Engine>> {
    let settings = Settings::default();
    std::iter::once(first).chain(ENGINES.iter().map(|entry| (entry.make)(&settings))).collect()
}

#[test]
fn a_toy_engine_answers_alone() {
    let broken = toy(100).run(&question("toy-race", RACE), MEANS).unwrap();
    assert!(is_violated(&broken), "{:?}", broken.verdict);
    assert_eq!(broken.figures.more[0].name, "nWalks");
    let calm = toy(10).run(&question("toy-calm", CALM), MEANS).unwrap();
    assert!(matches!(calm.verdict, Verdict::Holds(Guarantee::Sampled { n_schedules: 10, .. })));
}

#[test]
fn a_toy_engine_takes_part_in_the_race() {
    let broken = question("toy-race-all", RACE);
    let answer = race(&with_all(toy(1_000)), &broken, MEANS).unwrap();
    assert!(is_violated(&answer), "{:?}", answer.verdict);
    // Alone with another that proves, it does not keep the race from ending.
    let calm = question("toy-calm-all", CALM);
    let answer = race(&with_all(toy(u64::MAX)), &calm, MEANS).unwrap();
    assert_eq!(answer.engine, EXPLICIT);
    assert!(answer.is_final(&calm));
}

#[test]
fn a_proof_that_only_one_engine_has_ends_the_race() {
    let flood = question("toy-flood", FLOOD);
    let answer = race(&with_all(toy(u64::MAX)), &flood, MEANS).unwrap();
    assert_eq!(answer.engine, ALMOST_SYNC);
    assert!(matches!(answer.verdict, Verdict::Holds(Guarantee::LocalStates { .. })));
}

#[test]
fn refusals_are_answers() {
    let mut question = question("toy-refuse", CALM);
    let settings = Settings::default();
    question.max_choices = Some(1);
    let answer = engine::answer(ALMOST_SYNC, &question, &settings, MEANS).unwrap();
    let Verdict::Unknown(StopReason::Unsupported { what }) = answer.verdict else { panic!("{answer:?}") };
    assert!(what.contains("bounds"), "{what}");
    // No other engine is left.
    let network = NetworkOptions { model: NetworkModel::Bag, ..NetworkOptions::default() };
    let exe = executable("toy-refuse", CALM).with_network(&network).unwrap();
    let other = Question { exe: Arc::new(exe), ..question };
    let answer = race(&[toy(1)], &other, MEANS).unwrap();
    assert_eq!(answer.engine, AUTO);
    assert!(matches!(answer.verdict, Verdict::Unknown(StopReason::Unsupported { .. })));
}

#[test]
fn a_stop_signal_ends_the_race() {
    // Endless for every engine: data grows.
    let text = "event e: int; machine Main { start state S {
        entry { send this, e, 0; } on e do (n: int) { assert n * 2 != 7; send this, e, n + 1; } } }";
    let n_asked = AtomicU64::new(0);
    let cancel = || (n_asked.fetch_add(1, Ordering::Relaxed) > 5_000).then_some(StopReason::Interrupted);
    let answer =
        race(&with_all(toy(u64::MAX)), &question("toy-stop", text), Means { cancel: &cancel, ..MEANS })
            .unwrap();
    assert_eq!(answer.verdict, Verdict::Unknown(StopReason::Interrupted));
    assert_eq!(answer.engine, EXPLICIT);
}

/// An engine that never asks whether to stop. It ends when the race shows a violation.
struct Deaf(Arc<BestSoFar>);

impl Engine for Deaf {
    fn name(&self) -> &'static str {
        "deaf"
    }

    fn run(&self, _: &Question, _: Means<'_>) -> Result<Answer, InternalError> {
        while !self.0.lock().unwrap().as_ref().is_some_and(is_violated) {
            std::thread::yield_now();
        }
        Ok(Answer::new(self.name(), Verdict::Unknown(StopReason::Interrupted)))
    }
}

/// What one engine has found is known outside while another one goes on, whatever the limits.
#[test]
fn a_race_shows_what_it_has() {
    let best = Arc::new(BestSoFar::default());
    let engines: Vec<Box<dyn Engine>> = vec![Box::new(Deaf(best.clone())), toy(1_000)];
    let question = question("toy-deaf", RACE);
    let answer = race_step_by_step(&engines, &question, MEANS, &best).unwrap();
    assert!(is_violated(&answer), "{:?}", answer.verdict);
    assert!(best.lock().unwrap().as_ref().is_some_and(is_violated));
}

#[test]
fn names_of_engines_are_different() {
    let mut names: Vec<&str> = ENGINES.iter().map(|entry| entry.name).chain([AUTO]).collect();
    names.sort_unstable();
    assert!(names.windows(2).all(|pair| pair[0] != pair[1]));
    for entry in ENGINES {
        let engine = (entry.make)(&Settings::default());
        assert_eq!((engine.name(), engine.proves()), (entry.name, entry.proves));
    }
}

/// Loses the path to a violation when it is stopped, or at once.
struct Stumbles {
    at_once: bool,
}

impl Engine for Stumbles {
    fn name(&self) -> &'static str {
        "stumbles"
    }

    fn run(&self, _: &Question, means: Means<'_>) -> Result<Answer, InternalError> {
        while !self.at_once && means.cancel.reason().is_none() {
            std::thread::yield_now();
        }
        let (expected, found) = ("a step".to_owned(), "nothing".to_owned());
        Err(InternalError::OtherOutcome { expected, found })
    }
}

/// What an engine could not finish because another had won is no fault; what fails by itself is.
#[test]
fn an_engine_that_is_stopped_midway_spoils_no_answer() {
    let calm = question("stumble-calm", CALM);
    let engines = with_all(Box::new(Stumbles { at_once: false }));
    let answer = race(&engines, &calm, MEANS).unwrap();
    assert!(answer.is_final(&calm), "{:?}", answer.verdict);
    let alone: [Box<dyn Engine>; 1] = [Box::new(Stumbles { at_once: false })];
    let over = || Some(StopReason::Interrupted);
    let answer = race(&alone, &calm, Means { cancel: &over, ..MEANS }).unwrap();
    assert_eq!(answer.verdict, Verdict::Unknown(StopReason::Interrupted));
    let faulty: [Box<dyn Engine>; 1] = [Box::new(Stumbles { at_once: true })];
    assert!(race(&faulty, &calm, MEANS).is_err());
}
