//! A price table: dated rows that a user keeps in a file, and what an episode is priced at.

use crate::ExperimentError;
use crate::amount::{Picodollars, UnitsPerDollar};
use crate::nearest::with_nearest;
use crate::price_row::{ExchangeRate, PriceRow, Priced, US_DOLLAR};
use ktd_agents::Usage;
use ktd_io::sha256::sha256_hex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::Path;
use toml::de::{DeTable, DeValue};

/// A price table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PriceTable {
    rows: Vec<PriceRow>,
    per_usd: BTreeMap<String, ExchangeRate>,
    sha256: String,
}

/// What an episode is priced at, as its header keeps it: enough to compute its cost again.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PricesRecord {
    /// SHA-256 of the price table's file.
    pub sha256: String,
    /// The row of the agent's model, with its date.
    pub row: PriceRow,
    /// What turns the row's currency into dollars, with its date.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub per_usd: Option<ExchangeRate>,
}

/// What tokens cost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenPricing {
    /// Nothing: the agent is a built-in one.
    Free,
    /// What a row says.
    Row(Box<PricesRecord>),
    /// Nobody knows: no price table, or no row for the model.
    Unknown,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(rename = "_about", default)]
    _about: Option<Box<RawValue>>,
    rows: Vec<PriceRow>,
    #[serde(default)]
    per_usd: BTreeMap<String, ExchangeRate>,
}

impl PriceTable {
    /// Reads a price table: JSON, or TOML where the file's name ends in `.toml`.
    ///
    /// # Errors
    /// [`ExperimentError::File`], or [`ExperimentError::Input`] naming what is wrong and where.
    pub fn read(path: &Path) -> Result<Self, ExperimentError> {
        let text = ktd_io::whole_file::read_input(path)?;
        let is_toml = path.extension().is_some_and(|extension| extension == "toml");
        let json = if is_toml {
            json_of_toml(&text)
        } else {
            Ok(text.clone())
        };
        let table = json.and_then(|json| Self::parse(&json));
        let mut table = table.map_err(|what| {
            ExperimentError::input(
                format!("{}: {what}", path.display()),
                "see docs/money.md for the form of a price table",
            )
        })?;
        table.sha256 = sha256_hex(text.as_bytes());
        Ok(table)
    }

    /// Reads a price table's JSON.
    ///
    /// # Errors
    /// What is wrong and where.
    pub fn parse(json: &str) -> Result<Self, String> {
        let file: File = serde_json::from_str(json).map_err(|error| with_nearest(&error.to_string()))?;
        let mut seen = BTreeSet::new();
        for row in &file.rows {
            check(row, &file.per_usd)?;
            if !seen.insert((&row.model, &row.vendor)) {
                return Err(format!("model {:?} has two rows of one vendor", row.model));
            }
        }
        Ok(Self {
            rows: file.rows,
            per_usd: file.per_usd,
            sha256: sha256_hex(json.as_bytes()),
        })
    }

    /// What a model costs at a vendor: the vendor's own row, else the row of any vendor.
    #[must_use]
    pub fn record(&self, vendor: &str, model: &str) -> Option<PricesRecord> {
        let of = |wanted: Option<&str>| {
            self.rows
                .iter()
                .find(|row| row.model == model && row.vendor.as_deref() == wanted)
        };
        let row = of(Some(vendor)).or_else(|| of(None))?;
        Some(PricesRecord {
            sha256: self.sha256.clone(),
            row: row.clone(),
            per_usd: self.per_usd.get(&row.currency).cloned(),
        })
    }
}

fn check(row: &PriceRow, per_usd: &BTreeMap<String, ExchangeRate>) -> Result<(), String> {
    let model = &row.model;
    if row.currency != US_DOLLAR && !per_usd.contains_key(&row.currency) {
        return Err(format!(
            "model {model:?}: prices in {0}, but `per_usd` has no rate for {0}",
            row.currency
        ));
    }
    let mut last = 0;
    for tier in &row.tiers {
        if tier.prompt_tokens_over <= last {
            return Err(format!(
                "model {model:?}: `prompt_tokens_over` must rise from tier to tier"
            ));
        }
        last = tier.prompt_tokens_over;
    }
    Ok(())
}

