//! A board of made-up agents, the same for the same seed.

use ktd_agents::ForceLevel;
use ktd_board::{
    BOARD_FORMAT, BoardMetric, Bounds, ByBasis, CalibrationBin, CalibrationRecord, Cohort, Comparability,
    Contrast, ContrastMetric, ContrastSides, Contribution, Curves, CutoffGap, CutoffSide, DateBounds,
    FactorVif, Faults, Gap, GapKind, Leaderboard, LeaderboardRow, LimitOpenCounts, Linked, MarketRegime,
    ModelHealth, ModelRecord, MurphyParts, OrderCounts, Pair, Protocol, RankBounds, RejectedOrders,
    Resampling, SeedStat, Selection, SensitivityRow, Separation, SpaP, StyleHealth, Track, VifRound,
    WindowGap, WindowRegime,
};
use ktd_bundle::summary::Metric;
use ktd_masking::{Level, Mode, Numeric};
use std::collections::BTreeMap;

pub(crate) const STYLES: [&str; 9] = [
    "MOM_12_1", "RV_60", "ILLIQ", "REV_ON", "MOM_ID", "SKEW", "CORR_PV", "HIGH_52W", "CV_VOL",
];

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

/// Chance from a seed: SplitMix64.
pub(crate) struct Chance(pub(crate) u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// From 0 to 1.
    fn share(&mut self) -> f64 {
        f64::from(u32::try_from(self.next() >> 32).unwrap()) / f64::from(u32::MAX)
    }

    /// About 0, with about this standard deviation.
    fn around(&mut self, deviation: f64) -> f64 {
        let sum: f64 = (0..12).map(|_| self.share()).sum();
        (sum - 6.0) * deviation
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }

    fn hash(&mut self) -> String {
        {
            let words: Vec<String> = (0..4).map(|_| format!("{:016x}", self.next())).collect();
            words.concat()
        }
    }
}

pub(crate) fn metric(value: f64) -> Metric {
    Metric {
        value: Some(value),
        reason: None,
    }
}

pub(crate) fn missing(reason: &str) -> Metric {
    Metric {
        value: None,
        reason: Some(reason.to_owned()),
    }
}

/// Weekdays from 2023 on, 28 of each month at most.
pub(crate) fn dates(days: usize) -> Vec<String> {
    let all = (2023..2035)
        .flat_map(|year| (1..=12).flat_map(move |month| (1..=28).map(move |day| (year, month, day))));
    all.filter(|(_, _, day)| day % 7 < 5)
        .take(days)
        .map(|(year, month, day)| format!("{year}-{month:02}-{day:02}"))
        .collect()
}

/// A board of a headline of `days` days and so many tracks and agents.
pub(crate) fn board(agents: usize, days: usize, tracks: usize, seed: u64) -> Leaderboard {
    let mut chance = Chance(seed);
    let levels = [Level::Blinded, Level::Bright, Level::StockBlind, Level::DateBlind];
    let modes = [Mode::OpenResearch, Mode::FixedCandidate, Mode::MemoryOnly];
    let tracks: Vec<Track> = (0..tracks)
        .map(|place| {
            let window = if place == 0 {
                "long".to_owned()
            } else {
                format!("W{place}")
            };
            track(
                &mut chance,
                (&window, levels[place % 4], modes[place % 3]),
                agents,
                days,
            )
        })
        .collect();
    let names: Vec<String> = tracks.first().map_or_else(Vec::new, ranked_names);
    Leaderboard {
        unfinished: 0,
        names_closed_windows: false,
        format: BOARD_FORMAT,
        content_sha256: "c0".repeat(32),
        title: "headline".to_owned(),
        ktd: "0.1.0".to_owned(),
        protocol: Protocol {
            data: chance.hash(),
            rules: chance.hash(),
            prompts: chance.hash(),
            tools: chance.hash(),
            metrics: chance.hash(),
        },
        model: model(&mut chance),
        resampling: Resampling {
            replicates: 2000,
            seed: 1,
            null_portfolios: 500,
        },
        pooled: Vec::new(),
        cutoff_gaps: cutoff_gaps(&mut chance, &names),
        contrasts: contrasts(&mut chance, &names),
        health: health(&mut chance, days),
        sensitivity: sensitivity(&mut chance, names.len()),
        tracks,
        notes: vec!["windows W1 and W2 share 22 days: they are not independent".to_owned()],
    }
}

