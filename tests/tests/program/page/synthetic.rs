//! A board of made-up agents, the same for the same seed: rows of a real board under other names, with figures drawn about
//! theirs and series as long as is asked for.

use crate::leaderboard;
use ktd_agents::ForceLevel;
use ktd_board::{
    BoardMetric, Bounds, CalibrationBin, CalibrationRecord, Cohort, Contrast, ContrastMetric, Curves,
    CutoffGap, CutoffSide, FactorVif, Gap, GapKind, Leaderboard, LeaderboardRow, MarketRegime, ModelHealth,
    ModelRecord, MurphyParts, Pair, RankBounds, RejectedOrders, SeedStat, SensitivityRow, Separation, SpaP,
    Track, WindowGap, WindowRegime,
};
use ktd_bundle::summary::Metric;
use ktd_masking::{Level, Mode, Numeric};
use ktd_stats::SplitMix64;
use std::sync::OnceLock;

const AGENTS: [&str; 12] = [
    "momentum",
    "gpt-5.2-thinking-high",
    "claude-opus-5",
    "deepseek-v4",
    "kimi-k3-thinking",
    "random",
    "qwen4-max",
    "glm-6",
    "gemini-3.5-pro",
    "llama-5-405b-instruct-long-context",
    "mean-reversion",
    "\u{901a}\u{4e49}\u{5343}\u{95ee}-\u{9ed8}\u{8ba4}",
];

pub(crate) fn missing(reason: &str) -> Metric {
    Metric::missing(reason.to_owned())
}

/// The board of the experiment that all tests of `ktd leaderboard` read, made once for all pages.
fn real() -> &'static Leaderboard {
    static REAL: OnceLock<Leaderboard> = OnceLock::new();
    REAL.get_or_init(|| {
        let board = leaderboard::board(leaderboard::scene(), &["out"]);
        serde_json::from_value(board).unwrap()
    })
}

/// Weekdays from 2023 on, 28 of each month at most.
fn dates(days: usize) -> Vec<String> {
    let all = (2023..2035)
        .flat_map(|year| (1..=12).flat_map(move |month| (1..=28).map(move |day| (year, month, day))));
    all.filter(|(_, _, day)| day % 7 < 5)
        .take(days)
        .map(|(year, month, day)| format!("{year}-{month:02}-{day:02}"))
        .collect()
}

/// A board of a headline of `days` days and so many tracks and agents.
pub(crate) fn board(agents: usize, days: usize, tracks: usize, seed: u64) -> Leaderboard {
    let mut chance = SplitMix64::new(seed);
    let levels = [Level::Blinded, Level::Bright, Level::StockBlind, Level::DateBlind];
    let modes = [Mode::OpenResearch, Mode::FixedCandidate, Mode::MemoryOnly];
    let tracks: Vec<Track> = (0..tracks)
        .map(|place| Track {
            window: if place == 0 {
                "long".to_owned()
            } else {
                format!("W{place}")
            },
            level: levels[place % 4],
            mode: modes[place % 3],
            ..track(&mut chance, agents, days)
        })
        .collect();
    let ranked = tracks.iter().take(1).flat_map(|track| &track.leaders);
    let ranked = ranked.filter(|leader| leader.alpha_rank.is_some());
    let names: Vec<String> = ranked.map(|leader| leader.agent.clone()).collect();
    let settings = real().sensitivity.iter().map(|row| SensitivityRow {
        selection: names.iter().map(|_| chance.normal() * 3e-4).collect(),
        ..row.clone()
    });
    Leaderboard {
        sensitivity: settings.collect(),
        cutoff_gaps: cutoff_gaps(&mut chance, &names),
        contrasts: contrasts(&mut chance, &names),
        health: health(&mut chance, days),
        model: model(),
        pooled: Vec::new(),
        tracks,
        notes: vec!["windows W1 and W2 share 22 days: they are not independent".to_owned()],
        ..real().clone()
    }
}

/// The real model, before whose screen one more factor was dropped.
fn model() -> ModelRecord {
    let mut model = real().model.clone();
    let mut first = model.vif_path[0].clone();
    first.vif.push(FactorVif {
        factor: "MAX_20".to_owned(),
        vif: Some(7.2),
    });
    first.dropped = Some("MAX_20".to_owned());
    model.vif_path.insert(0, first);
    model
}

