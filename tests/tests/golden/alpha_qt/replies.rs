//! The replies of an invented model over three rounds, through all layers. A reply's function is a definition of ours with
//! the ending that the set names; its syntax tree is as plain as the layers need. The edge's tests run the replies' own
//! Python in the box.

use super::columns::{bars, text};
use super::endings::Ending;
use ktd_factor_code::{
    AccuracyRules, ChosenFunction, FactorBars, FactorGateSecret, FactorJudge, FactorPanels, FactorReplies,
    FactorTask, FactorTasks, FactorVerdict, FailureClass, FailureReason, Funnel, GoldenColumns, JudgeRule,
    JudgedTask, LayersPassed, PanelKind, ReplyFlag, ReplySource, RunColumn, RunFailure, RunOutcome,
    SafetyVerdict, StepCount, SyntaxFact, SyntaxFacts, TaskGroup,
};
use serde_json::Value;
use std::collections::BTreeMap;

const RULES: &AccuracyRules = &AccuracyRules::DEFAULT;

fn node(parent: Option<usize>, kind: &str, text: &str) -> SyntaxFact {
    SyntaxFact {
        parent,
        field: parent.map(|_| "body".to_owned()),
        place: parent.map(|_| 0),
        kind: kind.to_owned(),
        line: Some(1),
        text: Some(text.to_owned()),
        detail: None,
    }
}

fn tree(function: &str, has_loop: bool) -> SyntaxFacts {
    let mut nodes = vec![node(None, "Module", ""), node(Some(0), "FunctionDef", function)];
    if has_loop {
        nodes.push(node(Some(1), "For", ""));
    }
    SyntaxFacts::new(nodes).unwrap()
}

/// As many runs at once as a box would get.
const AT_ONCE: usize = 32;

/// The verdict on a reply of a kind that the set names; `detail` is the reason of one that does not run.
fn judged(task: &FactorTask, panels: &FactorPanels, reply: &str, kind: &str, detail: &str) -> FactorVerdict {
    let source = ReplySource::of(reply);
    let golden = GoldenColumns::of(task, panels).unwrap();
    if kind == "broken" {
        let failure = RunFailure::of(FailureReason::of_code(detail).unwrap());
        return FactorJudge::unrun(&source, None, failure);
    }
    let facts = tree(&task.function, kind == "loop");
    let function = ChosenFunction::of(&facts).unwrap();
    let ending = match kind {
        "fenced" | "loop" => Ending::Gold,
        named => {
            Ending::ALL
                .into_iter()
                .find(|(name, _)| *name == named)
                .unwrap()
                .1
        }
    };
    let run = |bars: &FactorBars| -> RunOutcome {
        let cells = ending.of(&task.definition.evaluate(bars).unwrap());
        let mut column = RunColumn::new(cells, bars.rows(), true)?;
        let turns = if kind == "loop" { bars.rows() } else { 0 };
        column.count = Some(StepCount {
            steps: 900 + u64::try_from(turns).unwrap(),
            window_steps: 0,
            fault: None,
        });
        Ok(column)
    };
    let panels = &FactorGateSecret::from_bytes([1; 32])
        .panels(panels, reply)
        .unwrap();
    let mut judge = FactorJudge::new(task, panels, &golden, &source, &facts, &function);
    loop {
        let pending = judge.pending();
        if pending.is_empty() {
            return judge.verdict(RULES);
        }
        for job in pending.into_iter().take(AT_ONCE) {
            judge.record(job, run(&panels.input(&job).unwrap()));
        }
    }
}

fn close(own: Option<f64>, expected: &Value) -> bool {
    match (own, expected.as_f64()) {
        (Some(own), Some(expected)) => (own - expected).abs() <= 1e-9 * expected.abs().max(1.0),
        (own, expected) => own.is_none() && expected.is_none(),
    }
}

