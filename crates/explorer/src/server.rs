//! A server for one user on this machine.
//!
//! It listens on 127.0.0.1 only, and answers only requests with the token that was in the address. A page of another origin cannot
//! know it, cannot guess it, and is refused by its `Origin` and by the `Host` that it had to use, also where a name was bound to
//! this address after the page was loaded. There are no files to ask for: every answer is the page itself or comes from the session.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher as _, Hasher as _};
use std::io::{self, Read as _};
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use allways_explore::state_graph::Goal;
use allways_run::{Cancel, Never};
use serde_json::{Value, json};
use tiny_http::{Header, Method, Request, Response};

use crate::job::{Job, Kind};
use crate::session::Session;

/// Bytes of a request.
const MAX_BODY: u64 = 8 << 20;
/// Between two questions whether to end.
const PATIENCE: Duration = Duration::from_millis(200);

/// A server that listens.
pub struct Server {
    http: tiny_http::Server,
    port: u16,
    token: String,
}

/// Begins a search in the background.
type Starter<'a> = dyn Fn(Kind, Option<Goal>, allways_run::Schedule) + 'a;

/// What is sent back.
struct Reply {
    status: u16,
    kind: &'static str,
    body: String,
}

impl Reply {
    fn json(body: String) -> Reply {
        Reply { status: 200, kind: "application/json; charset=utf-8", body }
    }

    fn refusal(status: u16, why: &str) -> Reply {
        Reply { status, kind: "text/plain; charset=utf-8", body: format!("{why}\n") }
    }
}

