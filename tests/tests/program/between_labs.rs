//! `ktd publish`: two labs publish their runs, and a third ranks them without the `private/` folders of either.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::program::printed;
use ktd_kit::{Folder, assert_ok, copy, quiet, refused};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The agents of each lab; the third has one by the name of the first's.
const LABS: [(&str, [&str; 2]); 3] = [
    ("a", ["momentum", "equal-weight"]),
    ("b", ["random", "hold"]),
    ("c", ["momentum", "composite"]),
];

fn experiment(agents: [&str; 2]) -> String {
    let [first, second] = agents;
    format!(
        r#"
name = "try"
synthetic = {{ seed = 5, names = 90, days = 330 }}
masks = [{{ level = "bright" }}, {{ level = "blinded" }}]
modes = ["memory-only"]
agents = [{{ id = "{first}", builtin = "{first}" }}, {{ id = "{second}", builtin = "{second}" }}]
windows = [{{ id = "w", last_days = 8 }}]
"#
    )
}

/// Three labs, each with results, a key and a publication, made once for all tests, which only read them.
fn labs() -> &'static Folder {
    static SCENE: OnceLock<Folder> = OnceLock::new();
    SCENE.get_or_init(|| {
        let folder = Folder::new();
        for (lab, agents) in LABS {
            let home = folder.at(lab);
            folder.write(&format!("{lab}/try.toml"), experiment(agents));
            assert_ok(&quiet(&home, &["run", "try.toml", "--out", "results/try"]));
            assert_ok(&quiet(&home, &["certify", "--new-key", "key.pem"]));
            assert_ok(&quiet(&home, &publish("results/try", "public", true)));
        }
        folder
    })
}

fn publish<'a>(results: &'a str, out: &'a str, opens_mask: bool) -> Vec<&'a str> {
    let consent = opens_mask.then_some("--open-mask");
    ["publish", results, "--key", "key.pem", "--out", out]
        .into_iter()
        .chain(consent)
        .collect()
}

/// A folder of somebody who has what these labs published, and their public keys.
fn reader(of: &[&str]) -> Folder {
    let folder = Folder::new();
    for lab in of {
        copy(&labs().at(&format!("{lab}/public")), &folder.at(lab));
        folder.write(&format!("{lab}.pub"), labs().read(&format!("{lab}/key.pem.pub")));
    }
    folder
}

fn board(folder: &Path, arguments: &[&str]) -> Value {
    let head = [
        "--json",
        "leaderboard",
        "--replicates",
        "100",
        "--portfolios",
        "40",
    ];
    printed(&quiet(folder, &[&head, arguments].concat()))
}

/// The board without what tells of signers and their publications, and their marks by track and agent.
fn without_signers(mut board: Value) -> (Value, BTreeMap<(usize, String), Value>) {
    let mut signers = BTreeMap::new();
    board["content_sha256"] = Value::Null;
    let is_of_board = |note: &Value| !note.as_str().unwrap().starts_with("the publication of ");
    board["notes"].as_array_mut().unwrap().retain(is_of_board);
    for (place, track) in board["tracks"].as_array_mut().unwrap().iter_mut().enumerate() {
        for leader in track["leaders"].as_array_mut().unwrap() {
            let agent = leader["agent"].as_str().unwrap().to_owned();
            if let Some(signer) = leader.as_object_mut().unwrap().remove("signer") {
                signers.insert((place, agent), signer);
            }
        }
    }
    (board, signers)
}

fn fingerprint(lab: &str) -> String {
    let path = labs().at(&format!("{lab}/key.pem.pub"));
    ktd_record::signing::PublicKey::read(&path).unwrap().fingerprint()
}

/// The published cells of a folder.
fn cells(folder: &Folder, lab: &str) -> Vec<PathBuf> {
    ktd_io::whole_file::list(&folder.at(&format!("{lab}/try/cells"))).unwrap()
}

