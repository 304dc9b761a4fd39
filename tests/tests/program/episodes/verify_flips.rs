//! `ktd verify` accepts what a run wrote, and nothing that was changed since.

use ktd_env::KeyedStream;
use ktd_episode::verify::{Verified, verify};
use ktd_kit::episode::{FILES, OnPanel, below, dice, files, market, runtime};
use ktd_kit::this_program;
use ktd_kit::{endless_file, named_pipe, refused};
use ktd_masking::MaskKey;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const SEED: u64 = 5;
const SAMPLES: u64 = 60;

/// A finished bundle on a panel file, and its bytes.
struct Scene {
    folder: TempDir,
    bundle: PathBuf,
}

impl Scene {
    fn new(level: &str) -> Self {
        let rest = format!(
            r#"
            masks = [{{ level = "{level}" }}]
            modes = ["fixed-candidate"]
            agents = [{{ id = "random", builtin = "random" }}]
            "#
        );
        let OnPanel { folder, bundle } = OnPanel::new(SEED, 3, &rest);
        Self { folder, bundle }
    }

    fn verify(&self) -> Result<Verified, String> {
        runtime()
            .block_on(verify(&self.bundle, None, &this_program()))
            .map_err(|error| error.to_string())
    }

    /// The message after a file was changed; the file is put back.
    fn message_after(&self, file: &str, changed: &[u8]) -> String {
        let path = self.bundle.join(file);
        let bytes = std::fs::read(&path).unwrap();
        assert!(bytes != changed, "{file}: nothing was changed");
        std::fs::write(&path, changed).unwrap();
        let result = self.verify();
        std::fs::write(&path, bytes).unwrap();
        match result {
            Ok(verified) => panic!("{file} was changed and {verified:?}"),
            Err(message) => message,
        }
    }

    fn assert_named_after(&self, file: &str, changed: &[u8], how: &str) {
        let message = self.message_after(file, changed);
        assert!(message.contains(file), "{file}, {how}: {message}");
    }
}

/// Places worth trying besides the drawn ones: both ends, every line's end, and around every brace of the first.
fn structural_places(bytes: &[u8]) -> Vec<usize> {
    const MOST: usize = 60;
    let last = bytes.len() - 1;
    let mut places = vec![0, 1, 2, 3, 4, last / 2, last - 1, last];
    let is_mark = |byte: u8| matches!(byte, b'\n' | b'{' | b'}' | b'"' | b':' | b',');
    let marks = (0..bytes.len()).filter(|place| is_mark(bytes[*place]));
    places.extend(marks.take(MOST));
    let ends: Vec<usize> = (0..bytes.len()).filter(|place| bytes[*place] == b'\n').collect();
    places.extend(
        ends.iter()
            .flat_map(|end| [end.saturating_sub(1), *end])
            .take(MOST),
    );
    places
}

fn flips(bytes: &[u8], dice: &mut KeyedStream) -> Vec<(usize, u8)> {
    let mut flips: Vec<(usize, u8)> = (0..SAMPLES)
        .map(|_| {
            let place = below(dice, bytes.len());
            (place, u8::try_from(1 + dice.below(255)).unwrap())
        })
        .collect();
    for place in structural_places(bytes) {
        // The lowest bit, the bit of upper and lower case, and another one.
        flips.extend([1, 0x20, 1 << dice.below(8)].map(|bits| (place, bits)));
    }
    flips
}

#[test]
fn a_finished_bundle_is_accepted() {
    for level in ["bright", "blinded"] {
        let scene = Scene::new(level);
        let verified = scene.verify().unwrap();
        assert!(verified.unchecked.is_empty(), "{verified:?}");
    }
}

#[test]
fn one_flipped_byte_names_the_file_it_is_in() {
    let scene = Scene::new("blinded");
    let mut dice = dice(31, "flipped bytes");
    for (file, bytes) in files(&scene.bundle) {
        for (place, bits) in flips(&bytes, &mut dice) {
            let mut changed = bytes.clone();
            changed[place] ^= bits;
            scene.assert_named_after(file, &changed, &format!("byte {place} ^ {bits:#04x}"));
        }
    }
    assert!(scene.verify().is_ok(), "every file was put back");
}

#[test]
fn a_published_bundle_without_its_private_part_is_checked_too() {
    let scene = Scene::new("blinded");
    std::fs::remove_dir_all(scene.bundle.join("private")).unwrap();
    let verified = scene.verify().unwrap();
    assert_eq!(verified.unchecked.len(), 1, "{verified:?}");
    let mut dice = dice(32, "flipped bytes in public");
    // The hash that only the owner can compute is the one thing a stranger must take as it is.
    for file in &FILES[..3] {
        let bytes = std::fs::read(scene.bundle.join(file)).unwrap();
        for (place, bits) in flips(&bytes, &mut dice).into_iter().step_by(4) {
            let mut changed = bytes.clone();
            changed[place] ^= bits;
            scene.assert_named_after(file, &changed, &format!("byte {place} ^ {bits:#04x}"));
        }
    }
}

