//! Files that grow faster than a run: what is written is passed on, up to a number of bytes.

use std::io;

pub struct Limited<'a> {
    out: &'a mut dyn io::Write,
    n_left: usize,
}

impl<'a> Limited<'a> {
    /// More than so many bytes are an error of the kind `FileTooLarge`.
    pub fn new(out: &'a mut dyn io::Write, n_bytes: usize) -> Self {
        Limited { out, n_left: n_bytes }
    }
}

impl io::Write for Limited<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.n_left = self.n_left.checked_sub(bytes.len()).ok_or(io::ErrorKind::FileTooLarge)?;
        self.out.write_all(bytes)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