#[test]
fn a_third_ranks_what_two_labs_published_as_they_would() {
    let ours = labs();
    let theirs = reader(&["a", "b"]);
    let original = board(ours.path(), &["a/results/try", "b/results/try"]);
    let keys = ["--signer", "a.pub", "--signer", "b.pub"];
    let ranked = board(theirs.path(), &[&["a", "b"], &keys[..]].concat());
    let (original, unsigned) = without_signers(original);
    let (ranked, signers) = without_signers(ranked);
    assert_eq!(original, ranked);
    assert_eq!(signers.len(), 8, "two tracks of four agents: {signers:?}");
    let (a, b) = (fingerprint("a"), fingerprint("b"));
    for ((_, agent), signer) in &signers {
        let lab = if LABS[0].1.contains(&agent.as_str()) {
            &a
        } else {
            &b
        };
        assert_eq!(signer["fingerprint"], Value::String(lab.clone()), "{agent}");
        assert_eq!(signer["is_named"], Value::Bool(true), "{agent}");
    }
    assert!(unsigned.values().all(|signer| signer["fingerprint"].is_null()));

    let text = quiet(
        theirs.path(),
        &[
            "leaderboard",
            "a",
            "b",
            "--replicates",
            "40",
            "--portfolios",
            "20",
        ],
    );
    assert_ok(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("signer: the fingerprint"), "{text}");
    let wide = [
        "--wide",
        "leaderboard",
        "a",
        "b",
        "--replicates",
        "40",
        "--portfolios",
        "20",
    ];
    let wide = quiet(theirs.path(), &wide);
    let wide = String::from_utf8(wide.stdout).unwrap();
    assert!(wide.contains(&format!("{} (not checked)", &a[..16])), "{wide}");

    let verified = quiet(theirs.path(), &[&["verify", "a", "b"], &keys[..]].concat());
    assert_ok(&verified);
    let told = String::from_utf8(verified.stdout).unwrap();
    assert!(told.contains(&format!("signed with the key {a}")), "{told}");
    assert!(
        told.contains("run again from the recorded replies, byte for byte (8 of them)")
            && told.contains("8 of 8 hold")
            && !told.contains("N bundles"),
        "{told}"
    );
    assert!(
        !told.contains("whose key that is") && !told.contains("nobody signed"),
        "{told}"
    );
    assert!(told.contains("the signer vouches for them"), "{told}");
    // Checking left nothing that a second check would stumble over.
    assert_ok(&quiet(theirs.path(), &["verify", "a", "b"]));
    let bundle = cells(&theirs, "a")[0].clone();
    assert_ok(&quiet(theirs.path(), &["attribute", bundle.to_str().unwrap()]));
}

#[test]
fn one_id_of_two_labs_is_two_rows() {
    let theirs = reader(&["a", "c"]);
    let ranked = board(theirs.path(), &["a", "c"]);
    let (_, signers) = without_signers(ranked);
    for lab in ["a", "c"] {
        let fingerprint = fingerprint(lab);
        let row = (0, format!("momentum@{}", &fingerprint[..8]));
        assert_eq!(
            signers[&row]["fingerprint"],
            Value::String(fingerprint),
            "{signers:?}"
        );
        assert_eq!(signers[&row]["is_named"], Value::Bool(false));
    }
    assert!(signers.contains_key(&(0, "composite".to_owned())), "{signers:?}");
    // One's own runs beside them keep their name.
    copy(&labs().at("a/results/try"), &theirs.at("own"));
    let (_, signers) = without_signers(board(theirs.path(), &["own", "c"]));
    assert!(signers[&(0, "momentum".to_owned())]["fingerprint"].is_null());
    let row = format!("momentum@{}", &fingerprint("c")[..8]);
    assert!(signers.contains_key(&(0, row)), "{signers:?}");
}

#[test]
fn publishing_opens_the_masks_that_were_named_and_no_other() {
    let home = Folder::new();
    copy(&labs().at("a"), home.path());
    let said = refused(&quiet(home.path(), &publish("results/try", "again", false)), 2);
    assert!(
        said.contains("opens their mask for everybody") && said.contains("--open-mask"),
        "{said}"
    );
    assert!(!home.at("again").exists());
    // Under `bright` nothing is hidden, so nothing is asked.
    let bright = "results/try/cells/momentum__w__bright-exact__memory-only__s1";
    assert_ok(&quiet(home.path(), &publish(bright, "bright", false)));
    let manifest: Value = serde_json::from_slice(&home.read("bright/published.json")).unwrap();
    assert_eq!(manifest["manifest"]["opens"], Value::Array(Vec::new()));
    assert_eq!(manifest["manifest"]["kept_back"], Value::from(3));
    let notes = board(home.path(), &["bright"])["notes"].to_string();
    let told = "holds 1 finished episode and says that 3 beside it were kept back";
    assert!(notes.contains(told), "{notes}");

    let root = home.text("results/try/private/mask.key");
    let where_it_ran = labs().path().to_str().unwrap();
    let mut opened = Vec::new();
    for (path, bytes) in home
        .files()
        .into_iter()
        .filter(|(path, _)| path.starts_with("public"))
    {
        let plain = if path.extension().is_some_and(|kind| kind == "zst") {
            zstd::decode_all(bytes.as_slice()).unwrap()
        } else {
            bytes
        };
        let text = String::from_utf8(plain).unwrap();
        assert!(
            !text.contains(root.trim()),
            "{} holds the experiment's key",
            path.display()
        );
        assert!(
            !text.contains(where_it_ran),
            "{} holds a path of its maker",
            path.display()
        );
        if path.ends_with("private/episode.json") {
            let private: Value = serde_json::from_str(&text).unwrap();
            opened.push(private["mask_key"].as_str().unwrap().to_owned());
        }
    }
    assert_eq!(opened.len(), 4);
    assert!(
        home.files()
            .keys()
            .all(|path| !path.starts_with("public") || !path.ends_with("mask.key"))
    );
    let text = quiet(home.path(), &publish("results/try", "again", true));
    assert_ok(&text);
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains("this opens the mask of 2 episodes"), "{text}");
}

