//! What distinguishes configurations of a graph: of each machine, only what the step to it changed. A picture of many configurations in
//! full is many screens wide, and nearly all of its text is the same in all of them.

use allways_report::graph::{Graph, NodeKind};

/// By node: its lines without what the node before it has, too. The first node is whole.
pub fn brief(graph: &Graph) -> Vec<Vec<String>> {
    let mut before: Vec<Option<usize>> = vec![None; graph.nodes.len()];
    for edge in graph.edges.iter().filter(|edge| edge.from < edge.to) {
        before[edge.to].get_or_insert(edge.from);
    }
    let whole = |at: usize| &graph.nodes[at].lines;
    (0..graph.nodes.len())
        .map(|at| match before[at] {
            Some(from) => changed(whole(from), whole(at)),
            None => whole(at).clone(),
        })
        .collect()
}

/// Whether nodes are configurations, of which most of the text is the same.
pub fn is_of_configurations(graph: &Graph) -> bool {
    use NodeKind::{End, Hot, Open, Plain, Start, Unknown, Violated};
    graph.nodes.iter().all(|node| matches!(node.kind, Start | Plain | Hot | End | Violated | Unknown | Open))
}

fn changed(old: &[String], new: &[String]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for line in new.iter().filter(|line| !old.contains(line)) {
        let name = line.split(':').next().unwrap_or_default();
        let same = old.iter().find(|old| old.split(':').next() == Some(name));
        lines.push(same.map_or_else(|| line.clone(), |same| changed_fields(same, line)));
    }
    if lines.is_empty() {
        lines.push("…".to_owned());
    }
    lines
}

/// `Client(3): Waiting {n = 1, tried = true} → Server(2): eAsk` without the fields that the other line has, too.
fn changed_fields(old: &str, new: &str) -> String {
    let ([_, fields_before, _], [head, fields, tail]) = (parts(old), parts(new));
    if fields.is_empty() {
        return new.to_owned();
    }
    let before = split(fields_before);
    let kept: Vec<&str> = split(fields).into_iter().filter(|field| !before.contains(field)).collect();
    match kept.is_empty() {
        true => format!("{head}{}", tail.trim_start()).trim_end().to_owned(),
        false => format!("{head}{{{}}}{tail}", kept.join(", ")),
    }
}

/// What stands before the braces, in them, and behind them. Values have no braces, but texts in quotation marks may.
fn parts(line: &str) -> [&str; 3] {
    let Some(open) = line.find('{') else { return [line, "", ""] };
    let mut is_quoted = false;
    for (at, c) in line.char_indices().skip_while(|&(at, _)| at <= open) {
        match c {
            '"' => is_quoted = !is_quoted,
            '}' if !is_quoted => return [&line[..open], &line[open + 1..at], &line[at + 1..]],
            _ => {}
        }
    }
    [line, "", ""]
}

/// Fields, separated by commas that stand in no brackets.
fn split(fields: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut depth, mut is_quoted, mut start) = (0i32, false, 0);
    for (at, c) in fields.char_indices() {
        match c {
            '"' => is_quoted = !is_quoted,
            _ if is_quoted => {}
            '(' | '<' | '[' => depth += 1,
            // The arrow of maps is not a bracket.
            '>' if fields[..at].ends_with('-') => {}
            ')' | '>' | ']' => depth -= 1,
            ',' if depth == 0 => {
                found.push(fields[start..at].trim());
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(fields[start..].trim());
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_changed_is_left() {
        let old = ["Safe: Watch", "A(1): Up {n = 1, m = (<1->2>, <3->4>), t = \"a, }\"}", "B(2): Down"];
        let new =
            ["Safe: Watch", "A(1): Up {n = 2, m = (<1->2>, <3->4>), t = \"a, }\"} → B(2): eGo", "B(2): Down"];
        let lines = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
        assert_eq!(changed(&lines(&old), &lines(&new)), ["A(1): Up {n = 2} → B(2): eGo"]);
        assert_eq!(changed(&lines(&old), &lines(&old)), ["…"]);
        let sent = ["A(1): Up {n = 1, m = (<1->2>, <3->4>), t = \"a, }\"} → B(2): eGo"];
        assert_eq!(changed(&lines(&old), &lines(&sent)), ["A(1): Up → B(2): eGo"]);
        assert_eq!(changed(&lines(&old), &lines(&["C(3): not started"])), ["C(3): not started"]);
    }
}
