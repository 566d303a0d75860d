//! Pages, in a real browser: what `show` and `--html` write is opened, clicked and searched as a user would do it.
//!
//! With `ALLWAYS_PICTURES=1`, pictures of every kind of counterexample, light and dark, are left in the folder for tests below `target/tmp`.

use std::path::{Path, PathBuf};

use allways_browser::{Browser, Page};
use allways_testkit::boogie::solver::need_solver;

use crate::common::{allways, assert_says, folder, rejected};

/// A copy of the folder of a case of `corpus/cli`. Tests run at the same time, and several use the same case, so each has its own.
#[track_caller]
fn copy_of(case: &str) -> PathBuf {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpus/cli").join(case);
    let to = folder(&format!("pages/{}/{case}", std::panic::Location::caller().line()));
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, to.join(path.file_name().unwrap())).unwrap();
    }
    to
}

/// The page of the counterexample that a case finds, by the command of the case.
#[track_caller]
fn page_of(case: &str) -> PathBuf {
    let folder = copy_of(case);
    let command = std::fs::read_to_string(folder.join("cmd")).unwrap();
    let mut args: Vec<&str> = command.lines().next().unwrap().split_whitespace().collect();
    let is_quiesce = args[0] == "quiesce";
    if !is_quiesce {
        args.extend(["--html", "pages"]);
    }
    let output = allways(&folder, &args);
    assert_eq!(output.status.code(), Some(1), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    if is_quiesce {
        let trace = find(&folder, ".allways.json");
        let trace = trace.strip_prefix(&folder).unwrap().to_str().unwrap();
        let output = allways(&folder, &["show", trace, "-o", "pages/page.html"]);
        assert_eq!(output.status.code(), Some(0), "{case}: {}", String::from_utf8_lossy(&output.stderr));
    }
    find(&folder.join("pages"), ".html")
}

/// The only file below a folder with this ending.
fn find(folder: &Path, ending: &str) -> PathBuf {
    let mut open = vec![folder.to_owned()];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                open.push(path);
            } else if path.to_str().unwrap().ends_with(ending) {
                found.push(path);
            }
        }
    }
    assert_eq!(found.len(), 1, "{found:?}");
    found.remove(0)
}

fn browser(name: &str) -> Browser {
    Browser::start(&folder(&format!("pages/browser_{name}")))
}

fn address(page: &Path) -> String {
    format!("file://{}", page.display())
}

/// Nothing but the page itself was asked for, and nothing went wrong in it.
#[track_caller]
fn assert_quiet(page: &mut Page<'_>, path: &Path) {
    let requests = page.requests();
    let is_itself = |request: &String| request.split('#').next() == Some(&address(path));
    let others: Vec<&String> =
        requests.iter().filter(|request| !is_itself(request) && *request != "data:,").collect();
    assert!(others.is_empty(), "{others:?}");
    assert_eq!(page.problems(), Vec::<String>::new());
}

#[track_caller]
fn selected(page: &mut Page<'_>) -> u64 {
    page.evaluate("allways.diagram.selected + 1").as_u64().unwrap()
}

