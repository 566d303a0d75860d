//! How fast files are read, parsed and checked.

use std::fmt::Write as _;
use std::path::PathBuf;

use allways_driver::Request;

use crate::best_of;

/// Reads, parses and checks generated projects of growing size on one core. The baseline reads the same files
/// and splits them at white space.
pub fn run() {
    println!("{:>9} {:>7} {:>10} {:>12} {:>22}", "lines", "files", "ms", "lines/s", "times the baseline");
    for (n_files, n_machines) in [(1, 4), (10, 12), (60, 40), (200, 60)] {
        let project = write_project(n_files, n_machines);
        let request = Request { paths: vec![project.clone()], ..Request::default() };
        let compilation = allways_driver::compile(&request, false);
        assert!(compilation.program.is_some(), "the generated program is accepted");
        let n_lines = compilation.n_lines();
        let files: Vec<String> = compilation.sources().iter().map(|(_, file)| file.name.clone()).collect();
        drop(compilation);
        let measured = best_of(5, || allways_driver::compile(&request, false));
        let baseline = best_of(5, || {
            files
                .iter()
                .map(|file| std::fs::read_to_string(file).map_or(0, |text| text.split_whitespace().count()))
                .sum::<usize>()
        });
        println!(
            "{n_lines:>9} {n_files:>7} {:>10.1} {:>12.0} {:>22.1}",
            measured.as_secs_f64() * 1e3,
            n_lines as f64 / measured.as_secs_f64(),
            measured.as_secs_f64() / baseline.as_secs_f64(),
        );
        // The folder is ours and inside the build folder.
        let _ = std::fs::remove_dir_all(project);
    }
}

/// A folder with a project of `n_files` files, each with `n_machines` machines of about forty lines.
fn write_project(n_files: usize, n_machines: usize) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("allways-bench-{}-{n_files}", std::process::id()));
    let source = folder.join("PSrc");
    std::fs::create_dir_all(&source).expect("the temporary folder can be written");
    std::fs::write(
        folder.join("Bench.pproj"),
        "<Project><ProjectName>Bench</ProjectName><InputFiles><PFile>./PSrc/</PFile></InputFiles></Project>",
    )
    .expect("the project file can be written");
    for file in 0..n_files {
        let mut text = String::new();
        for machine in 0..n_machines {
            write_machine(&mut text, &format!("{file}_{machine}"));
        }
        std::fs::write(source.join(format!("File{file}.p")), text).expect("the source file can be written");
    }
    folder
}

fn write_machine(text: &mut String, id: &str) {
    write!(
        text,
        r#"
// A keeper of numbered entries that answers requests of its clients.
type tEntry{id} = (key: int, value: int, owner: machine);
enum Phase{id} {{ Idle{id}, Busy{id}, Done{id} }}
event eRead{id}: (client: machine, key: int);
event eWrite{id}: tEntry{id};
event eReply{id}: (ok: bool, value: int);

machine Keeper{id} {{
  var entries: map[int, tEntry{id}];
  var waiting: seq[machine];
  var phase: Phase{id};
  var n_served: int;

  start state Serving {{
    entry (capacity: int) {{
      n_served = capacity - capacity;
      phase = Idle{id};
    }}
    on eRead{id} do (request: (client: machine, key: int)) {{
      var answer: int;
      answer = Lookup(request.key, 0 - 1);
      n_served = n_served + 1;
      if (answer >= 0 && phase != Busy{id}) {{
        send request.client, eReply{id}, (ok = true, value = answer);
      }} else if (sizeof(waiting) < 10) {{
        waiting += (sizeof(waiting), request.client);
      }} else {{
        send request.client, eReply{id}, (ok = false, value = 0);
      }}
    }}
    on eWrite{id} do (entry_: tEntry{id}) {{
      entries[entry_.key] = entry_;
      assert entries[entry_.key].value == entry_.value, format("entry {{0}} was lost", entry_.key);
      while (sizeof(waiting) > 0) {{
        send waiting[0], eReply{id}, (ok = true, value = entry_.value);
        waiting -= (0);
      }}
      goto Serving, n_served;
    }}
  }}

  fun Lookup(key: int, otherwise: int): int {{
    if (key in entries) {{
      return entries[key].value;
    }}
    return otherwise;
  }}
}}
"#
    )
    .expect("writing to a string");
}
