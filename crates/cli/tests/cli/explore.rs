//! The explorer: a session in a real browser from the first step to a violation, and which requests are refused.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use allways_browser::{Browser, Page};

use crate::common::{assert_says, folder, rejected};

/// A server that ends with its test.
struct Explorer {
    child: Child,
    address: String,
}

impl Explorer {
    fn start(program: &Path, more: &[&str]) -> Explorer {
        let mut child = Command::new(env!("CARGO_BIN_EXE_allways"))
            .arg("explore")
            .arg(program)
            .args(more)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut address = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut address).unwrap();
        assert!(address.starts_with("http://127.0.0.1:"), "{address}");
        Explorer { child, address: address.trim().to_owned() }
    }

    fn port(&self) -> u16 {
        self.address.split([':', '/']).nth(4).unwrap().parse().unwrap()
    }

    fn token(&self) -> &str {
        self.address.split("token=").nth(1).unwrap()
    }

    /// Says something to the server, word by word, and returns the answer.
    fn say(&self, request: &str, headers: &[String], body: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port())).unwrap();
        let mut text =
            format!("{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n", body.len());
        for header in headers {
            text.push_str(&format!("{header}\r\n"));
        }
        text.push_str(&format!("\r\n{body}"));
        stream.write_all(text.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }
}