fn ranked_names(track: &Track) -> Vec<String> {
    let ranked = track.leaders.iter().filter(|leader| leader.alpha_rank.is_some());
    ranked.map(|leader| leader.agent.clone()).collect()
}

fn model(chance: &mut Chance) -> ModelRecord {
    let mut names: Vec<&str> = STYLES.to_vec();
    names.insert(3, "MAX_20");
    let step = |names: &[&str], dropped: Option<&str>| VifRound {
        vif: names
            .iter()
            .enumerate()
            .map(|(place, name)| FactorVif {
                factor: (*name).to_owned(),
                vif: Some(1.2 + f64::from(u32::try_from(place).unwrap()) * 0.4),
            })
            .collect(),
        dropped: dropped.map(str::to_owned),
    };
    ModelRecord {
        configuration: "weight = sqrt_amount 60 20\nwinsor = mad 3\ncenter = equal\nvif_threshold = 5.0\n"
            .to_owned(),
        fit_sha256: chance.hash(),
        styles: STYLES.map(str::to_owned).to_vec(),
        calibration: Some(DateBounds {
            first: "2022-01-04".to_owned(),
            last: "2022-12-30".to_owned(),
        }),
        vif_path: vec![step(&names, Some("MAX_20")), step(&STYLES, None)],
        vif_threshold: 5.0,
    }
}

fn track(
    chance: &mut Chance,
    (window, level, mode): (&str, Level, Mode),
    agents: usize,
    days: usize,
) -> Track {
    let dates = dates(days);
    let benchmark = walk(chance, days, 0.0001, 0.009);
    let mut leaders: Vec<LeaderboardRow> = (0..agents)
        .map(|place| {
            let name = AGENTS
                .get(place)
                .map_or_else(|| format!("agent-{place}"), |name| (*name).to_owned());
            let cohort = if matches!(name.as_str(), "momentum" | "random" | "mean-reversion") {
                Cohort::Builtin
            } else {
                Cohort::Model
            };
            leader(chance, &name, cohort, days)
        })
        .collect();
    leaders.sort_by(|a, b| selection_of(b).total_cmp(&selection_of(a)));
    let mut by_return: Vec<usize> = (0..leaders.len()).collect();
    by_return.sort_by(|a, b| total_of(&leaders[*b]).total_cmp(&total_of(&leaders[*a])));
    for (place, leader) in leaders.iter_mut().enumerate() {
        let return_rank = by_return.iter().position(|other| *other == place).unwrap() + 1;
        leader.alpha_rank = Some(place + 1);
        leader.return_rank = Some(return_rank);
        leader.delta_rank = Some(i64::try_from(return_rank).unwrap() - i64::try_from(place + 1).unwrap());
        let spread = chance.below(5);
        leader.rank_interval = Some(RankBounds {
            low: (place + 1).saturating_sub(spread).max(1),
            high: (place + 1 + spread).min(agents),
        });
        leader.first_share = Some(if place == 0 {
            0.46
        } else {
            0.4 / f64::from(u32::try_from((place + 1) * (place + 1)).unwrap())
        });
    }
    let separation = (1 < agents).then(|| separation(&leaders));
    leaders.push(control(chance, days));
    leaders.extend(references(chance, &benchmark, days));
    Track {
        window_mark: None,
        window: window.to_owned(),
        level,
        instruction: None,
        numeric: if level == Level::Bright {
            Numeric::Exact
        } else {
            Numeric::Rescaled
        },
        mode,
        dates,
        benchmark_name: "members' total return".to_owned(),
        price_index_name: Some("price index 000300.SH".to_owned()),
        price_index_return: metric(benchmark.last().copied().unwrap_or(1.0) - 1.01),
        price_index: benchmark.clone(),
        regime: Some(WindowRegime {
            regime: MarketRegime::Bull,
            total_return: 0.12,
            max_drawdown: 0.03,
        }),
        benchmark_return: metric(benchmark.last().copied().unwrap_or(1.0) - 1.0),
        benchmark,
        trials: 75,
        distinct_trials: 9,
        leaders,
        separation,
        notes: vec![
            "glm-6 lost more than 1 % of its steps to the infrastructure: its row is incomplete".to_owned(),
        ],
    }
}

fn selection_of(leader: &LeaderboardRow) -> f64 {
    leader.selection.as_ref().map_or(0.0, |selection| selection.a_day)
}

