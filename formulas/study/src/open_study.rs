//! A study that is ready to be evaluated: its market, pools and days.

use crate::alpha_study::{AlphaStudy, StudyOrientation};
use crate::judge::LogicJudgement;
use crate::study_pool::{StudyPool, TrialsSource, input};
use crate::study_split::{SplitSpan, split_spans};
use ktd_alphas::Figure;
use ktd_alphas::NoiseMode;
use ktd_expressions::CheckedFormula;
use ktd_formulas::check_count;
use ktd_formulas::{FormulaMarket, ScoreTask};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::parse_json;
use ktd_study::{Opening, StudyError, UnitId};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// The version of the report's layout.
pub(crate) const FORMAT: u32 = 6;

/// Megabytes that the scores of the alphas evaluated together may take.
const BATCH_MB: usize = 256;

/// A study with its market, pools and days.
#[derive(Debug, Clone)]
pub struct OpenStudy {
    pub(crate) study: AlphaStudy,
    pub(crate) data: FormulaMarket,
    pub(crate) pools: Vec<StudyPool>,
    pub(crate) splits: Vec<SplitSpan>,
    /// What judges found, and SHA-256 of its bytes: figures hang on them.
    logic: Option<(LogicJudgement, String)>,
    /// Where the folders of its units lie.
    units: PathBuf,
}

impl OpenStudy {
    /// Reads the market and the pools of a study and finds its days.
    ///
    /// # Errors
    /// [`StudyError`] for a market, a pool or a split that is invalid, or a test split that is asked for alone and closed.
    pub fn open(keys: &AlphaStudy, at: &Opening<'_>) -> Result<Self, StudyError> {
        let study = keys.clone().based(at.base);
        let source = (study.panel.as_deref(), study.bins.as_deref());
        let data = FormulaMarket::read(source, study.exchange.is_some())?;
        Self::over(study, data, at)
    }

    /// The same over a market that was read.
    ///
    /// # Errors
    /// Those of [`OpenStudy::open`].
    pub fn over(study: AlphaStudy, data: FormulaMarket, at: &Opening<'_>) -> Result<Self, StudyError> {
        let mut splits = split_spans(&study.splits, &data.panel.calendar)?;
        splits.retain(|split| !study.test_closed || split.name != "test");
        if splits.is_empty() {
            return Err(StudyError::input(
                "the test split is closed, and there is no other",
                "give a train or valid split, or leave --no-test out",
            ));
        }
        if study.orientation == StudyOrientation::Train && study.splits.train.is_none() {
            return Err(StudyError::input(
                "orientation = \"train\" needs a train split",
                "give splits.train, or write orientation = \"none\"",
            ));
        }
        data.check_fields()?;
        let pools = study.pools.iter();
        let pools = pools.map(|pool| StudyPool::read(pool, &data.panel.fields, &|path| input(at, path)));
        let pools: Vec<StudyPool> = pools.collect::<Result<_, _>>()?;
        check_count(
            &"the study",
            pools.iter().map(|pool| pool.set.checked.len()).sum(),
        )?;
        let logic = study.judged.as_ref().map(|folder| -> Result<_, StudyError> {
            let path = folder.join("report.json");
            let bytes = input(at, &path)?;
            Ok((parse_json(&path, &bytes)?, sha256_hex(&bytes)))
        });
        let open = Self {
            logic: logic.transpose()?,
            units: at.out.join("units"),
            study,
            data,
            pools,
            splits,
        };
        open.sigma()?;
        Ok(open)
    }

