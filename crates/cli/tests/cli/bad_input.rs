//! Wrong input of every kind ends with a clear sentence and exit status 2, never with a crash.

use std::fs;

use crate::common::{allways, assert_says, folder, rejected};

const MAIN: &str = "machine Main { start state S { } }\n";

#[test]
fn invalid_utf8() {
    let dir = folder("invalid_utf8");
    fs::write(dir.join("a.p"), b"machine Main {\n start state S { } } // \xff\n").unwrap();
    assert_says(&rejected(&dir, &["compile"]), &["not-utf8", "line 2"]);
}

#[test]
fn byte_order_mark_is_skipped() {
    let dir = folder("byte_order_mark");
    fs::write(dir.join("a.p"), format!("\u{feff}{MAIN}")).unwrap();
    assert_eq!(allways(&dir, &["compile"]).status.code(), Some(0));
}

#[test]
fn empty_folder_and_empty_project() {
    let dir = folder("empty_project");
    assert_says(&rejected(&dir, &["compile"]), &["no-sources", "current folder"]);
    fs::write(dir.join("a.pproj"), "<Project><ProjectName>A</ProjectName><InputFiles/></Project>").unwrap();
    assert_says(&rejected(&dir, &["compile"]), &["no-sources"]);
}

#[test]
fn missing_file_and_folder() {
    let dir = folder("missing_file");
    assert_says(
        &rejected(&dir, &["compile", "nothing.p"]),
        &["unreadable-file", "nothing.p", "does not exist"],
    );
    fs::write(dir.join("a.p"), MAIN).unwrap();
    assert_says(&rejected(&dir, &["compile", "a.p", "b.p"]), &["b.p", "does not exist"]);
}

#[test]
fn include_cycle() {
    let dir = folder("include_cycle");
    let project = |name: &str, other: &str| {
        format!(
            "<Project><ProjectName>{name}</ProjectName><InputFiles><PFile>m.p</PFile></InputFiles>\
             <IncludeProject>{other}.pproj</IncludeProject></Project>"
        )
    };
    fs::write(dir.join("m.p"), MAIN).unwrap();
    fs::write(dir.join("a.pproj"), project("A", "b")).unwrap();
    fs::write(dir.join("b.pproj"), project("B", "a")).unwrap();
    assert_says(&rejected(&dir, &["compile", "a.pproj"]), &["include-cycle", "includes itself"]);
}

#[test]
fn two_projects_in_a_folder() {
    let dir = folder("two_projects");
    fs::write(dir.join("a.pproj"), "").unwrap();
    fs::write(dir.join("b.pproj"), "").unwrap();
    assert_says(&rejected(&dir, &["compile"]), &["several-projects", "a.pproj", "b.pproj"]);
}

#[test]
fn broken_project_files() {
    let dir = folder("broken_project");
    let file = dir.join("a.pproj");
    for (text, word) in [
        ("", "XML"),
        ("<Project>", "XML"),
        ("<Other/>", "<Project>"),
        ("<Project/>", "<ProjectName>"),
        ("<Project><ProjectName>1 2</ProjectName></Project>", "name of a project"),
        (
            "<Project><ProjectName>A</ProjectName><IncludeProject>no.pproj</IncludeProject></Project>",
            "no.pproj",
        ),
    ] {
        fs::write(&file, text).unwrap();
        assert_says(&rejected(&dir, &["compile"]), &["bad-project", word]);
    }
}

#[test]
fn nested_parentheses() {
    let dir = folder("nested_parentheses");
    let n = 100_000;
    let text = format!(
        "machine Main {{ var x: int; start state S {{ entry {{ x = {}1{}; }} }} }}",
        "(".repeat(n),
        ")".repeat(n)
    );
    fs::write(dir.join("a.p"), text).unwrap();
    assert_says(&rejected(&dir, &["compile"]), &["nested-too-deep"]);
}

#[test]
fn huge_file() {
    let dir = folder("huge_file");
    fs::write(dir.join("a.p"), MAIN.repeat(50_000_000 / MAIN.len())).unwrap();
    assert_says(&rejected(&dir, &["compile"]), &["file-too-large", "a.p"]);
    fs::remove_dir_all(dir).unwrap();
}

#[test]
fn folder_named_like_a_file() {
    let dir = folder("folder_named_like_a_file");
    fs::create_dir(dir.join("x.p")).unwrap();
    assert_says(&rejected(&dir, &["compile"]), &["no-sources"]);
    assert_says(&rejected(&dir, &["compile", "x.p"]), &["no-sources"]);
}

#[test]
fn wrong_usage() {
    let dir = folder("wrong_usage");
    assert_says(&rejected(&dir, &["compole"]), &["compole"]);
    assert_says(&rejected(&dir, &["compile", "--frmat", "json"]), &["--frmat"]);
    let memory = "a positive number of gigabytes is needed";
    assert_says(&rejected(&dir, &["check", "-m", "tcOne"]), &[memory, "; `-tc NAME` chooses a test case"]);
    assert_says(&rejected(&dir, &["prove", "-m", "0"]), &[memory]);
    assert_says(&rejected(&dir, &["explain", "no-such-code"]), &["no-such-code"]);
    assert_says(&rejected(&dir, &[]), &["Usage"]);
}

