//! A search for formulas as a kind of study: one unit, whose trials are works.

use super::config::MineStudy;
use super::market::OpenMine;
use super::pool::{FORMAT, MinedPool, ModelFinder};
use super::proposals::proposal_tool;
use super::round_event::RoundEvent;
use super::rounds::ModelRounds;
use super::trials::{TRIALS, Trials};
use crate::figure_columns::{FigureColumns, figure_cell};
use crate::language::{FormulaConversations, LostCounts, tool_sha256};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_alphas::TrialBook;
use ktd_asking::AskingSettings;
use ktd_experiment::agent::TrainingCutoff;
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::json_bytes;
use ktd_study::{Hands, Opening, Planned, Report, Section, Shown, StudyError, StudyKind, UnitId};
use ktd_view::draw::{Align, TableCell, TableData, counted, grouped, joined, named, short_hash};
use ktd_view::row_table::RowTable;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The search for formulas.
#[derive(Debug, Clone, Copy)]
pub struct FormulaMining;

impl StudyKind for FormulaMining {
    const NAME: &'static str = "alpha-mine";
    const COMMAND: &'static str = "ktd alpha mine";
    const FORMAT: u32 = FORMAT;
    const STEPS: &'static str = "formulas";
    const ASKS: bool = true;
    const PANEL_HASH: Option<&'static str> = Some("/panel");
    const PLACES: &'static [&'static str] = &["/panel", "/bins"];

    type Keys = MineStudy;
    type World = OpenMine;
    type Unit = ();
    type Event = RoundEvent;
    type Found = MinedPool;
    type Summary = MinedPool;

    fn name(keys: &MineStudy) -> &str {
        &keys.name
    }

    fn panel(keys: &mut MineStudy) -> Option<&mut PathBuf> {
        keys.panel.as_mut()
    }

    fn check(keys: &MineStudy) -> Result<(), StudyError> {
        keys.check()
    }

    fn asking(keys: &MineStudy) -> Option<AskingSettings<'_>> {
        keys.llm.as_ref().map(|llm| llm.asking(keys.seed))
    }

    fn open(keys: &MineStudy, at: &Opening<'_>) -> Result<OpenMine, StudyError> {
        OpenMine::new(keys.clone().based(at.base), at.threads)
    }

    /// Where the files of the market lie does not matter: their hash is in it.
    fn decides(world: &OpenMine) -> Value {
        let llm = world.mine.llm.as_ref();
        let settings = MineStudy {
            panel: None,
            bins: None,
            ..world.mine.clone()
        };
        json!({
            "panel": world.panel_hash(),
            "prompts_sha256": llm.map(|_| ktd_prompts::alpha_hash()),
            "tool_sha256": llm.map(|_| tool_sha256(&proposal_tool())),
            "settings": settings,
        })
    }

    fn units(keys: &MineStudy, world: &OpenMine) -> Result<Vec<Planned<()>>, StudyError> {
        let steps = u64::try_from(world.work()).unwrap_or(u64::MAX);
        let unit = Planned::folder("search".to_owned(), ()).steps(steps);
        Ok(vec![if keys.llm.is_some() { unit.asking(0) } else { unit }])
    }

    fn run<'a>(
        world: &'a OpenMine,
        _unit: &'a (),
        hands: &'a mut Hands<'_, RoundEvent>,
    ) -> LocalBoxFuture<'a, Result<MinedPool, StudyError>> {
        async move {
            let (book, events, trials) = searched(world, hands).await?;
            let mut pool = world.pool(&book, sha256_hex(&trials))?;
            if world.mine.llm.is_some() {
                pool.model = Some(finder(hands, &events)?);
            }
            for event in &events {
                hands.event(event)?;
            }
            hands.file(TRIALS, trials);
            Ok(pool)
        }
        .boxed_local()
    }

    fn conclude(_keys: &MineStudy, found: Vec<(UnitId, MinedPool)>) -> Result<MinedPool, StudyError> {
        let found = found.into_iter().next().map(|(_, pool)| pool);
        found.ok_or_else(|| StudyError::difference("the study has no record", "run the study again"))
    }

    fn report(_keys: &MineStudy, pool: &MinedPool) -> Result<Report, StudyError> {
        let mut notes = pool.notes.clone();
        notes.extend(pool.model.iter().map(|model| {
            let (name, until, lost) = (&model.model, &model.known_until, model.lost.all());
            format!(
                "found by {name} (known until: {until}) in {} rounds, {lost} of them lost",
                model.rounds
            )
        }));
        Ok(Report {
            title: format!("{}: what a search found", pool.name),
            verdict: verdict(pool),
            notes,
            sections: vec![Section::new("Formulas").table("formulas", mined_table(pool), Shown::Everywhere)],
            // What `ktd alpha eval` takes.
            files: vec![("pool.json".to_owned(), json_bytes(Path::new("pool.json"), pool)?)],
            footer: format!(
                "panel {}, trials {}",
                short_hash(&pool.panel),
                short_hash(&pool.trials)
            ),
            ..Report::default()
        })
    }
}

