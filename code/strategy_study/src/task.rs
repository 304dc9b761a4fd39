//! A strategy document and the bars on which programs of it are judged.

use crate::error::StrategyError;
use crate::own_strategy::OwnStrategy;
use crate::reference_program::ReferenceProgram;
use ktd_boxed::BoxLauncher;
use ktd_strategy_code::{
    CandidateLogs, DocumentId, INITIAL_CAPITAL, LONG_RUN, Parameters, REPETITION_SEEDS, RealMarket,
    RealReference, ReferenceRun, Scenario, StrategyBars, StrategyContract, StrategyDocument, StrategyId,
    StrategyTraces, document_json, document_text, named_as, run_reference, scenarios,
};
use std::sync::Arc;

/// The published seed of scenarios and long runs.
pub const SCENARIO_SEED: u64 = 20_260_400;
/// Bars that a long run must have after a document's warm-up.
const BARS_MIN: usize = 50;
/// Draws of scenarios and long run that D1 is of: by their seeds it has bounds.
const DRAWS: u64 = 5;

/// A document, its scenarios, its long run, and what is the reference for programs of it.
#[derive(Debug, Clone)]
pub struct StrategyTask {
    /// Which strategy.
    pub id: StrategyId,
    /// The machine form of its document.
    pub document: StrategyDocument,
    /// The text of the document.
    text: String,
    /// The text of the machine form.
    spec: String,
    scenarios: Vec<Scenario>,
    long: StrategyBars,
    /// Further draws of scenarios and long run, by the seeds that follow: only D1 is made of them too.
    further: Vec<Vec<Scenario>>,
    reference: TaskReference,
    /// How programs are handed their bars.
    pub contract: StrategyContract,
}

/// What programs are compared with.
#[derive(Debug, Clone)]
enum TaskReference {
    /// A strategy of the benchmark, in Rust.
    BuiltIn(DocumentId),
    /// A program of one's own, which runs in the box.
    Program(Arc<ReferenceProgram>),
    /// Nothing.
    None,
}

impl StrategyTask {
    /// A document that comes with the benchmark, on bars drawn from a seed.
    ///
    /// # Errors
    /// [`StrategyError::Scenario`] where no draw does what a scenario is there for.
    pub fn drawn(id: DocumentId, seed: u64) -> Result<Self, StrategyError> {
        let document = StrategyDocument::built_in(id).map_err(StrategyError::invalid)?;
        let draw = |place: u64| scenarios(id, &document.default_parameters(), seed.wrapping_add(place));
        let further = (1..DRAWS).map(draw).collect::<Result<_, _>>()?;
        Ok(Self {
            further,
            ..Self::with_scenarios(id, draw(0)?)?
        })
    }

    /// A document that comes with the benchmark, on given bars.
    ///
    /// # Errors
    /// [`StrategyError::Input`] without a long run among them.
    pub fn with_scenarios(id: DocumentId, mut all: Vec<Scenario>) -> Result<Self, StrategyError> {
        let document = StrategyDocument::built_in(id).map_err(StrategyError::invalid)?;
        let Some(place) = all.iter().position(|scenario| scenario.name == LONG_RUN) else {
            return Err(StrategyError::invalid(format!(
                "{id} has no scenario {LONG_RUN:?}"
            )));
        };
        let long = all.remove(place).market;
        Ok(Self {
            id: id.into(),
            document,
            text: document_text(id).to_owned(),
            spec: document_json(id).to_owned(),
            scenarios: all,
            long,
            further: Vec::new(),
            reference: TaskReference::BuiltIn(id),
            contract: StrategyContract::Run,
        })
    }

    /// A strategy of one's own on its scenarios. The long run is its scenario of that name, or else drawn from a seed.
    ///
    /// # Errors
    /// [`StrategyError`] without any bars for a long run, and for a reference program that is no text.
    pub(crate) fn own(own: &OwnStrategy, seed: u64) -> Result<Self, StrategyError> {
        let (scenarios, long) = own_bars(own, seed)?;
        let reference = match own.reference()? {
            Some(program) => TaskReference::Program(Arc::new(program)),
            None => TaskReference::None,
        };
        Ok(Self {
            id: own.id.clone(),
            document: own.document.clone(),
            text: own.text.clone(),
            spec: own.spec.clone(),
            scenarios,
            long,
            further: Vec::new(),
            reference,
            contract: StrategyContract::Run,
        })
    }

    /// The same, whose programs are handed their bars by another contract. Its reference is handed all at once.
    #[must_use]
    pub fn with_contract(self, contract: StrategyContract) -> Self {
        Self { contract, ..self }
    }

    /// The text of the document, as a model gets it.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The text of its machine form.
    #[must_use]
    pub fn spec(&self) -> &str {
        &self.spec
    }

    /// The bars of gates and stress.
    #[must_use]
    pub const fn long(&self) -> &StrategyBars {
        &self.long
    }

    /// The scenarios without the long run.
    #[must_use]
    pub fn scenarios(&self) -> &[Scenario] {
        &self.scenarios
    }

