//! `prove --filters`: steps that are left out, by what `allways.toml` says of the program.

use std::fs;

use crate::common::{allways, assert_says, folder, rejected};

/// `eOne` is no left mover: whether it comes before `eTwo` matters.
const RACE: &str = "
event eOne;
event eTwo;
event eFar;
machine Sink {
  start state Wait { on eOne goto Done; on eTwo goto Two; }
  state Two { on eOne do { assert false, \"two came first\"; } }
  state Done { ignore eTwo; }
}
machine Far { start state Idle { ignore eFar; } }
machine Sender { start state Begin { entry (sink: Sink) { send sink, eTwo; } } }
machine Main {
  start state Begin {
    entry { var sink: Sink; var far: Far; sink = new Sink(); far = new Far(); send far, eFar; new Sender(sink); send sink, eOne; }
  }
}
";

#[test]
fn filters_rest_on_what_the_suite_says() {
    let folder = folder("filters");
    fs::write(folder.join("race.p"), RACE).unwrap();
    let prove = |more: &[&str]| {
        let mut args = vec!["prove", "race.p", "--engine", "symbolic", "--symbolic", "paper", "-q"];
        args.extend(more);
        let output = allways(&folder, &args);
        (output.status.code(), String::from_utf8_lossy(&output.stdout).into_owned())
    };
    let filters = ["--filters", "left-movers"];
    let text = rejected(&folder, &["prove", "race.p", "--engine", "symbolic", "--filters", "left-movers"]);
    assert_says(&text, &["`left-movers` is missing below `[filters]` in `allways.toml`"]);
    fs::write(folder.join("allways.toml"), "[filters]\nleft-movers = [\"eFarr\"]\n").unwrap();
    let text = rejected(&folder, &["prove", "race.p", "--engine", "symbolic", "--filters", "left-movers"]);
    assert_says(&text, &["the program has no event `eFarr`; did you mean `eFar`?"]);

    fs::write(folder.join("allways.toml"), "[filters]\nleft-movers = [\"eFar\"]\n").unwrap();
    let (status, text) = prove(&[filters[0], filters[1], "--check-filters"]);
    assert_eq!(status, Some(1), "{text}");
    assert_says(&text, &["without filters there is a violation, too"]);

    fs::write(folder.join("allways.toml"), "[filters]\nleft-movers = [\"eOne\"]\n").unwrap();
    let (status, text) = prove(&filters);
    assert_eq!(status, Some(0), "the claim hides the race: {text}");
    let (status, text) = prove(&[filters[0], filters[1], "--check-filters"]);
    assert_eq!(status, Some(1), "{text}");
    assert_says(&text, &["the filters change the result: without them there is a violation"]);

    let text = rejected(&folder, &["prove", "race.p", "--engine", "explicit", "--filters", "monotonic"]);
    assert_says(&text, &["--filters needs `--engine symbolic`"]);
    let text = rejected(&folder, &["prove", "race.p", "--engine", "symbolic", "--check-filters"]);
    assert_says(&text, &["--check-filters needs --filters"]);
}
