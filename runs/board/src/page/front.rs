//! What the page says in a few sentences; and its last section: by which rules.

use super::count;
use super::pictures::{is_set_apart, ranked};
use crate::days;
use crate::trials::LEAST_DECISIONS;
use crate::{Bounds, Leaderboard, LeaderboardRow, ModelHealth, PooledRanking, Track};
use ktd_study::Section;
use ktd_view::draw::{basis_points, counted, grouped, joined, plural, portion, scroll, short_hash};
use maud::html;

/// The page's title.
pub(super) fn title(board: &Leaderboard) -> String {
    if board.title.is_empty() {
        "Leaderboard".to_owned()
    } else {
        format!("Leaderboard: {}", board.title)
    }
}

/// What the rankings of a board say in a few sentences, the pooled one first, and what they are of.
#[must_use]
pub fn verdict(board: &Leaderboard) -> String {
    let board = &*days::unmasked_alone(board);
    let missing = (0 < board.unfinished).then(|| {
        let count = counted(board.unfinished, "episode");
        format!("This ranks no whole experiment: {count} of it did not end.")
    });
    let said = unfitted(&board.health).map_or_else(|| readings(board), |why| vec![why]);
    let said: Vec<String> = missing.into_iter().chain(said).collect();
    if said.is_empty() {
        return "There is no ranking: no finished run was shown.".to_owned();
    }
    said.join(" ")
}

/// What the rankings say, where a day could be fitted.
fn readings(board: &Leaderboard) -> Vec<String> {
    let pooled = board.pooled.first();
    let pooled = pooled.map(|pooled| [pooled_reading(pooled), pooled_scope(pooled)]);
    // A window in which nobody is ranked adds nothing to what is said of several.
    let headline = board.tracks.first().and_then(|track| {
        let ranked = ranked(track).count();
        (0 < ranked || pooled.is_none()).then(|| [reading(track, ranked), scope(track, ranked)])
    });
    let said = pooled.into_iter().chain(headline).flatten();
    said.filter(|said| !said.is_empty()).collect()
}

/// The last lines: one protocol for all, and which document the page shows.
pub(super) fn footer(board: &Leaderboard) -> String {
    let protocol = parts(board).map(|(name, hash)| format!("{name} {}", short_hash(hash)));
    format!(
        "One protocol for all: {}. Made by ktd {} from leaderboard.json, format {}, content {}.",
        protocol.join(", "),
        board.ktd,
        board.format,
        board.content_sha256
    )
}

/// What the ranking says, in two sentences at most.
fn reading(track: &Track, count: usize) -> String {
    let separation = track.separation.as_ref();
    let separated =
        separation.and_then(|separation| separated(count, &separation.open, separation.groups.len()));
    let first = ranked(track)
        .next()
        .map(|best| first(best, track.distinct_trials));
    let verdict: Vec<String> = separated.into_iter().chain(first).collect();
    verdict.join(" ")
}

/// Why nothing is known of selection, where no day could be fitted.
fn unfitted(health: &ModelHealth) -> Option<String> {
    let names = health.names.iter().max()?;
    (health.thin_days == health.dates.len()).then(|| {
        format!(
            "Nothing is known of selection: the factor model could be fitted on none of the {} (at most {}). Every return is \
             unattributed, and nobody is ranked.",
            counted(health.dates.len(), "day"),
            counted(*names, "name")
        )
    })
}

/// The same of several windows together.
fn pooled_reading(pooled: &PooledRanking) -> String {
    let separation = pooled.separation.as_ref();
    let separated = separation.and_then(|separation| {
        let agents = separation.agents.len();
        separated(agents, &separation.open, separation.groups.len())
    });
    let best = pooled.rows.iter().find(|row| row.rank == Some(1));
    let first = best.map(|best| {
        let value = best.selection_a_day.map_or_else(String::new, |value| {
            format!(" with {} a day", basis_points(value))
        });
        let mut details: Vec<String> = Vec::new();
        if let Some(Bounds { low, high }) = best.interval {
            details.push(format!(
                "95 % interval {} to {}",
                basis_points(low),
                basis_points(high)
            ));
        }
        details.extend(best.first_share.map(first_probability));
        format!(
            "First over {} is {}{value}{}.",
            counted(pooled.windows.len(), "window"),
            best.agent,
            in_brackets(&details)
        )
    });
    let verdict: Vec<String> = separated.into_iter().chain(first).collect();
    verdict.join(" ")
}

/// What was pooled: agents, windows, days, mask and mode.
fn pooled_scope(pooled: &PooledRanking) -> String {
    let ranked = pooled.rows.iter().filter(|row| row.rank.is_some()).count();
    let days = pooled.windows.iter().map(|window| window.days).sum();
    format!(
        "{} by what they selected a day, a mean over {} ({}, those that windows share counted once), {}/{}, {}. Window by window it stands below, \
         the longest first.",
        are_ranked(ranked),
        counted(pooled.windows.len(), "window"),
        counted(days, "trading day"),
        pooled.level_label(),
        pooled.numeric.label(),
        pooled.mode.label()
    )
}

/// How many agents are ranked.
fn are_ranked(count: usize) -> String {
    format!(
        "{} {} ranked",
        counted(count, "agent"),
        if count == 1 { "is" } else { "are" }
    )
}

