//! A plan for people.

use super::{
    AgentGrid, ExperimentPlan, POWER, Pairing, PooledDesign, SEPARATION, SIGNIFICANCE, Setting, WindowNoise,
};
use ktd_attribution::{PORTFOLIO_NAMES, RANDOM_PORTFOLIOS};
use ktd_bundle::summary::Metric;
use ktd_experiment::caps::Caps;
use ktd_masking::{Mode, Numeric};
use ktd_stats::SIMULATED_EXPERIMENTS;
use ktd_view::draw::duration;
use ktd_view::table::{Align, Layout, Table, grouped};
use std::fmt::Write;

/// The plan as text, in tables of a layout; `caps` is the experiment's budget.
#[must_use]
pub fn text(plan: &ExperimentPlan, caps: &Caps, layout: Layout<'_>) -> String {
    [
        head(plan),
        grid(plan, layout),
        agents(plan, layout),
        "What it asks and costs\n\n".to_owned(),
        crate::estimate_text::text(&plan.estimate, caps, layout),
        pace(plan),
        "\nWhat it can detect\n\n".to_owned(),
        luck(plan, layout),
        pairing(&plan.pairing, plan.seeds),
        pooled(&plan.pooled),
    ]
    .concat()
}

fn head(plan: &ExperimentPlan) -> String {
    let panel = &plan.panel;
    let (kind, warning) = if panel.is_synthetic {
        ("a synthetic market", " (its luck is not a real one's)")
    } else {
        ("a panel", "")
    };
    format!(
        "{}: {} cells, {} steps, on {kind} of {} names and {} trading days{warning}\n\n",
        plan.experiment,
        grouped(plan.cells),
        grouped(plan.steps),
        grouped(panel.names),
        grouped(panel.days)
    )
}

/// Masks down, modes across; what is left out has a letter, explained below.
fn grid(plan: &ExperimentPlan, layout: Layout<'_>) -> String {
    let mut modes: Vec<Mode> = Vec::new();
    let mut masks: Vec<(&str, Numeric)> = Vec::new();
    for setting in &plan.settings {
        if !modes.contains(&setting.mode) {
            modes.push(setting.mode);
        }
        if !masks.contains(&(setting.level_label(), setting.numeric)) {
            masks.push((setting.level_label(), setting.numeric));
        }
    }
    let columns = std::iter::once(("cells", Align::Left));
    let columns: Vec<_> = columns
        .chain(modes.iter().map(|mode| (mode.label(), Align::Right)))
        .collect();
    let mut table = Table::new(&columns);
    for mask in masks {
        let row = plan
            .settings
            .iter()
            .filter(|setting| (setting.level_label(), setting.numeric) == mask);
        let cells = row.map(|setting| match setting.left_out {
            None => grouped(setting.cells),
            Some(_) => "left out".to_owned(),
        });
        table.row(std::iter::once(format!("{}/{}", mask.0, mask.1.label())).chain(cells));
    }
    let mut text = table.render_in(layout);
    for setting in &plan.settings {
        text.push_str(&left_out(setting));
    }
    text.push('\n');
    text
}

fn left_out(setting: &Setting) -> String {
    setting.left_out.map_or_else(String::new, |reason| {
        format!(
            "note: {} cells of {} under {}/{} are left out: {reason}\n",
            grouped(setting.cells),
            setting.mode.label(),
            setting.level_label(),
            setting.numeric.label()
        )
    })
}

fn agents(plan: &ExperimentPlan, layout: Layout<'_>) -> String {
    use Align::{Left, Right};
    let mut table = Table::new(&[
        ("agent", Left),
        ("kind", Left),
        ("vendor", Left),
        ("model", Left),
        ("cells", Right),
        ("steps", Right),
    ]);
    for agent in &plan.agents {
        let [vendor, model] = agent.model.clone().unwrap_or_default();
        table.row([
            agent.agent.clone(),
            agent.kind.label().to_owned(),
            vendor,
            model,
            grouped(agent.cells),
            grouped(agent.steps),
        ]);
    }
    let mut text = table.render_in(layout);
    let repeats: Vec<&AgentGrid> = plan
        .agents
        .iter()
        .filter(|agent| 0 < agent.repeated_cells)
        .collect();
    if !repeats.is_empty() {
        let names: Vec<&str> = repeats.iter().map(|agent| agent.agent.as_str()).collect();
        let cells: usize = repeats.iter().map(|agent| agent.repeated_cells).sum();
        // Writing to a string cannot fail.
        writeln!(
            text,
            "note: no dice are thrown by {}: where names are shown one seed tells all, and {} cells repeat another; they are \
             run all the same",
            names.join(", "),
            grouped(cells)
        )
        .ok();
    }
    text.push('\n');
    text
}

fn pace(plan: &ExperimentPlan) -> String {
    let mut text = String::new();
    for pace in &plan.paces {
        let [least, expected, most] = [pace.minutes.least, pace.minutes.expected, pace.minutes.most]
            .map(|minutes| duration(minutes.saturating_mul(60)));
        // Writing to a string cannot fail.
        writeln!(
            text,
            "the rates of {} ({}) alone take {least} (least), {expected} (expected), {most} (most)",
            if pace.key.is_empty() { "no key" } else { &pace.key },
            pace.agents.join(", ")
        )
        .ok();
    }
    if !plan.estimate.agents.is_empty() {
        text.push_str(
            "how fast models answer is not known: a step waits for each of its calls, one after the other\n",
        );
    }
    text
}

