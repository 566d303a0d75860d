//! For tests only: a headless Chromium, driven over the pipe of its DevTools protocol as a user would drive it.
//!
//! The browser is the one that `ALLWAYS_BROWSER` names, one on the path, or one that `scripts/get-browser` installs. Without any, tests
//! fail and say so; they are never skipped. Nothing waits for a fixed time: every call returns when the browser has answered.

use std::collections::VecDeque;
use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::OnceLock;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// A browser that does not answer for so long hangs. It is far beyond what a loaded machine needs.
const HANGS_AFTER: Duration = Duration::from_secs(180);

const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
    "--remote-debugging-pipe",
];

/// Where a browser is, installed if need be.
fn program() -> &'static str {
    static PROGRAM: OnceLock<String> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scripts/get-browser");
        let done = Command::new("sh").arg(script).status();
        let is_there = done.is_ok_and(|status| status.success());
        assert!(is_there, "these tests need Chromium, and scripts/get-browser could not get one");
        let named = std::env::var("ALLWAYS_BROWSER").ok().filter(|name| !name.is_empty());
        let works = |name: &&str| {
            let run =
                Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
            run.is_ok_and(|status| status.success())
        };
        let known = ["chromium", "chromium-browser", "google-chrome"];
        let found = named.or_else(|| known.into_iter().find(works).map(str::to_owned));
        found.expect("scripts/get-browser has made sure of it")
    })
}

/// A running browser.
pub struct Browser {
    child: Child,
    requests: ChildStdin,
    answers: Receiver<Value>,
    last_id: u64,
    folder: PathBuf,
}

impl Browser {
    /// Starts a browser that keeps its files below an empty folder of its own.
    pub fn start(folder: &Path) -> Browser {
        let profile = folder.join("profile");
        let _ = fs::remove_dir_all(&profile);
        fs::create_dir_all(&profile).expect("the folder for the browser can be made");
        let log = folder.join("browser.log");
        // The protocol's pipe is on descriptors 3 and 4; the shell puts its own input and output there.
        let command = format!("exec \"$0\" \"$@\" 3<&0 4>&1 0</dev/null 1>/dev/null 2>'{}'", log.display());
        let mut child = Command::new("sh")
            .args(["-c", &command, program()])
            .args(FLAGS)
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg("about:blank")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the browser starts");
        let requests = child.stdin.take().expect("it is a pipe");
        let mut output = child.stdout.take().expect("it is a pipe");
        let (sender, answers) = channel();
        std::thread::spawn(move || {
            let mut pending = Vec::new();
            let mut buffer = vec![0; 1 << 16];
            while let Ok(n @ 1..) = output.read(&mut buffer) {
                pending.extend_from_slice(&buffer[..n]);
                while let Some(end) = pending.iter().position(|&byte| byte == 0) {
                    let message = serde_json::from_slice(&pending[..end]).expect("the browser speaks JSON");
                    pending.drain(..=end);
                    if sender.send(message).is_err() {
                        return;
                    }
                }
            }
        });
        Browser { child, requests, answers, last_id: 0, folder: folder.to_owned() }
    }

