//! A number of another lab on which drawn windows hang too: its signature of what is committed to. Nobody else can know it before,
//! and whoever asks twice gets the same, as Ed25519 signatures are made (RFC 8032). That this key is not the operator's own, and that
//! it gave one number and not one for each of many commitments, is its owner's word.

use crate::RecordError;
use crate::signing::{Signature, SigningKey};
use ktd_experiment::drawn_windows::{DrawConfig, DrawNonce, DrawRecord, DrawStatement};
use ktd_io::whole_file::{parse_json, read_bounded};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The most that a file of this kind may hold, bytes.
const LIMIT_BYTES: u64 = 64 << 10;

/// What a lab commits to before it asks another one for a number.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawCommitment {
    /// Trading days of each window.
    pub days: usize,
    /// First date of the span.
    pub from: String,
    /// Last date of the span.
    pub until: String,
    /// Binds the key of the windows.
    pub commitment: String,
}

/// The file of a number.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DrawNumber {
    /// What it is of.
    pub of: DrawCommitment,
    /// The number, and whose it is.
    pub signature: Signature,
}

impl DrawCommitment {
    /// What a draw commits to, whose key has this commitment.
    #[must_use]
    pub fn of(draw: &DrawConfig, commitment: &str) -> Self {
        Self {
            days: draw.days,
            from: draw.from.clone(),
            until: draw.until.clone(),
            commitment: commitment.to_owned(),
        }
    }

    /// Reads the file of one.
    ///
    /// # Errors
    /// [`RecordError`] when it cannot be read or is none.
    pub fn read(path: &Path) -> Result<Self, RecordError> {
        Ok(parse_json(path, &read_bounded(path, LIMIT_BYTES)?)?)
    }

    /// The number of a key for it.
    ///
    /// # Errors
    /// [`RecordError`] where it cannot be signed.
    pub fn number(self, key: &SigningKey) -> Result<DrawNumber, RecordError> {
        let signature = key.sign(&self.statement())?;
        Ok(DrawNumber { of: self, signature })
    }

    fn statement(&self) -> DrawStatement<'_> {
        DrawStatement {
            days: self.days,
            from: &self.from,
            until: &self.until,
            commitment: &self.commitment,
        }
    }
}

/// The number in a file, which must be of this draw.
///
/// # Errors
/// [`RecordError`] when it cannot be read, is of something else, or its signature does not fit.
pub fn read_number(path: &Path, draw: &DrawConfig, commitment: &str) -> Result<DrawNonce, RecordError> {
    let file: DrawNumber = parse_json(path, &read_bounded(path, LIMIT_BYTES)?)?;
    let refused = |what: &str| {
        RecordError::input(
            format!("{}: {what}", path.display()),
            "`ktd windows FILE --commit FILE` writes what another lab draws a number for; a changed draw needs a new one",
        )
    };
    let own = DrawCommitment::of(draw, commitment);
    if file.of != own {
        return Err(refused("this number is of another key, length or span"));
    }
    match file.signature.fault(&own.statement())? {
        Some(fault) => Err(refused(fault)),
        None => Ok(DrawNonce {
            public_key: file.signature.public_key,
            number: file.signature.value,
        }),
    }
}

/// Who is to be believed that a draw was not chosen: the fingerprint of who drew its number, or none where nobody did. `operator` is
/// the fingerprint of who publishes.
///
/// # Errors
/// [`RecordError`] when the number is not signed by who it says.
pub fn drawn_with(draw: &DrawRecord, operator: Option<&str>) -> Result<Option<String>, RecordError> {
    let Some(nonce) = &draw.nonce else {
        return Ok(None);
    };
    let signature = Signature::of_parts(&nonce.public_key, &nonce.number);
    if let Some(fault) = signature.fault(&draw.statement())? {
        return Err(RecordError::input(
            format!("the number of a drawn window: {fault}"),
            "the header was changed: ask for the record again",
        ));
    }
    Ok(Some(signature.fingerprint).filter(|signer| Some(signer.as_str()) != operator))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_holds_for_what_it_was_drawn_for_alone() {
        let folder = tempfile::tempdir().unwrap();
        let key = SigningKey::draw(&folder.path().join("b.pem")).unwrap();
        let commitment = "ab".repeat(32);
        let draw = DrawConfig {
            draw: 3,
            days: 43,
            from: "2016-01-01".to_owned(),
            until: "2026-04-10".to_owned(),
            nonce: None,
        };
        let path = folder.path().join("number.json");
        let number = DrawCommitment::of(&draw, &commitment).number(&key).unwrap();
        let again = DrawCommitment::of(&draw, &commitment).number(&key).unwrap();
        assert_eq!(number, again, "there is one: nobody asks until it pleases");
        std::fs::write(&path, serde_json::to_string(&number).unwrap()).unwrap();
        let nonce = read_number(&path, &draw, &commitment).unwrap();
        // More windows of the same draw need no other number; another length, span or key does.
        assert!(
            read_number(
                &path,
                &DrawConfig {
                    draw: 9,
                    ..draw.clone()
                },
                &commitment
            )
            .is_ok()
        );
        let other = DrawConfig {
            days: 42,
            ..draw.clone()
        };
        assert!(read_number(&path, &other, &commitment).is_err());
        assert!(read_number(&path, &draw, &"cd".repeat(32)).is_err());

        let record = DrawRecord {
            place: 1,
            days: 43,
            from: draw.from.clone(),
            until: draw.until.clone(),
            commitment: commitment.clone(),
            is_shown: false,
            nonce: Some(nonce),
        };
        let signer = key.public().fingerprint();
        assert_eq!(drawn_with(&record, None).unwrap(), Some(signer.clone()));
        assert_eq!(
            drawn_with(&record, Some(&signer)).unwrap(),
            None,
            "its operator's own"
        );
        let changed = DrawRecord { days: 42, ..record };
        assert!(drawn_with(&changed, None).is_err());
    }
}
