//! Any bytes through lexer, parser, printer, checker, monomorphization and translation of Boogie: no panic, printing is
//! a fixed point after one round, and what a translation writes is a program.

#![no_main]

use allways_base::FileId;
use allways_boogie::{analyze, entry_point, parse, print};
use allways_sequentialize::{Assertions, Options, Preemption, Scheduler, sequentialize};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let file = FileId::from_u32(0);
    let parsed = parse(file, &text);
    for label in parsed.diagnostics.iter().flat_map(|d| d.primary.iter().chain(&d.secondary)) {
        assert!(text.get(label.span.start as usize..label.span.end as usize).is_some());
    }
    if parsed.diagnostics.iter().all(|d| !d.is_error()) {
        let once = print(&parsed.program);
        assert_eq!(print(&parse(file, &once).program), once);
    }
    let (Some(checked), _) = analyze(file, &text) else { return };
    let Ok(entry) = entry_point(&checked.program, None) else { return };
    // The length picks what is done, so that the corpus files start as they are.
    let pick = bytes.len();
    let scheduler = [
        Scheduler::Dfw { delays: 1 },
        Scheduler::Df { delays: 2 },
        Scheduler::ChildFirst { rounds: 2 },
        Scheduler::Rounds { rounds: 2 },
    ][pick % 4];
    let assertions = [Assertions::Exit, Assertions::Continue][pick / 4 % 2];
    let preemption = [Preemption::Explicit, Preemption::Automatic, Preemption::Serial][pick / 8 % 3];
    let options = Options { scheduler, assertions, preemption, sources: None };
    if let Ok(done) = sequentialize(&checked, entry, &options) {
        let printed = print(&done.program);
        assert!(analyze(file, &printed).0.is_some(), "{printed}");
    }
});
