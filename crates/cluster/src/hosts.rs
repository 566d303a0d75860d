//! The file that lists the processes of a cluster: an address on each line, by process; `#` begins a comment.

use std::net::{SocketAddr, ToSocketAddrs};

/// More processes are a mistake.
pub const MAX_PROCESSES: usize = 4_096;

/// The addresses in a text, by process.
///
/// # Errors
/// The line that is none, in words.
pub fn parse(text: &str) -> Result<Vec<String>, String> {
    let mut hosts = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let host = line.split('#').next().unwrap_or_default().trim();
        if host.is_empty() {
            continue;
        }
        let has_port = host
            .rsplit_once(':')
            .is_some_and(|(name, port)| !name.is_empty() && port.parse::<u16>().is_ok_and(|port| port != 0));
        if !has_port || host.contains(char::is_whitespace) {
            return Err(format!("line {}: `{host}` is no address such as `127.0.0.1:7000`", number + 1));
        }
        if hosts.contains(&host.to_owned()) {
            return Err(format!("line {}: `{host}` comes twice", number + 1));
        }
        hosts.push(host.to_owned());
    }
    match hosts.len() {
        0 => Err("there is no address in it".to_owned()),
        1..=MAX_PROCESSES => Ok(hosts),
        n => Err(format!("{n} processes are more than {MAX_PROCESSES}")),
    }
}

/// What a name stands for.
///
/// # Errors
/// When it stands for nothing.
pub fn resolve(host: &str) -> Result<SocketAddr, String> {
    let mut found = host.to_socket_addrs().map_err(|error| format!("{host}: {error}"))?;
    found.next().ok_or_else(|| format!("{host}: there is no such address"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_listed_by_process() {
        let hosts = parse("# ours\n127.0.0.1:7000\n\n  node-1.lan:7000 # big one\n[::1]:7001\n");
        assert_eq!(hosts.unwrap(), ["127.0.0.1:7000", "node-1.lan:7000", "[::1]:7001"]);
        assert_eq!(parse("a:1\nb").unwrap_err(), "line 2: `b` is no address such as `127.0.0.1:7000`");
        assert_eq!(parse("a:1\na:1").unwrap_err(), "line 2: `a:1` comes twice");
        assert_eq!(parse("a:0").unwrap_err(), "line 1: `a:0` is no address such as `127.0.0.1:7000`");
        assert_eq!(parse("# none\n").unwrap_err(), "there is no address in it");
    }
}
