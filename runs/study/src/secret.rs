//! The secret of a study: drawn before anybody is asked, committed to in what decides the study, opened with its results.

use crate::StudyError;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{
    Durability, IfExists, create_private, json_bytes, read_if_exists, read_input, write_file, write_whole,
};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

const BYTES: usize = 32;
/// The secret of a finished study, in its folder.
const OPENED: &str = "secret.json";

/// 32 bytes of the system's entropy, from which a kind of study draws what nobody may know who is judged.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct StudySecret([u8; BYTES]);

/// `secret.json`.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct OpenedSecret {
    /// [`StudySecret::commitment`].
    commitment: String,
    /// The secret, hexadecimal.
    secret: String,
}

impl StudySecret {
    /// A new secret, which is kept nowhere.
    ///
    /// # Errors
    /// [`StudyError`] where the system gives no entropy.
    pub fn drawn() -> Result<Self, StudyError> {
        let mut bytes = [0; BYTES];
        getrandom::fill(&mut bytes).map_err(|error| {
            StudyError::input(format_args!("the system gives no chance: {error}"), "try again")
        })?;
        Ok(Self(bytes))
    }

    /// The secret of a file.
    ///
    /// # Errors
    /// [`StudyError`] where it cannot be read, or holds no 64 hexadecimal digits.
    pub(crate) fn read(path: &Path) -> Result<Self, StudyError> {
        Self::parse(&read_input(path)?).ok_or_else(|| {
            StudyError::input(
                format_args!("{} holds no secret of 64 hexadecimal digits", path.display()),
                "leave the key out: a secret is drawn and kept",
            )
        })
    }

    /// A secret from 64 hexadecimal digits.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let text = text.trim();
        if text.len() != 2 * BYTES || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; BYTES];
        for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
        }
        Some(Self(bytes))
    }

    /// The bytes, for whoever draws from them.
    #[must_use]
    pub const fn bytes(&self) -> [u8; BYTES] {
        self.0
    }

    /// Binds the secret without telling it.
    #[must_use]
    pub fn commitment(&self) -> String {
        sha256_hex(&[b"ktd study secret 1\0".as_slice(), &self.0].concat())
    }

    /// The secret as 64 hexadecimal digits, for whoever may make a verdict again.
    #[must_use]
    pub fn reveal(&self) -> String {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(2 * BYTES);
        for byte in self.0 {
            // Writing to a string cannot fail.
            write!(text, "{byte:02x}").ok();
        }
        text
    }

    /// The secret of the study in a folder: the one of a run that goes on, or the opened one. None where there is neither.
    pub(crate) fn kept(study: &Path) -> Result<Option<Self>, StudyError> {
        Self::check_opened(study)?;
        let path = key_path(study);
        let (path, text) = if let Some(bytes) = read_if_exists(&path)? {
            (path, String::from_utf8(bytes).unwrap_or_default())
        } else {
            let path = study.join(OPENED);
            let Some(opened) = crate::json_file::read_as::<OpenedSecret>(&path)? else {
                return Ok(None);
            };
            (path, opened.secret)
        };
        Self::parse(&text).map(Some).ok_or_else(|| {
            StudyError::difference(
                format_args!("{}: it holds no secret of 64 hexadecimal digits", path.display()),
                "take the folder from whoever made it",
            )
        })
    }

    /// Refuses an opened secret that is not, byte for byte, what its study wrote.
    fn check_opened(study: &Path) -> Result<(), StudyError> {
        let path = study.join(OPENED);
        let Some(bytes) = read_if_exists(&path)? else {
            return Ok(());
        };
        let opened = crate::json_file::read_as::<OpenedSecret>(&path)?;
        let secret = opened.and_then(|opened| Self::parse(&opened.secret));
        let kept = read_if_exists(&key_path(study))?;
        let own = kept.and_then(|bytes| Self::parse(&String::from_utf8_lossy(&bytes)));
        let is_own = own.is_none() || own == secret;
        let is_whole = secret.is_some_and(|secret| secret.opened(&path).is_ok_and(|whole| whole == bytes));
        if is_own && is_whole {
            return Ok(());
        }
        Err(StudyError::difference(
            format_args!("{}: it is not the secret that the study wrote", path.display()),
            "take the folder from whoever made it",
        ))
    }

    /// The bytes of `secret.json`.
    fn opened(&self, path: &Path) -> Result<Vec<u8>, StudyError> {
        let opened = OpenedSecret {
            commitment: self.commitment(),
            secret: self.reveal(),
        };
        Ok(json_bytes(path, &opened)?)
    }

    /// Keeps the secret for the same command to go on with, below `private/`, which is never given away.
    pub(crate) fn keep(&self, study: &Path) -> Result<(), StudyError> {
        create_private(&study.join("private"))?;
        let text = format!("{}\n", self.reveal());
        Ok(write_file(
            &key_path(study),
            text.as_bytes(),
            IfExists::Keep,
            Durability::Buffered,
        )?)
    }

    /// Opens the secret of a finished study: from then on everybody can draw what was drawn.
    pub(crate) fn open(&self, study: &Path) -> Result<(), StudyError> {
        let path = study.join(OPENED);
        Ok(write_whole(&path, &self.opened(&path)?)?)
    }
}

impl fmt::Debug for StudySecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "StudySecret({})", self.commitment())
    }
}

fn key_path(study: &Path) -> PathBuf {
    study.join("private").join("secret.key")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_kept_for_a_run_that_goes_on_and_opened_for_everybody_else() {
        let folder = tempfile::tempdir().unwrap();
        let study = folder.path();
        assert_eq!(StudySecret::kept(study).unwrap(), None);
        let secret = StudySecret::drawn().unwrap();
        assert_ne!(secret, StudySecret::drawn().unwrap());
        secret.keep(study).unwrap();
        // Another run of the same study may have been first.
        StudySecret::drawn().unwrap().keep(study).unwrap();
        assert_eq!(StudySecret::kept(study).unwrap(), Some(secret));
        assert!(!format!("{secret:?}").contains(&secret.reveal()));
        secret.open(study).unwrap();
        std::fs::remove_dir_all(study.join("private")).unwrap();
        assert_eq!(StudySecret::kept(study).unwrap(), Some(secret));
        let text = std::fs::read_to_string(study.join(OPENED)).unwrap();
        assert!(text.contains(&secret.commitment()));
        std::fs::write(
            study.join(OPENED),
            text.replace("\"secret\": \"", "\"secret\": \"zz"),
        )
        .unwrap();
        assert!(StudySecret::kept(study).is_err());
    }
}
