//! The mask key of an experiment.

use crate::guessable_key::{HOW_TO_DRAW, parse_key};
use ktd_io::FileError;
use ktd_io::whole_file::{Durability, IfExists, create_private, read_text, write_file};
use ktd_masking::MaskKey;
use ktd_record::RecordError;
use ktd_record::signing::read_key_file;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The most that a file of a key may hold, bytes.
const KEY_LIMIT_BYTES: u64 = 4 << 10;

/// Digits of a cell's token.
const TOKEN_LENGTH: usize = 12;

/// The name of a cell that may be told to who plays it: drawn from its episode's key, which the agents of one window share, and
/// its agent. It tells nothing of the window, as the cell's id does.
#[must_use]
pub fn cell_token(key: &MaskKey, agent: &str) -> String {
    let own = key.derive(&format!("token of {agent}"));
    own.commitment().chars().take(TOKEN_LENGTH).collect()
}

/// Mask key of the demo, published here: two runs of the demo show the same aliases and end with the same bytes. It hides
/// nothing, so it is taken from where the demo keeps it, and no file may name it.
pub const DEMO_KEY: &str = "6b74642064656d6f206b65793a207075626c69632c206e6f207365637265742e";

/// A mask key: of the file `given`, else the one at `kept`, which is drawn from the system's entropy where there is none.
///
/// # Errors
/// [`RecordError`] when a file cannot be read, holds no key, or one that can be guessed.
pub fn mask_key(given: Option<PathBuf>, kept: &Path) -> Result<MaskKey, RecordError> {
    let is_kept = given.is_none();
    let (source, text) = match given {
        Some(given) => {
            let text = read_key_file(&given, "--new-mask-key")?;
            (given, text)
        }
        None if !kept.exists() => return keep_key(kept, &drawn()?),
        None => (kept.to_owned(), read_text(kept, KEY_LIMIT_BYTES)?),
    };
    if is_kept && text.trim() == DEMO_KEY {
        return MaskKey::parse(&text).map_err(|error| RecordError::damaged(kept, error.to_string()));
    }
    parse_key(&text).map_err(|error| {
        let what = format!("{}: {error}", source.display());
        RecordError::input(what, HOW_TO_DRAW)
    })
}

/// Draws a key into a new file that only its owner may read, for `mask_key_file` to name; an existing file stands.
///
/// # Errors
/// [`RecordError`] when there is a file, there is no entropy, or the disk refuses.
pub fn draw_key_file(path: &Path) -> Result<MaskKey, RecordError> {
    if path.exists() {
        return Err(RecordError::input(
            format!("{} exists, and a key is never replaced", path.display()),
            "choose another name for the new key, or move the old one away",
        ));
    }
    let key = drawn()?;
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        const OWNER_READS_AND_WRITES: u32 = 0o600;
        options.mode(OWNER_READS_AND_WRITES);
    }
    options
        .open(path)
        .and_then(|mut file| file.write_all(text_of(&key).as_bytes()))
        .map_err(FileError::io("write the new key", path))?;
    Ok(key)
}

/// Writes a new key where an experiment keeps it, and gives the one that stands there then: another run of the same experiment may
/// have been first.
///
/// # Errors
/// [`RecordError`] when the disk refuses.
pub fn keep_key(path: &Path, key: &MaskKey) -> Result<MaskKey, RecordError> {
    let directory = path.parent().unwrap_or(path);
    create_private(directory)?;
    write_file(
        path,
        text_of(key).as_bytes(),
        IfExists::Keep,
        Durability::Buffered,
    )?;
    let kept = read_text(path, KEY_LIMIT_BYTES)?;
    parse_key(&kept).map_err(|error| RecordError::damaged(path, error.to_string()))
}

/// A mask key from the system's entropy, which is kept nowhere yet.
///
/// # Errors
/// [`RecordError`] when there is no entropy.
pub fn drawn() -> Result<MaskKey, RecordError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(|error| {
        RecordError::input(
            format!("the system gives no entropy: {error}"),
            "name a `mask_key_file` that was drawn elsewhere",
        )
    })?;
    Ok(MaskKey::from_bytes(bytes))
}

fn text_of(key: &MaskKey) -> String {
    format!("{}\n", key.reveal())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_can_be_guessed_is_refused_wherever_it_lies() {
        let folder = tempfile::tempdir().unwrap();
        let (given, kept) = (
            folder.path().join("given"),
            folder.path().join("private/mask.key"),
        );
        create_private(&folder.path().join("private")).unwrap();
        for guessable in [format!("{:0>64}", "7"), "5a".repeat(32)] {
            std::fs::write(&given, &guessable).unwrap();
            std::fs::write(&kept, &guessable).unwrap();
            for given in [Some(given.clone()), None] {
                let error = mask_key(given, &kept).unwrap_err();
                assert!(
                    error.to_string().contains("this mask key can be guessed"),
                    "{error}"
                );
                assert!(error.hint().contains("--new-mask-key"), "{}", error.hint());
            }
        }
    }

    #[test]
    fn a_key_is_drawn_into_a_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mask.key");
        let key = draw_key_file(&path).unwrap();
        let read = mask_key(Some(path.clone()), &folder.path().join("absent"));
        assert_eq!(read.unwrap().commitment(), key.commitment());
        assert!(draw_key_file(&path).is_err());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o077, 0);
        }
    }

    #[test]
    fn the_published_key_of_the_demo_is_taken_where_the_demo_keeps_it_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("mask.key");
        std::fs::write(&path, DEMO_KEY).unwrap();
        assert!(mask_key(None, &path).is_ok());
        assert!(mask_key(Some(path), Path::new("absent")).is_err());
    }
}
