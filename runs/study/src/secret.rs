//! The secret of a study: drawn before anybody is asked, bound by its hash in the header, opened with the record.

use crate::StudyError;
use crate::inputs::Inputs;
use crate::kind::Opening;
use ktd_io::whole_file::{Durability, IfExists, create_private, read_bounded, write_file};
use std::path::Path;

/// The name under which it is kept.
const SECRET: &str = "secret";
/// Bytes that are drawn, and that a given one must have, for fewer can be guessed.
const SECRET_BYTES: usize = 32;
/// The most that its file may hold, bytes.
const LIMIT_BYTES: u64 = 4 << 10;

/// A secret from the system's entropy, in hexadecimal.
///
/// # Errors
/// [`StudyError`] where there is no entropy.
pub fn drawn_secret() -> Result<String, StudyError> {
    let mut bytes = [0; SECRET_BYTES];
    getrandom::fill(&mut bytes).map_err(|error| {
        StudyError::input(
            format_args!("the system gives no entropy: {error}"),
            "name a file with a secret that was drawn elsewhere",
        )
    })?;
    Ok(ktd_io::sha256::sha256_hex(&bytes))
}

impl Opening<'_> {
    /// The bytes of the study's secret: of the file `given`, or else drawn once and kept. A record has it among its inputs, and its
    /// hash in `study.json`, which is written before a unit runs. A world that no study holds gets another one each time.
    ///
    /// # Errors
    /// [`StudyError`] where the file is missing or holds too little, there is no entropy, or the disk refuses.
    pub fn secret(&self, given: Option<&Path>) -> Result<Vec<u8>, StudyError> {
        if let Some(path) = given {
            let bytes = self.input(path)?;
            return bytes.filter(|bytes| SECRET_BYTES <= bytes.len()).ok_or_else(|| {
                StudyError::input(
                    format_args!(
                        "{} holds no secret of {SECRET_BYTES} bytes or more",
                        path.display()
                    ),
                    "write one there: `openssl rand -hex 32 > FILE`, or leave the key out, and one is drawn",
                )
            });
        }
        if matches!(self.inputs, Inputs::Unkept) {
            return Ok(drawn_secret()?.into_bytes());
        }
        let kept = self.kept(SECRET, || {
            let folder = self.out.join("private");
            let path = folder.join(SECRET);
            if !path.exists() {
                create_private(&folder)?;
                let drawn = drawn_secret()?;
                // Another process may have been first.
                write_file(&path, drawn.as_bytes(), IfExists::Keep, Durability::Buffered)?;
            }
            Ok(Some(read_bounded(&path, LIMIT_BYTES)?))
        })?;
        // Records that are older than secrets have none.
        Ok(kept.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_drawn_once_and_told_by_the_record_alone() {
        let folder = tempfile::tempdir().unwrap();
        let out = folder.path();
        let of = |inputs: &Inputs| {
            let at = Opening {
                inputs,
                ..Opening::unkept(out, out, 1)
            };
            at.secret(None).unwrap()
        };
        let read = Inputs::read();
        let drawn = of(&read);
        assert_eq!(drawn.len(), 64);
        assert_eq!(of(&Inputs::read()), drawn, "a run that goes on has the same");
        read.keep(out).unwrap();
        std::fs::remove_dir_all(out.join("private")).unwrap();
        assert_eq!(of(&Inputs::kept(out, read.hashes())), drawn);
        assert_ne!(of(&Inputs::Unkept), drawn);
        assert!(!out.join("private").exists(), "what is not kept leaves nothing");

        std::fs::write(out.join("short"), "abc").unwrap();
        let at = Opening::unkept(out, out, 1);
        for name in ["short", "missing"] {
            let error = at.secret(Some(Path::new(name))).unwrap_err().to_string();
            assert!(error.contains("holds no secret of 32 bytes"), "{error}");
        }
    }
}
