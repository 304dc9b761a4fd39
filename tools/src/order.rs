//! One order of a submitted batch: from its JSON text to a typed order.
//!
//! Numbers are read from their text, not from a float: `100.0` is no share count and `0.1000000` has one decimal
//! place (docs/spec/exchange.md#order). An order that fails here is the model's to correct; nothing is corrected here.

use ktd_env::exchange::{Quantity, Side, TargetWeight};
use ktd_env::{Decimal, DecimalError, Shares};
use ktd_masking::JsonExtent;
use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;
use std::fmt;

/// Longest text of one order, in bytes.
const MAX_ORDER_BYTES: usize = 64 * 1024;
/// Deepest nesting of one order; the schema itself needs one level.
const MAX_ORDER_DEPTH: usize = 16;

/// An order as submitted, before its symbol is resolved.
#[derive(Debug, Clone, PartialEq)]
pub struct OrderText {
    /// The symbol or alias, never empty.
    pub symbol: String,
    /// Buy or sell.
    pub side: Side,
    /// Shares or target weight.
    pub quantity: Quantity,
    /// The stated probability of being right, in `[0, 1]`.
    pub confidence: f64,
    /// The stated reason, as written.
    pub reason: String,
}

/// Why a text is no order. It holds nothing of the text itself, so that it may be shown at any mask level.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` {problem}")]
pub struct OrderSchemaError {
    /// The key that is wrong, or `order` for the order as a whole.
    pub field: &'static str,
    /// What is wrong with it.
    pub problem: OrderProblem,
}

/// What is wrong with a field of an order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error, strum::IntoStaticStr, strum::VariantNames)]
#[strum(serialize_all = "snake_case")]
#[non_exhaustive]
pub enum OrderProblem {
    /// The order is longer than an order may be.
    #[error("is longer than {max_bytes} bytes")]
    TooLong {
        /// The limit.
        max_bytes: usize,
    },
    /// The order nests deeper than an order may.
    #[error("nests deeper than {max_depth} levels")]
    TooDeep {
        /// The limit.
        max_depth: usize,
    },
    /// Not an object.
    #[error("must be a JSON object")]
    NotAnObject,
    /// A required key is absent.
    #[error("is missing; it must be {expected}")]
    Missing {
        /// What belongs there.
        expected: &'static str,
    },
    /// The key stands there twice.
    #[error("is given twice")]
    Repeated,
    /// Another JSON type, or a value outside its range.
    #[error("must be {expected}")]
    Expected {
        /// What belongs there.
        expected: &'static str,
    },
    /// More than six decimal places by value.
    #[error("has more than 6 decimal places")]
    TooPrecise,
    /// A weight finer than the weights that are shown.
    #[error("is no multiple of the step of target weights")]
    OffStep,
    /// The reason is too short after trimming.
    #[error("has {found} characters after trimming, but at least {least} are needed")]
    TooShort {
        /// Characters found.
        found: usize,
        /// Characters needed.
        least: u32,
    },
    /// Both quantities are there.
    #[error("and `target_weight` are both given; exactly one may be")]
    BothQuantities,
    /// Shares, where share counts are hidden.
    #[error("is not taken where share counts are hidden")]
    SharesHidden,
    /// Neither quantity is there.
    #[error("and `target_weight` are both missing; exactly one must be given")]
    NoQuantity,
}

impl OrderProblem {
    /// A stable text for programs.
    #[must_use]
    pub fn code(self) -> &'static str {
        self.into()
    }

    /// How to fix it.
    #[must_use]
    pub const fn hint(self) -> &'static str {
        match self {
            Self::TooLong { .. } => "shorten the reason and drop keys the schema does not name",
            Self::TooDeep { .. } | Self::NotAnObject => "write each order as one flat JSON object",
            Self::Missing { .. } => "add the key",
            Self::Repeated => "give each key once",
            Self::Expected { .. } => "write the value as the schema says, numbers without quotes",
            Self::TooPrecise => "round `target_weight` to 6 decimal places",
            Self::OffStep => "round `target_weight` to a multiple of `step`",
            Self::TooShort { .. } => "say in a sentence why",
            Self::BothQuantities => "keep `shares` or `target_weight` and drop the other",
            Self::SharesHidden => {
                "say with `target_weight` what the stock shall weigh after the trade; 0 sells everything"
            }
            Self::NoQuantity => "add `target_weight` (0 to 1) or `shares` (a whole number above 0)",
        }
    }
}