fn track(chance: &mut SplitMix64, agents: usize, days: usize) -> Track {
    let benchmark = walk(chance, days, 0.0001, 0.009);
    let end = benchmark.last().copied().unwrap_or(1.0);
    let mut leaders: Vec<LeaderboardRow> = (0..agents)
        .map(|place| {
            let name = AGENTS.get(place).map(|name| (*name).to_owned());
            leader(chance, &name.unwrap_or_else(|| format!("agent-{place}")), days)
        })
        .collect();
    rank(chance, &mut leaders);
    let separation = (1 < agents).then(|| separation(&leaders));
    for beside in ["oracle", "price index SH009999", "buy-and-hold"] {
        leaders.push(real_row(chance, beside, days));
    }
    Track {
        window_mark: None,
        dates: dates(days),
        price_index_return: Metric::of(Ok(end - 1.01)),
        price_index: benchmark.clone(),
        regime: Some(WindowRegime {
            regime: MarketRegime::Bull,
            total_return: 0.12,
            max_drawdown: 0.03,
        }),
        benchmark_return: Metric::of(Ok(end - 1.0)),
        benchmark,
        leaders,
        separation,
        notes: vec![
            "glm-6 lost more than 1 % of its steps to the infrastructure: its row is incomplete".to_owned(),
        ],
        ..real().tracks[0].clone()
    }
}

fn rank(chance: &mut SplitMix64, leaders: &mut [LeaderboardRow]) {
    leaders.sort_by(|a, b| selection_of(b).total_cmp(&selection_of(a)));
    let agents = leaders.len();
    let mut by_return: Vec<usize> = (0..agents).collect();
    by_return.sort_by(|a, b| total_of(&leaders[*b]).total_cmp(&total_of(&leaders[*a])));
    for (place, leader) in leaders.iter_mut().enumerate() {
        let rank = place + 1;
        let return_rank = by_return.iter().position(|other| *other == place).unwrap() + 1;
        leader.alpha_rank = Some(rank);
        leader.return_rank = Some(return_rank);
        leader.delta_rank = Some(i64::try_from(return_rank).unwrap() - i64::try_from(rank).unwrap());
        let spread = chance.below(5.0);
        leader.rank_interval = Some(RankBounds {
            low: rank.saturating_sub(spread).max(1),
            high: (rank + spread).min(agents),
        });
        leader.rank_interval_default = None;
        leader.first_share = Some(0.46 / f64::from(u32::try_from(rank * rank).unwrap()));
    }
}

fn selection_of(leader: &LeaderboardRow) -> f64 {
    leader.selection.as_ref().map_or(0.0, |selection| selection.a_day)
}

fn total_of(leader: &LeaderboardRow) -> f64 {
    leader.metrics[&BoardMetric::TotalReturn].median.value.unwrap()
}

fn walk(chance: &mut SplitMix64, days: usize, drift: f64, deviation: f64) -> Vec<f64> {
    let mut value = 1.0;
    (0..days)
        .map(|_| {
            value *= 1.0 + drift + chance.normal() * deviation;
            value
        })
        .collect()
}

/// A row of the real headline, with series as long as the window.
fn real_row(chance: &mut SplitMix64, agent: &str, days: usize) -> LeaderboardRow {
    let rows = &real().tracks[0].leaders;
    let mut row = rows.iter().find(|row| row.agent == agent).unwrap().clone();
    row.reliability = None;
    row.memory_gap = None;
    for series in &mut row.daily_exposures {
        *series = drift(chance, days).into_iter().map(Some).collect();
    }
    let has_parts = row.attribution.is_some();
    let mut drawn = curves(chance, days);
    if !has_parts {
        let parts = [
            &mut drawn.common,
            &mut drawn.style,
            &mut drawn.selection,
            &mut drawn.other,
        ];
        parts.into_iter().for_each(Vec::clear);
    }
    row.curves = Some(drawn);
    row
}