    /// All bars with a trace, by name: the scenarios, then the long run.
    pub fn markets(&self) -> impl Iterator<Item = (&str, &StrategyBars)> {
        let scenarios = self.scenarios.iter();
        scenarios
            .map(|scenario| (scenario.name.as_str(), &scenario.market))
            .chain([(LONG_RUN, &self.long)])
    }

    /// Further draws of scenarios and long run, each with what the reference does on them; none of a strategy of one's own.
    ///
    /// # Errors
    /// [`StrategyError::Reference`] for a parameter that is missing.
    pub(crate) fn further(
        &self,
        parameters: &Parameters,
    ) -> Result<Vec<Vec<(&StrategyBars, CandidateLogs)>>, StrategyError> {
        let TaskReference::BuiltIn(id) = &self.reference else {
            return Ok(Vec::new());
        };
        let mut found = Vec::with_capacity(self.further.len());
        for draw in &self.further {
            let mut runs = Vec::with_capacity(draw.len());
            for Scenario { market, .. } in draw {
                let logs = run_reference(*id, parameters, market, INITIAL_CAPITAL)?;
                runs.push((market, CandidateLogs::of_reference(&logs, &self.document.columns)));
            }
            found.push(runs);
        }
        Ok(found)
    }

    /// Whether behaviour can be judged: whether there is a reference.
    #[must_use]
    pub const fn has_reference(&self) -> bool {
        !matches!(self.reference, TaskReference::None)
    }

    /// Whether the reference is a program that runs in the box.
    #[must_use]
    pub const fn has_boxed_reference(&self) -> bool {
        matches!(self.reference, TaskReference::Program(_))
    }

    /// The traces of the reference strategy with these parameters; none where there is no reference. One of the benchmark needs
    /// no box.
    ///
    /// # Errors
    /// [`StrategyError::Reference`] for a parameter that is missing, or that an own document refuses; [`StrategyError::Input`]
    /// where an own reference does not run, or gets no box.
    pub fn reference_traces(
        &self,
        launcher: Option<&BoxLauncher>,
        parameters: &Parameters,
    ) -> Result<StrategyTraces, StrategyError> {
        Ok(self.reference(launcher, parameters)?.traces)
    }

    /// What runs beside a program with these parameters on real bars.
    ///
    /// # Errors
    /// [`StrategyError`] where a reference of one's own gets no box.
    pub(crate) fn real_reference(
        &self,
        launcher: &BoxLauncher,
        parameters: &Parameters,
        markets: &[RealMarket],
    ) -> Result<RealReference, StrategyError> {
        Ok(match &self.reference {
            TaskReference::None => RealReference::None,
            TaskReference::BuiltIn(id) => RealReference::BuiltIn(*id),
            TaskReference::Program(program) => {
                let bars: Vec<&StrategyBars> = markets.iter().map(RealMarket::bars).collect();
                let [seeds, ..] = REPETITION_SEEDS;
                let judged = (&self.document, parameters);
                RealReference::Program(program.outcomes((launcher, seeds), judged, &bars)?)
            }
        })
    }

    /// Whether its scenarios have columns beside prices and volume.
    pub(crate) fn has_further_columns(&self) -> bool {
        let mut assets = self.markets().flat_map(|(_, market)| &market.assets);
        assets.any(|(_, bars)| !bars.further.is_empty())
    }

    /// What the reference strategy does with these parameters: nothing where there is none.
    ///
    /// # Errors
    /// As [`Self::reference_traces`].
    pub(crate) fn reference(
        &self,
        launcher: Option<&BoxLauncher>,
        parameters: &Parameters,
    ) -> Result<ReferenceRun, StrategyError> {
        match &self.reference {
            TaskReference::None => Ok(ReferenceRun::default()),
            TaskReference::BuiltIn(id) => {
                let mut run = ReferenceRun::default();
                for (name, market) in self.markets() {
                    let logs = run_reference(*id, parameters, market, INITIAL_CAPITAL)?;
                    run.add(name, CandidateLogs::of_reference(&logs, &self.document.columns));
                }
                Ok(run)
            }
            TaskReference::Program(program) => {
                let launcher = launcher
                    .ok_or_else(|| StrategyError::invalid("the reference of the folder needs a box"))?;
                program.run(launcher, (&self.document, parameters), self.markets())
            }
        }
    }
}

/// The scenarios of a strategy of one's own, and its long run.
fn own_bars(own: &OwnStrategy, seed: u64) -> Result<(Vec<Scenario>, StrategyBars), StrategyError> {
    let mut scenarios = own.scenarios.clone();
    let named = scenarios.iter().position(|scenario| scenario.name == LONG_RUN);
    if let Some(place) = named {
        let long = scenarios.remove(place).market;
        return Ok((scenarios, long));
    }
    if let Some(like) = alike(own) {
        let long = named_as(StrategyTask::drawn(like, seed)?.long, &own.document.assets);
        if own.document.warm_up_bars + BARS_MIN <= long.times().len() {
            return Ok((scenarios, long));
        }
    }
    // The first of the longest.
    let bars = |scenario: &Scenario| scenario.market.times().len();
    let most = scenarios.iter().map(bars).max().unwrap_or_default();
    match scenarios
        .iter()
        .position(|scenario| 0 < most && bars(scenario) == most)
    {
        Some(place) => {
            let long = scenarios.remove(place).market;
            Ok((scenarios, long))
        }
        None => Err(StrategyError::input(
            format_args!("{}: there are no bars for a long run", own.id),
            "add a scenario named \"long\"",
        )),
    }
}

