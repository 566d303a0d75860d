//! Connections from each process to each other one.
//!
//! Process `i` listens for those after it, and connects to those before it. Every connection has two threads: one writes what was queued, and a
//! sign of life when nothing was; one reads, and stops reading while much waits to be taken, so that the sender has to wait, too.
//! A connection that ends without goodbye, says nothing for some time, or sends what makes no sense, fails with a reason; then the
//! processes cannot go on together, and all of them stop.
//!
//! A frame is a kind, a length of four bytes, and so many bytes. A reader takes memory as bytes arrive, not as the length says.

use std::collections::VecDeque;
use std::io::{BufReader, ErrorKind, Read, Result as Done, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use allways_explore::exchange::Exchange;

use crate::handshake::{self, Identity, Refusal};
use crate::hosts;

/// Bytes that wait to be sent before no more should be made, and that wait to be taken before no more are read: of all connections, and of one at
/// least and at most. Queues are for processes that are not in step; more in them only takes memory.
const CONGESTED: usize = 32 << 20;
const CONGESTED_EACH: std::ops::RangeInclusive<usize> = (512 << 10)..=(4 << 20);
/// Of one frame.
const MAX_FRAME: usize = 1 << 30;
/// Of a reason to stop.
const MAX_REASON: usize = 500;
/// How long one look waits.
const LOOK: Duration = Duration::from_millis(20);
/// The time that a new connection has to identify itself, however slowly its bytes come.
const GREETING: Duration = Duration::from_secs(5);
/// Between two attempts to connect.
const RETRY: Duration = Duration::from_millis(30);

const MESSAGE: u8 = 0;
const ALIVE: u8 = 1;
const GOODBYE: u8 = 2;
const FAILED: u8 = 3;

/// How processes are connected.
#[derive(Clone, Debug)]
pub struct Settings {
    pub secret: Vec<u8>,
    /// Of program, test and options.
    pub job: [u8; 32],
    /// How long to wait for the others to come.
    pub connect: Duration,
    /// How long another process may say nothing.
    pub silence: Duration,
}

#[derive(Default)]
struct Peer {
    incoming: VecDeque<Vec<u8>>,
    n_incoming: usize,
    outgoing: VecDeque<(u8, Vec<u8>)>,
    n_outgoing: usize,
    /// It has said goodbye.
    is_done: bool,
    /// Nothing more is written to it.
    is_shut: bool,
}

#[derive(Default)]
struct State {
    peers: Vec<Peer>,
    failure: Option<String>,
    /// No more is sent.
    is_closing: bool,
    /// Messages that have come, and how many of these the last wait knew of. Some may have to lie there for long, and are no news then.
    n_arrived: u64,
    n_known: u64,
    n_sent: u64,
}

struct Inner {
    number: usize,
    silence: Duration,
    /// Bytes of one connection.
    congested: usize,
    state: Mutex<State>,
    change: Condvar,
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn fail(&self, why: String) {
        self.lock().failure.get_or_insert(why);
        self.change.notify_all();
    }
}

/// The other processes.
pub struct Mesh {
    inner: Arc<Inner>,
    streams: Vec<Option<TcpStream>>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

/// A socket that listens where the host file says, and nowhere else.
///
/// # Errors
/// When that is not possible.
pub fn listen(host: &str) -> Result<TcpListener, String> {
    let address = hosts::resolve(host)?;
    TcpListener::bind(address).map_err(|error| format!("cannot listen on {host}: {error}"))
}

impl Mesh {
    /// Connects to all others.
    ///
    /// # Errors
    /// Which process could not be reached, or was refused, and why.
    pub fn connect(
        listener: &TcpListener,
        hosts: &[String],
        number: usize,
        settings: &Settings,
    ) -> Result<Self, String> {
        let n = hosts.len();
        let mine = Identity { process: number as u32, n_processes: n as u32, job: settings.job };
        let deadline = Instant::now() + settings.connect;
        let mut streams: Vec<Option<TcpStream>> = (0..n).map(|_| None).collect();
        for (other, host) in hosts.iter().enumerate().take(number) {
            streams[other] = Some(connect_to(other, host, &mine, settings, deadline)?);
        }
        accept_others(listener, &mut streams, number, &mine, settings, deadline)?;
        let inner = Arc::new(Inner {
            number,
            silence: settings.silence,
            congested: (CONGESTED / n).clamp(*CONGESTED_EACH.start(), *CONGESTED_EACH.end()),
            state: Mutex::new(State { peers: (0..n).map(|_| Peer::default()).collect(), ..State::default() }),
            change: Condvar::new(),
        });
        let mut threads = Vec::new();
        for (other, stream) in streams.iter().enumerate() {
            let Some(stream) = stream else { continue };
            let clone = || stream.try_clone().map_err(|error| format!("process {other}: {error}"));
            let (reading, writing) = (clone()?, clone()?);
            let start = |name: String, work: Box<dyn FnOnce() + Send>| {
                std::thread::Builder::new().name(name).spawn(work).map_err(|error| error.to_string())
            };
            let (of_reader, of_writer) = (inner.clone(), inner.clone());
            threads.push(start(
                format!("from process {other}"),
                Box::new(move || read_frames(&of_reader, other, reading)),
            )?);
            threads.push(start(
                format!("to process {other}"),
                Box::new(move || write_frames(&of_writer, other, writing)),
            )?);
        }
        Ok(Mesh { inner, streams, threads: Mutex::new(threads) })
    }

    /// Bytes that were sent so far.
    pub fn n_sent(&self) -> u64 {
        self.inner.lock().n_sent
    }

    /// Sends what is queued and says goodbye, or why this process stops before its work is done. Returns when all of it was written, or cannot
    /// be.
    pub fn close(&self, failure: Option<&str>) {
        {
            let mut state = self.inner.lock();
            if state.is_closing {
                return;
            }
            state.is_closing = true;
            let last = match failure {
                None => (GOODBYE, Vec::new()),
                Some(why) => (FAILED, why.bytes().take(MAX_REASON).collect()),
            };
            for peer in &mut state.peers {
                peer.outgoing.push_back(last.clone());
            }
        }
        self.inner.change.notify_all();
        let deadline = Instant::now() + self.inner.silence;
        let mut state = self.inner.lock();
        let is_left = |state: &State| {
            let others = state.peers.iter().enumerate().filter(|&(other, _)| other != self.inner.number);
            others.into_iter().any(|(_, peer)| !peer.is_shut)
        };
        while is_left(&state) && Instant::now() < deadline {
            let waited = self.inner.change.wait_timeout(state, LOOK);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        drop(state);
        // Both threads of a connection end with it.
        for stream in self.streams.iter().flatten() {
            let _ = stream.shutdown(Shutdown::Both);
        }
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        for thread in threads {
            let _ = thread.join();
        }
    }
}

impl Drop for Mesh {
    fn drop(&mut self) {
        self.close(Some("it stopped"));
    }
}

/// A connection with a deadline. A limit on each read alone would let a peer that sends byte after byte keep the others waiting.
struct Timed<'s> {
    stream: &'s TcpStream,
    until: Instant,
}

impl Timed<'_> {
    fn left(&self) -> Done<Option<Duration>> {
        let left = self.until.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(ErrorKind::TimedOut.into()) } else { Ok(Some(left)) }
    }
}

