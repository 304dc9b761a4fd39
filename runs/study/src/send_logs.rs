//! The private logs of sends of all records in a folder.

use crate::StudyError;
use ktd_io::line_file::LineKind;
use ktd_io::whole_file::list_if_exists;
use ktd_record::send_log::{OpenSends, SendLine, SendLog};
use std::path::{Path, PathBuf};

/// How many folders deep records lie in a study's.
const DEPTH: usize = 4;

/// Reads every send of the records in a folder, one after the other, those without an end last of their record. A line that a kill
/// or a full disk tore is left out.
///
/// # Errors
/// [`StudyError`] for a folder or a log that cannot be read.
pub(crate) fn each_send(folder: &Path, mut read: impl FnMut(&SendLine)) -> Result<(), StudyError> {
    for record in records(folder)? {
        let log = SendLog::of_record(&record);
        let mut open = OpenSends::default();
        let mut lines = LineKind::Log.open(log.path())?;
        while let Some(line) = lines.next_line()? {
            let send = serde_json::from_slice::<SendLine>(line);
            if let Some(send) = send.ok().and_then(|send| open.take(send)) {
                read(&send);
            }
        }
        open.all().for_each(&mut read);
    }
    Ok(())
}

/// The folders of records with a log of sends.
pub(crate) fn records(folder: &Path) -> Result<Vec<PathBuf>, StudyError> {
    let (mut records, mut level) = (Vec::new(), vec![folder.to_owned()]);
    for _ in 0..DEPTH {
        let mut next = Vec::new();
        for record in level {
            next.extend(list_if_exists(&record)?.into_iter().filter(|part| part.is_dir()));
            if SendLog::of_record(&record).path().exists() {
                records.push(record);
            }
        }
        level = next;
    }
    Ok(records)
}