/// The document of the benchmark with as many assets and such bars: its long run does for a strategy of one's own that reads no
/// further column.
fn alike(own: &OwnStrategy) -> Option<DocumentId> {
    let assets = own.scenarios.iter().flat_map(|scenario| &scenario.market.assets);
    if assets.into_iter().any(|(_, bars)| !bars.further.is_empty()) {
        return None;
    }
    match (own.document.assets.len(), own.document.is_intraday) {
        (1, false) => Some(DocumentId::S01),
        (1, true) => Some(DocumentId::S04),
        (2, false) => Some(DocumentId::S06),
        (4, false) => Some(DocumentId::S09),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;
    use ktd_strategy_code::{BreachReport, Stress};
    use serde_json::{Value, json};

    #[test]
    fn references_break_no_constraint_on_distorted_bars() {
        for id in DocumentId::ALL {
            let task = StrategyTask::drawn(id, SCENARIO_SEED).unwrap();
            let parameters = task.document.default_parameters();
            for stress in Stress::ALL {
                let market = stress.apply(task.long());
                let logs = run_reference(id, &parameters, &market, INITIAL_CAPITAL).unwrap();
                let logs = CandidateLogs::of_reference(&logs, &task.document.columns);
                let report = BreachReport::of(&logs, &market, &task.document, &parameters);
                assert_eq!(report.breaches, [], "{id} under {}", stress.label());
            }
        }
    }

    /// The task of a folder with these assets, scenarios and warm-up.
    fn own(
        assets: &[&str],
        warm_up: usize,
        scenarios: &[(&str, Value)],
    ) -> Result<StrategyTask, StrategyError> {
        let folder = tempfile::tempdir().unwrap();
        let spec = json!({
            "strategy_id": "own", "name": "n", "family": "f", "assets": assets, "warmup": warm_up, "multi": false,
            "intraday": false, "entry": ["UP: close > open"], "exit": [], "params": {}, "constraints": {}, "columns": [],
            "keywords": [],
        });
        let lines: Vec<String> = scenarios
            .iter()
            .map(|(name, data)| json!({"scenario": name, "data": data}).to_string())
            .collect();
        for (name, text) in [
            ("spec.json", spec.to_string()),
            ("spec.md", "# own\n".to_owned()),
            ("scenarios.jsonl", lines.join("\n")),
        ] {
            write_whole(&folder.path().join(name), text.as_bytes()).unwrap();
        }
        let at = ktd_study::Opening::unkept(folder.path(), folder.path(), 1);
        StrategyTask::own(&OwnStrategy::read(std::path::Path::new(""), &at)?, 7)
    }

    fn frame(bars: usize, further: bool) -> Value {
        let columns = ["datetime", "open", "high", "low", "close", "volume", "weight"];
        let rows = (1..=bars).map(|day| json!([format!("2021-01-{day:02}"), 1, 1, 1, 1, 1, 1]));
        json!({"columns": &columns[..6 + usize::from(further)], "rows": rows.collect::<Vec<_>>()})
    }

    #[test]
    fn a_long_run_is_the_folders_own_or_drawn_or_the_longest_scenario() {
        let short = || ("short", frame(3, false));
        let bars = |task: &StrategyTask| (task.scenarios().len(), task.long().times().len());
        let drawn = own(&["X"], 5, &[short()]).unwrap();
        assert_eq!(bars(&drawn), (1, 500));
        assert_eq!(drawn.long().assets[0].0, "X");
        let parameters = drawn.document.default_parameters();
        assert!(!drawn.has_reference());
        assert!(drawn.reference_traces(None, &parameters).unwrap().is_empty());
        let named = own(&["X"], 5, &[short(), ("long", frame(20, false))]).unwrap();
        assert_eq!(bars(&named), (1, 20));
        let slow = own(&["X"], 490, &[short(), ("b", frame(9, false))]).unwrap();
        assert_eq!(bars(&slow), (1, 9));
        let further = own(&["X"], 5, &[("a", frame(9, true)), ("b", frame(9, true))]).unwrap();
        assert_eq!(bars(&further), (1, 9));
        assert_eq!(further.scenarios()[0].name, "b");
        let legs = json!({"P": frame(9, false), "Q": frame(9, false)});
        let pair = own(&["P", "Q"], 5, &[("a", legs)]).unwrap();
        assert_eq!(pair.long().assets[1].0, "Q");
        assert_eq!(bars(&pair), (1, 500));
        let none = own(&["X", "Y", "Z"], 5, &[]).unwrap_err().to_string();
        assert_eq!(none, "own: there are no bars for a long run");
    }
}
