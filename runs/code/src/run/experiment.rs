//! An experiment of factor functions: models, tasks, panels, bundles.

use super::bundle::{FactorCodeBundle, FactorCodePaths};
use super::cell::FactorCodeCell;
use super::cell_run::{CellOutcome, CellRun, RoundsFn};
use super::config::FactorCodeConfig;
use super::header::{FORMAT, FactorCodeHeader, SandboxRecord, tasks_sha256};
use super::real_stock::real_bars;
use super::summary::FactorCodeSummary;
use super::verdicts::VerdictBook;
use crate::error::CodeError;
use crate::panel_files::bars_csv;
use ktd_asking::{AgentFile, Answerer, AskedRecord, OpenModels, json_lines, keep_same};
use ktd_boxed::BoxLauncher;
use ktd_client::AskedModel;
use ktd_factor_code::{FactorPanels, FactorTasks, PanelKind};
use ktd_io::file_set::write_together;
use ktd_io::whole_file::{
    create_directory, create_private, json_bytes, read_input, remove_if_exists, write_whole,
};
use ktd_record::study_folder::StudyFolder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Where bundles lie below the results.
const CELLS: &str = "cells";

/// An experiment of factor functions, ready to ask.
#[derive(Debug)]
pub struct FactorCodeRun {
    pub(super) config: FactorCodeConfig,
    pub(super) tasks: FactorTasks,
    own_tasks: Option<String>,
    panels: FactorPanels,
    base: PathBuf,
    output: PathBuf,
    cells: Vec<FactorCodeCell>,
}

/// How a bundle ended.
#[derive(Debug)]
pub struct CellEnd {
    /// Its name.
    pub cell: String,
    /// Where it lies.
    pub folder: PathBuf,
    /// What it came to, or what stopped it.
    pub ended: Result<FactorCodeSummary, CodeError>,
}

impl FactorCodeRun {
    /// The experiment of a file in `base`, whose bundles lie below `output`. Nobody is asked and nothing is written.
    ///
    /// # Errors
    /// [`CodeError`] for unknown tasks, a symbol that the panel lacks, and agents that cannot be asked.
    pub fn new(config: FactorCodeConfig, base: &Path, output: &Path) -> Result<Self, CodeError> {
        let real = config
            .real
            .as_ref()
            .map(|real| real_bars(real, base))
            .transpose()?;
        let panels = FactorPanels::new(config.panel_seed, real.as_ref())?;
        let (names, file) = config.tasks.parts()?;
        let own_tasks = file.map(|file| read_input(&base.join(file))).transpose()?;
        let known = FactorTasks::compiled_in()?;
        let all = match &own_tasks {
            Some(text) => FactorTasks::with_file(text, panels.bars(PanelKind::G))?,
            None => known.clone(),
        };
        let own = all
            .as_slice()
            .iter()
            .filter(|task| known.find(task.id.as_str()).is_none());
        let chosen: Vec<&str> = own.map(|task| task.id.as_str()).chain(names).collect();
        let run = Self {
            tasks: all.chosen(&chosen)?,
            own_tasks,
            panels,
            base: base.to_owned(),
            output: output.to_owned(),
            cells: FactorCodeCell::all(&config),
            config,
        };
        run.models()?;
        Ok(run)
    }

    /// Rounds in all at most, those of all bundles.
    #[must_use]
    pub fn rounds(&self) -> u64 {
        let counts = [
            u64::try_from(self.cells.len()).unwrap_or(u64::MAX),
            u64::try_from(self.tasks.as_slice().len()).unwrap_or(u64::MAX),
            self.config.samples,
            u64::from(self.config.rounds),
        ];
        counts.into_iter().fold(1, u64::saturating_mul)
    }

    /// Boxes side by side, 0 for the default.
    #[must_use]
    pub const fn jobs(&self) -> usize {
        self.config.jobs
    }

    /// The bundles' directories.
    #[must_use]
    pub fn output(&self) -> &Path {
        &self.output
    }

    pub(super) fn models(&self) -> Result<Vec<AskedModel>, CodeError> {
        let settings = self.config.asking(FactorCodeCell::roles(&self.config));
        Ok(settings.models(&self.base)?.0)
    }

    fn folder(&self, cell: &FactorCodeCell) -> PathBuf {
        self.output.join(CELLS).join(cell.id())
    }

