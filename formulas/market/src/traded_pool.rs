//! The pool of a search, as what an agent holds stocks by.

use crate::FormulasError;
use crate::field_panel::FieldPanel;
use crate::formula_values::{NameValues, ValueSpan, evaluate_each};
use crate::market_fields::{MARKET_FIELDS, market_fields_until};
use crate::searched_pool::SearchedPool;
use ktd_alphas::{DayTable, MemberTable, day_spreads};
use ktd_data::scores::ScoreTable;
use ktd_env::{DayIndex, Market, NameId, TradeDate};
use ktd_expressions::{CheckedFormula, FormulaPlan, FormulaPrecision, FormulaRole, check_formula};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Formulas whose values stand in memory together.
const AT_ONCE: usize = 64;

/// The formulas of a search with the directions that its train days gave them.
#[derive(Debug, Clone, PartialEq)]
pub struct TradedPool {
    formulas: Vec<CheckedFormula>,
    /// Whether a formula's values are multiplied by -1.
    turned: Vec<bool>,
    /// The last day that whoever made it may know of.
    known_until: TradeDate,
}

impl TradedPool {
    /// Reads the bytes of a search's `pool.json`, and checks every formula as a signal, which reads no later day.
    ///
    /// # Errors
    /// [`FormulasError`] for a file that is no pool, holds no formula or one that is refused, and for a pool of which it is
    /// not known which days made it.
    pub fn parse(path: &Path, bytes: &[u8]) -> Result<Self, FormulasError> {
        let record = SearchedPool::parse(path, bytes)?;
        let known_until = known_until(path, &record)?;
        let mut pool = Self {
            formulas: Vec::with_capacity(record.formulas.len()),
            turned: Vec::with_capacity(record.formulas.len()),
            known_until,
        };
        for formula in record.formulas {
            let is_turned = formula.is_turned.ok_or_else(|| {
                FormulasError::input(
                    format_args!("{}: formula {:?} has no `is_turned`", path.display(), formula.id),
                    "search again with this version of the program",
                )
            })?;
            let checked = check_formula(&formula.expression, &MARKET_FIELDS, FormulaRole::Alpha);
            let checked = checked.map_err(|error| {
                FormulasError::input(
                    format_args!("{}: formula {:?}: {error}", path.display(), formula.id),
                    &error.hint,
                )
            })?;
            pool.formulas.push(checked);
            pool.turned.push(is_turned);
        }
        if pool.formulas.is_empty() {
            return Err(FormulasError::input(
                format_args!("{} holds no formula", path.display()),
                "search longer, or name another pool",
            ));
        }
        Ok(pool)
    }

    /// How many formulas it has.
    #[must_use]
    pub const fn formulas(&self) -> usize {
        self.formulas.len()
    }

    /// Checks that no day from `first` on has made the pool.
    ///
    /// # Errors
    /// [`FormulasError::Input`] where `first` is not after the last day that whoever made it may know of.
    pub fn is_made_before(&self, first: TradeDate) -> Result<(), FormulasError> {
        if self.known_until < first {
            return Ok(());
        }
        Err(FormulasError::input(
            format_args!(
                "the pool was found with days up to {}, and the window begins on {}",
                self.known_until.reveal(),
                first.reveal()
            ),
            "trade it on later days, or search with earlier ones: what was chosen by the days that it trades shows nothing",
        ))
    }

    /// The pool's combination on some days: the sum of the formulas' z-scores over the members of the index that have a bar, each
    /// turned as train days have it. A day's scores depend on no later row: the columns end with the last of the days. A stock
    /// for which no formula has a value has no score.
    ///
    /// # Errors
    /// [`FormulasError::Input`] for a formula that names an instrument that the panel lacks.
    pub fn scores(&self, market: &Market, days: &[DayIndex]) -> Result<ScoreTable, FormulasError> {
        let names: Vec<(NameId, String)> = market
            .names()
            .map(|(name, info)| (name, info.ticker.reveal().to_owned()))
            .collect();
        let members = MemberTable::from_days(names.len(), member_cells(market, &names, days));
        let end = days.iter().map(|day| day.index() + 1).max().unwrap_or(0);
        let fields: BTreeSet<String> = FormulaPlan::of(&self.formulas, FormulaPrecision::Qlib)
            .fields()
            .iter()
            .cloned()
            .collect();
        let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
        let panel = market_fields_until(market, &fields, end);
        let mut sums: Vec<Vec<Option<f64>>> = vec![vec![None; names.len()]; days.len()];
        let both = self.formulas.chunks(AT_ONCE).zip(self.turned.chunks(AT_ONCE));
        for (formulas, turned) in both {
            let values = values(&panel, formulas, (&names, days))?;
            for (place, is_turned) in turned.iter().enumerate() {
                let sign = if *is_turned { -1.0 } else { 1.0 };
                let scores = day_table(&values, place, days, sign);
                for ((day, spread), sums) in day_spreads(&scores, &members).iter().enumerate().zip(&mut sums)
                {
                    let cells = scores.day(day).iter().zip(members.day(day)).zip(sums);
                    for ((score, _), sum) in
                        cells.filter(|((score, is_member), _)| **is_member && score.is_finite())
                    {
                        *sum = Some(sum.unwrap_or(0.0) + spread.z_score(*score));
                    }
                }
            }
        }
        let of_day = |sums: Vec<Option<f64>>| -> BTreeMap<NameId, f64> {
            let all = names.iter().zip(sums);
            all.filter_map(|((name, _), sum)| Some((*name, sum?))).collect()
        };
        let days = days.iter().copied().zip(sums.into_iter().map(of_day));
        Ok(ScoreTable::of_days(days.collect()))
    }
}

