//! Reasons side by side.

use super::*;

fn sides(arguments: &[&str]) -> Value {
    report(
        scene(),
        &[&["out", "--agent", "mine", "--side-by-side"], arguments].concat(),
    )
}

#[test]
fn the_same_steps_stand_side_by_side() {
    let sides = sides(&["--steps", "1,2,4"]);
    let one = &sides["matches"][0];
    let levels: Vec<&Value> = one["masks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|mask| &mask["level"])
        .collect();
    assert_eq!(levels, ["bright", "stock-blind", "date-blind", "blinded"]);
    let steps = one["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 3);
    assert_eq!(
        (&steps[0]["hits"], steps[0]["orders"].as_array().unwrap().len()),
        (&json!(6 * 4), 2)
    );
    for (place, outcome) in ["submitted", "hold", "fallback"].into_iter().enumerate() {
        assert!(
            steps[place]["cells"]
                .as_array()
                .unwrap()
                .iter()
                .all(|cell| cell["outcome"] == outcome)
        );
    }
    let order = &steps[0]["orders"][0]["cells"][3];
    assert_eq!(order["reason"]["text"], REASONS[0][0]);
    assert!(order["stock_id"].as_str().unwrap().starts_with("asset_"));
    assert_eq!(steps[0]["cells"][3]["day"], "day_+0");
    assert_eq!(steps[0]["orders"][0]["real"], Value::Null);
}

#[test]
fn without_steps_those_with_the_most_hits_are_shown() {
    let shown = sides(&[]);
    let steps: Vec<&Value> = shown["matches"][0]["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|step| &step["step"])
        .collect();
    assert_eq!(steps, [1, 3]);
}

#[test]
fn text_wraps_and_marks() {
    let text = said(
        scene(),
        &[
            "out",
            "--side-by-side",
            "--agent",
            "mine",
            "--steps",
            "1,2,3,4",
            "--width",
            "120",
        ],
    );
    for part in [
        "mine, window w, memory-only, seed 1",
        "bright/exact",
        "blinded/exact",
        "«Moutai»",
        "held: an empty list of",
        "no valid submission",
        "0.05, confidence 0.6",
    ] {
        assert!(text.contains(part), "{part} is missing:\n{text}");
    }
    let wide = text
        .lines()
        .filter(|line| 120 < ktd_view::table::display_width(line))
        .count();
    assert_eq!((wide, text.contains('\u{1b}')), (0, false));
}

#[test]
fn the_page_is_whole_and_nothing_breaks_out() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("sides.html");
    let to = file.to_str().unwrap();
    said(
        scene(),
        &["out", "--side-by-side", "--agent", "mine", "--out", to],
    );
    let page = std::fs::read_to_string(&file).unwrap();
    crate::page::well_formed::check(&page);
    assert!(!page.contains("<script") && page.contains("&lt;script&gt;"));
    assert!(!page.contains("http") && !page.contains('\u{1b}') && !page.contains('\u{202e}'));
    assert!(page.contains("<mark class=\"brand\" title=\"brand\">Moutai</mark>"));
    assert!(
        page.contains("<mark class=\"shown\""),
        "a code said back is marked apart"
    );
}

/// Codes that a bundle's private ledger names for the orders of a step.
fn codes(level: &str, step: usize) -> Vec<String> {
    let ledger = std::fs::read_to_string(cell(level).join("private/ledger.jsonl")).unwrap();
    let line: Value = serde_json::from_str(ledger.lines().nth(step - 1).unwrap()).unwrap();
    let fills = line["body"]["fills"].as_array().unwrap();
    fills
        .iter()
        .map(|fill| fill["symbol"].as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn the_same_real_stock_stands_in_the_same_row() {
    let sides = sides(&["--real", "--steps", "1"]);
    let step = &sides["matches"][0]["steps"][0];
    assert!(step["real_date"].as_str().unwrap().starts_with("20"));
    let rows = step["orders"].as_array().unwrap();
    let mut compared = 0;
    for (column, level) in ["bright", "stock-blind", "date-blind", "blinded"]
        .into_iter()
        .enumerate()
    {
        for (order, code) in codes(level, 1).into_iter().enumerate() {
            let row = rows
                .iter()
                .find(|row| row["real"].as_str().unwrap().starts_with(&code))
                .unwrap();
            assert_eq!(row["cells"][column]["order"], json!(order + 1), "{level}");
            compared += 1;
        }
    }
    assert_eq!(compared, 8);
    let mut seen: Vec<&str> = rows.iter().map(|row| row["real"].as_str().unwrap()).collect();
    let count = seen.len();
    seen.sort_unstable();
    seen.dedup();
    assert_eq!(seen.len(), count, "a stock has one row");
    // Bright and date-blind name the same first stock of the universe.
    assert!(
        rows.iter()
            .any(|row| row["cells"][0].is_object() && row["cells"][2].is_object())
    );
}

#[test]
fn real_stocks_need_the_private_part() {
    let folder = tempfile::tempdir().unwrap();
    for level in ["bright", "blinded"] {
        copy(&cell(level), &folder.path().join("cells").join(level));
    }
    std::fs::remove_dir_all(folder.path().join("cells/blinded/private")).unwrap();
    said(folder.path(), &["cells", "--side-by-side"]);
    let said = refused(
        &quiet(folder.path(), &["reasons", "cells", "--side-by-side", "--real"]),
        2,
    );
    assert!(said.contains("has no private part"), "{said}");
}

#[test]
fn what_has_no_counterpart_is_refused() {
    let own = cell("blinded");
    let said = refused(
        &quiet(scene(), &["reasons", own.to_str().unwrap(), "--side-by-side"]),
        2,
    );
    assert!(
        said.contains("no two of these episodes differ in their mask alone"),
        "{said}"
    );
    let said = refused(
        &quiet(scene(), &["reasons", "out", "--side-by-side", "--steps", "5"]),
        2,
    );
    assert!(
        said.contains("there is no step 5") && said.contains("1 to 4"),
        "{said}"
    );
    let said = quiet(scene(), &["reasons", "out", "--steps", "1"]);
    assert_eq!(said.status.code(), Some(2), "steps are of a comparison");
}