#[test]
fn nothing_is_published_before_all_that_share_its_mask_have_ended() {
    let home = Folder::new();
    copy(&labs().at("a"), home.path());
    let cell = |agent: &str| format!("results/try/cells/{agent}__w__blinded-exact__memory-only__s1");
    let other = cell("equal-weight");
    std::fs::remove_file(home.at(&other).join("summary.json")).unwrap();
    let said = refused(&quiet(home.path(), &publish("results/try", "again", true)), 2);
    assert!(
        said.contains(&format!("{other} has not ended")) && said.contains("ktd run"),
        "{said}"
    );
    // Another agent's episode under the same key, which is not named.
    let named = cell("momentum");
    let said = refused(&quiet(home.path(), &publish(&named, "again", true)), 2);
    assert!(
        said.contains("has the same mask key") && said.contains("equal-weight__w"),
        "{said}"
    );
    // And one of another experiment beside it.
    std::fs::rename(home.at("results/try/cells"), home.at("results/try/kept")).unwrap();
    copy(&labs().at("a/results/try/cells"), &home.at("results/try/cells"));
    std::fs::create_dir_all(home.at("results/other")).unwrap();
    std::fs::rename(home.at("results/try/kept"), home.at("results/other/cells")).unwrap();
    let said = refused(&quiet(home.path(), &publish("results/try", "again", true)), 2);
    assert!(
        said.contains("has the same mask key") && said.contains("other/cells"),
        "{said}"
    );
    assert!(!home.at("again").exists());
    let left: Vec<_> = home
        .files()
        .into_keys()
        .filter(|path| path.to_str().unwrap().contains(".part"))
        .collect();
    assert_eq!(left, Vec::<PathBuf>::new());
}

#[test]
fn what_was_signed_is_published_once_and_by_its_maker() {
    let home = Folder::new();
    copy(&labs().at("a"), home.path());
    let said = refused(&quiet(home.path(), &publish("results/try", "public", true)), 2);
    assert!(said.contains("holds a publication already"), "{said}");
    home.write("full/file", "x");
    let said = refused(&quiet(home.path(), &publish("results/try", "full", true)), 2);
    assert!(said.contains("full is not empty"), "{said}");
    let said = refused(&quiet(home.path(), &publish("public", "again", true)), 2);
    assert!(said.contains("is published already, signed by"), "{said}");
    copy(&home.at("results/try"), &home.at("results/copy"));
    let twice = [
        &["publish", "results/copy"],
        &publish("results/try", "again", true)[1..],
    ]
    .concat();
    let said = refused(&quiet(home.path(), &twice), 2);
    assert!(said.contains("is a second episode"), "{said}");
}

/// One way to change what was published, and what a reader is told.
type Change = (&'static str, fn(&Folder, &Path), &'static str);

#[test]
fn what_was_changed_after_signing_is_refused() {
    let changes: [Change; 7] = [
        (
            "summary",
            |_, cell| append(&cell.join("summary.json")),
            "summary.json: its hash is not the one that was signed",
        ),
        (
            "ledger",
            |_, cell| append(&cell.join("private/ledger.jsonl")),
            "ledger.jsonl: its hash is not",
        ),
        (
            "missing",
            |_, cell| std::fs::remove_file(cell.join("private/ledger.jsonl")).unwrap(),
            "it was published, but is missing",
        ),
        (
            "unfinished",
            |_, cell| std::fs::remove_file(cell.join("summary.json")).unwrap(),
            "it was published, but is missing",
        ),
        (
            "added",
            |_, cell| std::fs::write(cell.join("exchanges.jsonl"), "x").unwrap(),
            "exchanges.jsonl: it is not in",
        ),
        (
            "another bundle",
            |_, cell| copy(cell, &cell.with_file_name("more")),
            "it is not in",
        ),
        (
            "manifest",
            |folder, _| {
                let text = folder
                    .text("a/published.json")
                    .replace("\"kept_back\": 0", "\"kept_back\": 1");
                folder.write("a/published.json", text);
            },
            "the signature does not fit",
        ),
    ];
    for (name, change, expected) in changes {
        let folder = reader(&["a"]);
        change(&folder, &cells(&folder, "a")[0]);
        for command in [&["leaderboard", "a"][..], &["verify", "a"]] {
            let output = quiet(folder.path(), command);
            assert_eq!(output.status.code(), Some(1), "{name}, {command:?}: {output:?}");
            let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
            assert!(said.contains(expected), "{name}, {command:?}: {said}");
        }
    }
}

