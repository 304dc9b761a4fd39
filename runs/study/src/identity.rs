//! What decides a study and each of its units.

use crate::inputs::InputHashes;
use crate::json_file::read_as;
use crate::kind::StudyKind;
use crate::{StudyError, UnitId};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{json_bytes, parse_json, read_bounded, read_if_exists};
use ktd_record::program_record::ProgramRecord;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// What a study is, in its folder.
pub(crate) const STUDY: &str = "study.json";
/// The most that `study.json` and the header of a unit may hold.
const HEADER_LIMIT_BYTES: u64 = 1 << 26;

/// `study.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct StudyHeader<K> {
    pub(crate) kind: String,
    pub(crate) format: u32,
    pub(crate) program: ProgramRecord,
    pub(crate) name: String,
    /// All that decides every unit beside itself.
    pub(crate) decides: Value,
    /// SHA-256 of the files that it keeps.
    #[serde(default, skip_serializing_if = "InputHashes::is_empty")]
    pub(crate) inputs: InputHashes,
    pub(crate) keys: K,
}

impl<K> StudyHeader<K> {
    /// What decides every unit, with the files that another header keeps too: one that only one of them keeps decides nothing by itself.
    pub(crate) fn settings_beside<O>(&self, other: &StudyHeader<O>) -> Value {
        let in_both = |(name, _): &(&String, &String)| other.inputs.contains_key(*name);
        let inputs: InputHashes = self
            .inputs
            .iter()
            .filter(in_both)
            .map(|(name, sha256)| (name.clone(), sha256.clone()))
            .collect();
        json!({ "decides": self.decides, "inputs": inputs })
    }
}

#[derive(Deserialize)]
struct KindOf {
    kind: Option<String>,
}

/// The kind of the study in a folder; none where it holds no study.
#[must_use]
pub fn kind_of(folder: &Path) -> Option<String> {
    let path = folder.join(STUDY);
    let bytes = read_bounded(&path, HEADER_LIMIT_BYTES).ok()?;
    parse_json::<KindOf>(&path, &bytes).ok()?.kind
}

#[derive(Deserialize)]
struct NameOf {
    kind: String,
    name: String,
}

/// Refuses a folder that holds a study of another kind or name: its results are never replaced by this one's.
pub(crate) fn check_same_study<K: StudyKind>(folder: &Path, keys: &K::Keys) -> Result<(), StudyError> {
    let path = folder.join(STUDY);
    let Some(bytes) = read_if_exists(&path)? else {
        return Ok(());
    };
    let known: NameOf = parse_json(&path, &bytes)?;
    let own = K::name(keys);
    if known.kind == K::NAME && known.name == own {
        return Ok(());
    }
    Err(StudyError::input(
        format_args!(
            "{} holds another study: {:?} of kind {:?}, and this is {own:?} of kind {:?}",
            folder.display(),
            known.name,
            known.kind,
            K::NAME
        ),
        "choose another directory with --out; `ktd report DIR` shows what lies there",
    ))
}

/// The header of the study in a folder.
pub(crate) fn read_header<K: StudyKind>(folder: &Path) -> Result<StudyHeader<K::Keys>, StudyError> {
    let path = folder.join(STUDY);
    let Some(bytes) = read_if_exists(&path)? else {
        return Err(StudyError::input(
            format_args!("{} holds no study", folder.display()),
            format_args!("name a folder that `{}` has written", K::COMMAND),
        ));
    };
    let head: KindOf = parse_json(&path, &bytes)?;
    if head.kind.as_deref() != Some(K::NAME) {
        let kind = head.kind.unwrap_or_default();
        return Err(StudyError::input(
            format_args!(
                "{} holds a study of kind {kind:?}, not {:?}",
                folder.display(),
                K::NAME
            ),
            "`ktd replay DIR` and `ktd verify DIR` take every kind",
        ));
    }
    check_format(&path, &bytes, K::FORMAT)?;
    Ok(parse_json(&path, &bytes)?)
}

#[derive(Deserialize)]
struct FormatOf {
    format: u32,
}

/// Refuses a header of another version by name.
fn check_format(path: &Path, bytes: &[u8], format: u32) -> Result<(), StudyError> {
    let found: FormatOf = parse_json(path, bytes)?;
    if found.format == format {
        return Ok(());
    }
    Err(StudyError::input(
        format_args!(
            "{}: format {}, and this program reads {format}",
            path.display(),
            found.format
        ),
        "use the version of ktd that made it, or run the study again into another folder",
    ))
}

/// What is to be known of the program that made a record, where it is another one.
pub(crate) fn made_by_another(recorded: &ProgramRecord, now: &ProgramRecord) -> Option<String> {
    (recorded != now).then(|| format!("it was made by another program ({recorded})"))
}

/// What decides units: the kind, its format, the program, and what the world says.
#[derive(Debug, Clone)]
pub(crate) struct Decided {
    pub(crate) program: ProgramRecord,
    pub(crate) decides: Value,
    kind: &'static str,
    format: u32,
}

impl Decided {
    pub(crate) fn of<K: StudyKind>(world: &K::World, program: &ProgramRecord) -> Self {
        Self {
            program: program.clone(),
            decides: K::decides(world),
            kind: K::NAME,
            format: K::FORMAT,
        }
    }

    /// The header of a unit's folder, as bytes.
    pub(crate) fn unit_header<U: Serialize>(&self, id: &UnitId, unit: &U) -> Result<Vec<u8>, StudyError> {
        let header = json!({
            "kind": self.kind,
            "format": self.format,
            "program": self.program,
            "id": id,
            "decides": self.decides,
            "unit": unit,
        });
        Ok(json_bytes(Path::new("header.json"), &header)?)
    }

    /// The hash of all that decides a unit. Members of an object are in the order of their names.
    pub(crate) fn unit_sha256<U: Serialize>(&self, unit: &U) -> Result<String, StudyError> {
        let unit = serde_json::to_value(unit)
            .map_err(|error| StudyError::input(format_args!("a unit cannot be written: {error}"), ""))?;
        let decided = json!({
            "kind": self.kind,
            "format": self.format,
            "program": self.program.source_sha256,
            "decides": self.decides,
            "unit": unit,
        });
        Ok(sha256_hex(decided.to_string().as_bytes()))
    }
}

/// Where relative paths of a study started when it was last run: the owner's business, no part of its record.
fn base_path(folder: &Path) -> PathBuf {
    folder.join("private").join("base.json")
}

/// Notes where relative paths start.
pub(crate) fn keep_base(folder: &Path, base: &Path) -> Result<(), StudyError> {
    let base = if base.as_os_str().is_empty() {
        Path::new(".")
    } else {
        base
    };
    let whole = std::path::absolute(base).map_err(ktd_io::FileError::io("find", base))?;
    let path = base_path(folder);
    ktd_io::whole_file::create_private(&folder.join("private"))?;
    Ok(ktd_io::whole_file::write_whole(
        &path,
        &json_bytes(&path, &whole)?,
    )?)
}

/// Where relative paths of a study started when it was last run; empty where nobody noted it.
///
/// # Errors
/// [`StudyError`] for a note that cannot be read.
pub fn known_base(folder: &Path) -> Result<PathBuf, StudyError> {
    read_as(&base_path(folder)).map(Option::unwrap_or_default)
}
