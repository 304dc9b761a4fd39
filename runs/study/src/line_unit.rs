//! Running a unit of whose record the kernel writes no more than a line.

use crate::StudyError;
use crate::hands::{Given, Hands};
use crate::kind::{Planned, StudyKind};
use crate::line_files::{LineFiles, LineMode, changed_file};
use crate::study::OpenedStudy;
use crate::unit_lines::{UnitLine, UnitLines};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{create_directory, create_private, write_whole};
use serde_json::value::RawValue;
use std::collections::BTreeMap;

impl<K: StudyKind> OpenedStudy<K> {
    /// What a unit came to whose record is a line. What it made beside the line must stand as it was.
    pub(crate) fn found_of_line(
        &self,
        unit: &Planned<K::Unit>,
        lines: &UnitLines,
    ) -> Result<Option<Box<RawValue>>, StudyError> {
        let line = lines.known(&unit.id, &self.decided.unit_sha256(&unit.unit)?);
        match line {
            Some(line) if changed_file(&self.out, &line.files)?.is_none() => Ok(Some(line.found.clone())),
            Some(_) | None => Ok(None),
        }
    }

    /// Runs a unit whose record is a line: what it comes to, and SHA-256 of the files that it makes in the folder of the study.
    pub(crate) async fn run_line(
        &self,
        unit: &Planned<K::Unit>,
        mode: LineMode,
        (progress, threads, before): Given<'_>,
    ) -> Result<(K::Found, BTreeMap<String, String>), StudyError> {
        let hands = Hands {
            before,
            lines: LineFiles::new(Some(&self.out), mode),
            ..Hands::unrecorded(progress, threads)
        };
        let (found, hands) = self.run_with(unit, hands).await?;
        let mut files = hands.lines.into_hashes();
        for (name, bytes) in hands.files {
            if mode == LineMode::Written {
                let path = self.out.join(&name);
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

    /// Runs a unit of whose record the kernel writes nothing while it runs.
    pub(crate) async fn run_with<'h>(
        &self,
        unit: &Planned<K::Unit>,
        mut hands: Hands<'h, K::Event>,
    ) -> Result<(K::Found, Hands<'h, K::Event>), StudyError> {
        let found = K::run(&self.world, &unit.unit, &mut hands).await?;
        hands.advance_to(unit.steps);
        Ok((found, hands))
    }

    pub(crate) fn line(&self, unit: &Planned<K::Unit>, found: &K::Found) -> Result<UnitLine, StudyError> {
        let found = serde_json::value::to_raw_value(found)
            .map_err(|error| StudyError::input(format_args!("{}: {error}", unit.id), ""))?;
        Ok(UnitLine {
            id: unit.id.clone(),
            sha256: self.decided.unit_sha256(&unit.unit)?,
            found,
            files: BTreeMap::new(),
        })
    }
}