const SYMBOL: &str = "a non-empty string";
const SIDE: &str = "\"BUY\" or \"SELL\"";
const SHARES: &str = "a whole number of shares above 0, written without point, exponent or quotes";
const WEIGHT: &str = "a number from 0 to 1 with at most 6 decimal places";
const CONFIDENCE: &str = "a number from 0 to 1";
const REASON: &str = "a string";

/// Reads one order. `symbol_key` names the key that holds the symbol: `symbol` in order files, `stock_id` for models.
///
/// # Errors
/// [`OrderSchemaError`] naming the first field that breaks the schema of docs/spec/exchange.md#order.
pub fn parse_order(
    raw: &RawValue,
    symbol_key: &'static str,
    min_reason_chars: u32,
) -> Result<OrderText, OrderSchemaError> {
    let text = raw.get();
    check_limits(text)?;
    let of_order = |problem| OrderSchemaError {
        field: "order",
        problem,
    };
    if !text.trim_start().starts_with('{') {
        return Err(of_order(OrderProblem::NotAnObject));
    }
    let fields = serde_json::from_str::<Members<'_>>(text)
        .map_err(|_| of_order(OrderProblem::NotAnObject))?
        .0;
    let symbol: String = fields.required(symbol_key, SYMBOL)?;
    if symbol.is_empty() {
        return Err(expected(symbol_key, SYMBOL));
    }
    let side = match fields.required::<String>("side", SIDE)?.as_str() {
        "BUY" => Side::Buy,
        "SELL" => Side::Sell,
        _ => return Err(expected("side", SIDE)),
    };
    let quantity = quantity(&fields)?;
    let confidence = fields.required::<f64>("confidence", CONFIDENCE)?;
    if !(0.0..=1.0).contains(&confidence) {
        return Err(expected("confidence", CONFIDENCE));
    }
    let reason: String = fields.required("reason", REASON)?;
    let found = reason.trim().chars().count();
    if found < usize::try_from(min_reason_chars).unwrap_or(usize::MAX) {
        return Err(OrderSchemaError {
            field: "reason",
            problem: OrderProblem::TooShort {
                found,
                least: min_reason_chars,
            },
        });
    }
    Ok(OrderText {
        symbol,
        side,
        quantity,
        confidence,
        reason,
    })
}

const fn expected(field: &'static str, expected: &'static str) -> OrderSchemaError {
    OrderSchemaError {
        field,
        problem: OrderProblem::Expected { expected },
    }
}

fn quantity(fields: &Fields<'_>) -> Result<Quantity, OrderSchemaError> {
    let shares = fields.optional("shares")?;
    let weight = fields.optional("target_weight")?;
    let both = |problem| OrderSchemaError {
        field: "shares",
        problem,
    };
    match (shares, weight) {
        (Some(_), Some(_)) => Err(both(OrderProblem::BothQuantities)),
        (None, None) => Err(both(OrderProblem::NoQuantity)),
        (Some(text), None) => whole_shares(text)
            .map(Quantity::Shares)
            .ok_or_else(|| expected("shares", SHARES)),
        (None, Some(text)) => target_weight(text).map(Quantity::TargetWeight),
    }
}

/// A JSON integer literal above 0.
fn whole_shares(text: &str) -> Option<Shares> {
    if !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return None;
    }
    text.parse().ok().filter(|&shares| shares > 0).map(Shares)
}

fn target_weight(text: &str) -> Result<TargetWeight, OrderSchemaError> {
    let fail = |problem| OrderSchemaError {
        field: "target_weight",
        problem,
    };
    // Strings, objects and booleans fail here because a decimal starts with a digit or a minus sign.
    let weight = Decimal::parse(text).map_err(|error| match error {
        DecimalError::TooPrecise { .. } => fail(OrderProblem::TooPrecise),
        DecimalError::Malformed { .. } | DecimalError::Negative { .. } => expected("target_weight", WEIGHT),
    })?;
    if weight > Decimal::ONE {
        return Err(expected("target_weight", WEIGHT));
    }
    TargetWeight::new(weight).ok_or_else(|| fail(OrderProblem::TooPrecise))
}

