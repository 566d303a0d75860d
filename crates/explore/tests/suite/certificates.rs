//! Certificates of almost-synchronous proofs: what the engine writes is accepted, what is tampered with is refused.
//!
//! A certificate is taken apart, changed in one thing, and written again as the format wants it, so that it is refused for what it
//! says and not for how it is written.

use std::sync::{Arc, LazyLock};

use crate::support::{compile, texts};
use allways_explore::Never;
use allways_explore::almost_sync::certify::certify;
use allways_explore::almost_sync::{AlmostSyncOptions, FloodRule, Rules, prove};
use allways_machine::{Executable, Simplify};
use allways_run::{Limits, Quiet};
use allways_testkit::almost_sync::{Programs, limits};
use allways_testkit::random::Random;

/// A certificate and what it is about.
struct Subject {
    exe: Arc<Executable>,
    text: String,
    limits: Limits,
}

fn tests_of(model: &str) -> Vec<Arc<Executable>> {
    let folder = format!("models/almost_synchronous/{model}");
    let texts: Vec<String> = texts(&folder).into_iter().map(|(_, text)| text).collect();
    let program = compile(model, &texts.join("\n")).unwrap_or_else(|error| panic!("{model}: {error}"));
    (0..program.tests.len()).map(|test| Arc::new(Executable::new(&program, test))).collect()
}

fn scenarios() -> Vec<Arc<Executable>> {
    tests_of("scenarios")
}

static SUBJECTS: LazyLock<Vec<Subject>> = LazyLock::new(subjects);

fn subjects() -> Vec<Subject> {
    let mut found = Vec::new();
    let simplified = AlmostSyncOptions::default().simplify;
    let mut add = |exe: &Arc<Executable>, rules, simplify, flood, limits| {
        let options = AlmostSyncOptions {
            certificate: true,
            rules,
            simplify,
            flood,
            max_states: Some(2_000),
            limits,
            ..Default::default()
        };
        let report = prove(exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        found.extend(report.certificate.map(|text| Subject { exe: exe.clone(), text, limits }));
    };
    for exe in scenarios() {
        for flood in [FloodRule::Auto, FloodRule::Bound(0)] {
            add(&exe, Rules::Lean, simplified, flood, Limits::default());
            add(&exe, Rules::Paper, Simplify::default(), flood, Limits::default());
        }
    }
    for seed in 50_000..50_060 {
        let (text, _) = Programs::All.program(seed);
        let program = compile("random.p", &text).unwrap_or_else(|error| panic!("seed {seed}: {error}"));
        let exe = Arc::new(Executable::new(&program, 0));
        for flood in [FloodRule::Off, FloodRule::Bound(1)] {
            add(&exe, Rules::Lean, simplified, flood, limits());
            add(&exe, Rules::Lean, Simplify::default(), flood, limits());
        }
    }
    found
}

/// Where a machine or monitor stands: absent, gone, or at the place of a line.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spot {
    Absent,
    Gone,
    At(usize),
}

#[derive(Clone)]
struct State {
    spots: Vec<Spot>,
    movers: Vec<usize>,
    /// `!`, or `>` and a slot, or nothing.
    delegate: String,
}

/// A certificate taken apart.
#[derive(Clone)]
struct Parts {
    /// Lines up to the machines.
    head: Vec<String>,
    machines: Vec<String>,
    /// By slot, without the slot.
    places: Vec<Vec<String>>,
    states: Vec<State>,
}

fn slot_name(slot: usize) -> String {
    format!("{}{}", "Z".repeat(slot / 25), (b'A' + (slot % 25) as u8) as char)
}

fn take_slot(text: &mut &str) -> usize {
    let n_more = text.bytes().take_while(|&letter| letter == b'Z').count();
    let slot = n_more * 25 + usize::from(text.as_bytes()[n_more] - b'A');
    *text = &text[n_more + 1..];
    slot
}

fn slots(mut text: &str) -> Vec<usize> {
    let mut slots = Vec::new();
    while !text.is_empty() {
        slots.push(take_slot(&mut text));
    }
    slots
}

