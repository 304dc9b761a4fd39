//! One unit that runs, and how many of them may at once.

use crate::StudyError;
use crate::asking::Asking;
use crate::hands::Given;
use crate::kind::{Keep, Planned, StudyKind};
use crate::line_files::LineMode;
use crate::schedule::AtOnce;
use crate::study::{Known, OpenedStudy};
use crate::study_run::StudyRun;
use crate::told_to_end::unless_told_to_end;
use crate::unit_lines::UnitLine;
use std::collections::BTreeMap;

impl<K: StudyKind> OpenedStudy<K> {
    /// Does something with how many of so many units may run at once, and the threads that each may use for itself.
    pub(crate) fn with_at_once<T>(
        &self,
        (units, run): (usize, &StudyRun<'_>),
        work: impl FnOnce(AtOnce<'_>, usize) -> T,
    ) -> T {
        let most = K::at_once(&self.keys);
        let computing = most.unwrap_or(run.threads).min(units);
        let inner = (run.threads / computing.max(1)).max(1);
        let at_once = AtOnce {
            units: most.unwrap_or(usize::MAX),
            computing,
            // A number that the kind names is a number.
            memory_megabytes: most.map_or_else(|| K::memory_megabytes(&self.keys), |_| u64::MAX),
            is_waited_for: &|key| K::is_waited_for(&self.world, key),
            tell: &|| self.tell(run),
        };
        work(at_once, inner)
    }

    pub(crate) async fn run_unit(
        &self,
        unit: &Planned<K::Unit>,
        (known, asking): (&Known, &Asking),
        (run, threads): (&StudyRun<'_>, usize),
    ) -> Result<UnitLine, StudyError> {
        let tell = || self.tell(run);
        let paced = self.paced(unit, (run, &tell));
        let given: Given<'_> = (&paced, threads, &known.found);
        let running = async {
            let found = match unit.keep {
                Keep::Line => return self.run_line(unit, LineMode::Written, given).await,
                Keep::Folder => {
                    let asked = asking.of(unit.model)?;
                    let folder = self.folder(unit)?;
                    folder
                        .run::<K>((&self.world, unit), asked.as_ref(), given)
                        .await?
                }
                Keep::Own => self.run_own(unit, given).await?,
            };
            Ok((found, BTreeMap::new()))
        };
        self.pace.began(paced.place);
        let ended = unless_told_to_end(running, run.told_to_end).await;
        self.pace.ended(paced.place, ended.is_ok());
        let (found, files) = ended?;
        let line = UnitLine {
            files,
            ..self.line(unit, &found)?
        };
        match unit.keep {
            Keep::Line => known.lines.keep(&line)?,
            // Its own result says it to those who look on.
            Keep::Folder => {}
            Keep::Own => {
                self.tell_early_end(paced.place, &line.found);
                self.keep_own((unit, &line), &known.index)?;
            }
        }
        Ok(line)
    }
}