    /// Where its formulas are evaluated.
    pub(crate) fn score_task(&self, threads: usize) -> ScoreTask<'_> {
        ScoreTask {
            data: &self.data,
            precision: self.study.numeric.precision(),
            window: self.window(),
            threads,
        }
    }

    pub(crate) fn formulas(&self) -> Vec<CheckedFormula> {
        self.pools.iter().flat_map(|pool| pool.set.formulas()).collect()
    }

    /// Logic of a formula by its canonical form, or the stable word of why there is none: `no_judge`, `not_judged`, a
    /// judge's last mistake, `refusal`, or why no model is shown the formula.
    pub(crate) fn logic_of(&self, canonical: &str) -> Figure {
        let judgement = self.logic.as_ref().ok_or_else(|| "no_judge".to_owned());
        judgement.and_then(|(judgement, _)| judgement.logic(canonical))
    }

    /// What a reader must know of the judges.
    pub(crate) fn logic_notes(&self) -> Vec<String> {
        let judges = self.logic.iter().flat_map(|(judgement, _)| &judgement.judges);
        let marked = judges.filter(|judge| judge.is_miner);
        let note = |id: &String| format!("judge {id} scores formulas that its own model has found");
        marked.map(|judge| note(&judge.id)).collect()
    }

    /// What a reader must know of how trials were counted.
    pub(crate) fn trial_notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.study.orientation == StudyOrientation::Train {
            notes.push("a sign is learned on train days: each expression counts as two trials".to_owned());
        }
        let mut of: BTreeMap<TrialsSource, Vec<&str>> = BTreeMap::new();
        for pool in &self.pools {
            of.entry(pool.trials_from).or_default().push(&pool.id);
        }
        if 1 < of.len() {
            let each = of
                .iter()
                .map(|(from, pools)| format!("{} of {}", from.word(), pools.join(", ")));
            notes.push(format!(
                "trials are {}: deflated ratios of pools whose trials are counted, declared and unknown are not compared, and nothing \
                 is ranked by them",
                each.collect::<Vec<_>>().join("; ")
            ));
        }
        notes
    }

    /// SHA-256 of the canonical forms of all pools: the set of formulas, whatever their names and order are.
    #[must_use]
    pub fn formulas_hash(&self) -> String {
        let formulas = self.pools.iter().flat_map(|pool| &pool.set.checked);
        let forms: BTreeSet<&str> = formulas.map(|(_, formula)| formula.canonical()).collect();
        let forms: Vec<&str> = forms.into_iter().collect();
        sha256_hex(forms.join("\n").as_bytes())
    }

    /// Everything that decides the figures, but the program.
    pub(crate) fn inputs(&self) -> Value {
        let pools = self.pools.iter().map(|pool| {
            let checked = pool.set.checked.iter();
            let checked: Vec<[&str; 2]> = checked
                .map(|(line, formula)| [line.id.as_str(), formula.canonical()])
                .collect();
            let refused = pool.set.refused.iter();
            let refused: Vec<[&str; 3]> = refused
                .map(|refused| {
                    let (line, error) = (&refused.line, &refused.error);
                    [line.id.as_str(), line.expression.as_str(), error.fault.code()]
                })
                .collect();
            json!({ "id": pool.id, "tried": pool.tried, "formulas": checked, "refused": refused })
        });
        json!({
            "study": self.study.without_places(),
            "panel": self.data.panel.source,
            "pools": pools.collect::<Vec<_>>(),
            "logic": self.logic.as_ref().map(|(_, sha256)| sha256),
        })
    }

    pub(crate) fn unit_folder(&self, id: &UnitId) -> PathBuf {
        self.units.join(id.as_str())
    }

    /// Bytes that the scores of the alphas evaluated together may take.
    pub(crate) fn batch_bytes(&self) -> usize {
        self.study.batch_mb.unwrap_or(BATCH_MB) << 20
    }

    /// Instruments that are evaluated for a block of formulas, those of perturbed panels with them.
    pub(crate) fn block_steps(&self) -> usize {
        let is_input = matches!(self.study.noise.mode, NoiseMode::Input | NoiseMode::Bar);
        let draws = if is_input { 2 * self.study.draws() } else { 0 };
        self.data.stocks().count() * (1 + draws)
    }

    /// Those that are evaluated for the pools.
    pub(crate) fn pool_steps(&self) -> usize {
        self.data.stocks().count() * 2 * self.pools.len()
    }

    /// The deviation of the noise; none where no draw is made. Test days take no part in it unless there are no others, so that
    /// figures of other splits do not depend on whether test is open.
    pub(crate) fn sigma(&self) -> Result<Option<f64>, StudyError> {
        let is_alone = self.splits.len() == 1;
        let splits = self.splits.iter();
        let splits = splits.filter(|split| is_alone || split.name != "test");
        let sessions: Vec<usize> = splits.flat_map(|split| split.sessions.clone()).collect();
        let noise = self.study.noise;
        Ok(self
            .data
            .sigma((noise.mode, noise.sigma), self.study.draws(), &sessions)?)
    }

    /// The words of the label and of the other one.
    pub(crate) fn label_words(&self) -> (&'static str, &'static str) {
        (self.study.label.word(), self.study.label.other().word())
    }
}
