//! Pages to look at in a browser: one file each, without anything from a network.
//!
//! Styles and scripts are plain files below `assets`, with types in comments (`npx -p typescript tsc -p crates/view` checks them), and
//! are written into the page as they are; there is no build step. Data
//! is JSON in blocks that no browser executes; scripts make text nodes of it. The page's policy allows exactly these scripts
//! and styles, by their digests, so that nothing else in the page can run or load anything.

mod brief;
pub mod layout;
pub mod page;
pub mod svg;
