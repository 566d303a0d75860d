//! What a search has noted besides configurations: figures, coverage, and what its local states amount to. Records of several processes, or of the time
//! before and after a checkpoint, are merged.
//!
//! Things that are counted once however often they are met (local states, messages, what was simplified) are kept as hashes of their content,
//! which mean the same in every process.

use allways_run::StopReason;

use crate::search::context::{Cuts, Tally};
use crate::wire::{
    Read, get_length, get_number, get_path, get_reason, get_small, get_word, put_number, put_path, put_reason,
};

#[derive(Clone, Default)]
pub(crate) struct Record {
    pub tally: Tally,
    pub unknown: Option<StopReason>,
    /// Ascending, as all lists here.
    pub coverage: Vec<u64>,
    pub simplified: [Vec<u64>; 3],
    pub local_states: Vec<u64>,
    pub messages: Vec<u64>,
    pub largest_inbox: u64,
    /// The choice of a number with most answers: the machine, and how many.
    pub widest: Option<(u32, u32)>,
    /// Interfaces of which one machine is made at most, and which.
    pub singles: Vec<(u32, Vec<u32>)>,
    pub n_lookups: u64,
    pub n_misses: u64,
    pub store_bytes: u64,
    pub peak_bytes: u64,
}

fn union(into: &mut Vec<u64>, other: Vec<u64>) {
    if into.is_empty() {
        *into = other;
    } else {
        into.extend(other);
        into.sort_unstable();
        into.dedup();
    }
}

impl Record {
    /// Adds what another part of the same search has noted.
    pub fn merge(&mut self, other: Record) {
        self.tally.add(&other.tally);
        self.unknown = self.unknown.take().or(other.unknown);
        union(&mut self.coverage, other.coverage);
        for (into, other) in self.simplified.iter_mut().zip(other.simplified) {
            union(into, other);
        }
        union(&mut self.local_states, other.local_states);
        union(&mut self.messages, other.messages);
        self.largest_inbox = self.largest_inbox.max(other.largest_inbox);
        // Of those with as many answers, the first: which that is may depend on processes, but hardly ever does.
        let most = |widest: Option<(u32, u32)>| widest.map_or(0, |(_, n)| n);
        if most(other.widest) > most(self.widest) {
            self.widest = other.widest;
        }
        self.singles.extend(other.singles);
        self.singles.sort_unstable();
        self.singles.dedup();
        self.n_lookups = self.n_lookups.saturating_add(other.n_lookups);
        self.n_misses = self.n_misses.saturating_add(other.n_misses);
        self.store_bytes = self.store_bytes.saturating_add(other.store_bytes);
        self.peak_bytes = self.peak_bytes.max(other.peak_bytes);
    }

    pub fn put(&self, out: &mut Vec<u8>) {
        put_tally(&self.tally, out);
        put_reason(self.unknown.as_ref(), out);
        let lists = [&self.coverage, &self.local_states, &self.messages];
        for list in lists.into_iter().chain(&self.simplified) {
            put_number(out, list.len() as u64);
            list.iter().for_each(|word| out.extend_from_slice(&word.to_le_bytes()));
        }
        let (machine, n_answers) = self.widest.unwrap_or((0, 0));
        put_number(out, self.singles.len() as u64);
        for (interface, path) in &self.singles {
            put_number(out, u64::from(*interface));
            put_path(out, path);
        }
        for n in [
            self.largest_inbox,
            machine.into(),
            n_answers.into(),
            self.n_lookups,
            self.n_misses,
            self.store_bytes,
            self.peak_bytes,
        ] {
            put_number(out, n);
        }
    }

    pub fn get(bytes: &mut &[u8]) -> Read<Record> {
        let mut record =
            Record { tally: get_tally(bytes)?, unknown: get_reason(bytes)?, ..Record::default() };
        let [dead, unread, unordered] = &mut record.simplified;
        let lists =
            [&mut record.coverage, &mut record.local_states, &mut record.messages, dead, unread, unordered];
        for list in lists {
            let n = get_length(bytes)?;
            *list = (0..n).map(|_| get_word(bytes)).collect::<Read<_>>()?;
        }
        let n = get_length(bytes)?;
        let single = |bytes: &mut &[u8]| Ok((get_small(bytes)?, get_path(bytes)?));
        record.singles = (0..n).map(|_| single(bytes)).collect::<Read<_>>()?;
        record.largest_inbox = get_number(bytes)?;
        let widest = (get_small(bytes)?, get_small(bytes)?);
        record.widest = (widest.1 > 0).then_some(widest);
        record.n_lookups = get_number(bytes)?;
        record.n_misses = get_number(bytes)?;
        record.store_bytes = get_number(bytes)?;
        record.peak_bytes = get_number(bytes)?;
        Ok(record)
    }
}

