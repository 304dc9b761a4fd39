//! Rates, quotations and lists.

use super::*;

fn row<'r>(report: &'r Value, agent: &str, level: &str) -> &'r Value {
    let rows = report["rows"].as_array().unwrap();
    rows.iter()
        .find(|row| row["agent"] == agent && row["level"] == level)
        .unwrap()
}

/// Wilson's interval for a share of four, by its formula.
fn wilson_of_four(with: f64) -> (f64, f64) {
    let (n, z) = (4.0, 1.959_963_984_540_054_f64);
    let (share, scale) = (with / n, 1.0 + z * z / n);
    let centre = (share + z * z / (2.0 * n)) / scale;
    let half = z / scale * (share * (1.0 - share) / n + z * z / (4.0 * n * n)).sqrt();
    (centre - half, centre + half)
}

#[test]
fn words_are_counted_by_mask() {
    let report = report(scene(), &["out"]);
    for level in ["bright", "stock-blind", "date-blind", "blinded"] {
        let orders = &row(&report, "mine", level)["rates"]["order"];
        assert_eq!(
            (&orders["reasons"], &orders["empty"]),
            (&json!(4), &json!(0)),
            "{level}"
        );
        for (category, hits, with) in [
            ("brand", 1, 1),
            ("company", 0, 0),
            ("sector", 2, 2),
            ("real-date", 1, 1),
            ("news", 1, 1),
            ("macro", 0, 0),
        ] {
            let rate = &orders["categories"][category];
            assert_eq!(
                (&rate["hits"], &rate["reasons_with"]),
                (&json!(hits), &json!(with)),
                "{level} {category}"
            );
            assert_eq!(rate["per_1000"]["value"], json!(f64::from(hits) * 250.0));
        }
        let any = &orders["any"];
        assert_eq!((&any["hits"], &any["share"]["value"]), (&json!(5), &json!(0.5)));
        let (low, high) = wilson_of_four(2.0);
        let interval = any["interval"].as_array().unwrap();
        assert!(
            (interval[0].as_f64().unwrap() - low).abs() < 1e-9
                && (interval[1].as_f64().unwrap() - high).abs() < 1e-9
        );
        // One code and one date were said back, where the level shows them.
        let shown = |category: &str| orders["categories"][category]["shown"].as_u64().unwrap();
        let (codes, dates) = (
            !matches!(level, "stock-blind" | "blinded"),
            !matches!(level, "date-blind" | "blinded"),
        );
        assert_eq!(
            (shown("company"), shown("real-date")),
            (u64::from(codes), u64::from(dates)),
            "{level}"
        );
        let overall = &row(&report, "mine", level)["rates"]["overall"];
        assert_eq!(
            (&overall["reasons"], &overall["categories"]["macro"]["hits"]),
            (&json!(3), &json!(2))
        );
    }
}

#[test]
fn holds_alone_have_no_rate() {
    let report = report(scene(), &["out", "--agent", "quiet"]);
    for row in report["rows"].as_array().unwrap() {
        let orders = &row["rates"]["order"];
        assert_eq!(orders["reasons"], 0);
        assert_eq!(
            orders["any"]["share"],
            json!({ "value": null, "reason": "no order reasons" })
        );
        assert_eq!(orders["any"]["interval"], Value::Null);
        assert_eq!(orders["categories"]["brand"]["per_1000"]["value"], Value::Null);
    }
    let text = said(scene(), &["out", "--agent", "quiet"]);
    assert!(
        text.contains("n/a: there are no such reasons") && !text.contains("NaN"),
        "{text}"
    );
}

#[test]
fn every_hit_can_be_looked_up() {
    let report = report(scene(), &["out", "--agent", "mine"]);
    let hits = report["hits"].as_array().unwrap();
    let mut in_orders = 0;
    for hit in hits {
        let events =
            std::fs::read_to_string(scene().join(hit["bundle"].as_str().unwrap()).join("events.jsonl"))
                .unwrap();
        let decision = events
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["body"].clone())
            .find(|body| body["kind"] == "decision" && body["step"] == hit["step"])
            .unwrap();
        let reason = match hit["order"].as_u64() {
            Some(order) => {
                in_orders += 1;
                let order = &decision["orders"][usize::try_from(order).unwrap() - 1];
                assert_eq!(order["stock_id"], hit["stock_id"]);
                order["reason"].clone()
            }
            None => decision["overall_reason"].clone(),
        };
        let place = |end: usize| usize::try_from(hit["bytes"][end].as_u64().unwrap()).unwrap();
        let word = &reason.as_str().unwrap()[place(0)..place(1)];
        assert_eq!(hit["word"], word);
        assert!(hit["sentence"].as_str().unwrap().contains(word) && hit["source"].is_string());
    }
    // Five at each level, a code at two, a date at two.
    assert_eq!((in_orders, hits.len()), (24, 32));
}

