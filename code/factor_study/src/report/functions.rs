//! Every function with its verdict, task by task. What a model wrote is escaped.

use super::cells::ReportedCell;
use super::plots::beside_golden;
use crate::run::{FIRST_ROUND, JudgedAnswer, TaskFacts};
use ktd_view::draw::{counted, short_hash, visible};
use maud::{Markup, html};

/// What one model wrote.
pub(super) fn functions(reported: &ReportedCell<'_>) -> Markup {
    let (who, world) = (reported.who(), reported.world);
    html! {
        h3 { bdi { (reported.name()) } }
        p.lead {
            bdi { (reported.found.model) } ", " (who.style.name()) ", seed " (who.seed) "; "
            (counted(reported.rounds().count(), "round")) "; tasks "
            (short_hash(&world.tasks_sha256)) ", texts " (short_hash(&world.prompts_sha256)) "."
            @if !world.is_boxed { b { " Unsafe: run without a sandbox, and never ranked." } }
        }
        @for task in &world.tasks { (of_task(reported, task)) }
    }
}

fn of_task(reported: &ReportedCell<'_>, task: &TaskFacts) -> Markup {
    let answers = reported.found.answers.iter();
    let answers: Vec<&JudgedAnswer> = answers.filter(|answer| answer.event.task == task.id).collect();
    let reached = |answers: &mut dyn Iterator<Item = &&JudgedAnswer>| -> String {
        let reached = answers.map(|answer| answer.event.strict.as_deref().unwrap_or("uncovered"));
        reached.collect::<Vec<_>>().join(", ")
    };
    let first = reached(&mut answers.iter().filter(|answer| answer.event.round == FIRST_ROUND));
    let helped = reached(&mut answers.iter().filter(|answer| FIRST_ROUND < answer.event.round));
    html! {
        details.task {
            summary { b { (task.id) } " " (task.function) ": " (first) @if !helped.is_empty() { "; with feedback " (helped) } }
            p { (task.prompt) }
            p { code { (task.fx) } }
            @for answer in answers { (of_answer(answer, reported.samples, &task.golden)) }
        }
    }
}

fn of_answer(answer: &JudgedAnswer, samples: u64, golden: &[Option<f64>]) -> Markup {
    let event = &answer.event;
    html! {
        h4 { "Round " (event.round) @if 1 < samples { ", sample " (event.sample) } }
        @if let Some(source) = &answer.source { pre { code { (shown(source)) } } }
        @if let Some(words) = &answer.words { pre { (shown(words)) } }
        @if let Some(reason) = &event.lost { p { "Uncovered: " (reason) } }
        @if !event.curve.is_empty() { (beside_golden(&event.curve, golden)) }
        @if let Some(feedback) = &event.feedback { p { "Sent back:" } pre { (shown(feedback)) } }
    }
}

/// Foreign lines without a character that is none of a line.
fn shown(text: &str) -> String {
    let lines: Vec<_> = text.lines().map(|line| visible(line)).collect();
    lines.join("\n")
}
