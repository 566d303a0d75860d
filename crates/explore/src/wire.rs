//! Numbers, lists and reasons as bytes, for other processes and for files.
//!
//! Numbers are variable-length, low seven bits first. A reader trusts nothing: lists are no longer than the bytes that are left.

use std::time::Duration;

use allways_base::{FileId, Idx, Span};
use allways_machine::decode::read_number;
use allways_run::{HandlerLimit, StopReason};

pub(crate) fn put_number(out: &mut Vec<u8>, mut n: u64) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

pub(crate) fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put_number(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

/// What a reader says of bytes that are not what they should be.
pub(crate) type Read<T> = Result<T, String>;

pub(crate) fn early() -> String {
    "the bytes end early".to_owned()
}

pub(crate) fn get_number(bytes: &mut &[u8]) -> Read<u64> {
    read_number(bytes).ok_or_else(early)
}

/// The length of a list, of which each element takes a byte at least.
pub(crate) fn get_length(bytes: &mut &[u8]) -> Read<usize> {
    let n = get_number(bytes)?;
    if n > bytes.len() as u64 { Err("a list is longer than the bytes".to_owned()) } else { Ok(n as usize) }
}

pub(crate) fn get_bytes<'b>(bytes: &mut &'b [u8]) -> Read<&'b [u8]> {
    let n = get_length(bytes)?;
    let (taken, rest) = bytes.split_at(n);
    *bytes = rest;
    Ok(taken)
}

pub(crate) fn get_word(bytes: &mut &[u8]) -> Read<u64> {
    let (word, rest) = bytes.split_first_chunk::<8>().ok_or_else(early)?;
    *bytes = rest;
    Ok(u64::from_le_bytes(*word))
}

pub(crate) fn get_small(bytes: &mut &[u8]) -> Read<u32> {
    u32::try_from(get_number(bytes)?).map_err(|_| "a number is too large".to_owned())
}

pub(crate) fn put_path(out: &mut Vec<u8>, path: &[u32]) {
    put_number(out, path.len() as u64);
    path.iter().for_each(|&place| put_number(out, u64::from(place)));
}

pub(crate) fn get_path(bytes: &mut &[u8]) -> Read<Vec<u32>> {
    let n = get_length(bytes)?;
    let place = |bytes: &mut &[u8]| u32::try_from(get_number(bytes)?).map_err(|_| "no machine".to_owned());
    (0..n).map(|_| place(bytes)).collect()
}

pub(crate) fn put_reason(reason: Option<&StopReason>, out: &mut Vec<u8>) {
    let Some(reason) = reason else { return out.push(0) };
    match reason {
        StopReason::Time(time) => {
            out.push(1);
            put_number(out, time.as_millis() as u64);
        }
        StopReason::Memory { bytes } => {
            out.push(2);
            put_number(out, *bytes);
        }
        StopReason::Interrupted => out.push(3),
        StopReason::ForeignFunction { name } => {
            out.push(4);
            put_bytes(out, name.as_bytes());
        }
        StopReason::ObservedText { place } => {
            out.push(5);
            for n in [place.file.index() as u64, place.start.into(), place.end.into()] {
                put_number(out, n);
            }
        }
        StopReason::LongHandler { machine, state, limit } => {
            out.push(6);
            put_bytes(out, machine.as_bytes());
            put_bytes(out, state.as_bytes());
            let (kind, n) = match *limit {
                HandlerLimit::Instructions(n) => (0, n),
                HandlerLimit::CallDepth(n) => (1, n),
                HandlerLimit::TextBytes(n) => (2, n),
                HandlerLimit::Nesting(n) => (3, n),
            };
            out.push(kind);
            put_number(out, u64::from(n));
        }
        StopReason::ChoiceBound(n) => {
            out.push(7);
            put_number(out, *n);
        }
        StopReason::Unsupported { what } => {
            out.push(8);
            put_bytes(out, what.as_bytes());
        }
        StopReason::Undecided { why } => {
            out.push(9);
            put_bytes(out, why.as_bytes());
        }
    }
}

pub(crate) fn get_reason(bytes: &mut &[u8]) -> Read<Option<StopReason>> {
    let (&tag, rest) = bytes.split_first().ok_or_else(early)?;
    *bytes = rest;
    let text =
        |bytes: &mut &[u8]| String::from_utf8(get_bytes(bytes)?.to_vec()).map_err(|_| "no text".to_owned());
    Ok(Some(match tag {
        0 => return Ok(None),
        1 => StopReason::Time(Duration::from_millis(get_number(bytes)?)),
        2 => StopReason::Memory { bytes: get_number(bytes)? },
        3 => StopReason::Interrupted,
        4 => StopReason::ForeignFunction { name: text(bytes)? },
        5 => {
            let (file, start, end) = (get_small(bytes)?, get_small(bytes)?, get_small(bytes)?);
            if start > end {
                return Err("a place ends before it begins".to_owned());
            }
            StopReason::ObservedText { place: Span::new(FileId::new(file as usize), start, end) }
        }
        6 => StopReason::LongHandler {
            machine: text(bytes)?,
            state: text(bytes)?,
            limit: {
                let (&kind, rest) = bytes.split_first().ok_or_else(early)?;
                *bytes = rest;
                let n = get_small(bytes)?;
                match kind {
                    0 => HandlerLimit::Instructions(n),
                    1 => HandlerLimit::CallDepth(n),
                    2 => HandlerLimit::TextBytes(n),
                    3 => HandlerLimit::Nesting(n),
                    _ => return Err("no such limit".to_owned()),
                }
            },
        },
        7 => StopReason::ChoiceBound(get_number(bytes)?),
        8 => StopReason::Unsupported { what: text(bytes)? },
        9 => StopReason::Undecided { why: text(bytes)? },
        _ => return Err("no such reason".to_owned()),
    }))
}