#[test]
fn every_kind_of_counterexample_has_a_page() {
    need_solver();
    let mut browser = browser("kinds");
    // The case, what the failing step says, and what else must be on the page.
    let cases: &[(&str, &str, &[&str])] = &[
        ("trace_assertion", "Main(1) handles eValue", &["value", "nDone", "written in"]),
        ("trace_monitor", "Lock(2)", &["monitor OneHolder", "holder"]),
        (
            "trace_deadlock",
            "Philosopher",
            &[
                "in state Hungry waits for eTaken",
                "Fork(3) could send it",
                "defers eTake from Philosopher(4)",
            ],
        ),
        ("trace_unhandled", "Door(2) cannot handle eKnock", &["Door handles eKnock in state Closed"]),
        ("trace_missing_key", "Shop(2) handles eOrder", &["key", "{1 -> 20, 3 -> 35}"]),
        ("trace_lasso", "eRequest", &["hot", "Served", "loop", "Waiting handles eGrant"]),
        ("trace_divergence", "eEcho", &["Repeats for ever", "step 8 to step 9 repeat"]),
        ("trace_lost", "Server(2)", &["lossy eReply", "the network loses", "✕ eReply"]),
        ("trace_thousand", "Player", &["994"]),
        ("trace_ten_thousand", "Player", &["9994"]),
        ("trace_task_race", "increment", &["shared", "done", "written in step 11"]),
        (
            "trace_hostile",
            "Reader(2) handles eNote",
            &["</script><script>document.title='pwned'</script>: too long"],
        ),
    ];
    for (case, last, words) in cases {
        let path = page_of(case);
        let mut page = browser.open(&address(&path), 1440, 900);
        // It opens at the failure, and the failing row is in view.
        let n_steps = page.evaluate("allways.trace.nSteps").as_u64().unwrap();
        assert_eq!(selected(&mut page), n_steps, "{case}");
        assert_says(&page.text(".row.selected .what"), &[last]);
        let text = page.evaluate("document.body.innerText + document.title");
        assert_says(text.as_str().unwrap(), words);
        assert!(page.count(".lifeline-name") >= 2, "{case}");
        // Payloads are in the list as a whole where there is room: the decisive field may be the last.
        if ["trace_monitor", "trace_missing_key", "trace_lost"].contains(case) {
            let is_whole =
                "[...document.querySelectorAll('.row .what')].every((w) => w.scrollWidth <= w.clientWidth)";
            assert_eq!(page.evaluate(is_whole), true, "{case}");
        }
        let pictures = path.parent().unwrap().parent().unwrap().parent().unwrap();
        page.screenshot(&pictures.join(format!("{case}.png")));
        page.prefer("dark");
        page.screenshot(&pictures.join(format!("{case}_dark.png")));
        // What is out of view is not drawn, however long the run is.
        assert!(page.count(".row") < 120 && page.count(".message") < 600, "{case}");
        assert_quiet(&mut page, &path);
    }
}

