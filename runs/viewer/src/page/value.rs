//! JSON and long texts for people.

use ktd_view::draw::{scroll, visible};
use maud::{Markup, html};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Characters of a text that are shown at once; more is cut, with its length said.
const SHOWN_CHARACTERS: usize = 200_000;
/// Rows of a table that are shown.
const SHOWN_ROWS: usize = 500;
/// Columns of a table, or cells of a row, that are shown.
const SHOWN_COLUMNS: usize = 100;
/// Objects in objects that are laid out; deeper ones are shown as JSON.
const DEPTH_MAX: usize = 6;

/// Real names of what is shown; empty unless asked for.
pub(crate) type RealNames = BTreeMap<String, String>;

/// A text with its line ends, every control spelled out, cut where it is longer than any real one.
pub(crate) fn text(text: &str) -> Markup {
    let end = text.char_indices().nth(SHOWN_CHARACTERS).map(|(place, _)| place);
    let shown = end.and_then(|end| text.get(..end)).unwrap_or(text);
    let lines: Vec<_> = shown.split('\n').map(visible).collect();
    // What may be higher than its box scrolls, and must do so by keyboard, too.
    let may_scroll = 12 < lines.len() || 600 < shown.len();
    html! {
        pre tabindex=[may_scroll.then_some("0")] { (lines.join("\n")) }
        @if end.is_some() {
            p.notes { "Cut after " (SHOWN_CHARACTERS) " of " (text.chars().count()) " characters." }
        }
    }
}

/// A short text in a line.
pub(crate) fn line(text: &str) -> Markup {
    let end = text.char_indices().nth(2_000).map(|(place, _)| place);
    let shown = end.and_then(|end| text.get(..end)).unwrap_or(text);
    html! { bdi { (visible(shown)) @if end.is_some() { "\u{2026}" } } }
}

/// Why an episode cannot be shown.
pub(crate) fn unreadable(what: &str) -> Markup {
    html! { span.state.damaged { "unreadable" } " " (line(what)) }
}

/// A state by its class and word.
pub(crate) fn state((class, word): (&str, &str)) -> Markup {
    html! { span class={ "state " (class) } { (word) } }
}

/// A name with its real one beside, where it is shown.
pub(crate) fn name(name: &str, real: &RealNames) -> Markup {
    html! {
        (line(name))
        @if let Some(real) = real.get(name) { " " span.real { (visible(real)) } }
    }
}

/// What a tool answered, or what a model submitted: laid out where it is JSON, and the text itself folded below.
pub(crate) fn document(raw: &str, real: &RealNames) -> Markup {
    let value = serde_json::from_str::<Value>(raw);
    html! {
        @match value {
            Ok(value @ (Value::Object(_) | Value::Array(_))) => {
                (laid_out(&value, real, 0))
                details { summary { "as it was sent" } (text(raw)) }
            }
            Ok(_) | Err(_) => { (text(raw)) }
        }
    }
}

/// A value laid out.
pub(crate) fn laid_out(value: &Value, real: &RealNames, depth: usize) -> Markup {
    match value {
        Value::Object(map) => table(map, real).unwrap_or_else(|| object(map, real, depth)),
        Value::Array(items) if records(items).is_some() => {
            records(items).map_or_else(|| html! {}, |table| laid_out(&table, real, depth))
        }
        Value::Array(items) if items.iter().all(|item| !item.is_object() && !item.is_array()) => {
            html! { @for (place, item) in items.iter().take(SHOWN_ROWS).enumerate() {
                @if 0 < place { ", " } (scalar(item, real))
            } }
        }
        Value::Array(items) if depth < DEPTH_MAX => {
            html! { ol.values { @for item in items.iter().take(SHOWN_ROWS) { li { (laid_out(item, real, depth + 1)) } } } }
        }
        Value::Array(_) => text(&value.to_string()),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => scalar(value, real),
    }
}

fn object(map: &Map<String, Value>, real: &RealNames, depth: usize) -> Markup {
    if DEPTH_MAX <= depth {
        return text(&Value::Object(map.clone()).to_string());
    }
    html! {
        dl.values {
            @for (key, value) in map.iter().take(SHOWN_ROWS) {
                dt { (line(key)) }
                dd { (laid_out(value, real, depth + 1)) }
            }
        }
    }
}

/// Flat objects of the same few keys as one table.
fn records(items: &[Value]) -> Option<Value> {
    const COLUMNS_MAX: usize = 12;
    let objects: Vec<&Map<String, Value>> = items.iter().map(Value::as_object).collect::<Option<_>>()?;
    let columns: BTreeSet<&String> = objects.iter().flat_map(|object| object.keys()).collect();
    let is_flat = |value: &Value| !value.is_object() && !value.is_array();
    if objects.is_empty()
        || COLUMNS_MAX < columns.len()
        || !objects.iter().all(|object| object.values().all(is_flat))
    {
        return None;
    }
    let row = |object: &&Map<String, Value>| {
        let cells = columns
            .iter()
            .map(|column| object.get(*column).cloned().unwrap_or_default());
        Value::Array(cells.collect())
    };
    let rows: Vec<Value> = objects.iter().map(row).collect();
    Some(serde_json::json!({ "columns": columns, "rows": rows }))
}

