//! Any bytes as what another process of a cluster sends: no panic, no endless wait, and no more memory than was sent. The first byte says to whom:
//! to the handshake, to the reader of frames, to a search, or to testing.

#![no_main]

use std::io::{Cursor, Read, Write};
use std::sync::{Arc, OnceLock};

use allways_cluster::{handshake, mesh};
use allways_explore::search::{ProveOptions, prove};
use allways_explore::{CheckOptions, Never};
use allways_machine::Executable;
use allways_run::Quiet;
use allways_testkit::Loaded;
use allways_testkit::played::Played;
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = include_str!("ring.p");

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
fn messages(mut bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut messages = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk::<2>() {
        let (message, rest) = rest.split_at(usize::from(u16::from_le_bytes(*length)).min(rest.len()));
        messages.push(message.to_vec());
        bytes = rest;
    }
    messages
}

fuzz_target!(|bytes: &[u8]| {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
    let Some((first, rest)) = bytes.split_first() else { return };
    let peers = || Some(Played::peers(messages(rest)));
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
