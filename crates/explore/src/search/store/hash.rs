//! Hashes of content. Their values never change: fingerprints of different processes must agree.

/// A hash of good quality whose values never change: fingerprints of different processes must agree.
pub(crate) fn hash_bytes(bytes: &[u8]) -> u64 {
    hash_bytes_from(bytes, K)
}

const K: u64 = 0x9e37_79b9_7f4a_7c15;

/// The same from another seed: an independent hash.
pub(crate) fn hash_bytes_from(bytes: &[u8], seed: u64) -> u64 {
    let mut hash = seed ^ bytes.len() as u64;
    for chunk in bytes.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        let product = u128::from(u64::from_le_bytes(word) ^ hash) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        hash = (product as u64) ^ (product >> 64) as u64 ^ hash.rotate_left(23).wrapping_mul(K);
    }
    mix(hash)
}

/// A fast hash of words, for tables of one process.
pub(crate) fn hash_words(words: &[u64]) -> u64 {
    let hash = words.iter().fold(K, |hash, &word| {
        let product = u128::from(word ^ hash) * u128::from(0xd6e8_feb8_6659_fd93_u64);
        (product as u64) ^ (product >> 64) as u64 ^ hash.rotate_left(23).wrapping_mul(K)
    });
    mix(hash ^ words.len() as u64)
}

/// A bijection that spreads its argument over all bits.
#[inline]
pub(crate) fn mix(mut n: u64) -> u64 {
    n ^= n >> 32;
    n = n.wrapping_mul(0xd6e8_feb8_6659_fd93);
    n ^= n >> 32;
    n = n.wrapping_mul(0xd6e8_feb8_6659_fd93);
    n ^ n >> 32
}