impl Server {
    /// Listens on this machine only; port 0 is any that is free.
    ///
    /// # Errors
    /// When the port cannot be had.
    pub fn listen(port: u16) -> io::Result<Server> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let http = tiny_http::Server::http(address).map_err(io::Error::other)?;
        let port = http.server_addr().to_ip().map_or(port, |address| address.port());
        Ok(Server { http, port, token: token() })
    }

    /// What to open in a browser.
    pub fn address(&self) -> String {
        format!("http://127.0.0.1:{}/?token={}", self.port, self.token)
    }

    /// Answers until it is time to stop.
    ///
    /// # Errors
    /// When the port is lost.
    pub fn serve(&self, session: &Session<'_>, stop: &dyn Cancel) -> io::Result<()> {
        let job: Mutex<Option<Arc<Job>>> = Mutex::new(None);
        std::thread::scope(|scope| {
            let start = |kind: Kind, goal: Option<Goal>, from: allways_run::Schedule| {
                let Ok(mut current) = job.lock() else { return };
                if let Some(old) = current.take() {
                    old.stop();
                }
                let new = Arc::new(Job::new(kind, goal));
                *current = Some(new.clone());
                scope.spawn(move || new.run(session, &from));
            };
            let served = loop {
                if stop.reason().is_some() {
                    break Ok(());
                }
                match self.http.recv_timeout(PATIENCE) {
                    Ok(Some(mut request)) => {
                        let reply = self.reply(&mut request, session, &job, &start);
                        // A browser that went away needs no answer.
                        let _ = request.respond(response(reply));
                    }
                    Ok(None) => {}
                    Err(error) => break Err(error),
                }
            };
            if let Ok(Some(job)) = job.lock().as_deref() {
                job.stop();
            }
            served
        })
    }

    fn reply(
        &self,
        request: &mut Request,
        session: &Session<'_>,
        job: &Mutex<Option<Arc<Job>>>,
        start: &Starter<'_>,
    ) -> Reply {
        if let Some(refusal) = self.refuse(request) {
            return refusal;
        }
        let url = request.url().to_owned();
        let path = url.split('?').next().unwrap_or_default();
        match (request.method().clone(), path) {
            (Method::Get, "/") => {
                Reply { status: 200, kind: "text/html; charset=utf-8", body: allways_view::page::explorer() }
            }
            (Method::Get, "/api/job") => {
                let status = job.lock().ok().and_then(|job| job.as_ref().map(|job| job.status()));
                Reply::json(status.unwrap_or(Value::Null).to_string())
            }
            (Method::Post, "/api/stop") => {
                if let Ok(Some(job)) = job.lock().as_deref() {
                    job.stop();
                }
                Reply::json("{}".to_owned())
            }
            (Method::Post, "/api/position" | "/api/graph" | "/api/job") => {
                match self.ask(request, path, session, job, start) {
                    Ok(body) => Reply::json(body),
                    Err(problem) => Reply::refusal(400, &problem),
                }
            }
            _ => Reply::refusal(404, "there is nothing here"),
        }
    }

    fn ask(
        &self,
        request: &mut Request,
        path: &str,
        session: &Session<'_>,
        job: &Mutex<Option<Arc<Job>>>,
        start: &Starter<'_>,
    ) -> Result<String, String> {
        let mut body = String::new();
        let mut reader = request.as_reader().take(MAX_BODY + 1);
        reader.read_to_string(&mut body).map_err(|error| error.to_string())?;
        if body.len() as u64 > MAX_BODY {
            return Err("the request is too long".to_owned());
        }
        let asked: Value = serde_json::from_str(&body).map_err(|error| error.to_string())?;
        let schedule = session.schedule(&asked["path"])?;
        match path {
            "/api/position" => session.position(&schedule, &Never),
            "/api/graph" => {
                let depth = asked["depth"].as_u64().unwrap_or(2) as usize;
                session.picture(&schedule, depth, &Never).map(|picture| picture.to_string())
            }
            _ => {
                let kind = asked["kind"].as_str().and_then(Kind::named).ok_or("there is no such search")?;
                let is_busy = job.lock().is_ok_and(|job| job.as_ref().is_some_and(|job| job.is_running()));
                if is_busy {
                    return Err("a search is running; stop it first".to_owned());
                }
                let goal = match (kind, asked["goal"].as_str()) {
                    (Kind::Reach, goal) => Some(session.goal(goal.unwrap_or_default())?),
                    _ => None,
                };
                start(kind, goal, schedule);
                Ok(json!({}).to_string())
            }
        }
    }

    /// Why a request is refused.
    fn refuse(&self, request: &Request) -> Option<Reply> {
        let header = |name: &'static str| {
            let mut found = request.headers().iter().filter(|header| header.field.equiv(name));
            // Two of one name could be understood in two ways.
            match (found.next(), found.next()) {
                (None, _) => Ok(None),
                (Some(header), None) => Ok(Some(header.value.as_str())),
                (Some(_), Some(_)) => Err(()),
            }
        };
        let names = [format!("127.0.0.1:{}", self.port), format!("localhost:{}", self.port)];
        let is_own_host = matches!(header("Host"), Ok(Some(host)) if names.iter().any(|name| name == host));
        if !is_own_host {
            return Some(Reply::refusal(403, "refused: this server is known as 127.0.0.1 only"));
        }
        let is_own_origin = match header("Origin") {
            Ok(None) => true,
            Ok(Some(origin)) => names.iter().any(|name| origin == format!("http://{name}")),
            Err(()) => false,
        };
        if !is_own_origin {
            return Some(Reply::refusal(403, "refused: the request comes from another page"));
        }
        let query = request.url().split_once('?').map_or("", |(_, query)| query);
        let in_address = query.split('&').find_map(|part| part.strip_prefix("token="));
        let given = match (header("X-Allways-Token"), in_address) {
            (Ok(Some(token)), _) => token,
            (Ok(None), Some(token)) if request.method() == &Method::Get => token,
            _ => "",
        };
        (!is_same(given, &self.token)).then(|| {
            Reply::refusal(403, "refused: open the address that `allways explore` printed, with its token")
        })
    }
}

/// Compares in a time that does not depend on where two texts differ.
fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |differs, (a, b)| differs | (a ^ b)) == 0
}

/// 128 bits that cannot be guessed: the standard library seeds its hashers from the system's source of randomness.
fn token() -> String {
    (0..2)
        .map(|n| {
            let mut hasher = RandomState::new().build_hasher();
            hasher.write_u64(n);
            format!("{:016x}", hasher.finish())
        })
        .collect()
}

fn response(reply: Reply) -> Response<io::Cursor<Vec<u8>>> {
    let mut response = Response::from_string(reply.body).with_status_code(reply.status);
    let headers = [
        ("Content-Type", reply.kind),
        ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
        ("X-Frame-Options", "DENY"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
    ];
    for (name, text) in headers {
        if let Ok(header) = Header::from_bytes(name.as_bytes(), text.as_bytes()) {
            // `from_string` has set a type of its own.
            response = response.with_header(header);
        }
    }
    response
}
