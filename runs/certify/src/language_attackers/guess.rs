//! What an attacker says in its own words, read by form alone: whether a stock or a day exists is another question.

use ktd_env::TradeDate;
use ktd_io::sha256::sha256_hex;
use ktd_masking::{Schema, ToolSpec};
use ktd_probes::{ProbeAnswer, ProbeKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::error::Category;

// The arguments of an answer about one exhibit. A doc comment here becomes part of what the model reads. No example of a
// code or a date stands in it: under a mask it might be one that is hidden.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct StockArguments {
    /// Up to five exchange codes, the most likely first: SH, SZ or BJ and six digits. Empty if you cannot guess.
    #[schemars(length(max = 5))]
    stocks: Vec<String>,
    /// The as-of day of the last step, as YYYY-MM-DD. Empty if you cannot guess.
    date: String,
    /// The stock's sector.
    #[schemars(with = "String")]
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    sector: Option<String>,
    /// The stock's board: MAIN, CHINEXT, STAR or BSE.
    #[schemars(with = "String")]
    #[schemars(default, skip_serializing_if = "Option::is_none")]
    board: Option<String>,
    /// Probability that the first code is right.
    #[schemars(range(min = 0, max = 1))]
    confidence: f64,
}

// The arguments of an answer about two exhibits.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "read by the schema generator alone")]
struct SameArguments {
    /// Whether both exhibits show the same stock.
    same_stock: bool,
    /// Probability that this is right.
    #[schemars(range(min = 0, max = 1))]
    confidence: f64,
}

/// The name of the tool that submits a guess; the built-in agents know no other.
pub(super) const SUBMIT_GUESS: &str = "submit_action";

/// SHA-256 of the tools that probes are answered by.
pub(crate) fn tools_sha256() -> String {
    let tools = [ProbeKind::Day, ProbeKind::Linked].map(tool);
    let parts = tools
        .each_ref()
        .map(|spec| (spec.name, spec.description, spec.parameters.as_value()));
    // Static text and schemas made from types cannot fail to be written.
    sha256_hex(&serde_json::to_vec(&parts).unwrap_or_default())
}

/// The tool that a kind of probes is answered by.
pub(super) fn tool(kind: ProbeKind) -> ToolSpec {
    match kind {
        ProbeKind::Day
        | ProbeKind::Days
        | ProbeKind::Episode
        | ProbeKind::Anchored
        | ProbeKind::Asked
        | ProbeKind::AskedKnown
        | ProbeKind::AskedDated => ToolSpec {
            name: SUBMIT_GUESS,
            description: "Submits your guess which stock and which day an exhibit shows.",
            parameters: Schema::of::<StockArguments>(),
        },
        ProbeKind::Linked => ToolSpec {
            name: SUBMIT_GUESS,
            description: "Submits your guess whether two exhibits show the same stock.",
            parameters: Schema::of::<SameArguments>(),
        },
    }
}

/// A guess of the right form, as the model wrote it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guess {
    /// Codes, best first.
    #[serde(skip_serializing_if = "Vec::is_empty", default)]
    pub stocks: Vec<String>,
    /// The day, or an empty text.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub date: String,
    /// The sector.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub sector: Option<String>,
    /// The board.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub board: Option<String>,
    /// Whether two exhibits show the same stock.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub same_stock: Option<bool>,
    /// How sure it is, 0 to 1.
    pub confidence: f64,
}

/// Why a submission is no guess.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Problem {
    /// It is no JSON from this line and column on, both 1-based.
    NotJson {
        /// The line.
        line: usize,
        /// The column.
        column: usize,
    },
    /// It is no object, or one with a key twice.
    NotAnObject,
    /// A key is missing.
    Missing(&'static str),
    /// A value has the wrong JSON type.
    WrongType(&'static str),
    /// More than five codes.
    TooManyStocks,
    /// A text that is no exchange code.
    CodeForm,
    /// A text that is no date.
    DateForm,
    /// A confidence outside 0 to 1.
    ConfidenceRange,
    /// Neither a stock nor a day.
    NoGuess,
}

impl Problem {
    /// The stable name used in records.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::NotJson { .. } => "answer_not_json",
            Self::NotAnObject => "answer_not_an_object",
            Self::Missing(_) => "answer_incomplete",
            Self::WrongType(_) => "answer_wrong_type",
            Self::TooManyStocks => "too_many_stocks",
            Self::CodeForm => "stock_code_form",
            Self::DateForm => "date_form",
            Self::ConfidenceRange => "confidence_range",
            Self::NoGuess => "no_guess",
        }
    }

    /// The explanation for the model, never with a word of its own.
    pub(super) fn explanation(self) -> &'static str {
        match self {
            Self::NotJson { .. } => "it is not JSON",
            Self::NotAnObject => "it must be one JSON object with each key once",
            Self::Missing("stocks") => "the key `stocks` is missing",
            Self::Missing("date") => "the key `date` is missing",
            Self::Missing("same_stock") => "the key `same_stock` is missing",
            Self::Missing(_) => "the key `confidence` is missing",
            Self::WrongType("stocks") => "`stocks` must be a list of texts",
            Self::WrongType("date") => "`date` must be a text",
            Self::WrongType("same_stock") => "`same_stock` must be true or false",
            Self::WrongType("confidence") => "`confidence` must be a number",
            Self::WrongType(_) => "`sector` and `board` must be texts",
            Self::TooManyStocks => "`stocks` holds more than five codes",
            Self::CodeForm => "an entry of `stocks` is not an exchange (SH, SZ or BJ) and six digits",
            Self::DateForm => "`date` is not a date of the form YYYY-MM-DD",
            Self::ConfidenceRange => "`confidence` is not within 0 and 1",
            Self::NoGuess => "it guesses neither the stock nor the day, and a guess is enough",
        }
    }
}