/// What was ranked: agents, days, mask and mode.
fn scope(track: &Track, ranked: usize) -> String {
    let beside = match track.leaders.iter().filter(|leader| is_set_apart(leader)).count() {
        0 => String::new(),
        1 => ", beside 1 unranked control or reference".to_owned(),
        count => format!(", beside {count} unranked controls and references"),
    };
    let mark = track.window_mark.as_ref();
    format!(
        "{} by what they selected over the {} of window {}{}, {}/{}, {}{beside}{}.",
        are_ranked(ranked),
        counted(track.dates.len(), "trading day"),
        track.window,
        days::span(track).map_or_else(String::new, |(first, last)| format!(" ({first} to {last})")),
        track.level_label(),
        track.numeric.label(),
        track.mode.label(),
        mark.map_or_else(String::new, |mark| format!("; {mark}"))
    )
}

/// What a reader of separated pairs must know: no correction is made for their number.
const PER_PAIR: &str = "Each pair is judged by itself: of ten that do not differ, luck tells one apart.";

/// How many pairs the data separate.
fn separated(agents: usize, open: &[Vec<bool>], groups: usize) -> Option<String> {
    let pairs = agents * agents.saturating_sub(1) / 2;
    if pairs == 0 {
        return None;
    }
    let rows = open.iter().enumerate();
    let apart = rows.flat_map(|(row, open)| open.iter().skip(row + 1));
    let apart = apart.filter(|is_open| !**is_open).count();
    let found = match apart {
        0 => "These data cannot tell any two of them apart: read the order as chance.".to_owned(),
        all if all == pairs => "These data tell every two of them apart.".to_owned(),
        some => format!(
            "These data tell {some} of {pairs} pairs apart; the rest of the order may be chance ({}).",
            counted(groups, "group")
        ),
    };
    let is_any = 0 < apart;
    Some(if is_any {
        format!("{found} {PER_PAIR}")
    } else {
        found
    })
}

/// What is known of the first.
fn first(best: &LeaderboardRow, trials: usize) -> String {
    let Some(selection) = &best.selection else {
        return format!("First by selection is {}.", best.agent);
    };
    let value = basis_points(selection.a_day);
    if best.rank_interval.is_none() {
        return format!(
            "First by selection is {} with {value} a day, of which nothing is concluded: it traded on fewer than \
             {LEAST_DECISIONS:.0} days or made fewer than {LEAST_DECISIONS:.0} independent decisions.",
            best.agent
        );
    }
    let mut details: Vec<String> = Vec::new();
    if let Some(Bounds { low, high }) = selection.interval {
        details.push(format!(
            "95 % interval {} to {}",
            basis_points(low),
            basis_points(high)
        ));
    }
    if let Some(share) = best.first_share {
        details.push(first_probability(share));
    }
    let details = in_brackets(&details);
    let verdict = match selection.null_band {
        Some(Bounds { high, .. }) if high < selection.a_day => {
            " That is above what luck gives to 97.5 % of random portfolios"
        }
        Some(Bounds { low, .. }) if selection.a_day < low => {
            " That is below what luck gives to 97.5 % of random portfolios"
        }
        Some(_) => " That is inside the band of random portfolios: it may be luck",
        None => " No luck band is known for it",
    };
    let tried = match selection.dsr.value {
        Some(dsr) => format!(
            "; deflated by {trials} distinct {}, the probability that it is more than the luckiest of as many is {} (DSR)",
            plural(trials, "trial"),
            portion(dsr)
        ),
        None => String::new(),
    };
    format!(
        "First by selection is {} with {value} a day{details}.{verdict}{tried}.",
        best.agent
    )
}

fn first_probability(share: f64) -> String {
    format!("first with a probability of {}", portion(share))
}

fn in_brackets(details: &[String]) -> String {
    if details.is_empty() {
        String::new()
    } else {
        format!(" ({})", details.join(", "))
    }
}

/// Parts of the protocol with their hashes.
fn parts(board: &Leaderboard) -> [(&'static str, &str); 5] {
    let protocol = &board.protocol;
    [
        ("data", &protocol.data),
        ("rules", &protocol.rules),
        ("prompts", &protocol.prompts),
        ("tools", &protocol.tools),
        ("metrics", &protocol.metrics),
    ]
}

/// By which rules: hashes in full, the factor model's settings, how chance was drawn.
pub(super) fn protocol(board: &Leaderboard) -> Section {
    let fit = [("fit", board.model.fit_sha256.as_str())];
    let hashes = html! {
        table {
            @for (name, hash) in parts(board).into_iter().chain(fit) {
                tr { th.l scope="row" { (name) } td.l.hash { code { (hash) } } }
            }
        }
    };
    let draws = &board.resampling;
    let rules = html! {
        (scroll("hashes", &hashes))
        p {
            "Chance: " (grouped(count(draws.replicates))) " random turns of all series together and "
            (grouped(count(draws.null_portfolios))) " random portfolios an agent, from seed " (draws.seed) "."
        }
        p { "Styles kept: " (joined(&board.model.styles)) "." }
        details { summary { "Settings of the factor model" } pre { (board.model.configuration.trim()) } }
    };
    let lead = "Runs whose hashes differ in any of these parts are never ranked together.";
    Section::new("Protocol").at("protocol", lead).picture(rules)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_that_are_told_apart_stand_with_what_luck_alone_tells() {
        let said = |open: [[bool; 2]; 2]| {
            let open = open.map(Vec::from);
            separated(2, &open, 0).unwrap()
        };
        let apart = said([[false; 2]; 2]);
        assert!(
            apart.starts_with("These data tell every two of them apart. Each pair is judged"),
            "{apart}"
        );
        let none = said([[false, true], [true, false]]);
        assert!(none.ends_with("read the order as chance."), "{none}");
    }
}