#[test]
fn quotations_are_safe_to_read() {
    let text = said(scene(), &["out", "--quote", "9", "--mask", "blinded"]);
    for part in [
        "brand: Looks like «Moutai», a liquor maker. (",
        "real-date: Its earnings report of «March 2024» was strong.",
        "step 3, order 2 asset_",
        "«银行» at last",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    assert!(!text.contains('\u{1b}') && !text.contains('\u{202e}'), "{text:?}");
    let text = said(scene(), &["out", "--quote", "1", "--mask", "blinded"]);
    assert!(text.contains("6 more: --quote, or --json for all"), "{text}");
}

#[test]
fn own_lists_take_the_place_of_the_programs() {
    let folder = tempfile::tempdir().unwrap();
    let lists = folder.path().to_str().unwrap();
    std::fs::write(
        folder.path().join("brand.en.txt"),
        "# mine\nmomentum\n!strong momentum\n",
    )
    .unwrap();
    std::fs::write(folder.path().join("README.md"), "no list").unwrap();
    let own = report(
        scene(),
        &["out", "--lists", lists, "--mask", "blinded", "--agent", "mine"],
    );
    let brand = &row(&own, "mine", "blinded")["rates"]["order"]["categories"]["brand"];
    assert_eq!(
        (&brand["hits"], &brand["reasons_with"]),
        (&json!(1_100), &json!(1))
    );
    assert!(
        own["notes"].to_string().contains("brand.en.txt"),
        "{}",
        own["notes"]
    );
    let built_in: Vec<&Value> = own["lists"]
        .as_array()
        .unwrap()
        .iter()
        .map(|list| &list["is_built_in"])
        .collect();
    assert_eq!(built_in.iter().filter(|is| **is == false).count(), 1);
    std::fs::write(folder.path().join("brands.en.txt"), "momentum\n").unwrap();
    let said = refused(&quiet(scene(), &["reasons", "out", "--lists", lists]), 2);
    assert!(
        said.contains("brands.en.txt is no list of words") && said.contains("brand.en.txt"),
        "{said}"
    );
    let empty = tempfile::tempdir().unwrap();
    let said = refused(
        &quiet(
            scene(),
            &["reasons", "out", "--lists", empty.path().to_str().unwrap()],
        ),
        2,
    );
    assert!(said.contains("holds no list of words"), "{said}");
}

#[test]
fn all_rates_are_in_the_csv() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("words.csv");
    said(scene(), &["out", "--csv", file.to_str().unwrap()]);
    let mut reader = csv::Reader::from_path(&file).unwrap();
    let heads = reader.headers().unwrap().clone();
    let place = |head: &str| heads.iter().position(|own| own == head).unwrap();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    assert_eq!(rows.len(), 2 * 4 * 2 * 11);
    let of = |agent: &str, words: &str| {
        let cells = [
            ("agent", agent),
            ("level", "blinded"),
            ("reason", "order"),
            ("words", words),
        ];
        let mut rows = rows.iter();
        rows.find(|row| cells.iter().all(|(head, cell)| &row[place(head)] == *cell))
            .unwrap()
    };
    assert_eq!(
        (
            &of("mine", "brand")[place("per_1000")],
            &of("mine", "any")[place("share")]
        ),
        ("250", "0.5")
    );
    assert_eq!(
        (
            &of("quiet", "any")[place("share")],
            &of("quiet", "any")[place("reasons")]
        ),
        ("", "0")
    );
}

#[test]
fn what_the_meter_finds_of_planted_texts_stands_beside_every_table() {
    let text = said(scene(), &["out"]);
    let tables = text.matches("What this meter finds of planted texts").count();
    assert_eq!(tables, 2, "one a table:\n{text}");
    let report = report(scene(), &["out"]);
    for row in report["detection"]["recall"].as_array().unwrap() {
        let (found, planted) = (row["found"].as_u64().unwrap(), row["planted"].as_u64().unwrap());
        assert!(
            20 <= planted && planted * 4 <= found * 5 && row["interval"].is_array(),
            "{row}"
        );
        assert!(text.contains(&format!("{found}/{planted}")), "{row}\n{text}");
    }
    let clean = &report["detection"]["false_alarms"][0];
    let (found, planted) = (
        clean["found"].as_u64().unwrap(),
        clean["planted"].as_u64().unwrap(),
    );
    assert!(clean["kind"] == "clean" && found * 100 <= planted, "{clean}");
}

#[test]
fn the_report_is_the_same_whatever_the_threads() {
    let once = said(scene(), &["out", "--json"]);
    let again = on_one_core(scene(), &["reasons", "out", "--json"]);
    assert_ok(&again);
    assert_eq!(once.as_bytes(), again.stdout);
}
