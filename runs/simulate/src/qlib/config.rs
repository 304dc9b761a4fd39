//! The JSON config of a run.

use crate::SimulateError;
use chrono::NaiveDate;
use ktd_io::whole_file::read_input_bytes;
use ktd_qlib::{
    DEFAULT_LIMIT_THRESHOLD, DealPrice, Limit, QlibConfig, Settle, Strategy, TopkDropout, TradeType,
    VolumeKind, VolumeThreshold,
};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use std::fmt;
use std::path::Path;

/// The config as it is written; every field must be there.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct ConfigFile {
    #[serde(rename = "profile")]
    _profile: ProfileName,
    #[serde(deserialize_with = "date")]
    start: NaiveDate,
    #[serde(deserialize_with = "date")]
    end: NaiveDate,
    account: f64,
    deal_price: DealPriceFile,
    limit: LimitFile,
    open_cost: f64,
    close_cost: f64,
    min_cost: f64,
    #[serde(deserialize_with = "nullable")]
    trade_unit: Option<f64>,
    impact_cost: f64,
    #[serde(deserialize_with = "nullable")]
    volume_threshold: Option<VolumeThresholdFile>,
    trade_type: TradeTypeFile,
    settle: SettleFile,
    benchmark: String,
    risk_degree: f64,
    strategy: StrategyFile,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum ProfileName {
    Qlib,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum TradeTypeFile {
    Serial,
    Parallel,
}

#[derive(serde::Deserialize)]
#[serde(rename_all = "snake_case")]
enum SettleFile {
    None,
    Cash,
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct VolumeThresholdFile {
    kind: VolumeKindFile,
    field: String,
    share: f64,
}

#[derive(serde::Deserialize)]
enum VolumeKindFile {
    #[serde(rename = "current")]
    Current,
    #[serde(rename = "cum")]
    Cumulative,
}

#[derive(serde::Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum StrategyFile {
    Scripted {},
    TopkDropout {
        topk: u32,
        n_drop: u32,
        hold_thresh: u32,
        only_tradable: bool,
        forbid_all_trade_at_limit: bool,
    },
}

/// Two fields, one for each side.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct BothSides {
    buy: String,
    sell: String,
}

/// A field for both sides, or one for each.
struct DealPriceFile(DealPrice);

/// A threshold, two flag fields, or `null` for Qlib's default threshold.
struct LimitFile(Limit);

/// Reads and checks nothing but the layout: the run checks the values.
pub(super) fn read(path: &Path) -> Result<QlibConfig, SimulateError> {
    let file: ConfigFile = serde_json::from_slice(&read_input_bytes(path)?).map_err(|error| {
        SimulateError::input(
            format_args!("{}: {error}", path.display()),
            "see docs/qlib-profile.md for the settings; all of them are needed",
        )
    })?;
    Ok(file.into_config())
}

impl ConfigFile {
    fn into_config(self) -> QlibConfig {
        QlibConfig {
            start: self.start,
            end: self.end,
            account: self.account,
            deal_price: self.deal_price.0,
            limit: self.limit.0,
            open_cost: self.open_cost,
            close_cost: self.close_cost,
            min_cost: self.min_cost,
            trade_unit: self.trade_unit,
            impact_cost: self.impact_cost,
            volume_threshold: self.volume_threshold.map(VolumeThresholdFile::into_threshold),
            trade_type: match self.trade_type {
                TradeTypeFile::Serial => TradeType::Serial,
                TradeTypeFile::Parallel => TradeType::Parallel,
            },
            settle: match self.settle {
                SettleFile::None => Settle::None,
                SettleFile::Cash => Settle::Cash,
            },
            benchmark: self.benchmark,
            risk_degree: self.risk_degree,
            strategy: self.strategy.into_strategy(),
        }
    }
}

