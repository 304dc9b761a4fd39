//! A segment: what is new of some files, as one object.
//!
//! A line of JSON names the parts, and their bytes follow it in its order.

use ktd_io::FileError;
use ktd_io::whole_file::{create_directory, create_private, owner_alone, remove_if_exists};
use serde::{Deserialize, Serialize};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Component, Path};

/// What is new of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Part {
    /// Where it lies in the study's folder, with `/` between names.
    pub(crate) path: String,
    /// From which byte on; what was there goes.
    pub(crate) offset: u64,
    /// How many bytes.
    pub(crate) bytes: u64,
    /// Whether the file is gone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) is_gone: bool,
}

/// Parts with their bytes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Segment(pub(crate) Vec<(Part, Vec<u8>)>);

impl Segment {
    pub(crate) fn pack(&self, name: &Path) -> Result<Vec<u8>, FileError> {
        let parts: Vec<&Part> = self.0.iter().map(|(part, _)| part).collect();
        let mut packed = serde_json::to_vec(&parts)
            .map_err(|error| FileError::damaged(name, format!("it cannot be written: {error}")))?;
        packed.push(b'\n');
        for (_, bytes) in &self.0 {
            packed.extend_from_slice(bytes);
        }
        Ok(packed)
    }

    pub(crate) fn unpack(name: &Path, packed: &[u8]) -> Result<Self, FileError> {
        let damaged = |what: &str| FileError::damaged(name, what);
        let end = packed.iter().position(|byte| *byte == b'\n');
        let (head, mut rest) = packed.split_at(end.ok_or_else(|| damaged("it has no line of parts"))?);
        let parts: Vec<Part> =
            serde_json::from_slice(head).map_err(|error| damaged(&format!("its line of parts: {error}")))?;
        rest = rest.get(1..).unwrap_or_default();
        let mut whole = Vec::with_capacity(parts.len());
        for part in parts {
            let bytes = usize::try_from(part.bytes).unwrap_or(usize::MAX);
            let (own, after) = rest
                .split_at_checked(bytes)
                .ok_or_else(|| damaged("it ends within a part"))?;
            whole.push((part, own.to_vec()));
            rest = after;
        }
        if !rest.is_empty() {
            return Err(damaged("it has bytes of no part"));
        }
        Ok(Self(whole))
    }

    /// Writes the parts into a folder; those that do not lie where the segment may write are refused.
    pub(crate) fn apply(&self, root: &Path, may_write: impl Fn(&str) -> bool) -> Result<(), FileError> {
        for (part, bytes) in &self.0 {
            let path = root.join(&part.path);
            let is_plain = Path::new(&part.path)
                .components()
                .all(|name| matches!(name, Component::Normal(_)));
            if !is_plain || !may_write(&part.path) {
                return Err(FileError::damaged(
                    &path,
                    "a segment may not write it: the bucket was changed by another program",
                ));
            }
            if part.is_gone {
                remove_if_exists(&path)?;
                continue;
            }
            make_folders(root, Path::new(&part.path))?;
            let io = |action| FileError::io(action, &path);
            let mut options = owner_alone(&path);
            let file = options.read(true).write(true).create(true).truncate(false);
            let mut file = file.open(&path).map_err(io("open"))?;
            let known = file.seek(SeekFrom::End(0)).map_err(io("read"))?;
            if known < part.offset {
                return Err(FileError::damaged(&path, "a segment before this one is missing"));
            }
            file.set_len(part.offset).map_err(io("write"))?;
            file.seek(SeekFrom::Start(part.offset)).map_err(io("write"))?;
            file.write_all(bytes).map_err(io("write"))?;
        }
        Ok(())
    }
}

/// Makes the folders above a file of the study; private ones are their owner's alone.
pub(crate) fn make_folders(root: &Path, file: &Path) -> Result<(), FileError> {
    let Some(above) = file.parent() else { return Ok(()) };
    let folders: Vec<&Path> = above.ancestors().collect();
    for folder in folders.into_iter().rev() {
        if folder.ends_with(PRIVATE) {
            create_private(&root.join(folder))?;
        } else {
            create_directory(&root.join(folder))?;
        }
    }
    Ok(())
}

/// What folders are called that their owner alone may read.
pub(crate) const PRIVATE: &str = "private";

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::read_if_exists;

    fn part(path: &str, offset: u64, bytes: &[u8]) -> (Part, Vec<u8>) {
        let part = Part {
            path: path.to_owned(),
            offset,
            bytes: u64::try_from(bytes.len()).unwrap(),
            is_gone: false,
        };
        (part, bytes.to_vec())
    }

    #[test]
    fn segments_make_files_again_and_write_nowhere_else() {
        let root = tempfile::tempdir().unwrap();
        let name = Path::new("0");
        let apply = |segment: &Segment| {
            let packed = segment.pack(name).unwrap();
            let read = Segment::unpack(name, &packed).unwrap();
            assert_eq!(&read, segment);
            for end in 0..packed.len() {
                assert!(Segment::unpack(name, &packed[..end]).is_err(), "cut at {end}");
            }
            read.apply(root.path(), |path| path.starts_with("units/a/"))
        };
        apply(&Segment(vec![
            part("units/a/x.jsonl", 0, b"one\ntorn"),
            part("units/a/y", 0, b""),
        ]))
        .unwrap();
        let gone = Part {
            is_gone: true,
            ..part("units/a/y", 0, b"").0
        };
        apply(&Segment(vec![
            part("units/a/x.jsonl", 4, b"two\n"),
            (gone, Vec::new()),
        ]))
        .unwrap();
        let read = |path: &str| read_if_exists(&root.path().join(path)).unwrap();
        assert_eq!(read("units/a/x.jsonl").unwrap(), b"one\ntwo\n");
        assert!(read("units/a/y").is_none());
        for path in ["units/b/x", "../x", "/etc/x", "units/a/../../x"] {
            assert!(apply(&Segment(vec![part(path, 0, b"x")])).is_err(), "{path}");
        }
        let late = apply(&Segment(vec![part("units/a/x.jsonl", 99, b"x")])).unwrap_err();
        assert!(late.to_string().contains("is missing"), "{late}");
    }
}
