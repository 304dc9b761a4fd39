//! Ranks by selection, with what says whether they are real.

use super::force;
use super::{PER_PAIR, described, metric_cell, points, selection_cell, stat_cell};
use crate::BoardMetric;
use crate::record::{GapKind, LeaderboardRow, Separation, Track};
use ktd_bundle::summary::Metric;
use ktd_probes::judge::CertificateSummary;
use ktd_record::signer_mark::SignerMark;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, counted};

pub(super) fn table(track: &Track) -> TableData {
    let mut table = TableData::new(
        format!("Leaderboard: {}", described(track)),
        [
            ("alpha-rk", Right, 0),
            ("95 %", Left, 3),
            ("tied with", Left, 4),
            ("agent", Left, 0),
            ("kind", Left, 3),
            ("force", Left, 7),
            ("seeds", Right, 5),
            ("bp a day", Right, 0),
            ("low", Right, 1),
            ("high", Right, 1),
            ("selection", Right, 2),
            ("NW t", Right, 5),
            ("decisions", Right, 5),
            ("luck low", Right, 6),
            ("luck high", Right, 6),
            ("luck %ile", Right, 2),
            ("DSR", Right, 4),
            ("capacity, CNY m", Right, 5),
            ("passed at, CNY m", Right, 6),
            ("return", Right, 1),
            ("delta-rk", Right, 6),
            ("memory gap", Right, 4),
            ("signal and memory", Right, 4),
            ("mask", Left, 6),
            ("coverage", Right, 5),
            ("model faults", Right, 5),
            ("infra faults", Right, 7),
            ("fallbacks", Right, 7),
            ("early", Right, 8),
            ("paid", Right, 4),
            ("at most", Right, 7),
        ],
    );
    for leader in &track.leaders {
        table.rows.push(row(leader, track));
    }
    if track.leaders.iter().any(|leader| certificate(leader).is_some()) {
        table.columns.push(("certificate", Left, 7).into());
        for (row, leader) in table.rows.iter_mut().zip(&track.leaders) {
            let certificate = certificate(leader).map(ToString::to_string);
            row.push(certificate.map_or(TableCell::Empty, TableCell::Text));
        }
    }
    table.notes.extend(certificates(track));
    boxes(&mut table, track);
    signers(&mut table, track);
    table.notes.push(
        "ranked by specific return in basis points a day; `selection` is what it added up to, linked. Its null is not zero: compare \
         with the luck band of random portfolios with the same count, weights and holding periods"
            .to_owned(),
    );
    table.notes.extend(luckiest(track));
    if track.leaders.iter().any(|leader| leader.size_cost.is_some()) {
        table.notes.push(
            "capacity: the capital at which a cost of size (a trade of a share q of a day's amount costs the daily deviation times the \
             root of q) eats the selection; passed at: the capital at which a lower rank passes it; the exchange charges none of it"
                .to_owned(),
        );
    }
    table.notes.extend(track.separation.as_ref().map(tests));
    table.notes.extend(track.separation.as_ref().and_then(turned));
    table.notes.extend(track.notes.iter().cloned());
    table
}

/// What DSR is, where there are trials.
fn luckiest(track: &Track) -> Option<String> {
    (0 < track.distinct_trials).then(|| {
        format!(
            "DSR: the probability that selection beats the luckiest of {} without skill: of the {} on disk for this window those \
             that traded and do not move alike",
            counted(track.distinct_trials, "trial"),
            track.trials
        )
    })
}

/// Which outside agents ran in a box, where there is one.
fn boxes(table: &mut TableData, track: &Track) {
    if track.leaders.iter().all(|leader| leader.boxed.is_none()) {
        return;
    }
    table.columns.push(("box", Left, 2).into());
    for (row, leader) in table.rows.iter_mut().zip(&track.leaders) {
        let boxed = leader.boxed.map(|boxed| if boxed { "boxed" } else { "unboxed" });
        row.push(boxed.map_or(TableCell::Empty, |text| TableCell::Text(text.to_owned())));
    }
    let unboxed = track.leaders.iter().filter(|leader| leader.boxed == Some(false));
    let unboxed: Vec<&str> = unboxed.map(|leader| leader.agent.as_str()).collect();
    if !unboxed.is_empty() {
        table.notes.push(format!(
            "unboxed: {}: programs that could read what lies on the machine, prices and keys among it",
            unboxed.join(", ")
        ));
    }
}

