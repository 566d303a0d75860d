//! Layers of a search in a folder.
//!
//! The folder says what it belongs to, in a text file, and has a folder for each search (the same question may be searched several times, with
//! more known about its data each time). In there, each process writes two files a commit: keys that are new since its last one, and the frontier. They are
//! written under other names, synced, and renamed; a layer counts once all files of all processes are there. Every file ends with a
//! hash of its content. A run that resumes begins a new *generation*, whose files say which layer of which generation they go on from, so
//! that what an earlier run has written after that layer does not count.
//!
//! Several processes need one folder that all of them see.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{BufReader, BufWriter, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use allways_explore::search::distribute::{Checkpoint, SavedLayer, ShowBlock, WriteFrontier};
use sha2::{Digest, Sha256};

/// Of the format of all files. Another version is refused.
pub const VERSION: u32 = 2;

const NAME: &str = "allways-checkpoint";
const MAGIC: [u8; 8] = *b"ALLWAYSK";
/// In place of a length: the hash follows.
const END: u32 = u32::MAX;
/// Of one piece.
const MAX_PIECE: u32 = 1 << 30;

/// What a folder belongs to: names and values, one on each line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Belongs(pub Vec<(&'static str, String)>);

impl Belongs {
    fn text(&self) -> String {
        let lines = self.0.iter().map(|(name, value)| format!("{name} {}\n", value.replace('\n', " ")));
        format!("{NAME} {VERSION}\n{}", lines.collect::<String>())
    }

    /// Why a folder with this text is another one's.
    fn difference(&self, text: &str) -> Option<String> {
        let mut lines = text.lines();
        let first = lines.next().unwrap_or_default();
        let version = first.strip_prefix(NAME).map(str::trim);
        match version {
            None => return Some("it is no checkpoint of Allways".to_owned()),
            Some(version) if version != VERSION.to_string() => {
                return Some(format!("it has format version {version}, and this is version {VERSION}"));
            }
            Some(_) => {}
        }
        for (name, value) in &self.0 {
            let value = value.replace('\n', " ");
            let kept = lines.next().and_then(|line| line.strip_prefix(name)).map(str::trim);
            if kept != Some(value.trim()) {
                let kept = kept.unwrap_or("nothing");
                return Some(format!("its {name} is `{kept}`, and here it is `{value}`"));
            }
        }
        None
    }
}

/// A folder, as one process sees it.
pub struct Folder {
    root: PathBuf,
    every: Duration,
    inner: Mutex<Inner>,
}

#[derive(Default)]
struct Inner {
    /// Of the search at hand.
    folder: PathBuf,
    process: usize,
    n_processes: usize,
    generation: u32,
    /// What the generation goes on from.
    base: Option<(u32, u64)>,
    /// Files of keys to read, and of the frontier.
    keys_files: Vec<PathBuf>,
    frontier_files: Vec<PathBuf>,
    /// Keys since the last commit, on their way into a file.
    keys: Option<Writer>,
    last: Option<Instant>,
    /// Depths that were committed by this process and whose frontier is still there.
    committed: Vec<u64>,
    resumed: Option<u64>,
}

/// A name: kind, generation, depth, process of how many.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Name {
    is_frontier: bool,
    generation: u32,
    depth: u64,
    process: usize,
    n_processes: usize,
}

impl Name {
    fn text(&self) -> String {
        let Name { is_frontier, generation, depth, process, n_processes } = self;
        let kind = if *is_frontier { "frontier" } else { "keys" };
        format!("{kind}-{generation}-{depth}-{process}-{n_processes}")
    }

    fn parse(text: &str) -> Option<Name> {
        let mut parts = text.split('-');
        let is_frontier = match parts.next()? {
            "frontier" => true,
            "keys" => false,
            _ => return None,
        };
        let name = Name {
            is_frontier,
            generation: parts.next()?.parse().ok()?,
            depth: parts.next()?.parse().ok()?,
            process: parts.next()?.parse().ok()?,
            n_processes: parts.next()?.parse().ok()?,
        };
        (parts.next().is_none() && name.text() == text).then_some(name)
    }
}

