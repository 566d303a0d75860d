//! Any bytes as what another process of a cluster sends: no panic, no endless wait, and no more memory than was sent. The first byte says to whom:
//! to the handshake, to the reader of frames, to a search, or to testing.

#![no_main]

use std::collections::VecDeque;
use std::io::{Cursor, Read, Write};
use std::sync::{Arc, Mutex, OnceLock};

use allways_cluster::{handshake, mesh};
use allways_explore::exchange::{Exchange, Peers};
use allways_explore::search::{ProveOptions, prove};
use allways_explore::{CheckOptions, Never};
use allways_machine::Executable;
use allways_run::Quiet;
use allways_testkit::Loaded;
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = include_str!("ring.p");

/// Sends what it is given, and leaves.
struct Played {
    messages: Mutex<VecDeque<Vec<u8>>>,
    failure: Mutex<Option<String>>,
}

impl Exchange for Played {
    fn number(&self) -> usize {
        0
    }

    fn n_processes(&self) -> usize {
        2
    }

    fn send(&self, _: usize, _: Vec<u8>) {}

    fn take(&self, _: usize) -> Option<Vec<u8>> {
        self.messages.lock().unwrap().pop_front()
    }

    fn is_congested(&self) -> bool {
        false
    }

    fn wait(&self) {}

    fn failure(&self) -> Option<String> {
        self.failure.lock().unwrap().clone()
    }

    fn has_left(&self, _: usize) -> bool {
        self.messages.lock().unwrap().is_empty()
    }

    fn fail(&self, _: usize, why: &str) {
        self.failure.lock().unwrap().get_or_insert(why.to_owned());
    }
}

/// Reads bytes, and drops what is written.
struct OneWay<'a>(Cursor<&'a [u8]>);

impl Read for OneWay<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> std::io::Result<usize> {
        self.0.read(bytes)
    }
}

impl Write for OneWay<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Messages, each after its length in two bytes.
fn messages(mut bytes: &[u8]) -> VecDeque<Vec<u8>> {
    let mut messages = VecDeque::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let (message, rest) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
        messages.push_back(message.to_vec());
        bytes = rest;
    }
    messages
}

fuzz_target!(|bytes: &[u8]| {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
    let Some((first, rest)) = bytes.split_first() else { return };
    let peers = || {
        let (messages, failure) = (Mutex::new(messages(rest)), Mutex::default());
        Some(Peers(Arc::new(Played { messages, failure })))
    };
    let exe = || {
        let loaded = LOADED.get_or_init(|| Loaded::new("ring.p", PROGRAM).unwrap());
        Arc::new(Executable::new(&loaded.program, 0))
    };
    match first % 4 {
        0 => {
            let mine = handshake::Identity { process: 0, n_processes: 2, job: [7; 32] };
            assert!(handshake::accept(&mut OneWay(Cursor::new(rest)), b"a secret", &mine, |_| true).is_err());
        }
        1 => {
            let mut rest = rest;
            while mesh::read_frame(&mut rest).is_ok() {}
        }
        2 => {
            let options = ProveOptions { peers: peers(), ..ProveOptions::default() };
            let _ = prove(&exe(), &options, &Quiet, &Never);
        }
        _ => {
            let options = CheckOptions { peers: peers(), n_schedules: Some(60), ..CheckOptions::default() };
            let _ = allways_explore::check(&exe(), &options, &Quiet, &Never);
        }
    }
});
