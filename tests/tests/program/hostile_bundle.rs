//! A bundle of some kilobytes that unpacks to gigabytes: what an auditor runs on it says so, and holds little of it.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::episode::OnPanel;
use ktd_kit::program::{binary, refused};
use std::io::Read;
use std::path::Path;
use std::process::{Command, Output};

/// What a frame unpacks to.
const FRAME_BYTES: u64 = 64 << 20;
/// Frames one behind the other: together they unpack to 4 GiB.
const FRAMES: usize = 64;
/// What the program may hold, KiB: a quarter of what the file unpacks to.
const HELD_KIB: u64 = 1 << 20;

/// What `ktd --quiet ARGUMENTS` does where it may hold so much and no more.
fn limited(folder: &Path, arguments: &[&str]) -> Output {
    let script = format!("ulimit -d {HELD_KIB} && exec \"$0\" --quiet \"$@\"");
    let mut shell = Command::new("sh");
    shell.args(["-c", &script]).arg(binary()).args(arguments);
    shell.current_dir(folder).output().unwrap()
}

#[test]
fn exchanges_that_unpack_to_gigabytes_are_refused_before_they_fill_the_memory() {
    let settings = "agents = [{ id = \"a\", builtin = \"hold\" }]\nmasks = [{ level = \"bright\" }]";
    let episode = OnPanel::new(3, 2, settings);
    let bundle = episode.bundle.to_string_lossy();
    for (byte, said) in [
        (b'\n', "line 1 is blank"),
        (b' ', "line 1: it is longer than 64 MiB"),
    ] {
        let packed = zstd::encode_all(std::io::repeat(byte).take(FRAME_BYTES), 1)
            .unwrap()
            .repeat(FRAMES);
        assert!(packed.len() < 1 << 20);
        std::fs::write(episode.bundle.join("exchanges.jsonl.zst"), packed).unwrap();
        for command in ["verify", "replay", "leaderboard"] {
            let error = refused(&limited(episode.folder.path(), &[command, &bundle]), 1);
            let part = format!("exchanges.jsonl.zst: {said}");
            assert!(
                error.contains(&part) && error.contains("hint: "),
                "{command}: {error}"
            );
        }
    }
}