impl Parts {
    fn of(subject: &Subject) -> Parts {
        let (head, states) = subject.text.split_once("states\n").expect("there are states");
        let (machines, head): (Vec<_>, Vec<_>) = head.lines().partition(|line| line.starts_with("machine "));
        let n_slots = subject.exe.monitors.len() + machines.len();
        let mut places = vec![Vec::new(); n_slots];
        for place in head.iter().filter_map(|line| line.strip_prefix("place ")) {
            let mut rest = place;
            places[take_slot(&mut rest)].push(rest.to_owned());
        }
        let owned = |lines: Vec<&str>| lines.into_iter().map(str::to_owned).collect();
        let head = owned(head.into_iter().filter(|line| !line.starts_with("place ")).collect());
        let mut parts = Parts { head, machines: owned(machines), places, states: Vec::new() };
        let mut spots = vec![Spot::Absent; n_slots];
        for line in states.lines().filter(|line| !line.starts_with("end ")) {
            let (mut changes, moves) = line.split_once(' ').unwrap_or((line, ""));
            while !changes.is_empty() {
                let slot = take_slot(&mut changes);
                let end = changes.find(|letter: char| letter.is_ascii_uppercase()).unwrap_or(changes.len());
                spots[slot] = match &changes[..end] {
                    "." => Spot::Absent,
                    "-" => Spot::Gone,
                    number => Spot::At(usize::from_str_radix(number, 36).expect("a number")),
                };
                changes = &changes[end..];
            }
            let end = moves.find(['!', '>']).unwrap_or(moves.len());
            let (movers, delegate) = moves.split_at(end);
            parts.states.push(State {
                spots: spots.clone(),
                movers: slots(movers),
                delegate: delegate.to_owned(),
            });
        }
        parts
    }

    /// As the format wants it: places by slot, in the order in which states have them; those that none has are left out.
    fn text(&self) -> String {
        let n_slots = self.places.len();
        let mut numbers: Vec<Vec<Option<usize>>> =
            self.places.iter().map(|places| vec![None; places.len()]).collect();
        let mut used = vec![Vec::new(); n_slots];
        let mut states = String::new();
        let mut previous = vec![Spot::Absent; n_slots];
        for state in &self.states {
            for slot in 0..n_slots {
                let spot = state.spots[slot];
                if spot == previous[slot] {
                    continue;
                }
                states.push_str(&slot_name(slot));
                match spot {
                    Spot::Absent => states.push('.'),
                    Spot::Gone => states.push('-'),
                    Spot::At(place) => {
                        let number = *numbers[slot][place].get_or_insert_with(|| {
                            used[slot].push(place);
                            used[slot].len() - 1
                        });
                        states.push_str(&base_36(number));
                    }
                }
            }
            previous.clone_from(&state.spots);
            if !state.movers.is_empty() {
                states.push(' ');
                states.extend(state.movers.iter().map(|&slot| slot_name(slot)));
            }
            states.push_str(&state.delegate);
            states.push('\n');
        }
        let mut lines: Vec<String> = self.head.iter().chain(&self.machines).cloned().collect();
        for (slot, places) in used.iter().enumerate() {
            let text = |&place: &usize| format!("place {}{}", slot_name(slot), self.places[slot][place]);
            lines.extend(places.iter().map(text));
        }
        let n_sends = self.head.iter().filter(|line| line.starts_with("send ")).count();
        let n_places: usize = used.iter().map(Vec::len).sum();
        format!(
            "{}\nstates\n{states}end {n_sends} {} {n_places} {}\n",
            lines.join("\n"),
            self.machines.len(),
            self.states.len()
        )
    }