/// The keys of one object with the texts of their values, in the order written.
struct Fields<'t>(Vec<(String, &'t RawValue)>);

/// The reader's side of [`Fields`]: borrowing needs a type of its own.
struct Members<'t>(Fields<'t>);

const KNOWN_KEYS: [&str; 7] = [
    "symbol",
    "stock_id",
    "side",
    "shares",
    "target_weight",
    "confidence",
    "reason",
];

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::with_capacity(KNOWN_KEYS.len());
                while let Some(key) = map.next_key::<String>()? {
                    if KNOWN_KEYS.contains(&key.as_str()) {
                        fields.push((key, map.next_value()?));
                    } else {
                        map.next_value::<IgnoredAny>()?;
                    }
                }
                Ok(Members(Fields(fields)))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

impl<'t> Fields<'t> {
    /// The value's text; `null` counts as absent.
    fn optional(&self, field: &'static str) -> Result<Option<&'t str>, OrderSchemaError> {
        let mut found = self.0.iter().filter(|(key, _)| key == field);
        let value = found.next().map(|(_, value)| value.get());
        if found.next().is_some() {
            return Err(OrderSchemaError {
                field,
                problem: OrderProblem::Repeated,
            });
        }
        Ok(value.filter(|text| *text != "null"))
    }

    fn required<T: Deserialize<'t>>(
        &self,
        field: &'static str,
        what: &'static str,
    ) -> Result<T, OrderSchemaError> {
        let text = self.optional(field)?.ok_or(OrderSchemaError {
            field,
            problem: OrderProblem::Missing { expected: what },
        })?;
        serde_json::from_str(text).map_err(|_| expected(field, what))
    }
}

