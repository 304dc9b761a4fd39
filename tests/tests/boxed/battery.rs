//! The battery of the golden set, and the programs of the repository, as each user that this machine lets us be.

use ktd_kit::golden::golden_root;
use ktd_kit::has_boxes;
use ktd_kit::program::{binary, printed};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A user that owns nothing.
const ORDINARY: u32 = 1_001;

fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|own| std::os::unix::fs::MetadataExt::uid(&own) == 0)
}

/// Runs a battery with keys in the environment that no program may find; as an ordinary user where we may be one.
fn contained(cases: Option<&str>, as_ordinary: bool) -> (u64, u64) {
    let folder = tempfile::tempdir().unwrap();
    let program = folder.path().join("ktd");
    let open = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(folder.path(), open).unwrap();
    std::fs::copy(binary(), &program).unwrap();
    let mut command = Command::new(&program);
    command
        .args(["--json", "box", "test"])
        .current_dir("/")
        .env("PLANTED_API_KEY", "planted");
    if let Some(cases) = cases {
        let path = folder.path().join("cases.jsonl");
        std::fs::write(&path, cases).unwrap();
        command.arg(path);
    }
    if let Some(environment) = ktd_kit::need::box_environment() {
        command.arg("--env").arg(environment);
    }
    if as_ordinary {
        command.uid(ORDINARY).gid(ORDINARY);
    }
    let output = command.output().unwrap();
    let document = printed(&output);
    assert_eq!(document["header"]["isolation"], "bwrap");
    (
        document["contained"].as_u64().unwrap(),
        document["of"].as_u64().unwrap(),
    )
}

#[test]
fn every_program_of_the_golden_battery_is_contained() {
    let path = golden_root().join("sandbox/cases.jsonl");
    if !has_boxes() || !path.is_file() {
        println!("passed over: boxes or {}", path.display());
        return;
    }
    let cases = std::fs::read_to_string(path).unwrap();
    // Whoever is no root is ordinary already.
    let users: &[bool] = if is_root() { &[false, true] } else { &[false] };
    for as_ordinary in users {
        let (held, all) = contained(Some(&cases), *as_ordinary);
        println!("{held} of {all}");
        assert!(119 <= all && held == all, "{held} of {all}");
    }
}

#[test]
fn an_ordinary_user_has_the_same_box() {
    if !has_boxes() {
        return;
    }
    // Whoever is no root is ordinary already.
    let (held, all) = contained(None, is_root());
    assert!(21 <= all && held == all, "{held} of {all}");
}
