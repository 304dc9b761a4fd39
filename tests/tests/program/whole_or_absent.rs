//! Killed at any moment, what makes a folder or a report leaves it whole or absent; the next run leaves nothing else.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_env::KeyedStream;
use ktd_env::synth::{SynthConfig, generate};
use ktd_io::whole_file::list;
use ktd_kit::program::{kill_after, written};
use ktd_kit::{Folder, MASK_KEY, assert_ok, command, files, quiet};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 60, days = 330 }
masks = [{ level = "bright" }, { level = "blinded" }]
modes = ["fixed-candidate"]
agents = [{ id = "momentum", builtin = "momentum" }, { id = "random", builtin = "random" }]
windows = [{ id = "w", last_days = 4 }]
"#;

const ORDERS: &str = "{\"date\":\"2022-03-07\",\"orders\":[{\"symbol\":\"SH600000\",\"side\":\"BUY\",\"shares\":100,\"confidence\":0.5,\"reason\":\"bought by a test\"}]}\n";

const PROBES: &str = r#"
name = "tiny"
synthetic = { seed = 3, names = 40, days = 400 }
mask_key_file = "mask.key"
mask = { level = "blinded", numeric = "banded" }
probes = { day = 4 }
days = 2
episode_steps = 4
stretches = 2
training = 2
control_probes = 2
"#;

const KILLS: usize = 20;

/// One way to write a folder, or a file, below `room/`.
struct Writer {
    /// The arguments; OUT stands for the folder or file.
    arguments: &'static str,
    /// The file that stands for all of them; nothing where one file is all.
    main: &'static str,
    /// Whether an earlier folder or file is replaced, and not refused.
    replaces: bool,
    /// Whether other files of the folder come and go one by one: a run that is continued.
    continues: bool,
}

const WRITERS: [Writer; 7] = [
    Writer {
        arguments: "publish results/try --key key.pem --open-mask --out OUT",
        main: "published.json",
        replaces: false,
        continues: false,
    },
    Writer {
        arguments: "view public --export OUT",
        main: "index.html",
        replaces: false,
        continues: false,
    },
    Writer {
        arguments: "leaderboard results/try --replicates 40 --portfolios 20 --key key.pem --out OUT",
        main: "manifest.json",
        replaces: true,
        continues: false,
    },
    Writer {
        arguments: "simulate --panel p.ktdp --orders orders.jsonl --force --out OUT",
        main: "fills.csv",
        replaces: true,
        continues: false,
    },
    Writer {
        arguments: "replay results/try/cells/random__w__blinded-exact__fixed-candidate__s1 --branch 3 --out OUT",
        main: "header.json",
        replaces: true,
        continues: true,
    },
    Writer {
        // A certificate counts what its key tried before it: each folder has a copy of the key, and so a log of its own.
        arguments: "certify probes.toml --key KEY --out OUT",
        main: "report.json",
        replaces: true,
        continues: true,
    },
    Writer {
        arguments: "data import prices.csv --basis raw --force --out OUT",
        main: "",
        replaces: true,
        continues: false,
    },
];

fn scene() -> Folder {
    let folder = Folder::with(&[
        ("try.toml", EXPERIMENT),
        ("orders.jsonl", ORDERS),
        ("probes.toml", PROBES),
        ("mask.key", MASK_KEY),
        ("prices.csv", &prices()),
    ]);
    let panel = SynthConfig {
        seed: 3,
        names: 10,
        days: 480,
    };
    folder.write("p.ktdp", generate(&panel).unwrap().to_bytes());
    for arguments in [
        "run try.toml --out results/try",
        "certify --new-key key.pem",
        "publish results/try --key key.pem --open-mask --out public",
    ] {
        assert_ok(&quiet(folder.path(), &arguments.split(' ').collect::<Vec<_>>()));
    }
    folder
}

/// Bars of a month of 300 stocks.
fn prices() -> String {
    let mut text = "date,symbol,open,high,low,close,volume\n".to_owned();
    for (day, stock) in (1..=20).flat_map(|day| (0..300).map(move |stock| (day, stock))) {
        writeln!(text, "2024-02-{day:02},SH600{stock:03},10,11,9,10.5,1000").unwrap();
    }
    text
}

impl Writer {
    fn arguments(&self, out: &str) -> Vec<String> {
        let words = self.arguments.split(' ');
        let key = Self::key(out);
        let words = words.map(|word| word.replace("OUT", out).replace("KEY", &key));
        ["--quiet".to_owned()].into_iter().chain(words).collect()
    }

    fn key(out: &str) -> String {
        format!("{}.pem", out.replace('/', "-"))
    }

    /// The key of a folder; where the folder is gone, its log of attempts goes too.
    fn prepare(folder: &Folder, out: &str) {
        let key = Self::key(out);
        std::fs::copy(folder.at("key.pem"), folder.at(&key)).unwrap();
        if !folder.at(out).exists() {
            std::fs::remove_file(folder.at(&format!("{key}.attempts.jsonl"))).ok();
        }
    }

    fn run(&self, folder: &Folder, out: &str) {
        Self::prepare(folder, out);
        let arguments = self.arguments(out);
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let output = folder.ktd(&arguments);
        // Attackers that are this few certify no mask, and that is written too.
        let is_refused = output.status.code() == Some(1) && folder.at(out).join("certificate.json").exists();
        assert!(output.status.success() || is_refused, "{output:?}");
    }