pub(crate) fn put_tally(tally: &Tally, out: &mut Vec<u8>) {
    let Tally {
        n_configurations,
        n_transitions,
        n_ends,
        n_machines,
        n_persistent,
        n_put_off,
        n_merged,
        n_stuttering,
        n_renamed,
        n_collected,
        n_renumbered,
        cuts,
        breaks,
        ends_badly,
    } = *tally;
    for n in [
        n_configurations,
        n_transitions,
        n_ends,
        n_machines.into(),
        n_persistent,
        n_put_off,
        n_merged,
        n_stuttering,
        n_renamed,
        n_collected,
        n_renumbered,
        cuts.bits().into(),
        u64::from(breaks) | u64::from(ends_badly) << 1,
    ] {
        put_number(out, n);
    }
}

pub(crate) fn get_tally(bytes: &mut &[u8]) -> Read<Tally> {
    let mut next = || get_number(bytes);
    let mut tally = Tally {
        n_configurations: next()?,
        n_transitions: next()?,
        n_ends: next()?,
        n_machines: next()? as u32,
        n_persistent: next()?,
        n_put_off: next()?,
        n_merged: next()?,
        n_stuttering: next()?,
        n_renamed: next()?,
        n_collected: next()?,
        n_renumbered: next()?,
        cuts: Cuts::from_bits(next()? as u8),
        ..Tally::default()
    };
    let bits = next()?;
    (tally.breaks, tally.ends_badly) = (bits & 1 != 0, bits & 2 != 0);
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use allways_base::{FileId, Idx, Span};
    use allways_run::HandlerLimit;

    use super::*;

    #[test]
    fn records_are_read_as_they_were_written() {
        let place = Span::new(FileId::new(2), 3, 9);
        let reasons = [
            StopReason::Time(Duration::from_millis(1_500)),
            StopReason::Memory { bytes: 7 },
            StopReason::Interrupted,
            StopReason::ForeignFunction { name: "f".into() },
            StopReason::ObservedText { place },
            StopReason::LongHandler {
                machine: "M".into(),
                state: "S".into(),
                limit: HandlerLimit::Instructions(5),
            },
            StopReason::LongHandler {
                machine: "M".into(),
                state: "S".into(),
                limit: HandlerLimit::Nesting(6),
            },
            StopReason::ChoiceBound(9),
            StopReason::Unsupported { what: "this".into() },
            StopReason::Undecided { why: "that".into() },
        ];
        for reason in reasons.into_iter().map(Some).chain([None]) {
            let mut record = Record { unknown: reason, singles: vec![(1, vec![2, 3])], ..Record::default() };
            record.tally = Tally { n_configurations: 1 << 40, ends_badly: true, ..Tally::default() };
            record.coverage = vec![1, 5];
            record.simplified[2] = vec![u64::MAX];
            record.widest = Some((3, 4));
            let (mut bytes, mut again) = (Vec::new(), Vec::new());
            record.put(&mut bytes);
            let read = Record::get(&mut &bytes[..]).unwrap();
            assert_eq!(read.unknown, record.unknown);
            read.put(&mut again);
            assert_eq!(bytes, again);
            assert!((0..bytes.len()).all(|n| Record::get(&mut &bytes[..n]).is_err()));
        }
    }

    #[test]
    fn what_two_records_share_counts_once() {
        let part = |locals: &[u64], n| Record {
            local_states: locals.to_vec(),
            tally: Tally { n_configurations: n, ..Tally::default() },
            ..Record::default()
        };
        let mut all = part(&[1, 3], 2);
        all.merge(part(&[2, 3], 5));
        assert_eq!((&all.local_states[..], all.tally.n_configurations), (&[1, 2, 3][..], 7));
    }
}