#[derive(Deserialize)]
struct Arguments {
    stocks: Option<Value>,
    date: Option<Value>,
    sector: Option<Value>,
    board: Option<Value>,
    same_stock: Option<Value>,
    confidence: Option<Value>,
}

/// Reads a submission about a kind of probe. Keys that were not asked for are passed over.
pub(super) fn read(kind: ProbeKind, text: &str) -> Result<Guess, Problem> {
    let arguments: Arguments = serde_json::from_str(text).map_err(|error| match error.classify() {
        Category::Syntax | Category::Eof | Category::Io => Problem::NotJson {
            line: error.line(),
            column: error.column(),
        },
        Category::Data => Problem::NotAnObject,
    })?;
    // A list would pass for an object: serde reads structs from sequences too.
    if !text.trim_start().starts_with('{') {
        return Err(Problem::NotAnObject);
    }
    let confidence = confidence(arguments.confidence.as_ref())?;
    if kind == ProbeKind::Linked {
        let same_stock = needed("same_stock", arguments.same_stock.as_ref())?;
        let same_stock = same_stock.as_bool().ok_or(Problem::WrongType("same_stock"))?;
        return Ok(Guess {
            same_stock: Some(same_stock),
            confidence,
            ..Guess::default()
        });
    }
    let guess = Guess {
        stocks: stocks(needed("stocks", arguments.stocks.as_ref())?)?,
        date: date(needed("date", arguments.date.as_ref())?)?,
        sector: text_of("sector", arguments.sector.as_ref())?,
        board: text_of("board", arguments.board.as_ref())?,
        same_stock: None,
        confidence,
    };
    if guess.stocks.is_empty() && guess.date.is_empty() {
        return Err(Problem::NoGuess);
    }
    Ok(guess)
}

fn needed<'v>(key: &'static str, value: Option<&'v Value>) -> Result<&'v Value, Problem> {
    value.ok_or(Problem::Missing(key))
}

fn text_of(key: &'static str, value: Option<&Value>) -> Result<Option<String>, Problem> {
    match value {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone()).filter(|text| !text.trim().is_empty())),
        Some(_) => Err(Problem::WrongType(key)),
    }
}

fn confidence(value: Option<&Value>) -> Result<f64, Problem> {
    let value = needed("confidence", value)?;
    let confidence = value.as_f64().ok_or(Problem::WrongType("confidence"))?;
    if (0.0..=1.0).contains(&confidence) {
        Ok(confidence)
    } else {
        Err(Problem::ConfidenceRange)
    }
}

fn stocks(value: &Value) -> Result<Vec<String>, Problem> {
    let list = value.as_array().ok_or(Problem::WrongType("stocks"))?;
    let texts = list.iter().map(|entry| entry.as_str().map(str::to_owned));
    let texts: Vec<String> = texts.collect::<Option<_>>().ok_or(Problem::WrongType("stocks"))?;
    if ProbeAnswer::MOST_NAMES < texts.len() {
        return Err(Problem::TooManyStocks);
    }
    if texts.iter().all(|text| CodeText::read(text).is_some()) {
        Ok(texts)
    } else {
        Err(Problem::CodeForm)
    }
}

fn date(value: &Value) -> Result<String, Problem> {
    let text = value.as_str().ok_or(Problem::WrongType("date"))?.trim();
    if text.is_empty() || TradeDate::parse(text).is_ok() {
        Ok(text.to_owned())
    } else {
        Err(Problem::DateForm)
    }
}

/// A code in one of the spellings that people use. A bound on what attackers find must not fall because of a dot, so that
/// all that have one meaning are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CodeText<'t> {
    /// `SH`, `SZ` or `BJ`, where one is named.
    pub(crate) exchange: Option<&'static str>,
    /// Six digits.
    pub(crate) digits: &'t str,
}

/// What may stand beside the digits, and the exchange it means.
const SPELLINGS: [(&str, &str); 7] = [
    ("SH", "SH"),
    ("SS", "SH"),
    ("XSHG", "SH"),
    ("SZ", "SZ"),
    ("XSHE", "SZ"),
    ("BJ", "BJ"),
    ("XBSE", "BJ"),
];