#[test]
fn a_page_is_used_by_mouse_and_keyboard() {
    let path = page_of("trace_monitor");
    let mut browser = browser("use");
    let mut page = browser.open(&address(&path), 1280, 800);
    // Arrows lead from the lifeline of the sender to that of the receiver.
    let arrow = page.evaluate(
        "(() => { const d = allways.diagram, t = allways.trace; const id = [...t.events.all.keys()].find((e) => t.events.all[e] === 'eAcquire'); \
         const m = [...t.event.keys()].find((m) => t.event[m] === id); \
         const line = document.querySelector(`[data-message='${m}'] .line`).getAttribute('d'); \
         const [, x1, , x2] = /M([\\d.]+),([\\d.]+) L([\\d.]+)/.exec(line).map(Number); \
         return [x1, d.x(d.columnOf[t.from[m]]), Math.abs(x2 - d.x(d.columnOf[t.to[m]]))]; })()",
    );
    assert_eq!(arrow[0], arrow[1], "{arrow}");
    assert!(arrow[2].as_f64().unwrap() <= 2.0, "{arrow}");
    // Keys.
    let n = selected(&mut page);
    for (key, expected) in
        [("k", n - 1), ("j", n), ("g", 1), ("j", 2), ("ArrowDown", 3), ("ArrowUp", 2), ("G", n)]
    {
        page.press(key);
        assert_eq!(selected(&mut page), expected, "{key}");
    }
    assert_eq!(page.evaluate("location.hash"), format!("#step={n}"));
    // The state of a step, with what changed.
    page.evaluate("location.hash = '#step=6'");
    page.evaluate("new Promise((done) => setTimeout(done))");
    assert_eq!(selected(&mut page), 6);
    assert_says(&page.text(".actor-card[data-actor='OneHolder'] tr.changed"), &["holder", "Client(3)"]);
    // A click on a row, and one on an arrow, which shows the payload.
    page.click("#step-5");
    assert_eq!(selected(&mut page), 5);
    page.click("#step-9");
    page.click(".message.failed text");
    assert_says(&page.text(".message-card"), &["eGrant", "payload", "Client(4)", "undelivered"]);
    page.press("Escape");
    assert_eq!(page.count(".message-card"), 0);
    // Cause, next and previous step of one machine.
    page.press("[");
    assert!(selected(&mut page) < 9);
    // Search: hits are marked and visited.
    page.press("/");
    page.type_text("holder");
    page.evaluate("new Promise((done) => setTimeout(done))");
    let found = page.evaluate("allways.found");
    let found: Vec<u64> = found.as_array().unwrap().iter().map(|at| at.as_u64().unwrap() + 1).collect();
    assert!(found.contains(&6) && found.len() < 9, "{found:?}");
    assert_eq!(page.text("#hits"), format!("{} hits", found.len()));
    page.press("Enter");
    assert!(found.contains(&selected(&mut page)));
    assert_eq!((page.count(".row.hit"), page.count(".row.hit.selected")), (found.len() as u64, 1));
    page.press("Escape");
    assert_eq!(page.text("#hits"), "");
    // Filters, by key and by the cross of a lifeline.
    let n_before = page.count(".row");
    page.press("f");
    assert_eq!(page.evaluate("document.getElementById('filters').open"), true);
    let n_lifelines = page.count(".lifeline-name");
    page.click("#filter-actors label:last-child input");
    assert_eq!(page.count(".lifeline-name"), n_lifelines - 1);
    page.click("#only-relevant");
    assert!(page.count(".row") < n_before);
    page.click("#show-all");
    assert_eq!(page.count(".row"), n_before);
    page.click("#filters .close");
    page.evaluate("document.querySelector('.lifeline-name .collapse').click()");
    assert_eq!(page.count(".lifeline-name"), n_lifelines - 1);
    // Help.
    page.press("?");
    assert_eq!(page.evaluate("document.getElementById('help').open"), true);
    page.click("#help .close");
    // For screen readers: roles, names, and the chosen step is announced.
    page.press("G");
    assert_says(&page.text("#announcer"), &["Step 9 of 9", "Fails here"]);
    let options = page.count("#list[role=listbox] [role=option][aria-label][aria-posinset]");
    assert_eq!(options, page.count(".row"));
    assert_eq!(page.count("button:not([aria-label]):not([title]):empty"), 0);
    assert_quiet(&mut page, &path);
}

#[test]
fn a_page_is_light_or_dark() {
    let path = page_of("trace_lasso");
    let mut browser = browser("dark");
    let mut page = browser.open(&address(&path), 1000, 700);
    let ground = "getComputedStyle(document.body).backgroundColor";
    page.prefer("light");
    let light = page.evaluate(ground);
    page.prefer("dark");
    let dark = page.evaluate(ground);
    assert_ne!(light, dark);
    page.click("#theme-button");
    assert_eq!(page.evaluate(ground), light);
    // The loop is shaded from its first step to the end, and the monitor's lifeline shows its temperature.
    let n_in_loop = page.evaluate("allways.trace.nSteps - allways.trace.loopStart").as_u64().unwrap();
    assert_eq!(page.count(".row.in-loop"), n_in_loop);
    assert_eq!((page.count("rect.loop"), page.count("rect.hot"), page.count("rect.cold")), (1, 1, 1));
    assert_eq!(page.text(".loop-label"), "↻ repeats for ever");
}

