//! The set of keys that all threads share: open addressing, without locks, in lines of the cache.
//!
//! A key is mixed by a bijection; its high bits say which line it belongs to, so only the rest of it has to be stored
//! (Cleary, 1984; LTSmin stores its trees like that). If the line is full it goes to the one beside it, then to others, and a
//! few bits of what is stored say which of these it is. Nothing is ever taken out, so a full line stays full, and a key that is
//! neither in a line with room nor in the full ones before it is not in the set.
//!
//! Exact keys are pairs of numbers (see `tree`) and far from using their 64 bits. While the numbers are small, what is left
//! of them without the line fits into 32 bits, and slots are that large; else they have 64 bits, as they always have for
//! fingerprints.
//!
//! A table does not grow while it is in use; a thread that finds it too full stops, and it is replaced between two rounds of the search
//! by all threads together ([`Growth`]).

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering};

use super::huge_pages::{prefetch, zeros};

/// No slot was free, or the key is none of those that the table can hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Full;

/// Bytes of a page, at least.
const PAGE: usize = 4096;
/// Bytes of a line.
const LINE: usize = 64;
/// Of a stored key: the index of its line, from one, so that no stored key is zero.
const AWAY_BITS: u32 = 4;
const MAX_AWAY: u64 = (1 << AWAY_BITS) - 1;
/// So that the rest of a key of 64 bits leaves room for that.
const MIN_BITS: u32 = 7;
/// Smaller tables get four times the slots when they are full, larger ones twice. Exact keys are for little memory.
const SMALL_BITS: u32 = 22;
const SMALL_EXACT_BITS: u32 = 18;
/// Bits of the length in a packed exact key.
const SIZE_BITS: u32 = 5;

/// How keys are laid out before they are mixed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// Just as they are.
    Whole,
    /// Likewise, and not mixed, since they are hashes.
    Hashes,
    /// Exact keys whose two numbers have so many bits.
    Packed { number_bits: u32 },
}

impl Form {
    fn bits(self) -> u32 {
        match self {
            Form::Whole | Form::Hashes => 64,
            Form::Packed { number_bits } => 2 * number_bits + SIZE_BITS,
        }
    }

    #[inline]
    fn pack(self, key: u64) -> Option<u64> {
        match self {
            Form::Whole | Form::Hashes => Some(key),
            Form::Packed { number_bits: n } => {
                let (size, left, right) = (key >> 59, key >> 32 & ((1 << 27) - 1), key as u32);
                let fits = (left | u64::from(right)) >> n == 0;
                fits.then_some(size << (2 * n) | left << n | u64::from(right))
            }
        }
    }

    fn unpack(self, packed: u64) -> u64 {
        match self {
            Form::Whole | Form::Hashes => packed,
            Form::Packed { number_bits: n } => {
                let mask = (1 << n) - 1;
                (packed >> (2 * n)) << 59 | (packed >> n & mask) << 32 | packed & mask
            }
        }
    }

    #[inline]
    fn mix(self, packed: u64) -> u64 {
        match self {
            Form::Whole | Form::Packed { .. } => mix(packed, self.bits()),
            Form::Hashes => packed,
        }
    }

    fn unmix(self, mixed: u64) -> u64 {
        match self {
            Form::Whole | Form::Packed { .. } => unmix(mixed, self.bits()),
            Form::Hashes => mixed,
        }
    }
}

const FACTORS: [u64; 2] = [0xd6e8_feb8_6659_fd93, 0x9e37_79b9_7f4a_7c15];
/// Modulo any power of two up to `1 << 64`.
const INVERSES: [u64; 2] = [inverse(FACTORS[0]), inverse(FACTORS[1])];

/// Of an odd number; each turn doubles the number of right bits, of which three are right from the start.
const fn inverse(n: u64) -> u64 {
    let mut inverse = n;
    let mut turn = 0;
    while turn < 5 {
        inverse = inverse.wrapping_mul(2u64.wrapping_sub(n.wrapping_mul(inverse)));
        turn += 1;
    }
    inverse
}

