//! Searches beyond one process: connections to other processes, and files that outlive a process.
//!
//! `mesh` connects processes over TCP and carries messages between them for [`Exchange`](allways_explore::exchange::Exchange);
//! `handshake` is what both ends prove before anything else is read. `folder` keeps layers of a search in files, for
//! [`Checkpoint`](allways_explore::search::distribute::Checkpoint); `scratch` has files for what does not fit into memory. Formats: `docs/formats/checkpoint.md` and `docs/formats/wire.md`.
//!
//! Whatever comes from a connection or a file is checked before it is used, and takes no more memory than has arrived.

pub mod folder;
pub mod handshake;
pub mod hosts;
pub mod mac;
pub mod mesh;
pub mod scratch;