fn check_limits(text: &str) -> Result<(), OrderSchemaError> {
    let fail = |problem| {
        Err(OrderSchemaError {
            field: "order",
            problem,
        })
    };
    if text.len() > MAX_ORDER_BYTES {
        return fail(OrderProblem::TooLong {
            max_bytes: MAX_ORDER_BYTES,
        });
    }
    if JsonExtent::of(text.as_bytes()).depth > MAX_ORDER_DEPTH {
        return fail(OrderProblem::TooDeep {
            max_depth: MAX_ORDER_DEPTH,
        });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<OrderText, OrderSchemaError> {
        parse_order(serde_json::from_str(text).unwrap(), "symbol", 10)
    }

    fn with_quantity(quantity: &str) -> Result<Quantity, (&'static str, &'static str)> {
        let text = format!(
            r#"{{"symbol":"SH600519","side":"BUY",{quantity}"confidence":0.5,"reason":"ten letters at least"}}"#
        );
        parse(&text)
            .map(|order| order.quantity)
            .map_err(|error| (error.field, error.problem.code()))
    }

    #[test]
    fn share_counts_are_integer_literals_above_zero() {
        assert_eq!(
            with_quantity(r#""shares":100,"#),
            Ok(Quantity::Shares(Shares(100)))
        );
        assert_eq!(
            with_quantity(r#""shares":100,"target_weight":null,"#),
            Ok(Quantity::Shares(Shares(100)))
        );
        for bad in [
            "0",
            "-100",
            "100.0",
            "1e2",
            "\"100\"",
            "true",
            "[1]",
            "99999999999999999999",
        ] {
            assert_eq!(
                with_quantity(&format!(r#""shares":{bad},"#)),
                Err(("shares", "expected")),
                "{bad}"
            );
        }
    }

    #[test]
    fn weights_have_six_places_by_value() {
        for (text, millionths) in [
            ("0.1000000", 100_000),
            ("1", 1_000_000),
            ("0", 0),
            ("-0.0", 0),
            ("1e-6", 1),
            ("1000000e-6", 1_000_000),
            ("2.50E-1", 250_000),
        ] {
            let Ok(Quantity::TargetWeight(weight)) = with_quantity(&format!(r#""target_weight":{text},"#))
            else {
                panic!("{text} is a weight");
            };
            assert_eq!(weight.millionths(), millionths, "{text}");
        }
        for (text, code) in [
            ("1e-7", "too_precise"),
            ("0.1234567", "too_precise"),
            ("0.00000000000000000000000000000000000000001", "too_precise"),
            ("1.3", "expected"),
            ("1.0000001", "expected"),
            ("-0.1", "expected"),
            ("\"0.1\"", "expected"),
            ("{}", "expected"),
        ] {
            assert_eq!(
                with_quantity(&format!(r#""target_weight":{text},"#)),
                Err(("target_weight", code)),
                "{text}"
            );
        }
    }

    #[test]
    fn exactly_one_quantity() {
        assert_eq!(with_quantity(""), Err(("shares", "no_quantity")));
        assert_eq!(with_quantity(r#""shares":null,"#), Err(("shares", "no_quantity")));
        assert_eq!(
            with_quantity(r#""shares":100,"target_weight":0.1,"#),
            Err(("shares", "both_quantities"))
        );
        assert_eq!(
            with_quantity(r#""shares":100,"shares":200,"#),
            Err(("shares", "repeated"))
        );
    }

    #[test]
    fn the_other_fields() {
        let order = |symbol: &str, side: &str, confidence: &str, reason: &str| {
            parse(&format!(
                r#"{{"symbol":{symbol},"side":{side},"shares":100,"confidence":{confidence},"reason":{reason},"mood":{{"x":[1]}}}}"#
            ))
            .map_err(|error| (error.field, error.problem.code()))
        };
        let good = r#""long enough""#;
        assert!(order("\"SH600519\"", "\"SELL\"", "1", good).is_ok());
        assert!(order("\"a\"", "\"BUY\"", "0", "\"一二三四五六七八九十\"").is_ok());
        for (result, field, code) in [
            (order("\"\"", "\"BUY\"", "1", good), "symbol", "expected"),
            (order("null", "\"BUY\"", "1", good), "symbol", "missing"),
            (order("600519", "\"BUY\"", "1", good), "symbol", "expected"),
            (order("\"a\"", "\"buy\"", "1", good), "side", "expected"),
            (order("\"a\"", "\"BUY\"", "1.01", good), "confidence", "expected"),
            (order("\"a\"", "\"BUY\"", "-0.01", good), "confidence", "expected"),
            (order("\"a\"", "\"BUY\"", "\"1\"", good), "confidence", "expected"),
            (
                order("\"a\"", "\"BUY\"", "1", "\"一二三四五六七八九\""),
                "reason",
                "too_short",
            ),
            (
                order("\"a\"", "\"BUY\"", "1", "\"  123456789\\u3000\""),
                "reason",
                "too_short",
            ),
            (order("\"a\"", "\"BUY\"", "1", "7"), "reason", "expected"),
        ] {
            assert_eq!(result, Err((field, code)));
        }
    }

    #[test]
    fn hostile_texts_are_refused() {
        assert_eq!(parse("[]").unwrap_err().problem.code(), "not_an_object");
        assert_eq!(parse("7").unwrap_err().problem.code(), "not_an_object");
        let deep = format!(r#"{{"x":{}1{}}}"#, "[".repeat(40), "]".repeat(40));
        assert_eq!(parse(&deep).unwrap_err().problem.code(), "too_deep");
        let long = format!(r#"{{"reason":"{}"}}"#, "x".repeat(MAX_ORDER_BYTES));
        assert_eq!(parse(&long).unwrap_err().problem.code(), "too_long");
        let brackets_in_text =
            r#"{"symbol":"a","side":"BUY","shares":1,"confidence":1,"reason":"[[[[[[[[[[[[[[[[[[[[ \"[["}"#;
        assert!(parse(brackets_in_text).is_ok());
    }

    #[test]
    fn models_name_the_stock_by_another_key() {
        let raw: &RawValue = serde_json::from_str(
            r#"{"stock_id":"asset_0042","side":"BUY","shares":100,"confidence":1,"reason":"long enough"}"#,
        )
        .unwrap();
        assert_eq!(parse_order(raw, "stock_id", 10).unwrap().symbol, "asset_0042");
        assert_eq!(parse_order(raw, "symbol", 10).unwrap_err().field, "symbol");
    }
}
