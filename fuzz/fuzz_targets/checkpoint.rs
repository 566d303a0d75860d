//! Any bytes as files of a checkpoint: no panic, and no more memory than there are bytes. They are read as a file; and as what is in one, they are
//! given to a search that goes on from there.

#![no_main]

use std::sync::{Arc, OnceLock};

use allways_cluster::folder::read_pieces;
use allways_explore::Never;
use allways_explore::search::distribute::{Checkpoint, Checkpoints, SavedLayer, ShowBlock, WriteFrontier};
use allways_explore::search::{ProveOptions, prove};
use allways_machine::Executable;
use allways_run::Quiet;
use allways_testkit::Loaded;
use libfuzzer_sys::fuzz_target;

const PROGRAM: &str = include_str!("ring.p");

/// Keys, and blocks of one frontier.
struct Kept {
    keys: Vec<u8>,
    blocks: Vec<Vec<u8>>,
}

impl Checkpoint for Kept {
    fn open(&self, _: &str, _: usize, _: usize) -> Result<Option<SavedLayer>, String> {
        Ok(Some(SavedLayer { depth: 3, n_key_bytes: self.keys.len() as u64 }))
    }

    fn read_keys(&self, show: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        show(&self.keys);
        Ok(())
    }

    fn read_frontier(&self, show: &mut ShowBlock<'_>) -> Result<(), String> {
        self.blocks.iter().try_for_each(|block| show(0, block))
    }

    fn add_keys(&self, _: &[u8]) -> Result<(), String> {
        Ok(())
    }

    fn is_due(&self) -> bool {
        false
    }

    fn commit(&self, _: u64, _: &mut WriteFrontier<'_>) -> Result<(), String> {
        Ok(())
    }
}

fuzz_target!(|bytes: &[u8]| {
    static LOADED: OnceLock<Loaded> = OnceLock::new();
    let mut n = 0;
    let _ = read_pieces(&mut &bytes[..], &mut |piece| {
        n += piece.len();
        Ok(())
    });
    assert!(n <= bytes.len());
    // Each part comes after its length in two bytes.
    let mut parts = Vec::new();
    let mut rest = bytes;
    while let Some((length, more)) = rest.split_first_chunk::<2>() {
        let (part, more) = more.split_at(usize::from(u16::from_le_bytes(*length)).min(more.len()));
        parts.push(part.to_vec());
        rest = more;
    }
    if parts.is_empty() {
        return;
    }
    let keys = parts.remove(0);
    let loaded = LOADED.get_or_init(|| Loaded::new("ring.p", PROGRAM).unwrap());
    let exe = Arc::new(Executable::new(&loaded.program, 0));
    let checkpoint = Some(Checkpoints(Arc::new(Kept { keys, blocks: parts })));
    let _ = prove(&exe, &ProveOptions { checkpoint, ..ProveOptions::default() }, &Quiet, &Never);
});
