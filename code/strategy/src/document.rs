//! A strategy document in its machine form: parameters, constraints, columns.

use crate::strict_json::StrictJson;
use std::collections::{BTreeMap, BTreeSet};

/// Type of a parameter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ParameterType {
    /// A whole number.
    Whole,
    /// A float.
    Float,
    /// A text.
    Text,
}

/// Whether a parameter may be chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum ParameterFreedom {
    /// The value is given.
    Frozen,
    /// The value may be chosen once, within these bounds.
    Tunable {
        /// Least value.
        least: f64,
        /// Greatest value.
        greatest: f64,
    },
}

/// One parameter of a document.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentParameter {
    /// Its type.
    pub kind: ParameterType,
    /// Its value: the given one, or the default of a tunable one.
    pub value: StrictJson,
    /// Whether it may be chosen.
    pub freedom: ParameterFreedom,
}

/// A strategy document in its machine form, `spec.json`.
#[derive(Debug, Clone, PartialEq)]
pub struct StrategyDocument {
    /// Identifier, such as `S01`.
    pub id: String,
    /// Name in lower case, such as `bollinger_reversion`.
    pub name: String,
    /// Family, such as `mean_reversion`.
    pub family: String,
    /// Symbols that it trades, in its order.
    pub assets: Vec<String>,
    /// Bars before its indicators are defined.
    pub warm_up_bars: usize,
    /// Whether it trades several assets.
    pub is_multi_asset: bool,
    /// Whether its bars are shorter than a day.
    pub is_intraday: bool,
    /// Parameters by name.
    pub parameters: BTreeMap<String, DocumentParameter>,
    /// Constraints by name.
    pub constraints: BTreeMap<String, StrictJson>,
    /// Names of its rules, as trades carry them: what stands before the colon of an entry or exit, and `reason NAME` in it.
    pub rules: BTreeSet<String>,
    /// Columns of its own in the log of bars.
    pub columns: Vec<String>,
    /// Words that a source of it is expected to contain.
    pub keywords: Vec<String>,
}

impl StrategyDocument {
    /// What its bars are, in words.
    #[must_use]
    pub const fn frequency(&self) -> &'static str {
        if self.is_intraday { "15 minutes" } else { "daily" }
    }

    /// A document from the text of `spec.json`.
    ///
    /// # Errors
    /// A sentence that names the place: text that is no strict JSON, a member that is missing or of another type, a least
    /// value above the greatest, a value outside its bounds, an unknown flag or type, bounds of a frozen value.
    pub fn parse(text: &str) -> Result<Self, String> {
        let value = StrictJson::parse(text)?;
        let parameters = map_of(&value, "params")?
            .iter()
            .map(|(name, parameter)| {
                let read = DocumentParameter::read(parameter);
                Ok((
                    name.clone(),
                    read.map_err(|problem| format!("params.{name}: {problem}"))?,
                ))
            })
            .collect::<Result<_, String>>()?;
        Ok(Self {
            id: text_of(&value, "strategy_id")?,
            name: text_of(&value, "name")?,
            family: text_of(&value, "family")?,
            assets: words_of(&value, "assets")?,
            warm_up_bars: count_of(&value, "warmup")?,
            is_multi_asset: flag_of(&value, "multi")?,
            is_intraday: flag_of(&value, "intraday")?,
            parameters,
            constraints: map_of(&value, "constraints")?.clone(),
            rules: rules_of(&[words_of(&value, "entry")?, words_of(&value, "exit")?].concat()),
            columns: words_of(&value, "columns")?,
            keywords: words_of(&value, "keywords")?,
        })
    }

    /// Complexity: 1 for several assets, half for intraday bars, half for more than three constraints, and half of the
    /// binary logarithm of parameters + 1 (the paper of `SysTradeBench`, section on strategies).
    #[must_use]
    pub fn complexity(&self) -> f64 {
        let one = |holds: bool, points: f64| if holds { points } else { 0.0 };
        one(self.is_multi_asset, 1.0)
            + one(self.is_intraday, 0.5)
            + one(self.constraints.len() > 3, 0.5)
            + 0.5 * libm::log2(crate::indicators::count(self.parameters.len() + 1))
    }
}