fn assert_figures(verdict: &FactorVerdict, expected: &Value, at: &str) {
    for panel in PanelKind::ALL {
        let wanted = &expected["accuracy"][panel.letter()];
        let figures = verdict.accuracy[&panel];
        let counts = [figures.golden_rows, figures.common_rows, figures.early_rows];
        let wanted_counts = ["n_golden", "n_common", "early"].map(|key| wanted[key].as_u64().unwrap());
        assert_eq!(
            counts.map(|count| u64::try_from(count).unwrap()),
            wanted_counts,
            "{at}"
        );
        assert!(
            close(figures.correlation, &wanted["corr"]),
            "{at} {figures:?} {wanted}"
        );
        assert!(
            close(figures.error, &wanted["nrmse"]),
            "{at} {figures:?} {wanted}"
        );
        assert!(
            close(figures.mask_agreement, &wanted["mask_agree"]),
            "{at} {figures:?} {wanted}"
        );
        assert_eq!(figures.is_published_right(RULES), wanted["paper"], "{at}");
        assert_eq!(figures.is_right(RULES), wanted["strict"], "{at}");
        assert_eq!(figures.is_scale_error(RULES), wanted["scale_error"], "{at}");
    }
}

/// Whether a reply looks ahead that the set calls safe by the strict gate: one with a filled warm-up, which the set tried by
/// perturbing all columns alike on panel G alone.
fn is_seen_here_alone(verdict: &FactorVerdict, expected: &Value) -> bool {
    let is_leak = matches!(verdict.safety, Some(SafetyVerdict::Leak(_)));
    expected["kind"] == "warm_fill" && expected[COUNTED[2]] == true && is_leak
}

fn assert_verdict(verdict: &FactorVerdict, expected: &Value) {
    let at = format!("{} round {}", expected["id"], expected["round"]);
    let (published, strict) = (
        verdict.passes(JudgeRule::Published, RULES),
        verdict.passes(JudgeRule::Strict, RULES),
    );
    let own = [
        LayersPassed::Runs <= strict,
        LayersPassed::Safe <= published,
        LayersPassed::Safe <= strict,
        LayersPassed::Right <= published,
        LayersPassed::Right <= strict,
        LayersPassed::Verified <= published,
        LayersPassed::Verified <= strict,
        verdict.is_robust(RULES),
    ];
    let mut wanted = COUNTED.map(|key| expected[key].as_bool().unwrap());
    let is_ahead = is_seen_here_alone(verdict, expected);
    if is_ahead {
        // `safe_strict`, and nothing else
        assert!(wanted[2] && !wanted[4], "{at}");
        wanted[2] = false;
    }
    assert_eq!(own, wanted, "{at}: {:?}", verdict.safety);
    let failure = verdict.failure(RULES).map_or("", FailureClass::code);
    if is_ahead {
        assert_eq!(
            (failure, expected["failure"].as_str()),
            ("leak", Some("logic")),
            "{at}"
        );
    } else {
        assert_eq!(failure, expected["failure"], "{at}");
    }
    let fenced = expected["flags"]
        .as_array()
        .unwrap()
        .iter()
        .any(|flag| flag == "markdown");
    assert_eq!(verdict.flags.contains(&ReplyFlag::Markdown), fenced, "{at}");
    if let Some(detail) = expected["detail"].as_str() {
        assert_eq!(verdict.execution_code(), Some(detail), "{at}");
        return;
    }
    assert_eq!(verdict.is_scale_error(RULES), expected["scale_error"], "{at}");
    let structure = serde_json::json!(verdict.structure.as_ref().unwrap().codes());
    assert_eq!(structure, expected["structure"], "{at}");
    assert_figures(verdict, expected, &at);
}

const COUNTED: [&str; 8] = [
    "pass1",
    "safe_paper",
    "safe_strict",
    "acc_paper",
    "acc_strict",
    "vacc_paper",
    "vacc_strict",
    "robust",
];

