//! Files for what does not fit into memory. Their names are removed as soon as they are open, so nothing is left behind however the process ends.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read, Result, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use allways_explore::search::{Scratch, ScratchFile};

/// A folder in which files are made.
pub struct Spare {
    folder: PathBuf,
    n_written: Arc<AtomicU64>,
}

impl Spare {
    /// A folder, which is made if there is none.
    ///
    /// # Errors
    /// When no file can be made in it.
    pub fn new(folder: &Path) -> std::result::Result<Self, String> {
        let spare = Spare { folder: folder.to_owned(), n_written: Arc::default() };
        let tried = fs::create_dir_all(folder).and_then(|()| spare.file());
        tried.map_err(|error| format!("--spill {}: {error}", folder.display()))?;
        Ok(spare)
    }

    /// Bytes that were written so far.
    pub fn n_written(&self) -> u64 {
        self.n_written.load(Ordering::Relaxed)
    }
}

impl Scratch for Spare {
    fn file(&self) -> Result<Box<dyn ScratchFile>> {
        loop {
            let mut bytes = [0; 8];
            getrandom::fill(&mut bytes).map_err(|error| std::io::Error::other(error.to_string()))?;
            let path = self.folder.join(format!("allways-spill-{:016x}", u64::from_le_bytes(bytes)));
            match OpenOptions::new().read(true).write(true).create_new(true).open(&path) {
                Ok(file) => {
                    // Where an open file keeps its name, it is removed at the end.
                    let left = fs::remove_file(&path).err().map(|_| path);
                    return Ok(Box::new(SpareFile { file, left, n_written: self.n_written.clone() }));
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
    }
}

struct SpareFile {
    file: File,
    left: Option<PathBuf>,
    n_written: Arc<AtomicU64>,
}

impl Drop for SpareFile {
    fn drop(&mut self) {
        if let Some(path) = &self.left {
            let _ = fs::remove_file(path);
        }
    }
}

impl Read for SpareFile {
    fn read(&mut self, bytes: &mut [u8]) -> Result<usize> {
        self.file.read(bytes)
    }
}

impl Write for SpareFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        let n = self.file.write(bytes)?;
        self.n_written.fetch_add(n as u64, Ordering::Relaxed);
        Ok(n)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

impl Seek for SpareFile {
    fn seek(&mut self, to: SeekFrom) -> Result<u64> {
        self.file.seek(to)
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    #[test]
    fn files_have_no_names() {
        let folder = std::env::temp_dir().join(format!("allways-spare-{}", std::process::id()));
        let spare = Spare::new(&folder).unwrap();
        let mut file = spare.file().unwrap();
        file.write_all(b"kept").unwrap();
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        file.seek(SeekFrom::Start(1)).unwrap();
        let mut text = String::new();
        file.read_to_string(&mut text).unwrap();
        assert_eq!((text.as_str(), spare.n_written()), ("ept", 4));
        fs::remove_dir(&folder).unwrap();
        fs::write(&folder, "a file").unwrap();
        assert!(Spare::new(&folder).is_err());
        fs::remove_file(&folder).unwrap();
    }
}