#[test]
fn a_page_fits_into_a_narrow_window() {
    let path = page_of("trace_deadlock");
    let mut browser = browser("narrow");
    for (width, name) in [(800, "tablet"), (420, "phone")] {
        let mut page = browser.open(&address(&path), width, 900);
        assert_eq!(page.evaluate("document.documentElement.scrollWidth <= innerWidth"), true, "{name}");
        // Parts of the head do not lie upon each other.
        let overlap = page.evaluate(
            "(() => { const parts = ['#test', '#verdict', '#message', '#search', '#filter-button', '#help-button']; \
             const boxes = parts.map((p) => document.querySelector(p).getBoundingClientRect()); \
             const meet = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom; \
             return parts.filter((_, i) => boxes.some((b, j) => i < j && meet(boxes[i], b))); })()",
        );
        assert_eq!(overlap, serde_json::json!([]), "{name}");
        assert_says(&page.text("#side"), &["deadlock", "Fork(2) could send it"]);
        page.screenshot(&folder(&format!("pages/{name}")).join("deadlock.png"));
        assert_quiet(&mut page, &path);
    }
}

#[test]
fn hostile_text_stays_text() {
    let path = page_of("trace_hostile");
    let mut browser = browser("hostile");
    let mut page = browser.open(&address(&path), 1280, 800);
    page.press("g");
    for _ in 0..5 {
        page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))");
        page.press("j");
    }
    assert!(!page.evaluate("document.title").as_str().unwrap().contains("pwned"));
    assert_eq!(page.count("img"), 0);
    // One script is the page's own, the others are data.
    assert_eq!(page.count("script:not([type='application/json'])"), 1);
    // Whatever gets into the page by another path cannot run, either: the policy forbids it.
    page.evaluate(
        "(() => { const s = document.createElement('script'); s.textContent = 'window.ran = true'; document.body.append(s); })()",
    );
    assert_eq!(page.evaluate("window.ran ?? null"), serde_json::Value::Null);
    let fetched = page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'fetched', () => 'refused')");
    assert_eq!(fetched, "refused");
    assert!(page.requests().iter().all(|request| !request.starts_with("http")), "{:?}", page.requests());
}

#[test]
fn long_runs_stay_small_on_the_screen() {
    let path = page_of("trace_ten_thousand");
    let mut browser = browser("long");
    let mut page = browser.open(&address(&path), 1280, 800);
    assert_eq!(selected(&mut page), 10_001);
    page.press("g");
    assert_eq!((selected(&mut page), page.text(".row .number").as_str()), (1, "1"));
    // A click into the overview leads there.
    page.click("#minimap");
    let top = page
        .evaluate(
            "new Promise((done) => { const look = () => { const top = Number(document.querySelector('.row .number').textContent); \
             top > 1 ? done(top) : requestAnimationFrame(look); }; look(); })",
        )
        .as_u64()
        .unwrap();
    assert!((4_000..6_000).contains(&top), "{top}");
    page.press("G");
    page.press("/");
    page.type_text("ball 9994");
    page.evaluate("new Promise((done) => { const look = () => document.getElementById('hits').textContent.endsWith('hit') ? done() : setTimeout(look); look(); })");
    assert_eq!(page.text("#hits"), "1 hit");
    assert!(page.count("*") < 3_000, "{} elements", page.count("*"));
    // States far apart are the same whichever way they are reached.
    let state =
        "JSON.stringify(allways.trace.stateAfter(7321).map((a) => [a.state, [...a.variables], a.inbox]))";
    let by_jump = page.evaluate(state);
    page.evaluate(
        "allways.trace.stateAfter(-1); for (let i = 0; i <= 7321; i += 97) allways.trace.stateAfter(i)",
    );
    assert_eq!(page.evaluate(state), by_jump);
    assert_quiet(&mut page, &path);
}