impl VolumeThresholdFile {
    fn into_threshold(self) -> VolumeThreshold {
        let kind = match self.kind {
            VolumeKindFile::Current => VolumeKind::Current,
            VolumeKindFile::Cumulative => VolumeKind::Cumulative,
        };
        VolumeThreshold {
            kind,
            field: plain(&self.field),
            share: self.share,
        }
    }
}

impl StrategyFile {
    const fn into_strategy(self) -> Strategy {
        match self {
            Self::Scripted {} => Strategy::Scripted,
            Self::TopkDropout {
                topk,
                n_drop,
                hold_thresh,
                only_tradable,
                forbid_all_trade_at_limit,
            } => Strategy::TopkDropout(TopkDropout {
                topk,
                n_drop,
                hold_thresh,
                only_tradable,
                forbid_all_trade_at_limit,
            }),
        }
    }
}

/// A field without the `$` that Qlib writes before it.
fn plain(field: &str) -> String {
    field.strip_prefix('$').unwrap_or(field).to_owned()
}

fn date<'de, D: Deserializer<'de>>(deserializer: D) -> Result<NaiveDate, D::Error> {
    let text = String::deserialize(deserializer)?;
    NaiveDate::parse_from_str(&text, "%Y-%m-%d")
        .map_err(|_| D::Error::custom(format_args!("`{text}` is no date such as 2024-01-31")))
}

/// An `Option` that must be written: serde takes a missing one for `null`, and a forgotten lot size is no lot size.
fn nullable<'de, T: Deserialize<'de>, D: Deserializer<'de>>(deserializer: D) -> Result<Option<T>, D::Error> {
    Option::deserialize(deserializer)
}

impl<'de> Deserialize<'de> for DealPriceFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DealPriceVisitor;

        impl<'de> Visitor<'de> for DealPriceVisitor {
            type Value = DealPriceFile;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a field, or `buy` and `sell` fields")
            }

            fn visit_str<E: Error>(self, field: &str) -> Result<Self::Value, E> {
                Ok(DealPriceFile(DealPrice {
                    buy: plain(field),
                    sell: plain(field),
                }))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let sides = BothSides::deserialize(MapAccessDeserializer::new(map))?;
                Ok(DealPriceFile(DealPrice {
                    buy: plain(&sides.buy),
                    sell: plain(&sides.sell),
                }))
            }
        }

        deserializer.deserialize_any(DealPriceVisitor)
    }
}