/// An agent that trades as `random` does, and by chance better or worse.
fn leader(chance: &mut SplitMix64, name: &str, days: usize) -> LeaderboardRow {
    let mut row = real_row(chance, "random", days);
    name.clone_into(&mut row.agent);
    row.seeds = vec![1, 2, 3, 4, 5];
    for exposure in &mut row.exposures {
        *exposure += chance.normal() * 0.5;
    }
    for stat in row.metrics.values_mut() {
        vary(chance, stat);
    }
    // The whole moves with what was selected, so that parts still add up to it.
    let moved = chance.normal() * 0.03;
    let bases = row.attribution.iter_mut();
    let bases = bases.flat_map(|bases| [&mut bases.pre, &mut bases.post, &mut bases.two]);
    for linked in bases.flat_map(|found| [&mut found.carino, &mut found.pnl, &mut found.sum]) {
        linked.selection = linked.selection.map(|selection| selection + moved);
        linked.portfolio += moved;
    }
    let selection = row.selection.as_mut().unwrap();
    selection.a_day += moved / 43.0;
    let half = (0.06 + chance.uniform() * 0.08) / 43.0;
    selection.interval = Some(Bounds {
        low: selection.a_day - half,
        high: selection.a_day + half,
    });
    let rejected = ["lot", "max_single_weight", "limit_up", "cash"].map(|code| RejectedOrders {
        code: code.to_owned(),
        orders: chance.below(9.0),
        share: Some(chance.uniform() * 0.1),
        fed_back: chance.below(4.0),
    });
    row.orders.as_mut().unwrap().rejected = rejected.to_vec();
    if !matches!(name, "momentum" | "random" | "mean-reversion") {
        into_model(chance, &mut row);
    }
    row
}

/// A figure of five seeds about the real one; what has no value keeps its reason.
fn vary(chance: &mut SplitMix64, stat: &mut SeedStat) {
    let Some(found) = stat.median.value else {
        return;
    };
    let value = found * (1.0 + chance.normal() * 0.3);
    let spread = value.abs() * 0.1;
    *stat = SeedStat {
        median: Metric::of(Ok(value)),
        quartiles: Some(Bounds {
            low: value - spread,
            high: value + spread,
        }),
        values: (0..5).map(|_| value + chance.normal() * spread).collect(),
    };
}

/// Gives a row what language models alone have.
fn into_model(chance: &mut SplitMix64, row: &mut LeaderboardRow) {
    let served = |month: u32| format!("{}-2026-{month}", row.agent);
    let (before, after) = (served(10), served(11));
    let paid = chance.uniform() * 40.0;
    row.cohort = Cohort::Model;
    row.force = Some(ForceLevel::Auto);
    row.served_models = vec![after.clone()];
    row.cutoff = Some("2025-01-31".to_owned());
    row.faults.paid_usd = Some(paid);
    row.faults.at_most_usd = Some(paid * 1.1);
    row.reliability = Some(reliability(chance));
    row.memory_gap = Some(gap(chance));
    let asked = row.comparability.as_mut().unwrap();
    asked.served_models = vec![before, after];
    asked.mixed = vec!["served_models".to_owned()];
}

fn gap(chance: &mut SplitMix64) -> Gap {
    Gap {
        kind: GapKind::Memory,
        total_return: chance.normal() * 0.05,
        selection: Some(chance.normal() * 0.03),
    }
}

fn drift(chance: &mut SplitMix64, days: usize) -> Vec<f64> {
    let mut value = chance.normal() * 0.4;
    (0..days)
        .map(|_| {
            value = value * 0.98 + chance.normal() * 0.09;
            value
        })
        .collect()
}

fn curves(chance: &mut SplitMix64, days: usize) -> Curves {
    let tilt = chance.normal() * 0.0002;
    let mut grown = |deviation: f64, drift: f64| -> Vec<f64> {
        walk(chance, days, drift, deviation)
            .into_iter()
            .map(|value| value - 1.0)
            .collect()
    };
    let (common, style) = (grown(0.008, 0.0001), grown(0.003, 0.0));
    let (selection, other) = (grown(0.004, tilt), grown(0.0003, -0.0001));
    let nav: Vec<f64> = (0..days)
        .map(|day| 1.0 + common[day] + style[day] + selection[day] + other[day])
        .collect();
    let mut highest = 1.0_f64;
    let drawdown = nav.iter().map(|value| {
        highest = highest.max(*value);
        1.0 - value / highest
    });
    Curves {
        drawdown: drawdown.collect(),
        nav,
        common,
        style,
        selection,
        other,
    }
}