/// A bijection of numbers of so many bits that spreads them over all bits.
#[inline]
fn mix(mut n: u64, bits: u32) -> u64 {
    let (mask, half) = (u64::MAX >> (64 - bits), bits.div_ceil(2));
    for factor in FACTORS {
        n ^= n >> half;
        n = n.wrapping_mul(factor) & mask;
    }
    n ^ n >> half
}

fn unmix(mut n: u64, bits: u32) -> u64 {
    let (mask, half) = (u64::MAX >> (64 - bits), bits.div_ceil(2));
    n ^= n >> half;
    for factor in INVERSES.into_iter().rev() {
        n = n.wrapping_mul(factor) & mask;
        n ^= n >> half;
    }
    n
}

/// What leads from the line where a key belongs to another of its lines, and back: the first is itself, the second the one
/// beside it, which comes with it into the cache.
#[inline]
fn detour(rest: u64, away: u64, line_mask: usize) -> usize {
    match away {
        1 => 0,
        2 => 1,
        _ => {
            ((rest ^ FACTORS[0]).wrapping_mul(FACTORS[1]).wrapping_mul(2 * away + 1) >> 20) as usize
                & line_mask
        }
    }
}

/// How many words of each size there are in a line.
const N_SHORT: usize = LINE / size_of::<AtomicU32>();
const N_LONG: usize = LINE / size_of::<AtomicU64>();

/// A word of a table.
trait Slot: Sized {
    fn get(&self) -> u64;
    /// Writes it if it is zero, else says what it is.
    fn claim(&self, entry: u64) -> Result<(), u64>;
}

impl Slot for AtomicU32 {
    #[inline]
    fn get(&self) -> u64 {
        u64::from(self.load(Ordering::Relaxed))
    }

    #[inline]
    fn claim(&self, entry: u64) -> Result<(), u64> {
        let claimed = self.compare_exchange(0, entry as u32, Ordering::Relaxed, Ordering::Relaxed);
        claimed.map(|_| ()).map_err(u64::from)
    }
}

impl Slot for AtomicU64 {
    #[inline]
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    #[inline]
    fn claim(&self, entry: u64) -> Result<(), u64> {
        self.compare_exchange(0, entry, Ordering::Relaxed, Ordering::Relaxed).map(|_| ())
    }
}

/// Slots in whole lines of the cache.
struct Lines<S, const N: usize> {
    memory: Box<[S]>,
    /// The first slot that begins a line.
    first: usize,
    n: usize,
}

impl<S: Slot + super::huge_pages::Zeros, const N: usize> Lines<S, N> {
    fn new(n: usize) -> Option<Self> {
        let memory = zeros::<S>(n + N)?;
        let first = memory.as_ptr().align_offset(LINE);
        // What cannot be aligned is only slower.
        let first = if first < N { first } else { 0 };
        Some(Lines { memory, first, n })
    }

    #[inline]
    fn slots(&self) -> &[S] {
        &self.memory[self.first..self.first + self.n]
    }

    /// There may be one more than are used.
    #[inline]
    fn lines(&self) -> &[[S; N]] {
        self.memory[self.first..].as_chunks().0
    }

    fn touch(&self, slots: std::ops::Range<usize>, write: impl Fn(&S) -> bool) {
        for slot in self.slots()[slots].iter().step_by(PAGE / size_of::<S>()) {
            write(slot);
        }
    }
}

enum Slots {
    Short(Lines<AtomicU32, N_SHORT>),
    Long(Lines<AtomicU64, N_LONG>),
}

pub(crate) struct Table {
    slots: Slots,
    /// The second words of keys of 128 bits; empty for keys of 64.
    seconds: Box<[AtomicU64]>,
    form: Form,
    /// Slots, as a power of two.
    bits: u32,
    /// Of lines, likewise.
    line_bits: u32,
}

impl Table {
    /// With `1 << bits` slots; `None` when there is no memory for them.
    pub fn new(bits: u32) -> Option<Self> {
        let bits = bits.max(MIN_BITS);
        let slots = Slots::Long(Lines::new(1 << bits)?);
        let line_bits = bits - N_LONG.trailing_zeros();
        Some(Table { slots, seconds: Box::default(), form: Form::Whole, bits, line_bits })
    }