fn total_of(leader: &LeaderboardRow) -> f64 {
    leader.metrics[&BoardMetric::TotalReturn].median.value.unwrap()
}

fn walk(chance: &mut Chance, days: usize, drift: f64, deviation: f64) -> Vec<f64> {
    let mut value = 1.0;
    (0..days)
        .map(|_| {
            value *= 1.0 + drift + chance.around(deviation);
            value
        })
        .collect()
}

fn stat(chance: &mut Chance, value: f64, spread: f64) -> SeedStat {
    let values: Vec<f64> = (0..5).map(|_| value + chance.around(spread)).collect();
    SeedStat {
        median: metric(value),
        quartiles: Some(Bounds {
            low: value - spread,
            high: value + spread,
        }),
        values,
    }
}

fn metrics(chance: &mut Chance, linked: &Linked, cohort: Cohort) -> BTreeMap<BoardMetric, SeedStat> {
    let mut metrics: BTreeMap<BoardMetric, SeedStat> = [
        (BoardMetric::TotalReturn, linked.portfolio, 0.02),
        (BoardMetric::ExcessReturn, linked.portfolio - 0.03, 0.02),
        (BoardMetric::SharpeRatio, linked.portfolio * 4.0, 0.2),
        (BoardMetric::MaxDrawdown, 0.08 + chance.share() * 0.2, 0.01),
        (BoardMetric::InformationRatio, linked.portfolio * 2.0, 0.2),
        (BoardMetric::Turnover, 2.0 + chance.share() * 30.0, 1.0),
        (BoardMetric::Hhi, 0.04 + chance.share() * 0.1, 0.01),
        (BoardMetric::CashRatio, chance.share() * 0.3, 0.01),
        (BoardMetric::Abstention, chance.share() * 0.2, 0.01),
        (BoardMetric::ParseFailure, chance.share() * 0.03, 0.001),
    ]
    .into_iter()
    .map(|(key, value, spread)| (key, stat(chance, value, spread)))
    .collect();
    let ece = if cohort == Cohort::Builtin {
        missing("no order states a confidence")
    } else {
        metric(0.05 + chance.share() * 0.2)
    };
    metrics.insert(
        BoardMetric::Ece,
        SeedStat {
            median: ece,
            quartiles: None,
            values: Vec::new(),
        },
    );
    metrics
}

fn leader(chance: &mut Chance, name: &str, cohort: Cohort, days: usize) -> LeaderboardRow {
    let curves = curves(chance, days);
    let linked = linked(chance, curves.nav.last().copied().unwrap_or(1.0) - 1.0);
    let selection = linked.selection.unwrap();
    let metrics = metrics(chance, &linked, cohort);
    let pre = contribution(linked);
    let post = contribution(linked_again(chance, &pre.carino));
    LeaderboardRow {
        agent: name.to_owned(),
        cohort,
        force: Some(force(cohort)),
        seeds: vec![1, 2, 3, 4, 5],
        served_models: (cohort == Cohort::Model)
            .then(|| format!("{name}-2026-11"))
            .into_iter()
            .collect(),
        faults: faults(chance, cohort),
        orders: Some(orders(chance)),
        comparability: Some(comparability(name)),
        cutoff: (cohort == Cohort::Model).then(|| "2025-01-31".to_owned()),
        metrics,
        return_rank: None,
        alpha_rank: None,
        delta_rank: None,
        rank_interval: None,
        rank_interval_default: None,
        unranked_reason: None,
        first_share: None,
        attribution: Some(ByBasis {
            pre: pre.clone(),
            post,
            two: pre,
        }),
        unattributed_reason: None,
        selection: Some(selected(chance, selection)),
        exposures: (0..STYLES.len()).map(|_| chance.around(0.5)).collect(),
        daily_exposures: (0..STYLES.len())
            .map(|_| drift(chance, days).into_iter().map(Some).collect())
            .collect(),
        curves: Some(curves),
        reliability: (cohort == Cohort::Model).then(|| reliability(chance)),
        memory_gap: (cohort == Cohort::Model).then(|| Gap {
            kind: GapKind::Memory,
            total_return: chance.around(0.05),
            selection: Some(chance.around(0.03)),
        }),
        mask: None,
        size_cost: None,
        boxed: None,
        signer: None,
    }
}

fn force(cohort: Cohort) -> ForceLevel {
    if cohort == Cohort::Builtin {
        ForceLevel::Named
    } else {
        ForceLevel::Auto
    }
}

