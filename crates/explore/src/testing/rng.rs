//! Random numbers that depend on a seed alone.
//!
//! SplitMix64 (Steele, Lea and Flood, 2014): one addition and a mixing function per number. Its quality is
//! ample for picking one of a handful of machines, and making a generator costs nothing, so that every schedule has
//! its own.

#[derive(Clone, Debug)]
pub struct Rng {
    state: u64,
}

const GOLDEN: u64 = 0x9e37_79b9_7f4a_7c15;

#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The seed of the `index`-th schedule of a search.
pub fn derive(seed: u64, index: u64) -> u64 {
    mix(mix(seed.wrapping_add(GOLDEN)).wrapping_add(index.wrapping_mul(GOLDEN)))
}

impl Rng {
    pub fn new(seed: u64) -> Self {
        Rng { state: seed }
    }

    // An iterator would have an end.
    #[allow(clippy::should_implement_trait)]
    #[inline]
    pub fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(GOLDEN);
        mix(self.state)
    }

    /// A number below `n`, which is not zero. The bias is below n / 2^64.
    #[inline]
    pub fn below(&mut self, n: u64) -> u64 {
        ((self.next() as u128 * n as u128) >> 64) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_spread_and_repeatable() {
        let mut rng = Rng::new(derive(7, 3));
        let mut counts = [0u32; 5];
        for _ in 0..5_000 {
            counts[rng.below(5) as usize] += 1;
        }
        assert!(counts.iter().all(|&count| (850..1150).contains(&count)), "{counts:?}");
        assert_ne!(derive(7, 3), derive(7, 4));
        assert_ne!(derive(7, 3), derive(8, 3));
        assert_eq!(Rng::new(1).next(), Rng::new(1).next());
    }
}
