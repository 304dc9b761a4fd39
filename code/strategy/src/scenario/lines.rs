//! Scenarios of a strategy of one's own, a line each.

use super::Scenario;
use super::frames::read_bars;
use crate::bars::StrategyBars;
use serde_json::Value;

/// The most scenarios, and the most bars of one: distances between traces take the square of it.
const SCENARIOS_MAX: usize = 200;
const BARS_MAX: usize = 5_000;
/// An asset that stands for all others.
const CONSTITUENTS: &str = "constituents";

/// The scenarios of lines such as `{"scenario": "rises", "data": {"columns": [..], "rows": [[..]]}}`, on these assets.
///
/// # Errors
/// A sentence that names the line.
pub fn read_scenarios(lines: &str, assets: &[String]) -> Result<Vec<Scenario>, String> {
    let mut scenarios: Vec<Scenario> = Vec::new();
    for (line, number) in lines
        .lines()
        .zip(1_usize..)
        .filter(|(line, _)| !line.trim().is_empty())
    {
        let scenario = read_scenario(line, assets).map_err(|problem| format!("line {number}: {problem}"))?;
        if scenarios.iter().any(|known| known.name == scenario.name) {
            return Err(format!("line {number}: {:?} is there twice", scenario.name));
        }
        let bars = scenario.market.times().len();
        if BARS_MAX < bars {
            return Err(format!(
                "line {number}: {:?} has {bars} bars; at most {BARS_MAX}",
                scenario.name
            ));
        }
        if scenarios.len() == SCENARIOS_MAX {
            return Err(format!(
                "line {number}: there are more than {SCENARIOS_MAX} scenarios"
            ));
        }
        scenarios.push(scenario);
    }
    Ok(scenarios)
}

fn read_scenario(line: &str, assets: &[String]) -> Result<Scenario, String> {
    let read: Value = serde_json::from_str(line).map_err(|error| error.to_string())?;
    let member = |name: &str| read.get(name).unwrap_or(&Value::Null);
    let name = member("scenario").as_str().ok_or("`scenario` is no text")?;
    let market = read_bars(member("data"), assets)?;
    let market = match (member("data").get("columns").is_some(), assets) {
        (true, [_]) => named_as(market, assets),
        (true, _) => {
            return Err(format!(
                "`data` is one frame, and the document trades {} assets",
                assets.len()
            ));
        }
        (false, _) => market,
    };
    check_symbols(&market, assets)?;
    Ok(Scenario {
        name: name.to_owned(),
        market,
    })
}

/// Whether bars are of the assets that a document names.
fn check_symbols(market: &StrategyBars, assets: &[String]) -> Result<(), String> {
    let has = |symbol: &str| market.assets.iter().any(|(known, _)| known == symbol);
    let is_open = assets.iter().any(|asset| asset == CONSTITUENTS);
    if let Some(missing) = assets.iter().find(|asset| *asset != CONSTITUENTS && !has(asset)) {
        return Err(format!("the asset {missing:?} has no frame"));
    }
    let mut symbols = market.assets.iter().map(|(symbol, _)| symbol);
    match symbols.find(|symbol| !is_open && !assets.contains(symbol)) {
        Some(unknown) => Err(format!("{unknown:?} is no asset of the document")),
        None => Ok(()),
    }
}

/// The same bars under these names, asset by asset.
#[must_use]
pub fn named_as(market: StrategyBars, names: &[String]) -> StrategyBars {
    let bars = market.assets.into_iter().zip(names);
    StrategyBars {
        assets: bars.map(|((_, bars), name)| (name.clone(), bars)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scenarios_have_a_greatest_number_and_length() {
        let line = |name: &str, bars: usize| {
            let day = |bar: usize| format!("{}-01-01T00:00:{:02}", 2000 + bar / 60, bar % 60);
            let rows: Vec<Value> = (0..bars)
                .map(|bar| serde_json::json!([day(bar), 1, 1, 1, 1, 1]))
                .collect();
            let columns = ["datetime", "open", "high", "low", "close", "volume"];
            serde_json::json!({"scenario": name, "data": {"columns": columns, "rows": rows}}).to_string()
        };
        let assets = ["X".to_owned()];
        let read = |lines: &[String]| read_scenarios(&lines.join("\n"), &assets);
        assert_eq!(read(&[line("longest", BARS_MAX)]).unwrap().len(), 1);
        let long = read(&[line("a", 2), line("b", BARS_MAX + 1)]).unwrap_err();
        assert_eq!(long, "line 2: \"b\" has 5001 bars; at most 5000");
        let many: Vec<String> = (0..=SCENARIOS_MAX)
            .map(|number| line(&number.to_string(), 1))
            .collect();
        assert_eq!(read(&many[..SCENARIOS_MAX]).unwrap().len(), SCENARIOS_MAX);
        assert_eq!(
            read(&many).unwrap_err(),
            "line 201: there are more than 200 scenarios"
        );
    }
}