    /// Changes one thing; `None` if there is nothing of the kind. What is changed is in the text.
    fn tamper(&mut self, kind: usize, random: &mut Random) -> Option<&'static str> {
        let n_monitors = self.places.len() - self.machines.len();
        let at = random.below(self.states.len());
        let with_delegate = |wanted: char| -> Vec<usize> {
            (0..self.states.len()).filter(|&at| self.states[at].delegate.starts_with(wanted)).collect()
        };
        let pick = |from: &[usize], random: &mut Random| (!from.is_empty()).then(|| *random.pick(from));
        let machines = |state: &State| -> Vec<usize> {
            (n_monitors..state.spots.len()).filter(|&slot| matches!(state.spots[slot], Spot::At(_))).collect()
        };
        Some(match kind {
            0 => {
                self.states.remove(at);
                "a state is dropped"
            }
            1 => {
                let slot = random.below(self.places.len());
                let place = random.below(self.places[slot].len().max(1));
                let text = self.places[slot].get_mut(place)?;
                // Of what comes last: variables, inbox, tail.
                let digit = text.len() - 1 - random.below(4);
                let other = if &text[digit..=digit] == "0" { "1" } else { "0" };
                text.replace_range(digit..=digit, other);
                "a variable is changed"
            }
            2 => {
                let slot = pick(&machines(&self.states[at]), random)?;
                self.states[at].spots[slot] = Spot::Gone;
                "a machine is blocked where it is not"
            }
            3 => {
                let movers = &mut self.states[at].movers;
                if movers.len() < 2 {
                    return None;
                }
                movers.remove(random.below(movers.len()));
                "a machine that should move does not"
            }
            4 => {
                if self.states[at].movers.is_empty() {
                    return None;
                }
                self.states[at].movers.clear();
                self.states[at].delegate.clear();
                "no machine moves"
            }
            5 => {
                let state = &mut self.states[at];
                let resting = |slot: &usize| !state.movers.contains(slot);
                let others: Vec<usize> = (0..n_monitors).filter(resting).collect();
                state.movers.push(pick(&others, random)?);
                state.movers.sort_unstable();
                "a monitor moves"
            }
            6 => {
                let at = pick(&with_delegate('!'), random)?;
                self.states[at].delegate.clear();
                "no machine is blocked"
            }
            7 => {
                let at = pick(&with_delegate('!'), random)?;
                let state = &mut self.states[at];
                state.delegate = format!(">{}", slot_name(*random.pick(&state.movers)));
                "a step inherits that must not"
            }
            8 => {
                let at = pick(&with_delegate('>'), random)?;
                let state = &mut self.states[at];
                let now = state.delegate[1..].to_owned();
                let others: Vec<usize> =
                    (0..state.spots.len()).filter(|&slot| slot_name(slot) != now).collect();
                state.delegate = format!(">{}", slot_name(pick(&others, random)?));
                "another step inherits"
            }
            9 => {
                let at = pick(&with_delegate('>'), random)?;
                self.states[at].delegate = if random.below(2) == 0 { "!".to_owned() } else { String::new() };
                "the delegate is lost"
            }
            10 => {
                let alone =
                    |at: &usize| self.states[*at].delegate.is_empty() && !self.states[*at].movers.is_empty();
                let at = pick(&(0..self.states.len()).filter(alone).collect::<Vec<_>>(), random)?;
                let state = &mut self.states[at];
                let step = format!(">{}", slot_name(*random.pick(&state.movers)));
                state.delegate = if random.below(2) == 0 { "!".to_owned() } else { step };
                "a step inherits that must not"
            }
            11 => {
                let slot = random.below(self.places.len());
                let Spot::At(place) = self.states[at].spots[slot] else { return None };
                let n_places = self.places[slot].len();
                let other = (place + 1 + random.below(n_places.max(2) - 1)) % n_places;
                self.states[at].spots[slot] = if other == place { Spot::Absent } else { Spot::At(other) };
                "a place of a state is another"
            }
            12 => {
                let sends = (0..self.head.len()).filter(|&at| self.head[at].starts_with("send "));
                let at = pick(&sends.collect::<Vec<_>>(), random)?;
                self.head.remove(at);
                "the topology has an edge less"
            }
            13 => {
                let slot = random.below(self.places.len());
                let has_tail = |&at: &usize| self.places[slot][at].matches(' ').count() > 1;
                let with_tail: Vec<usize> = (0..self.places[slot].len()).filter(has_tail).collect();
                let place = &mut self.places[slot][pick(&with_tail, random)?];
                place.truncate(place.rfind(' ')?);
                "a tail is shorter"
            }
            14 => {
                let line = self.head.iter_mut().find(|line| line.starts_with("inbox "))?;
                let bound: usize = line[6..].parse().ok()?;
                *line = format!("inbox {}", bound + 1 + random.below(3));
                "other inboxes are full"
            }
            15 => {
                if with_delegate('>').is_empty() {
                    return None;
                }
                let line = self.head.iter_mut().find(|line| **line == "rules lean")?;
                "rules paper".clone_into(line);
                "the rules are others"
            }
            16 => {
                let again = self.states[at].clone();
                self.states.push(again);
                "a state comes twice"
            }
            17 => {
                self.machines.swap_remove(random.below(self.machines.len()));
                "a machine is missing"
            }
            _ => {
                // A state that nothing leads to: the last, but with a machine that is gone.
                let mut more = self.states.last()?.clone();
                let slot = pick(&machines(&more), random)?;
                more.spots[slot] = Spot::Gone;
                if self.states.iter().any(|state| state.spots == more.spots) {
                    return None;
                }
                self.states.push(more);
                "a state too many"
            }
        })
    }
}

const N_KINDS: usize = 19;

fn base_36(mut number: usize) -> String {
    let mut digits = Vec::new();
    loop {
        digits.extend(char::from_digit((number % 36) as u32, 36));
        number /= 36;
        if number == 0 {
            break;
        }
    }
    digits.iter().rev().collect()
}