/// Who published the rows' runs, where somebody signed some.
fn signers(table: &mut TableData, track: &Track) {
    let is_signed =
        |leader: &LeaderboardRow| signer(leader).is_some_and(|signer| signer.fingerprint.is_some());
    if track.leaders.iter().any(is_signed) {
        table.columns.push(("signer", Left, 2).into());
        for (row, leader) in table.rows.iter_mut().zip(&track.leaders) {
            let signer = signer(leader).map(ToString::to_string);
            row.push(signer.map_or(TableCell::Empty, TableCell::Text));
        }
        table.notes.push(
            "signer: the fingerprint of the key that published a row's runs; `not checked` where nobody named the key, \
             `unsigned` for runs that were not published"
                .to_owned(),
        );
    }
}

fn row(leader: &LeaderboardRow, track: &Track) -> Vec<TableCell> {
    let selection = leader.selection.as_ref();
    let interval = selection.and_then(|selection| selection.interval);
    let luck = selection.and_then(|selection| selection.null_band);
    let absent = || {
        let reason = leader
            .unattributed_reason
            .as_ref()
            .or(leader.unranked_reason.as_ref())
            .cloned();
        reason.map_or(TableCell::Empty, TableCell::Missing)
    };
    let gap = |kind: GapKind| {
        let gap = leader.memory_gap.as_ref().filter(|gap| gap.kind == kind);
        gap.map(|gap| gap.total_return)
    };
    vec![
        rank_cell(leader, leader.alpha_rank),
        leader.rank_interval.map_or(TableCell::Empty, |rank| {
            TableCell::Text(format!("{}-{}", rank.low, rank.high))
        }),
        TableCell::Text(tied(leader, track)),
        TableCell::Text(leader.agent.clone()),
        TableCell::Text(leader.cohort.label().to_owned()),
        force(leader),
        TableCell::Count(leader.seeds.len()),
        selection.map_or_else(absent, |selection| points(selection.a_day)),
        TableCell::optional(interval.map(|bounds| bounds.low), points),
        TableCell::optional(interval.map(|bounds| bounds.high), points),
        selection_cell(leader),
        selection.map_or(TableCell::Empty, |selection| {
            metric_cell(&selection.newey_west_t, TableCell::Ratio)
        }),
        TableCell::optional(
            selection.map(|selection| selection.independent_decisions),
            TableCell::Ratio,
        ),
        TableCell::optional(luck.map(|bounds| bounds.low), points),
        TableCell::optional(luck.map(|bounds| bounds.high), points),
        TableCell::optional(
            selection.and_then(|selection| selection.null_percentile),
            TableCell::Percent,
        ),
        selection.map_or(TableCell::Empty, |selection| {
            metric_cell(&selection.dsr, TableCell::Ratio)
        }),
        millions(leader.size_cost.as_ref().and_then(|cost| cost.break_even_cny)),
        millions(leader.size_cost.as_ref().and_then(|cost| cost.passed_at_cny)),
        stat_cell(leader.metrics.get(&BoardMetric::TotalReturn), TableCell::Change),
        leader.delta_rank.map_or(TableCell::Empty, TableCell::Signed),
        TableCell::optional(gap(GapKind::Memory), TableCell::Change),
        TableCell::optional(gap(GapKind::SignalAndMemory), TableCell::Change),
        leader.mask.as_ref().map_or(TableCell::Empty, |mask| {
            TableCell::Text(mask.standing.label().to_owned())
        }),
        TableCell::optional(leader.faults.coverage, TableCell::Percent),
        TableCell::Count(leader.faults.model),
        TableCell::Count(leader.faults.infrastructure),
        TableCell::Count(leader.faults.fallbacks),
        TableCell::Count(leader.faults.early_submissions),
        TableCell::optional(leader.faults.paid_usd, TableCell::Dollars),
        TableCell::optional(leader.faults.at_most_usd, TableCell::Dollars),
    ]
}