fn scalar(value: &Value, real: &RealNames) -> Markup {
    match value {
        Value::Null => html! { span.quiet { "none" } },
        Value::String(text) if text.contains('\n') || 300 < text.len() => self::text(text),
        Value::String(text) => name(text, real),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => line(&value.to_string()),
    }
}

/// `{"columns": [...], "rows": [[...]]}` as a table.
fn table(map: &Map<String, Value>, real: &RealNames) -> Option<Markup> {
    let all_columns = map.get("columns")?.as_array()?;
    let columns = all_columns.get(..SHOWN_COLUMNS).unwrap_or(all_columns);
    let all_rows = map.get("rows")?.as_array()?.iter().filter_map(Value::as_array);
    let count = all_rows.clone().count();
    let rows: Vec<&[Value]> = all_rows
        .take(SHOWN_ROWS)
        .map(|row| row.get(..SHOWN_COLUMNS).unwrap_or(row))
        .collect();
    let is_text = |place: usize| {
        let mut cells = rows.iter().filter_map(|row| row.get(place));
        cells.any(|cell| !cell.is_number() && !cell.is_null())
    };
    let left: Vec<bool> = (0..columns.len()).map(is_text).collect();
    let class = |place: usize| left.get(place).copied().unwrap_or(true).then_some("l");
    let markup = html! {
        table {
            thead { tr { @for (place, column) in columns.iter().enumerate() {
                th scope="col" class=[class(place)] { (cell(column, real)) }
            } } }
            tbody { @for row in &rows {
                tr { @for (place, value) in row.iter().enumerate() { td class=[class(place)] { (cell(value, real)) } } }
            } }
        }
    };
    let rest = map
        .iter()
        .filter(|(key, _)| !matches!(key.as_str(), "columns" | "rows"));
    let rest: Map<String, Value> = rest.map(|(key, value)| (key.clone(), value.clone())).collect();
    Some(html! {
        (scroll("table", &markup))
        @if rows.len() < count { p.notes { (rows.len()) " of " (count) " rows." } }
        @if columns.len() < all_columns.len() { p.notes { (columns.len()) " of " (all_columns.len()) " columns." } }
        @if !rest.is_empty() { (object(&rest, real, 1)) }
    })
}

fn cell(value: &Value, real: &RealNames) -> Markup {
    match value {
        Value::Null => html! {},
        Value::String(text) => name(text, real),
        Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => line(&value.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_table_of_a_tool_is_a_table() {
        let raw = r#"{"members":2,"candidates":{"columns":["stock_id","MOM"],"rows":[["asset_1",2.5],["<b>",null]]}}"#;
        let page = document(
            raw,
            &RealNames::from([("asset_1".to_owned(), "SH600000".to_owned())]),
        )
        .into_string();
        assert!(
            page.contains("<th scope=\"col\" class=\"l\"><bdi>stock_id</bdi></th>"),
            "{page}"
        );
        assert!(
            page.contains("<bdi>asset_1</bdi> <span class=\"real\">SH600000</span>"),
            "{page}"
        );
        assert!(page.contains("&lt;b&gt;") && !page.contains("<b>"), "{page}");
    }

    #[test]
    fn texts_of_strangers_stay_text() {
        for hostile in [
            "<script>alert(1)</script>",
            "\u{1b}[2J",
            "\u{202e}x",
            "=cmd|' /C calc'!A0",
            "\" onmouseover=\"x",
        ] {
            for page in [text(hostile), line(hostile), document(hostile, &RealNames::new())] {
                let page = page.into_string();
                assert!(
                    !page.contains("<script") && !page.contains('\u{1b}') && !page.contains('\u{202e}'),
                    "{page}"
                );
                assert!(!page.contains("\" onmouseover"), "{page}");
            }
        }
    }

    #[test]
    fn a_word_of_megabytes_is_cut_and_deep_json_ends() {
        let long = "x".repeat(10 << 20);
        assert!(text(&long).into_string().len() < SHOWN_CHARACTERS + 200);
        assert!(line(&long).into_string().len() < 2_100);
        let cells = "0,".repeat(300_000);
        let rows = "[],".repeat(300_000);
        let wide = format!("{{\"columns\":[{cells}0],\"rows\":[[{cells}0],{rows}[]]}}");
        let page = laid_out(&serde_json::from_str(&wide).unwrap(), &RealNames::new(), 0).into_string();
        assert!(page.contains("100 of 300001 columns") && page.contains("500 of 300002 rows"));
        assert!(page.len() < 60_000, "{}", page.len());
        let deep = format!("{}1{}", "[{\"a\":".repeat(40), "}]".repeat(40));
        assert!(document(&deep, &RealNames::new()).into_string().len() < 4_000);
    }
}
