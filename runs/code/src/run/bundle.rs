//! A bundle on disk: its paths, and what a finished one holds.

use super::event::FactorCodeEvent;
use super::header::{FactorCodeHeader, panel_hashes, tasks_sha256};
use super::summary::FactorCodeSummary;
use crate::error::CodeError;
use crate::panel_files::read_bars;
use ktd_asking::AGENT_FILE;
use ktd_factor_code::{FactorPanels, FactorTasks, PanelKind};
use ktd_io::line_file::LineKind;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{parse_json, read_if_exists, read_json};
use ktd_record::spending::Spending;
use std::path::{Path, PathBuf};

/// Paths of a bundle of the factor benchmark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactorCodePaths {
    root: PathBuf,
}

impl FactorCodePaths {
    /// The paths below a directory.
    #[must_use]
    pub fn new(root: &Path) -> Self {
        Self {
            root: root.to_owned(),
        }
    }

    /// The directory.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// All that decides the run.
    #[must_use]
    pub fn header(&self) -> PathBuf {
        self.root.join("header.json")
    }

    /// The agent and its endpoint.
    #[must_use]
    pub fn agent(&self) -> PathBuf {
        self.root.join(AGENT_FILE)
    }

    /// Tasks of one's own.
    #[must_use]
    pub fn own_tasks(&self) -> PathBuf {
        self.root.join("tasks.jsonl")
    }

    /// The bars of a real stock.
    #[must_use]
    pub fn real_bars(&self) -> PathBuf {
        self.root.join("private").join("panel_Q.csv")
    }

    /// The verdicts.
    #[must_use]
    pub fn events(&self) -> PathBuf {
        self.root.join("events.jsonl")
    }

    /// Verdicts of a run that has not ended.
    #[must_use]
    pub fn judged(&self) -> PathBuf {
        self.root.join("judged.jsonl")
    }

    /// The functions.
    #[must_use]
    pub fn sources(&self) -> PathBuf {
        self.root.join("sources")
    }

    /// Tokens and money.
    #[must_use]
    pub fn spending(&self) -> PathBuf {
        self.root.join("spending.json")
    }

    /// The counts.
    #[must_use]
    pub fn summary(&self) -> PathBuf {
        self.root.join("summary.json")
    }

    /// The source of a round; the sample is named where there are several.
    #[must_use]
    pub fn source(&self, task: &str, (sample, samples): (u64, u64), round: u32) -> PathBuf {
        let name = if 1 < samples {
            format!("{task}-s{sample}-{round}.py")
        } else {
            format!("{task}-{round}.py")
        };
        self.sources().join(name)
    }
}

/// A finished bundle of the factor benchmark.
#[derive(Debug, Clone)]
pub struct FactorCodeBundle {
    /// Where it lies.
    pub paths: FactorCodePaths,
    /// All that decided it.
    pub header: FactorCodeHeader,
    /// Its tasks.
    pub tasks: FactorTasks,
    /// Its verdicts, by task, sample and round.
    pub events: Vec<FactorCodeEvent>,
    /// What follows from them.
    pub summary: FactorCodeSummary,
    /// Tokens and money.
    pub spending: Spending,
}

impl FactorCodeBundle {
    /// Reads a bundle; `None` where it is not finished.
    ///
    /// # Errors
    /// [`CodeError`] where it is damaged, or its files do not belong together.
    pub fn read(folder: &Path) -> Result<Option<Self>, CodeError> {
        let paths = FactorCodePaths::new(folder);
        let Some(bytes) = read_if_exists(&paths.summary())? else {
            return Ok(None);
        };
        let summary: FactorCodeSummary = parse_json(&paths.summary(), &bytes)?;
        let header = FactorCodeHeader::read(&paths.header())?;
        let path = paths.events();
        let bytes = LineKind::Log.bytes(&path)?;
        if sha256_hex(&bytes) != summary.events_sha256 {
            return Err(CodeError::damaged(
                &path,
                "the summary was made from other events",
            ));
        }
        let events = LineKind::Log.lines(&path, &bytes)?.values()?;
        let spending = read_json(&paths.spending())?;
        Ok(Some(Self {
            tasks: tasks_of(&paths, &header)?,
            paths,
            header,
            events,
            summary,
            spending,
        }))
    }
}

/// The tasks of a bundle.
pub(super) fn tasks_of(paths: &FactorCodePaths, header: &FactorCodeHeader) -> Result<FactorTasks, CodeError> {
    let own = read_if_exists(&paths.own_tasks())?;
    let own = own
        .map(|bytes| {
            String::from_utf8(bytes).map_err(|_| CodeError::damaged(&paths.own_tasks(), "not UTF-8"))
        })
        .transpose()?;
    if tasks_sha256(own.as_deref()) != header.tasks_sha256 {
        return Err(CodeError::input(
            format!("{}: it was made with other tasks", paths.root().display()),
            "use the version of ktd that made it",
        ));
    }
    let all = match &own {
        Some(text) => {
            let panels = FactorPanels::new(header.panel_seed, None)?;
            FactorTasks::with_file(text, panels.bars(PanelKind::G))?
        }
        None => FactorTasks::compiled_in()?,
    };
    let names: Vec<&str> = header.tasks.iter().map(String::as_str).collect();
    Ok(all.chosen(&names)?)
}

/// The panels of a bundle.
pub(crate) fn panels_of(
    paths: &FactorCodePaths,
    header: &FactorCodeHeader,
) -> Result<FactorPanels, CodeError> {
    let real = header
        .is_real
        .then(|| read_bars(&paths.real_bars()))
        .transpose()?;
    let panels = FactorPanels::new(header.panel_seed, real.as_ref())?;
    if panel_hashes(&panels) == header.panels_sha256 {
        return Ok(panels);
    }
    Err(CodeError::input(
        format!("{}: it was made on other panels", paths.root().display()),
        "use the version of ktd that made it, with its private part",
    ))
}
