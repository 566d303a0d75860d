//! Checkpoints, and processes that work together.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const MODEL: &str = "tcCoherent___nClients_3__nRequests_2";

fn model() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/german").display().to_string()
}

fn allways(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_allways"));
    command.args(args).env("NO_COLOR", "1").env_remove("ALLWAYS_CLUSTER_SECRET");
    command
}

fn run(args: &[&str]) -> Output {
    allways(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The report without the line that is about time.
fn report(output: &Output) -> String {
    text(&output.stdout).lines().filter(|line| !line.contains("Elapsed")).collect::<Vec<_>>().join("\n")
}

/// A folder of this test alone.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder =
            PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("cluster-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn path(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_proof_goes_on_from_its_checkpoint() {
    let folder = Folder::new("resume");
    let (model, kept) = (model(), folder.path("kept"));
    let alone = run(&["prove", &model, "-tc", MODEL, "--engine", "explicit"]);
    let keep = ["prove", &model, "-tc", MODEL, "--checkpoint", &kept, "--checkpoint-seconds", "0"];
    let first = run(&keep);
    assert_eq!((report(&first), first.status.code()), (report(&alone), Some(0)));
    // As if it had been killed: what is newest is not there.
    let files = |kind: &str| -> Vec<PathBuf> {
        let searches = std::fs::read_dir(&kept).unwrap().flatten().filter(|entry| entry.path().is_dir());
        let files = searches.flat_map(|search| std::fs::read_dir(search.path()).unwrap().flatten());
        files.map(|file| file.path()).filter(|path| path.display().to_string().contains(kind)).collect()
    };
    let layer = |path: &PathBuf| -> u64 {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.split('-').nth(2).unwrap().parse().unwrap()
    };
    let newest = files("frontier-").into_iter().max_by_key(layer).unwrap();
    std::fs::remove_file(newest).unwrap();
    let again = run(&[&keep[..], &["-j", "2"]].concat());
    assert_eq!(report(&again), report(&alone));
    assert!(text(&again.stderr).contains("went on from layer"), "{}", text(&again.stderr));

    let other = run(&["prove", &model, "-tc", MODEL, "--checkpoint", &kept, "--store", "wide"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(text(&other.stderr).contains("its options is"), "{}", text(&other.stderr));
    let other = run(&["prove", &model, "-tc", "tcCoherent___nClients_2__nRequests_2", "--checkpoint", &kept]);
    assert!(text(&other.stderr).contains("its test is"), "{}", text(&other.stderr));

    // One bit of the keys.
    let damaged = files("keys-").into_iter().min_by_key(layer).unwrap();
    let mut bytes = std::fs::read(&damaged).unwrap();
    let at = bytes.len() - 40;
    bytes[at] ^= 4;
    std::fs::write(&damaged, bytes).unwrap();
    let refused = run(&keep);
    assert_eq!(refused.status.code(), Some(3));
    assert!(
        text(&refused.stdout).contains("its content is not what was written"),
        "{}",
        text(&refused.stdout)
    );
}

#[test]
fn processes_say_what_one_says() {
    let model = model();
    for reductions in ["all", "none"] {
        let alone = match reductions {
            "none" => run(&["prove", &model, "-tc", MODEL, "--engine", "explicit", "--reductions", "none"]),
            _ => run(&["prove", &model, "-tc", MODEL, "--engine", "explicit"]),
        };
        let prove = ["prove", &model, "-tc", MODEL, "--reductions", reductions, "-j", "1"];
        let together = run(&[&["cluster", "up", "-n", "2", "--"][..], &prove].concat());
        assert_eq!(report(&together), report(&alone), "{}", text(&together.stderr));
        assert_eq!(together.status.code(), Some(0));
    }
}

#[test]
fn processes_test_as_one_does() {
    let folder = Folder::new("check");
    let out = folder.path("out");
    let bank = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models/bank").display().to_string();
    for (path, test, code) in [(&bank, "HastyTellers", 1), (&model(), MODEL, 0)] {
        let check =
            ["check", path, "-tc", test, "-s", "2000", "--seed", "5", "--coverage", "-j", "1", "-o", &out];
        let alone = run(&check);
        // Names of files go by what is there.
        let _ = std::fs::remove_dir_all(&out);
        let together = run(&[&["cluster", "up", "-n", "3", "--"][..], &check].concat());
        assert_eq!(report(&together), report(&alone), "{}", text(&together.stderr));
        assert_eq!((together.status.code(), alone.status.code()), (Some(code), Some(code)));
    }
    let enumerated =
        run(&["cluster", "up", "-n", "2", "--", "check", &bank, "-tc", "HastyTellers", "--sch-dfs"]);
    assert_eq!(enumerated.status.code(), Some(2));
}

#[test]
fn a_proof_that_does_not_fit_into_memory_goes_to_disk() {
    let folder = Folder::new("spill");
    let (model, kept) = (model(), folder.path("kept"));
    let prove = ["prove", &model, "-tc", "tcCoherent___nClients_3__nRequests_5", "--reductions", "none"];
    let alone = run(&[&prove[..], &["--engine", "explicit", "-v"]].concat());
    let small = ["--memory", "0.006", "--spill", &kept, "-v"];
    let spilled = run(&[&prove[..], &small, &["-j", "2"]].concat());
    assert_eq!(report(&spilled), report(&alone), "{}", text(&spilled.stderr));
    assert_eq!((alone.status.code(), spilled.status.code()), (Some(0), Some(0)));
    assert!(text(&spilled.stderr).contains("on disk: "), "{}", text(&spilled.stderr));
    // Nothing is left, also of a search that was cut short.
    run(&[&prove[..], &small, &["--max-depth", "12"]].concat());
    assert_eq!(std::fs::read_dir(&kept).unwrap().count(), 0);
    let refused = run(&[&prove[..], &["--spill", &kept, "--store", "exact"]].concat());
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn processes_with_different_secrets_refuse_each_other() {
    let folder = Folder::new("secrets");
    let (model, meet) = (model(), folder.path("."));
    let start = |process: &str, secret: &str| {
        let mut command = allways(&["prove", &model, "-tc", MODEL, "--cluster", &meet, "--processes", "2"]);
        command.args(["--process", process, "--connect-seconds", "1"]).env("ALLWAYS_CLUSTER_SECRET", secret);
        command.stderr(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn().unwrap()
    };
    let first = start("0", "one secret that is long");
    let second = start("1", "another that is as long");
    let (first, second) = (first.wait_with_output().unwrap(), second.wait_with_output().unwrap());
    assert_eq!((first.status.code(), second.status.code()), (Some(4), Some(4)));
    assert!(
        text(&first.stderr).contains("was refused: it does not know the secret"),
        "{}",
        text(&first.stderr)
    );
    assert!(text(&second.stderr).contains("it does not know the secret"), "{}", text(&second.stderr));
    let short =
        run(&["prove", &model, "-tc", MODEL, "--cluster", &meet, "--process", "0", "--processes", "1"]);
    assert!(text(&short.stderr).contains("need a secret of 16 characters"), "{}", text(&short.stderr));
}

/// The recipe of the book, as it stands there, where `ssh` and `scp` are scripts that stay on this machine.
#[test]
#[cfg(unix)]
fn the_recipe_for_several_machines_works() {
    use std::os::unix::fs::PermissionsExt;
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/how-to/scale-out.md");
    let page = std::fs::read_to_string(page).unwrap();
    let blocks: Vec<&str> =
        page.split("```text\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let recipe = blocks.iter().find(|block| block.contains("ssh $host")).unwrap();
    let folder = Folder::new("ssh");
    let script = |name: &str, text: &str| {
        let path = folder.0.join(name);
        std::fs::write(&path, text).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    script("ssh", "#!/bin/sh\ncd \"$ELSEWHERE/$1\" && exec sh -c \"$2\"\n");
    script(
        "scp",
        "#!/bin/sh\nfor last; do :; done\nmkdir -p \"$ELSEWHERE/${last%:}\"\n\
         for file; do case $file in -*|*:) ;; *) cp -r $file \"$ELSEWHERE/${last%:}/\";; esac; done\n",
    );
    std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_allways"), folder.0.join("allways")).unwrap();
    std::fs::create_dir(folder.0.join("model")).unwrap();
    std::fs::copy(Path::new(&model()).join("German.p"), folder.0.join("model/German.p")).unwrap();
    // Both are free until both are known.
    let sockets = [(); 2].map(|()| std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let [first, second] = sockets.map(|socket| socket.local_addr().unwrap().to_string());
    // Another name, so that it has a folder of its own.
    let second = second.replace("127.0.0.1", "localhost");
    std::fs::write(folder.0.join("hosts"), format!("# hosts\n{first}\n{second}\n")).unwrap();
    let path = format!("{}:{}", folder.0.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    shell.args(["-ec", &recipe.replace("tcBig", MODEL)]).current_dir(&folder.0);
    shell.env("PATH", path).env("ELSEWHERE", folder.0.join("elsewhere")).env("NO_COLOR", "1");
    let together = shell.output().unwrap();
    let mut alone = allways(&["prove", "model", "-tc", MODEL, "--engine", "explicit"]);
    let alone = alone.current_dir(&folder.0).output().unwrap();
    assert_eq!(report(&together), report(&alone), "{}", text(&together.stderr));
}

/// What no cluster reads here, a parser can: the parts of the manifest that the commands depend on.
#[test]
fn the_manifest_of_the_job_is_consistent() {
    let file =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/book/src/how-to/files/cluster-job.yaml");
    let manifest = std::fs::read_to_string(file).unwrap();
    assert!(!manifest.contains('\t'));
    let documents: Vec<&str> = manifest.split("\n---\n").collect();
    let value = |document: &str, key: &str| -> String {
        let line = document.lines().find_map(|line| line.trim_start_matches([' ', '-']).strip_prefix(key));
        line.and_then(|rest| rest.strip_prefix(": ")).unwrap_or_default().to_owned()
    };
    let kinds: Vec<String> = documents.iter().map(|document| value(document, "kind")).collect();
    assert_eq!(kinds, ["Service", "ConfigMap", "Job"]);
    let (service, hosts, job) = (documents[0], documents[1], documents[2]);
    let addresses: Vec<&str> = hosts.lines().map(str::trim).filter(|line| line.ends_with(":7000")).collect();
    assert_eq!(addresses.len().to_string(), value(job, "completions"));
    assert_eq!(value(job, "parallelism"), value(job, "completions"));
    assert_eq!(value(job, "completionMode"), "Indexed");
    // Only lost processes are worth another start, and only a pod that ends for good has an exit status to judge by.
    assert_eq!(
        (value(job, "values"), value(job, "restartPolicy")),
        ("[1, 2, 3, 101]".into(), "Never".into())
    );
    for (number, address) in addresses.iter().enumerate() {
        // Pods of an indexed job have these names below their service.
        assert_eq!(*address, format!("{}-{number}.{}:7000", value(job, "name"), value(job, "subdomain")));
    }
    assert_eq!(value(service, "name"), value(job, "subdomain"));
    assert_eq!(value(service, "job-name"), value(job, "name"));
    // The options are those of this binary.
    let help = text(&run(&["prove", "--help"]).stdout);
    let words = job.split_whitespace().filter(|word| word.starts_with("--"));
    for option in words.filter(|word| *word != "---") {
        assert!(help.contains(option), "{option}");
    }
}