/// Writes a file of pieces.
struct Writer {
    file: BufWriter<File>,
    hash: Sha256,
    path: PathBuf,
}

fn at(path: &Path, error: &std::io::Error) -> String {
    format!("checkpoint {}: {error}", path.display())
}

impl Writer {
    fn new(path: PathBuf, base: Option<(u32, u64)>) -> Result<Self, String> {
        let file = File::create(&path).map_err(|error| at(&path, &error))?;
        let mut writer = Writer { file: BufWriter::with_capacity(1 << 17, file), hash: Sha256::new(), path };
        let (generation, depth) = base.map_or((0, 0), |(generation, depth)| (generation + 1, depth));
        let mut header = [0; 24];
        header[..8].copy_from_slice(&MAGIC);
        header[8..12].copy_from_slice(&VERSION.to_le_bytes());
        header[12..16].copy_from_slice(&generation.to_le_bytes());
        header[16..].copy_from_slice(&depth.to_le_bytes());
        writer.raw(&header)?;
        Ok(writer)
    }

    fn raw(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.hash.update(bytes);
        self.file.write_all(bytes).map_err(|error| at(&self.path, &error))
    }

    fn piece(&mut self, bytes: &[u8]) -> Result<(), String> {
        for piece in bytes.chunks(MAX_PIECE as usize) {
            self.raw(&(piece.len() as u32).to_le_bytes())?;
            self.raw(piece)?;
        }
        Ok(())
    }

    /// Ends the file, and gives it its name once all of it is on disk.
    fn finish(mut self, name: &Path) -> Result<(), String> {
        self.raw(&END.to_le_bytes())?;
        let hash = self.hash.clone().finalize();
        let written = self.file.write_all(&hash).and_then(|()| self.file.flush());
        let synced = written.and_then(|()| self.file.get_ref().sync_all());
        synced.and_then(|()| fs::rename(&self.path, name)).map_err(|error| at(&self.path, &error))
    }
}

/// What a generation goes on from: a layer of a generation.
type Base = Option<(u32, u64)>;

fn read_header(file: &mut impl Read) -> Result<([u8; 24], Base), String> {
    let mut header = [0; 24];
    file.read_exact(&mut header).map_err(|_| "it ends early".to_owned())?;
    let word = |from: usize| {
        u32::from_le_bytes([header[from], header[from + 1], header[from + 2], header[from + 3]])
    };
    if header[..8] != MAGIC {
        return Err("it is no part of a checkpoint".to_owned());
    }
    if word(8) != VERSION {
        return Err(format!("it has format version {}, and this is version {VERSION}", word(8)));
    }
    let depth = u64::from(word(16)) | u64::from(word(20)) << 32;
    Ok((header, word(12).checked_sub(1).map(|generation| (generation, depth))))
}

/// Shows the pieces of a file of this format, and says what is wrong with it.
///
/// # Errors
/// When it is damaged, or `show` says so.
pub fn read_pieces(
    file: &mut impl Read,
    show: &mut dyn FnMut(&[u8]) -> Result<(), String>,
) -> Result<(), String> {
    let early = |_| "it ends early".to_owned();
    let (header, _) = read_header(file)?;
    let mut hash = Sha256::new();
    hash.update(header);
    let mut piece = Vec::new();
    loop {
        let mut length = [0; 4];
        file.read_exact(&mut length).map_err(early)?;
        hash.update(length);
        let n = u32::from_le_bytes(length);
        if n == END {
            break;
        }
        if n > MAX_PIECE {
            return Err("a part of it is too long".to_owned());
        }
        piece.clear();
        file.take(u64::from(n)).read_to_end(&mut piece).map_err(|error| error.to_string())?;
        if piece.len() < n as usize {
            return Err("it ends early".to_owned());
        }
        hash.update(&piece);
        show(&piece)?;
    }
    let mut kept = [0; 32];
    file.read_exact(&mut kept).map_err(early)?;
    if kept[..] != hash.finalize()[..] {
        return Err("its content is not what was written".to_owned());
    }
    match file.read(&mut [0]) {
        Ok(0) => Ok(()),
        _ => Err("something follows its end".to_owned()),
    }
}