impl Read for Timed<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> Done<usize> {
        self.stream.set_read_timeout(self.left()?)?;
        self.stream.read(bytes)
    }
}

impl Write for Timed<'_> {
    fn write(&mut self, bytes: &[u8]) -> Done<usize> {
        self.stream.set_write_timeout(self.left()?)?;
        self.stream.write(bytes)
    }

    fn flush(&mut self) -> Done<()> {
        self.stream.flush()
    }
}

fn connect_to(
    other: usize,
    host: &str,
    mine: &Identity,
    settings: &Settings,
    deadline: Instant,
) -> Result<TcpStream, String> {
    loop {
        // A name may come to mean something while the others are started.
        let found = hosts::resolve(host).and_then(|address| {
            TcpStream::connect_timeout(&address, GREETING).map_err(|error| error.to_string())
        });
        let last = match found {
            Ok(stream) => {
                let mut greeted = Timed { stream: &stream, until: Instant::now() + GREETING };
                match handshake::connect(&mut greeted, &settings.secret, mine, other as u32) {
                    Ok(()) => {
                        let _ = stream.set_nodelay(true);
                        return Ok(stream);
                    }
                    Err(Refusal::Lost) => Refusal::Lost.to_string(),
                    // As it sees this one.
                    Err(Refusal::OtherVersion(0)) => {
                        return Err(format!(
                            "process {other} at {host} speaks another version of the protocol"
                        ));
                    }
                    Err(refusal) => {
                        return Err(format!("process {other} at {host} does not match: {refusal}"));
                    }
                }
            }
            Err(error) => error,
        };
        if Instant::now() >= deadline {
            return Err(format!("process {other} at {host} cannot be reached: {last}"));
        }
        std::thread::sleep(RETRY);
    }
}

