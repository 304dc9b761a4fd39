//! Which exchange a configuration asks for.

use crate::SimulateError;
use std::path::Path;

/// An exchange profile; the two are never mixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// The realistic A-share exchange (default).
    Ktd,
    /// Qlib's own exchange and account.
    Qlib,
}

/// Reads the `profile` key of a JSON configuration; without the key or the file it is `ktd`.
///
/// # Errors
/// [`SimulateError`] when the file is no JSON object or names another profile.
pub fn read_profile(config: Option<&Path>) -> Result<Profile, SimulateError> {
    let Some(path) = config else {
        return Ok(Profile::Ktd);
    };
    let text = ktd_io::whole_file::read_input(path)?;
    let keys: serde_json::Map<String, serde_json::Value> = serde_json::from_str(&text).map_err(|error| {
        SimulateError::invalid(format_args!("{}: {error}", path.display()))
            .with_hint("the configuration is one JSON object")
    })?;
    match keys.get("profile").map(serde_json::Value::as_str) {
        None | Some(Some("ktd")) => Ok(Profile::Ktd),
        Some(Some("qlib")) => Ok(Profile::Qlib),
        Some(_) => Err(SimulateError::input(
            format_args!("{}: `profile` must be \"ktd\" or \"qlib\"", path.display()),
            "write one of the two, or remove the key for the exchange's own rules",
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::ErrorClass;

    #[test]
    fn the_profile_is_what_the_file_says() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("config.json");
        let read = |text: &str| {
            ktd_io::whole_file::write_whole(&path, text.as_bytes()).unwrap();
            read_profile(Some(&path))
        };
        assert_eq!(read("{}").unwrap(), Profile::Ktd);
        assert_eq!(read(r#"{"profile": "ktd"}"#).unwrap(), Profile::Ktd);
        assert_eq!(read(r#"{"profile": "qlib"}"#).unwrap(), Profile::Qlib);
        for text in [r#"{"profile": "other"}"#, r#"{"profile": null}"#, "[]", "x"] {
            assert_eq!(
                read(text).unwrap_err().class(),
                ErrorClass::InvalidInput,
                "{text}"
            );
        }
        assert_eq!(read_profile(None).unwrap(), Profile::Ktd);
    }
}