#[test]
fn schedules_are_shown_too_and_other_files_are_refused() {
    let folder = copy_of("trace_assertion");
    allways(&folder, &["check", "-s", "500", "-o", "out"]);
    let schedule = find(&folder.join("out"), ".schedule");
    let name = schedule.to_str().unwrap();
    let output = allways(&folder, &["show", name]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let page = std::fs::read_to_string(schedule.with_extension("html")).unwrap();
    // A trace gives the same page.
    let trace = find(&folder.join("out"), ".allways.json");
    let output = allways(&folder, &["show", trace.to_str().unwrap(), "-o", "other.html"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(std::fs::read_to_string(folder.join("other.html")).unwrap(), page);

    assert_says(&rejected(&folder, &["show", "counter.p"]), &["not a schedule file"]);
    assert_says(&rejected(&folder, &["show", "missing.json"]), &["missing.json", "cannot be read"]);
    let text = std::fs::read_to_string(&trace).unwrap();
    std::fs::write(folder.join("cut.allways.json"), &text[..text.len() / 2]).unwrap();
    assert_says(&rejected(&folder, &["show", "cut.allways.json"]), &["damaged"]);
    assert!(!folder.join("cut.html").exists());
    let p_trace = find(&folder.join("out"), "_0_0.trace.json");
    assert_says(&rejected(&folder, &["show", p_trace.to_str().unwrap()]), &["not a trace of Allways"]);
}

#[test]
fn a_counterexample_becomes_a_test() {
    let folder = copy_of("trace_unhandled");
    allways(&folder, &["check", "-s", "500", "-o", "out"]);
    let schedule = find(&folder.join("out"), ".schedule");
    let output =
        allways(&folder, &["show", schedule.to_str().unwrap(), "--as", "test", "-o", "allways.toml"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let suite = std::fs::read_to_string(folder.join("allways.toml")).unwrap();
    assert_says(&suite, &["[[test]]", "schedule = \"schedules/", "unhandled-event"]);
    // The bug is still there: one schedule is enough to see it.
    let output = allways(&folder, &["check", "--all"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert_says(&text, &["1 schedule ", "fails again"]);
    // It is fixed: the schedule does not break it, and the test goes on.
    let program = std::fs::read_to_string(folder.join("door.p")).unwrap();
    let fixed = program
        .replace("on eShut goto Closed;", "on eShut goto Closed;\n    ignore eKnock;")
        .replace("start state Closed {", "start state Closed {\n    ignore eShut;");
    std::fs::write(folder.join("door.p"), fixed).unwrap();
    let output = allways(&folder, &["check", "--all", "-s", "50"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_says(&text, &["50 schedules", "as expected"]);
    // The schedule of another test is a mistake.
    let wrong = suite.replace("name = \"DefaultImpl\"", "name = \"Other\"");
    std::fs::write(folder.join("allways.toml"), wrong).unwrap();
    assert!(!rejected(&folder, &["check", "--all"]).is_empty());
}

#[test]
fn graphs_are_pictures_up_to_some_hundred_nodes() {
    let folder = copy_of("trace_thousand");
    let said = rejected(&folder, &["graph", "--format", "svg", "--max-nodes", "900"]);
    assert_says(&said, &["nodes is not readable", "--format dot"]);
    let output = allways(&folder, &["graph", "--format", "svg", "-o", "graph.svg"]);
    assert_eq!(output.status.code(), Some(0));
    assert_says(&String::from_utf8_lossy(&output.stderr), &["cut off"]);
    // What is drawn lies within the picture and apart.
    let mut browser = browser("graph");
    let mut page = browser.open(&address(&folder.join("graph.svg")), 1000, 800);
    assert!(page.count("g > rect") >= 60);
    let overlaps = page.evaluate(
        "(() => { const boxes = [...document.querySelectorAll('g > rect')].map((r) => r.getBBox()); \
         const hit = (a, b) => a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height; \
         return boxes.filter((a, i) => boxes.some((b, k) => k < i && hit(a, b))).length; })()",
    );
    assert_eq!(overlaps, 0);
    let output = allways(&folder, &["graph", "--states", "--format", "json"]);
    assert_says(&String::from_utf8_lossy(&output.stdout), &["Player.Play", "startState"]);
    assert_says(&rejected(&folder, &["graph", "--states", "--machine", "Missing"]), &["Missing", "Player"]);
}