impl Drop for Explorer {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn program(case: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/cli").join(case)
}

/// Waits until an expression is true on the page.
#[track_caller]
fn until(page: &mut Page<'_>, expression: &str) {
    page.evaluate(&format!(
        "new Promise((done) => {{ const look = () => ({expression}) ? done() : setTimeout(look, 20); look(); }})"
    ));
}

#[test]
fn a_session_from_start_to_violation() {
    let explorer = Explorer::start(&program("trace_monitor"), &["-tc", "tcLock"]);
    let mut browser = Browser::start(&folder("explore/browser"));
    let mut page = browser.open(&explorer.address, 1440, 900);
    until(&mut page, "document.querySelectorAll('.option').length === 1");
    assert_says(&page.text(".option"), &["Main(1) starts"]);
    // By mouse and by key, and back.
    page.click(".option");
    until(&mut page, "explorer.steps.length === 1");
    page.press("1");
    until(&mut page, "explorer.steps.length === 2");
    assert_says(&page.text(".row.selected"), &["Main(1) creates Lock(2)"]);
    page.press("u");
    until(&mut page, "explorer.steps.length === 1");
    // On and on, always the last of the steps that are possible. What a step would do is shown before it is taken.
    for n in 2..=4 {
        page.evaluate("[...document.querySelectorAll('.option')].at(-1).click()");
        until(&mut page, &format!("explorer.steps.length === {n}"));
    }
    let options = page.evaluate("document.getElementById('next').innerText");
    assert_says(options.as_str().unwrap(), &["--eGrant--> Client(3)", "OneHolder: holder = Client(3)"]);
    // What lies around: this configuration and those after it; a click leads there.
    page.press("p");
    until(
        &mut page,
        "document.querySelector('#picture').open && document.querySelectorAll('.graph-node').length > 3",
    );
    assert_eq!(page.count(".graph-node.start"), 1);
    page.screenshot(&folder("explore/pictures").join("neighbourhood.png"));
    page.evaluate("document.querySelectorAll('.graph-node')[1].dispatchEvent(new MouseEvent('click'))");
    until(&mut page, "explorer.steps.length === 5 && !document.querySelector('#picture').open");
    // An earlier step can be gone on from.
    page.press("g");
    page.click("#go-on-here");
    until(&mut page, "explorer.steps.length === 1");
    // From here to a violation, found in the background.
    page.click("#from-here");
    until(&mut page, "document.getElementById('jump') !== null");
    page.click("#jump");
    until(&mut page, "explorer.position.outcome === 'violated'");
    assert_says(&page.text(".failure"), &["OneHolder", "gets the lock"]);
    assert_says(&page.text("#next"), &["ends here"]);
    page.screenshot(&folder("explore/picture").join("violated.png"));
    // The address keeps the path: another visit begins there.
    let n_steps = page.evaluate("explorer.steps.length");
    let address = page.evaluate("location.href");
    page.go("about:blank");
    page.go(address.as_str().unwrap());
    until(&mut page, "explorer.position?.outcome === 'violated'");
    assert_eq!(page.evaluate("explorer.steps.length"), n_steps);
    // A state that is described: reachable, not reachable, or a mistake in the description.
    page.click("#restart");
    until(&mut page, "explorer.steps.length === 0");
    page.press("s");
    until(&mut page, "document.getElementById('goal').open");
    page.evaluate("document.getElementById('goal-text').value = 'Lok(2): Serve'");
    page.click("#goal-go");
    until(&mut page, "document.querySelector('.problem').textContent !== ''");
    assert_says(&page.text(".problem"), &["no machine or monitor `Lok`", "did you mean `Lock`?"]);
    page.screenshot(&folder("explore/goal").join("goal.png"));
    page.evaluate("document.getElementById('goal-text').value = 'OneHolder.holder = Client(4), Lock: Serve'");
    page.click("#goal-go");
    until(&mut page, "document.getElementById('jump') !== null && !document.getElementById('goal').open");
    assert_says(&page.text("#job"), &["that state: reachable"]);
    page.click("#jump");
    until(&mut page, "explorer.steps.length > 3");
    assert_says(&page.text(".states"), &["holder", "Client(4)"]);
    page.press("s");
    page.evaluate("document.getElementById('goal-text').value = 'OneHolder.holder = Main(1)'");
    page.click("#goal-go");
    until(&mut page, "document.getElementById('job').textContent.includes('not reachable')");
    assert_says(&page.text("#job"), &["not reachable from here: all", "explored"]);
    // Searches of the whole test.
    for search in ["check", "prove"] {
        page.click("#restart");
        until(&mut page, "explorer.steps.length === 0");
        page.click(&format!("#{search}"));
        until(&mut page, "document.getElementById('jump') !== null");
        assert_says(&page.text("#job"), &[search, "violated"]);
        page.click("#jump");
        until(&mut page, "explorer.position.outcome === 'violated'");
    }
    page.click("#restart");
    until(&mut page, "explorer.steps.length === 0");
    page.click("#walk");
    until(&mut page, "explorer.steps.length > 3");
    let requests = page.requests();
    let own = format!("http://127.0.0.1:{}/", explorer.port());
    let others: Vec<&String> = requests
        .iter()
        .filter(|request| {
            !request.starts_with(&own) && !["data:,", "about:blank"].contains(&request.as_str())
        })
        .collect();
    assert!(others.is_empty(), "{others:?}");
    // The browser notes the one request that was refused, above.
    let problems: Vec<String> =
        page.problems().into_iter().filter(|problem| !problem.contains("400 (Bad Request)")).collect();
    assert_eq!(problems, Vec::<String>::new());
}

#[test]
fn others_are_refused() {
    let explorer = Explorer::start(&program("trace_monitor"), &["-tc", "tcLock"]);
    let (port, token) = (explorer.port(), explorer.token());
    let host = format!("Host: 127.0.0.1:{port}");
    let known = format!("X-Allways-Token: {token}");
    let position = "{\"path\": []}";
    let page = format!("GET /?token={token}");
    let allowed = explorer.say(&page, std::slice::from_ref(&host), "");
    assert!(allowed.starts_with("HTTP/1.1 200"), "{allowed}");
    assert_says(&allowed, &["default-src 'none'", "nosniff", "no-store"]);
    let answered = explorer.say("POST /api/position", &[host.clone(), known.clone()], position);
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    let own = format!("Origin: http://127.0.0.1:{port}");
    let answered = explorer.say("POST /api/position", &[host.clone(), known.clone(), own], position);
    assert!(answered.starts_with("HTTP/1.1 200"), "{answered}");
    let refused: &[(&str, Vec<String>, &str, &str)] = &[
        ("GET /", vec![host.clone()], "", "403"),
        ("GET /?token=", vec![host.clone()], "", "403"),
        ("GET /?token=0123456789abcdef0123456789abcdef", vec![host.clone()], "", "403"),
        (&page, vec!["Host: evil.example".to_owned()], "", "403"),
        (&page, vec![format!("Host: evil.example:{port}")], "", "403"),
        (&page, vec![host.clone(), "Origin: http://evil.example".to_owned()], "", "403"),
        (&page, vec![host.clone(), "Origin: null".to_owned()], "", "403"),
        (&page, vec![host.clone(), "Origin: http://127.0.0.1:1".to_owned()], "", "403"),
        ("POST /api/position", vec![host.clone()], position, "403"),
        // What changes something needs the header, which no form of another page can send.
        (
            &format!("POST /api/job?token={token}"),
            vec![host.clone()],
            "{\"kind\":\"check\",\"path\":[]}",
            "403",
        ),
        ("GET /../../etc/passwd", vec![host.clone(), known.clone()], "", "404"),
        ("GET /%2e%2e/allways.toml", vec![host.clone(), known.clone()], "", "404"),
        ("GET /lock.p", vec![host.clone(), known.clone()], "", "404"),
        ("DELETE /api/job", vec![host.clone(), known.clone()], "", "404"),
        (
            "POST /api/position",
            vec![host.clone(), known.clone()],
            "{\"path\": [\"(0)\", \"(9.9.9)\"]}",
            "400",
        ),
        ("POST /api/position", vec![host.clone(), known.clone()], "{\"path\": [\"nonsense\"]}", "400"),
        ("POST /api/position", vec![host.clone(), known.clone()], "{\"path\": 7}", "400"),
        ("POST /api/position", vec![host.clone(), known.clone()], "not JSON", "400"),
        ("POST /api/job", vec![host.clone(), known.clone()], "{\"kind\":\"rm\",\"path\":[]}", "400"),
    ];
    for (request, headers, body, status) in refused {
        let answer = explorer.say(request, headers, body);
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{request} {headers:?}: {answer}");
        assert!(!answer.contains("allways-trace") && !answer.contains("root:"), "{request}: {answer}");
    }
    // It is only there for this machine.
    let here = folder("explore/nothing");
    assert_says(&rejected(&here, &["explore"]), &["no"]);
}