#[test]
fn missing_extra_and_swapped_lines_are_named() {
    let scene = Scene::new("bright");
    for file in ["events.jsonl", "private/ledger.jsonl"] {
        let text = std::fs::read_to_string(scene.bundle.join(file)).unwrap();
        let lines: Vec<&str> = text.lines().collect();
        let join = |lines: &[&str]| format!("{}\n", lines.join("\n")).into_bytes();
        for place in [0, lines.len() / 2, lines.len() - 1] {
            let mut fewer = lines.clone();
            fewer.remove(place);
            scene.assert_named_after(file, &join(&fewer), &format!("without line {}", place + 1));
            let mut more = lines.clone();
            more.insert(place, lines[place]);
            scene.assert_named_after(file, &join(&more), &format!("line {} twice", place + 1));
        }
        let mut swapped = lines.clone();
        swapped.swap(0, 1);
        scene.assert_named_after(file, &join(&swapped), "swapped lines");
        scene.assert_named_after(file, &join(&lines[..lines.len() - 1]), "without its end");
        scene.assert_named_after(file, format!("{text}x").as_bytes(), "a torn line at its end");
        scene.assert_named_after(file, text.replace('\n', "\r\n").as_bytes(), "other line ends");
    }
}

#[test]
fn removed_and_repeated_exchanges_are_named() {
    let scene = Scene::new("bright");
    let file = "exchanges.jsonl.zst";
    let bytes = std::fs::read(scene.bundle.join(file)).unwrap();
    let lines = zstd::decode_all(bytes.as_slice()).unwrap();
    let second = lines.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    let (first, rest) = lines.split_at(second);
    let packed = |lines: &[u8]| zstd::encode_all(lines, 3).unwrap();
    scene.assert_named_after(file, &packed(rest), "without its first record");
    scene.assert_named_after(
        file,
        &[&bytes[..], &packed(first)].concat(),
        "its first record twice",
    );
    scene.assert_named_after(file, &[&bytes[..], b"x"].concat(), "a torn record at its end");
    scene.assert_named_after(file, &bytes[..bytes.len() - 1], "its last record torn");
}

#[test]
fn missing_files_are_named() {
    let scene = Scene::new("blinded");
    for file in FILES.into_iter().filter(|file| *file != "private/episode.json") {
        let path = scene.bundle.join(file);
        let bytes = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let message = scene.verify().unwrap_err();
        std::fs::write(&path, bytes).unwrap();
        assert!(message.contains(file), "{file}: {message}");
    }
}

/// A stranger's bundle may hold a link to a device, or a pipe, in the place of any file: it is refused unread, and no
/// command waits for it or fills the memory with it.
#[cfg(unix)]
#[test]
fn devices_and_pipes_in_the_place_of_files_are_refused_unread() {
    let scene = Scene::new("blinded");
    for file in FILES {
        for make in [endless_file, named_pipe] {
            let path = scene.bundle.join(file);
            let kept = scene.folder.path().join("kept");
            std::fs::rename(&path, &kept).unwrap();
            make(&path);
            let message = scene.verify().unwrap_err();
            let shown = ["verify", "replay"].map(|command| {
                ktd_kit::quiet(scene.folder.path(), &[command, scene.bundle.to_str().unwrap()])
            });
            std::fs::remove_file(&path).unwrap();
            std::fs::rename(&kept, &path).unwrap();
            let [verified, replayed] = shown;
            for said in [message, refused(&verified, 2), refused(&replayed, 2)] {
                assert!(
                    said.contains(file) && said.contains("not a regular file"),
                    "{file}: {said}"
                );
            }
        }
    }
    assert!(scene.verify().is_ok(), "every file was put back");
}

#[test]
fn an_unfinished_bundle_is_not_accepted() {
    let scene = Scene::new("bright");
    std::fs::remove_file(scene.bundle.join("summary.json")).unwrap();
    let message = scene.verify().unwrap_err();
    assert!(
        message.contains("summary.json") && message.contains("unfinished"),
        "{message}"
    );
}

#[test]
fn another_key_is_not_accepted() {
    let scene = Scene::new("blinded");
    let path = scene.bundle.join("private/episode.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut private: ktd_bundle::header::PrivateEpisode = serde_json::from_str(&text).unwrap();
    private.mask_key = MaskKey::from_bytes([9; 32]).reveal();
    let forged = serde_json::to_string_pretty(&private.sealed()).unwrap();
    let message = scene.message_after("private/episode.json", format!("{forged}\n").as_bytes());
    assert!(
        message.contains("private/episode.json") && message.contains("commits"),
        "{message}"
    );
}

#[test]
fn another_panel_is_not_accepted() {
    let scene = Scene::new("bright");
    let other = scene.folder.path().join("other.ktdp");
    std::fs::write(&other, market(SEED + 1).to_bytes()).unwrap();
    let check = |panel: &Path| runtime().block_on(verify(&scene.bundle, Some(panel), &this_program()));
    let message = check(&other).unwrap_err().to_string();
    assert!(message.contains("hash"), "{message}");
    let own = scene.folder.path().join("panel.ktdp");
    assert!(check(&own).is_ok());
    std::fs::remove_file(own).unwrap();
    let message = scene.verify().unwrap_err();
    assert!(message.contains("panel.ktdp"), "{message}");
}

const PRIVATE: &str = "private/summary.json";

/// A summary cannot claim what the events do not give, whoever computes its hashes anew.
#[test]
fn a_forged_metric_is_named() {
    for (level, file) in [
        ("bright", "summary.json"),
        ("bright", PRIVATE),
        ("blinded", PRIVATE),
    ] {
        let scene = Scene::new(level);
        let text = std::fs::read_to_string(scene.bundle.join(file)).unwrap();
        let start = text.find("\"final_nav_fen\": ").unwrap() + "\"final_nav_fen\": ".len();
        let forged = format!("{}1{}", &text[..start], &text[start..]);
        let message = scene.message_after(file, forged.as_bytes());
        assert!(
            message.contains(file) && message.contains("final_nav_fen"),
            "{message}"
        );
    }
}
