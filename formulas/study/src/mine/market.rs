//! A search that is ready to run: its market and days.

use super::config::{MineMethod, MineStudy};
use super::days::MineDays;
use crate::study_split::{SplitSpan, split_spans};
use ktd_alphas::{
    FormulaSearch, GeneticSearch, RandomSearch, SearchCandidate, SearchTerms, TrainTables, Trial, TrialFault,
};
use ktd_expressions::CheckedFormula;
use ktd_formulas::FormulaMarket;
use ktd_io::parallel::in_parallel;
use ktd_study::StudyError;

/// What the scores of the formulas that are evaluated together may take.
const CHUNK_BYTES: usize = 256 << 20;

/// Formulas that are evaluated together, at most: what a kill may cost.
const CHUNK: usize = 250;

/// A search with its market and days. Days after the valid ones are not in it.
#[derive(Debug, Clone)]
pub struct OpenMine {
    pub(crate) mine: MineStudy,
    data: FormulaMarket,
    valid: SplitSpan,
    pub(crate) train: MineDays,
    tables: TrainTables,
    pub(crate) threads: usize,
}

impl OpenMine {
    /// Finds the days of a search.
    ///
    /// # Errors
    /// [`StudyError`] for a split that leaves the panel, and a panel that lacks what labels or noise need.
    pub fn new(mine: MineStudy, threads: usize) -> Result<Self, StudyError> {
        let data = FormulaMarket::read((mine.panel.as_deref(), mine.bins.as_deref()), false)?;
        let splits = split_spans(&mine.splits, &data.panel.calendar)?;
        let [train, valid] = splits.as_slice() else {
            return Err(StudyError::input(
                "splits.train or splits.valid is missing",
                "give both",
            ));
        };
        data.check_fields()?;
        check_fields(&mine, &data)?;
        let data = data.until(valid.sessions.end);
        let train = MineDays::new(&mine, &data, train)?;
        let open = Self {
            tables: train.train_tables(&mine),
            train,
            valid: valid.clone(),
            data,
            threads,
            mine,
        };
        open.sigma()?;
        Ok(open)
    }

    /// The search of a method; none of one that asks a model.
    pub(crate) fn search(&self) -> Option<Box<dyn FormulaSearch>> {
        let terms = |evaluations| SearchTerms {
            growth: self.mine.growth(),
            fields: self.data.panel.fields.clone(),
            max_nodes: self.mine.filter.max_nodes,
            evaluations,
        };
        let seed = self.mine.seed;
        match self.mine.method {
            MineMethod::Random => {
                let evaluations = self.mine.random.unwrap_or_default().evaluations;
                Some(Box::new(RandomSearch::new(terms(evaluations), seed)))
            }
            MineMethod::Gp => {
                let gp = self.mine.gp.unwrap_or_default();
                Some(Box::new(GeneticSearch::new(terms(gp.evaluations), gp, seed)))
            }
            MineMethod::Llm => None,
        }
    }

    /// Formulas that are evaluated at most.
    #[must_use]
    pub fn work(&self) -> usize {
        match self.mine.method {
            MineMethod::Random => self.mine.random.unwrap_or_default().evaluations,
            MineMethod::Gp => self.mine.gp.unwrap_or_default().most(),
            MineMethod::Llm => {
                let llm = self.mine.llm.as_ref();
                llm.map_or(0, |llm| llm.rounds.saturating_mul(llm.ask))
            }
        }
    }

    /// Hash of the panel, whatever days of it are read.
    pub(crate) fn panel_hash(&self) -> &str {
        &self.data.panel.source
    }

    /// What a reader must know of the columns.
    pub(crate) fn notes(&self) -> &[String] {
        &self.data.panel.notes
    }

    /// How many candidates are evaluated together, so that their scores fit in memory.
    pub(crate) fn chunk(&self) -> usize {
        let fitting = CHUNK_BYTES.checked_div(self.train.table_bytes()).unwrap_or(1);
        fitting.clamp(self.threads.max(1), CHUNK.max(self.threads))
    }