#[test]
#[cfg(unix)]
fn a_bundle_that_was_not_signed_is_found_wherever_it_lies() {
    let below: fn(&Folder, &Path) = |_, cell| copy(cell, &cell.with_file_name("more").join("below"));
    let linked: fn(&Folder, &Path) = |folder, cell| {
        copy(cell, &folder.at("elsewhere"));
        std::os::unix::fs::symlink(folder.at("elsewhere"), cell.with_file_name("more")).unwrap();
    };
    for add in [below, linked] {
        let folder = reader(&["a"]);
        add(&folder, &cells(&folder, "a")[0]);
        for command in ["leaderboard", "verify"] {
            let output = quiet(folder.path(), &[command, "a"]);
            assert_eq!(output.status.code(), Some(1), "{command}: {output:?}");
            let said = String::from_utf8(output.stderr).unwrap();
            assert!(said.contains("it is not in"), "{command}: {said}");
        }
    }
}

fn append(path: &Path) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes.push(b'\n');
    std::fs::write(path, bytes).unwrap();
}

/// A publication is what was signed: whatever else lies in it, at any depth, is named.
#[test]
#[cfg(unix)]
fn nothing_lies_in_a_publication_but_what_was_signed() {
    let file: fn(&Path) = |path| std::fs::write(path, "x").unwrap();
    let empty: fn(&Path) = |path| std::fs::create_dir(path).unwrap();
    let link: fn(&Path) = |path| std::os::unix::fs::symlink("published.json", path).unwrap();
    let places = [
        "a",
        "a/try",
        "a/try/cells",
        "a/try/cells/CELL",
        "a/try/cells/CELL/private",
    ];
    let folder = reader(&["a"]);
    let cell = cells(&folder, "a")[0].clone();
    let cell = cell.file_name().unwrap().to_str().unwrap();
    for place in places {
        for (name, add) in [
            ("NOTES.md", file),
            (".hidden", file),
            ("more", empty),
            ("published.json.sig", link),
        ] {
            let added = folder.at(&place.replace("CELL", cell)).join(name);
            add(&added);
            let said = refused(&quiet(folder.path(), &["verify", "a"]), 1);
            assert!(
                said.contains(&format!("{}: it is not in", added.display())),
                "{said}"
            );
            if added.is_dir() {
                std::fs::remove_dir(&added).unwrap();
            } else {
                std::fs::remove_file(&added).unwrap();
            }
        }
    }
    assert_ok(&quiet(folder.path(), &["verify", "a"]));
}

/// Results and what was published of them are one episode each: a board counts none twice.
#[test]
fn results_beside_their_own_publication_are_no_second_agent() {
    let said = refused(&quiet(labs().path(), &["leaderboard", "a"]), 2);
    assert!(
        said.contains("are one and the same episode") && said.contains("(unsigned)"),
        "{said}"
    );
}

/// What canary steps found is published by nobody: whoever puts a record beside signed runs says nothing of them.
#[test]
fn what_lies_beside_signed_runs_is_not_their_signers() {
    let record = r#"{ "agent": "momentum", "vendor": "v", "model": "m", "answers": 2, "lost": 0, "same_orders": null,
                      "same_words": null, "same_bytes": null, "served_models": [], "changes": ["a forged change"] }"#;
    let folder = reader(&["a"]);
    copy(&labs().at("a/results/try"), &folder.at("own"));
    folder.write("own/canaries/momentum.json", record);
    let notes = board(folder.path(), &["own"])["notes"].to_string();
    assert!(notes.contains("a forged change"), "{notes}");
    folder.write("a/try/canaries/momentum.json", record);
    let said = refused(&quiet(folder.path(), &["leaderboard", "a/try"]), 1);
    assert!(said.contains("canaries: it is not in"), "{said}");
}

