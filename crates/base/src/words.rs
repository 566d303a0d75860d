//! Numbers with what they count, for messages.

/// `no arguments`, `1 argument`, `2 arguments`: the plural takes an s.
pub fn count(n: usize, noun: &str) -> String {
    match n {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        n => format!("{n} {noun}s"),
    }
}
