//! Picture 1: the leaderboard, and how sure its ranks are.

use super::{Heading, Picture, View, is_set_apart, nothing, ranks};
use crate::days;
use crate::record::UNSPLIT;
use crate::sheet::{self, CellForm, METRICS};
use crate::{BoardMetric, Bounds, LeaderboardRow, Separation, Track};
use ktd_bundle::summary::Metric;
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, TableView, basis_points, change, counted, portion};
use maud::{Markup, html};

pub(super) const SECTION: Heading = Heading {
    id: "leaderboard",
    title: "Leaderboard",
    lead: "Ranked by selection: what was earned beyond the market and the styles. Medians over seeds; controls, references and agents \
           that held nothing stand below and have no rank.",
};

/// Heads of what says where an agent stands.
const STANDING: [&str; 4] = ["agent", "\u{3b1} rank", "95 %", "tie"];
/// Heads of what it selected.
const SKILL: [&str; 7] = [
    "selection a day",
    "95 % interval",
    "linked",
    "NW t",
    "decisions",
    "above luck",
    "DSR",
];
/// Heads of ranks beside the one by selection.
const RANKS: [&str; 2] = ["return rank", "\u{394} rank"];
/// Heads of what the mask took away, and what that is.
const MEMORY: [&str; 3] = ["gap, total", "gap, selection", "gap of"];
/// Heads of whether the mask was tried.
const MASK: [&str; 2] = ["mask", "certificate"];
/// Heads of how the run went.
const CONDUCT: [&str; 11] = [
    "force",
    "seeds",
    "coverage",
    "mistakes",
    "infra faults",
    "fallbacks",
    "holds",
    "early",
    "paid",
    "at most",
    "answered by",
];

pub(super) fn body(view: View<'_>) -> Picture {
    if view.track.leaders.is_empty() {
        return Err("Nobody is on this leaderboard.");
    }
    Ok(on_page(view.track))
}

/// The leaderboard of a track: what fits, how sure its ranks are, and all figures folded.
pub(crate) fn on_page(track: &Track) -> Markup {
    let classes = row_classes(track);
    let front = sheet::front::of_track(track, described(track));
    // Of a window that is not opened, names alone are left: they stand in the folded tables.
    let shows_figures = 2 < front.columns.len();
    let view = TableView {
        data: &front,
        bands: &[],
        row_classes: &classes,
    };
    html! {
        @if shows_figures {
            div.leaders { (view.html()) }
            (ranks::of_track(track))
        } @else {
            (nothing(&format!("{}. {}.", front.title, front.notes.join("; "))))
        }
        (folded(track, &classes))
    }
}

/// Classes of the rows: the first, and what stands apart below the ranked.
fn row_classes(track: &Track) -> Vec<Option<&'static str>> {
    let mut was_apart = true;
    let classes = track.leaders.iter().map(|leader| {
        let (is_apart, before) = (is_set_apart(leader), was_apart);
        was_apart = is_apart;
        match leader.alpha_rank {
            _ if is_apart && !before => Some("apart first"),
            _ if is_apart => Some("apart"),
            Some(1) => Some("best"),
            _ => None,
        }
    });
    classes.collect()
}

