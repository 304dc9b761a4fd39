//! Basis points as files name them.

use crate::ExperimentError;
use ktd_env::Decimal;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Basis points to a tenth: a whole number, or a decimal in quotes such as `"2.5"`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum BasisPoints {
    /// A whole number.
    Whole(u32),
    /// A decimal with one place.
    Decimal(String),
}

impl BasisPoints {
    /// So many tenths of a basis point.
    #[must_use]
    pub fn of_tenths(tenths: u32) -> Self {
        if tenths.is_multiple_of(10) {
            Self::Whole(tenths / 10)
        } else {
            Self::Decimal(format!("{}.{}", tenths / 10, tenths % 10))
        }
    }

    /// Tenths of a basis point.
    ///
    /// # Errors
    /// [`ExperimentError`] naming the key of a text that is no decimal with one place, and of more than the whole.
    pub fn tenths(&self, key: &str) -> Result<u32, ExperimentError> {
        const WHOLE: u32 = 100_000;
        let tenths = match self {
            Self::Whole(points) => points.checked_mul(10),
            Self::Decimal(text) => Decimal::parse(text)
                .ok()
                .and_then(|points| u32::try_from(points.scaled(1)?).ok()),
        };
        tenths.filter(|tenths| *tenths <= WHOLE).ok_or_else(|| {
            ExperimentError::input(
                format_args!("{key} is no number of basis points with at most one place, from 0 to 10000"),
                format_args!("write {key} = 5, or {key} = \"2.5\""),
            )
        })
    }
}
