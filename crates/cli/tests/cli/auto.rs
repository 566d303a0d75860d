//! `prove --engine auto`: whichever engine is first, the verdict is the same.

use std::fs;
use std::path::Path;

use crate::common::{allways, assert_says, folder};

/// Breaks on many schedules.
const RACE: &str = "
event eOne;
event eTwo;
machine Sink {
    start state Wait { on eOne goto Done; on eTwo do { assert false, \"two came first\"; } }
    state Done { on eTwo do { } }
}
machine Sender {
    start state Begin { entry (sink: Sink) { send sink, eTwo; } }
}
machine Main {
    start state Begin {
        entry { var sink: Sink; sink = new Sink(); new Sender(sink); send sink, eOne; }
    }
}
";

/// Explicit and symbolic search do not terminate: the inbox of the relay grows without bound, and no persistent set avoids
/// that, because both other machines send to the sink. There is no deadlock or liveness to check.
const FLOOD: &str = "
event eItem;
machine Sink { start state Take { on eItem do { } } }
machine Relay {
    var sink: Sink;
    start state Pass { entry (next: Sink) { sink = next; } on eItem do { send sink, eItem; } }
}
machine Main {
    start state Begin {
        entry {
            var relay: Relay; var sink: Sink;
            sink = new Sink();
            relay = new Relay(sink);
            while (true) { send relay, eItem; send sink, eItem; }
        }
    }
}
";

/// Finite, with a monitor that must become cold.
const ECHO: &str = "
event eAsk: machine;
event eTell;
spec Answered observes eAsk, eTell {
    start cold state Quiet { on eAsk goto Waiting; ignore eTell; }
    hot state Waiting { on eTell goto Quiet; ignore eAsk; }
}
machine Echo { start state Wait { on eAsk do (who: machine) { send who, eTell; } } }
machine Main {
    start state Begin {
        entry { var echo: Echo; echo = new Echo(); send echo, eAsk, this as machine; }
        ignore eTell;
    }
}
test tcEcho [main = Main]: assert Answered in { Main, Echo };
";

#[track_caller]
fn auto(folder: &Path, threads: &str) -> (Option<i32>, serde_json::Value) {
    let output = allways(folder, &["prove", "--engine", "auto", "-j", threads, "--format", "json"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let report: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|_| {
        panic!("{text}{}", String::from_utf8_lossy(&output.stderr));
    });
    (output.status.code(), report["reports"][0].clone())
}

#[test]
fn violations_and_proofs_come_from_whoever_is_first() {
    for threads in ["1", "2"] {
        let race = folder("auto-race");
        fs::write(race.join("race.p"), RACE).unwrap();
        let (status, report) = auto(&race, threads);
        assert_eq!((status, report["verdict"].as_str()), (Some(1), Some("violated")), "{report}");
        assert_says(report["violation"]["message"].as_str().unwrap(), &["two came first"]);
        assert_eq!(report["engine"], "testing", "{report}");

        let flood = folder("auto-flood");
        fs::write(flood.join("flood.p"), FLOOD).unwrap();
        let (status, report) = auto(&flood, threads);
        assert_eq!((status, report["verdict"].as_str()), (Some(0), Some("proved")), "{report}");
        assert_eq!(report["engine"], "asi", "{report}");

        let echo = folder("auto-echo");
        fs::write(echo.join("echo.p"), ECHO).unwrap();
        let (status, report) = auto(&echo, threads);
        assert_eq!((status, report["verdict"].as_str()), (Some(0), Some("proved")), "{report}");
        assert_eq!(report["engine"], "explicit", "{report}");
    }
}

#[test]
fn limits_end_the_race_with_what_is_known() {
    let folder = folder("auto-limit");
    // Its data grows, and is not only counted, so no engine comes to an end.
    let text = "event eTick: int;
        machine Main { start state S {
            entry { send this, eTick, 0; } on eTick do (n: int) { assert n * 2 != 7; send this, eTick, n + 1; }
        } }";
    fs::write(folder.join("count.p"), text).unwrap();
    let output = allways(&folder, &["prove", "--engine", "auto", "--memory", "0.04"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert_says(&text, &["DefaultImpl: unknown", "the memory limit"]);
}
