//! The page of one trace, written as the trace comes: in memory there is never more than one block of steps.

use std::io::{self, Write};

use allways_report::trace_file::{List, Sink};
use sha2::{Digest as _, Sha256};

const TEMPLATE: &str = include_str!("../assets/page.html");
const STYLE: &str = include_str!("../assets/style.css");
/// What every page has, in the order in which one needs the other.
const SCRIPTS: [&str; 6] = [
    include_str!("../assets/values.js"),
    include_str!("../assets/trace.js"),
    include_str!("../assets/diagram.js"),
    include_str!("../assets/minimap.js"),
    include_str!("../assets/panes.js"),
    include_str!("../assets/app.js"),
];
const START: &str = include_str!("../assets/start.js");
const EXPLORER: &str = include_str!("../assets/explorer.js");

/// Messages or steps of one block; blocks are parsed one by one when they are looked at.
const BLOCK_ITEMS: usize = 500;
/// A block ends early beyond so many bytes.
const BLOCK_BYTES: usize = 1 << 20;

/// What a page is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Purpose {
    /// Shows the trace in it.
    Trace,
    /// Talks to the server that it comes from.
    Explorer,
}

/// The page before and after its data.
fn frame(purpose: Purpose) -> (String, String) {
    let last = match purpose {
        Purpose::Trace => START,
        Purpose::Explorer => EXPLORER,
    };
    let script = format!("(() => {{\n\"use strict\";\n{}{last}}})();\n", SCRIPTS.concat());
    let talk = match purpose {
        Purpose::Trace => "",
        Purpose::Explorer => "; connect-src 'self'",
    };
    let policy = format!(
        "default-src 'none'; script-src {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'{talk}",
        digest(&script),
        digest(STYLE)
    );
    let (before, after) = TEMPLATE.split_once("{{data}}").unwrap_or((TEMPLATE, ""));
    let before = before.replacen("{{policy}}", &policy, 1).replacen("{{style}}", STYLE, 1);
    (before, after.replacen("{{script}}", &script, 1))
}

/// The source of a policy that allows exactly this text.
fn digest(text: &str) -> String {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bytes = Sha256::digest(text.as_bytes());
    let mut out = String::from("'sha256-");
    for three in bytes.chunks(3) {
        let bits =
            three.iter().fold(0u32, |bits, &byte| bits << 8 | u32::from(byte)) << (8 * (3 - three.len()));
        for at in 0..4 {
            let letter = LETTERS[(bits >> (18 - 6 * at) & 63) as usize];
            out.push(if at <= three.len() { char::from(letter) } else { '=' });
        }
    }
    out.push('\'');
    out
}

/// The page that a server of an explorer sends.
pub fn explorer() -> String {
    let (before, after) = frame(Purpose::Explorer);
    before + &after
}

/// Writes the page of a trace, piece by piece.
pub struct PageWriter<W: Write> {
    out: W,
    after: String,
    /// Fields, files and actors.
    head: String,
    list: Option<List>,
    /// The block that is being filled, or a list of the head.
    block: String,
    n_items: usize,
}

impl<W: Write> PageWriter<W> {
    /// # Errors
    /// When it cannot be written.
    pub fn new(mut out: W) -> io::Result<Self> {
        let (before, after) = frame(Purpose::Trace);
        out.write_all(before.as_bytes())?;
        Ok(PageWriter { out, after, head: String::new(), list: None, block: String::new(), n_items: 0 })
    }

    /// # Errors
    /// When it cannot be written.
    pub fn finish(mut self) -> io::Result<()> {
        let head = format!("{{{}}}", self.head);
        write_block(&mut self.out, "head", &head)?;
        self.out.write_all(self.after.as_bytes())?;
        self.out.flush()
    }

    fn put_block(&mut self, list: List) -> io::Result<()> {
        if self.n_items > 0 {
            write_block(&mut self.out, list.as_str(), &format!("[{}]", self.block))?;
        }
        self.block.clear();
        self.n_items = 0;
        Ok(())
    }

    fn add_to_head(&mut self, key: &str, value: &str) {
        if !self.head.is_empty() {
            self.head.push_str(",\n");
        }
        let key = key.replace(['"', '\\'], "");
        self.head.push_str(&format!("\"{key}\":{value}"));
    }
}

/// Data is not executed, but the page is parsed: nothing in it may look like markup. In JSON, `<` occurs in strings only.
fn write_block(out: &mut impl Write, name: &str, json: &str) -> io::Result<()> {
    let safe = json.replace('<', "\\u003c");
    writeln!(out, "<script type=\"application/json\" data-block=\"{name}\">{safe}</script>")
}

impl<W: Write> Sink for PageWriter<W> {
    fn field(&mut self, key: &str, value: &str) -> io::Result<()> {
        self.add_to_head(key, value);
        Ok(())
    }

    fn begin(&mut self, list: List) -> io::Result<()> {
        self.list = Some(list);
        self.block.clear();
        self.n_items = 0;
        Ok(())
    }

    fn item(&mut self, value: &str) -> io::Result<()> {
        if self.n_items > 0 {
            self.block.push_str(",\n");
        }
        self.block.push_str(value);
        self.n_items += 1;
        let is_full = self.n_items >= BLOCK_ITEMS || self.block.len() >= BLOCK_BYTES;
        match self.list {
            Some(list @ (List::Messages | List::Steps)) if is_full => self.put_block(list),
            _ => Ok(()),
        }
    }

    fn end(&mut self) -> io::Result<()> {
        match self.list.take() {
            Some(list @ (List::Files | List::Actors)) => {
                let value = format!("[{}]", self.block);
                self.add_to_head(list.as_str(), &value);
                Ok(())
            }
            Some(list) => self.put_block(list),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        // `printf '' | openssl dgst -sha256 -binary | base64`
        assert_eq!(digest(""), "'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='");
    }

    #[test]
    fn data_cannot_leave_its_block() {
        let mut out = Vec::new();
        let mut page = PageWriter::new(&mut out).unwrap();
        page.field("test", "\"</script><script>alert(1)</script><!--\"").unwrap();
        page.begin(List::Steps).unwrap();
        page.item("{\"text\":\"</SCRIPT ><img src=x onerror=alert(1)>\"}").unwrap();
        page.end().unwrap();
        page.finish().unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.contains("alert(1)</script>") && !text.contains("<img"));
        assert!(text.contains("\\u003cimg src=x"));
        assert_eq!(text.matches("</script>").count(), 3, "steps, head and the page's own");
    }

    #[test]
    fn nothing_in_a_page_refers_to_a_network() {
        for purpose in [Purpose::Trace, Purpose::Explorer] {
            let (before, after) = frame(purpose);
            let page = before + &after;
            let addresses = page.matches("://").count() - page.matches("http://www.w3.org/2000/svg").count();
            assert_eq!(addresses, 0);
            for name in ["policy", "style", "data", "script"] {
                assert!(!page.contains(&format!("{{{{{name}}}}}")));
            }
        }
    }
}
