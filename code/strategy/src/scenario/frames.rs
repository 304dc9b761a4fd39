//! Bars in JSON: a frame `{"columns": [..], "rows": [[..], ..]}`, or one a symbol.

use crate::bars::{AssetBars, BarTime, StrategyBars};
use serde_json::Value;
use std::collections::BTreeMap;

/// Columns that every asset has.
const PRICES: [&str; 5] = ["open", "high", "low", "close", "volume"];
/// The name of an only asset.
const ONE: &str = "A";

/// The bars of a scenario. `assets` gives the order of several; `constituents` among them stands for all others.
///
/// # Errors
/// A sentence that names the asset, column or row.
pub(crate) fn read_bars(data: &Value, assets: &[String]) -> Result<StrategyBars, String> {
    if data.get("columns").is_some() {
        let bars = asset_bars(data)?;
        return Ok(StrategyBars {
            assets: vec![(ONE.to_owned(), bars)],
        });
    }
    let frames = data
        .as_object()
        .ok_or("`data` is neither a frame nor an object of frames")?;
    let place = |symbol: &str| {
        assets
            .iter()
            .position(|known| known == symbol)
            .unwrap_or(assets.len())
    };
    let mut symbols: Vec<&String> = frames.keys().collect();
    symbols.sort_by_key(|symbol| place(symbol));
    let mut own = Vec::with_capacity(symbols.len());
    for symbol in symbols {
        let bars = frames.get(symbol).map_or(Ok(AssetBars::default()), asset_bars);
        own.push((
            symbol.clone(),
            bars.map_err(|problem| format!("{symbol}: {problem}"))?,
        ));
    }
    let market = StrategyBars { assets: own };
    let other = market
        .assets
        .iter()
        .find(|(_, bars)| bars.times != market.times());
    match other {
        Some((symbol, _)) => Err(format!("{symbol}: its times are not those of the first asset")),
        None => Ok(market),
    }
}

fn asset_bars(frame: &Value) -> Result<AssetBars, String> {
    let columns = frame
        .get("columns")
        .and_then(Value::as_array)
        .ok_or("`columns` is not a list")?;
    let names: Vec<&str> = columns.iter().filter_map(Value::as_str).collect();
    let rows = frame
        .get("rows")
        .and_then(Value::as_array)
        .ok_or("`rows` is not a list")?;
    let place = |name: &str| {
        let place = names.iter().position(|known| *known == name);
        place.ok_or_else(|| format!("the column {name:?} is missing"))
    };
    let times = place("datetime")?;
    let mut bars = AssetBars::default();
    for (row, number) in rows.iter().zip(0..) {
        let number: usize = number;
        let time = row.get(times).and_then(Value::as_str).and_then(BarTime::read);
        let time = time.ok_or_else(|| format!("row {number} has no time without a zone"))?;
        if bars.times.last().is_some_and(|before| *before >= time) {
            return Err(format!("row {number}: its time does not follow the one before"));
        }
        bars.times.push(time);
    }
    let mut further = BTreeMap::new();
    for name in names.iter().filter(|name| **name != "datetime") {
        further.insert((*name).to_owned(), numbers(rows, place(name)?, name)?);
    }
    let mut take = |name: &str| {
        let column = further.remove(name);
        column.ok_or_else(|| format!("the column {name:?} is missing"))
    };
    let [open, high, low, close, volume] = PRICES.map(&mut take);
    (bars.open, bars.high, bars.low, bars.close, bars.volume) = (open?, high?, low?, close?, volume?);
    bars.further = further;
    Ok(bars)
}

fn numbers(rows: &[Value], place: usize, name: &str) -> Result<Vec<f64>, String> {
    let number = |(row, at): (&Value, usize)| {
        let number = row
            .get(place)
            .and_then(Value::as_f64)
            .filter(|number| number.is_finite());
        number.ok_or_else(|| format!("row {at} of {name:?} holds no number"))
    };
    rows.iter().zip(0..).map(number).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn frame(times: [&str; 2]) -> Value {
        json!({
            "columns": ["datetime", "open", "high", "low", "close", "volume", "weight"],
            "rows": [[times[0], 1, 2, 1, 2, 100, 0.5], [times[1], 2, 3, 2, 3, 100, 0.5]],
        })
    }

    #[test]
    fn bars_are_read_in_the_order_of_the_document() {
        let days = ["2021-01-04", "2021-01-05"];
        let one = read_bars(&frame(days), &[]).unwrap();
        assert_eq!(
            one.assets.first().unwrap().1.further.get("weight").unwrap(),
            &[0.5, 0.5]
        );
        let both = json!({"A": frame(days), "B": frame(days)});
        let order = ["B", "A"].map(str::to_owned);
        let symbols: Vec<String> = read_bars(&both, &order)
            .unwrap()
            .assets
            .into_iter()
            .map(|(symbol, _)| symbol)
            .collect();
        assert_eq!(symbols, order);
    }

    #[test]
    fn what_is_no_frame_is_named() {
        let error = |data: &Value| read_bars(data, &[]).unwrap_err();
        let doubled = error(&frame(["2021-01-04", "2021-01-04"]));
        assert_eq!(doubled, "row 1: its time does not follow the one before");
        assert_eq!(
            error(&frame(["2021-01-04", "x"])),
            "row 1 has no time without a zone"
        );
        let mut short = frame(["2021-01-04", "2021-01-05"]);
        short["rows"][1] = json!(["2021-01-05", 2]);
        assert!(error(&short).starts_with("row 1 of \"high\" holds no number"));
        short["columns"] = json!(["datetime", "open"]);
        assert_eq!(error(&short), "the column \"high\" is missing");
        let other =
            json!({"A": frame(["2021-01-04", "2021-01-05"]), "B": frame(["2021-01-04", "2021-01-06"])});
        assert_eq!(error(&other), "B: its times are not those of the first asset");
        assert_eq!(
            error(&json!(1)),
            "`data` is neither a frame nor an object of frames"
        );
    }
}
