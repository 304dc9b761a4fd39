//! What a machine that has no boxes is answered, and what is wrong with a source or a file of cases.

use ktd_kit::has_boxes;
use ktd_kit::program::{binary, refused};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

/// `ktd box ...` on a path that holds these programs alone.
fn with_programs(programs: &[(&str, &str)], arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    std::fs::set_permissions(folder.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    for (name, text) in programs {
        let path = folder.path().join(name);
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    let file = folder.path().join("file.py");
    std::fs::write(&file, "print(1)\n").unwrap();
    let mut command = Command::new(binary());
    command
        .arg("box")
        .args(arguments)
        .env("PATH", folder.path())
        .env("XDG_DATA_HOME", folder.path());
    if arguments.first() == Some(&"run") {
        command.arg(&file);
    }
    command.output().unwrap()
}

#[test]
fn a_machine_without_bubblewrap_is_told_how_to_get_it() {
    let said = refused(&with_programs(&[], &["run"]), 2);
    assert!(said.contains("bubblewrap is missing"), "{said}");
    assert!(said.contains("apt-get install bubblewrap"), "{said}");
}

#[test]
fn an_old_bubblewrap_is_refused() {
    let said = refused(&with_programs(&[("bwrap", "echo bubblewrap 0.7.1")], &["run"]), 2);
    assert!(said.contains("bubblewrap 0.7.1 is too old"), "{said}");
}

#[test]
fn a_machine_that_blocks_namespaces_is_told_so() {
    if !has_boxes() {
        return;
    }
    let blocked = "case $1 in --version) echo bubblewrap 0.8.0;; *) echo 'bwrap: No permissions to create new namespace' >&2; exit 1;; esac";
    let environment = ktd_kit::need::box_environment().unwrap();
    let said = refused(
        &with_programs(
            &[("bwrap", blocked)],
            &["run", "--env", environment.to_str().unwrap()],
        ),
        2,
    );
    assert!(said.contains("user namespaces are blocked here"), "{said}");
    assert!(said.contains("--isolation landlock"), "{said}");
}

#[test]
fn a_machine_without_the_environment_is_told_to_set_it_up() {
    let said = refused(&with_programs(&[("bwrap", "echo bubblewrap 0.8.0")], &["run"]), 2);
    assert!(said.contains("python environment is not set up"), "{said}");
    assert!(said.contains("run ktd box setup"), "{said}");
}

#[test]
fn a_machine_without_a_fit_python_is_told_which() {
    let said = refused(&with_programs(&[], &["setup"]), 2);
    assert!(said.contains("no CPython 3.11 to 3.13 on the path"), "{said}");
    let old = "echo '{\"name\": \"cpython\", \"major\": 3, \"minor\": 9, \"version\": \"3.9.1\", \"prefix\": \"/usr\"}'";
    let said = refused(&with_programs(&[("python3", old)], &["setup"]), 2);
    assert!(said.contains("Python 3.9 is too old"), "{said}");
}

/// `ktd box run` of a file of these bytes.
fn run_file(bytes: &[u8], more: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.py");
    std::fs::write(&file, bytes).unwrap();
    run_path(&file, more)
}

fn run_path(path: &Path, more: &[&str]) -> Output {
    Command::new(binary())
        .args(["box", "run"])
        .arg(path)
        .args(more)
        .output()
        .unwrap()
}

#[test]
fn what_is_no_source_is_refused_before_a_box_is_made() {
    let folder = tempfile::tempdir().unwrap();
    assert!(refused(&run_path(folder.path(), &[]), 2).contains("is a directory"));
    for (bytes, word) in [
        (&b""[..], "empty"),
        (b"x = 1\0", "zero"),
        (b"\xff\xfex\0", "UTF-8"),
        (&vec![b'a'; (256 << 10) + 1], "262145 bytes"),
    ] {
        let said = refused(&run_file(bytes, &[]), 2);
        assert!(said.contains(word), "{said}");
    }
}

#[test]
fn line_ends_and_a_mark_of_other_systems_are_taken() {
    if !has_boxes() {
        return;
    }
    let output = run_file(b"\xef\xbb\xbfif True:\r\n    print('ran \x1b[31m')\r\n", &[]);
    assert!(output.status.success(), "{output:?}");
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.starts_with("ran \\u{1b}[31m"), "{printed}");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("byte order mark")
    );
}

#[test]
fn a_descriptor_that_was_left_open_is_open_in_no_job() {
    if !has_boxes() {
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file.py");
    let text = "import os\nfound = []\nfor at in range(4, 2048):\n    try: os.fstat(at)\n    except OSError: continue\n    found.append(at)\nprint(found)\n";
    std::fs::write(&file, text).unwrap();
    let output = Command::new("sh")
        .args(["-c", "exec 7</dev/null 9</dev/null; exec \"$0\" box run \"$1\""])
        .arg(binary())
        .arg(&file)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(output.stdout.starts_with(b"[]\n"), "{output:?}");
}

#[test]
fn limits_that_cannot_be_are_refused() {
    if !has_boxes() {
        return;
    }
    for (flag, key) in [
        ("--cpu", "cpu_s"),
        ("--wall", "wall_s"),
        ("--memory", "memory_mb"),
    ] {
        let said = refused(&run_file(b"print(1)", &[flag, "0"]), 2);
        assert!(said.contains(&format!("{key} is 0")), "{said}");
    }
}

#[test]
fn a_file_of_cases_with_an_unknown_expectation_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let cases = folder.path().join("cases.jsonl");
    std::fs::write(
        &cases,
        "{\"name\":\"a\",\"group\":\"b\",\"expect\":\"limit moon\",\"source\":\"1\",\"why\":\"\"}\n",
    )
    .unwrap();
    let output = Command::new(binary())
        .args(["box", "test"])
        .arg(&cases)
        .output()
        .unwrap();
    let said = refused(&output, 2);
    assert!(
        said.contains("line 1: unknown expectation \"limit moon\""),
        "{said}"
    );
}
