//! Numbers in records that may be infinite or none: JSON has no such numbers, so these are words there.

use serde::{Deserialize, Serialize};

/// A number with all of its values.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(untagged)]
enum Exact {
    Number(f64),
    Word(ExactWord),
}

#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
enum ExactWord {
    #[serde(rename = "nan")]
    NotANumber,
    #[serde(rename = "inf")]
    Infinite,
    #[serde(rename = "-inf")]
    NegativeInfinite,
}

impl From<f64> for Exact {
    fn from(value: f64) -> Self {
        if value.is_nan() {
            Self::Word(ExactWord::NotANumber)
        } else if value.is_infinite() {
            Self::Word(if 0.0 < value {
                ExactWord::Infinite
            } else {
                ExactWord::NegativeInfinite
            })
        } else {
            Self::Number(value)
        }
    }
}

impl From<Exact> for f64 {
    fn from(value: Exact) -> Self {
        match value {
            Exact::Number(value) => value,
            Exact::Word(ExactWord::NotANumber) => Self::NAN,
            Exact::Word(ExactWord::Infinite) => Self::INFINITY,
            Exact::Word(ExactWord::NegativeInfinite) => Self::NEG_INFINITY,
        }
    }
}

/// Values of days.
pub(crate) mod exact_series {
    use super::Exact;
    use ktd_alphas::DaySeries;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(series: &DaySeries, serializer: S) -> Result<S::Ok, S::Error> {
        let values: Vec<(usize, Exact)> = series
            .iter()
            .map(|(day, value)| (*day, (*value).into()))
            .collect();
        values.serialize(serializer)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<DaySeries, D::Error> {
        let values = Vec::<(usize, Exact)>::deserialize(deserializer)?;
        Ok(values
            .into_iter()
            .map(|(day, value)| (day, value.into()))
            .collect())
    }
}

/// Means and deviations of days.
pub(crate) mod exact_spreads {
    use super::Exact;
    use ktd_alphas::DaySpread;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub(crate) fn serialize<S: Serializer>(spreads: &[DaySpread], serializer: S) -> Result<S::Ok, S::Error> {
        let parts = spreads.iter().map(|spread| spread.parts());
        let values: Vec<(Exact, Exact)> = parts
            .map(|(mean, deviation)| (mean.into(), deviation.into()))
            .collect();
        values.serialize(serializer)
    }

    pub(crate) fn deserialize<'d, D: Deserializer<'d>>(deserializer: D) -> Result<Vec<DaySpread>, D::Error> {
        let values = Vec::<(Exact, Exact)>::deserialize(deserializer)?;
        let spread = |(mean, deviation): (Exact, Exact)| DaySpread::of_parts((mean.into(), deviation.into()));
        Ok(values.into_iter().map(spread).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Exact;

    #[test]
    fn every_number_comes_back() {
        for value in [
            0.1 + 0.2,
            -0.0,
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            5e-324,
        ] {
            let text = serde_json::to_string(&Exact::from(value)).unwrap();
            let read: f64 = serde_json::from_str::<Exact>(&text).unwrap().into();
            assert_eq!(read.to_bits(), value.to_bits(), "{text}");
        }
    }
}