fn reliability(chance: &mut SplitMix64) -> CalibrationRecord {
    let bins: Vec<CalibrationBin> = (0..10_u32)
        .map(|place| {
            let orders = if place < 4 { 0 } else { chance.below(220.0) };
            let confidence = (f64::from(place) + 0.5) / 10.0;
            let came_true = 0.5 + (confidence - 0.5) * 0.3 + chance.normal() * 0.04;
            let has = 0 < orders;
            CalibrationBin {
                orders,
                confidence: has.then_some(confidence),
                accuracy: has.then_some(came_true.clamp(0.0, 1.0)),
            }
        })
        .collect();
    CalibrationRecord {
        ece: Metric::of(Ok(0.13)),
        ece_interval: Some(Bounds {
            low: 0.09,
            high: 0.18,
        }),
        orders: bins.iter().map(|bin| bin.orders).sum(),
        bins,
        brier: Metric::of(Ok(0.258)),
        murphy: Some(MurphyParts {
            reliability: 0.021,
            resolution: 0.004,
            uncertainty: 0.241,
        }),
    }
}

/// Neighbours are not told apart: groups of two that overlap.
fn separation(leaders: &[LeaderboardRow]) -> Separation {
    let count = leaders.len();
    let win = |own: usize, other: usize| {
        let ahead = selection_of(&leaders[own]) - selection_of(&leaders[other]);
        (0.5 + ahead * 500.0).clamp(0.0, 1.0)
    };
    Separation {
        agents: leaders.iter().map(|leader| leader.agent.clone()).collect(),
        win_share: (0..count)
            .map(|own| (0..count).map(|other| win(own, other)).collect())
            .collect(),
        open: (0..count)
            .map(|own| (0..count).map(|other| own.abs_diff(other) == 1).collect())
            .collect(),
        settings: vec!["no clip".to_owned()],
        turned: Vec::new(),
        groups: (1..count).map(|second| vec![second - 1, second]).collect(),
        pbo: Metric::of(Ok(0.41)),
        reality_check_p: Metric::of(Ok(0.22)),
        spa_p: Some(SpaP {
            lower: 0.18,
            consistent: 0.21,
            upper: 0.25,
        }),
    }
}

fn cutoff_gaps(chance: &mut SplitMix64, names: &[String]) -> Vec<CutoffGap> {
    let of_agent = |agent: &String| {
        [CutoffSide::Before, CutoffSide::Across, CutoffSide::After].map(|side| {
            let gap = gap(chance);
            CutoffGap {
                agent: agent.clone(),
                cutoff: "2025-01-31".to_owned(),
                mode: Mode::OpenResearch,
                numeric: Numeric::Exact,
                kind: GapKind::Memory,
                side,
                windows: vec![WindowGap {
                    window: "W1".to_owned(),
                    regime: Some(MarketRegime::Bear),
                    gap: gap.clone(),
                }],
                mean: gap,
                total_return: None,
                selection: None,
                against_before: None,
            }
        })
    };
    names.iter().flat_map(of_agent).collect()
}

/// Contrasts of two figures, of all models and of each agent, over five windows or ten.
fn contrasts(chance: &mut SplitMix64, names: &[String]) -> Vec<Contrast> {
    let agents = std::iter::once("all models").chain(names.iter().map(String::as_str));
    let both = [ContrastMetric::Selection, ContrastMetric::TotalReturn];
    let all = both.into_iter().flat_map(|metric| {
        let agents = agents.clone();
        agents.map(move |agent| (metric, agent))
    });
    all.enumerate()
        .map(|(place, (metric, agent))| {
            let windows = if place % 3 == 0 { 10 } else { 5 };
            let shift = chance.normal() * 0.02 + 0.02;
            let pairs = (1..=windows).map(|window| {
                let blinded = chance.normal() * 0.04;
                Pair {
                    window: format!("W{window}"),
                    bright: blinded + shift + chance.normal() * 0.01,
                    blinded,
                }
            });
            Contrast {
                agent: agent.to_owned(),
                mode: Mode::OpenResearch,
                metric,
                pairs: pairs.collect(),
                p: Some(0.0137),
                holm_p: Some(0.11),
                shift: Some(shift),
                rank_biserial: Some(0.71),
                ..real().contrasts[0].clone()
            }
        })
        .collect()
}

fn health(chance: &mut SplitMix64, days: usize) -> ModelHealth {
    ModelHealth {
        dates: dates(days),
        r_squared: (0..days).map(|_| 0.12 + chance.uniform() * 0.3).collect(),
        names: (0..days).map(|_| 278 + chance.below(20.0)).collect(),
        imputed: (0..days).map(|_| chance.below(40.0)).collect(),
        thin_days: 0,
        ..real().health.clone()
    }
}
