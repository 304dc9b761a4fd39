//! Files that a study names, as they were when it was run: its folder keeps them by their hash, so that a record is made again
//! wherever it lies.

use crate::{StudyError, StudySecret};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, read_if_exists, write_whole};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Where they are kept.
const INPUTS: &str = "inputs";

/// SHA-256 of kept files, by the names that they have in the file of the study.
pub(crate) type InputHashes = BTreeMap<String, String>;

/// Inputs while the world of a study is read.
#[derive(Debug)]
pub(crate) enum Inputs {
    /// They are read where the study names them, and nothing keeps them.
    Unkept,
    /// They are read where the study names them, and are to be kept.
    Read(Mutex<BTreeMap<String, Vec<u8>>>, OnceLock<StudySecret>),
    /// They are taken as they were kept.
    Kept(PathBuf, InputHashes),
}

impl Inputs {
    pub(crate) fn read() -> Self {
        Self::Read(Mutex::default(), OnceLock::new())
    }

    /// The inputs of a record.
    pub(crate) fn kept(study: &Path, hashes: InputHashes) -> Self {
        Self::Kept(study.join(INPUTS), hashes)
    }

    /// The bytes of an input; none where there is none.
    pub(crate) fn bytes(
        &self,
        name: &str,
        read: impl FnOnce() -> Result<Option<Vec<u8>>, StudyError>,
    ) -> Result<Option<Vec<u8>>, StudyError> {
        match self {
            Self::Unkept => read(),
            Self::Read(known, _) => {
                let bytes = read()?;
                if let Some(bytes) = &bytes {
                    let mut known = known.lock().unwrap_or_else(PoisonError::into_inner);
                    known.insert(name.to_owned(), bytes.clone());
                }
                Ok(bytes)
            }
            Self::Kept(folder, hashes) => {
                let Some(sha256) = hashes.get(name) else {
                    return Ok(None);
                };
                let path = folder.join(sha256);
                match read_if_exists(&path)? {
                    Some(bytes) if sha256_hex(&bytes) == *sha256 => Ok(Some(bytes)),
                    found => Err(StudyError::difference(
                        format_args!(
                            "{}: the kept copy of {name} {}",
                            path.display(),
                            found.map_or("is missing", |_| "was changed")
                        ),
                        "take the folder from whoever made it",
                    )),
                }
            }
        }
    }

    /// The secret of the study; `new` gives that of a new one.
    pub(crate) fn secret(
        &self,
        study: &Path,
        new: impl FnOnce() -> Result<StudySecret, StudyError>,
    ) -> Result<StudySecret, StudyError> {
        let kept = || StudySecret::kept(study);
        match self {
            Self::Unkept => kept()?.map_or_else(new, Ok),
            Self::Read(_, secret) => {
                if let Some(secret) = secret.get() {
                    return Ok(*secret);
                }
                let found = kept()?.map_or_else(new, Ok)?;
                Ok(*secret.get_or_init(|| found))
            }
            Self::Kept(..) => kept()?.ok_or_else(|| {
                StudyError::difference(
                    format_args!("{}: its secret is not opened", study.display()),
                    "a study opens it when it is finished: run it again, it continues",
                )
            }),
        }
    }

    /// Opens the secret of a study that is finished, where it has one.
    pub(crate) fn open_secret(&self, study: &Path) -> Result<(), StudyError> {
        match self {
            Self::Read(_, secret) => secret.get().map_or(Ok(()), |secret| secret.open(study)),
            Self::Unkept | Self::Kept(..) => Ok(()),
        }
    }

    /// The hashes of what was read, for the header of the study.
    pub(crate) fn hashes(&self) -> InputHashes {
        match self {
            Self::Read(known, _) => {
                let known = known.lock().unwrap_or_else(PoisonError::into_inner);
                let hashes = known
                    .iter()
                    .map(|(name, bytes)| (name.clone(), sha256_hex(bytes)));
                hashes.collect()
            }
            Self::Kept(_, hashes) => hashes.clone(),
            Self::Unkept => InputHashes::new(),
        }
    }

    /// Keeps what was read in the folder of the study.
    pub(crate) fn keep(&self, study: &Path) -> Result<(), StudyError> {
        let Self::Read(known, secret) = self else {
            return Ok(());
        };
        if let Some(secret) = secret.get() {
            secret.keep(study)?;
        }
        let folder = study.join(INPUTS);
        for bytes in known.lock().unwrap_or_else(PoisonError::into_inner).values() {
            let path = folder.join(sha256_hex(bytes));
            if read_if_exists(&path)?.as_ref() != Some(bytes) {
                create_directory(&folder)?;
                write_whole(&path, bytes)?;
            }
        }
        Ok(())
    }
}
