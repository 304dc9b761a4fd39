//! Which program made a record, and whether another one may go on with it.

use ktd_io::FileError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::Path;

/// A program, by what it was built from.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramRecord {
    /// SHA-256 over its sources.
    pub source_sha256: String,
    /// The commit that its builder named; absent where the checkout was not clean, or nobody named one.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub commit: Option<String>,
}

impl fmt::Display for ProgramRecord {
    /// Its first digits, as people compare them.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |text: &str| text.chars().take(12).collect::<String>();
        write!(f, "sources {}", short(&self.source_sha256))?;
        match &self.commit {
            Some(commit) => write!(f, ", commit {}", short(commit)),
            None => Ok(()),
        }
    }
}

/// The part of an identity that names its program.
#[derive(Deserialize)]
struct MadeBy {
    program: Option<ProgramRecord>,
}

/// Sees that what is recorded at `path` and what stands there `now`, both JSON that may name a program as `program`, are of
/// one program: none goes on with another's figures. What differs besides is left to whoever compares the rest.
///
/// # Errors
/// [`FileError::AnotherProgram`] naming both.
pub fn check_program(path: &Path, recorded: &[u8], now: &[u8]) -> Result<(), FileError> {
    let read = |bytes| serde_json::from_slice::<MadeBy>(bytes).map(|made| made.program);
    let (Ok(maker), Ok(Some(this))) = (read(recorded), read(now)) else {
        return Ok(());
    };
    if maker.as_ref() == Some(&this) {
        return Ok(());
    }
    Err(FileError::AnotherProgram {
        path: path.to_owned(),
        maker: maker.map_or_else(|| "it does not say which".to_owned(), |maker| maker.to_string()),
        this: this.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_record_of_another_program_or_of_none_is_refused_by_name() {
        let of = |digit: &str| json!({"program": {"source_sha256": digit.repeat(64)}});
        let check = |recorded: &serde_json::Value, now: &serde_json::Value| {
            let (recorded, now) = (recorded.to_string(), now.to_string());
            check_program(Path::new("x/header.json"), recorded.as_bytes(), now.as_bytes())
                .map_err(|error| error.to_string())
        };
        check(&of("a"), &of("a")).unwrap();
        // A file that names no program now, as that of an agent, is of none.
        check(&of("a"), &json!({"seed": 1})).unwrap();
        for (recorded, maker) in [
            (of("b"), "sources bbbbbbbbbbbb"),
            (json!({"seed": 1}), "it does not say which"),
        ] {
            let told = check(&recorded, &of("a")).unwrap_err();
            let both = format!("({maker}); this one is sources aaaaaaaaaaaa");
            assert_eq!(told, format!("x/header.json: made by another program {both}"));
        }
    }
}
