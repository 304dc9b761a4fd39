//! Recorded exchanges, their events, and the tally of a comparison.

use flate2::read::GzDecoder;
use ktd_kit::golden::outside;
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

    /// Who answered.
    pub(crate) fn vendor(&self) -> &str {
        &self.vendor
    }

    /// Whether the body is an event stream; some begin with a comment.
    pub(crate) fn is_stream(&self) -> bool {
        [':', 'd', 'e'].iter().any(|first| self.body.starts_with(*first))
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
    recorded_where(|exchange| exchange.vendor == vendor)
}

/// All exchanges whose path ends so; `None`, told on standard output, where there is no golden set.
pub(crate) fn recorded_at(path: &str) -> Option<Vec<Exchange>> {
    recorded_where(|exchange| exchange.path.ends_with(path))
}

fn recorded_where(is_wanted: impl Fn(&Exchange) -> bool) -> Option<Vec<Exchange>> {
    let file = File::open(outside("providers")?.join("recorded.jsonl.gz")).unwrap();
    let lines = BufReader::new(GzDecoder::new(file)).lines();
    let exchanges = lines.map(|line| serde_json::from_str::<Exchange>(&line.unwrap()).unwrap());
    Some(exchanges.filter(is_wanted).collect())
}

/// How often each thing was seen.
#[derive(Debug, Default)]
pub(crate) struct Tally(BTreeMap<String, usize>);

impl Tally {
    pub(crate) fn add(&mut self, what: &str) {
        *self.0.entry(what.to_owned()).or_default() += 1;
    }

    /// Tells the tally.
    pub(crate) fn tell(&self, title: &str) {
        println!("{title}:");
        for (what, count) in &self.0 {
            println!("  {count:4} {what}");
        }
    }

    /// How often something that begins so was seen.
    pub(crate) fn of(&self, prefix: &str) -> usize {
        let seen = self.0.iter().filter(|(what, _)| what.starts_with(prefix));
        seen.map(|(_, count)| count).sum()
    }

    /// Tells the tally and holds it against what it must be, so that no exchange is left out unseen. A set of another
    /// size is another set, of which the counts are only told.
    pub(crate) fn check(&self, title: &str, expected: &[(&str, usize)]) {
        self.tell(title);
        if self.of("") != expected.iter().map(|(_, count)| count).sum::<usize>() {
            println!("  (another set than the counts are known of)");
            return;
        }
        let seen: Vec<(&str, usize)> = self
            .0
            .iter()
            .map(|(what, count)| (what.as_str(), *count))
            .collect();
        assert_eq!(seen, expected, "{title}");
    }
}