impl<'de> Deserialize<'de> for LimitFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct LimitVisitor;

        impl<'de> Visitor<'de> for LimitVisitor {
            type Value = LimitFile;

            // Qlib refuses whole numbers too: they are neither its float form nor its expression form.
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a decimal such as 0.095, `buy` and `sell` flag fields, or null for 0.095")
            }

            fn visit_f64<E: Error>(self, threshold: f64) -> Result<Self::Value, E> {
                Ok(LimitFile(Limit::Change(threshold)))
            }

            fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
                Ok(LimitFile(Limit::Change(DEFAULT_LIMIT_THRESHOLD)))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let sides = BothSides::deserialize(MapAccessDeserializer::new(map))?;
                Ok(LimitFile(Limit::Flags {
                    buy: plain(&sides.buy),
                    sell: plain(&sides.sell),
                }))
            }
        }

        deserializer.deserialize_any(LimitVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: &str = r#"{
        "profile": "qlib", "start": "2023-02-14", "end": "2024-08-05", "account": 1000000.0,
        "deal_price": "open", "limit": 0.095, "open_cost": 0.0005, "close_cost": 0.0015, "min_cost": 5,
        "trade_unit": 100, "impact_cost": 0.0, "volume_threshold": null, "trade_type": "serial", "settle": "none",
        "benchmark": "SH000300", "risk_degree": 0.95, "strategy": {"kind": "scripted"}
    }"#;

    fn parse(text: &str) -> Result<QlibConfig, String> {
        serde_json::from_str::<ConfigFile>(text)
            .map(ConfigFile::into_config)
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_config_reads_into_the_run_config() {
        let config = parse(CONFIG).unwrap();
        assert_eq!(config.trade_unit, Some(100.0));
        assert_eq!(config.deal_price.sell, "open");
        assert_eq!(config.limit, Limit::Change(0.095));
        assert_eq!(config.strategy, Strategy::Scripted);
    }

    #[test]
    fn limits_have_three_forms() {
        let flags = parse(&CONFIG.replace("0.095,", r#"{"buy": "$luopen", "sell": "ldopen"},"#)).unwrap();
        assert_eq!(
            flags.limit,
            Limit::Flags {
                buy: "luopen".to_owned(),
                sell: "ldopen".to_owned()
            }
        );
        let default = parse(&CONFIG.replace("0.095,", "null,")).unwrap();
        assert_eq!(default.limit, Limit::Change(DEFAULT_LIMIT_THRESHOLD));
        for bad in ["1,", r#""0.095","#, "[0.1],", r#"{"buy": "luopen"},"#] {
            assert!(parse(&CONFIG.replace("0.095,", bad)).is_err(), "{bad}");
        }
    }

    #[test]
    fn forgotten_and_unknown_settings_are_named() {
        let missing = parse(&CONFIG.replace(r#""trade_unit": 100,"#, "")).unwrap_err();
        assert!(missing.contains("missing field `trade_unit`"), "{missing}");
        let missing = parse(&CONFIG.replace(r#""limit": 0.095,"#, "")).unwrap_err();
        assert!(missing.contains("missing field `limit`"), "{missing}");
        let unknown = parse(&CONFIG.replace(r#""settle""#, r#""seed": 1, "settle""#)).unwrap_err();
        assert!(unknown.contains("unknown field `seed`"), "{unknown}");
        let unknown = parse(&CONFIG.replace(r#""scripted"}"#, r#""scripted", "topk": 3}"#)).unwrap_err();
        assert!(unknown.contains("unknown field `topk`"), "{unknown}");
        let profile = parse(&CONFIG.replace(r#""qlib""#, r#""ktd""#)).unwrap_err();
        assert!(profile.contains("unknown variant `ktd`"), "{profile}");
        let day = parse(&CONFIG.replace("2024-08-05", "2024-08-35")).unwrap_err();
        assert!(day.contains("`2024-08-35` is no date"), "{day}");
    }

    #[test]
    fn prices_may_differ_by_side() {
        let config = parse(&CONFIG.replace(r#""open","#, r#"{"buy": "open", "sell": "$close"},"#)).unwrap();
        assert_eq!(
            config.deal_price,
            DealPrice {
                buy: "open".to_owned(),
                sell: "close".to_owned()
            }
        );
    }

    #[test]
    fn the_other_forms_are_read() {
        let text = CONFIG
            .replace(
                r#""volume_threshold": null"#,
                r#""volume_threshold": {"kind": "cum", "field": "volume", "share": 0.1}"#,
            )
            .replace("serial", "parallel")
            .replace(r#""none""#, r#""cash""#)
            .replace("100,", "null,")
            .replace(
                r#"{"kind": "scripted"}"#,
                r#"{"kind": "topk_dropout", "topk": 10, "n_drop": 2, "hold_thresh": 1, "only_tradable": true,
                    "forbid_all_trade_at_limit": false}"#,
            );
        let config = parse(&text).unwrap();
        assert_eq!(config.volume_threshold.unwrap().kind, VolumeKind::Cumulative);
        assert_eq!(
            (config.trade_type, config.settle),
            (TradeType::Parallel, Settle::Cash)
        );
        assert_eq!(config.trade_unit, None);
        assert!(matches!(
            config.strategy,
            Strategy::TopkDropout(TopkDropout {
                topk: 10,
                only_tradable: true,
                ..
            })
        ));
    }
}
