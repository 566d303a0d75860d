//! The explorer: one test of a program, stepped through by hand in a browser.
//!
//! The server keeps no position. A request carries the path, as the lines of a schedule file; the kernel replays it, so
//! what is shown is a run like any other and a path can be kept, shared and replayed. `server` decides which requests are answered, `session` what,
//! and `job` runs searches in the background.

pub mod choices;
mod job;
pub mod server;
mod session;

pub use server::Server;
pub use session::Session;
