//! What the gates of a run are worth: programs of which it is known what they are go through them like those of models.

use crate::boxed_reply::{FactorJudgedBy, judge_reply};
use crate::error::CodeError;
use ktd_boxed::BoxLauncher;
use ktd_env::KeyedStream;
use ktd_factor_code::{
    FactorTasks, FactorVerdict, JudgeRule, LoopMeasure, PlantedKind, PlantedProgram, TaskRate,
    planted_program,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What became of planted programs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GatesFound {
    /// The gates, in the order of [`PlantedKind`].
    pub gates: Vec<GateFound>,
}

/// What became of the planted programs of one kind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GateFound {
    /// What they are.
    pub kind: PlantedKind,
    /// How many there are.
    pub programs: u64,
    /// Those in which the gate found what it looks for: of leaks and loops recall, of their twins false alarms.
    pub found: u64,
    /// Those that the box lost, which count for nothing.
    pub lost: u64,
    /// Those with another verdict than they should have: how they were made, and what the verdict was.
    pub wrong: Vec<WrongProgram>,
}

/// A planted program that a gate took for something else.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WrongProgram {
    /// How it was made.
    pub family: String,
    /// What the gate said.
    pub verdict: String,
    /// Its source.
    pub source: String,
}

impl GateFound {
    /// The share of programs in which something was found.
    #[must_use]
    pub const fn rate(&self) -> TaskRate {
        TaskRate {
            passed: self.found,
            tasks: self.programs - self.lost,
        }
    }
}

/// As many programs of each kind.
pub(crate) fn planted(each: u64, kinds: &[PlantedKind], stream: &mut KeyedStream) -> Vec<PlantedProgram> {
    let kinds = kinds.iter().copied();
    let programs = kinds.flat_map(|kind| (0..each).map(move |_| kind));
    programs.map(|kind| planted_program(kind, stream)).collect()
}

/// As many programs of each of some kinds, drawn with a public seed, through the gates, side by side.
///
/// # Errors
/// [`CodeError`] where no box can be had.
pub fn planted_gates(
    launcher: &BoxLauncher,
    by: &FactorJudgedBy<'_>,
    (each, kinds): (u64, &[PlantedKind]),
    seed: u64,
) -> Result<GatesFound, CodeError> {
    let mut stream = KeyedStream::for_purpose(seed, "factor-code planted programs");
    measured_gates(launcher, by, &planted(each, kinds, &mut stream))
}

/// Takes planted programs through all layers, as answers to a task; of the values only the gates' verdicts count.
///
/// # Errors
/// [`CodeError`] where no box can be had.
pub(crate) fn measured_gates(
    launcher: &BoxLauncher,
    by: &FactorJudgedBy<'_>,
    programs: &[PlantedProgram],
) -> Result<GatesFound, CodeError> {
    let tasks = FactorTasks::compiled_in()?;
    let task = tasks.as_slice().first().ok_or_else(|| {
        CodeError::input(
            "no task is compiled in",
            "this is a defect of the program: report it",
        )
    })?;
    let judged = launcher.each(programs, |launcher, program| {
        judge_reply(launcher, task, by, &program.source)
    });
    let mut gates: BTreeMap<PlantedKind, GateFound> = BTreeMap::new();
    for (program, judged) in programs.iter().zip(judged) {
        let gate = gates.entry(program.kind).or_insert_with(|| GateFound {
            kind: program.kind,
            programs: 0,
            found: 0,
            lost: 0,
            wrong: Vec::new(),
        });
        gate.programs += 1;
        let Some(judged) = judged? else {
            gate.lost += 1;
            continue;
        };
        let is_found = is_found(program.kind, &judged.verdict);
        gate.found += u64::from(is_found);
        if is_found != program.kind.is_planted() {
            gate.wrong.push(WrongProgram {
                family: program.family.to_owned(),
                verdict: said(&judged.verdict),
                source: program.source.clone(),
            });
        }
    }
    Ok(GatesFound {
        gates: gates.into_values().collect(),
    })
}

fn is_found(kind: PlantedKind, verdict: &FactorVerdict) -> bool {
    match kind {
        // a twin that does not run is a false alarm as well
        PlantedKind::Leak | PlantedKind::CleanLeak => !verdict
            .safety
            .as_ref()
            .is_some_and(ktd_factor_code::SafetyVerdict::is_safe),
        PlantedKind::Loop | PlantedKind::CleanLoop => !verdict.is_vectorised_by(JudgeRule::Strict),
    }
}

fn said(verdict: &FactorVerdict) -> String {
    let safety = verdict
        .safety
        .as_ref()
        .map_or("no verdict", |safety| safety.code());
    let steps = verdict
        .loops
        .map_or("not counted".to_owned(), |loops: LoopMeasure| match loops.fault {
            Some(fault) => fault.code().to_owned(),
            None => format!("{} steps a row", loops.steps_a_row),
        });
    let runs = verdict.execution_code().unwrap_or("runs");
    format!("{runs}, {safety}, {steps}")
}
