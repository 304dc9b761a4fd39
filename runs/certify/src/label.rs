//! Levels and ways to show numbers in files: by the names that they have in configurations.

/// Level of a mask by its name.
pub(crate) mod level {
    use ktd_masking::Level;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub(crate) fn serialize<S: Serializer>(level: &Level, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(level.label())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Level, D::Error> {
        let text = String::deserialize(from)?;
        let known = Level::ALL.map(Level::label).join(", ");
        Level::parse(&text)
            .ok_or_else(|| D::Error::custom(format!("`level` is {text:?}, not one of {known}")))
    }
}

/// Way to show numbers by its name.
pub(crate) mod numeric {
    use ktd_masking::Numeric;
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    #[expect(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub(crate) fn serialize<S: Serializer>(numeric: &Numeric, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(numeric.label())
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Numeric, D::Error> {
        let text = String::deserialize(from)?;
        let known = Numeric::ALL.map(Numeric::label).join(", ");
        Numeric::parse(&text)
            .ok_or_else(|| D::Error::custom(format!("`numeric` is {text:?}, not one of {known}")))
    }
}
