//! How many vectors: exact, of any size, and short to read.

use std::fmt;
use std::ops::{Add, AddAssign, Sub};

use num_bigint::BigUint;

/// A number of vectors.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Debug)]
pub struct Count(BigUint);

/// Digits of a count that are written out.
const MAX_DIGITS: usize = 9;

impl Count {
    /// As a machine number, if it fits.
    pub fn as_u64(&self) -> Option<u64> {
        u64::try_from(&self.0).ok()
    }

    /// All decimal digits.
    pub fn digits(&self) -> String {
        self.0.to_string()
    }
}

impl From<u64> for Count {
    fn from(n: u64) -> Self {
        Count(n.into())
    }
}

impl From<u128> for Count {
    fn from(n: u128) -> Self {
        Count(n.into())
    }
}

impl Add<u64> for Count {
    type Output = Count;

    fn add(self, n: u64) -> Count {
        Count(self.0 + n)
    }
}

impl AddAssign<&Count> for Count {
    fn add_assign(&mut self, other: &Count) {
        self.0 += &other.0;
    }
}

impl Sub<&Count> for Count {
    type Output = Count;

    fn sub(self, other: &Count) -> Count {
        Count(self.0 - &other.0)
    }
}

/// In full up to nine digits, with groups of three; beyond, as `4.7e15`.
impl fmt::Display for Count {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.digits();
        if digits.len() > MAX_DIGITS {
            // Three digits, of which the last is rounded away.
            let leading: u32 = digits[..3].parse().unwrap_or(0);
            let (leading, exponent) = match (leading + 5) / 10 {
                100 => (10, digits.len()),
                leading => (leading, digits.len() - 1),
            };
            return write!(f, "{}.{}e{exponent}", leading / 10, leading % 10);
        }
        let mut text = String::with_capacity(12);
        for (at, digit) in digits.chars().enumerate() {
            if at > 0 && (digits.len() - at).is_multiple_of(3) {
                text.push(',');
            }
            text.push(digit);
        }
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_counts_are_short() {
        assert_eq!(Count::from(0u64).to_string(), "0");
        assert_eq!(Count::from(1_269_818u64).to_string(), "1,269,818");
        assert_eq!(Count::from(999_999_999u64).to_string(), "999,999,999");
        assert_eq!(Count::from(29_155_157_000u64).to_string(), "2.9e10");
        assert_eq!(Count::from(73_700_000_000u64).to_string(), "7.4e10");
        assert_eq!(Count::from(9_960_000_000u64).to_string(), "1.0e10");
        assert_eq!((Count::from(u128::MAX) + 1).digits(), "340282366920938463463374607431768211456");
    }
}