/// A group's counts; `ahead` of its replies look ahead and are safe to the set.
fn assert_table(funnel: &Funnel, expected: &Value, ahead: u64, at: &str) {
    let passed = |rule, layer| funnel.rate(rule, layer).passed;
    let own = [
        passed(JudgeRule::Strict, LayersPassed::Runs),
        passed(JudgeRule::Published, LayersPassed::Safe),
        passed(JudgeRule::Strict, LayersPassed::Safe),
        passed(JudgeRule::Published, LayersPassed::Right),
        passed(JudgeRule::Strict, LayersPassed::Right),
        passed(JudgeRule::Published, LayersPassed::Verified),
        passed(JudgeRule::Strict, LayersPassed::Verified),
        funnel.robust,
    ];
    let mut wanted = COUNTED.map(|key| expected[key].as_u64().unwrap());
    wanted[2] -= ahead;
    assert_eq!(own, wanted, "{at}");
    assert_eq!(funnel.tasks, expected["n"], "{at}");
    for (class, count) in &funnel.failures {
        let listed = expected["failures"][class.code()].as_u64().unwrap_or(0);
        let wanted = match class {
            FailureClass::Leak => listed + ahead,
            FailureClass::Logic => listed - ahead,
            FailureClass::Execution | FailureClass::Loop => listed,
            // the set knows neither noise nor a need of rows
            FailureClass::Noise | FailureClass::History => 0,
        };
        assert_eq!(*count, wanted, "{at} {class:?}");
    }
    let markdown = funnel.flags.get("markdown").copied().unwrap_or(0);
    assert_eq!(markdown, expected["markdown"], "{at}");
    for rule in JudgeRule::ALL {
        let counts = LayersPassed::FUNNEL.map(|layer| passed(rule, layer));
        assert!(counts.is_sorted_by(|before, after| before >= after), "{at}");
    }
}

#[test]
fn verdicts_and_table_of_the_invented_model_are_the_expected_ones() {
    let (Some(replies), Some(expected)) = (text("replies.jsonl"), text("expected.json.gz")) else {
        return;
    };
    let expected: Value = serde_json::from_str(&expected).unwrap();
    let tasks = FactorTasks::compiled_in().unwrap();
    let replies = FactorReplies::parse(&replies, &tasks).unwrap();
    let panels = FactorPanels::given(
        20_260_401,
        PanelKind::ALL.map(|kind| bars(kind.letter()).unwrap()),
    );
    let mut verdicts: BTreeMap<&str, FactorVerdict> = BTreeMap::new();
    let rows = expected["replies"].as_array().unwrap();
    for round in 1..=replies.rounds() {
        let of_round = || rows.iter().filter(|row| row["round"] == round);
        let mut ahead: BTreeMap<u8, u64> = BTreeMap::new();
        for (row, task) in of_round().zip(tasks.as_slice()) {
            let id = task.id.as_str();
            assert_eq!(row["id"], id);
            let reply = replies.get(id, round);
            assert_eq!(reply.is_none(), row["carried"], "{id} round {round}");
            if let Some(reply) = reply {
                let kind = row["kind"].as_str().unwrap();
                let detail = row["detail"].as_str().unwrap_or("");
                verdicts.insert(id, judged(task, &panels, reply, kind, detail));
            }
            assert_verdict(&verdicts[id], row);
            *ahead.entry(task.level.number()).or_default() +=
                u64::from(is_seen_here_alone(&verdicts[id], row));
        }
        let judged: Vec<JudgedTask<'_>> = tasks
            .as_slice()
            .iter()
            .map(|task| JudgedTask::of(task, verdicts.get(task.id.as_str())))
            .collect();
        for level in [None, Some(1_u8), Some(2), Some(3)] {
            let group = level.map_or(TaskGroup::All, |level| {
                TaskGroup::Level(level.try_into().unwrap())
            });
            let key = format!(
                "{round}/{}",
                level.map_or("all".to_owned(), |level| level.to_string())
            );
            let ahead: u64 = match level {
                Some(level) => ahead.get(&level).copied().unwrap_or(0),
                None => ahead.values().sum(),
            };
            assert_table(
                &Funnel::of(&judged, group, RULES),
                &expected["table"][&key],
                ahead,
                &key,
            );
        }
    }
}