    /// The same, for keys that are hashes, so that any of their bits are as good as others.
    pub fn new_for_hashes(bits: u32) -> Option<Self> {
        Some(Table { form: Form::Hashes, ..Table::new(bits)? })
    }

    /// The same, for hashes of 128 bits.
    pub fn new_wide(bits: u32) -> Option<Self> {
        let table = Table::new_for_hashes(bits)?;
        Some(Table { seconds: zeros(1 << table.bits)?, ..table })
    }

    /// The same, for exact keys with numbers up to `n_numbers` for now: with short slots if these do.
    pub fn new_exact(bits: u32, n_numbers: u64) -> Option<Self> {
        let bits = bits.max(MIN_BITS);
        let line_bits = bits - N_SHORT.trailing_zeros();
        let number_bits = (line_bits + 32 - AWAY_BITS - SIZE_BITS) / 2;
        // Half as much again, or it would have to be made anew soon.
        if (n_numbers + n_numbers / 2) >> number_bits != 0 {
            return Table::new(bits);
        }
        let slots = Slots::Short(Lines::new(1 << bits)?);
        let form = Form::Packed { number_bits };
        Some(Table { slots, seconds: Box::default(), form, bits, line_bits })
    }

    pub fn bits(&self) -> u32 {
        self.bits
    }

    pub fn n_slots(&self) -> usize {
        1 << self.bits
    }

    pub fn n_bytes(&self) -> usize {
        let slot = match self.slots {
            Slots::Short(_) => 4,
            Slots::Long(_) => 8,
        };
        slot * self.n_slots() + 8 * self.seconds.len()
    }

    /// How many keys may be in it before it should grow.
    pub fn room(&self) -> usize {
        self.n_slots() / 16 * 13
    }

    /// How many keys it takes at all; beyond, looks get long.
    pub fn capacity(&self) -> usize {
        self.n_slots() / 16 * 14
    }

    /// The line of a key, and the rest of the key; nothing if it is none of those that the table can hold.
    #[inline]
    fn home(&self, key: u64) -> Option<(usize, u64)> {
        let (mixed, bits) = match self.form {
            Form::Hashes => (key, 64),
            form @ (Form::Whole | Form::Packed { .. }) => (form.mix(form.pack(key)?), form.bits()),
        };
        let rest_bits = bits - self.line_bits;
        Some(((mixed >> rest_bits) as usize, mixed & (u64::MAX >> (64 - rest_bits))))
    }