    fn send(&mut self, method: &str, params: &Value, session: Option<&str>) -> u64 {
        self.last_id += 1;
        let mut message = json!({ "id": self.last_id, "method": method, "params": params });
        if let Some(session) = session {
            message["sessionId"] = json!(session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.requests.write_all(&bytes).expect("the browser listens");
        self.last_id
    }

    fn next(&self, what: &str) -> Value {
        match self.answers.recv_timeout(HANGS_AFTER) {
            Ok(message) => message,
            Err(RecvTimeoutError::Timeout) => panic!("the browser does not answer {what}"),
            Err(RecvTimeoutError::Disconnected) => {
                let log = fs::read_to_string(self.folder.join("browser.log")).unwrap_or_default();
                panic!("the browser has ended, at {what}:\n{log}")
            }
        }
    }

    fn call(
        &mut self,
        method: &str,
        params: Value,
        session: Option<&str>,
        events: &mut VecDeque<Value>,
    ) -> Value {
        let id = self.send(method, &params, session);
        loop {
            let mut message = self.next(method);
            if message["id"] == json!(id) {
                assert!(message["error"].is_null(), "{method} {params}: {}", message["error"]);
                return message["result"].take();
            }
            events.push_back(message);
        }
    }

    /// Opens an address in a window of this size, and returns when it has loaded.
    pub fn open(&mut self, address: &str, width: u32, height: u32) -> Page<'_> {
        let mut events = VecDeque::new();
        let target = self.call("Target.createTarget", json!({ "url": "about:blank" }), None, &mut events);
        let attach = json!({ "targetId": target["targetId"], "flatten": true });
        let session = self.call("Target.attachToTarget", attach, None, &mut events);
        let session = session["sessionId"].as_str().expect("there is a session").to_owned();
        let mut page = Page { browser: self, session, events, requests: Vec::new(), problems: Vec::new() };
        for domain in ["Page.enable", "Runtime.enable", "Network.enable", "Log.enable"] {
            page.call(domain, json!({}));
        }
        let size = json!({ "width": width, "height": height, "deviceScaleFactor": 1, "mobile": false });
        page.call("Emulation.setDeviceMetricsOverride", size);
        page.go(address);
        page
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.send("Browser.close", &json!({}), None);
        // It ends by itself when its pipe closes; a browser that hangs is ended.
        for _ in 0..1000 {
            match self.answers.recv_timeout(Duration::from_secs(20)) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let _ = self.child.kill();
                    break;
                }
            }
        }
        let _ = self.child.wait();
    }
}

/// A page that is open.
pub struct Page<'a> {
    browser: &'a mut Browser,
    session: String,
    events: VecDeque<Value>,
    requests: Vec<String>,
    problems: Vec<String>,
}

