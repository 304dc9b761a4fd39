//! A strategy of one's own: a folder with its document, its scenarios and its reference program.

use crate::error::StrategyError;
use crate::frames::read_bars;
use crate::reference_program::ReferenceProgram;
use crate::strategy_id::StrategyId;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{read_if_exists, read_input};
use ktd_strategy_code::{Scenario, StrategyBars, StrategyDocument};
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The machine form of the document.
pub(crate) const SPEC: &str = "spec.json";
/// The document.
const TEXT: &str = "spec.md";
const SCENARIOS: &str = "scenarios.jsonl";
const REFERENCE: &str = "reference.py";
/// The most scenarios, and the most bars of one: distances between traces take the square of it.
const SCENARIOS_MAX: usize = 200;
const BARS_MAX: usize = 5_000;
/// An asset that stands for all others.
const CONSTITUENTS: &str = "constituents";

/// A folder with `spec.json`, `spec.md`, `scenarios.jsonl` and, where there is one, `reference.py`.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnStrategy {
    folder: PathBuf,
    /// Its identifier.
    pub id: StrategyId,
    /// The machine form of its document.
    pub document: StrategyDocument,
    /// The text of its document.
    pub(crate) text: String,
    /// The text of the machine form.
    pub(crate) spec: String,
    /// SHA-256 of the text of its document, in hexadecimal.
    pub text_sha256: String,
    /// Its scenarios.
    pub scenarios: Vec<Scenario>,
    /// The text of the file of scenarios.
    lines: String,
    reference: Option<Vec<u8>>,
}

impl OwnStrategy {
    /// The strategy of a folder.
    ///
    /// # Errors
    /// [`StrategyError`] naming the file and what is wrong in it.
    pub fn read(folder: &Path) -> Result<Self, StrategyError> {
        let path = folder.join(SPEC);
        let invalid = |path: &Path, problem: String| {
            StrategyError::input(
                format_args!("{}: {problem}", path.display()),
                "docs/strategy-code.md shows the form of these files",
            )
        };
        refuse_links(folder)?;
        let spec = read_input(&path)?;
        let document = StrategyDocument::parse(&spec).map_err(|problem| invalid(&path, problem))?;
        let id = StrategyId::own(&document.id).map_err(|problem| invalid(&path, problem))?;
        if document.assets.is_empty() {
            return Err(invalid(&path, "`assets` names no asset".to_owned()));
        }
        if let Some(twice) = repeated(&document.assets) {
            return Err(invalid(&path, format!("`assets` names {twice:?} twice")));
        }
        let text = read_input(&folder.join(TEXT))?;
        let path = folder.join(SCENARIOS);
        let lines = read_input(&path)?;
        let scenarios =
            read_scenarios(&lines, &document.assets).map_err(|problem| invalid(&path, problem))?;
        Ok(Self {
            folder: folder.to_owned(),
            id,
            document,
            text_sha256: sha256_hex(text.as_bytes()),
            text,
            spec,
            scenarios,
            lines,
            reference: read_if_exists(&folder.join(REFERENCE))?,
        })
    }

    /// The folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether there is a reference program, without which behaviour cannot be judged.
    #[must_use]
    pub const fn has_reference(&self) -> bool {
        self.reference.is_some()
    }

    /// The reference program, where there is one.
    pub(crate) fn reference(&self) -> Result<Option<ReferenceProgram>, StrategyError> {
        let Some(bytes) = &self.reference else {
            return Ok(None);
        };
        ReferenceProgram::new(&self.folder.join(REFERENCE), bytes).map(Some)
    }

    /// Names and bytes of its files, the machine form last.
    pub(crate) fn files(&self) -> Vec<(&'static str, &[u8])> {
        let reference = self.reference.as_deref().map(|bytes| (REFERENCE, bytes));
        let texts = [
            (TEXT, self.text.as_bytes()),
            (SCENARIOS, self.lines.as_bytes()),
            (SPEC, self.spec.as_bytes()),
        ];
        reference.into_iter().chain(texts).collect()
    }
}

/// Refuses a folder one of whose files is a link: it may have come from others, and what it leads to would go to models.
fn refuse_links(folder: &Path) -> Result<(), StrategyError> {
    let mut files = [SPEC, TEXT, SCENARIOS, REFERENCE]
        .map(|name| folder.join(name))
        .into_iter();
    match files.find(|file| file.is_symlink()) {
        None => Ok(()),
        Some(link) => Err(StrategyError::input(
            format_args!("{} is a link, and links are not followed", link.display()),
            "replace it with the file itself",
        )),
    }
}

