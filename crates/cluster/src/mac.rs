//! Message authentication: HMAC with SHA-256 (RFC 2104).

use sha2::{Digest, Sha256};

/// Bytes of a code.
pub const LEN: usize = 32;

/// The code of a message, given in parts, under a key.
pub fn code(key: &[u8], message: &[&[u8]]) -> [u8; LEN] {
    let mut block = [0u8; 64];
    if key.len() > block.len() {
        block[..LEN].copy_from_slice(&Sha256::digest(key));
    } else {
        block[..key.len()].copy_from_slice(key);
    }
    let mut inner = Sha256::new();
    inner.update(block.map(|byte| byte ^ 0x36));
    message.iter().for_each(|part| inner.update(part));
    let mut outer = Sha256::new();
    outer.update(block.map(|byte| byte ^ 0x5c));
    outer.update(inner.finalize());
    outer.finalize().into()
}

/// Whether two codes are equal, in a time that does not depend on where they differ.
pub fn are_equal(a: &[u8; LEN], b: &[u8; LEN]) -> bool {
    a.iter().zip(b).fold(0, |all, (a, b)| all | (a ^ b)) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 4231, cases 2 and 6.
    #[test]
    fn codes_are_those_of_the_standard() {
        let code_of = |key: &[u8], message: &str| hex(&code(key, &[message.as_bytes()]));
        assert_eq!(
            code_of(b"Jefe", "what do ya want for nothing?"),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
        assert_eq!(
            code_of(&[0xaa; 131], "Test Using Larger Than Block-Size Key - Hash Key First"),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        );
    }

    #[test]
    fn parts_are_one_message() {
        assert!(are_equal(&code(b"k", &[b"ab", b"c"]), &code(b"k", &[b"a", b"bc"])));
        assert!(!are_equal(&code(b"k", &[b"abc"]), &code(b"l", &[b"abc"])));
    }
}
