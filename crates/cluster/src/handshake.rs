//! What two processes prove to each other before either reads any state: that both know the secret, and search the same.
//!
//! Both send a greeting of fixed length: what they are, their version, and a number used once (nonce). The one that connects then sends who it
//! is and a code of that and both nonces under the secret (challenge-response, HMAC); the other checks it, answers with a verdict, and if that is
//! good, with the same of itself. Everything has a fixed length, so nothing that comes from a stranger decides about memory, and a code of one
//! connection is of no use in another. The connection is neither encrypted nor protected afterwards: over networks that others write
//! to, use a tunnel.

use std::io::{Read, Write};

use crate::mac;

/// Of this format. Processes of different versions refuse each other.
pub const VERSION: u32 = 3;

const MAGIC: [u8; 8] = *b"ALLWAYS\n";

/// What a process is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Identity {
    pub process: u32,
    pub n_processes: u32,
    /// Of program, test and options.
    pub job: [u8; 32],
}

impl Identity {
    const LEN: usize = 40;

    fn bytes(&self) -> [u8; Self::LEN] {
        let mut bytes = [0; Self::LEN];
        bytes[..4].copy_from_slice(&self.process.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.n_processes.to_le_bytes());
        bytes[8..].copy_from_slice(&self.job);
        bytes
    }

    fn of(bytes: &[u8; Self::LEN]) -> Identity {
        let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let mut job = [0; 32];
        job.copy_from_slice(&bytes[8..]);
        Identity { process: word(0), n_processes: word(4), job }
    }
}

/// Why a process is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refusal {
    NotAllways,
    OtherVersion(u32),
    WrongSecret,
    OtherJob,
    OtherCluster,
    /// It is not the process that is expected, or is there already.
    Unexpected,
    /// The connection ended, or took too long.
    Lost,
}

impl std::fmt::Display for Refusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Refusal::NotAllways => f.write_str("it is no process of Allways"),
            Refusal::OtherVersion(version) => {
                write!(f, "it speaks version {version} of the protocol, this process version {VERSION}")
            }
            Refusal::WrongSecret => f.write_str("it does not know the secret"),
            Refusal::OtherJob => f.write_str("it searches another program, or with other options"),
            Refusal::OtherCluster => f.write_str("it belongs to a cluster of another size"),
            Refusal::Unexpected => f.write_str("it is not the process that was expected"),
            Refusal::Lost => f.write_str("the connection ended before it said who it is"),
        }
    }
}

const GOOD: u8 = 0;

impl Refusal {
    /// For the wire.
    fn code(self) -> u8 {
        match self {
            Refusal::NotAllways => 1,
            Refusal::OtherVersion(_) => 2,
            Refusal::WrongSecret => 3,
            Refusal::OtherJob => 4,
            Refusal::OtherCluster => 5,
            Refusal::Unexpected => 6,
            Refusal::Lost => 7,
        }
    }

    /// As the other end sees it.
    fn of_code(code: u8) -> Refusal {
        match code {
            2 => Refusal::OtherVersion(0),
            3 => Refusal::WrongSecret,
            4 => Refusal::OtherJob,
            5 => Refusal::OtherCluster,
            6 => Refusal::Unexpected,
            _ => Refusal::Lost,
        }
    }
}

fn read<const N: usize>(stream: &mut impl Read) -> Result<[u8; N], Refusal> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes).map_err(|_| Refusal::Lost)?;
    Ok(bytes)
}

fn write(stream: &mut impl Write, bytes: &[u8]) -> Result<(), Refusal> {
    stream.write_all(bytes).and_then(|()| stream.flush()).map_err(|_| Refusal::Lost)
}

