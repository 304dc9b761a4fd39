//! Running a unit whose record is a line.

use crate::hands::{Given, Hands};
use crate::kind::{Planned, StudyKind};
use crate::line_files::{LineFiles, LineMode};
use crate::study::OpenedStudy;
use crate::unit_lines::UnitLine;
use crate::StudyError;
use futures::future::{Either, select};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, create_private, write_whole};
use std::collections::BTreeMap;
use std::pin::pin;
use tokio::sync::watch;

impl<K: StudyKind> OpenedStudy<K> {
    pub(crate) async fn run_line(
        &self,
        unit: &Planned<K::Unit>,
        mode: LineMode,
        (advance, threads, before): Given<'_>,
    ) -> Result<(K::Found, BTreeMap<String, String>), StudyError> {
        let mut hands = Hands {
            before,
            lines: LineFiles::new(Some(&self.out), mode),
            ..Hands::unrecorded(advance, threads)
        };
        let found = K::run(&self.world, &unit.unit, &mut hands).await?;
        hands.advance_to(unit.steps);
        let mut files = hands.lines.into_hashes();
        for (name, bytes) in hands.files {
            let path = self.out.join(&name);
            if mode == LineMode::Written {
                let parent = path.parent().unwrap_or(&self.out);
                if parent.ends_with("private") {
                    create_private(parent)?;
                }
                create_directory(parent)?;
                write_whole(&path, &bytes)?;
            }
            files.insert(name, sha256_hex(&bytes));
        }
        Ok((found, files))
    }

    pub(crate) fn line(
        &self,
        unit: &Planned<K::Unit>,
        found: &K::Found,
        files: BTreeMap<String, String>,
    ) -> Result<UnitLine, StudyError> {
        let found = serde_json::value::to_raw_value(found)
            .map_err(|error| StudyError::input(format_args!("{}: {error}", unit.id), ""))?;
        Ok(UnitLine {
            id: unit.id.clone(),
            sha256: self.decided.unit_sha256(&unit.unit)?,
            found,
            files,
        })
    }
}

/// What a unit comes to, unless the process is told to end before: then it is dropped, with whatever it started.
pub(crate) async fn unless_told_to_end<F>(
    running: impl Future<Output = Result<F, StudyError>>,
    told: &watch::Receiver<bool>,
) -> Result<F, StudyError> {
    let mut told = told.clone();
    let told = pin!(async move {
        // Nobody can tell when the other end is gone.
        if told.wait_for(|told| *told).await.is_err() {
            std::future::pending::<()>().await;
        }
    });
    match select(pin!(running), told).await {
        Either::Left((ended, _)) => ended,
        Either::Right(_) => Err(StudyError::difference(
            "ended by a signal",
            "run the same command again: it continues where it stopped",
        )),
    }
}
