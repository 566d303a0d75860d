//! Coverage of scenarios: in the summary, in JSON, in P's file, and over several test cases.

use std::fs;

use crate::common::{allways, assert_says, folder, rejected};

const SHOP: &str = "event eOrder: int;
event eCancel;
event eShip;
scenario CancelledAfterOrder observes eOrder, eCancel {
    start state Nothing { on eOrder goto Ordered; ignore eCancel; }
    state Ordered { on eCancel goto Cancelled; ignore eOrder; }
    cold state Cancelled { ignore eOrder, eCancel; }
}
scenario ShippedTwice observes eShip {
    start state None { on eShip goto Once; }
    state Once { on eShip goto Twice; }
    cold state Twice { ignore eShip; }
}
scenario BornCold observes eShip { start cold state Start { ignore eShip; } }
machine Shop {
    start state Open {
        on eOrder do (n: int) { if (n > 0) { announce eShip; } }
        on eCancel do { }
    }
}
machine Main {
    start state Begin {
        entry {
            var shop: machine;
            shop = new Shop();
            send shop, eOrder, choose(2);
            if ($) { send shop, eCancel; }
        }
    }
}
test tcOne [main = Main]: { Main, Shop };
test tcTwo [main = Main]: { Main, Shop };
";

#[test]
fn schedules_that_cover_a_scenario_are_counted() {
    let dir = folder("scenarios_counted");
    fs::write(dir.join("Shop.p"), SHOP).unwrap();
    let check = |args: &[&str]| {
        let output = allways(&dir, &[&["check", ".", "-s", "1000", "--sch-random"], args].concat());
        assert_eq!(output.status.code(), Some(0));
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let text = check(&["-tc", "tcOne", "--coverage"]);
    let expected = [
        "Scenario coverage: 1/3 scenarios covered (2 gaps)",
        "[covered] CancelledAfterOrder: triggered in ",
        " schedules, 1 unique satisfying timeline\n",
        "[  GAP  ] BornCold: not covered (best partial progress: 1/1 states)",
        "[  GAP  ] ShippedTwice: not covered (best partial progress: 2/3 states)",
    ];
    assert_says(&text, &expected);
    let json = |threads| check(&["-tc", "tcOne", "--format", "json", "-j", threads]);
    assert_eq!(json("1"), json("2"), "figures do not depend on threads");
    let together = allways(
        &dir,
        &[
            "cluster",
            "up",
            "-n",
            "2",
            "--",
            "check",
            ".",
            "-s",
            "1000",
            "--sch-random",
            "-tc",
            "tcOne",
            "--format",
            "json",
        ],
    );
    assert_eq!(String::from_utf8_lossy(&together.stdout), json("1"), "nor on processes");
    let answer: serde_json::Value = serde_json::from_str(&json("1")).unwrap();
    let scenario = &answer["reports"][0]["scenarios"][0];
    assert_eq!((&scenario["name"], &scenario["satisfied"]), (&"CancelledAfterOrder".into(), &true.into()));
    // Half of the runs cancel.
    let n = scenario["satisfyingSchedules"].as_u64().unwrap();
    assert!((400..600).contains(&n), "{n}");

    check(&["-tc", "tcTwo"]);
    let file = "PCheckerOutput/tcTwo/BugFinding/scenarios_counted_tcTwo_scenario_coverage.json";
    let file: serde_json::Value = serde_json::from_str(&fs::read_to_string(dir.join(file)).unwrap()).unwrap();
    assert_eq!((&file["version"], &file["testCase"]), (&1.into(), &"tcTwo".into()));
    assert_eq!(file["scenarios"][2]["monitorStates"], 3);

    let output = allways(&dir, &["merge-scenario-coverage"]);
    assert_eq!(output.status.code(), Some(0));
    let total = format!("{} total triggers, 2 satisfying timelines (summed per test case)", 2 * n);
    let expected = [
        "across 2 test cases: 1/3 scenarios covered in at least one test case (2 gaps)",
        "[covered] CancelledAfterOrder: covered in 2/2 test cases (tcOne, tcTwo); ",
        total.as_str(),
        "[  GAP  ] ShippedTwice: never covered in any of 2 test cases; best progress anywhere 2/3 states",
    ];
    assert_says(&String::from_utf8_lossy(&output.stdout), &expected);
}

#[test]
fn what_is_no_coverage_of_scenarios_is_named() {
    let dir = folder("scenarios_wrong");
    assert_says(
        &rejected(&dir, &["merge-scenario-coverage"]),
        &["there is no file", "`allways check` writes one"],
    );
    assert_says(&rejected(&dir, &["merge-scenario-coverage", "missing"]), &["`missing` cannot be read"]);
    fs::write(
        dir.join("a_scenario_coverage.json"),
        "{\"version\": 7, \"testCase\": \"t\", \"scenarios\": []}",
    )
    .unwrap();
    assert_says(&rejected(&dir, &["merge-scenario-coverage"]), &["version 7 of the format is not known"]);
    fs::write(dir.join("a_scenario_coverage.json"), "[").unwrap();
    assert_says(
        &rejected(&dir, &["merge-scenario-coverage"]),
        &["a_scenario_coverage.json", "is no coverage of scenarios"],
    );
}