impl TokenPricing {
    /// What an episode of a bundle is priced at.
    #[must_use]
    pub fn of(is_builtin: bool, record: Option<PricesRecord>) -> Self {
        match record {
            _ if is_builtin => Self::Free,
            Some(record) => Self::Row(Box::new(record)),
            None => Self::Unknown,
        }
    }

    /// What a header keeps of it.
    #[must_use]
    pub fn record(&self) -> Option<&PricesRecord> {
        match self {
            Self::Row(record) => Some(record),
            Self::Free | Self::Unknown => None,
        }
    }

    /// What a call of this usage costs; `None` where nobody knows.
    #[must_use]
    pub fn cost(&self, usage: &Usage) -> Option<Priced> {
        match self {
            Self::Free => Some(Priced {
                amount: Picodollars::ZERO,
                is_estimated: false,
            }),
            Self::Row(record) => Some(record.row.cost(usage, record.rate())),
            Self::Unknown => None,
        }
    }

    /// What a call of so many tokens costs where nothing is cached or thought; `None` where nobody knows.
    #[must_use]
    pub fn usual(&self, prompt_tokens: u64, output_tokens: u64) -> Option<Picodollars> {
        let usage = Usage {
            uncached_input: prompt_tokens,
            visible_output: output_tokens,
            ..Usage::default()
        };
        self.cost(&usage).map(|priced| priced.amount)
    }

    /// The most that a call can cost; `None` where nobody knows the prices or the output has no bound.
    #[must_use]
    pub fn most(&self, prompt_tokens: u64, output_tokens: Option<u64>) -> Option<Picodollars> {
        match self {
            Self::Free => Some(Picodollars::ZERO),
            Self::Row(record) => Some(record.row.most(prompt_tokens, output_tokens?, record.rate())),
            Self::Unknown => None,
        }
    }
}

impl PricesRecord {
    fn rate(&self) -> Option<UnitsPerDollar> {
        let rate = self.per_usd.as_ref().map(|rate| rate.rate);
        rate.filter(|_| self.row.currency != US_DOLLAR)
    }
}

/// The same document as JSON. Numbers keep the digits they are written with.
fn json_of_toml(text: &str) -> Result<String, String> {
    let table = DeTable::parse(text).map_err(|error| error.to_string().trim_end().to_owned())?;
    let mut json = String::with_capacity(text.len());
    write_table(table.get_ref(), &mut json);
    Ok(json)
}

fn write_table(table: &DeTable<'_>, json: &mut String) {
    json.push('{');
    for (place, (key, value)) in table.iter().enumerate() {
        if place > 0 {
            json.push(',');
        }
        write_text(key.get_ref(), json);
        json.push(':');
        write_value(value.get_ref(), json);
    }
    json.push('}');
}

fn write_value(value: &DeValue<'_>, json: &mut String) {
    // Writing to a string cannot fail.
    match value {
        DeValue::String(text) => write_text(text, json),
        DeValue::Integer(integer) => write!(json, "{integer}").unwrap_or_default(),
        DeValue::Float(float) => json.push_str(float.as_str()),
        DeValue::Boolean(truth) => write!(json, "{truth}").unwrap_or_default(),
        DeValue::Datetime(datetime) => write_text(&datetime.to_string(), json),
        DeValue::Array(items) => {
            json.push('[');
            for (place, item) in items.iter().enumerate() {
                if place > 0 {
                    json.push(',');
                }
                write_value(item.get_ref(), json);
            }
            json.push(']');
        }
        DeValue::Table(table) => write_table(table, json),
    }
}

