//! Weights of stocks through time: a row a stock, in a stronger colour where it weighs more.

use super::value::RealNames;
use crate::episode::TimelineStep;
use ktd_view::draw::{Anchor, Canvas, percent, real};
use maud::{Markup, html};
use std::collections::BTreeMap;

const WIDTH: f64 = 900.0;
const LEFT: f64 = 110.0;
const ROW: f64 = 13.0;
/// Stocks that are drawn; those held longest come first.
const ROWS_MAX: usize = 60;

/// The drawing; nothing where nothing was held.
pub(crate) fn figure(steps: &[TimelineStep], real_names: &RealNames) -> Markup {
    let mut held: BTreeMap<&str, usize> = BTreeMap::new();
    for name in steps.iter().flat_map(|step| step.weights.keys()) {
        *held.entry(name).or_insert(0) += 1;
    }
    let mut names: Vec<(&str, usize)> = held.into_iter().collect();
    names.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let all = names.len();
    names.truncate(ROWS_MAX);
    if names.is_empty() {
        return html! { p.nothing { "No stock was held at a close." } };
    }
    let mut canvas = Canvas::new(WIDTH, real(names.len()) * ROW + 18.0);
    let last = steps.iter().map(|step| step.record.step).max().unwrap_or(1);
    let width = (WIDTH - LEFT - 4.0) / real(last.max(1));
    for (row, (name, _)) in names.iter().enumerate() {
        let top = real(row) * ROW;
        let shown: String = real_names
            .get(*name)
            .map_or(*name, String::as_str)
            .chars()
            .take(18)
            .collect();
        canvas.text("tk", Anchor::End, (LEFT - 6.0, top + ROW - 3.0), &shown);
        for (first, end, class) in runs(steps, name) {
            let from = (LEFT + real(first.saturating_sub(1)) * width, top + 1.0);
            canvas.rect(class, from, (LEFT + real(end) * width, top + ROW - 1.0));
        }
    }
    let base = real(names.len()) * ROW + 13.0;
    canvas.text("tk", Anchor::Start, (LEFT, base), "step 1");
    canvas.text("tk", Anchor::End, (WIDTH - 4.0, base), &format!("step {last}"));
    html! {
        div.scroll tabindex="0" role="region" aria-label="holdings" {
            (canvas.figure("wide", "Holdings through time", "weights of stocks at each close; a table of each step is on its page"))
        }
        p.source {
            "A stronger colour is heavier: below " (percent(0.05)) ", " (percent(0.1)) ", " (percent(0.15)) ", " (percent(0.2)) ", and above."
            @if ROWS_MAX < all { " The " (ROWS_MAX) " of " (all) " stocks held longest." }
        }
    }
}

/// Steps of equal shade: the first, the last, and the class.
fn runs<'s>(steps: &'s [TimelineStep], name: &str) -> Vec<(usize, usize, &'s str)> {
    let mut runs: Vec<(usize, usize, &str)> = Vec::new();
    for step in steps {
        let Some(weight) = step.weights.get(name) else {
            continue;
        };
        let (number, class) = (step.record.step, shade(*weight));
        match runs.last_mut() {
            Some((_, end, known)) if end.checked_add(1) == Some(number) && *known == class => *end = number,
            _ => runs.push((number, number, class)),
        }
    }
    runs
}

fn shade(weight: f64) -> &'static str {
    match weight {
        light if light < 0.05 => "w1",
        light if light < 0.1 => "w2",
        middle if middle < 0.15 => "w3",
        heavy if heavy < 0.2 => "w4",
        _ => "w5",
    }
}
