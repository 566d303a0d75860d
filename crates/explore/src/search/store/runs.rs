//! Keys on disk: sorted runs, and looking up many keys at once in them (delayed duplicate detection; Stern and Dill, 1998).
//!
//! A run is a sorted list of keys in a file, with the first key of each block in memory. To look up a sorted list of keys, only the blocks are read
//! that may have one of them, in order. So a small layer reads little of a large set, and a large one reads it once from beginning to end.

use std::io::{Read, Result, Seek, SeekFrom, Write};
use std::sync::Arc;

/// Files that no other process sees, and that are gone when they are dropped or the process ends. Below the driver there is no file system.
pub trait Scratch: Send + Sync {
    /// A new one.
    ///
    /// # Errors
    /// When there is no room for it.
    fn file(&self) -> Result<Box<dyn ScratchFile>>;
}

/// A file to be written and read again.
pub trait ScratchFile: Read + Write + Seek + Send {}

impl<T: Read + Write + Seek + Send> ScratchFile for T {}

/// A place for what does not fit into memory, as an option.
#[derive(Clone)]
pub struct Spill {
    pub scratch: Arc<dyn Scratch>,
    /// About how many bytes of the next layer are kept in memory, and half as many keys, instead of a share of the memory limit.
    pub part: Option<u64>,
}

impl std::fmt::Debug for Spill {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("spill")
    }
}

/// Of 64 or of 128 bits.
pub(crate) trait Key: Copy + Ord {
    const N_BYTES: usize;

    fn new(first: u64, second: u64) -> Self;
    fn put(self, out: &mut Vec<u8>);
    /// From so many bytes.
    fn get(bytes: &[u8]) -> Self;
}

fn word(bytes: &[u8]) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[..8]);
    u64::from_le_bytes(word)
}

impl Key for u64 {
    const N_BYTES: usize = 8;

    fn new(first: u64, _: u64) -> Self {
        first
    }

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Self {
        word(bytes)
    }
}

impl Key for (u64, u64) {
    const N_BYTES: usize = 16;

    fn new(first: u64, second: u64) -> Self {
        (first, second)
    }

    fn put(self, out: &mut Vec<u8>) {
        self.0.put(out);
        self.1.put(out);
    }

    fn get(bytes: &[u8]) -> Self {
        (word(bytes), word(&bytes[8..]))
    }
}

/// Keys of a block, so that it has some 64 KB.
const BLOCK: usize = 1 << 12;

pub(crate) struct Run<K> {
    file: Box<dyn ScratchFile>,
    /// The first key of each block.
    firsts: Vec<K>,
    len: usize,
}

impl<K: Key> Run<K> {
    /// Writes sorted keys.
    pub fn write(scratch: &dyn Scratch, keys: &[K]) -> Result<Self> {
        let mut file = scratch.file()?;
        let mut bytes = Vec::with_capacity(BLOCK * K::N_BYTES);
        for block in keys.chunks(BLOCK) {
            bytes.clear();
            block.iter().for_each(|key| key.put(&mut bytes));
            file.write_all(&bytes)?;
        }
        file.flush()?;
        Ok(Run { file, firsts: keys.chunks(BLOCK).map(|block| block[0]).collect(), len: keys.len() })
    }

    pub fn n_bytes(&self) -> usize {
        self.firsts.capacity() * size_of::<K>()
    }

    /// Adds those of some sorted keys to `known` that it has.
    pub fn find(&mut self, mut keys: &[K], known: &mut Vec<K>) -> Result<()> {
        let mut bytes = Vec::new();
        for (number, first) in self.firsts.iter().enumerate() {
            keys = &keys[keys.partition_point(|key| key < first)..];
            let n_here = match self.firsts.get(number + 1) {
                Some(next) => keys.partition_point(|key| key < next),
                None => keys.len(),
            };
            let (here, rest) = keys.split_at(n_here);
            keys = rest;
            if here.is_empty() {
                continue;
            }
            let from = number * BLOCK;
            bytes.resize(BLOCK.min(self.len - from) * K::N_BYTES, 0);
            self.file.seek(SeekFrom::Start((from * K::N_BYTES) as u64))?;
            self.file.read_exact(&mut bytes)?;
            let mut block = bytes.chunks_exact(K::N_BYTES).map(K::get).peekable();
            for &key in here {
                while block.next_if(|&at| at < key).is_some() {}
                if block.peek() == Some(&key) {
                    known.push(key);
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::*;

    struct InMemory;

    impl Scratch for InMemory {
        fn file(&self) -> Result<Box<dyn ScratchFile>> {
            Ok(Box::new(Cursor::new(Vec::new())))
        }
    }

    fn finds<K: Key + std::fmt::Debug>() {
        let key = |n: u64| K::new(n / 3, n % 3 + 1);
        let mut kept: Vec<K> = (0..30_000).map(|n| key(n * 7)).collect();
        kept.sort_unstable();
        kept.dedup();
        let mut run = Run::write(&InMemory, &kept).unwrap();
        for apart in [1, 5, 97, 50_000] {
            let mut asked: Vec<K> = (0..250_000).step_by(apart).map(key).collect();
            asked.sort_unstable();
            asked.dedup();
            let mut known = Vec::new();
            run.find(&asked, &mut known).unwrap();
            let expected: Vec<K> =
                asked.iter().copied().filter(|key| kept.binary_search(key).is_ok()).collect();
            assert_eq!(known, expected);
        }
        let mut empty = Run::<K>::write(&InMemory, &[]).unwrap();
        let mut known = Vec::new();
        empty.find(&kept, &mut known).unwrap();
        assert!(known.is_empty());
    }

    #[test]
    fn runs_find_what_was_written() {
        finds::<u64>();
        finds::<(u64, u64)>();
    }
}