/// An amount of CNY in millions.
fn millions(cny: Option<f64>) -> TableCell {
    cny.map_or(TableCell::Empty, |cny| {
        TableCell::Worded(cny / 1e6, format!("{:.*}", usize::from(cny < 1e7), cny / 1e6))
    })
}

/// A rank, or the reason why an agent that could have one has none.
pub(crate) fn rank_cell(leader: &LeaderboardRow, rank: Option<usize>) -> TableCell {
    let absent = || {
        leader
            .unranked_reason
            .clone()
            .map_or(TableCell::Empty, TableCell::Missing)
    };
    rank.map_or_else(absent, TableCell::Count)
}

/// By which certificate the mask of an agent's runs is certified or refused.
fn certificate(leader: &LeaderboardRow) -> Option<&CertificateSummary> {
    leader.mask.as_ref()?.by.as_ref()
}

/// What the masks of the track's runs are, each mark once: a narrow table leaves its columns out.
fn certificates(track: &Track) -> Vec<String> {
    let mut notes: Vec<String> = Vec::new();
    for mark in track.leaders.iter().filter_map(|leader| leader.mask.as_ref()) {
        if let Some(by) = &mark.by {
            let note = format!("mask {}: {by}", mark.standing.label());
            if !notes.contains(&note) {
                notes.push(note);
            }
        }
    }
    notes
}

const fn signer(leader: &LeaderboardRow) -> Option<&SignerMark> {
    leader.signer.as_ref()
}

/// The alpha ranks of those from whom the data cannot separate an agent.
fn tied(leader: &LeaderboardRow, track: &Track) -> String {
    let place = |separation: &Separation| separation.agents.iter().position(|agent| *agent == leader.agent);
    let found = track
        .separation
        .as_ref()
        .and_then(|found| Some((found, place(found)?)));
    let Some((separation, own)) = found else {
        return String::new();
    };
    let open = separation.open.get(own).map_or(&[][..], Vec::as_slice);
    let others = separation
        .agents
        .iter()
        .zip(open)
        .filter(|(_, is_open)| **is_open);
    let rank = |agent: &str| {
        track
            .leaders
            .iter()
            .find(|other| other.agent == agent)?
            .alpha_rank
    };
    let ranks: Vec<String> = others
        .filter_map(|(agent, _)| rank(agent))
        .map(|rank| rank.to_string())
        .collect();
    ranks.join(",")
}

/// The tests of the whole ranking, in a line.
fn tests(separation: &Separation) -> String {
    let shown = |metric: &Metric| {
        let reason = || format!("n/a ({})", metric.reason.as_deref().unwrap_or("not known"));
        metric.value.map_or_else(reason, |value| format!("{value:.3}"))
    };
    let spa = separation.spa_p.map_or_else(
        || "n/a".to_owned(),
        |p| format!("{:.3} ({:.3} to {:.3})", p.consistent, p.lower, p.upper),
    );
    let pairs = separation.agents.len() * separation.agents.len().saturating_sub(1) / 2;
    format!(
        "the best selection of all trials on these days against the mean of luck: White p {}, Hansen p {spa}; probability of \
         overfitting {}; {} of {pairs} pairs cannot be separated; {PER_PAIR}",
        shown(&separation.reality_check_p),
        shown(&separation.pbo),
        tied_pairs(separation)
    )
}

/// The pairs whose order a setting turns, in a line.
fn turned(separation: &Separation) -> Option<String> {
    let pairs: Vec<String> = separation
        .turned
        .iter()
        .map(|pair| format!("{} and {} ({})", pair.above, pair.below, pair.settings.join(", ")))
        .collect();
    (!pairs.is_empty()).then(|| {
        format!(
            "not separable, for a setting of the declared family turns them: {}",
            pairs.join("; ")
        )
    })
}

fn tied_pairs(separation: &Separation) -> usize {
    let rows = separation.open.iter().enumerate();
    rows.map(|(own, row)| row.iter().skip(own + 1).filter(|is_open| **is_open).count())
        .sum()
}