impl DocumentParameter {
    fn read(value: &StrictJson) -> Result<Self, String> {
        let kind = match text_of(value, "type")?.as_str() {
            "int" => ParameterType::Whole,
            "float" => ParameterType::Float,
            "text" | "str" => ParameterType::Text,
            other => return Err(format!("the type {other:?} is unknown; it is int, float or text")),
        };
        let own = value.get("value").ok_or("`value` is missing")?.clone();
        let bounds = (value.get("min"), value.get("max"));
        let freedom = match (text_of(value, "flag")?.as_str(), bounds) {
            ("frozen", (None, None)) => ParameterFreedom::Frozen,
            ("frozen", _) => return Err("a frozen value has no `min` and no `max`; remove them".to_owned()),
            ("tunable", (Some(least), Some(greatest))) => bounds_of(least, greatest, &own)?,
            ("tunable", _) => return Err("a tunable value needs `min` and `max`".to_owned()),
            (other, _) => return Err(format!("the flag {other:?} is unknown; it is frozen or tunable")),
        };
        if !fits(kind, &own) {
            return Err("the value is not of its type".to_owned());
        }
        Ok(Self {
            kind,
            value: own,
            freedom,
        })
    }
}

fn bounds_of(
    least: &StrictJson,
    greatest: &StrictJson,
    value: &StrictJson,
) -> Result<ParameterFreedom, String> {
    let number = |value: &StrictJson, name: &str| {
        let number = value.as_number();
        number.ok_or_else(|| format!("`{name}` is not a number"))
    };
    let (least, greatest) = (number(least, "min")?, number(greatest, "max")?);
    let value = number(value, "value")?;
    if least > greatest {
        return Err(format!("`min` {least} is above `max` {greatest}"));
    }
    if value < least || greatest < value {
        return Err(format!("the value {value} is outside {least} to {greatest}"));
    }
    Ok(ParameterFreedom::Tunable { least, greatest })
}

/// Whether a value is of a type.
pub(crate) fn fits(kind: ParameterType, value: &StrictJson) -> bool {
    match kind {
        ParameterType::Whole => value.as_number().is_some_and(|number| number.fract() == 0.0),
        ParameterType::Float => value.as_number().is_some(),
        ParameterType::Text => value.as_text().is_some(),
    }
}

/// Names of rules in sentences such as `BREAK_UP: close > upper -> close a short (reason REVERSE_UP), LONG`.
fn rules_of(sentences: &[String]) -> BTreeSet<String> {
    let is_name = |word: &str| {
        let letters = word
            .bytes()
            .all(|byte| byte.is_ascii_uppercase() || byte == b'_' || byte.is_ascii_digit());
        word.len() > 2 && letters
    };
    let mut rules = BTreeSet::new();
    for sentence in sentences {
        if let Some((name, _)) = sentence.split_once(':').filter(|(name, _)| is_name(name)) {
            rules.insert(name.to_owned());
        }
        let reasons = sentence.split("reason ").skip(1);
        let named = reasons.filter_map(|rest| {
            rest.split(|character: char| !character.is_ascii_uppercase() && character != '_')
                .next()
        });
        rules.extend(named.filter(|name| is_name(name)).map(str::to_owned));
    }
    rules
}

fn member<'a>(value: &'a StrictJson, name: &str) -> Result<&'a StrictJson, String> {
    value.get(name).ok_or_else(|| format!("`{name}` is missing"))
}

fn text_of(value: &StrictJson, name: &str) -> Result<String, String> {
    let text = member(value, name)?.as_text();
    text.map(str::to_owned)
        .ok_or_else(|| format!("`{name}` is not a text"))
}

fn map_of<'a>(value: &'a StrictJson, name: &str) -> Result<&'a BTreeMap<String, StrictJson>, String> {
    member(value, name)?
        .as_map()
        .ok_or_else(|| format!("`{name}` is not an object"))
}

fn words_of(value: &StrictJson, name: &str) -> Result<Vec<String>, String> {
    let wrong = || format!("`{name}` is not a list of texts");
    let items = member(value, name)?.as_list().ok_or_else(wrong)?;
    items
        .iter()
        .map(|item| item.as_text().map(str::to_owned).ok_or_else(wrong))
        .collect()
}

fn flag_of(value: &StrictJson, name: &str) -> Result<bool, String> {
    match member(value, name)? {
        StrictJson::Bool(flag) => Ok(*flag),
        StrictJson::Null
        | StrictJson::Number(_)
        | StrictJson::Text(_)
        | StrictJson::List(_)
        | StrictJson::Map(_) => Err(format!("`{name}` is not true or false")),
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "whole and between 0 and 100,000"
)]
fn count_of(value: &StrictJson, name: &str) -> Result<usize, String> {
    member(value, name)?
        .as_number()
        .filter(|number| number.fract() == 0.0 && (0.0..=100_000.0).contains(number))
        .map(|number| number as usize)
        .ok_or_else(|| format!("`{name}` is not a whole number from 0 to 100,000"))
}