fn accept_others(
    listener: &TcpListener,
    streams: &mut [Option<TcpStream>],
    number: usize,
    mine: &Identity,
    settings: &Settings,
    deadline: Instant,
) -> Result<(), String> {
    listener.set_nonblocking(true).map_err(|error| error.to_string())?;
    let mut refused = String::new();
    while let Some(missing) = (number + 1..streams.len()).find(|&other| streams[other].is_none()) {
        match listener.accept() {
            Ok((stream, from)) => {
                let _ = stream.set_nonblocking(false);
                let mut greeted = Timed { stream: &stream, until: Instant::now() + GREETING };
                let is_expected = |other: u32| {
                    let other = other as usize;
                    other > number && streams.get(other).is_some_and(Option::is_none)
                };
                match handshake::accept(&mut greeted, &settings.secret, mine, is_expected) {
                    Ok(other) => {
                        let _ = stream.set_nodelay(true);
                        streams[other as usize] = Some(stream);
                    }
                    Err(refusal) => refused = format!("; {from} was refused: {refusal}"),
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if Instant::now() >= deadline {
                    return Err(format!("process {missing} did not connect{refused}"));
                }
                std::thread::sleep(RETRY);
            }
            Err(error) => return Err(error.to_string()),
        }
    }
    Ok(())
}

/// Reads a frame: its kind, and what is in it.
///
/// # Errors
/// What is wrong with it, in words.
pub fn read_frame(stream: &mut impl Read) -> Result<(u8, Vec<u8>), String> {
    let mut header = [0; 5];
    stream.read_exact(&mut header).map_err(|error| in_words(&error))?;
    let n = u32::from_le_bytes([header[1], header[2], header[3], header[4]]) as usize;
    let most = match header[0] {
        MESSAGE => MAX_FRAME,
        ALIVE | GOODBYE => 0,
        FAILED => MAX_REASON,
        _ => return Err("it sent a frame of no known kind".to_owned()),
    };
    if n > most {
        return Err(format!("it sent a frame of {n} bytes"));
    }
    let mut bytes = Vec::new();
    stream.take(n as u64).read_to_end(&mut bytes).map_err(|error| in_words(&error))?;
    if bytes.len() < n { Err("it ended in the middle of a frame".to_owned()) } else { Ok((header[0], bytes)) }
}

fn in_words(error: &std::io::Error) -> String {
    match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => "it said nothing for too long".to_owned(),
        ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset => "it ended without goodbye".to_owned(),
        _ => error.to_string(),
    }
}