fn faults(chance: &mut Chance, cohort: Cohort) -> Faults {
    let paid = chance.share() * 40.0;
    Faults {
        coverage: Some(1.0 - chance.share() * 0.02),
        model: chance.below(30),
        infrastructure: chance.below(9),
        fallbacks: chance.below(6),
        holds: chance.below(60),
        early_submissions: 0,
        paid_usd: (cohort == Cohort::Model).then_some(paid),
        at_most_usd: (cohort == Cohort::Model).then_some(paid * 1.1),
    }
}

fn comparability(name: &str) -> Comparability {
    let one = |value: &str| vec![value.to_owned()];
    Comparability {
        thinking: one("think-then-force"),
        temperature: vec!["0.7".to_owned(), "not sent".to_owned()],
        max_output_tokens: one("16384"),
        max_tool_calls: one("20"),
        schema_retries: one("3"),
        served_models: vec![format!("{name}-2026-10"), format!("{name}-2026-11")],
        force: one("F1"),
        tokens_per_step: Some(21_500),
        paid_usd_per_step: Some(0.0123),
        mixed: one("served_models"),
    }
}

fn orders(chance: &mut Chance) -> OrderCounts {
    let rejected = ["lot", "max_single_weight", "limit_up", "cash"].map(|code| RejectedOrders {
        code: code.to_owned(),
        orders: chance.below(9),
        share: Some(chance.share() * 0.1),
        fed_back: chance.below(4),
    });
    OrderCounts {
        submitted: 400,
        filled: 350,
        rejected: rejected.to_vec(),
        limit_opens: LimitOpenCounts {
            left: 3,
            sealed: 2,
            beyond: 0,
        },
    }
}

fn drift(chance: &mut Chance, days: usize) -> Vec<f64> {
    let mut value = chance.around(0.4);
    (0..days)
        .map(|_| {
            value = value * 0.98 + chance.around(0.09);
            value
        })
        .collect()
}