fn read_file(path: &Path, show: &mut dyn FnMut(&[u8]) -> Result<(), String>) -> Result<(), String> {
    let damaged = |why: String| format!("checkpoint {}: {why}", path.display());
    let file = File::open(path).map_err(|error| damaged(error.to_string()))?;
    read_pieces(&mut BufReader::with_capacity(1 << 17, file), show).map_err(damaged)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash of texts, as a folder's text and the processes of a cluster name them.
pub fn hash_of<'t>(texts: impl Iterator<Item = &'t str>) -> [u8; 32] {
    let mut hash = Sha256::new();
    for text in texts {
        hash.update((text.len() as u64).to_le_bytes());
        hash.update(text);
    }
    hash.finalize().into()
}

/// The same, to be read.
pub fn name_of<'t>(texts: impl Iterator<Item = &'t str>) -> String {
    hex(&hash_of(texts))
}

impl Folder {
    /// A folder that is made if there is none, with a commit at the first layer that ends after `every`.
    ///
    /// # Errors
    /// When it belongs to something else, or cannot be used.
    pub fn new(root: &Path, belongs: &Belongs, every: Duration) -> Result<Self, String> {
        fs::create_dir_all(root).map_err(|error| at(root, &error))?;
        let name = root.join(NAME);
        match fs::read_to_string(&name) {
            Ok(text) => {
                if let Some(why) = belongs.difference(&text) {
                    return Err(format!("checkpoint {}: {why}", root.display()));
                }
            }
            Err(error) if error.kind() == ErrorKind::NotFound => {
                let is_empty = fs::read_dir(root).is_ok_and(|mut entries| {
                    // Another process may be about to write the same.
                    entries.all(|entry| {
                        entry.is_ok_and(|entry| entry.file_name().to_string_lossy().starts_with(NAME))
                    })
                });
                if !is_empty {
                    return Err(format!("checkpoint {}: there is something else in it", root.display()));
                }
                let other = root.join(format!("{NAME}.{}", std::process::id()));
                let written = fs::write(&other, belongs.text()).and_then(|()| fs::rename(&other, &name));
                written.map_err(|error| at(&name, &error))?;
            }
            Err(error) => return Err(at(&name, &error)),
        }
        Ok(Folder { root: root.to_owned(), every, inner: Mutex::default() })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The layer that the search went on from, if it did.
    pub fn resumed(&self) -> Option<u64> {
        self.lock().resumed
    }
}

/// The layers that are whole, with the number of processes that wrote them.
fn whole_layers(names: &BTreeSet<Name>) -> Vec<(u32, u64, usize)> {
    let mut parts: BTreeMap<(u32, u64, usize), usize> = BTreeMap::new();
    for name in names {
        *parts.entry((name.generation, name.depth, name.n_processes)).or_default() += 1;
    }
    let is_whole = |&(&(_, _, n_processes), &n_files): &(&_, &usize)| n_files == 2 * n_processes;
    parts.iter().filter(is_whole).map(|(&layer, _)| layer).collect()
}

impl Checkpoint for Folder {
    fn open(&self, label: &str, process: usize, n_processes: usize) -> Result<Option<SavedLayer>, String> {
        let folder = self.root.join(&name_of(std::iter::once(label))[..16]);
        fs::create_dir_all(&folder).map_err(|error| at(&folder, &error))?;
        let mut names = BTreeSet::new();
        for entry in fs::read_dir(&folder).map_err(|error| at(&folder, &error))? {
            let entry = entry.map_err(|error| at(&folder, &error))?;
            names.extend(Name::parse(&entry.file_name().to_string_lossy()));
        }
        let newest =
            whole_layers(&names).into_iter().max_by_key(|&(generation, depth, _)| (depth, generation));
        let mut inner = Inner {
            folder: folder.clone(),
            process,
            n_processes,
            // Of whatever was begun, too.
            generation: names.iter().map(|name| name.generation + 1).max().unwrap_or(0),
            base: newest.map(|(generation, depth, _)| (generation, depth)),
            last: Some(Instant::now()),
            resumed: newest.map(|(_, depth, _)| depth),
            ..Inner::default()
        };
        // Back from generation to generation.
        let mut at_layer = inner.base;
        let mut n_key_bytes = 0;
        while let Some((generation, depth)) = at_layer {
            let own: Vec<&Name> =
                names.iter().filter(|name| name.generation == generation && name.depth <= depth).collect();
            let keys = own.iter().filter(|name| !name.is_frontier);
            let first = keys.clone().next().map(|name| folder.join(name.text()));
            for name in keys {
                let path = folder.join(name.text());
                n_key_bytes += fs::metadata(&path).map_err(|error| at(&path, &error))?.len();
                inner.keys_files.push(path);
            }
            let Some(first) = first else {
                return Err(format!("checkpoint {}: files are missing", folder.display()));
            };
            let damaged = |why: String| format!("checkpoint {}: {why}", first.display());
            let mut file = File::open(&first).map_err(|error| at(&first, &error))?;
            let (_, base) = read_header(&mut file).map_err(damaged)?;
            if base.is_some_and(|(before, _)| before >= generation) {
                return Err(damaged("it goes on from itself".to_owned()));
            }
            at_layer = base;
        }
        let Some((generation, depth)) = inner.base else {
            *self.lock() = inner;
            return Ok(None);
        };
        let is_frontier = |name: &&Name| name.is_frontier && name.generation == generation;
        inner.frontier_files = names
            .iter()
            .filter(is_frontier)
            .filter(|name| name.depth == depth)
            .map(|name| folder.join(name.text()))
            .collect();
        *self.lock() = inner;
        Ok(Some(SavedLayer { depth, n_key_bytes }))
    }