/// Sends a greeting and reads the other one; the nonces of both.
fn greet(stream: &mut (impl Read + Write), version: u32) -> Result<([u8; 32], [u8; 32]), Refusal> {
    let mut nonce = [0; 32];
    getrandom::fill(&mut nonce).map_err(|_| Refusal::Lost)?;
    let mut greeting = [0; 44];
    greeting[..8].copy_from_slice(&MAGIC);
    greeting[8..12].copy_from_slice(&version.to_le_bytes());
    greeting[12..].copy_from_slice(&nonce);
    write(stream, &greeting)?;
    let other: [u8; 44] = read(stream)?;
    if other[..8] != MAGIC {
        return Err(Refusal::NotAllways);
    }
    let other_version = u32::from_le_bytes([other[8], other[9], other[10], other[11]]);
    if other_version != version {
        return Err(Refusal::OtherVersion(other_version));
    }
    let mut other_nonce = [0; 32];
    other_nonce.copy_from_slice(&other[12..]);
    Ok((nonce, other_nonce))
}

const CONNECTS: &[u8] = b"connects";
const ACCEPTS: &[u8] = b"accepts";

fn proof(secret: &[u8], role: &[u8], nonces: [&[u8; 32]; 2], identity: &Identity) -> [u8; mac::LEN] {
    mac::code(secret, &[role, nonces[0], nonces[1], &identity.bytes()])
}

/// Reads the identity of the other end, and whether it knows the secret.
fn read_identity(
    stream: &mut impl Read,
    secret: &[u8],
    role: &[u8],
    nonces: [&[u8; 32]; 2],
) -> Result<Identity, Refusal> {
    let identity: [u8; Identity::LEN] = read(stream)?;
    let code: [u8; mac::LEN] = read(stream)?;
    let identity = Identity::of(&identity);
    match mac::are_equal(&code, &proof(secret, role, nonces, &identity)) {
        true => Ok(identity),
        false => Err(Refusal::WrongSecret),
    }
}

fn judge(mine: &Identity, other: &Identity) -> Result<(), Refusal> {
    if other.n_processes != mine.n_processes {
        return Err(Refusal::OtherCluster);
    }
    if other.job != mine.job {
        return Err(Refusal::OtherJob);
    }
    Ok(())
}

/// The end that connects, to a process that it expects there.
///
/// # Errors
/// Why it goes no further.
pub fn connect(
    stream: &mut (impl Read + Write),
    secret: &[u8],
    mine: &Identity,
    expected: u32,
) -> Result<(), Refusal> {
    connect_as(stream, secret, mine, expected, VERSION)
}

fn connect_as(
    stream: &mut (impl Read + Write),
    secret: &[u8],
    mine: &Identity,
    expected: u32,
    version: u32,
) -> Result<(), Refusal> {
    let (nonce, other_nonce) = greet(stream, version)?;
    let nonces = [&nonce, &other_nonce];
    write(stream, &mine.bytes())?;
    write(stream, &proof(secret, CONNECTS, nonces, mine))?;
    let [verdict] = read(stream)?;
    if verdict != GOOD {
        return Err(Refusal::of_code(verdict));
    }
    let other = read_identity(stream, secret, ACCEPTS, nonces)?;
    judge(mine, &other)?;
    if other.process == expected { Ok(()) } else { Err(Refusal::Unexpected) }
}