fn read_frames(inner: &Inner, from: usize, stream: TcpStream) {
    let _ = stream.set_read_timeout(Some(inner.silence));
    let mut stream = BufReader::with_capacity(1 << 16, stream);
    loop {
        let frame = read_frame(&mut stream);
        let mut state = inner.lock();
        match frame {
            Ok((MESSAGE, message)) => {
                let peer = &mut state.peers[from];
                peer.n_incoming += message.len();
                peer.incoming.push_back(message);
                state.n_arrived += 1;
                inner.change.notify_all();
                // Until there is room: the other end waits, too.
                while state.peers[from].n_incoming > inner.congested
                    && !state.is_closing
                    && state.failure.is_none()
                {
                    state = inner.change.wait(state).unwrap_or_else(PoisonError::into_inner);
                }
            }
            Ok((ALIVE, _)) => {}
            Ok((GOODBYE, _)) => {
                state.peers[from].is_done = true;
                drop(state);
                inner.change.notify_all();
                return;
            }
            Ok((_, reason)) => {
                let why = String::from_utf8_lossy(&reason).into_owned();
                let is_closing = state.is_closing;
                drop(state);
                if !is_closing {
                    inner.fail(format!("process {from}: {why}"));
                }
                return;
            }
            Err(why) => {
                let is_closing = state.is_closing;
                drop(state);
                if !is_closing {
                    inner.fail(format!("process {from}: {why}"));
                }
                return;
            }
        }
    }
}

