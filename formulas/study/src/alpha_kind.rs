//! The evaluation of pools as a kind of study: blocks of formulas, whose noise draws are works, then pools and choices.

use crate::alpha_found::{AlphaUnit, AlphaUnitFound, EvaluatedBlock};
use crate::alpha_pictures::{curves, scatter};
use crate::alpha_report::AlphaReport;
use crate::alpha_study::AlphaStudy;
use crate::alpha_tables::{
    alpha_table, combination_table, composite_table, hindsight_of, looks, pool_table, refused_table,
    split_table,
};
use crate::inference_tables::{
    curve_table, inference_table, rank_table, robustness_table, rose_table, selection_table, year_table,
};
use crate::open_study::{FORMAT, OpenStudy};
use crate::threshold_pictures::{drawdown_by_threshold, return_by_beta};
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use ktd_study::{CountedRun, Hands, Opening, Planned, Report, Section, Shown, StudyError, StudyKind, UnitId};
use ktd_view::draw::{FIGURES_STYLE, counted, joined, p_value, real, short_hash};
use maud::html;
use serde_json::{Value, json};
use std::path::PathBuf;

/// Alphas of the last split that a terminal shows, and those that stand on the page; the CSV has all.
const TERMINAL_ALPHAS: usize = 20;
const PAGE_ALPHAS: usize = 200;

/// The evaluation of pools of formulas.
#[derive(Debug, Clone, Copy)]
pub struct AlphaEvaluating;

impl StudyKind for AlphaEvaluating {
    const NAME: &'static str = "alpha-eval";
    const COMMAND: &'static str = "ktd alpha eval";
    const FORMAT: u32 = FORMAT;
    const STEPS: &'static str = "instruments";
    const PANEL_HASH: Option<&'static str> = Some("/panel");
    const PLACES: &'static [&'static str] = &["/panel", "/bins"];

    type Keys = AlphaStudy;
    type World = OpenStudy;
    type Unit = AlphaUnit;
    type Event = ();
    type Found = AlphaUnitFound;
    type Summary = AlphaReport;

    fn name(keys: &AlphaStudy) -> &str {
        &keys.name
    }

    fn panel(keys: &mut AlphaStudy) -> Option<&mut PathBuf> {
        keys.panel.as_mut()
    }

    fn check(keys: &AlphaStudy) -> Result<(), StudyError> {
        keys.check()
    }

    fn open(keys: &AlphaStudy, at: &Opening<'_>) -> Result<OpenStudy, StudyError> {
        OpenStudy::open(keys, at)
    }

    fn decides(world: &OpenStudy) -> Value {
        world.inputs()
    }

    /// A set of formulas that sees the test days of a panel.
    fn counted(world: &OpenStudy) -> Option<CountedRun> {
        let days = world.study.splits.test.as_ref()?;
        let over = world.data.panel.source.clone();
        Some(CountedRun {
            looks: world.splits.iter().any(|split| split.name == "test"),
            value: json!({ "formulas": world.formulas_hash(), "panel": over, "days": days }),
            over,
        })
    }

    /// Days that are looked at twice have been seen: one in common is enough.
    fn is_counted_with(own: &Value, other: &Value) -> bool {
        let day = |value: &Value, place: usize| value.get("days")?.get(place)?.as_str().map(str::to_owned);
        let is_before = |first: &Value, last: &Value| day(first, 0) <= day(last, 1);
        is_before(own, other) && is_before(other, own)
    }

    /// One after the other: each uses all threads for its formulas, and as much memory as it may.
    fn at_once(_keys: &AlphaStudy) -> Option<usize> {
        Some(1)
    }

    fn units(_keys: &AlphaStudy, world: &OpenStudy) -> Result<Vec<Planned<AlphaUnit>>, StudyError> {
        let steps = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
        let blocks = world.blocks();
        let block = |(place, range)| {
            let id = AlphaUnit::block_id(place).to_string();
            Planned::folder(id, AlphaUnit::block(range)).steps(steps(world.block_steps()))
        };
        let mut units: Vec<_> = blocks.iter().enumerate().map(block).collect();
        let after = units.iter().map(|unit| unit.id.clone()).collect();
        let pools = Planned::folder("pools".to_owned(), AlphaUnit::Pools);
        units.push(pools.steps(steps(world.pool_steps())).after(after));
        Ok(units)
    }

    fn run<'a>(
        world: &'a OpenStudy,
        unit: &'a AlphaUnit,
        hands: &'a mut Hands<'_, ()>,
    ) -> LocalBoxFuture<'a, Result<AlphaUnitFound, StudyError>> {
        async move {
            match unit {
                AlphaUnit::Block { first, end } => {
                    let evaluated = world.evaluate_block(*first..*end, hands)?;
                    Ok(AlphaUnitFound::Block(evaluated))
                }
                AlphaUnit::Pools => {
                    let blocks = (0..world.blocks().len()).map(|place| block_of(hands, place));
                    let blocks: Vec<EvaluatedBlock> = blocks.collect::<Result<_, _>>()?;
                    let report = world.evaluate_pools(&blocks, hands)?;
                    Ok(AlphaUnitFound::Pools(Box::new(report)))
                }
            }
        }
        .boxed_local()
    }

    fn conclude(_keys: &AlphaStudy, found: Vec<(UnitId, AlphaUnitFound)>) -> Result<AlphaReport, StudyError> {
        let report = found.into_iter().find_map(|(_, found)| match found {
            AlphaUnitFound::Pools(report) => Some(*report),
            AlphaUnitFound::Block(_) => None,
        });
        report.ok_or_else(|| {
            StudyError::difference("the study has no record of its pools", "run the study again")
        })
    }

    fn add_count(summary: &mut AlphaReport, counted: usize) {
        summary.test_looks = counted;
    }

    fn report(_keys: &AlphaStudy, summary: &AlphaReport) -> Result<Report, StudyError> {
        Ok(Report {
            title: format!("{}: what its alphas are worth", summary.name),
            verdict: verdict(summary),
            notes: summary.notes.clone(),
            sections: sections(summary),
            styles: vec![FIGURES_STYLE],
            footer: format!(
                "panel {}, formulas {}, inputs {}",
                short_hash(&summary.panel),
                short_hash(&summary.formulas),
                short_hash(&summary.inputs)
            ),
            ..Report::default()
        })
    }
}

