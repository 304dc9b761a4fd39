//! The report of what models came to: its verdict, its tables, and every function.

use super::cells::ReportedCell;
use super::functions::functions;
use super::{failures, false_accepts, money, score_tables, sweep};
use crate::run::{FactorCodeConfig, FactorCodeReport};
use ktd_factor_code::{Funnel, JudgeRule, LayersPassed, TaskGroup};
use ktd_study::{Report, Section, SectionPart, Shown, StudyError};
use ktd_view::draw::{TableData, counted, short_hash};

/// The report of what all units came to.
pub(crate) fn factor_code_report(
    keys: &FactorCodeConfig,
    summary: &FactorCodeReport,
) -> Result<Report, StudyError> {
    let world = &summary.world;
    let cells = &ReportedCell::all(keys, summary);
    let mut notes = vec![world.environment.clone()];
    notes.extend((!world.is_real).then(|| "Q synthetic".to_owned()));
    let noted = |data: TableData| notes.iter().fold(data, |data, note| data.with_note(note.clone()));
    let mut written = Section::new("Functions");
    written
        .parts
        .extend(cells.iter().map(|cell| SectionPart::Picture(functions(cell))));
    let table = |section: Section, id, data, shown| section.table(id, noted(data), shown);
    let scores = Section::new("Layers");
    let scores = table(scores, "T1_ranks", score_tables::ranks(cells)?, Shown::Everywhere);
    let scores = table(
        scores,
        "T9_rounds",
        score_tables::rounds(cells),
        Shown::Everywhere,
    );
    let scores = table(scores, "T1_funnel", score_tables::levels(cells), Shown::Page);
    let scores = table(scores, "T1_pairs", score_tables::pairs(cells), Shown::Page);
    let scores = table(scores, "T1_pass_at_k", score_tables::pass_at(cells), Shown::Page);
    let scores = table(scores, "T10_styles", score_tables::styles(cells), Shown::Page);
    let tasks = Section::new("Tasks");
    let tasks = table(
        tasks,
        "T2_categories",
        score_tables::categories(cells),
        Shown::Page,
    );
    let tasks = table(tasks, "T3_causal", score_tables::causal(cells), Shown::Page);
    let wrong = Section::new("What is wrong");
    let wrong = table(wrong, "T4_failures", failures::classes(cells), Shown::Page);
    let wrong = table(wrong, "T4_reasons", failures::reasons(cells), Shown::Page);
    let wrong = table(wrong, "T5_structure", failures::structure(cells), Shown::Page);
    let rules = Section::new("Rules");
    let rules = table(rules, "T6_thresholds", sweep::table(cells)?, Shown::Folded);
    let rules = table(
        rules,
        "T12_false_accepts",
        false_accepts::table(world),
        Shown::Page,
    );
    let cost = Section::new("Tokens and money");
    let cost = table(cost, "T11_money", money::table(cells), Shown::Page);
    let cost = table(cost, "T11_rounds", money::rounds(cells), Shown::Page);
    Ok(Report {
        title: format!("{}: factor code written by models", summary.name),
        verdict: verdict(cells),
        sections: vec![scores, tasks, wrong, rules, cost, written],
        styles: vec![include_str!("style.css")],
        footer: format!(
            "tasks {}, texts {}",
            short_hash(&world.tasks_sha256),
            short_hash(&world.prompts_sha256)
        ),
        ..Report::default()
    })
}

/// What it comes to in words.
fn verdict(cells: &[ReportedCell<'_>]) -> String {
    let rate = |cell: &ReportedCell<'_>| {
        let funnel = Funnel::of(&cell.last(), TaskGroup::All, &cell.rules);
        funnel.rate(JudgeRule::Strict, LayersPassed::Verified)
    };
    let share = |cell: &ReportedCell<'_>| rate(cell).share().unwrap_or(0.0);
    let best = cells
        .iter()
        .max_by(|one, other| share(one).total_cmp(&share(other)));
    let best = best.map_or_else(String::new, |cell| {
        let rate = rate(cell);
        format!(
            "At most {} of {} pass all layers by the strict rules ({}; {} asked). ",
            rate.passed,
            counted(usize::try_from(rate.tasks).unwrap_or(usize::MAX), "task"),
            cell.name(),
            counted(cells.len(), "bundle"),
        )
    });
    format!(
        "{best}A function must run, must not look ahead, must be right, and must be vectorised; each layer counts where the \
         ones before it hold. Both rules are shown: the published one, and the strict one that decides."
    )
}