/// Writes all of it, however long the other end takes, unless `is_over`. One that reads nothing may be busy, say with a checkpoint; whether it
/// lives is for the thread that reads its signs of life.
fn write_all(stream: &mut impl Write, mut bytes: &[u8], is_over: &dyn Fn() -> bool) -> Done<()> {
    while !bytes.is_empty() {
        match stream.write(bytes) {
            Ok(0) => return Err(ErrorKind::WriteZero.into()),
            Ok(n) => bytes = &bytes[n..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) && !is_over() => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

fn write_frames(inner: &Inner, to: usize, mut stream: TcpStream) {
    // Signs of life come often enough that one may be late.
    let pause = (inner.silence / 4).min(Duration::from_secs(1));
    let _ = stream.set_write_timeout(Some(pause.max(Duration::from_millis(1))));
    let is_over = || inner.lock().failure.is_some();
    loop {
        let next = {
            let mut state = inner.lock();
            let start = Instant::now();
            while state.peers[to].outgoing.is_empty() && start.elapsed() < pause {
                let waited = inner.change.wait_timeout(state, pause);
                state = waited.unwrap_or_else(PoisonError::into_inner).0;
            }
            let next = state.peers[to].outgoing.pop_front();
            if let Some((_, bytes)) = &next {
                state.peers[to].n_outgoing -= bytes.len().min(state.peers[to].n_outgoing);
                state.n_sent += bytes.len() as u64 + 5;
                inner.change.notify_all();
            }
            next
        };
        let (kind, bytes) = next.unwrap_or((ALIVE, Vec::new()));
        let mut header = [kind, 0, 0, 0, 0];
        header[1..].copy_from_slice(&(bytes.len() as u32).to_le_bytes());
        let written =
            write_all(&mut stream, &header, &is_over).and_then(|()| write_all(&mut stream, &bytes, &is_over));
        let is_last = matches!(kind, GOODBYE | FAILED);
        if is_last || written.is_err() {
            let mut state = inner.lock();
            state.peers[to].is_shut = true;
            let is_done = state.is_closing || state.peers[to].is_done;
            drop(state);
            let _ = stream.shutdown(Shutdown::Write);
            if let (Err(error), false) = (&written, is_done) {
                inner.fail(format!("process {to}: {}", in_words(error)));
            }
            inner.change.notify_all();
            return;
        }
    }
}

impl Exchange for Mesh {
    fn number(&self) -> usize {
        self.inner.number
    }

    fn n_processes(&self) -> usize {
        self.streams.len()
    }

    fn send(&self, to: usize, message: Vec<u8>) {
        let is_too_long = message.len() > MAX_FRAME;
        let mut state = self.inner.lock();
        if is_too_long {
            state.failure.get_or_insert(format!("a message of {} bytes is too long", message.len()));
        } else {
            state.peers[to].n_outgoing += message.len();
            state.peers[to].outgoing.push_back((MESSAGE, message));
        }
        drop(state);
        self.inner.change.notify_all();
    }

    fn take(&self, from: usize) -> Option<Vec<u8>> {
        let mut state = self.inner.lock();
        let message = state.peers[from].incoming.pop_front()?;
        state.peers[from].n_incoming -= message.len();
        drop(state);
        self.inner.change.notify_all();
        Some(message)
    }

    fn is_congested(&self) -> bool {
        self.inner.lock().peers.iter().any(|peer| peer.n_outgoing > self.inner.congested)
    }

    fn wait(&self) {
        let mut state = self.inner.lock();
        let has_news = state.n_arrived != state.n_known;
        state.n_known = state.n_arrived;
        if !has_news && state.failure.is_none() {
            drop(self.inner.change.wait_timeout(state, LOOK));
        }
    }

    fn failure(&self) -> Option<String> {
        self.inner.lock().failure.clone()
    }

    fn has_left(&self, process: usize) -> bool {
        let peer = &self.inner.lock().peers[process];
        peer.is_done && peer.incoming.is_empty()
    }

    fn fail(&self, with: usize, why: &str) {
        if let Some(stream) = &self.streams[with] {
            let _ = stream.shutdown(Shutdown::Both);
        }
        self.inner.fail(format!("process {with}: {why}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Takes three bytes at a time, and none every other time.
    #[derive(Default)]
    struct Busy {
        taken: Vec<u8>,
        n_calls: u32,
    }

    impl Write for Busy {
        fn write(&mut self, bytes: &[u8]) -> Done<usize> {
            self.n_calls += 1;
            if self.n_calls % 2 == 1 {
                return Err(ErrorKind::WouldBlock.into());
            }
            let n = bytes.len().min(3);
            self.taken.extend_from_slice(&bytes[..n]);
            Ok(n)
        }

        fn flush(&mut self) -> Done<()> {
            Ok(())
        }
    }

    #[test]
    fn a_process_that_is_busy_is_not_lost() {
        let mut busy = Busy::default();
        write_all(&mut busy, b"a message", &|| false).unwrap();
        assert_eq!(busy.taken, b"a message");
        let over = write_all(&mut Busy::default(), b"a message", &|| true);
        assert_eq!(over.unwrap_err().kind(), ErrorKind::WouldBlock);
    }

    #[test]
    fn a_stranger_has_so_much_time_in_all() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let mut stranger = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        stranger.write_all(&[1; 44]).unwrap();
        let (stream, _) = listener.accept().unwrap();
        let mut timed = Timed { stream: &stream, until: Instant::now() + Duration::from_secs(60) };
        timed.read_exact(&mut [0]).unwrap();
        timed.until = Instant::now();
        assert_eq!(timed.read(&mut [0]).unwrap_err().kind(), ErrorKind::TimedOut);
        assert_eq!(timed.write(&[0]).unwrap_err().kind(), ErrorKind::TimedOut);
    }

    #[test]
    fn frames_take_no_more_memory_than_has_arrived() {
        let frame = |kind: u8, n: u32, bytes: &[u8]| [&[kind][..], &n.to_le_bytes(), bytes].concat();
        assert_eq!(read_frame(&mut &frame(MESSAGE, 3, b"abc")[..]), Ok((MESSAGE, b"abc".to_vec())));
        let huge = read_frame(&mut &frame(MESSAGE, 1 << 29, b"abc")[..]);
        assert_eq!(huge.unwrap_err(), "it ended in the middle of a frame");
        let huge = read_frame(&mut &frame(MESSAGE, u32::MAX, b"abc")[..]);
        assert_eq!(huge.unwrap_err(), "it sent a frame of 4294967295 bytes");
        assert_eq!(read_frame(&mut &frame(ALIVE, 1, b"a")[..]).unwrap_err(), "it sent a frame of 1 bytes");
        assert!(read_frame(&mut &frame(9, 0, b"")[..]).is_err());
        assert_eq!(read_frame(&mut &frame(MESSAGE, 3, b"abc")[..4]).unwrap_err(), "it ended without goodbye");
    }
}