#[test]
fn a_key_that_did_not_sign_is_found() {
    let folder = reader(&["a", "b"]);
    for command in ["leaderboard", "verify"] {
        let output = quiet(folder.path(), &[command, "a", "b", "--signer", "a.pub"]);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains(&format!(
                "signed with the key {}, which was not named",
                fingerprint("b")
            )),
            "{said}"
        );
    }
    // Who ranks what another signed neither reads nor writes scores that are kept.
    let cache = folder.at("cache");
    for (signers, is_kept) in [(&["--signer", "a.pub"][..], false), (&[], true)] {
        let arguments = [&["--quiet", "leaderboard", "a"][..], signers].concat();
        let mut ranked = ktd_kit::program::command(folder.path(), &arguments);
        assert_ok(&ranked.env("KTD_CACHE", &cache).output().unwrap());
        assert_eq!(cache.join("scores").exists(), is_kept);
    }
    let unused = ["leaderboard", "a", "--signer", "a.pub", "--signer", "b.pub"];
    let said = refused(&quiet(folder.path(), &unused), 2);
    assert!(
        said.contains("nothing below the named directories is signed with"),
        "{said}"
    );
    // Signed by another, with the maker's fingerprint left in place.
    let mut publication: Value = serde_json::from_slice(&folder.read("a/published.json")).unwrap();
    let other: Value = serde_json::from_slice(&folder.read("b/published.json")).unwrap();
    publication["signature"]["value"] = other["signature"]["value"].clone();
    folder.write(
        "a/published.json",
        serde_json::to_vec_pretty(&publication).unwrap(),
    );
    let output = quiet(folder.path(), &["verify", "a"]);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
}

/// What a reader would take for a part of a signed board is refused.
fn check_added(folder: &Folder, verify: &[&str]) {
    for added in ["tables/ranking_more.csv", "tables/notes", "page.HTML"] {
        let added = format!("board/{added}");
        folder.write(&added, "rank,agent\n1,ours\n");
        let output = quiet(folder.path(), verify);
        assert_eq!(output.status.code(), Some(1), "{added}: {output:?}");
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.contains("it is not in manifest.json") && said.contains(&added),
            "{said}"
        );
        std::fs::remove_file(folder.at(&added)).unwrap();
    }
}

#[test]
fn a_board_is_signed_and_checked_whole() {
    let folder = reader(&["a"]);
    folder.write("key.pem", labs().read("b/key.pem"));
    folder.write("b.pub", labs().read("b/key.pem.pub"));
    let rank = [
        "leaderboard",
        "a",
        "--replicates",
        "40",
        "--portfolios",
        "20",
        "--out",
        "board",
    ];
    assert_ok(&quiet(
        folder.path(),
        &[&rank[..], &["--key", "key.pem"]].concat(),
    ));
    let verify = ["verify", "board", "--signer", "b.pub"];
    let verified = quiet(folder.path(), &verify);
    assert_ok(&verified);
    let told = String::from_utf8(verified.stdout).unwrap();
    assert!(
        told.contains(&format!("signed with the key {}", fingerprint("b"))),
        "{told}"
    );
    assert_eq!(
        quiet(folder.path(), &["verify", "board", "--signer", "a.pub"])
            .status
            .code(),
        Some(1)
    );

    check_added(&folder, &verify);
    let page = folder.text("board/index.html");
    folder.write("board/index.html", page.replace("momentum", "momentvm"));
    let output = quiet(folder.path(), &verify);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(String::from_utf8(output.stderr).unwrap().contains("index.html"));
    folder.write("board/index.html", page);
    assert_ok(&quiet(folder.path(), &verify));
    let manifest = folder.text("board/manifest.json");
    let title = "leaderboard.json";
    let record = folder.text("board/leaderboard.json");
    folder.write(
        "board/leaderboard.json",
        record.replace("\"title\":\"try\"", "\"title\":\"trv\""),
    );
    let hash = |text: &str| ktd_io::sha256::sha256_hex(text.as_bytes());
    let forged = folder.text("board/leaderboard.json");
    assert!(manifest.contains(title) && forged != record);
    folder.write(
        "board/manifest.json",
        manifest.replace(&hash(&record), &hash(&forged)),
    );
    let output = quiet(folder.path(), &verify);
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    assert!(
        String::from_utf8(output.stderr)
            .unwrap()
            .contains("the signature does not fit")
    );

    // A board written over a signed one is not signed by who signed that.
    assert_ok(&quiet(folder.path(), &rank));
    let verified = quiet(folder.path(), &["verify", "board"]);
    assert_ok(&verified);
    assert!(
        String::from_utf8(verified.stdout)
            .unwrap()
            .contains("it is unsigned")
    );
    assert_eq!(quiet(folder.path(), &verify).status.code(), Some(1));
}