impl<'t> CodeText<'t> {
    /// Six digits with an exchange before them, after them, or without one.
    pub(crate) fn read(text: &'t str) -> Option<Self> {
        let text = text.trim();
        let start = text.find(|character: char| character.is_ascii_digit())?;
        let (before, rest) = text.split_at(start);
        let end = rest
            .find(|character: char| !character.is_ascii_digit())
            .unwrap_or(rest.len());
        let (digits, after) = rest.split_at(end);
        let bare =
            |letters: &'t str| letters.trim_matches(|mark: char| matches!(mark, '.' | ':' | '-' | '_' | ' '));
        let ((letters, "") | ("", letters)) = (bare(before), bare(after)) else {
            return None;
        };
        if digits.len() != 6 {
            return None;
        }
        if letters.is_empty() {
            return Some(Self {
                exchange: None,
                digits,
            });
        }
        let spelling = SPELLINGS
            .iter()
            .find(|(spelling, _)| spelling.eq_ignore_ascii_case(letters));
        spelling.map(|(_, exchange)| Self {
            exchange: Some(exchange),
            digits,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stock(text: &str) -> Result<Guess, &'static str> {
        read(ProbeKind::Day, text).map_err(Problem::code)
    }

    #[test]
    fn an_answer_of_the_right_form_is_kept_as_it_is_written() {
        let text = r#"{"stocks":["SH604001","300001.sz"],"date":"2024-04-01","sector":" Banks ","board":null,"confidence":0.5,"why":"x"}"#;
        let guess = stock(text).unwrap();
        assert_eq!(guess.stocks, ["SH604001", "300001.sz"]);
        assert_eq!((guess.sector.as_deref(), guess.board), (Some(" Banks "), None));
        assert!(stock(r#"{"stocks":[],"date":"20240401","confidence":0}"#).is_ok());
        assert!(stock(r#"{"stocks":["SZ000001"],"date":"","confidence":1}"#).is_ok());
        let same = read(ProbeKind::Linked, r#"{"same_stock":false,"confidence":0.9}"#).unwrap();
        assert_eq!(same.same_stock, Some(false));
    }

    #[test]
    fn each_mistake_has_its_name() {
        let six = r#"{"stocks":["SH600000","SH600001","SH600002","SH600003","SH600004","SH600005"],"date":"","confidence":0}"#;
        for (text, code) in [
            ("{'stocks': []}", "answer_not_json"),
            ("{\"stocks\": [", "answer_not_json"),
            ("[[\"SH600000\"],\"\",null,null,null,0]", "answer_not_an_object"),
            (
                r#"{"date":"","date":"","stocks":[],"confidence":0}"#,
                "answer_not_an_object",
            ),
            (r#"{"date":"","confidence":0}"#, "answer_incomplete"),
            (r#"{"stocks":[],"date":""}"#, "answer_incomplete"),
            (
                r#"{"stocks":"SH600000","date":"","confidence":0}"#,
                "answer_wrong_type",
            ),
            (
                r#"{"stocks":[600000],"date":"","confidence":0}"#,
                "answer_wrong_type",
            ),
            (
                r#"{"stocks":["SH600000"],"date":"","board":1,"confidence":0}"#,
                "answer_wrong_type",
            ),
            (six, "too_many_stocks"),
            (
                r#"{"stocks":["a bank"],"date":"","confidence":0}"#,
                "stock_code_form",
            ),
            (
                r#"{"stocks":["SH600000"],"date":"April","confidence":0}"#,
                "date_form",
            ),
            (
                r#"{"stocks":["SH600000"],"date":"2024-02-30","confidence":0}"#,
                "date_form",
            ),
            (
                r#"{"stocks":["SH600000"],"date":"","confidence":50}"#,
                "confidence_range",
            ),
            (r#"{"stocks":[],"date":" ","confidence":0}"#, "no_guess"),
        ] {
            assert_eq!(stock(text).unwrap_err(), code, "{text}");
        }
    }

    #[test]
    fn codes_are_read_in_every_spelling_that_has_one_meaning() {
        for (text, exchange) in [
            ("SH600000", Some("SH")),
            (" sz.000001", Some("SZ")),
            ("600000.SS", Some("SH")),
            ("000001.XSHE", Some("SZ")),
            ("600000", None),
        ] {
            assert_eq!(CodeText::read(text).unwrap().exchange, exchange, "{text}");
        }
        for text in [
            "",
            "SH60000",
            "SH6000000",
            "SH600000SZ",
            "HK000001",
            "600000 or 600001",
            "贵州茅台",
        ] {
            assert_eq!(CodeText::read(text), None, "{text}");
        }
    }

    #[test]
    fn no_code_and_no_date_stands_in_a_schema() {
        for kind in ProbeKind::ALL {
            let schema = tool(kind).parameters.as_value().to_string();
            let longest = schema.split(|character: char| !character.is_ascii_digit());
            assert!(longest.map(str::len).max() < Some(4), "{schema}");
        }
    }
}