#[test]
fn certificates_are_accepted_and_tampered_ones_refused() {
    let subjects = &*SUBJECTS;
    let count = |word: &str| subjects.iter().filter(|subject| subject.text.contains(word)).count();
    assert!(subjects.len() > 150, "only {} proofs", subjects.len());
    assert!(count("\ninbox ") > 20, "only {} proofs with tails", count("\ninbox "));
    assert!(count(">") > 40, "only {} proofs with delegates", count(">"));
    assert!(count("!\n") > 20, "only {} proofs with blocked machines", count("!\n"));
    for subject in subjects {
        let Subject { exe, text, limits } = subject;
        if let Err(problem) = certify(exe, text, *limits, &Quiet, &Never) {
            panic!("{}: {problem}\n{text}", exe.test_name);
        }
        assert_eq!(Parts::of(subject).text(), *text);
    }
    let mut random = Random::new(7);
    let mut n_refused = [0; N_KINDS];
    for (kind, n_refused) in n_refused.iter_mut().enumerate() {
        for _ in 0..2_000 {
            let subject = random.pick(subjects);
            let mut parts = Parts::of(subject);
            let Some(what) = parts.tamper(kind, &mut random) else { continue };
            let tampered = parts.text();
            assert_ne!(tampered, subject.text, "{what}");
            let found = certify(&subject.exe, &tampered, subject.limits, &Quiet, &Never);
            assert!(
                found.is_err(),
                "{what}, but accepted for {}:\n{}\n{tampered}",
                subject.exe.test_name,
                subject.text
            );
            *n_refused += 1;
            if *n_refused == 60 {
                break;
            }
        }
    }
    assert!(n_refused.iter().sum::<usize>() >= 1_000, "{n_refused:?}");
    assert!(n_refused.iter().all(|&n| n >= 20), "{n_refused:?}");
}

#[test]
fn what_is_not_written_as_it_should_be_is_refused() {
    let subjects = &*SUBJECTS;
    let mut random = Random::new(11);
    for _ in 0..300 {
        let Subject { exe, text, limits } = random.pick(subjects);
        // A letter less, another, one more; or cut short.
        let at = random.below(text.len());
        let mut bytes = text.clone().into_bytes();
        match random.below(4) {
            0 => drop(bytes.remove(at)),
            1 => bytes.insert(at, b" 0a!>\n"[random.below(6)]),
            2 => bytes[at] = if bytes[at] == b'1' { b'2' } else { b'1' },
            _ => bytes.truncate(at),
        }
        let changed = String::from_utf8(bytes).unwrap_or_default();
        if changed != *text {
            let found = certify(exe, &changed, *limits, &Quiet, &Never);
            assert!(found.is_err(), "accepted for {}:\n{text}\n{changed}", exe.test_name);
        }
    }
}

#[test]
fn the_certificate_of_another_program_is_refused() {
    let subjects = &*SUBJECTS;
    let refuses = |exe: &Arc<Executable>, other: &Subject| {
        // The name alone is not what counts.
        let about = |exe: &Executable| format!("\ntest {}\n", exe.test_name);
        let text = other.text.replacen(&about(&other.exe), &about(exe), 1);
        let found = certify(exe, &text, other.limits, &Quiet, &Never);
        assert!(found.is_err(), "accepted for {}:\n{text}", exe.test_name);
    };
    for pair in subjects.windows(2) {
        if !Arc::ptr_eq(&pair[0].exe, &pair[1].exe) {
            refuses(&pair[0].exe, &pair[1]);
        }
    }
    // That of a program that is right, for one that differs from it in a machine.
    let has_proof = |exe: &Arc<Executable>| subjects.iter().any(|found| found.exe.test_name == exe.test_name);
    let broken: Vec<Arc<Executable>> = scenarios().into_iter().filter(|exe| !has_proof(exe)).collect();
    assert_eq!(broken.len(), 6);
    let names: Vec<String> = scenarios().iter().map(|exe| exe.test_name.clone()).collect();
    for subject in subjects.iter().filter(|subject| names.contains(&subject.exe.test_name)) {
        broken.iter().for_each(|exe| refuses(exe, subject));
    }
}

#[test]
fn proofs_of_models_are_accepted() {
    let models = ["elevator", "german", "switch_board", "time_sync", "truck_lifts", "usb_stack"];
    let mut n_accepted = 0;
    for exe in models.into_iter().flat_map(tests_of) {
        let max_states = Some(25_000);
        let options = AlmostSyncOptions { certificate: true, max_states, ..Default::default() };
        let report = prove(&exe, &options, &Quiet, &Never).unwrap_or_else(|error| panic!("{error}"));
        if let Some(text) = report.certificate {
            let found = certify(&exe, &text, Limits::default(), &Quiet, &Never)
                .unwrap_or_else(|problem| panic!("{}: {problem}", exe.test_name));
            assert_eq!(found.n_states, report.report.statistics.n_configurations);
            // A state takes few bytes.
            assert!((text.len() as u64) < 40 * found.n_states, "{}", exe.test_name);
            n_accepted += 1;
        }
    }
    assert!(n_accepted >= 6, "only {n_accepted} proofs");
}
