//! The report of what models came to: its verdict, its tables, and every function.

use super::cells::ReportedCell;
use super::comparison::Comparison;
use super::failures::gates_table;
use super::functions::functions;
use super::{failures, help, money, over_engineered, pictures, score_tables, sweep};
use crate::run::{FactorCodeConfig, FactorCodeReport};
use ktd_study::Shown::{Everywhere, Folded, Page};
use ktd_study::{Report, Section, Shown, StudyError};
use ktd_view::draw::{FIGURES_STYLE, TableData, counted, percent, short_hash};

/// The report of what all units came to.
pub(crate) fn factor_code_report(
    keys: &FactorCodeConfig,
    summary: &FactorCodeReport,
) -> Result<Report, StudyError> {
    let world = &summary.world;
    let cells = &ReportedCell::all(keys, summary);
    let compared = Comparison::of(cells, keys.panel_seed)?;
    let mut notes = vec![world.environment.clone()];
    notes.extend((!world.is_real).then(|| "Q synthetic".to_owned()));
    let noted = |data: TableData| notes.iter().fold(data, |data, note| data.with_note(note.clone()));
    let section = |heading, tables: Vec<(&'static str, TableData, Shown)>| {
        let tables = tables.into_iter();
        tables.fold(Section::new(heading), |section, (id, data, shown)| {
            section.table(id, noted(data), shown)
        })
    };
    let scores = vec![
        ("T1_ranks", compared.ranks_table(), Everywhere),
        ("T1_pairs", compared.pairs_table(), Everywhere),
        ("T1_funnel", score_tables::levels(cells), Page),
        ("T1_pass_at_k", score_tables::pass_at(cells), Page),
        ("T10_styles", score_tables::styles(cells), Page),
    ];
    let helped = vec![
        ("T9_help", help::table(cells), Everywhere),
        ("T9_rounds", score_tables::rounds(cells), Page),
    ];
    let tasks = vec![
        ("T2_categories", score_tables::categories(cells), Page),
        ("T3_causal", score_tables::causal(cells), Page),
    ];
    let wrong = vec![
        ("T4_failures", failures::classes(cells), Page),
        ("T4_reasons", failures::reasons(cells), Page),
        ("T4_over_engineered", over_engineered::table(cells)?, Page),
        ("T5_structure", failures::structure(cells), Page),
    ];
    let rules = vec![
        ("T13_gates", gates_table(summary.gates.as_ref()), Everywhere),
        ("T6_thresholds", sweep::table(cells)?, Folded),
        ("T12_false_accepts", failures::false_accepts(world), Page),
    ];
    let cost = vec![("T11_money", money::table(cells), Page)];
    let shown = pictures::pictures(cells).into_iter().chain(help::picture(cells));
    let mut sections = vec![
        shown.fold(Section::new("Pictures"), Section::picture),
        section("First answers", scores),
        section("What feedback brought and cost", helped),
        section("Tasks", tasks),
        section("What is wrong", wrong),
        section("Rules, and what they are worth", rules),
        section("Tokens and money", cost),
    ];
    let written = Section::new("Functions");
    sections.push(
        cells
            .iter()
            .fold(written, |section, cell| section.picture(functions(cell))),
    );
    Ok(Report {
        title: format!("{}: factor code written by models", summary.name),
        verdict: verdict(cells, &compared),
        sections,
        styles: vec![FIGURES_STYLE, include_str!("style.css")],
        footer: format!(
            "tasks {}, texts {}",
            short_hash(&world.tasks_sha256),
            short_hash(&world.prompts_sha256)
        ),
        ..Report::default()
    })
}

