//! `allways explore`: a test stepped through by hand, in a browser.

use std::time::Duration;

use allways_driver::select;
use allways_explorer::{Server, Session};

use super::load::load;
use super::network;
use crate::args::{ExploreArgs, Format};
use crate::exit::ExitStatus;
use crate::interrupt::{self, Stop};
use crate::printer;

pub fn explore(args: &ExploreArgs) -> ExitStatus {
    let rejected = |problem: String| {
        printer::err(&format!("{problem}\n"));
        ExitStatus::Rejected
    };
    let compilation = match load(&args.input, Format::Text, "explore") {
        Ok(compilation) => compilation,
        Err(status) => return status,
    };
    let Some(program) = &compilation.program else { return ExitStatus::Rejected };
    let tests = match select::select(program, args.testcase.as_deref()) {
        Ok(tests) => tests,
        Err(error) => return rejected(error.to_string()),
    };
    let [test] = tests.as_slice() else {
        let names: Vec<&str> = tests.iter().map(|&test| program.tests[test].name.as_str()).collect();
        return rejected(format!(
            "the explorer steps through one test case; choose it with -tc:\n{}",
            names.join("\n")
        ));
    };
    let executable = match network::executable(program, *test, &args.network.options()) {
        Ok(executable) => executable,
        Err(status) => return status,
    };
    let server = match Server::listen(args.port) {
        Ok(server) => server,
        Err(error) => return rejected(format!("port {} is not available: {error}", args.port)),
    };
    interrupt::listen();
    printer::out(&format!("{}\n", server.address()));
    printer::err("... open this address in a browser; Ctrl-C ends it\n");
    let stop = Stop::after(args.timeout.map(Duration::from_secs));
    match server.serve(&Session::new(&compilation, executable), &stop) {
        Ok(()) => ExitStatus::Success,
        Err(error) => rejected(format!("the server has ended: {error}")),
    }
}
