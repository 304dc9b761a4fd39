//! The published schemas of JSON documents: what a small experiment writes and prints is as they say, and they say all.

#![expect(clippy::unwrap_used, reason = "a broken fixture fails the test")]

use ktd_bundle::event::ReadEvent;
use ktd_bundle::header::Header;
use ktd_bundle::summary::Summary;
use ktd_cli::printed_schemas;
use ktd_kit::episode::FILES;
use ktd_kit::{Folder, quiet, workspace_root};
use ktd_study::document_schema;
use schemars::JsonSchema;
use serde_json::Value;
use std::collections::BTreeMap;
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

const DRAWN: &str = r#"
name = "drawn"
synthetic = { seed = 5, names = 60, days = 420 }
agents = [{ id = "momentum", builtin = "momentum" }]
mask_key_file = "mask.key"
windows = { draw = 2, days = 5, from = "2019-01-01", until = "2026-12-31" }
"#;

const BEGIN: &str = "<!-- commands: a test writes this table -->";
const END: &str = "<!-- end of commands -->";

/// Documents by the schema that they must fit.
type Documents = BTreeMap<&'static str, Vec<Value>>;

/// A line of the log of events.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "its schema is what is wanted")]
struct EventLine {
    /// Its place, from 0.
    seq: u64,
    /// SHA-256 of the line before; of the first line, over the header.
    prev: String,
    /// What happened.
    body: ReadEvent,
}

/// Schemas by their files: of what an episode keeps, and of what commands print.
fn schemas() -> &'static BTreeMap<String, Value> {
    static SCHEMAS: OnceLock<BTreeMap<String, Value>> = OnceLock::new();
    SCHEMAS.get_or_init(|| {
        let kept = [
            ("header", document_schema::<Header>()),
            ("summary", document_schema::<Summary>()),
            ("event", document_schema::<EventLine>()),
        ];
        let kept = kept.map(|(name, schema)| (name.to_owned(), schema));
        let printed = printed_schemas().into_iter().map(|of| (of.file, of.schema));
        printed.chain(kept).collect()
    })
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
        let validator = jsonschema::draft202012::new(&schemas()[*name]).unwrap();
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
        let validator = jsonschema::draft202012::new(&schemas()[*name]).unwrap();
        let document = documents[0].as_object().unwrap();
        let mut more = document.clone();
        more.insert("another_key".to_owned(), Value::Null);
        assert!(!validator.is_valid(&more.into()), "{name} takes any key");
        for key in schemas()[*name]["required"].as_array().unwrap() {
            let mut fewer = document.clone();
            fewer.remove(key.as_str().unwrap()).unwrap();
            assert!(!validator.is_valid(&fewer.into()), "{name} does without {key}");
        }
    }
}

/// Every command that needs neither a box nor a model, once: the kit holds what each prints to its schema.
#[test]
fn what_small_commands_print_fits_their_schemas() {
    let folder = Folder::with(&[
        ("try.toml", EXPERIMENT),
        ("orders.csv", "date,symbol,side,shares\n"),
        ("one.py", "x = 1\n"),
        ("two.py", "x = 2\n"),
        ("drawn.toml", DRAWN),
    ]);
    let commands = "help topics
        help money
        completions bash
        man --out man
        vendors
        vendors deepseek
        data synth --out p.ktdp --names 60 --days 420
        data check p.ktdp
        data synth --out small.ktdp --names 12 --days 200
        leak audit --planted --panel small.ktdp
        data factors p.ktdp --out f.parquet
        baseline linear p.ktdp --out l.csv --train-until 2020-12-31 --validate-until 2021-03-31
        alpha check $close Mean($cloze,5) --panel p.ktdp
        alpha compute $close --panel p.ktdp --out v.csv
        strategy-code list
        strategy-code show S01
        strategy-code patch one.py two.py
        factor-code list
        factor-code show MOM-3-01
        certify --new-key key.pem
        certify --new-mask-key mask.key
        run try.toml --out out
        report out
        status out
        plan try.toml
        diff out out
        export out --parquet
        attribute out/cells/CELL
        replay out/cells/CELL
        replay out/cells/CELL --step 2
        replay out
        reasons out
        publish out --key key.pem --out public --open-mask
        view public --export site
        windows drawn.toml --commit commitment.json
        windows --number-for commitment.json --key key.pem --out number.json
        strategy-code score one.py";
    for line in commands.lines().map(str::trim) {
        let cell = || ktd_io::whole_file::list(&folder.at("out/cells")).unwrap();
        let line = if line.contains("CELL") {
            line.replace("CELL", cell()[0].file_name().unwrap().to_str().unwrap())
        } else {
            line.to_owned()
        };
        let words: Vec<&str> = line.split(' ').collect();
        let output = quiet(folder.path(), &[&["--json"], &words[..]].concat());
        assert!(
            output.status.code().is_some_and(|code| code < 3),
            "{line}: {output:?}"
        );
    }
}

/// A file a schema, made of the type that is written, and one table of all on the page.
#[test]
fn what_is_published_is_made_of_the_types() {
    let folder = workspace_root().join("docs/schemas");
    let page = std::fs::read_to_string(folder.join("README.md")).unwrap();
    let (before, after) = (page.split_once(BEGIN).unwrap().0, page.split_once(END).unwrap().1);
    let whole = format!("{before}{BEGIN}\n{}{END}{after}", table());
    let texts = schemas().iter().map(|(name, schema)| {
        let path = folder.join(format!("{name}.schema.json"));
        (path, format!("{schema:#}\n"))
    });
    let texts: BTreeMap<_, _> = texts.chain([(folder.join("README.md"), whole)]).collect();
    for (path, text) in &texts {
        if std::env::var_os("UPDATE").is_some() {
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        assert!(
            std::fs::read_to_string(path).unwrap_or_default() == *text,
            "{}: UPDATE=1 cargo test -p ktd-tests --test program schemas writes it",
            path.display()
        );
    }
    let files = ["", "commands", "reports", "verbs"]
        .map(|below| ktd_io::whole_file::list(&folder.join(below)).unwrap());
    let orphans: Vec<_> = files
        .iter()
        .flatten()
        .filter(|path| path.is_file() && !texts.contains_key(*path))
        .collect();
    assert!(orphans.is_empty(), "no type makes {orphans:?}");
}

/// Each command with the schemas of what it may print.
fn table() -> String {
    let mut commands: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for of in printed_schemas() {
        let name = of.file.rsplit('/').next().unwrap();
        for command in of.commands {
            commands
                .entry(command)
                .or_default()
                .push(format!("[{name}]({}.schema.json)", of.file));
        }
    }
    let rows = commands
        .iter()
        .map(|(command, schemas)| format!("| `ktd {command}` | {} |\n", schemas.join(", ")));
    format!(
        "\n| command | schemas of what it prints under `--json` |\n|---|---|\n{}\n",
        rows.collect::<String>()
    )
}
