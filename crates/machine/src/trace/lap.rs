//! Endless handlers: one lap of what they repeat is enough for people.

use allways_base::Idx;
use allways_run::{Entry, MessageId, TraceMessage};

/// Cuts a list that ends in repetitions after the first of these. The shortest lap counts.
pub(super) fn keep_one_lap(entries: &mut Vec<Entry>, messages: &[TraceMessage]) {
    let n = entries.len();
    // Each announcement is a message of its own: what counts is its content.
    let content = |message: MessageId| {
        let TraceMessage { event, payload, sender, target, .. } = &messages[message.index()];
        (event, payload, sender, target)
    };
    let same = |a: &Entry, b: &Entry| match (a, b) {
        (Entry::Announce { message: a, state: of_a }, Entry::Announce { message: b, state: of_b }) => {
            of_a == of_b && content(*a) == content(*b)
        }
        (
            Entry::Observe { monitor, state, message: a },
            Entry::Observe { monitor: m, state: s, message: b },
        ) => (monitor, state) == (m, s) && content(*a) == content(*b),
        _ => a == b,
    };
    let from_end = |at: usize| &entries[n - 1 - at];
    // The Z-function of the list read backwards (Gusfield 1997): how far it agrees with itself, `lap` entries on.
    let mut agrees = vec![0; n];
    let (mut left, mut right) = (0, 0);
    for lap in 1..n {
        let mut length = if lap < right { agrees[lap - left].min(right - lap) } else { 0 };
        while lap + length < n && same(from_end(lap + length), from_end(length)) {
            length += 1;
        }
        agrees[lap] = length;
        if length >= lap {
            return entries.truncate(n - length);
        }
        if lap + length > right {
            (left, right) = (lap, lap + length);
        }
    }
}

#[cfg(test)]
mod tests {
    use allways_run::ActorId;

    use super::*;

    #[test]
    fn one_lap_is_kept() {
        let entries = |text: &str| -> Vec<Entry> {
            let actor = ActorId::from_u32(0);
            let enter = |c: char| Entry::Exit { actor, state: c.to_string().into() };
            text.chars().map(enter).collect()
        };
        for (text, kept) in [
            ("", ""),
            ("a", "a"),
            ("aaaa", "a"),
            ("xyabcabcabc", "xyabc"),
            ("xabcabcabca", "xabc"),
            ("abab", "ab"),
            ("aabc", "aabc"),
            ("caabaab", "caab"),
        ] {
            let mut found = entries(text);
            keep_one_lap(&mut found, &[]);
            assert_eq!(found, entries(kept), "{text}");
        }
    }
}