/// What the block at a place came to.
fn block_of(hands: &Hands<'_, ()>, place: usize) -> Result<EvaluatedBlock, StudyError> {
    match hands.found(&AlphaUnit::block_id(place))? {
        AlphaUnitFound::Block(block) => Ok(block),
        AlphaUnitFound::Pools(_) => Err(StudyError::difference(
            "a block came to what the pools come to",
            "the record was changed: take it from whoever made it",
        )),
    }
}

/// What the evaluation comes to in words.
fn verdict(report: &AlphaReport) -> String {
    let sigma = report
        .noise_sigma
        .map_or_else(|| "no noise".to_owned(), |sigma| format!("sigma {sigma:.5}"));
    let raised = match report.noise_raised {
        0 => String::new(),
        raised => format!(", least factor reached {}", counted(raised, "time")),
    };
    format!(
        "{} Label {}; {}; noise on {}, {} of each law, {sigma}{raised}.",
        best_words(report),
        report.label,
        looks(report),
        report.noise_mode,
        counted(report.noise_draws, "draw")
    )
}

/// The pools whose best alpha's gain is told from the best of that many noises, on the last split that is open.
fn best_words(report: &AlphaReport) -> String {
    const LEVEL: f64 = 0.05;
    let Some(last) = report.splits.last().map(|split| split.split.as_str()) else {
        return "No split is open.".to_owned();
    };
    let of_last = report.inference.iter().filter(|row| row.split == last);
    let pools: Vec<(&str, f64)> = of_last
        .filter_map(|row| Some((row.pool.as_str(), row.row.get("spa_p")?)))
        .collect();
    if pools.is_empty() {
        return format!("No pool's best alpha could be tested on {last} days.");
    }
    let level = LEVEL / real(pools.len());
    let told = pools.iter().filter(|(_, p)| *p <= level);
    let told: Vec<String> = told
        .map(|(pool, _)| match hindsight_of(report, last, pool) {
            words if words.is_empty() => (*pool).to_owned(),
            words => format!("{pool} ({words})"),
        })
        .collect();
    let each: Vec<String> = pools
        .iter()
        .map(|(pool, p)| format!("{pool} {}", p_value(*p)))
        .collect();
    let whose = match told.len() {
        0 => "No pool has".to_owned(),
        1 => format!("{} has", joined(&told)),
        _ => format!("{} have", joined(&told)),
    };
    format!(
        "{whose} an alpha whose gain after costs on {last} days is more than luck gives the best of as many: p of the best {} (SPA test of \
         each pool; shown from {level:.3} down).",
        joined(&each)
    )
}

fn sections(report: &AlphaReport) -> Vec<Section> {
    let mut figures = Section::new("What each figure is good for");
    if !report.selections.is_empty() {
        figures = figures.picture(curves(report));
    }
    if let Some(picture) = return_by_beta(report) {
        figures = figures.picture(picture);
    }
    let figures = figures.table("selections", selection_table(report), Shown::Everywhere);
    let drawdowns = html! { div.pair { @for picture in drawdown_by_threshold(report) { (picture) } } };
    let scatters = html! { div.pair { @for split in &report.splits { (scatter(report, split)) } } };
    let of_last = |most: usize| alpha_table(report, Some(most));
    vec![
        figures.table("curves", curve_table(report), Shown::Files),
        Section::new("Pools")
            .table("pools", pool_table(report), Shown::Everywhere)
            .table("rose", rose_table(report), Shown::Page)
            .table("combinations", combination_table(report), Shown::Everywhere)
            .table(
                "years_of_pools",
                year_table(report, Some("equal")),
                Shown::PageAlone,
            ),
        Section::new("What may be concluded")
            .table("best_of_pools", inference_table(report), Shown::Everywhere)
            .table("ranks", rank_table(report), Shown::Page),
        Section::new("Stability and turnover").picture(scatters).table(
            "stability_and_turnover",
            split_table(report),
            Shown::Everywhere,
        ),
        Section::new("Composite").table("composite", composite_table(report), Shown::Everywhere),
        Section::new("Robustness and drawdown").picture(drawdowns).table(
            "robustness_and_drawdown",
            robustness_table(report),
            Shown::Page,
        ),
        Section::new("Alphas")
            .table("best_alphas", of_last(TERMINAL_ALPHAS), Shown::Terminal)
            .table("shown_alphas", of_last(PAGE_ALPHAS), Shown::PageAlone)
            .table("alphas", alpha_table(report, None), Shown::Files)
            .table("years", year_table(report, None), Shown::Files)
            .table("refused", refused_table(report), Shown::Folded),
    ]
}