/// The later of the search's last day and that of the model behind it.
fn known_until(path: &Path, record: &SearchedPool) -> Result<TradeDate, FormulasError> {
    let date = |text: &str| TradeDate::parse(text).ok();
    let unknown =
        |what: &str, hint: &str| FormulasError::input(format_args!("{}: {what}", path.display()), hint);
    let read = record.read_until.as_deref().and_then(date).ok_or_else(|| {
        unknown(
            "it does not say which days it was chosen by (`read_until`)",
            "search again with this version of the program",
        )
    })?;
    let Some(model) = &record.model else {
        return Ok(read);
    };
    let model = date(&model.known_until).ok_or_else(|| {
        unknown(
            "it is not known until which day the model behind it knows the market",
            "state the `cutoff` of the model in the search's file, and search again",
        )
    })?;
    Ok(read.max(model))
}

/// Day after day, which names are members with a bar.
fn member_cells(market: &Market, names: &[(NameId, String)], days: &[DayIndex]) -> Vec<bool> {
    let mut cells = Vec::with_capacity(names.len() * days.len());
    for day in days {
        let date = market.date(*day);
        cells.extend(names.iter().map(|(name, _)| {
            date.is_some_and(|date| market.is_member(*name, date)) && market.bar(*name, *day).is_some()
        }));
    }
    cells
}

/// Values by the place of a name; none of a name without a row.
fn values(
    panel: &FieldPanel,
    formulas: &[CheckedFormula],
    (names, days): (&[(NameId, String)], &[DayIndex]),
) -> Result<Vec<Option<NameValues>>, FormulasError> {
    let places: BTreeMap<&str, usize> = names.iter().map(|(_, code)| code.as_str()).zip(0..).collect();
    let date = |day: Option<&DayIndex>| day.and_then(|day| panel.calendar.get(day.index())).copied();
    let span = ValueSpan {
        from: date(days.iter().min()),
        to: date(days.iter().max()),
        names: Some(names.iter().map(|(_, code)| code.clone()).collect()),
    };
    let mut values: Vec<Option<NameValues>> = Vec::new();
    values.resize_with(names.len(), || None);
    evaluate_each(panel, formulas, FormulaPrecision::Qlib, (&span, 1), |name| {
        let slot = places
            .get(name.code.as_str())
            .and_then(|place| values.get_mut(*place));
        if let Some(slot) = slot {
            *slot = Some(name);
        }
        Ok::<(), FormulasError>(())
    })?;
    Ok(values)
}

/// A formula's values on some days, a column a name.
fn day_table(values: &[Option<NameValues>], formula: usize, days: &[DayIndex], sign: f64) -> DayTable {
    let mut table = DayTable::missing(days.len(), values.len());
    for (place, name) in values.iter().enumerate() {
        let Some(name) = name else { continue };
        let cells = name.columns.get(formula).map(Vec::as_slice).unwrap_or_default();
        let of_day = |day: &DayIndex| {
            let row = name.sessions.binary_search(&day.index()).ok();
            let cell = row.and_then(|row| cells.get(row));
            cell.map_or(f64::NAN, |cell| sign * f64::from(*cell))
        };
        table.set_name(place, 0, days.iter().map(of_day));
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn pool(formulas: &str) -> Result<TradedPool, String> {
        let text = format!(r#"{{"read_until":"2020-01-02","formulas":[{formulas}]}}"#);
        TradedPool::parse(Path::new("pool.json"), text.as_bytes()).map_err(|error| error.to_string())
    }

    const TWO: &str = r#"{"id":"a","expression":"Div($close,Ref($close,5))","is_turned":true},
        {"id":"b","expression":"Div($volume,Mean($volume,20))","is_turned":false}"#;

    #[test]
    fn scores_of_a_day_do_not_depend_on_the_days_after_it() {
        let market = generate(&SynthConfig {
            seed: 3,
            names: 30,
            days: 90,
        })
        .unwrap();
        let days: Vec<DayIndex> = (60..80).filter_map(|session| market.day_at(session)).collect();
        let pool = pool(TWO).unwrap();
        let whole = pool.scores(&market, &days).unwrap();
        for (count, day) in days.iter().enumerate() {
            let until = pool.scores(&market, &days[..=count]).unwrap();
            assert_eq!(until.on(*day), whole.on(*day));
            assert!(whole.on(*day).unwrap().len() > 5);
        }
    }

    #[test]
    fn a_turned_formula_counts_with_the_other_sign() {
        let market = generate(&SynthConfig {
            seed: 3,
            names: 30,
            days: 90,
        })
        .unwrap();
        let days = [market.day_at(70).unwrap()];
        let one = r#"{"id":"a","expression":"Div($close,Ref($close,5))","is_turned":true}"#;
        let turned = pool(one).unwrap().scores(&market, &days).unwrap();
        let straight = pool(&one.replace("true", "false"))
            .unwrap()
            .scores(&market, &days)
            .unwrap();
        let (turned, straight) = (turned.on(days[0]).unwrap(), straight.on(days[0]).unwrap());
        assert!(straight.values().any(|score| 1.0 < *score));
        for (name, score) in straight {
            assert!((turned[name] + score).abs() < 1e-12);
        }
    }

    #[test]
    fn what_is_no_pool_says_why() {
        for (formulas, part) in [
            ("", "holds no formula"),
            (
                r#"{"id":"a","expression":"Ref($close,-1)","is_turned":false}"#,
                "look_ahead",
            ),
            (r#"{"id":"a","expression":"$close"}"#, "is_turned"),
        ] {
            let error = pool(formulas).unwrap_err();
            assert!(error.contains(part), "{formulas}: {error}");
        }
    }
}