#[test]
fn reductions_in_vain() {
    let dir = folder("reductions_in_vain");
    fs::write(dir.join("a.p"), MAIN).unwrap();
    for (options, words) in [
        (
            "--reductions path-compression",
            "does nothing without persistent-sets: give `--reductions persistent-sets,path-compression`",
        ),
        (
            "--reductions symmetry,broadcasts",
            "without collection-order: give `--reductions collection-order,broadcasts`",
        ),
        (
            "--reductions path-compression,persistent-sets --no-reduction persistent-sets",
            "path-compression does nothing without persistent-sets: leave out `--no-reduction persistent-sets`",
        ),
        (
            "--reductions persistent-sets --max-inbox 3",
            "persistent-sets does nothing here: it is for searches without bounds",
        ),
        (
            "--reductions all,path-compression --order depth",
            "path-compression does nothing here: it is for `--order breadth`",
        ),
        ("--reductions persistent-sets --order deepening", "`--order breadth` and `--order depth`"),
        ("--reductions all,broadcasts --fairness weak", "`--fairness random` and `--fairness none`"),
        ("--reductions symmetry --network fifo", "symmetry does nothing here: it is for P's own network"),
        ("--reductions symmetry --crash Main", "symmetry does nothing here: it is for P's own network"),
        ("--reductions confluent-sends", "`--network bag` and `--network fifo`"),
        (
            "--reductions confluent-sends --network bag --crash Main",
            "with faults it needs `lazy-faults`, too",
        ),
        ("--reductions lazy-faults --network bag", "it is for networks with faults"),
        ("--reductions lazy-faults --network bag --crash Main --max-depth 9", "searches without bounds"),
        ("--reductions lazy-faults --crash Main --order depth", "it is for `--order breadth`"),
        ("--reductions unread-payloads --network bag", "it is not for `--network bag`"),
        ("--reductions symmetry --engine asi", "it is for `--engine explicit`"),
        ("--no-reduction none", "name a reduction, or `all`"),
    ] {
        let args: Vec<&str> = ["prove"].into_iter().chain(options.split(' ')).collect();
        assert_says(&rejected(&dir, &args), &[words]);
    }
    for options in [
        "--reductions all --max-inbox 3",
        "--reductions persistent-sets,path-compression",
        "--reductions persistent-sets --order depth",
        "--reductions symmetry --network inbox",
        "--reductions confluent-sends --network fifo",
        "--reductions confluent-sends,lazy-faults --network fifo --crash Main",
        "--reductions lazy-faults --crash Main",
        "--reductions collection-order,broadcasts --max-choices 2",
        "--reductions path-compression --no-reduction path-compression",
        "--no-reduction all",
    ] {
        let args: Vec<&str> = ["prove"].into_iter().chain(options.split(' ')).collect();
        let output = allways(&dir, &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(0), "{options}: {said}");
        assert!(!said.contains("reduction"), "{options}: {said}");
    }
    // A reduction that is turned off with another one is reported.
    let output = allways(&dir, &["prove", "--no-reduction", "persistent-sets"]);
    assert_eq!(output.status.code(), Some(0));
    assert_says(
        &String::from_utf8_lossy(&output.stderr),
        &["`--no-reduction persistent-sets` turns off path-compression too, which needs it"],
    );
}

#[test]
fn json_is_written_for_rejected_input_too() {
    let dir = folder("json_rejected");
    fs::write(dir.join("a.p"), "machine Main { }").unwrap();
    let output = allways(&dir, &["compile", "--format", "json"]);
    assert_eq!(output.status.code(), Some(2));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["version"], 2);
    assert_eq!(report["accepted"], false);
    assert_eq!(report["diagnostics"][0]["code"], "no-start-state");
    assert_eq!(report["diagnostics"][0]["place"]["column"], 9);
}

#[test]
fn both_conventions_of_include_paths() {
    let dir = folder("include_paths");
    let write = |path: &str, text: &str| {
        let path = dir.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    let project = |name: &str, file: &str, include: &str| {
        format!(
            "<Project><ProjectName>{name}</ProjectName><InputFiles><PFile>{file}</PFile></InputFiles>{include}</Project>"
        )
    };
    write("main/m.p", "machine Main { start state S { entry { new A(); new B(); } } }");
    write("a/a.p", "machine A { start state S { } } test InA [main=Main]: { Main, A, B };");
    write("b/b.p", "machine B { start state S { } }");
    // From the main project to `a`, from `a` to `b`: relative to the file in one run, to the main project in the other.
    for include in ["../b/b.pproj", "b/b.pproj"] {
        write("main/main.pproj", &project("M", "m.p", "<IncludeProject>../a/a.pproj</IncludeProject>"));
        write("a/a.pproj", &project("A", "a.p", &format!("<IncludeProject>{include}</IncludeProject>")));
        write("b/b.pproj", &project("B", "b.p", ""));
        write("main/b/b.pproj", &project("B", "../../b/b.p", ""));
        let output = allways(&dir.join("main"), &["tests"]);
        let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{err}");
        // Tests of included projects are left out, so the program gets the default test.
        assert_eq!(out, "DefaultImpl\n");
    }
}

#[test]
fn a_file_reached_twice_counts_once() {
    let dir = folder("reached_twice");
    fs::write(dir.join("a.p"), MAIN).unwrap();
    let output = allways(&dir, &["compile", "a.p", "./a.p"]);
    assert_eq!(output.status.code(), Some(0));
    assert_says(&String::from_utf8_lossy(&output.stderr), &["duplicate-file"]);
}