/// All figures of a track, table by table.
fn folded(track: &Track, classes: &[Option<&'static str>]) -> Markup {
    let view = TableView {
        data: &cells(track),
        bands: &[
            ("standing", STANDING.len()),
            ("skill", SKILL.len()),
            ("return", RANKS.len()),
            ("ten metrics", METRICS.len()),
            ("bright \u{2212} blinded", MEMORY.len()),
            ("is the mask certified?", MASK.len()),
            ("how the runs went", CONDUCT.len()),
        ],
        row_classes: classes,
    };
    let seeds = sheet::seeds::on_page(track).without_empty_columns();
    html! {
        details.numbers { summary { "All figures" } div.leaders { (view.html()) } }
        // Agent and number of seeds alone say nothing new.
        @if 2 < seeds.columns.len() { details.numbers { summary { "The ten metrics over seeds" } (seeds.html()) } }
        details.numbers {
            summary { "Comparability: how the runs were asked, and who answered" }
            (sheet::comparability::table(track).html())
        }
        details.numbers {
            summary { "Rejected orders by code" }
            (sheet::rejects::table(track).html())
        }
    }
}

fn cells(track: &Track) -> TableData {
    let columns = STANDING
        .iter()
        .map(|head| (*head, if *head == "agent" { Left } else { Right }))
        .chain(SKILL.iter().chain(&RANKS).map(|head| (*head, Right)))
        .chain(METRICS.iter().map(|(head, ..)| (*head, Right)))
        .chain(MEMORY.iter().map(|head| (*head, Right)))
        .chain(MASK.iter().map(|head| (*head, Left)))
        .chain(CONDUCT.iter().map(|head| (*head, Right)));
    let rows = track.leaders.iter();
    let mut table = TableData::new(described(track), columns)
        .with_rows(rows.map(|leader| row(leader, (track.separation.as_ref(), track.dates.len()))));
    table.notes.clone_from(&track.notes);
    table.notes.extend(signers(track));
    table.with_note(
        "Parse failures compare within one force level only. Mistakes are the model's, infrastructure faults are not, \
         and a hold was chosen: the three are never added up.",
    )
}

/// Whose key signed the runs of each row, where any were published.
fn signers(track: &Track) -> Option<String> {
    let rows = || {
        track
            .leaders
            .iter()
            .filter_map(|leader| Some((&leader.agent, leader.signer.as_ref()?)))
    };
    let is_signed = rows().any(|(_, signer)| signer.fingerprint.is_some());
    let rows = rows().map(|(agent, signer)| format!("{agent}: {signer}"));
    is_signed.then(|| format!("Who signed the runs: {}.", rows.collect::<Vec<_>>().join("; ")))
}

/// What a ranking is of, in words.
pub(crate) fn described(track: &Track) -> String {
    let span = days::span(track).map_or_else(String::new, |(first, last)| format!("{first} to {last}, "));
    let dates = format!(" ({span}{})", counted(track.dates.len(), "day"));
    let stated = |name: Option<&String>, total: &Metric| {
        let both = name.zip(total.value);
        both.map_or_else(String::new, |(name, total)| format!("; {name} {}", change(total)))
    };
    let benchmarks = [
        stated(Some(&track.benchmark_name), &track.benchmark_return),
        stated(track.price_index_name.as_ref(), &track.price_index_return),
    ]
    .concat();
    let market = track.regime.map_or_else(String::new, |found| {
        let (gained, fell) = (change(found.total_return), portion(found.max_drawdown));
        format!(
            "; a {} market (benchmark {gained}, largest fall {fell})",
            found.regime.label()
        )
    });
    let mark = track
        .window_mark
        .as_ref()
        .map_or_else(String::new, |mark| format!("; {mark}"));
    format!(
        "Window {}{dates}, {}/{}, {}{benchmarks}{market}{mark}",
        track.window,
        track.level_label(),
        track.numeric.label(),
        track.mode.label()
    )
}

fn row(leader: &LeaderboardRow, (separation, days): (Option<&Separation>, usize)) -> Vec<TableCell> {
    let mut row = standing(leader, separation).to_vec();
    row.extend(skill(leader, days));
    row.push(leader.return_rank.map_or(TableCell::Empty, TableCell::Count));
    row.push(leader.delta_rank.map_or(TableCell::Empty, TableCell::Signed));
    row.extend(METRICS.iter().map(|(_, key, form)| metric(leader, *key, *form)));
    let gap = leader.memory_gap.as_ref();
    row.push(TableCell::optional(
        gap.map(|gap| gap.total_return),
        TableCell::Change,
    ));
    row.push(TableCell::optional(
        gap.and_then(|gap| gap.selection),
        TableCell::Change,
    ));
    row.push(gap.map_or(TableCell::Empty, |gap| {
        TableCell::Text(gap.kind.label().to_owned())
    }));
    row.extend(mask(leader));
    row.extend(conduct(leader));
    row
}

fn mask(leader: &LeaderboardRow) -> [TableCell; 2] {
    let text = |text: Option<String>| text.map_or(TableCell::Empty, TableCell::Text);
    let mark = leader.mask.as_ref();
    [
        text(mark.map(|mark| mark.standing.label().to_owned())),
        text(mark.and_then(|mark| mark.by.as_ref()).map(ToString::to_string)),
    ]
}

fn standing(leader: &LeaderboardRow, separation: Option<&Separation>) -> [TableCell; 4] {
    let letters = separation.map_or_else(String::new, |separation| letters(&leader.agent, separation));
    let tag = format!("{} \u{b7} {}", leader.agent, leader.cohort.label());
    [
        TableCell::Text(tag),
        sheet::rank_cell(leader, leader.alpha_rank),
        leader.rank_interval.map_or(TableCell::Empty, |rank| {
            TableCell::Text(ranks::range(rank.low, rank.high))
        }),
        TableCell::Text(letters),
    ]
}

fn metric(leader: &LeaderboardRow, key: BoardMetric, form: CellForm) -> TableCell {
    leader.metrics.get(&key).map_or_else(
        || sheet::lacking(leader),
        |stat| sheet::metric_cell(&stat.median, form),
    )
}

fn skill(leader: &LeaderboardRow, days: usize) -> [TableCell; 7] {
    let Some(selection) = &leader.selection else {
        // References are attributed but not resampled.
        let value = leader.selection_a_day(days);
        let reason = leader
            .unattributed_reason
            .clone()
            .or_else(|| leader.attribution.as_ref().map(|_| UNSPLIT.to_owned()))
            .unwrap_or_else(|| "not attributed".to_owned());
        let value = value.map_or(TableCell::Missing(reason), in_points);
        return [
            value,
            TableCell::Empty,
            sheet::selection_cell(leader),
            TableCell::Empty,
            TableCell::Empty,
            TableCell::Empty,
            TableCell::Empty,
        ];
    };
    let interval = selection
        .interval
        .map_or(TableCell::Empty, |Bounds { low, high }| {
            TableCell::Text(format!("{} to {}", basis_points(low), basis_points(high)))
        });
    [
        in_points(selection.a_day),
        interval,
        sheet::selection_cell(leader),
        sheet::metric_cell(&selection.newey_west_t, TableCell::Ratio),
        TableCell::Ratio(selection.independent_decisions),
        selection
            .null_percentile
            .map_or(TableCell::Empty, |share| TableCell::Text(portion(share))),
        sheet::metric_cell(&selection.dsr, TableCell::Ratio),
    ]
}

fn in_points(a_day: f64) -> TableCell {
    TableCell::Text(basis_points(a_day))
}

fn conduct(leader: &LeaderboardRow) -> [TableCell; 11] {
    let faults = &leader.faults;
    if leader.seeds.is_empty() {
        return [const { TableCell::Empty }; 11];
    }
    [
        sheet::force(leader),
        TableCell::Count(leader.seeds.len()),
        TableCell::optional(faults.coverage, TableCell::Percent),
        TableCell::Count(faults.model),
        TableCell::Count(faults.infrastructure),
        TableCell::Count(faults.fallbacks),
        TableCell::Count(faults.holds),
        TableCell::Count(faults.early_submissions),
        TableCell::optional(faults.paid_usd, TableCell::Dollars),
        TableCell::optional(faults.at_most_usd, TableCell::Dollars),
        TableCell::Text(leader.served_models.join(", ")),
    ]
}

/// The letters of the groups that an agent belongs to.
pub(super) fn letters(agent: &str, separation: &Separation) -> String {
    let own = separation.agents.iter().position(|other| other == agent);
    let groups = separation.groups.iter().enumerate();
    let names = groups.filter(|(_, group)| own.is_some_and(|own| group.contains(&own)));
    let names: Vec<String> = names.map(|(place, _)| ranks::letter(place)).collect();
    // Two letters need a gap between the names of groups.
    names.join(if separation.groups.len() <= 26 { "" } else { " " })
}