/// How many formulas were tried, what became of them, and what luck does to the best.
fn verdict(pool: &MinedPool) -> String {
    let outcomes = pool.outcomes.iter();
    let outcomes: Vec<String> = outcomes
        .map(|(code, count)| format!("{} {}", grouped(*count), named(code)))
        .collect();
    let refused = pool.outcomes.values().sum::<usize>().saturating_sub(pool.tried);
    let untried = match refused {
        0 => String::new(),
        refused => format!("; {} refused before a trial", grouped(refused)),
    };
    let luck = if pool.formulas.is_empty() {
        ""
    } else {
        " The best of that many look good on valid days by luck alone: on test days, which no search reads, `ktd alpha eval` tests \
         this folder as a pool."
    };
    format!(
        "{} of {} tried, chosen by valid days{untried}. By outcome: {}.{luck}",
        counted(pool.formulas.len(), "formula"),
        grouped(pool.tried),
        joined(&outcomes)
    )
}

/// The pool as a table.
fn mined_table(pool: &MinedPool) -> TableData {
    let (name, count, tried, method) = (&pool.name, pool.formulas.len(), pool.tried, &pool.method);
    let sign = |is_turned| if is_turned { "-" } else { "" };
    RowTable::new(
        format!("{name}: {count} formulas of {tried} tried ({method})"),
        &pool.formulas,
    )
    .text("id", |formula| &formula.id)
    .right("valid pps", |formula| figure_cell(&formula.valid, "pps"))
    .right("train pps", |formula| figure_cell(&formula.train, "pps"))
    .column(("formula", Align::Left), |formula| {
        TableCell::Formula(format!("{}{}", sign(formula.is_turned), formula.expression))
    })
    .count("nodes", |formula| formula.nodes)
    .right("valid rank_ic", |formula| figure_cell(&formula.valid, "rank_ic"))
    .figures(&["rank_ic", "rre", "pfs_n", "correlation"], |formula| {
        &formula.train
    })
    .table()
    .with_note(
        "pps: the mean of the daily correlations of scores (ic) and of their ranks (rank_ic) with the label",
    )
}

/// Runs a search to its end: its trials, its rounds where a model finds formulas, and the bytes of its trials.
async fn searched(
    open: &OpenMine,
    hands: &Hands<'_, RoundEvent>,
) -> Result<(TrialBook, Vec<RoundEvent>, Vec<u8>), StudyError> {
    let mut trials = Trials::new(open, hands);
    if let Some(mut search) = open.search() {
        while let Some(batch) = search.next_batch() {
            search.take(trials.tried(&batch)?);
        }
        return Ok((search.book().clone(), Vec::new(), trials.bytes()?));
    }
    let keys = open.mine.llm.as_ref().ok_or_else(|| {
        StudyError::input(
            "this search asks no model",
            "write method = \"llm\" and a table [llm] with agents = [..]",
        )
    })?;
    let conversations = FormulaConversations {
        asking: hands.asked()?.conversations(),
        schema_retries: keys.schema_retries,
    };
    let mut rounds = ModelRounds::new(open, keys);
    rounds.hold(&conversations, &mut trials).await?;
    Ok((rounds.book, rounds.events, trials.bytes()?))
}

/// The model of a search, and how it went.
fn finder(hands: &Hands<'_, RoundEvent>, events: &[RoundEvent]) -> Result<ModelFinder, StudyError> {
    let agent = &hands.asked()?.conversations().model().agent;
    let mut lost = LostCounts::default();
    events
        .iter()
        .filter_map(|event| event.end.lost)
        .for_each(|kind| lost.add(kind));
    let cutoff = agent.cutoff.map(TrainingCutoff::text);
    Ok(ModelFinder {
        model: agent.model_name().to_owned(),
        known_until: cutoff.unwrap_or_else(|| "unknown".to_owned()),
        rounds: events.len(),
        lost,
        tokens: hands.spending()?.tokens,
    })
}
