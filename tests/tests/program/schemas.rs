//! The published schemas of JSON documents: what a small experiment writes and prints is as they say, and they say all.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_kit::episode::FILES;
use ktd_kit::{Folder, quiet, workspace_root};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::OnceLock;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 90, days = 330 }
masks = [{ level = "bright" }, { level = "blinded", numeric = "rescaled" }]
modes = ["open-research"]
agents = [
    { id = "momentum", builtin = "momentum" },
    { id = "breaker", builtin = "schema-breaker" },
    { id = "oracle", control = "oracle" },
]
windows = [{ id = "w", last_days = 6 }]
"#;

/// Documents by the schema that they must fit.
type Documents = BTreeMap<&'static str, Vec<Value>>;

fn schema(name: &str) -> Value {
    let path = workspace_root().join(format!("docs/schemas/{name}.schema.json"));
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

fn file(path: &Path) -> Value {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

/// What `ktd --json ARGUMENTS` prints, on standard error where it fails.
fn printed(folder: &Folder, arguments: &[&str]) -> Value {
    let output = quiet(folder.path(), &[&["--json"], arguments].concat());
    let bytes = if output.status.success() {
        output.stdout
    } else {
        output.stderr
    };
    serde_json::from_slice(&bytes).unwrap()
}

/// Documents of real runs, made once.
fn documents() -> &'static Documents {
    static DOCUMENTS: OnceLock<Documents> = OnceLock::new();
    DOCUMENTS.get_or_init(|| {
        let folder = Folder::with(&[("try.toml", EXPERIMENT)]);
        let print = |arguments: &[&str]| printed(&folder, arguments);
        let results = print(&["run", "try.toml", "--out", "out"]);
        let mut cells: Vec<_> = ktd_io::whole_file::list(&folder.at("out/cells")).unwrap();
        let each = |file_name: &str| cells.iter().map(|cell| file(&cell.join(file_name))).collect();
        let events = |cell: &std::path::PathBuf| {
            let text = std::fs::read_to_string(cell.join(FILES[1])).unwrap();
            let lines: Vec<Value> = text
                .lines()
                .map(|line| serde_json::from_str(line).unwrap())
                .collect();
            lines
        };
        let mut documents = Documents::from([
            ("results", vec![results]),
            ("header", each("header.json")),
            ("summary", each("summary.json")),
            ("event", cells.iter().flat_map(events).collect()),
            ("plan", vec![print(&["plan", "try.toml"])]),
            ("checks", vec![print(&["doctor", "try.toml"])]),
            ("error", vec![print(&["run", "absent.toml"])]),
            (
                "leaderboard",
                vec![print(&[
                    "leaderboard",
                    "out",
                    "--out",
                    "board",
                    "--replicates",
                    "40",
                ])],
            ),
            (
                "certificate",
                vec![file(&crate::certify::scene().join("out/certificate.json"))],
            ),
        ]);
        documents
            .get_mut("leaderboard")
            .unwrap()
            .push(file(&folder.at("board/leaderboard.json")));
        let first = cells.remove(0);
        print(&["certify", "--new-key", "key.pem"]);
        let publish = [
            "publish",
            "out",
            "--key",
            "key.pem",
            "--out",
            "public",
            "--open-mask",
        ];
        documents.insert(
            "published",
            vec![print(&publish), file(&folder.at("public/published.json"))],
        );
        let verified = [first.to_str().unwrap(), "public", "board"];
        let verified = verified.map(|folder| print(&["verify", folder]));
        documents.insert("verified", verified.into());
        documents
    })
}

#[test]
fn documents_fit_their_schemas() {
    for (name, documents) in documents() {
        let validator = jsonschema::draft202012::new(&schema(name)).unwrap();
        assert!(!documents.is_empty(), "{name}");
        for document in documents {
            let errors: Vec<String> = validator
                .iter_errors(document)
                .map(|error| format!("{}: {error}", error.instance_path()))
                .collect();
            assert!(errors.is_empty(), "{name}: {errors:#?}");
        }
    }
}

/// A schema that took everything would prove nothing.
#[test]
fn a_key_too_many_or_too_few_does_not_fit() {
    for (name, documents) in documents() {
        let validator = jsonschema::draft202012::new(&schema(name)).unwrap();
        let document = documents[0].as_object().unwrap();
        let mut more = document.clone();
        more.insert("another_key".to_owned(), Value::Null);
        assert!(!validator.is_valid(&more.into()), "{name} takes any key");
        for key in schema(name)["required"].as_array().unwrap() {
            let mut fewer = document.clone();
            fewer.remove(key.as_str().unwrap()).unwrap();
            assert!(!validator.is_valid(&fewer.into()), "{name} does without {key}");
        }
    }
}

#[test]
fn every_schema_is_tried_and_named_on_its_page() {
    let folder = workspace_root().join("docs/schemas");
    let published: BTreeSet<String> = ktd_io::whole_file::list(&folder)
        .unwrap()
        .iter()
        .filter_map(|path| path.file_name()?.to_str()?.strip_suffix(".schema.json"))
        .map(str::to_owned)
        .collect();
    let tried: BTreeSet<String> = documents().keys().map(|name| (*name).to_owned()).collect();
    assert_eq!(published, tried);
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    for name in published {
        assert!(page.contains(&format!("({name}.schema.json)")), "{name}");
    }
}