    /// What becomes of candidates on the train days, in their order.
    pub(crate) fn tried(&self, candidates: &[SearchCandidate]) -> Result<Vec<Trial>, StudyError> {
        let filter = &self.mine.filter;
        let formulas: Vec<CheckedFormula> = candidates.iter().filter_map(|c| c.checked().cloned()).collect();
        let on = (&self.train.data.panel, self.threads);
        let tables = self.train.scores(&self.mine, on, &formulas)?;
        let figures = in_parallel(&tables, self.threads, |scores| {
            self.tables.rank_ic(scores, filter.present, filter.constant_days)
        });
        let mut figures = figures.into_iter();
        let trial = |candidate: &SearchCandidate| match candidate {
            SearchCandidate::Checked(checked) => {
                let figure = figures.next().unwrap_or(Err(TrialFault::Undefined));
                self.trial(candidate, checked.formula().nodes(), figure)
            }
            SearchCandidate::Refused { nodes, fault, .. } => self.trial(candidate, *nodes, Err(*fault)),
        };
        Ok(candidates.iter().map(trial).collect())
    }

    /// The trial of a candidate whose train figure is known.
    pub(crate) fn trial(
        &self,
        candidate: &SearchCandidate,
        nodes: usize,
        figure: Result<f64, TrialFault>,
    ) -> Trial {
        Trial::new(candidate.form(), nodes, figure, self.mine.filter.node_cost)
    }

    /// The valid days, which a run reads once: when its search has ended.
    pub(crate) fn valid(&self) -> Result<MineDays, StudyError> {
        MineDays::new(&self.mine, &self.data, &self.valid)
    }

    /// The deviation of the noise; none where no draw is made.
    pub(crate) fn sigma(&self) -> Result<Option<f64>, StudyError> {
        let sessions = self.train.sessions();
        let noise = self.mine.noise;
        let market = &self.train.data;
        Ok(market.sigma((noise.mode, noise.sigma), self.mine.draws(), &sessions)?)
    }
}

/// A field that the panel lacks would be refused in every formula that has it.
fn check_fields(mine: &MineStudy, data: &FormulaMarket) -> Result<(), StudyError> {
    let (known, fields) = (&data.panel.fields, mine.growth().fields);
    match fields.iter().find(|field| !known.contains(field)) {
        Some(field) => Err(StudyError::input(
            format_args!("growth.fields names {field:?}, and the panel has no such field"),
            format_args!("name some of {}", known.join(", ")),
        )),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::OpenMine;
    use ktd_alphas::SearchCandidate;
    use ktd_expressions::FormulaRole;
    use ktd_formulas::FormulaMarket;

    fn open(keys: &str) -> OpenMine {
        let splits = "train = ['2022-03-07', '2022-09-30'], valid = ['2022-10-10', '2023-02-22']";
        let text = format!("name = 'x'\nmethod = 'gp'\nsplits = {{ {splits} }}\n{keys}");
        OpenMine::new(toml::from_str(&text).unwrap(), 2).unwrap()
    }

    #[test]
    fn train_days_and_valid_days_end_where_their_split_does() {
        let open = open("");
        let last = |data: &FormulaMarket| data.panel.calendar.last().unwrap().reveal();
        assert_eq!(last(&open.train.data), "2022-09-30");
        assert_eq!(last(&open.valid().unwrap().data), "2023-02-22");
        assert_eq!(last(&open.data), "2023-02-22");
        let days = open.train.data.panel.calendar.len();
        for name in &open.train.data.panel.names {
            assert!(name.first_session + name.rows() <= days, "{}", name.code);
            assert!(name.shown.iter().all(|span| span.end <= days));
        }
    }

    #[test]
    fn what_is_tried_does_not_depend_on_what_is_tried_with_it() {
        let open = open("filter = { max_nodes = 5 }");
        let fields = &open.train.data.panel.fields;
        let texts = [
            "$close/Ref($close,5)",
            "$close-$close",
            "Sub(Abs($open),Abs($low))+$low",
            "Sum(",
            "$volume",
        ];
        let candidates = texts.map(|text| SearchCandidate::of_text(text, fields, FormulaRole::Alpha, 5));
        let together = open.tried(&candidates).unwrap();
        for (candidate, trial) in candidates.iter().zip(&together) {
            assert_eq!(&open.tried(std::slice::from_ref(candidate)).unwrap()[0], trial);
        }
        let code = |place: usize| together[place].outcome.unwrap_err().code();
        assert_eq!(
            (code(1), code(2), code(3)),
            ("constant", "too_many_nodes", "syntax")
        );
        assert!(together[0].outcome.is_ok() && together[4].outcome.is_ok());
    }
}