/// What it comes to in words: who is best at the first answer, how sure that is, and what feedback adds.
fn verdict(cells: &[ReportedCell<'_>], compared: &Comparison<'_, '_>) -> String {
    let best = compared.best().map_or_else(String::new, |(best, apart)| {
        let rate = best.verified();
        let answers = usize::try_from(rate.answers).unwrap_or(usize::MAX);
        let right = format!(
            "In round one, {} is right on {} of {} by the strict rules",
            best.name(),
            rate.passed,
            counted(answers, if 1 < best.samples { "answer" } else { "task" }),
        );
        let sure = rate.share().zip(rate.interval()).map(|(share, interval)| {
            let [share, low, high] = [share, interval.lower, interval.upper].map(percent);
            format!(" ({share}; 95 %: {low} to {high})")
        });
        let beside = match compared.ranked() {
            0 => "; no bundle has a rank".to_owned(),
            1 => String::new(),
            ranked => format!(
                ", the most of {}, and told apart from {apart} of {} others",
                counted(cells.len(), "bundle"),
                ranked - 1
            ),
        };
        let last = best.rounds().last().filter(|last| 1 < *last);
        let helped = last.and_then(|last| {
            let after = percent(best.verified_after(last).share()?);
            Some(format!("; with feedback it is {after} after round {last}"))
        });
        let (sure, helped) = (sure.unwrap_or_default(), helped.unwrap_or_default());
        format!("{right}{sure}{beside}{helped}. ")
    });
    format!(
        "{best}A function must run, must not look ahead, must be right, and must be vectorised; each layer counts where the \
         ones before it hold. Both rules are shown: the published one, and the strict one that decides."
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{
        CellFound, CodeStyle, FactorCodeCell, FactorCodeEvent, JudgedAnswer, JudgedOn, TaskFacts,
    };
    use ktd_factor_code::{AccuracyRules, FactorCategory, FactorLevel, FactorVerdict, SourceProblem};

    fn answer(event: FactorCodeEvent) -> JudgedAnswer {
        let (source, words) = (None, None);
        JudgedAnswer { event, source, words }
    }

    #[test]
    fn a_task_that_was_lost_counts_for_nothing_and_its_model_has_no_rank() {
        let task = |id: &str| TaskFacts {
            id: id.to_owned(),
            category: FactorCategory::Momentum,
            level: FactorLevel::Primitive,
            function: "alpha".to_owned(),
            prompt: "<b>".to_owned(),
            fx: "C".to_owned(),
            golden: Vec::new(),
        };
        let refused = FactorVerdict::without_source(SourceProblem::Refusal);
        let judged = FactorCodeEvent::judged(("REV", 1, 1), (None, refused), &AccuracyRules::DEFAULT);
        let summary = FactorCodeReport {
            name: "x".to_owned(),
            world: JudgedOn {
                environment: "Python 3".to_owned(),
                is_boxed: true,
                is_real: false,
                tasks_sha256: "0".repeat(64),
                prompts_sha256: "0".repeat(64),
                tasks: ["MOM", "REV"].map(task).into(),
                false_accepts: Vec::new(),
            },
            gates: None,
            cells: vec![CellFound {
                cell: FactorCodeCell {
                    agent: "a".to_owned(),
                    style: CodeStyle::Original,
                    seed: 1,
                },
                model: "m".to_owned(),
                uncovered: 1,
                rounds: Vec::new(),
                pass_at: Vec::new(),
                spending: ktd_record::spending::Spending::default(),
                spent_in_rounds: Vec::new(),
                answers: vec![
                    answer(FactorCodeEvent::lost(("MOM", 1, 1), "gone".to_owned())),
                    answer(judged),
                ],
            }],
        };
        let keys = toml::from_str("agents = [{ id = 'a', base_url = 'http://127.0.0.1:9/v1', model = 'm' }]")
            .unwrap();
        let report = factor_code_report(&keys, &summary).unwrap();
        let csv = |id: &str| {
            let mut tables = report.tables().map(|(table, _)| table);
            tables.find(|table| table.id == id).unwrap().csv()
        };
        assert!(csv("T1_ranks").contains(": 1 of 2 tasks are uncovered"));
        // one task with a verdict, one without: a share of one task
        assert!(csv("T1_funnel").contains("a__original__s1,strict,all,1,1,0,"));
        assert!(csv("T6_thresholds").contains(",a__original__s1,0,0,"));
        assert!(
            report
                .verdict
                .starts_with("In round one, a__original__s1 is right on 0 of 1 task by"),
            "{}",
            report.verdict
        );
    }
}