fn curves(chance: &mut Chance, days: usize) -> Curves {
    let tilt = chance.around(0.0002);
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

fn linked(chance: &mut Chance, whole: f64) -> Linked {
    let styles: Vec<f64> = (0..STYLES.len()).map(|_| chance.around(0.008)).collect();
    let (common, execution, slip, cost) = (
        chance.around(0.06),
        chance.around(0.006),
        -chance.share() * 0.01,
        -chance.share() * 0.03,
    );
    let style: f64 = styles.iter().sum();
    let unattributed = chance.around(0.002);
    Linked {
        common: Some(common),
        market_timing: Some(common / 3.0),
        style: Some(style),
        style_timing: Some(style / 4.0),
        styles,
        selection: Some(whole - common - style - execution - slip - cost - unattributed),
        execution,
        slip,
        cost,
        corporate: 0.0,
        unattributed,
        portfolio: whole,
        gauge: 3.1e-16,
        selection_fitted: Some(0.0),
        selection_sector: Some(0.0),
        split_standard_error: None,
    }
}

fn linked_again(chance: &mut Chance, linked: &Linked) -> Linked {
    let moved = chance.around(0.01);
    Linked {
        execution: linked.execution - moved,
        selection: linked.selection.map(|selection| selection + moved),
        ..linked.clone()
    }
}

fn contribution(linked: Linked) -> Contribution {
    Contribution {
        pnl: linked.clone(),
        sum: linked.clone(),
        carino: linked,
        daily_gauge: 2.8e-16,
    }
}

/// Days over which the selections of these rows are spread.
const SELECTED_DAYS: f64 = 240.0;

fn selected(chance: &mut Chance, value: f64) -> Selection {
    let (half, middle) = (0.06 + chance.share() * 0.08, chance.around(0.01));
    let bounds = |low: f64, high: f64| {
        Some(Bounds {
            low: low / SELECTED_DAYS,
            high: high / SELECTED_DAYS,
        })
    };
    Selection {
        a_day: value / SELECTED_DAYS,
        interval: bounds(value - half, value + half),
        independent_decisions: 44.0,
        newey_west_t: metric(value / half * 1.96),
        null_band: bounds(middle - 0.07, middle + 0.07),
        null_mean: Some(middle / SELECTED_DAYS),
        null_percentile: Some((0.5 + (value - middle) * 6.0).clamp(0.0, 1.0)),
        psr: metric(0.8),
        dsr: metric((0.4 + value * 2.0).clamp(0.0, 1.0)),
    }
}

fn reliability(chance: &mut Chance) -> CalibrationRecord {
    let bins: Vec<CalibrationBin> = (0..10_u32)
        .map(|place| {
            let orders = if place < 4 { 0 } else { chance.below(220) };
            let confidence = (f64::from(place) + 0.5) / 10.0;
            let has = 0 < orders;
            CalibrationBin {
                orders,
                confidence: has.then_some(confidence),
                accuracy: has.then(|| (0.5 + (confidence - 0.5) * 0.3 + chance.around(0.04)).clamp(0.0, 1.0)),
            }
        })
        .collect();
    CalibrationRecord {
        ece: metric(0.13),
        ece_interval: Some(Bounds {
            low: 0.09,
            high: 0.18,
        }),
        orders: bins.iter().map(|bin| bin.orders).sum(),
        bins,
        brier: metric(0.258),
        murphy: Some(MurphyParts {
            reliability: 0.021,
            resolution: 0.004,
            uncertainty: 0.241,
        }),
    }
}

fn separation(leaders: &[LeaderboardRow]) -> Separation {
    let count = leaders.len();
    let win = |own: usize, other: usize| {
        let ahead = selection_of(&leaders[own]) - selection_of(&leaders[other]);
        (0.5 + ahead * 5.0).clamp(0.0, 1.0)
    };
    let groups: Vec<Vec<usize>> = (0..count)
        .map(|first| {
            (first..count)
                .take_while(|other| win(first, *other) < 0.95)
                .collect::<Vec<usize>>()
        })
        .collect();
    let groups = groups
        .iter()
        .enumerate()
        .filter(|(place, group)| *place == 0 || group.last() != groups[place - 1].last());
    Separation {
        agents: leaders.iter().map(|leader| leader.agent.clone()).collect(),
        win_share: (0..count)
            .map(|own| (0..count).map(|other| win(own, other)).collect())
            .collect(),
        open: (0..count)
            .map(|own| {
                (0..count)
                    .map(|other| own != other && 0.05 < win(own, other) && win(own, other) < 0.95)
                    .collect()
            })
            .collect(),
        settings: vec!["no clip".to_owned()],
        turned: Vec::new(),
        groups: groups.map(|(_, group)| group.clone()).collect(),
        pbo: metric(0.41),
        reality_check_p: metric(0.22),
        spa_p: Some(SpaP {
            lower: 0.18,
            consistent: 0.21,
            upper: 0.25,
        }),
    }
}

fn control(chance: &mut Chance, days: usize) -> LeaderboardRow {
    let oracle = leader(chance, "oracle", Cohort::Control, days);
    let mut selection = oracle.selection.clone().unwrap();
    selection.a_day = 0.039;
    selection.interval = Some(Bounds {
        low: 0.034,
        high: 0.042,
    });
    selection.null_percentile = Some(1.0);
    LeaderboardRow {
        selection: Some(selection),
        reliability: None,
        memory_gap: None,
        mask: None,
        ..oracle
    }
}

fn references(chance: &mut Chance, benchmark: &[f64], days: usize) -> [LeaderboardRow; 2] {
    let members = leader(chance, "buy-and-hold", Cohort::Reference, days);
    let mut own = members.metrics.clone();
    own.retain(|name, _| {
        [
            BoardMetric::TotalReturn,
            BoardMetric::ExcessReturn,
            BoardMetric::SharpeRatio,
            BoardMetric::MaxDrawdown,
            BoardMetric::InformationRatio,
        ]
        .contains(name)
    });
    let members = LeaderboardRow {
        metrics: own.clone(),
        seeds: Vec::new(),
        served_models: Vec::new(),
        orders: None,
        comparability: None,
        cutoff: None,
        force: None,
        faults: Faults::default(),
        selection: None,
        reliability: None,
        memory_gap: None,
        mask: None,
        ..members
    };
    let mut ratio = own.clone();
    for name in [BoardMetric::ExcessReturn, BoardMetric::InformationRatio] {
        let none = SeedStat {
            median: missing("it is the benchmark"),
            quartiles: None,
            values: Vec::new(),
        };
        ratio.insert(name, none);
    }
    let empty = Vec::new;
    let index = LeaderboardRow {
        agent: "price index 000300.SH".to_owned(),
        metrics: ratio,
        attribution: None,
        unattributed_reason: Some("an index has no holdings to attribute".to_owned()),
        exposures: empty(),
        daily_exposures: Vec::new(),
        curves: Some(Curves {
            nav: benchmark.to_vec(),
            drawdown: vec![0.0; days],
            common: empty(),
            style: empty(),
            selection: empty(),
            other: empty(),
        }),
        ..members.clone()
    };
    [index, members]
}

fn cutoff_gaps(chance: &mut Chance, names: &[String]) -> Vec<CutoffGap> {
    let of_agent = |agent: &String| {
        [CutoffSide::Before, CutoffSide::Across, CutoffSide::After].map(|side| {
            let gap = Gap {
                kind: GapKind::Memory,
                total_return: chance.around(0.05),
                selection: Some(chance.around(0.03)),
            };
            CutoffGap {
                agent: agent.clone(),
                cutoff: "2025-01-31".to_owned(),
                mode: Mode::OpenResearch,
                numeric: Numeric::Rescaled,
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

fn contrasts(chance: &mut Chance, names: &[String]) -> Vec<Contrast> {
    let agents = std::iter::once("all models".to_owned()).chain(names.iter().cloned());
    let agents: Vec<String> = agents.collect();
    let all = [ContrastMetric::Selection, ContrastMetric::TotalReturn]
        .into_iter()
        .flat_map(|metric| agents.iter().map(move |agent| (metric, agent)));
    all.enumerate()
        .map(|(place, (metric, agent))| {
            let windows = if place % 3 == 0 { 10 } else { 5 };
            let shift = chance.around(0.02) + 0.02;
            let pairs = (1..=windows).map(|window| {
                let blinded = chance.around(0.04);
                Pair {
                    window: format!("W{window}"),
                    bright: blinded + shift + chance.around(0.01),
                    blinded,
                }
            });
            Contrast {
                agent: agent.clone(),
                mode: Mode::OpenResearch,
                sides: ContrastSides::BrightBlinded,
                first_numeric: Numeric::Rescaled,
                numeric: Numeric::Rescaled,
                kind: GapKind::Memory,
                metric,
                pairs: pairs.collect(),
                p: Some(0.0137),
                is_exact: true,
                holm_p: Some(0.11),
                least_p: if windows == 10 { 2.0 / 1024.0 } else { 0.0625 },
                reading: if windows == 10 {
                    "bright is higher: memory"
                } else {
                    "underpowered: 5 pairs cannot reach p < 0.05"
                }
                .to_owned(),
                shift: Some(shift),
                rank_biserial: Some(0.71),
            }
        })
        .collect()
}

fn health(chance: &mut Chance, days: usize) -> ModelHealth {
    let factor = |name: &str, chance: &mut Chance| StyleHealth {
        name: name.to_owned(),
        mean_return: chance.around(0.0004),
        newey_west_t: Some(chance.around(1.2)),
        mean_abs_t: 1.0 + chance.share() * 3.0,
        significant_share: 0.1 + chance.share() * 0.6,
        dropped_days: 0,
    };
    ModelHealth {
        dates: dates(days),
        r_squared: (0..days).map(|_| 0.12 + chance.share() * 0.3).collect(),
        names: (0..days).map(|_| 278 + chance.below(20)).collect(),
        imputed: (0..days).map(|_| chance.below(40)).collect(),
        thin_days: 0,
        factors: std::iter::once("COMMON")
            .chain(STYLES)
            .map(|name| factor(name, chance))
            .collect(),
    }
}

fn sensitivity(chance: &mut Chance, agents: usize) -> Vec<SensitivityRow> {
    let settings = [
        "basis post",
        "basis two",
        "z-score centre: regression weights",
        "weights: equal",
        "weights: amount",
        "weights: inverse residual variance",
        "winsor: 3 sigma",
        "winsor: percentiles 1 and 99",
        "winsor: none",
        "ILLIQ without logarithm",
    ];
    settings
        .into_iter()
        .map(|setting| {
            let is_centre = setting.starts_with("z-score");
            SensitivityRow {
                setting: setting.to_owned(),
                kendall_tau: metric(if is_centre {
                    1.0
                } else {
                    1.0 - chance.share() * 0.4
                }),
                selection: (0..agents).map(|_| chance.around(0.06)).collect(),
                largest_daily_change: if is_centre { 3e-17 } else { chance.share() * 0.002 },
            }
        })
        .collect()
}
