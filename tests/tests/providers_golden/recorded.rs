//! Recorded exchanges, their events, and the tally of a comparison.

use flate2::read::GzDecoder;
use ktd_tests::golden_folder;
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};

/// One exchange with a real service.
#[derive(Debug, Clone, Deserialize)]
pub(crate) struct Exchange {
    vendor: String,
    pub(crate) scenario: String,
    pub(crate) path: String,
    pub(crate) request: Value,
    pub(crate) status: u16,
    pub(crate) body: String,
}

impl Exchange {
    /// Where a comparison failed.
    pub(crate) fn place(&self) -> String {
        format!("{} {}", self.vendor, self.scenario)
    }

    /// Whether the body is an event stream.
    pub(crate) fn is_stream(&self) -> bool {
        self.body.starts_with("event:") || self.body.starts_with("data:")
    }

    /// The JSON of the body.
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{}: {error}", self.place()))
    }

    /// The JSON of each event of the body.
    pub(crate) fn events(&self) -> Vec<Value> {
        let data = self.body.lines().filter_map(|line| line.strip_prefix("data:"));
        let json = data.filter(|data| data.trim() != "[DONE]");
        json.map(|data| {
            serde_json::from_str(data).unwrap_or_else(|error| panic!("{}: {error}", self.place()))
        })
        .collect()
    }
}

/// All exchanges with a vendor; `None`, told on standard output, where there is no golden set.
pub(crate) fn recorded(vendor: &str) -> Option<Vec<Exchange>> {
    let file = File::open(golden_folder("providers")?.join("recorded.jsonl.gz")).unwrap();
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let exchanges = lines.map(|line| serde_json::from_str::<Exchange>(&line.unwrap()).unwrap());
    Some(exchanges.filter(|exchange| exchange.vendor == vendor).collect())
}

/// How often each thing was seen.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, usize>);

impl Tally {
    pub(crate) fn add(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    /// Tells the tally and holds it against what it must be, so that no exchange is left out unseen.
    pub(crate) fn check(&self, title: &str, expected: &[(&str, usize)]) {
        println!("{title}:");
        for (what, count) in &self.0 {
            println!("  {count:4} {what}");
        }
        let seen: Vec<(&str, usize)> = self
            .0
            .iter()
            .map(|(what, count)| (what.as_str(), *count))
            .collect();
        assert_eq!(seen, expected, "{title}");
    }
}
