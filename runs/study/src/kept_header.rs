//! The header of a study in its folder: written once, or compared with the one of an earlier run.

use crate::different_values::told_differences;
use crate::identity::{STUDY, StudyHeader, check_same_study, keep_base, read_header};
use crate::kind::{Keep, StudyKind};
use crate::study::OpenedStudy;
use crate::{StudyError, StudyProgress};
use ktd_io::ErrorClass;
use ktd_io::whole_file::{json_bytes, read_if_exists, write_whole};
use ktd_record::program_record::check_program;

impl<K: StudyKind> OpenedStudy<K> {
    /// Refuses a folder that holds something else, such as the results of an earlier version.
    fn check_vacant(&self) -> Result<(), StudyError> {
        let known = [
            "report.json",
            "header.json",
            "request.json",
            "cells",
            "submissions",
            "runs",
            "set.json",
        ];
        // Records in a format of the kind's own say themselves what they are.
        let own = K::OWN.map(|own| own.folder);
        let mut foreign = known.into_iter().filter(|name| Some(*name) != own);
        let Some(other) = foreign.find(|name| self.out.join(name).exists()) else {
            return Ok(());
        };
        Err(StudyError::input(
            format_args!(
                "{} holds {other} and no {STUDY}: it is not of this version",
                self.out.display()
            ),
            "choose another directory with --out; the version of ktd that made it reads it",
        ))
    }

    /// Fails where the folder was not made ready for this very study. Nothing is written: others do the same at this moment.
    pub(crate) fn check_kept_header(&self) -> Result<(), StudyError> {
        let path = self.out.join(STUDY);
        let header = self.header();
        if read_if_exists(&path)?.as_ref() == Some(&json_bytes(&path, &header)?) {
            return Ok(());
        }
        Err(StudyError::input(
            format_args!(
                "{}: it is missing, or of another program, file or world than this worker's",
                path.display()
            ),
            "let all workers run the program and see the files that the study was enqueued with, or enqueue it again",
        ))
    }

    fn header(&self) -> StudyHeader<&K::Keys> {
        StudyHeader {
            kind: K::NAME.to_owned(),
            format: K::FORMAT,
            program: self.decided.program.clone(),
            name: K::name(&self.keys).to_owned(),
            decides: self.decided.decides.clone(),
            inputs: self.inputs.hashes(),
            keys: &self.keys,
        }
    }

    /// Writes what the study is. Records that models were paid for are never left behind under another study's name; of those that cost
    /// computing alone it is said that they are made anew.
    pub(crate) fn keep_header(&self, progress: &dyn StudyProgress) -> Result<(), StudyError> {
        let path = self.out.join(STUDY);
        let header = self.header();
        let bytes = json_bytes(&path, &header)?;
        let recorded = read_if_exists(&path)?;
        if recorded.is_none() {
            self.check_vacant()?;
        }
        if let Some(recorded) = recorded.as_ref().filter(|recorded| **recorded != bytes) {
            check_same_study::<K>(&self.out, &self.keys)?;
            let known = read_header::<K>(&self.out)?;
            // Units in a format of the kind's own say themselves of which program and settings they are.
            if K::ASKS && K::OWN.is_none() {
                check_program(&path, recorded, &bytes)?;
                let (first, second) = (known.settings_beside(&header), header.settings_beside(&known));
                let changed = told_differences(&first, &second)?;
                if !changed.is_empty() {
                    return Err(StudyError::input(
                        format_args!(
                            "{} holds a study of other settings, or over another world: {changed}",
                            self.out.display()
                        ),
                        "choose another directory with --out, or move this one away to run everything anew",
                    ));
                }
            }
            self.check_begun(&known)?;
            if !K::ASKS && known.decides != self.decided.decides {
                progress.news(&format!(
                    "{} held a study of other settings ({}), whose report is replaced: --out keeps both",
                    self.out.display(),
                    told_differences(&known.decides, &self.decided.decides)?
                ));
            }
        }
        self.inputs.keep(&self.out)?;
        if recorded.as_ref() != Some(&bytes) {
            write_whole(&path, &bytes)?;
        }
        keep_base(&self.out, &self.base)
    }

    /// Fails where a unit that says itself what it is was begun under other settings: a file that no longer fits its results
    /// changes nothing of them, not even what they say that they are. A record that cannot be read says nothing of its settings.
    fn check_begun(&self, known: &StudyHeader<K::Keys>) -> Result<(), StudyError> {
        let own = self.plan.iter().filter(|unit| unit.keep == Keep::Own);
        let mut refused = Vec::new();
        for unit in own {
            let begun = K::check_begun(&self.world, &unit.unit, &self.own_folder(unit)?.0);
            match begun {
                Err(error) if error.class() == ErrorClass::Difference => refused.push(error),
                begun => begun?,
            }
        }
        let Some(first) = refused.first() else {
            return Ok(());
        };
        let changed = told_differences(&known.keys, &self.keys)?;
        let changed = if changed.is_empty() {
            format!("with the same keys, over another panel, key or file: {first}")
        } else {
            changed
        };
        Err(StudyError::input(
            format_args!(
                "{} holds {} of {} units that were begun under other settings: {changed}",
                self.out.display(),
                refused.len(),
                self.plan.len()
            ),
            "nothing was changed; put back what was to go on, or run it anew under another `name` or --out",
        ))
    }
}
