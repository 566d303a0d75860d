//! Access to files. Everything that the driver reads goes through [`Files`], so that texts which are not on disk, such as those of an
//! editor, can be checked.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A tree of files to read.
pub trait Files {
    fn is_folder(&self, path: &Path) -> bool;

    fn is_file(&self, path: &Path) -> bool;

    /// How large a file is.
    ///
    /// # Errors
    /// When the file cannot be read.
    fn n_bytes(&self, path: &Path) -> io::Result<u64>;

    /// # Errors
    /// When the file cannot be read.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The names of the entries of a folder, in any order. The empty path is the current folder.
    ///
    /// # Errors
    /// When the folder cannot be read.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>>;

    /// One name for all paths to a file.
    fn canonical(&self, path: &Path) -> PathBuf;
}

/// The file system.
#[derive(Clone, Copy, Default, Debug)]
pub struct Disk;

impl Files for Disk {
    fn is_folder(&self, path: &Path) -> bool {
        path.is_dir()
    }

    fn is_file(&self, path: &Path) -> bool {
        path.is_file()
    }

    fn n_bytes(&self, path: &Path) -> io::Result<u64> {
        Ok(fs::metadata(path)?.len())
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        let entries = fs::read_dir(folder)?.filter_map(Result::ok);
        Ok(entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect())
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        fs::canonicalize(path).unwrap_or_else(|_| path.to_owned())
    }
}

/// Texts that take the place of files, over other files.
#[derive(Clone, Default, Debug)]
pub struct Overlay<F> {
    pub below: F,
    texts: BTreeMap<PathBuf, String>,
}

impl<F: Files> Overlay<F> {
    pub fn new(below: F) -> Self {
        Overlay { below, texts: BTreeMap::new() }
    }

    /// The text of a file, whatever is on disk.
    pub fn set(&mut self, path: &Path, text: String) {
        self.texts.insert(self.below.canonical(path), text);
    }

    /// The file is as on disk again.
    pub fn remove(&mut self, path: &Path) {
        self.texts.remove(&self.below.canonical(path));
    }

    fn text(&self, path: &Path) -> Option<&String> {
        self.texts.get(&self.below.canonical(path))
    }
}

impl<F: Files> Files for Overlay<F> {
    fn is_folder(&self, path: &Path) -> bool {
        self.below.is_folder(path)
    }

    fn is_file(&self, path: &Path) -> bool {
        self.text(path).is_some() || self.below.is_file(path)
    }

    fn n_bytes(&self, path: &Path) -> io::Result<u64> {
        match self.text(path) {
            Some(text) => Ok(text.len() as u64),
            None => self.below.n_bytes(path),
        }
    }

    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        match self.text(path) {
            Some(text) => Ok(text.clone().into_bytes()),
            None => self.below.read(path),
        }
    }

    /// With texts of files that are not on disk yet.
    fn list(&self, folder: &Path) -> io::Result<Vec<String>> {
        let mut names = self.below.list(folder)?;
        let here = self.below.canonical(if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let texts = self.texts.keys().filter(|path| path.parent() == Some(&here));
        let new = texts.filter_map(|path| path.file_name()?.to_str()).map(str::to_owned);
        names.extend(new);
        names.sort();
        names.dedup();
        Ok(names)
    }

    fn canonical(&self, path: &Path) -> PathBuf {
        self.below.canonical(path)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Request, compile_from};

    /// No files at all.
    struct Nothing;

    impl Files for Nothing {
        fn is_folder(&self, path: &Path) -> bool {
            path == Path::new("project")
        }

        fn is_file(&self, _: &Path) -> bool {
            false
        }

        fn n_bytes(&self, _: &Path) -> io::Result<u64> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn read(&self, _: &Path) -> io::Result<Vec<u8>> {
            Err(io::ErrorKind::NotFound.into())
        }

        fn list(&self, _: &Path) -> io::Result<Vec<String>> {
            Ok(Vec::new())
        }

        fn canonical(&self, path: &Path) -> PathBuf {
            path.to_owned()
        }
    }

    const MAIN: &str = "machine Main { start state S { entry { Go(); } } }";

    #[test]
    fn unsaved_texts_are_checked() {
        let mut files = Overlay::new(Nothing);
        files.set(Path::new("project/main.p"), MAIN.to_owned());
        let request = Request { paths: vec!["project".into()], ..Request::default() };
        let broken = compile_from(&files, &request, false);
        assert!(broken.program.is_none());
        assert_eq!(broken.diagnostics[0].code, allways_p::codes::UNKNOWN_FUNCTION);
        files.set(Path::new("project/go.p"), "fun Go() { }".to_owned());
        let whole = compile_from(&files, &request, false);
        assert!(whole.program.is_some(), "{:?}", whole.diagnostics);
        assert_eq!(whole.project.inputs.len(), 2);
        files.remove(Path::new("project/go.p"));
        assert!(compile_from(&files, &request, false).program.is_none());
    }
}