    fn read_keys(&self, show: &mut dyn FnMut(&[u8])) -> Result<(), String> {
        let files = self.lock().keys_files.clone();
        files.iter().try_for_each(|file| {
            read_file(file, &mut |piece| {
                show(piece);
                Ok(())
            })
        })
    }

    fn read_frontier(&self, show: &mut ShowBlock<'_>) -> Result<(), String> {
        let files = self.lock().frontier_files.clone();
        files.iter().enumerate().try_for_each(|(part, file)| read_file(file, &mut |piece| show(part, piece)))
    }

    fn add_keys(&self, keys: &[u8]) -> Result<(), String> {
        let inner = &mut *self.lock();
        if inner.keys.is_none() {
            let path = inner.folder.join(format!("new-keys-{}", inner.process));
            inner.keys = Some(Writer::new(path, inner.base)?);
        }
        match &mut inner.keys {
            Some(writer) if !keys.is_empty() => writer.piece(keys),
            _ => Ok(()),
        }
    }

    fn is_due(&self) -> bool {
        self.lock().last.is_none_or(|last| last.elapsed() >= self.every)
    }

    fn commit(&self, depth: u64, frontier: &mut WriteFrontier<'_>) -> Result<(), String> {
        self.add_keys(&[])?;
        let inner = &mut *self.lock();
        let name = Name {
            is_frontier: false,
            generation: inner.generation,
            depth,
            process: inner.process,
            n_processes: inner.n_processes,
        };
        let new = inner.folder.join(format!("new-frontier-{}", inner.process));
        let mut writer = Writer::new(new, inner.base)?;
        frontier(&mut |block| writer.piece(block))?;
        if let Some(keys) = inner.keys.take() {
            keys.finish(&inner.folder.join(name.text()))?;
        }
        writer.finish(&inner.folder.join(Name { is_frontier: true, ..name }.text()))?;
        // The names are on disk once the folder is. Not every system lets a folder be synced.
        if let Ok(folder) = File::open(&inner.folder) {
            let _ = folder.sync_all();
        }
        // All processes have committed the layer before, so the one before that is of no use.
        if let Some(position) = inner.committed.len().checked_sub(2) {
            let old = Name { is_frontier: true, depth: inner.committed[position], ..name };
            let _ = fs::remove_file(inner.folder.join(old.text()));
        }
        inner.committed.push(depth);
        inner.last = Some(Instant::now());
        Ok(())
    }
}
