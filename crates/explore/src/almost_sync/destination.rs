//! The choice of the destination set.
//!
//! The closure is computed on bits over slots, once from each machine that can move.
//!
//! A step is *in vain* if it leaves everything as it is: an oscillator ticks at a clock that does not listen. A run needs no such step,
//! and the machine can do nothing else until another step touches what its step touches. So it is not stepped; but if it may send
//! to a member, what its step touches is in the set, as for others.

use allways_base::Idx;

use super::options::DestinationChoice;
use super::senders::Senders;
use crate::search::local::entries::Slot;

/// A machine that can move.
pub(crate) struct Mover {
    pub slot: Slot,
    /// Messages that would have to wait after its step.
    pub n_waiting: u32,
    /// Its step changes nothing, as long as no other step touches what it touches.
    pub is_vain: bool,
}

/// How the machines of a state stand, as bits over slots.
#[derive(Default)]
pub(crate) struct Scene {
    pub n_words: usize,
    pub movers: Vec<Mover>,
    /// What the step of each mover touches, so many words for each.
    pub touched: Vec<u64>,
    pub receiving: Vec<u64>,
    /// By slot: the number of the mover, if it is one.
    pub mover_of: Vec<u32>,
    /// Slots of movers.
    pub moving: Vec<u64>,
    /// Movers whose steps are not in vain.
    pub n_real: usize,
}

pub(crate) const NO_MOVER: u32 = u32::MAX;

impl Scene {
    pub fn clear(&mut self, n_words: usize) {
        self.n_words = n_words;
        self.movers.clear();
        self.n_real = 0;
        self.touched.clear();
        for bits in [&mut self.receiving, &mut self.moving] {
            bits.clear();
            bits.resize(n_words, 0);
        }
        self.mover_of.clear();
        self.mover_of.resize(n_words * 64, NO_MOVER);
    }

    pub fn receives(&mut self, slot: Slot) {
        set(&mut self.receiving, slot.as_u32());
    }

    pub fn moves(&mut self, mover: Mover, touched: impl Iterator<Item = Slot>) {
        self.mover_of[mover.slot.index()] = self.movers.len() as u32;
        set(&mut self.moving, mover.slot.as_u32());
        self.n_real += usize::from(!mover.is_vain);
        self.movers.push(mover);
        let start = self.touched.len();
        self.touched.resize(start + self.n_words, 0);
        for target in touched {
            set(&mut self.touched[start..], target.as_u32());
        }
    }

    pub fn touched(&self, mover: usize) -> &[u64] {
        &self.touched[mover * self.n_words..(mover + 1) * self.n_words]
    }
}

/// Makes choices; keeps its buffers.
#[derive(Default)]
pub(crate) struct Chooser {
    set: Vec<u64>,
    done: Vec<u64>,
    movers: Vec<u64>,
    best: Vec<u64>,
}

/// How good a set is: messages that have to wait, members, movers.
type Rank = (u32, u32, u32);

impl Chooser {
    /// The numbers of the movers that are stepped now. There is at least one whose step is not in vain.
    ///
    /// # Errors
    /// When a step touches what the topology says it does not.
    pub fn choose(
        &mut self,
        scene: &Scene,
        senders: &Senders,
        choice: DestinationChoice,
        out: &mut Vec<u32>,
    ) -> Result<(), String> {
        let mut best: Option<Rank> = None;
        let is_real = |mover: usize| !scene.movers[mover].is_vain;
        for seed in (0..scene.movers.len()).filter(|&seed| is_real(seed)) {
            let rank = self.close(scene, senders, seed)?;
            if best.is_none_or(|best| rank < best) {
                best = Some(rank);
                self.best.clone_from(&self.movers);
            }
            if choice == DestinationChoice::Canonical
                || best.is_some_and(|(n_waiting, n, _)| n_waiting == 0 && n <= 1)
            {
                break;
            }
        }
        out.clear();
        out.extend(ones(&self.best).filter(|&mover| is_real(mover as usize)));
        Ok(())
    }

    /// The least closed set that contains what one mover touches.
    fn close(&mut self, scene: &Scene, senders: &Senders, seed: usize) -> Result<Rank, String> {
        let n_words = scene.n_words;
        self.set.clear();
        self.set.extend_from_slice(scene.touched(seed));
        self.done.clear();
        self.done.resize(n_words, 0);
        self.movers.clear();
        self.movers.resize(scene.movers.len().div_ceil(64), 0);
        set(&mut self.movers, seed as u32);
        let mut at = 0;
        while at < n_words {
            let new = self.set[at] & !self.done[at];
            if new == 0 {
                at += 1;
                continue;
            }
            let member = (at * 64) as u32 + new.trailing_zeros();
            self.done[at] |= new & new.wrapping_neg();
            for (word, &row) in senders.of(Slot::from_u32(member)).iter().enumerate() {
                self.set[word] |= row & scene.receiving[word];
                let mut moving = row & scene.moving[word];
                while moving != 0 {
                    let slot = word * 64 + moving.trailing_zeros() as usize;
                    moving &= moving - 1;
                    let mover = scene.mover_of[slot];
                    if !has(&self.movers, mover) {
                        set(&mut self.movers, mover);
                        for (mine, &theirs) in self.set.iter_mut().zip(scene.touched(mover as usize)) {
                            *mine |= theirs;
                        }
                    }
                }
            }
            at = 0;
        }
        let mut n_waiting = 0;
        for (mover, known) in scene.movers.iter().enumerate() {
            if has(&self.movers, mover as u32) {
                n_waiting += if known.is_vain { 0 } else { known.n_waiting };
            } else if self.set.iter().zip(scene.touched(mover)).any(|(a, b)| a & b != 0) {
                return Err("a step to a machine to which the topology has no edge".to_owned());
            }
        }
        let count = |bits: &[u64]| bits.iter().map(|word| word.count_ones()).sum();
        Ok((n_waiting, count(&self.set), count(&self.movers)))
    }
}

#[inline]
fn set(bits: &mut [u64], at: u32) {
    bits[at as usize / 64] |= 1 << (at % 64);
}

#[inline]
fn has(bits: &[u64], at: u32) -> bool {
    bits[at as usize / 64] >> (at % 64) & 1 == 1
}

fn ones(bits: &[u64]) -> impl Iterator<Item = u32> + '_ {
    bits.iter().enumerate().flat_map(|(at, &word)| {
        std::iter::successors((word != 0).then_some(word), |&word| {
            let rest = word & (word - 1);
            (rest != 0).then_some(rest)
        })
        .map(move |word| at as u32 * 64 + word.trailing_zeros())
    })
}