    /// Asks and judges everything that is not recorded, bundle by bundle. A bundle that is stopped stops no other.
    ///
    /// # Errors
    /// [`CodeError`] for a missing key or a budget that another process spends. What stops a bundle is in its end; what was
    /// recorded stands, and the same call continues.
    pub async fn run(
        &self,
        (held, launcher): (&StudyFolder, &BoxLauncher),
        progress: RoundsFn<'_>,
    ) -> Result<Vec<CellEnd>, CodeError> {
        let settings = self.config.asking(FactorCodeCell::roles(&self.config));
        let own = |place: usize| self.cells.get(place).map(|cell| self.folder(cell));
        let own = |place: usize| own(place).into_iter().collect();
        let records = self.output.join(CELLS);
        let models = settings.open_over(&self.base, &self.output, (&records, &own))?;
        // A missing key or program stops everything before anybody is asked.
        let mut answerers = Vec::new();
        for model in &models.models {
            answerers.push(Answerer::of(model, &self.base)?);
        }
        let mut ends = Vec::new();
        for ((cell, place), answerer) in self.cells.iter().zip(0..).zip(&answerers) {
            let ended = self
                .cell(cell, (&models, place, answerer), (held, launcher), progress)
                .await;
            ends.push(CellEnd {
                cell: cell.id(),
                folder: self.folder(cell),
                ended,
            });
        }
        Ok(ends)
    }

    async fn cell(
        &self,
        cell: &FactorCodeCell,
        (models, place, answerer): (&OpenModels, usize, &Answerer),
        (held, launcher): (&StudyFolder, &BoxLauncher),
        progress: RoundsFn<'_>,
    ) -> Result<FactorCodeSummary, CodeError> {
        let model = models
            .models
            .get(place)
            .ok_or_else(|| CodeError::invalid("an agent has no model"))?;
        let paths = FactorCodePaths::new(&self.folder(cell));
        let (metering, retries) = (&models.metering, self.config.retries);
        let record = AskedRecord::continued(paths.root(), model, metering, retries, answerer.transport())?;
        let made = (SandboxRecord::of(launcher.header()), held.program());
        let tasks = (&self.tasks, tasks_sha256(self.own_tasks.as_deref()));
        let header = FactorCodeHeader::new((&self.config, cell, model), tasks, &self.panels, made);
        self.keep_opening(&paths, &header, model)?;
        if let Some(finished) = FactorCodeBundle::read(paths.root())? {
            progress(self.rounds() / u64::try_from(self.cells.len()).unwrap_or(1));
            return Ok(finished.summary);
        }
        let box_path = paths.root().join("private").join("box.json");
        write_whole(&box_path, &json_bytes(&box_path, launcher.header())?)?;
        let book = VerdictBook::new(launcher, &self.panels, header.rules()).kept(&paths.judged())?;
        let run = CellRun {
            header: &header,
            tasks: &self.tasks,
            book: &book,
            record: &record,
            recorded_feedback: &BTreeMap::new(),
            answerer: Some(answerer),
            parallel: answerer.at_once(self.config.parallel),
            progress,
        };
        let outcome = run.hold().await;
        answerer.close(outcome.is_ok()).await;
        let outcome = outcome?;
        record.finish()?;
        finish(&paths, &header, &self.tasks, &outcome)
    }

    /// Writes what decides a bundle, or sees that it is what an earlier run has written.
    fn keep_opening(
        &self,
        paths: &FactorCodePaths,
        header: &FactorCodeHeader,
        model: &AskedModel,
    ) -> Result<(), CodeError> {
        let about = "of an experiment with other settings, or in another box";
        keep_same(&paths.header(), header, about)?;
        keep_same(
            &paths.agent(),
            &AgentFile::of(model, FORMAT, None),
            "of another agent",
        )?;
        if let Some(text) = &self.own_tasks {
            write_whole(&paths.own_tasks(), text.as_bytes())?;
        }
        if header.is_real {
            create_private(&paths.root().join("private"))?;
            write_whole(&paths.real_bars(), &bars_csv(self.panels.bars(PanelKind::Q)))?;
        }
        Ok(())
    }
}

/// Writes what a bundle came to, its summary last.
fn finish(
    paths: &FactorCodePaths,
    header: &FactorCodeHeader,
    tasks: &FactorTasks,
    outcome: &CellOutcome,
) -> Result<FactorCodeSummary, CodeError> {
    create_directory(&paths.sources())?;
    let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
    for ((place, sample, round), text) in &outcome.sources {
        if let Some(task) = tasks.as_slice().get(*place) {
            let path = paths.source(task.id.as_str(), (*sample, header.samples), *round);
            files.push((path, text.as_bytes().to_vec()));
        }
    }
    let events = json_lines(&paths.events(), &outcome.events)?;
    let summary = FactorCodeSummary::of(header, tasks, &outcome.events, &events)?;
    files.push((paths.events(), events));
    write_together(&files)?;
    write_whole(&paths.summary(), &json_bytes(&paths.summary(), &summary)?)?;
    remove_if_exists(&paths.judged())?;
    Ok(summary)
}
