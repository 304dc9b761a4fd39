//! Figures by name, each with a value or the reason why it has none.

use ktd_stats::Undefined;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A figure, or a stable word that says why there is none.
pub type Figure = Result<f64, String>;

/// What a figure of a value is.
pub type FigureOf<T> = fn(&T) -> Result<f64, Undefined>;

/// Figures by name; one that is undefined is null, and its reason stands in `undefined`.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, Serialize, JsonSchema)]
pub struct FigureRow {
    /// By name.
    pub figures: BTreeMap<String, Option<f64>>,
    /// Why a figure is null, by name.
    pub undefined: BTreeMap<String, String>,
}

impl FigureRow {
    /// Adds a figure.
    pub fn put(&mut self, name: &str, figure: Figure) {
        let figure = figure.and_then(|value| coded(Undefined::unless_finite(value)));
        if let Err(reason) = &figure {
            self.undefined.insert(name.to_owned(), reason.clone());
        }
        self.figures.insert(name.to_owned(), figure.ok());
    }

    /// Adds all figures of another row.
    pub fn add(&mut self, other: Self) {
        self.figures.extend(other.figures);
        self.undefined.extend(other.undefined);
    }

    /// Adds the figures of a value; each has its reason where there is none.
    pub fn put_all<T>(&mut self, value: &Result<T, Undefined>, figures: &[(&str, FigureOf<T>)]) {
        for (name, of) in figures {
            let figure = value.as_ref().map_err(|reason| *reason).and_then(of);
            self.put(name, coded(figure));
        }
    }

    /// Adds the mean of some values, or `reason` where there is none.
    pub fn put_mean(&mut self, name: &str, values: &[f64], reason: &str) {
        self.put(
            name,
            ktd_stats::moments::mean(values).ok_or_else(|| reason.to_owned()),
        );
    }

    /// A figure; none where it is undefined.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<f64> {
        self.figures.get(name).copied().flatten()
    }
}

/// The stable word of a reason.
///
/// # Errors
/// That word, where there is no value.
pub fn coded<T>(value: Result<T, Undefined>) -> Result<T, String> {
    value.map_err(|reason| reason.code().to_owned())
}
