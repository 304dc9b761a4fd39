//! `ktd export --parquet`: what data frames read is what the records say, as the models saw it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_kit::{Folder, assert_ok, refused};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::{Value, json};
use std::fs::File;

const EXPERIMENT: &str = r#"
name = "try"
synthetic = { seed = 5, names = 90, days = 330 }
masks = [{ level = "bright" }, { level = "blinded", numeric = "rescaled" }]
modes = ["open-research"]
agents = [{ id = "momentum", builtin = "momentum" }, { id = "breaker", builtin = "schema-breaker" }]
windows = [{ id = "w", last_days = 6 }]
"#;

/// The rows of a table, a JSON object each.
fn rows(folder: &Folder, table: &str) -> Vec<Value> {
    let file = File::open(folder.at(&format!("out-parquet/{table}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    let cell = |field: &Field| {
        if let Field::Bool(flag) = field {
            json!(flag)
        } else if let Field::Long(whole) = field {
            json!(whole)
        } else if let Field::Double(number) = field {
            json!(number)
        } else if let Field::Str(text) = field {
            json!(text)
        } else {
            Value::Null
        }
    };
    let object = |row: Row| -> Value {
        let cells = row
            .get_column_iter()
            .map(|(name, field)| (name.clone(), cell(field)));
        Value::Object(cells.collect())
    };
    rows.map(|row| object(row.unwrap())).collect()
}

/// The bodies of the events of one kind, of all cells whose name holds `part`.
fn events(folder: &Folder, part: &str, kind: &str) -> Vec<Value> {
    let mut found = Vec::new();
    for cell in ktd_io::whole_file::list(&folder.at("out/cells")).unwrap() {
        if cell.display().to_string().contains(part) {
            let text = std::fs::read_to_string(cell.join("events.jsonl")).unwrap();
            let lines = text
                .lines()
                .map(|line| serde_json::from_str::<Value>(line).unwrap());
            let bodies = lines.map(|line| line["body"].clone());
            found.extend(bodies.filter(|body| body["kind"] == kind));
        }
    }
    found
}

/// The cell whose orders are looked at one by one.
const CELL: &str = "momentum__w__blinded-rescaled__open-research__s1";

/// Order by order, as the model wrote it and was told of it.
fn check_orders(folder: &Folder, orders: &[Value]) {
    let own: Vec<&Value> = orders.iter().filter(|row| row["cell"] == CELL).collect();
    let decided = events(folder, CELL, "decision");
    let told = events(folder, CELL, "fills");
    let wrote: Vec<&Value> = decided
        .iter()
        .flat_map(|body| body["orders"].as_array().unwrap())
        .collect();
    assert_eq!(own.len(), wrote.len());
    assert!(!own.is_empty());
    for (row, order) in own.iter().zip(&wrote) {
        for column in ["stock_id", "side", "reason", "confidence"] {
            assert_eq!(row[column], order[column], "{row}");
        }
        let fills = &told[usize::try_from(row["step"].as_u64().unwrap()).unwrap() - 1]["fills"]["orders"];
        let place = |name: &str| {
            let columns = fills["columns"].as_array().unwrap();
            columns.iter().position(|column| column == name).unwrap()
        };
        let fill = fills["rows"]
            .as_array()
            .unwrap()
            .iter()
            .find(|fill| fill[place("order")] == row["order"])
            .unwrap();
        assert_eq!(row["result"], fill[place("result")], "{row}");
        assert_eq!(row["price"].as_f64(), fill[place("price")].as_f64(), "{row}");
    }
}

/// A board's exposures, style by style and day by day.
fn check_exposures(folder: &Folder) {
    let board = ["leaderboard", "out", "--out", "board", "--replicates", "40"];
    assert_ok(&folder.ktd(&board));
    let none = ["export", "out", "--parquet", "--board", "none", "--out", "early"];
    let refusal = refused(&folder.ktd(&none), 2);
    assert!(
        refusal.contains("leaderboard.json") && !folder.at("early").exists(),
        "{refusal}"
    );
    // The tables of an earlier export are replaced where that is asked for.
    let again = ["--json", "export", "out", "--parquet", "--board", "board"];
    let refusal = refused(&folder.ktd(&again), 2);
    assert!(
        refusal.contains("steps.parquet: it is there already") && refusal.contains("--force"),
        "{refusal}"
    );
    assert_ok(&folder.ktd(&[&again[..], &["--force"]].concat()));
    let record: Value = serde_json::from_slice(&folder.read("board/leaderboard.json")).unwrap();
    let (track, exposures) = (&record["tracks"][0], rows(folder, "exposures"));
    let leader = &track["leaders"][0];
    for row in &exposures {
        assert_eq!(row["date"].is_null(), row["level"] == "blinded", "{row}");
        assert!(row["day"].is_u64(), "{row}");
    }
    let styles = record["model"]["styles"].as_array().unwrap();
    for (place, style) in styles.iter().enumerate() {
        let is_own = |row: &&Value| {
            ["window", "level", "numeric", "mode"]
                .iter()
                .all(|key| row[*key] == track[*key])
                && (&row["agent"], &row["style"]) == (&leader["agent"], style)
        };
        let own: Vec<&Value> = exposures
            .iter()
            .filter(is_own)
            .map(|row| &row["exposure"])
            .collect();
        let series: Vec<&Value> = leader["daily_exposures"][place]
            .as_array()
            .unwrap()
            .iter()
            .collect();
        assert_eq!((own.len(), own), (6, series), "{style}");
    }
}

/// An episode counts once, and what was changed is no table, whichever of its files it is.
fn check_refusals(folder: &Folder) {
    for (path, bytes) in ktd_kit::files(&folder.at(&format!("out/cells/{CELL}"))) {
        for copy in ["twice/cells/copy", "twice/own"] {
            let copy = folder.at(copy).join(&path);
            std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
            std::fs::write(&copy, &bytes).unwrap();
        }
    }
    let refusal = refused(&folder.ktd(&["export", "twice", "--parquet"]), 2);
    assert!(refusal.contains("are one and the same episode"), "{refusal}");
    let summary = format!("out/cells/{CELL}/private/summary.json");
    let kept = folder.text(&summary);
    std::fs::write(
        folder.at(&summary),
        kept.replacen("\"value\": ", "\"value\": 1", 1),
    )
    .unwrap();
    let refusal = refused(
        &folder.ktd(&["export", "out", "--parquet", "--out", "refused"]),
        1,
    );
    assert!(refusal.contains("private/summary.json"), "{refusal}");
    std::fs::write(folder.at(&summary), kept).unwrap();
    std::fs::write(folder.at(&format!("out/cells/{CELL}/events.jsonl")), "").unwrap();
    let refusal = refused(
        &folder.ktd(&["export", "out", "--parquet", "--out", "refused"]),
        1,
    );
    assert!(refusal.contains("events.jsonl"), "{refusal}");
}

#[test]
fn tables_hold_what_records_say_and_nothing_that_a_mask_hides() {
    let folder = Folder::with(&[("try.toml", EXPERIMENT)]);
    assert_ok(&folder.ktd(&["run", "try.toml", "--out", "out"]));
    let printed = folder.ktd(&["--json", "export", "out", "--parquet"]);
    assert_ok(&printed);
    let printed: Value = serde_json::from_slice(&printed.stdout).unwrap();
    let [steps, calls, orders, scores] =
        ["steps", "calls", "orders", "scores"].map(|table| rows(&folder, table));
    let counts = |table: &[Value]| table.len() as u64;
    assert_eq!((counts(&steps), counts(&scores)), (4 * 6, 4));
    assert_eq!(counts(&calls), events(&folder, "", "turn").len() as u64);
    for (table, rows) in printed["tables"]
        .as_array()
        .unwrap()
        .iter()
        .zip([&steps, &calls, &orders, &scores])
    {
        assert_eq!(table["rows"], counts(rows), "{table}");
    }

    check_orders(&folder, &orders);

    // Masked rows say aliases and shown days; the account's totals are told where the record tells them.
    let is_masked = |row: &&Value| row["level"] == "blinded";
    for row in orders.iter().filter(is_masked) {
        assert!(row["stock_id"].as_str().unwrap().starts_with("asset_"), "{row}");
    }
    let shown = events(&folder, "__blinded-", "step_begin");
    for row in steps.iter().filter(is_masked) {
        assert!(shown.iter().any(|body| body["day"] == row["day"]), "{row}");
        assert!(
            row["nav_fen"].is_null() && row["is_repaired"].is_boolean(),
            "{row}"
        );
    }
    for row in &scores {
        assert_eq!(row["final_nav_fen"].is_null(), row["level"] == "blinded", "{row}");
        assert!(row["total_return"].is_number(), "{row}");
    }

    check_exposures(&folder);

    check_refusals(&folder);
}