impl Page<'_> {
    fn call(&mut self, method: &str, params: Value) -> Value {
        let session = self.session.clone();
        let result = self.browser.call(method, params, Some(&session), &mut self.events);
        self.sort_events();
        result
    }

    /// Keeps what tests ask for.
    fn sort_events(&mut self) -> bool {
        let mut has_loaded = false;
        for event in self.events.drain(..) {
            if event["sessionId"] != json!(self.session) {
                continue;
            }
            let params = &event["params"];
            match event["method"].as_str() {
                Some("Network.requestWillBeSent") => {
                    self.requests.push(params["request"]["url"].as_str().unwrap_or_default().to_owned());
                }
                Some("Runtime.exceptionThrown") => self.problems.push(params["exceptionDetails"].to_string()),
                Some("Log.entryAdded") if params["entry"]["level"] == "error" => {
                    self.problems.push(params["entry"].to_string());
                }
                Some("Page.loadEventFired") => has_loaded = true,
                _ => {}
            }
        }
        has_loaded
    }

    /// Goes to an address and waits until it has loaded.
    pub fn go(&mut self, address: &str) {
        self.sort_events();
        let session = self.session.clone();
        let params = json!({ "url": address });
        let result = self.browser.call("Page.navigate", params, Some(&session), &mut self.events);
        assert!(result["errorText"].is_null(), "{address}: {result}");
        while !self.sort_events() {
            let event = self.browser.next("Page.navigate");
            self.events.push_back(event);
        }
    }

    /// The value of an expression; promises are awaited.
    #[track_caller]
    pub fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let mut result = self.call("Runtime.evaluate", params);
        assert!(result["exceptionDetails"].is_null(), "{expression}: {}", result["exceptionDetails"]);
        result["result"]["value"].take()
    }

    /// The text of the first element that a selector finds.
    #[track_caller]
    pub fn text(&mut self, selector: &str) -> String {
        let found =
            self.evaluate(&format!("document.querySelector({})?.textContent ?? null", json!(selector)));
        found.as_str().unwrap_or_else(|| panic!("there is no {selector}")).to_owned()
    }

    #[track_caller]
    pub fn count(&mut self, selector: &str) -> u64 {
        let found = self.evaluate(&format!("document.querySelectorAll({}).length", json!(selector)));
        found.as_u64().expect("a number")
    }

    /// Clicks with the mouse where the first element that a selector finds is on the screen.
    #[track_caller]
    pub fn click(&mut self, selector: &str) {
        let centre = self.evaluate(&format!(
            "(() => {{ const e = document.querySelector({}); if (!e) return null; e.scrollIntoView({{block: 'nearest', inline: \
             'nearest'}}); const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; }})()",
            json!(selector)
        ));
        let (Some(x), Some(y)) = (centre[0].as_f64(), centre[1].as_f64()) else {
            panic!("there is no {selector} to click");
        };
        for kind in ["mousePressed", "mouseReleased"] {
            let event = json!({ "type": kind, "x": x, "y": y, "button": "left", "clickCount": 1 });
            self.call("Input.dispatchMouseEvent", event);
        }
    }

    /// Presses a key, by its name in the DOM: `j`, `Enter`, `ArrowDown`.
    pub fn press(&mut self, key: &str) {
        let text = if key.chars().count() == 1 { json!(key) } else { Value::Null };
        let down = if text.is_null() { "rawKeyDown" } else { "keyDown" };
        let mut event = json!({ "type": down, "key": key });
        if key == "Enter" {
            event["windowsVirtualKeyCode"] = json!(13);
        }
        if !text.is_null() {
            event["text"] = text;
        }
        self.call("Input.dispatchKeyEvent", event);
        self.call("Input.dispatchKeyEvent", json!({ "type": "keyUp", "key": key }));
    }

    /// Types a text where the focus is.
    pub fn type_text(&mut self, text: &str) {
        self.call("Input.insertText", json!({ "text": text }));
    }

    /// What the user's system prefers.
    pub fn prefer(&mut self, scheme: &str) {
        let features = json!([{ "name": "prefers-color-scheme", "value": scheme }]);
        self.call("Emulation.setEmulatedMedia", json!({ "features": features }));
    }

    /// What is on the screen, as a PNG file, if `ALLWAYS_PICTURES` is set: pictures are for people, and take long to draw.
    pub fn screenshot(&mut self, path: &Path) {
        if std::env::var_os("ALLWAYS_PICTURES").is_none() {
            return;
        }
        // Two frames, so that what was asked for is drawn.
        self.evaluate(
            "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done())))",
        );
        let result = self.call("Page.captureScreenshot", json!({ "format": "png" }));
        let bytes = decode(result["data"].as_str().expect("a picture"));
        fs::write(path, bytes).expect("the picture can be written");
    }

    /// Addresses that the page has asked for.
    pub fn requests(&mut self) -> Vec<String> {
        self.evaluate("0");
        self.requests.clone()
    }

    /// Exceptions and errors of the console.
    pub fn problems(&mut self) -> Vec<String> {
        self.evaluate("0");
        self.problems.clone()
    }
}

/// Bytes of a text in base 64.
fn decode(text: &str) -> Vec<u8> {
    let value = |letter: u8| match letter {
        b'A'..=b'Z' => Some(letter - b'A'),
        b'a'..=b'z' => Some(letter - b'a' + 26),
        b'0'..=b'9' => Some(letter - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bits, mut n_bits) = (0u32, 0);
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    for six in text.bytes().filter_map(value) {
        bits = bits << 6 | u32::from(six);
        n_bits += 6;
        if n_bits >= 8 {
            n_bits -= 8;
            out.push((bits >> n_bits) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_decoded() {
        assert_eq!(decode("QWxsd2F5cw=="), b"Allways");
        assert_eq!(decode("/+8="), [0xff, 0xef]);
    }
}