/// The end that accepts: which process it is. `is_expected` says whether that may connect.
///
/// # Errors
/// Why it goes no further.
pub fn accept(
    stream: &mut (impl Read + Write),
    secret: &[u8],
    mine: &Identity,
    is_expected: impl FnOnce(u32) -> bool,
) -> Result<u32, Refusal> {
    let (nonce, other_nonce) = greet(stream, VERSION)?;
    // In the order of the end that connects.
    let nonces = [&other_nonce, &nonce];
    let judged = read_identity(stream, secret, CONNECTS, nonces).and_then(|other| {
        judge(mine, &other)?;
        if is_expected(other.process) { Ok(other.process) } else { Err(Refusal::Unexpected) }
    });
    match judged {
        Err(Refusal::Lost) => Err(Refusal::Lost),
        Err(refusal) => {
            // It may be gone already.
            let _ = write(stream, &[refusal.code()]);
            Err(refusal)
        }
        Ok(other) => {
            write(stream, &[GOOD])?;
            write(stream, &mine.bytes())?;
            write(stream, &proof(secret, ACCEPTS, nonces, mine))?;
            Ok(other)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    fn identity(process: u32) -> Identity {
        Identity { process, n_processes: 2, job: [7; 32] }
    }

    /// Both ends of a connection, each with what it does.
    fn both<A: Send, B: Send>(
        connects: impl FnOnce(TcpStream) -> A + Send,
        accepts: impl FnOnce(TcpStream) -> B + Send,
    ) -> (A, B) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        std::thread::scope(|scope| {
            let first = scope.spawn(move || connects(TcpStream::connect(address).unwrap()));
            let second = scope.spawn(move || accepts(listener.accept().unwrap().0));
            (first.join().unwrap(), second.join().unwrap())
        })
    }

    fn meet(secret: &[u8], mine: Identity, version: u32) -> (Result<(), Refusal>, Result<u32, Refusal>) {
        both(
            |mut stream| connect_as(&mut stream, secret, &mine, 0, version),
            |mut stream| accept(&mut stream, b"secret", &identity(0), |process| process == 1),
        )
    }

    #[test]
    fn processes_of_one_job_meet() {
        assert_eq!(meet(b"secret", identity(1), VERSION), (Ok(()), Ok(1)));
    }

    #[test]
    fn strangers_are_refused_with_a_reason() {
        let refused = |refusal| (Err(refusal), Err(refusal));
        assert_eq!(meet(b"guess", identity(1), VERSION), refused(Refusal::WrongSecret));
        let other = Identity { job: [8; 32], ..identity(1) };
        assert_eq!(meet(b"secret", other, VERSION), refused(Refusal::OtherJob));
        let other = Identity { n_processes: 3, ..identity(1) };
        assert_eq!(meet(b"secret", other, VERSION), refused(Refusal::OtherCluster));
        assert_eq!(meet(b"secret", identity(0), VERSION), refused(Refusal::Unexpected));
        let old = meet(b"secret", identity(1), 0);
        assert_eq!(old, (Err(Refusal::OtherVersion(VERSION)), Err(Refusal::OtherVersion(0))));
    }

    #[test]
    fn what_is_no_greeting_is_refused() {
        for bytes in [&b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: everything\r\n\r\n"[..], b"ALL", b""] {
            let (_, refused) = both(
                |mut stream| stream.write_all(bytes),
                |mut stream| accept(&mut stream, b"secret", &identity(0), |_| true),
            );
            let expected = if bytes.len() > 44 { Refusal::NotAllways } else { Refusal::Lost };
            assert_eq!(refused, Err(expected));
        }
    }

    /// A code that was overheard is of no use.
    #[test]
    fn proofs_are_for_one_connection() {
        let recorded = std::sync::Mutex::new(Vec::new());
        let (_, met) = both(
            |mut stream| {
                let (nonce, other) = greet(&mut stream, VERSION)?;
                let sent =
                    [&identity(1).bytes()[..], &proof(b"secret", CONNECTS, [&nonce, &other], &identity(1))]
                        .concat();
                recorded.lock().unwrap().extend_from_slice(&sent);
                write(&mut stream, &sent)?;
                // Until the other end has said all.
                read::<73>(&mut stream).map(|_| ())
            },
            |mut stream| accept(&mut stream, b"secret", &identity(0), |_| true),
        );
        assert_eq!(met, Ok(1));
        let (_, refused) = both(
            |mut stream| {
                greet(&mut stream, VERSION)?;
                write(&mut stream, &recorded.lock().unwrap())
            },
            |mut stream| accept(&mut stream, b"secret", &identity(0), |_| true),
        );
        assert_eq!(refused, Err(Refusal::WrongSecret));
    }
}
