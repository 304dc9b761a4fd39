//! Help in groups, documents as topics, completions for shells, manual pages.

use ktd_kit::{assert_ok, command, ktd};
use std::process::Command;

#[test]
fn help_fits_eighty_columns_and_a_topic_is_a_document() {
    let folder = tempfile::tempdir().unwrap();
    let help = command(folder.path(), &["--help"])
        .env("COLUMNS", "80")
        .output()
        .unwrap();
    assert_ok(&help);
    let help = String::from_utf8(help.stdout).unwrap();
    assert!(help.contains("Masks:\n  certify"), "{help}");
    for line in help.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    let topics = ktd(folder.path(), &["help", "topics"]);
    assert_ok(&topics);
    for line in String::from_utf8(topics.stdout).unwrap().lines() {
        let topic = line.split(' ').next().unwrap();
        let shown = ktd(folder.path(), &["help", topic]);
        assert!(shown.stdout.starts_with(b"# "), "{topic}");
    }
    let unknown = ktd(folder.path(), &["help", "glosary"]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("did you mean `glossary`?"));
    // A command's name is a command's help.
    let run = ktd(folder.path(), &["help", "run"]);
    assert!(
        String::from_utf8(run.stdout)
            .unwrap()
            .contains(" run [OPTIONS] <EXPERIMENT>")
    );
}

#[test]
fn completions_are_read_by_the_shells_that_are_here_and_pages_are_written() {
    let folder = tempfile::tempdir().unwrap();
    for (shell, check) in [
        (
            "bash",
            "source ./script && complete -p ktd && COMP_WORDS=(ktd help gl) COMP_CWORD=2 && _ktd ktd gl help \
             && [[ ${COMPREPLY[*]} == glossary ]]",
        ),
        (
            "zsh",
            "autoload -U compinit && compinit -D && source ./script && (( $+_comps[ktd] ))",
        ),
        (
            "fish",
            "source ./script; and complete -C 'ktd leaderb' | string match -q 'leaderboard*'; \
             and complete -C 'ktd help gl' | string match -q 'glossary*'; \
             and complete -C 'ktd replay --numeric ' | string match -q 'rescaled*'",
        ),
    ] {
        let script = ktd(folder.path(), &["completions", shell]);
        assert_ok(&script);
        std::fs::write(folder.path().join("script"), script.stdout).unwrap();
        let read = Command::new(shell)
            .arg("-c")
            .arg(check)
            .current_dir(folder.path())
            .output();
        // A shell that is not here reads nothing.
        if let Ok(read) = read {
            assert_ok(&read);
        }
    }
    assert_ok(&ktd(folder.path(), &["man", "--out", "man1"]));
    let page = std::fs::read_to_string(folder.path().join("man1/ktd-data-import.1")).unwrap();
    assert!(page.contains("ktd\\-data\\-import"), "{page}");
    let (_, examples) = page
        .split_once(".nf\n  ktd data import")
        .expect("examples that are not filled");
    assert!(examples.contains("\n.fi\n"), "{page}");
}