fn write_text(text: &str, json: &mut String) {
    json.push_str(&serde_json::Value::from(text).to_string());
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"model":"m","source":"s","asof":"2026-11","input":1.5,"output":3}"#;

    fn table(rows: &str, more: &str) -> Result<PriceTable, String> {
        PriceTable::parse(&format!("{{\"_about\":\"x\",\"rows\":[{rows}]{more}}}"))
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (rows, more, part) in [
            (
                ROW.replace("\"model\"", "\"modell\""),
                "",
                "unknown field `modell`",
            ),
            (ROW.replace("1.5", "1.0000001"), "", "at most 6 places"),
            (ROW.replace("1.5", "-1"), "", "is no amount"),
            (ROW.replace("1.5", "true"), "", "is no amount"),
            (
                ROW.replace("\"s\"", "\"s\",\"currency\":\"CNY\""),
                "",
                "no rate for CNY",
            ),
            (
                ROW.replace("\"s\"", "\"s\",\"currency\":\"CNY\""),
                ",\"per_usd\":{\"CNY\":{\"rate\":7.1}}",
                "missing field `asof`",
            ),
            (format!("{ROW},{ROW}"), "", "two rows"),
            (
                ROW.replace(
                    "\"s\"",
                    "\"s\",\"tiers\":[{\"prompt_tokens_over\":9,\"input\":1,\"output\":1},\
                     {\"prompt_tokens_over\":9,\"input\":1,\"output\":1}]",
                ),
                "",
                "must rise",
            ),
            (ROW.to_owned(), ",\"raws\":[]", "unknown field `raws`"),
            (ROW.replace("\"source\":\"s\",", ""), "", "missing field `source`"),
        ] {
            let error = table(&rows, more).unwrap_err();
            assert!(error.contains(part), "{error}");
        }
        let allowed = ROW.replace("\"s\"", "\"s\",\"note\":\"n\",\"batch_multiplier\":0.5");
        assert!(table(&allowed, "").is_ok());
    }

    #[test]
    fn a_vendors_own_row_goes_before_the_row_of_any() {
        let own = ROW.replace("\"s\"", "\"own\",\"provider\":\"acme\"");
        let table = table(&format!("{ROW},{own}"), "").unwrap();
        let source = |vendor| table.record(vendor, "m").unwrap().row.source;
        assert_eq!((source("acme").as_str(), source("other").as_str()), ("own", "s"));
        assert!(table.record("acme", "n").is_none());
        let acme_alone = PriceTable::parse(&format!("{{\"rows\":[{own}]}}")).unwrap();
        assert!(acme_alone.record("other", "m").is_none());
    }

    #[test]
    fn another_currency_is_turned_into_dollars_at_a_dated_rate() {
        let rows = ROW.replace("\"s\"", "\"s\",\"currency\":\"CNY\"");
        let rate = ",\"per_usd\":{\"CNY\":{\"rate\":7.5,\"asof\":\"2026-11-02\"}}";
        let record = table(&rows, rate).unwrap().record("x", "m").unwrap();
        assert_eq!(record.per_usd.as_ref().unwrap().asof, "2026-11-02");
        let usage = Usage {
            uncached_input: 10,
            ..Usage::NOTHING
        };
        let basis = TokenPricing::of(false, Some(record));
        assert_eq!(basis.cost(&usage).unwrap().amount, Picodollars(2_000_000));
    }

    /// What the header keeps reads back as it was, note and all.
    #[test]
    fn a_record_comes_back() {
        let rows = ROW.replace(
            "\"s\"",
            "\"s\",\"note\":\"n\",\"batch_multiplier\":0.5,\"cached_input\":0.10",
        );
        let record = table(&rows, "").unwrap().record("x", "m").unwrap();
        let json = serde_json::to_string(&record).unwrap();
        assert!(json.contains("\"cached_input\":\"0.1\""), "{json}");
        assert_eq!(serde_json::from_str::<PricesRecord>(&json).unwrap(), record);
    }

    #[test]
    fn a_toml_table_says_the_same() {
        let toml = "# prices\n[[rows]]\nmodel = \"m\"\nsource = \"s\"\nasof = 2026-11-02\ninput = 1.50\noutput = 3\n\
                    tiers = [{ prompt_tokens_over = 1_000, input = \"2\", output = 4.0 }]\n\
                    [per_usd.CNY]\nrate = 7.1\nasof = \"2026-11\"\n";
        let table = PriceTable::parse(&json_of_toml(toml).unwrap()).unwrap();
        let row = table.record("x", "m").unwrap().row;
        assert_eq!(row.tiers[0].prompt_tokens_over, 1_000);
        assert_eq!(
            (row.input.0, row.output.0, row.asof.as_str()),
            (1_500_000, 3_000_000, "2026-11-02")
        );
        assert!(json_of_toml("x = [").is_err());
        let example = json_of_toml(include_str!("../../../examples/prices.toml")).unwrap();
        let example = PriceTable::parse(&example).unwrap();
        for (vendor, model) in [
            ("x", "example-long"),
            ("anthropic", "example-cached"),
            ("x", "example-yuan"),
        ] {
            assert!(example.record(vendor, model).is_some(), "{model}");
        }
    }
}