    /// Fails unless what a kill left of the folder is whole, or absent by its main file.
    fn check(&self, room: &Path, whole: &BTreeMap<PathBuf, Vec<u8>>, how: &str) {
        let target = room.join("out");
        for path in list(room).unwrap() {
            assert!(
                path == target || path == room.join(".out.part"),
                "{how}: {}",
                path.display()
            );
        }
        if !target.exists() || (self.continues && !target.join(self.main).exists()) {
            return;
        }
        let found = shown(&target);
        if self.main == "header.json" {
            // It is asked live from here on, and the same command continues it.
            assert_eq!(
                found.get(Path::new(self.main)),
                whole.get(Path::new(self.main)),
                "{how}"
            );
        } else if found.contains_key(Path::new(self.main)) {
            let differs = whole.iter().find(|(path, bytes)| found.get(*path) != Some(bytes));
            assert!(
                found.len() == whole.len() && differs.is_none(),
                "{how}: {:?}",
                differs.map(|(path, _)| path)
            );
        } else {
            assert!(self.replaces, "{how}: it is there without {}", self.main);
        }
        // What is signed stands for itself, though the report beside it is still missing.
        let signed = Path::new("certificate.json");
        assert!(
            found
                .get(signed)
                .is_none_or(|bytes| whole.get(signed) == Some(bytes)),
            "{how}"
        );
    }
}

/// The files of a folder, but for such as a kill left under a temporary name, and locks; a file itself has no name.
fn shown(path: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    if path.is_file() {
        return BTreeMap::from([(PathBuf::new(), std::fs::read(path).unwrap())]);
    }
    let mut found = files(path);
    found.retain(|path, _| {
        let is_left = path.ends_with("lock") || path.to_string_lossy().ends_with(".part");
        !is_left && !path.ends_with("units.open.jsonl")
    });
    found
}

fn remove(path: &Path) {
    if path.is_file() {
        std::fs::remove_file(path).unwrap();
    } else {
        std::fs::remove_dir_all(path).unwrap();
    }
}

#[test]
fn a_killed_writer_leaves_a_folder_whole_or_absent() {
    kill_each(&scene(), &WRITERS);
}

/// Kills each writer at drawn moments, and looks at what is left; the last run is left alone.
fn kill_each(folder: &Folder, writers: &[Writer]) {
    for (place, writer) in writers.iter().enumerate() {
        let name = writer.arguments.split(' ').next().unwrap();
        let [undisturbed, room] = ["whole", "room"].map(|name| folder.at(&format!("{name}-{place}")));
        std::fs::create_dir(&undisturbed).unwrap();
        std::fs::create_dir(&room).unwrap();
        writer.run(folder, &format!("whole-{place}/out"));
        let whole = shown(&undisturbed.join("out"));
        let total = written(&undisturbed);
        let out = format!("room-{place}/out");
        let mut dice = KeyedStream::for_purpose(u64::try_from(place).unwrap(), "whole or absent");
        for _ in 0..KILLS {
            let target = room.join("out");
            if target.exists() && (!writer.replaces || dice.below(2) == 0) {
                remove(&target);
            }
            // An earlier report is replaced at the end: its bytes are there before the first new one.
            let bytes = written(&room) + 1 + dice.below(total);
            let linger = Duration::from_micros(dice.below(2_000));
            let how = format!("{name}, killed {linger:?} after {bytes} bytes");
            Writer::prepare(folder, &out);
            let child = command(folder.path(), &[])
                .args(writer.arguments(&out))
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            let _was_running = kill_after(child, &room, bytes, linger);
            writer.check(&room, &whole, &how);
        }
        if !writer.replaces && room.join("out").exists() {
            remove(&room.join("out"));
        }
        writer.run(folder, &out);
        writer.check(&room, &whole, name);
        assert_eq!(list(&room).unwrap(), [room.join("out")], "{name}");
        let left = files(&room)
            .into_keys()
            .find(|path| path.to_string_lossy().contains(".part"));
        assert_eq!(left, None, "{name}");
    }
}

/// Opened private parts that a killed process left are gone after whatever is published or checked beside them.
#[test]
fn what_was_left_of_a_publication_is_removed() {
    let folder = scene();
    let leave = || {
        folder.write(".gone.part/lock", "");
        folder.write(".gone.part/whole/try/cells/one/private/ledger.jsonl", "x");
        folder.write(".older.4711.part/try/cells/one/private/ledger.jsonl", "x");
        folder.write(".film.4711.part/film", "x");
    };
    for arguments in [
        &["verify", "public"][..],
        &[
            "publish",
            "results/try",
            "--key",
            "key.pem",
            "--open-mask",
            "--out",
            "again",
        ],
    ] {
        leave();
        assert_ok(&quiet(folder.path(), arguments));
        let left = [".gone.part", ".older.4711.part", ".film.4711.part"].map(|name| folder.at(name).exists());
        assert_eq!(left, [false, false, true], "{arguments:?}");
    }
}

/// Ctrl-C ends `publish` and leaves nothing of it.
#[test]
#[cfg(unix)]
fn an_interrupted_publication_leaves_nothing() {
    let folder = scene();
    let room = folder.at("room");
    std::fs::create_dir(&room).unwrap();
    let mut child = command(
        folder.path(),
        &[
            "publish",
            "results/try",
            "--key",
            "key.pem",
            "--open-mask",
            "--out",
            "room/out",
        ],
    )
    .stdout(Stdio::null())
    .stderr(Stdio::null())
    .spawn()
    .unwrap();
    while list(&room).unwrap().is_empty() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_micros(200));
    }
    let told = std::process::Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    told.unwrap();
    let ended = child.wait().unwrap();
    // It may have ended before it was told, or had nothing left to write.
    let is_whole = room.join("out/published.json").exists();
    assert_eq!(ended.success(), is_whole, "{ended:?}");
    assert_eq!(list(&room).unwrap().len(), usize::from(is_whole));
}