    /// Brings the line of a key nearer, for an insertion that comes soon.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        if let Some((line, _)) = self.home(key) {
            match &self.slots {
                Slots::Short(lines) => prefetch(&lines.lines()[line]),
                Slots::Long(lines) => prefetch(&lines.lines()[line]),
            }
        }
    }

    /// Has the pages of some slots written to, so that they are the table's own before keys are looked for. A page that is
    /// read first is a page of zeros that all share, until it is written to; and to take it away then, the system
    /// interrupts all threads.
    pub fn touch(&self, slots: std::ops::Range<usize>) {
        match &self.slots {
            Slots::Short(lines) => lines.touch(slots, |slot| {
                slot.compare_exchange(0, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            }),
            Slots::Long(lines) => lines.touch(slots, |slot| {
                slot.compare_exchange(0, 0, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            }),
        }
    }

    /// Whether the key is new; it is in the set then.
    #[inline]
    pub fn insert(&self, key: u64) -> Result<bool, Full> {
        match &self.slots {
            Slots::Short(lines) => self.place::<_, _, false>(lines.lines(), key, |_| true, |_| ()),
            Slots::Long(lines) => self.place::<_, _, false>(lines.lines(), key, |_| true, |_| ()),
        }
    }

    /// The same for a key of 128 bits, of which the second half is not zero.
    #[inline]
    pub fn insert_wide(&self, key: u64, second: u64) -> Result<bool, Full> {
        let is_it = |at: usize| self.second(at) == second;
        let claimed = |at: usize| self.seconds[at].store(second, Ordering::Relaxed);
        match &self.slots {
            Slots::Short(lines) => self.place::<_, _, true>(lines.lines(), key, is_it, claimed),
            Slots::Long(lines) => self.place::<_, _, true>(lines.lines(), key, is_it, claimed),
        }
    }

    /// The second word of a slot that is taken. The thread that took it may be about to write it.
    #[inline]
    fn second(&self, at: usize) -> u64 {
        loop {
            let second = self.seconds[at].load(Ordering::Relaxed);
            if second != 0 {
                return second;
            }
            std::hint::spin_loop();
        }
    }

    /// Looks for the key in a slot that `is_it`; else claims one. Where in a line a key is looked for first depends on the key
    /// alone, so two threads that bring the same key meet at the same free slot.
    #[inline]
    fn place<S: Slot, const N: usize, const IS_WIDE: bool>(
        &self,
        lines: &[[S; N]],
        key: u64,
        is_it: impl Fn(usize) -> bool,
        claimed: impl Fn(usize),
    ) -> Result<bool, Full> {
        let (home, rest) = self.home(key).ok_or(Full)?;
        let mask = (1usize << self.line_bits) - 1;
        let start = rest as usize % N;
        for away in 1..=MAX_AWAY {
            let entry = rest << AWAY_BITS | away;
            let at = home ^ detour(rest, away, mask);
            let line = &lines[at];
            // All of it at once: the slot of a key cannot be predicted, so each look would cost a wrong guess.
            let is_known = line.iter().fold(false, |is_known, slot| is_known | (slot.get() == entry));
            if is_known && !IS_WIDE {
                return Ok(false);
            }
            // Each slot by one look: what was free a moment ago may have the key by now.
            let (mut free, mut is_here) = (0u32, false);
            for (i, slot) in line.iter().enumerate() {
                let known = slot.get();
                free |= u32::from(known == 0) << i;
                is_here |= known == entry && is_it(at * N + i);
            }
            if is_here {
                return Ok(false);
            }
            // Those that are free, as seen from where the key begins to look.
            let mut free = (free | free << N) >> start & ((1 << N) - 1);
            while free != 0 {
                let place = (free.trailing_zeros() as usize + start) % N;
                match line[place].claim(entry) {
                    Ok(()) => {
                        claimed(at * N + place);
                        return Ok(true);
                    }
                    Err(known) if known == entry && is_it(at * N + place) => return Ok(false),
                    Err(_) => free &= free - 1,
                }
            }
        }
        Err(Full)
    }

    /// Forgets all keys, while no other thread uses it.
    pub fn clear(&self) {
        match &self.slots {
            Slots::Short(lines) => lines.slots().iter().for_each(|slot| slot.store(0, Ordering::Relaxed)),
            Slots::Long(lines) => lines.slots().iter().for_each(|slot| slot.store(0, Ordering::Relaxed)),
        }
        self.seconds.iter().for_each(|second| second.store(0, Ordering::Relaxed));
    }

    /// Tells the keys of some slots, with their second words.
    pub fn keys(&self, slots: std::ops::Range<usize>, tell: &mut dyn FnMut(u64, u64)) {
        let bits = self.form.bits();
        let rest_bits = bits - self.line_bits;
        let mask = (1usize << self.line_bits) - 1;
        for at in slots {
            let (entry, per_line) = match &self.slots {
                Slots::Short(lines) => (lines.slots()[at].get(), N_SHORT),
                Slots::Long(lines) => (lines.slots()[at].get(), N_LONG),
            };
            if entry == 0 {
                continue;
            }
            let rest = entry >> AWAY_BITS;
            let home = (at / per_line) ^ detour(rest, entry & MAX_AWAY, mask);
            let mixed = (home as u64) << rest_bits | rest;
            let second = if self.seconds.is_empty() { 0 } else { self.second(at) };
            tell(self.form.unpack(self.form.unmix(mixed)), second);
        }
    }

    /// As a power of two, how many times the slots the next table has: while it is small, time counts more than room.
    fn more_bits(&self) -> u32 {
        let small = if self.form == Form::Hashes { SMALL_BITS } else { SMALL_EXACT_BITS };
        if self.bits < small { 2 } else { 1 }
    }

    /// Of the next table, at most.
    pub fn bytes_of_larger(&self) -> usize {
        (8 * self.n_slots() + 8 * self.seconds.len()) << self.more_bits()
    }

    /// An empty one of the same kind with more slots.
    pub fn larger(&self, n_numbers: u64) -> Option<Self> {
        let bits = self.bits + self.more_bits();
        match (self.form, self.seconds.is_empty()) {
            (Form::Packed { .. }, _) => Table::new_exact(bits, n_numbers),
            (Form::Whole, _) => Table::new(bits),
            (Form::Hashes, false) => Table::new_wide(bits),
            (Form::Hashes, true) => Table::new_for_hashes(bits),
        }
    }

    /// Inserts a key, in a table that one thread has for itself; it grows when it has to. `None` when there is no memory.
    pub fn insert_growing(&mut self, key: u64) -> Option<bool> {
        loop {
            match self.insert(key) {
                Ok(is_new) => return Some(is_new),
                Err(Full) => self.grow()?,
            }
        }
    }

    /// Makes more slots.
    pub fn grow(&mut self) -> Option<()> {
        // Nothing is known of numbers in its keys.
        let larger = self.larger(1 << 40)?;
        let old = std::mem::replace(self, Table::new(MIN_BITS)?);
        let growth = Growth::new(Arc::new(old), larger);
        growth.work();
        *self = growth.finish()?;
        Some(())
    }
}

/// A table that is filled with the keys of another, by as many threads as want to.
pub(crate) struct Growth {
    from: Arc<Table>,
    to: Table,
    /// The next slot that is to be touched, and the next of the other table that is to be moved.
    next_page: AtomicUsize,
    next: AtomicUsize,
    is_full: AtomicBool,
}

/// Slots that a thread takes at a time.
const PART: usize = 1 << 13;
/// Keys between prefetch and insertion.
const AHEAD: usize = 32;

impl Growth {
    pub fn new(from: Arc<Table>, to: Table) -> Self {
        let (next_page, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
        Growth { from, to, next_page, next, is_full: AtomicBool::new(false) }
    }

    /// Takes part.
    pub fn work(&self) {
        // All of it before any key, since keys that were away from home come back anywhere.
        let n = self.to.n_slots();
        loop {
            let start = self.next_page.fetch_add(PART, Ordering::Relaxed);
            if start >= n {
                break;
            }
            self.to.touch(start..(start + PART).min(n));
        }
        let n = self.from.n_slots();
        let mut waiting: Vec<(u64, u64)> = Vec::with_capacity(AHEAD);
        let insert = |waiting: &mut Vec<(u64, u64)>| {
            for (key, second) in waiting.drain(..) {
                let inserted = match second {
                    0 => self.to.insert(key),
                    _ => self.to.insert_wide(key, second),
                };
                if inserted.is_err() {
                    self.is_full.store(true, Ordering::Relaxed);
                }
            }
        };
        loop {
            let start = self.next.fetch_add(PART, Ordering::Relaxed);
            if start >= n {
                return;
            }
            self.from.keys(start..(start + PART).min(n), &mut |key, second| {
                self.to.prefetch(key);
                waiting.push((key, second));
                if waiting.len() == AHEAD {
                    insert(&mut waiting);
                }
            });
            insert(&mut waiting);
        }
    }

    /// The table, once all threads are done; `None` if it does not hold all keys.
    pub fn finish(self) -> Option<Table> {
        (!self.is_full.into_inner()).then_some(self.to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mixing_can_be_undone() {
        for bits in [35, 46, 47, 64] {
            let mask = u64::MAX >> (64 - bits);
            for n in 0..1_000u64 {
                let n = n.wrapping_mul(0x1234_5678_9abc_def1) & mask;
                assert!(mix(n, bits) <= mask);
                assert_eq!(unmix(mix(n, bits), bits), n);
            }
        }
    }

    #[test]
    fn keys_survive_growth_and_fullness_is_reported() {
        let mut table = Table::new(7).unwrap();
        let keys: Vec<u64> = (1..=128u64).map(|n| n * 0x1_0000_0001).collect();
        let known: Vec<u64> = keys.iter().copied().filter(|&key| table.insert(key) == Ok(true)).collect();
        assert!(known.len() > table.room() && known.len() <= 128);
        assert!(known.iter().all(|&key| table.insert(key) == Ok(false)));
        table.grow().unwrap();
        assert!(known.iter().all(|&key| table.insert(key) == Ok(false)));
        let left: Vec<u64> = keys.iter().copied().filter(|key| !known.contains(key)).collect();
        assert!(left.iter().all(|&key| table.insert(key) == Ok(true)));
        let small = Table::new(7).unwrap();
        assert!((1..=200u64).any(|key| small.insert(key) == Err(Full)));
        assert!((129..=1_000u64).all(|n| table.insert_growing(n * 0x1_0000_0001) == Some(true)));
        assert!((1..=1_000u64).all(|n| table.insert_growing(n * 0x1_0000_0001) == Some(false)));
    }

    /// Like those of `tree`.
    fn exact(size: u64, left: u64, right: u64) -> u64 {
        size << 59 | left << 32 | right
    }

    #[test]
    fn short_slots_hold_exact_keys() {
        let table = Table::new_exact(12, 1_000).unwrap();
        assert!(matches!(table.slots, Slots::Short(_)));
        let keys: Vec<u64> =
            (0..table.room() as u64).map(|n| exact(1 + n % 8, n / 64, n * 7 % 5_000)).collect();
        for &key in &keys {
            assert_eq!(table.form.unpack(table.form.pack(key).unwrap()), key);
            assert_eq!(table.insert(key), Ok(true));
        }
        assert!(keys.iter().all(|&key| table.insert(key) == Ok(false)));
        // What does not fit is not taken for something else.
        assert_eq!(table.insert(exact(1, 1 << 20, 1)), Err(Full));
        let table = Arc::new(table);
        for n_numbers in [1_000, 1 << 40] {
            let growth = Growth::new(table.clone(), table.larger(n_numbers).unwrap());
            std::thread::scope(|scope| {
                scope.spawn(|| growth.work());
                growth.work();
            });
            let grown = growth.finish().unwrap();
            assert_eq!(matches!(grown.slots, Slots::Short(_)), n_numbers == 1_000);
            assert!(keys.iter().all(|&key| grown.insert(key) == Ok(false)));
            assert_eq!(grown.insert(exact(8, 4_999, 4_999)), Ok(true));
        }
    }

    #[test]
    fn both_halves_of_a_wide_key_count() {
        let mut table = Table::new_wide(6).unwrap();
        assert_eq!(table.insert_wide(7, 1), Ok(true));
        assert_eq!(table.insert_wide(7, 2), Ok(true));
        assert_eq!(table.insert_wide(7, 1), Ok(false));
        table.grow().unwrap();
        assert_eq!(table.insert_wide(7, 2), Ok(false));
        assert_eq!(table.insert_wide(7, 3), Ok(true));
        let table = Table::new_wide(12).unwrap();
        let news: usize = std::thread::scope(|scope| {
            let work = || {
                (1..=2_000u64)
                    .filter(|&n| {
                        table.insert_wide((n / 2 + 1).wrapping_mul(FACTORS[0]), n % 2 + 1) == Ok(true)
                    })
                    .count()
            };
            let threads = [scope.spawn(work), scope.spawn(work)];
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert_eq!(news, 2_000);
    }

    #[test]
    fn threads_agree_who_was_first() {
        for table in [Table::new(16).unwrap(), Table::new_exact(16, 30_000).unwrap()] {
            let news: usize = std::thread::scope(|scope| {
                let work =
                    || (1..=20_000u64).filter(|&key| table.insert(exact(1, 1, key)) == Ok(true)).count();
                let threads = [scope.spawn(work), scope.spawn(work)];
                threads.into_iter().map(|thread| thread.join().unwrap()).sum()
            });
            assert_eq!(news, 20_000);
        }
    }
}
