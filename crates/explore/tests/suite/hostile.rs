//! Messages and checkpoints that are not what they should be: every run ends, without a panic, and says why if it says anything.
//!
//! Messages are those of a real process, changed here and there, so that many get far; fuzz targets go on from there.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use allways_explore::exchange::{Exchange, Peers};
use allways_explore::search::distribute::Checkpoints;
use allways_explore::search::{ProveOptions, ProveReport, Reductions, prove};
use allways_explore::testing::rng::Rng;
use allways_explore::{CheckOptions, InternalError, Never};
use allways_machine::Executable;
use allways_run::{Quiet, StopReason, Verdict};
use allways_testkit::played::Played;

use super::distribute::{BROKEN, Folder, InFolder, RING, alone, each_of, essence, loaded};

/// Keeps what another process sends.
struct Recorded {
    inner: Peers,
    taken: Arc<Mutex<Vec<Vec<u8>>>>,
}

impl Exchange for Recorded {
    fn number(&self) -> usize {
        self.inner.0.number()
    }

    fn n_processes(&self) -> usize {
        self.inner.0.n_processes()
    }

    fn send(&self, to: usize, message: Vec<u8>) {
        self.inner.0.send(to, message);
    }

    fn take(&self, from: usize) -> Option<Vec<u8>> {
        let message = self.inner.0.take(from)?;
        self.taken.lock().unwrap().push(message.clone());
        Some(message)
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn wait(&self) {
        self.inner.0.wait();
    }

    fn failure(&self) -> Option<String> {
        self.inner.0.failure()
    }

    fn has_left(&self, process: usize) -> bool {
        self.inner.0.has_left(process)
    }

    fn fail(&self, with: usize, why: &str) {
        self.inner.0.fail(with, why);
    }
}

/// What process 1 of two sends to process 0.
fn recorded(text: &str, work: impl Fn(&Arc<Executable>, Peers) + Sync) -> Vec<Vec<u8>> {
    let taken = Arc::new(Mutex::new(Vec::new()));
    each_of(text, 2, |exe, peers| {
        let taken = taken.clone();
        let is_first = peers.0.number() == 0;
        work(exe, if is_first { Peers(Arc::new(Recorded { inner: peers, taken })) } else { peers });
    });
    taken.lock().unwrap().clone()
}

/// How many changes, and by which random numbers: more than usual if that is asked for.
fn asked(usual: u64, seed: u64) -> (u64, Rng) {
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    (number("ALLWAYS_MUTATIONS").unwrap_or(usual), Rng::new(number("ALLWAYS_SEED").unwrap_or(seed)))
}

/// Changes bytes: one or a few become others, or are left out, or come twice, or something is added.
fn mutate(bytes: &mut Vec<u8>, rng: &mut Rng) {
    for _ in 0..1 + rng.below(3) {
        let at = rng.below(bytes.len() as u64 + 1) as usize;
        match rng.below(6) {
            0 if at < bytes.len() => bytes[at] ^= 1 << rng.below(8),
            1 if at < bytes.len() => bytes[at] = [0, 1, 0x7f, 0x80, 0xff][rng.below(5) as usize],
            2 => bytes.truncate(at),
            3 => bytes.insert(at, rng.below(256) as u8),
            4 => {
                let piece = bytes[at..].iter().take(9).copied().collect::<Vec<_>>();
                bytes.splice(at..at, piece);
            }
            _ => {
                bytes.drain(at..(at + 1 + rng.below(9) as usize).min(bytes.len()));
            }
        }
    }
}

fn mutated(messages: &[Vec<u8>], rng: &mut Rng) -> Vec<Vec<u8>> {
    let mut messages = messages.to_vec();
    let at = rng.below(messages.len() as u64) as usize;
    match rng.below(12) {
        0 => {
            messages.remove(at);
        }
        1 => messages.insert(at, messages[at].clone()),
        2 => messages.swap(at, 0),
        _ => mutate(&mut messages[at], rng),
    }
    messages
}

/// The report of process 0, to which these messages are played.
fn with_messages(
    text: &str,
    options: &ProveOptions,
    messages: &[Vec<u8>],
) -> Result<ProveReport, InternalError> {
    let exe = Arc::new(Executable::new(&loaded(text).program, 0));
    prove(
        &exe,
        &ProveOptions { peers: Some(Played::peers(messages.iter().cloned())), ..options.clone() },
        &Quiet,
        &Never,
    )
}

#[test]
fn no_message_makes_a_search_panic_or_wait() {
    for (text, reductions) in [(RING, Reductions::NONE), (RING, Reductions::ALL), (BROKEN, Reductions::NONE)]
    {
        let options = ProveOptions { reductions, ..ProveOptions::default() };
        let messages = recorded(text, |exe, peers| {
            prove(exe, &ProveOptions { peers: Some(peers), ..options.clone() }, &Quiet, &Never).unwrap();
        });
        let as_sent = with_messages(text, &options, &messages).unwrap();
        assert_eq!(essence(&as_sent), essence(&alone(text, &options)));
        let (n, mut rng) = asked(300, 7);
        let mut n_refused = 0;
        for _ in 0..n {
            // A violation that another process makes up is a fault, not a verdict.
            let is_refused = match with_messages(text, &options, &mutated(&messages, &mut rng)) {
                Ok(report) => matches!(report.verdict, Verdict::Unknown(StopReason::Undecided { .. })),
                Err(_) => true,
            };
            n_refused += u64::from(is_refused);
        }
        assert!(n_refused > n / 3, "{n_refused}");
    }
}

#[test]
fn no_message_makes_testing_panic_or_wait() {
    let options = CheckOptions { n_schedules: Some(400), explore: true, ..CheckOptions::default() };
    let messages = recorded(BROKEN, |exe, peers| {
        let options = CheckOptions { peers: Some(peers), ..options.clone() };
        allways_explore::check(exe, &options, &Quiet, &Never).unwrap();
    });
    let (n, mut rng) = asked(100, 8);
    for _ in 0..n {
        let exe = Arc::new(Executable::new(&loaded(BROKEN).program, 0));
        let options =
            CheckOptions { peers: Some(Played::peers(mutated(&messages, &mut rng))), ..options.clone() };
        let _ = allways_explore::check(&exe, &options, &Quiet, &Never);
    }
}

#[test]
fn no_checkpoint_makes_a_search_panic() {
    let options = ProveOptions { reductions: Reductions::NONE, ..ProveOptions::default() };
    let folder = Arc::new(Folder::default());
    let kept = |folder: &Arc<Folder>, until| Some(Checkpoints(Arc::new(InFolder::new(folder, until))));
    alone(RING, &ProveOptions { checkpoint: kept(&folder, 0), ..options.clone() });
    let whole = folder.layers.lock().unwrap().clone();
    let (n, mut rng) = asked(200, 9);
    let n_refused = AtomicU64::new(0);
    for _ in 0..n {
        let mut layers = whole.clone();
        let until = 1 + rng.below(layers.len() as u64 - 1);
        let segment = layers.get_mut(&until).and_then(|parts| parts.get_mut(&0)).unwrap();
        if rng.below(4) == 0 {
            mutate(&mut segment.keys, &mut rng);
        } else {
            segment.frontier = mutated(&segment.frontier, &mut rng);
        }
        *folder.layers.lock().unwrap() = layers;
        let report = alone(RING, &ProveOptions { checkpoint: kept(&folder, until), ..options.clone() });
        let is_refused = matches!(report.verdict, Verdict::Unknown(StopReason::Undecided { .. }));
        n_refused.fetch_add(u64::from(is_refused), Ordering::Relaxed);
    }
    assert!(n_refused.load(Ordering::Relaxed) > n / 4);
}

#[test]
fn each_local_state_is_sent_once() {
    let options = ProveOptions { reductions: Reductions::NONE, ..ProveOptions::default() };
    let messages = recorded(RING, |exe, peers| {
        prove(exe, &ProveOptions { peers: Some(peers), ..options.clone() }, &Quiet, &Never).unwrap();
    });
    let blocks = messages.iter().filter(|message| message[0] == 0);
    // How many are new is a variable-length number.
    let n_new = |block: &Vec<u8>| -> u64 {
        let mut number = 0;
        for (at, byte) in block[1..].iter().enumerate() {
            number |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    };
    let (n_blocks, n_sent) = blocks.fold((0, 0), |(n, sent), block| (n + 1, sent + n_new(block)));
    let n_local_states = alone(RING, &options).statistics.n_local_states;
    assert!(n_blocks > 5 && n_sent > 5 && n_sent <= n_local_states, "{n_blocks} {n_sent} {n_local_states}");
}
