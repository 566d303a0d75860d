//! Texts of machines: exact where runs are followed one by one; searches that take runs together answer only where no run can
//! depend on such a text.

use crate::common::{executable, kind, options, report};
use allways_explore::almost_sync;
use allways_explore::quiesce::{self, Quiescence};
use allways_explore::search::{self, ProveOptions};
use allways_explore::{Never, StrategyKind};
use allways_run::{Quiet, StopReason, Verdict, ViolationKind};

/// A worker checks its own name, in some way that is put in place of `USE`. It is the second or third machine.
fn program(usage: &str) -> String {
    let text = "
event eText: string;
event eData: any;
fun Id(text: string): string { return text; }
machine Main {
  var seen: seq[string];
  start state Init {
    entry { new Worker(this); new Worker(this); }
    on eText do (text: string) { seen += (0, text); print text; }
    on eData do (value: any) { MAIN }
  }
}
machine Worker {
  var name: string;
  var names: map[string, int];
  var values_seen: set[any];
  start state Init {
    entry (host: machine) {
      var local: string;
      USE
    }
  }
}
";
    let (usage, of_main) = usage.split_once("MAIN:").unwrap_or((usage, ""));
    text.replace("USE", usage).replace("MAIN", of_main)
}

const OBSERVED: [&str; 9] = [
    r#"assert format("{0}", this) != "Worker(3)";"#,
    r#"name = format("{0}", this); assert Id(name) != "Worker(3)";"#,
    r#"local = "<" + format("{0}", this); assert local < "<Worker(3";"#,
    r#"names[format("{0}", this)] = 1; assert !("Worker(3)" in names);"#,
    r#"names += (format("{0}", (this, 1)), 1); names += ("<Worker(3),1,>", 2);"#,
    r#"values_seen += (format("{0}", this)); values_seen += ("Worker(3)"); assert sizeof(values_seen) == 2;"#,
    r#"values_seen += ((format("{0}", this), 1)); assert !(("Worker(3)", 1) in values_seen);"#,
    r#"send host, eData, format("{0}", this); MAIN: assert value != "Worker(3)";"#,
    r#"raise eText, format("{0}", this); } on eText do (text: string) { assert text != "Worker(3)";"#,
];

const UNOBSERVED: [&str; 7] = [
    r#"print format("{0}", this);"#,
    r#"name = format("{0}", this); local = name + "!"; print local;"#,
    r#"assert host != this, format("{0}", this);"#,
    r#"send host, eText, format("{0}", this);"#,
    r#"send host, eData, format("{0}", this); MAIN: print format("{0}", value);"#,
    r#"local = Id(format("{0}", host)); if (name == "x") { name = "y"; }"#,
    r#"local = format("{0}", sizeof(names)); assert local == "0"; print format("{0}", this);"#,
];

#[test]
fn testing_sees_the_texts_that_p_gives() {
    for usage in OBSERVED {
        let exe = executable(&program(usage));
        let report = report(&exe, &options(StrategyKind::Portfolio, 200));
        let found = kind(&report);
        assert!(
            matches!(found, Some(ViolationKind::Assertion | ViolationKind::DuplicateKey)),
            "{usage}: {found:?}"
        );
    }
}

#[test]
fn searches_name_the_place_where_a_text_is_observed() {
    for usage in OBSERVED {
        let text = program(usage);
        let exe = executable(&text);
        let found = search::prove(&exe, &ProveOptions::default(), &Quiet, &Never).expect("replays");
        let Verdict::Unknown(StopReason::ObservedText { place }) = found.verdict else {
            panic!("{usage}: {:?}", found.verdict)
        };
        let observed = &text[place.start as usize..place.end as usize];
        assert!(usage.contains(observed), "{usage}: {observed}");
        let found = almost_sync::prove(&exe, &Default::default(), &Quiet, &Never).expect("replays");
        assert_eq!(found.report.verdict, Verdict::Unknown(StopReason::ObservedText { place }), "{usage}");
        let found = quiesce::quiesce(&exe, &Default::default(), &Quiet, &Never).expect("replays");
        assert_eq!(found.quiescence, Quiescence::Unknown(StopReason::ObservedText { place }), "{usage}");
    }
}

#[test]
fn texts_that_are_only_shown_cost_no_proof() {
    for usage in UNOBSERVED {
        let exe = executable(&program(usage));
        assert_eq!(exe.observed_text, None, "{usage}");
        let found = search::prove(&exe, &ProveOptions::default(), &Quiet, &Never).expect("replays");
        assert!(matches!(found.verdict, Verdict::Holds(_)), "{usage}: {:?}", found.verdict);
    }
}
