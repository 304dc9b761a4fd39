//! Order files: one JSON line a day.

use crate::SimulateError;
use ktd_env::TradeDate;
use ktd_io::text_file::open_text;
use ktd_tools::order::{OrderText, parse_order};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The batches of an order file by day.
pub(super) type Batches = BTreeMap<TradeDate, Vec<OrderText>>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'l> {
    date: String,
    #[serde(borrow)]
    orders: Vec<&'l RawValue>,
}

/// Reads a JSONL(.gz) order file.
///
/// # Errors
/// [`SimulateError`] naming the line for text that is no batch, an order that breaks the schema, or a second line for a day.
pub(super) fn read_orders(path: &Path, min_reason_chars: u32) -> Result<Batches, SimulateError> {
    let name = path.display();
    let mut batches = Batches::new();
    for (index, line) in BufReader::new(open_text(path)?).lines().enumerate() {
        let number = index + 1;
        let line = line.map_err(SimulateError::io("read", path))?;
        if line.trim().is_empty() {
            continue;
        }
        let batch: Line<'_> = serde_json::from_str(&line).map_err(|error| {
            SimulateError::invalid(format_args!("{name}, line {number}: {error}"))
                .with_hint(r#"each line is {"date": "2024-04-01", "orders": [...]}"#)
        })?;
        let date = TradeDate::parse(&batch.date)
            .map_err(|error| SimulateError::invalid(format_args!("{name}, line {number}: {error}")))?;
        let orders = batch
            .orders
            .iter()
            .enumerate()
            .map(|(place, raw)| {
                parse_order(raw, "symbol", min_reason_chars).map_err(|error| {
                    SimulateError::invalid(format_args!(
                        "{name}, line {number}, order {} of {}: {error}",
                        place + 1,
                        batch.orders.len()
                    ))
                    .with_hint(error.problem.hint())
                })
            })
            .collect::<Result<Vec<_>, _>>()?;
        if batches.insert(date, orders).is_some() {
            return Err(SimulateError::invalid(format_args!(
                "{name}, line {number}: a second line for {}",
                date.reveal()
            ))
            .with_hint("put all orders of a day into one line"));
        }
    }
    Ok(batches)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Batches, SimulateError> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("orders.jsonl");
        ktd_io::whole_file::write_whole(&path, text.as_bytes()).unwrap();
        read_orders(&path, 10)
    }

    #[test]
    fn one_line_a_day() {
        let order =
            r#"{"symbol":"SH600000","side":"BUY","shares":100,"confidence":1,"reason":"long enough"}"#;
        let batches = read(&format!(
            "{{\"date\":\"2024-04-01\",\"orders\":[{order}]}}\n\n{{\"date\":\"2024-04-02\",\"orders\":[]}}\n"
        ))
        .unwrap();
        assert_eq!(batches.len(), 2);
    }

    #[test]
    fn faults_name_their_line() {
        for (text, part) in [
            (
                "{\"date\":\"2024-04-01\",\"orders\":[{}]}\n",
                "line 1, order 1 of 1: `symbol` is missing",
            ),
            (
                "{\"date\":\"2024-04-01\",\"orders\":[]}\n{\"date\":\"2024-04-01\",\"orders\":[]}\n",
                "line 2: a second line",
            ),
            ("{\"date\":\"April\",\"orders\":[]}\n", "line 1"),
            ("{\"date\":\"2024-04-01\"}\n", "missing field `orders`"),
            ("nonsense\n", "line 1"),
        ] {
            let failure = read(text).unwrap_err();
            assert!(failure.to_string().contains(part), "{text}: {failure}");
        }
    }
}
