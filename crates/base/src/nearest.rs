//! Names that a mistyped one may have meant: the one algorithm behind every "did you mean".

/// The name that `text` most likely stands for: equal but for case, or a few characters away.
pub fn nearest<'t>(text: &str, candidates: impl IntoIterator<Item = &'t str>) -> Option<&'t str> {
    let limit = limit(text)?;
    let distances = candidates.into_iter().filter_map(|name| Some((distance(text, name, limit)?, name)));
    distances.min().map(|(_, name)| name)
}

/// Up to `n` such names, the most likely first.
pub fn nearest_few<'t>(text: &str, candidates: impl IntoIterator<Item = &'t str>, n: usize) -> Vec<&'t str> {
    let Some(limit) = limit(text) else { return Vec::new() };
    let distances = candidates.into_iter().filter_map(|name| Some((distance(text, name, limit)?, name)));
    let mut near: Vec<(usize, &str)> = distances.collect();
    near.sort_unstable();
    near.dedup();
    near.into_iter().take(n).map(|(_, name)| name).collect()
}

/// How many characters may differ.
fn limit(text: &str) -> Option<usize> {
    match text.len() {
        // Long names are not mistyped but wrong, and comparing takes quadratic time.
        0..=2 | 65.. => None,
        3..=5 => Some(1),
        6..=11 => Some(2),
        _ => Some(3),
    }
}

/// The distance of two names if it is at most `limit`; case counts for nothing. The beginning of a name is near to it.
fn distance(text: &str, name: &str, limit: usize) -> Option<usize> {
    if name.get(..text.len()).is_some_and(|start| start.eq_ignore_ascii_case(text)) {
        return Some(limit.min(name.len() - text.len()));
    }
    if name.len().abs_diff(text.len()) > limit {
        return None;
    }
    let distance = edit_distance(&text.to_lowercase(), &name.to_lowercase());
    (distance <= limit).then_some(distance)
}

/// The number of characters to insert, delete, replace or swap with their neighbour (optimal string alignment).
fn edit_distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().collect(), b.chars().collect());
    let mut rows = vec![vec![0; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let replaced = rows[i - 1][j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_of_the_keyboard_are_understood() {
        let events = ["eRequest", "eReply", "eCommit"];
        assert_eq!(nearest("eRequst", events), Some("eRequest"));
        assert_eq!(nearest("erequest", events), Some("eRequest"));
        assert_eq!(nearest("eRpely", events), Some("eReply"));
        assert_eq!(nearest("eCom", events), Some("eCommit"));
        assert_eq!(nearest("eAbort", events), None);
        assert_eq!(nearest("e", events), None);
        assert_eq!(nearest_few("aab", ["aac", "aaa", "zzz"], 3), ["aaa", "aac"]);
    }

    #[test]
    fn swapped_neighbours_count_once() {
        assert_eq!(edit_distance("machnie", "machine"), 1);
        assert_eq!(edit_distance("", "ab"), 2);
    }
}