/// A name that a list has more than once.
fn repeated(names: &[String]) -> Option<&String> {
    let mut known = BTreeSet::new();
    names.iter().find(|name| !known.insert(*name))
}

fn read_scenarios(lines: &str, assets: &[String]) -> Result<Vec<Scenario>, String> {
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
pub(crate) fn named_as(market: StrategyBars, names: &[String]) -> StrategyBars {
    let bars = market.assets.into_iter().zip(names);
    StrategyBars {
        assets: bars.map(|((_, bars), name)| (name.clone(), bars)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;

    #[test]
    fn files_say_what_is_wrong_in_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| write_whole(&folder.path().join(name), text.as_bytes()).unwrap();
        let error = || OwnStrategy::read(folder.path()).unwrap_err().to_string();
        let spec = |parameter: &str| {
            write(
                "spec.json",
                &format!(
                    "{{\"strategy_id\":\"X1\",\"name\":\"n\",\"family\":\"f\",\"assets\":[\"B\"],\"warmup\":1,\"multi\":false,\
                 \"intraday\":false,\"entry\":[\"UP: close > open\"],\"exit\":[],\"params\":{{\"N\":{parameter}}},\
                 \"constraints\":{{}},\"columns\":[],\"keywords\":[]}}"
                ),
            );
        };
        for (parameter, part) in [
            (
                "{\"type\":\"int\",\"flag\":\"tunable\",\"value\":5,\"min\":9,\"max\":2}",
                "`min` 9 is above `max` 2",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"tunable\",\"value\":50,\"min\":2,\"max\":9}",
                "is outside 2 to 9",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"loose\",\"value\":5}",
                "the flag \"loose\" is unknown",
            ),
            (
                "{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5,\"min\":1,\"max\":9}",
                "a frozen value has no `min`",
            ),
        ] {
            spec(parameter);
            let error = error();
            assert!(
                error.contains("spec.json: params.N:") && error.contains(part),
                "{error}"
            );
        }
        spec("{\"type\":\"int\",\"flag\":\"frozen\",\"value\":5}");
        write("spec.md", "# X1\n");
        let frame = "{\"columns\":[\"datetime\",\"open\",\"high\",\"low\",\"close\",\"volume\"],\"rows\":[[\"2021-01-04\",1,1,1,1,1]]}";
        let line = format!("{{\"scenario\":\"a\",\"data\":{frame}}}\n");
        write("scenarios.jsonl", &format!("{line}{line}"));
        assert!(error().contains("line 2: \"a\" is there twice"), "{}", error());
        write("scenarios.jsonl", &line);
        let own = OwnStrategy::read(folder.path()).unwrap();
        assert_eq!((own.scenarios.len(), own.has_reference()), (1, false));
        assert_eq!(own.scenarios[0].market.assets[0].0, "B");
        let files: Vec<&str> = own.files().iter().map(|(name, _)| *name).collect();
        assert_eq!(files, ["spec.md", "scenarios.jsonl", "spec.json"]);
        write(
            "scenarios.jsonl",
            &format!("{{\"scenario\":\"a\",\"data\":{{\"C\":{frame}}}}}\n"),
        );
        assert!(
            error().contains("line 1: the asset \"B\" has no frame"),
            "{}",
            error()
        );
        let twice = own.spec.replace("[\"B\"]", "[\"A\",\"B\",\"A\"]");
        write("spec.json", &twice);
        assert!(error().contains("`assets` names \"A\" twice"), "{}", error());
        let clash = own.spec.replace("\"X1\"", "\"S01\"");
        write("spec.json", &clash);
        assert!(
            error().contains("S01 is a strategy of the benchmark"),
            "{}",
            error()
        );
    }

    const EXAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/strategies/channel");

    #[cfg(unix)]
    #[test]
    fn a_file_that_is_a_link_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        for name in [SPEC, SCENARIOS, REFERENCE] {
            let bytes = ktd_io::whole_file::read_input_bytes(&Path::new(EXAMPLE).join(name)).unwrap();
            write_whole(&folder.path().join(name), &bytes).unwrap();
        }
        let secret = folder.path().join("secret");
        write_whole(&secret, b"of somebody's own").unwrap();
        std::os::unix::fs::symlink(&secret, folder.path().join(TEXT)).unwrap();
        let error = OwnStrategy::read(folder.path()).unwrap_err().to_string();
        assert!(
            error.ends_with("spec.md is a link, and links are not followed"),
            "{error}"
        );
    }

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
