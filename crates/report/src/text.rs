//! Small things about words.

/// `1 schedule`, `2 schedules`: a number with what is counted, whose plural takes an s.
pub fn count(n: u64, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// The same for a phrase whose plural is another: `1 step that changes nothing`.
pub fn count_of(n: u64, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}

/// `12.3 k/s`: a number for each second, with three digits at least.
pub fn rate(n: u64, seconds: f64) -> String {
    let each = n as f64 / seconds.max(1e-3);
    match each {
        0.0..10.0 => format!("{each:.1}/s"),
        10.0..10_000.0 => format!("{each:.0}/s"),
        10_000.0..10_000_000.0 => format!("{:.0} k/s", each / 1e3),
        _ => format!("{:.0} M/s", each / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_is_singular() {
        assert_eq!((count(1, "step"), count(0, "step")), ("1 step".to_owned(), "0 steps".to_owned()));
        assert_eq!(count_of(2, "match", "matches"), "2 matches");
        assert_eq!((rate(5, 1.0), rate(50_000, 2.0)), ("5.0/s".to_owned(), "25 k/s".to_owned()));
    }
}
