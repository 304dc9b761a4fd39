//! A finished study that is given away: a copy without what is its owner's business, under one signed manifest.

use crate::StudyError;
use crate::identity::{STUDY, StudyHeader};
use crate::index::INDEX;
use crate::kind::Keep;
use crate::recorded_units::RecordedUnits;
use crate::report_files::SUMMARY;
use crate::unfinished::UNFINISHED;
use crate::unit_id::some_names;
use crate::worker_journals::is_index_of_a_worker;
use ktd_io::line_file::LineKind;
use ktd_io::lock::FileLock;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, list, read_bounded, read_json, write_whole};
use ktd_io::whole_folder::WholeFolder;
use ktd_record::program_record::ProgramRecord;
use ktd_record::signed_folder::{FolderManifest, PUBLICATION, Signed, check_files};
use ktd_record::signing::{PublicKey, SigningKey};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::Path;

/// The most that a file of a published study may hold.
const FILE_LIMIT_BYTES: u64 = LineKind::Exchanges.bounds().file_bytes;
/// What is its owner's business, or says how files looked on one machine, wherever it lies.
const KEPT_BACK: [&str; 4] = ["private", "lock", INDEX, UNFINISHED];

/// What was published of a study.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StudyManifest {
    /// [`FolderManifest::FORMAT`].
    pub format: u32,
    /// Version of the program that published it.
    pub ktd: String,
    /// Its kind.
    pub kind: String,
    /// Its name.
    pub study: String,
    /// The program that made it.
    pub program: ProgramRecord,
    /// SHA-256 of each file, by its path below the folder.
    pub files: BTreeMap<String, String>,
}

impl FolderManifest for StudyManifest {
    const FORMAT: u32 = 1;

    fn format(&self) -> u32 {
        self.format
    }
}

/// Publishes the finished study of a folder into a new one.
///
/// # Errors
/// [`StudyError`] for a folder that holds no finished study or is a publication itself, while another process writes it, and
/// where `out` holds anything.
pub fn publish_study(
    folder: &Path,
    out: &Path,
    key: &SigningKey,
) -> Result<Signed<StudyManifest>, StudyError> {
    if folder.join(PUBLICATION).exists() {
        return Err(StudyError::input(
            format_args!("{} is published already", folder.display()),
            "publish from the folder of the run: a signature says who made the study",
        ));
    }
    let header: StudyHeader<serde_json::Value> = read_json(&folder.join(STUDY))?;
    let _lock = FileLock::of_folder(folder)?;
    let units = RecordedUnits::read(folder, None)?;
    if units.0.iter().any(|(unit, _)| unit.keep == Keep::Own) {
        return Err(StudyError::input(
            format_args!(
                "{}: a record in a format of its own says itself what of it is given away",
                folder.display()
            ),
            "publish its units, which become one publication",
        ));
    }
    let missing = units.missing();
    if !missing.is_empty() || !folder.join(SUMMARY).is_file() {
        let what = match missing.len() {
            0 => "its report is missing".to_owned(),
            count => format!("{count} units have no result: {}", some_names(&missing)),
        };
        return Err(StudyError::input(
            format_args!("{} is not finished: {what}", folder.display()),
            "run the study again: it continues; a finished one is published",
        ));
    }
    let aside = WholeFolder::begin(out)?;
    let mut files = BTreeMap::new();
    copy(folder, "", (&aside, &mut files))?;
    let manifest = StudyManifest {
        format: StudyManifest::FORMAT,
        ktd: env!("CARGO_PKG_VERSION").to_owned(),
        kind: header.kind,
        study: header.name,
        program: header.program,
        files,
    };
    let published = Signed::write(manifest, key, &aside.at(PUBLICATION)?)?;
    aside.finish()?;
    Ok(published)
}

/// The manifest of a study that was published, its signature and every file checked; none of a folder that was not.
///
/// # Errors
/// [`StudyError`] for a publication that was changed, or is signed with a key that is not among `signers`, where any is named.
pub fn check_published_study(
    folder: &Path,
    signers: &[PublicKey],
) -> Result<Option<Signed<StudyManifest>>, StudyError> {
    if !folder.join(PUBLICATION).exists() {
        return Ok(None);
    }
    let published = Signed::<StudyManifest>::read(folder, signers)?;
    check_files(folder, &published.manifest.files)?;
    Ok(Some(published))
}

/// Copies what lies in a folder; a link, whose target may be anything, is refused.
fn copy(
    folder: &Path,
    place: &str,
    (aside, files): (&WholeFolder, &mut BTreeMap<String, String>),
) -> Result<(), StudyError> {
    create_directory(&aside.at(place)?)?;
    for path in list(folder)? {
        let name = name_of(&path)?;
        if KEPT_BACK.contains(&name) || is_index_of_a_worker(name) || name.starts_with('.') {
            continue;
        }
        let place = match place {
            "" => name.to_owned(),
            place => format!("{place}/{name}"),
        };
        let kind = std::fs::symlink_metadata(&path).map_err(ktd_io::FileError::io("read", &path))?;
        if kind.is_dir() {
            copy(&path, &place, (aside, files))?;
        } else if kind.is_file() {
            let bytes = read_bounded(&path, FILE_LIMIT_BYTES)?;
            write_whole(&aside.at(&place)?, &bytes)?;
            files.insert(place, sha256_hex(&bytes));
        } else {
            return Err(StudyError::input(
                format_args!("{} is a link, and no file of a study", path.display()),
                "take it out of the folder",
            ));
        }
    }
    Ok(())
}

fn name_of(path: &Path) -> Result<&str, StudyError> {
    path.file_name().and_then(|name| name.to_str()).ok_or_else(|| {
        StudyError::input(
            format_args!("{}: its name is no UTF-8 text", path.display()),
            "take it out of the folder",
        )
    })
}
