//! Small programs from large ones: leave out lines as long as the program stays interesting.
//!
//! Only ranges of lines with balanced braces are tried; whatever else goes wrong when lines are missing, the front end
//! notices, and the candidate is not interesting.

/// The program with no more lines that can be left out. The given one must be interesting.
pub fn shrink(text: &str, is_interesting: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    loop {
        let before = lines.len();
        // Large ranges first: whole machines, then states, then statements.
        let mut size = lines.len();
        while size > 0 {
            let mut start = 0;
            while start + size <= lines.len() {
                if is_balanced(&lines[start..start + size]) {
                    let candidate: Vec<&str> = [&lines[..start], &lines[start + size..]].concat();
                    if is_interesting(&(candidate.join("\n") + "\n")) {
                        lines = candidate;
                        continue;
                    }
                }
                start += 1;
            }
            size -= 1;
        }
        // A block without its braces.
        let mut start = 0;
        while start < lines.len() {
            if let Some(end) = block_end(&lines, start) {
                let mut candidate = lines.clone();
                candidate.remove(end);
                candidate.remove(start);
                if is_interesting(&(candidate.join("\n") + "\n")) {
                    lines = candidate;
                    continue;
                }
            }
            start += 1;
        }
        if lines.len() == before {
            return lines.join("\n") + "\n";
        }
    }
}

fn change_of(line: &str) -> (i32, i32) {
    let (mut depth, mut lowest) = (0, 0);
    for c in line.chars() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            _ => {}
        }
        lowest = lowest.min(depth);
    }
    (depth, lowest)
}

fn is_balanced(lines: &[&str]) -> bool {
    let mut depth = 0;
    for line in lines {
        let (change, lowest) = change_of(line);
        if depth + lowest < 0 {
            return false;
        }
        depth += change;
    }
    depth == 0
}

/// The line that closes the block which a line opens.
fn block_end(lines: &[&str], start: usize) -> Option<usize> {
    let (mut depth, _) = change_of(lines[start]);
    if depth != 1 {
        return None;
    }
    for (at, line) in lines.iter().enumerate().skip(start + 1) {
        depth += change_of(line).0;
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matters_stays() {
        let text = "a {\n  b {\n    x;\n    y;\n  }\n}\nc {\n}\n";
        assert_eq!(shrink(text, |candidate| candidate.contains("y;")), "    y;\n");
        let whole = shrink(text, |candidate| candidate.contains("a {") && candidate.contains("y;"));
        assert_eq!(whole, "a {\n    y;\n}\n");
    }
}