fn luck(plan: &ExperimentPlan, layout: Layout<'_>) -> String {
    use Align::{Left, Right};
    let mut text = format!(
        "Luck: {RANDOM_PORTFOLIOS} random portfolios a window, {PORTFOLIO_NAMES} members each in equal weights, bought at the first open and \
         held, no fees.\n\n"
    );
    let mut table = Table::new(&[
        ("window", Left),
        ("days", Right),
        ("members", Right),
        ("return, sd", Right),
        ("difference of two, sd", Right),
        ("a day, sd", Right),
        ("least difference by its days", Right),
    ]);
    for window in &plan.windows {
        table.row([
            window.window.clone(),
            grouped(window.days),
            window.members.map_or_else(String::new, grouped),
            percent(&window.return_sd, 2),
            percent(&window.difference_sd, 2),
            percent(&window.daily_difference_sd, 3),
            percent(&window.least_difference_by_days, 2),
        ]);
    }
    text.push_str(&table.render_in(layout));
    if plan.windows_are_drawn {
        text.push_str("The windows are drawn when the experiment is run: those above are stand-ins, as many and as long.\n");
    }
    let reasons = plan.windows.iter().filter_map(missing);
    text.extend(reasons);
    text.push('\n');
    text
}

fn missing(window: &WindowNoise) -> Option<String> {
    let reason = window.least_difference_by_days.reason.as_ref()?;
    Some(format!("note: {}: {reason}\n", window.window))
}

fn pairing(pairing: &Pairing, seeds: usize) -> String {
    let mut lines = if pairing.windows.len() < 2 {
        vec![
            "Underpowered over windows: one window is one pair, of which there is no test; only its days, the last column above, can tell two \
             agents apart."
                .to_owned(),
        ]
    } else {
        paired(pairing, seeds)
    };
    if !pairing.left_out.is_empty() {
        lines.push(format!(
            "- no pair beside the windows inside: {}; read it by its days, the last column above",
            pairing.left_out.join(", ")
        ));
    }
    if !pairing.overlaps.is_empty() {
        let pairs: Vec<String> = pairing.overlaps.iter().map(|pair| pair.join(" and ")).collect();
        lines.push(format!(
            "- windows that share days tell less than windows apart: {}",
            pairs.join(", ")
        ));
    }
    lines.push(
        "- agents with fewer names or more trades have more luck, agents that hold the same names less; seeds of one \
         window share its market and are no further pairs"
            .to_owned(),
    );
    lines.push(String::new());
    lines.join("\n")
}

fn paired(pairing: &Pairing, seeds: usize) -> Vec<String> {
    let of_seeds = if seeds == 1 {
        "one seed".to_owned()
    } else {
        format!("the median of {seeds} seeds in each")
    };
    let head = format!(
        "Two agents, or one agent under two masks, over {} windows as pairs ({of_seeds}), two-sided at {SIGNIFICANCE} with \
         power {POWER}:",
        pairing.windows.len()
    );
    if let Some(underpowered) = &pairing.underpowered {
        return vec![
            head,
            format!("- {underpowered}: no outcome can be significant"),
            "- only the days within a window, the last column above, can tell two agents apart".to_owned(),
        ];
    }
    let smallest = p_value(pairing.smallest_p);
    let detects = match &pairing.least_difference.reason {
        Some(reason) => format!("- the smallest difference that it detects is not known: {reason}"),
        None => format!(
            "- the smallest difference of window returns that it detects is {} (sd of a difference {})",
            percent(&pairing.least_difference, 2),
            percent(&pairing.difference_sd, 2)
        ),
    };
    let approximate = pairing.power_at_approximate.map(|power| {
        format!(
            "- the usual normal approximation says {}, which this test finds in {:.0} % of {} simulated experiments",
            percent(&pairing.least_difference_approximate, 2),
            power * 100.0,
            grouped(SIMULATED_EXPERIMENTS)
        )
    });
    let lines = vec![
        head,
        format!("- the smallest p of an exact Wilcoxon test is {smallest}: it can be significant"),
        detects,
    ];
    lines.into_iter().chain(approximate).collect()
}

fn pooled(pooled: &PooledDesign) -> String {
    let windows = pooled.windows.len();
    let (alike, apart) = (
        &pooled.least_difference_a_day,
        &pooled.least_difference_of_independent_seeds,
    );
    if let Some(reason) = &alike.reason {
        return format!("\nThe pooled ranking of two agents cannot be planned: {reason}\n");
    }
    let of_seeds = if pooled.seeds < 2 {
        String::new()
    } else {
        format!(
            " where the seeds of an agent hold the same names, {} where each of {} seeds picks by itself",
            percent(apart, 4),
            pooled.seeds
        )
    };
    let mut text = format!(
        "\nThe pooled ranking over {windows} windows, two-sided at {SEPARATION} with power {POWER}:\n\
         - the smallest difference of selection a day between two agents that it separates is {}{of_seeds}\n\
         - that is for skill that is the same in all windows: what windows truly differ by comes on top\n",
        percent(alike, 4)
    );
    if !pooled.left_out.is_empty() {
        // Writing to a string cannot fail.
        writeln!(
            text,
            "- left out, because too few of their days are in no window that ends before: {}",
            pooled.left_out.join(", ")
        )
        .ok();
    }
    text
}

fn p_value(p: f64) -> String {
    if p < 1e-4 {
        format!("{p:.1e}")
    } else {
        format!("{p:.4}")
    }
}

fn percent(metric: &Metric, places: usize) -> String {
    metric.value.map_or_else(
        || "n/a".to_owned(),
        |value| format!("{:.places$} %", value * 100.0),
    )
}
