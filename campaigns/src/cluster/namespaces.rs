//! Network namespaces, one for each process, connected by a bridge in a namespace of its own. They are removed when they are dropped.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::{Children, Options, SECRET};

const PORT: u16 = 7_411;

pub struct Namespaces {
    prefix: String,
    n: usize,
    hosts: PathBuf,
}

fn ip(words: &str) -> Result<(), String> {
    let output =
        Command::new("ip").args(words.split(' ')).output().map_err(|error| format!("ip: {error}"))?;
    match output.status.success() {
        true => Ok(()),
        false => Err(format!("ip {words}: {}", String::from_utf8_lossy(&output.stderr).trim())),
    }
}

impl Namespaces {
    /// So many, and the bridge.
    pub fn new(n: usize) -> Result<Self, String> {
        let id = std::process::id() % 100_000;
        let prefix = format!("aw{id}");
        let hosts = std::env::temp_dir().join(format!("allways-hosts-{id}"));
        let made = Namespaces { prefix, n, hosts };
        let bridge = made.bridge();
        ip(&format!("netns add {bridge}"))?;
        ip(&format!("-n {bridge} link add bridge type bridge"))?;
        ip(&format!("-n {bridge} link set bridge up"))?;
        for number in 0..n {
            let own = made.name(number);
            ip(&format!("netns add {own}"))?;
            ip(&format!("-n {own} link add eth type veth peer name to{number} netns {bridge}"))?;
            ip(&format!("-n {own} addr add {}/24 dev eth", address(number)))?;
            ip(&format!("-n {own} link set eth up"))?;
            ip(&format!("-n {own} link set lo up"))?;
            ip(&format!("-n {bridge} link set to{number} master bridge"))?;
            ip(&format!("-n {bridge} link set to{number} up"))?;
        }
        Ok(made)
    }

    fn bridge(&self) -> String {
        format!("{}-bridge", self.prefix)
    }

    fn name(&self, number: usize) -> String {
        format!("{}-{number}", self.prefix)
    }

    /// Starts `words` as so many processes; the first has its output piped.
    pub fn start(&self, options: &Options, words: &[String], n: usize) -> Result<Children, String> {
        let hosts: String = (0..n).map(|number| format!("{}:{PORT}\n", address(number))).collect();
        fs::write(&self.hosts, hosts).map_err(|error| error.to_string())?;
        let mut children = Children(Vec::new());
        for number in 0..n {
            let mut command = Command::new("ip");
            command.current_dir(&options.folder);
            command.args(["netns", "exec", &self.name(number)]).arg(&options.binary).args(words);
            command.arg("--cluster").arg(&self.hosts).args(["--process", &number.to_string()]);
            command.env("NO_COLOR", "1").env("ALLWAYS_CLUSTER_SECRET", SECRET).stdin(Stdio::null());
            command.stderr(Stdio::null());
            command.stdout(if number == 0 { Stdio::piped() } else { Stdio::null() });
            children.0.push(command.spawn().map_err(|error| error.to_string())?);
        }
        Ok(children)
    }
}

fn address(number: usize) -> String {
    format!("10.77.0.{}", number + 1)
}

impl Drop for Namespaces {
    fn drop(&mut self) {
        for name in (0..self.n).map(|number| self.name(number)).chain([self.bridge()]) {
            let _ = ip(&format!("netns del {name}"));
        }
        let _ = fs::remove_file(&self.hosts);
    }
}
