//! The metrics against scipy's, numpy's and scikit-learn's: the golden set `alphaeval`, from its own scores. A file that a
//! set lacks is passed over with a word.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    clippy::panic,
    reason = "a broken golden file fails the test, and a finished comparison is told"
)]

use flate2::read::GzDecoder;
use ktd_agents::object_in_text;
use ktd_alphas::{
    AdjustedBars, DayTable, LabelKind, MemberTable, NoiseLaw, PortfolioTerms, StabilityMode, Ties,
    composite_scores, daily_correlations, daily_z_scores, equal_weights, label_returns, ndcg, noise_stream,
    perturbed_bars, pool_diversity, portfolio_test, rank_stability, screen_proposals, weighted_combination,
};
use ktd_expressions::{
    FieldCells, FormulaEngine, FormulaPlan, FormulaPrecision, FormulaRole, NameRows, NoOtherNames,
    check_formula,
};
use ktd_formula_study::judge::read_scores;
use ktd_formula_study::mine::read_proposals;
use ktd_kit::Need;
use ktd_kit::golden::{golden_root, numbers};
use ktd_masking::Payload;
use ktd_stats::{line_fit, mann_whitney, welch_test};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read;

/// The portfolio as the golden set's program makes it.
const BY_CODE: PortfolioTerms = PortfolioTerms {
    share: 0.2,
    min_names: 10,
    ties: Ties::ByCode,
};

fn read(file: &str) -> Option<Vec<u8>> {
    let path = golden_root().join("alphaeval").join(file);
    if !Need::Golden("alphaeval").is_there() || !path.is_file() {
        println!("passed over: no {}", path.display());
        return None;
    }
    let mut opened = File::open(&path).unwrap();
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(opened).read_to_end(&mut bytes).unwrap();
    } else {
        opened.read_to_end(&mut bytes).unwrap();
    }
    Some(bytes)
}

fn rows(bytes: &[u8]) -> Vec<Vec<String>> {
    let text = std::str::from_utf8(bytes).unwrap();
    text.lines()
        .skip(1)
        .map(|line| line.split(',').map(str::to_owned).collect())
        .collect()
}

struct Study {
    dates: Vec<String>,
    members: MemberTable,
    opens: DayTable,
    closes: DayTable,
    volumes: DayTable,
    scores: BTreeMap<String, DayTable>,
    metrics: Value,
    days: Vec<usize>,
}

impl Study {
    fn open() -> Option<Self> {
        let bars = rows(&read("panel.csv.gz")?);
        let spans = rows(&read("members.csv")?);
        let metrics: Value = serde_json::from_slice(&read("metrics.json")?).unwrap();
        let ids: Vec<String> = rows(&read("alphas.csv")?)
            .into_iter()
            .map(|row| row[0].clone())
            .collect();
        let blob = read("scores.f32.gz")?;
        let sorted = |column: usize| -> Vec<String> {
            bars.iter()
                .map(|row| row[column].clone())
                .collect::<BTreeSet<_>>()
                .into_iter()
                .collect()
        };
        let (dates, codes) = (sorted(0), sorted(1));
        let names = codes.len();
        let mut tables = vec![vec![f64::NAN; dates.len() * names]; 3];
        let mut members = vec![false; dates.len() * names];
        for row in &bars {
            let name = codes.binary_search(&row[1]).unwrap();
            let place = dates.binary_search(&row[0]).unwrap() * names + name;
            let number = |column: usize| -> f64 { row[column].parse().unwrap() };
            let factor = number(8);
            tables[0][place] = number(2) * factor;
            tables[1][place] = number(5) * factor;
            tables[2][place] = number(6) / factor;
            members[place] = spans
                .iter()
                .any(|span| span[0] == row[1] && span[1] <= row[0] && row[0] <= span[2]);
        }
        let cells: Vec<f64> = blob
            .chunks_exact(4)
            .map(|four| f64::from(f32::from_le_bytes(four.try_into().unwrap())))
            .collect();
        let scores = ids.into_iter().zip(cells.chunks(dates.len() * names));
        let scores = scores
            .map(|(id, cells)| (id, DayTable::from_days(names, cells.to_vec())))
            .collect();
        let first = dates
            .binary_search(&metrics["settings"]["first"].as_str().unwrap().to_owned())
            .unwrap();
        let mut table = tables.into_iter().map(|cells| DayTable::from_days(names, cells));
        let mut table = || table.next().unwrap();
        Some(Self {
            opens: table(),
            closes: table(),
            volumes: table(),
            members: MemberTable::from_days(names, members),
            days: (first..dates.len()).collect(),
            scores,
            metrics,
            dates,
        })
    }

    fn label(&self, name: &str) -> DayTable {
        let (kind, horizon) = name.rsplit_once('_').unwrap();
        let horizon = horizon.parse().unwrap();
        if kind == "close" {
            label_returns(LabelKind::Close, &self.closes, &self.volumes, horizon)
        } else {
            label_returns(LabelKind::NextOpen, &self.opens, &self.volumes, horizon)
        }
    }

    fn power(&self, scores: &DayTable, label: &DayTable) -> Option<f64> {
        let daily = daily_correlations(scores, label, &self.members, &self.days, 10);
        daily.power(0.5).ok().map(|power| power.score)
    }
}

#[track_caller]
fn near(ours: Option<f64>, golden: &Value, what: &str) {
    let (Some(ours), Some(golden)) = (ours, golden.as_f64()) else {
        assert!(
            ours.is_none() && golden.is_null(),
            "{what}: {ours:?} against {golden}"
        );
        return;
    };
    assert!(
        (ours - golden).abs() <= 1e-10 * golden.abs().max(1e-3),
        "{what}: {ours} against {golden}"
    );
}

#[test]
fn metrics_of_given_scores_are_scipys() {
    let Some(study) = Study::open() else { return };
    for (id, scores) in &study.scores {
        let golden = &study.metrics["alphas"][id];
        for label in ["close_1", "next_open_1", "close_5", "next_open_5"] {
            let (what, golden) = (format!("{id} {label}"), &golden[label]);
            let labels = study.label(label);
            let daily = daily_correlations(scores, &labels, &study.members, &study.days, 10);
            assert_eq!(
                daily.days.len() as u64,
                golden["days"].as_u64().unwrap(),
                "{what}"
            );
            let power = daily.power(0.5).ok();
            near(power.map(|power| power.ic), &golden["IC"], &what);
            near(power.map(|power| power.rank_ic), &golden["RankIC"], &what);
            near(power.map(|power| power.score), &golden["PPS"], &what);
            near(
                power.and_then(|power| power.ic_ratio.ok()),
                &golden["ICIR"],
                &what,
            );
            near(
                power.and_then(|power| power.rank_ic_ratio.ok()),
                &golden["RankICIR"],
                &what,
            );
            near(
                power.and_then(|power| power.rank_ic_t.ok()),
                &golden["RankIC_NW_t"],
                &what,
            );
            let golden = &golden["portfolio"];
            let labelled = |day: &&usize| labels.day(**day).iter().any(|cell| cell.is_finite());
            let days: Vec<usize> = study.days.iter().filter(labelled).copied().collect();
            let test = portfolio_test(scores, &labels, &study.members, &days, BY_CODE).ok();
            assert_eq!(
                test.as_ref().map(|test| test.returns.len() as u64),
                golden["days"].as_u64(),
                "{what}"
            );
            near(test.as_ref().map(|test| test.annual_return), &golden["AR"], &what);
            near(
                test.as_ref().and_then(|test| test.sharpe.ok()),
                &golden["SR"],
                &what,
            );
            near(
                test.as_ref().and_then(|test| test.turnover.ok()),
                &golden["turnover"],
                &what,
            );
            near(test.as_ref().map(|test| test.max_drawdown), &golden["MDD"], &what);
        }
        let stability = |mode| rank_stability(scores, &study.members, &study.days, 10, mode).unwrap();
        near(Some(stability(StabilityMode::Common).score), &golden["RRE"], id);
        near(
            Some(stability(StabilityMode::PublishedCode).score),
            &golden["RRE_code"],
            id,
        );
        assert_eq!(
            stability(StabilityMode::Common).days as u64,
            golden["RRE_days"].as_u64().unwrap(),
            "{id}"
        );
    }
}

#[test]
fn days_are_scipys() {
    let (Some(study), Some(table)) = (Study::open(), read("daily.csv")) else {
        return;
    };
    let labels = study.label("next_open_1");
    let mut compared = 0;
    for row in rows(&table) {
        let daily = daily_correlations(&study.scores[&row[0]], &labels, &study.members, &study.days, 10);
        let day = daily
            .days
            .iter()
            .find(|day| study.dates[day.day] == row[1])
            .unwrap();
        near(
            Some(day.ic),
            &serde_json::json!(row[2].parse::<f64>().unwrap()),
            &row[1],
        );
        near(
            Some(day.rank_ic),
            &serde_json::json!(row[3].parse::<f64>().unwrap()),
            &row[1],
        );
        compared += 1;
    }
    assert!(0 < compared);
}

#[test]
fn pools_are_numpys() {
    let (Some(study), Some(pool)) = (Study::open(), read("pool.json")) else {
        return;
    };
    let pool: Value = serde_json::from_slice(&pool).unwrap();
    assert_eq!(
        study.members.cells(&study.days) as u64,
        pool["cells"].as_u64().unwrap()
    );
    let z_scores: BTreeMap<&str, DayTable> = study
        .scores
        .iter()
        .map(|(id, scores)| (id.as_str(), daily_z_scores(scores, &study.members)))
        .collect();
    let of_group = |ids: &Value| -> Vec<&DayTable> {
        ids.as_array()
            .unwrap()
            .iter()
            .map(|id| &z_scores[id.as_str().unwrap()])
            .collect()
    };
    for (group, golden) in pool["diversity"].as_object().unwrap() {
        let ours = pool_diversity(&of_group(&golden["alphas"]), &study.members, &study.days);
        near(ours.as_ref().ok().map(|ours| ours.score), &golden["DE"], group);
        if group == "all but constant" {
            for (ours, golden) in ours
                .unwrap()
                .eigenvalues
                .iter()
                .zip(pool["eigenvalues"].as_array().unwrap())
            {
                near(Some(*ours), golden, "eigenvalue");
            }
        }
    }
    let ids: Vec<&String> = pool["composite"].as_object().unwrap().keys().collect();
    let metrics = |of: &dyn Fn(&Value) -> Option<f64>| -> Vec<Option<f64>> {
        ids.iter()
            .map(|id| of(&study.metrics["alphas"][id.as_str()]))
            .collect()
    };
    let columns = [
        metrics(&|alpha| alpha["next_open_1"]["PPS"].as_f64()),
        metrics(&|alpha| alpha["RRE"].as_f64()),
        metrics(&|alpha| alpha["PFS"].as_f64()),
    ];
    for (id, ours) in ids.iter().zip(composite_scores(&columns)) {
        near(ours.ok(), &pool["composite"][id.as_str()], id);
    }
    let golden = &pool["combination of reversal, vol20 and corr_pv, equal weights"];
    let three: Vec<&DayTable> = ["reversal", "vol20", "corr_pv"]
        .iter()
        .map(|id| &z_scores[id])
        .collect();
    let combined = weighted_combination(&three, &equal_weights(3), &study.members);
    near(
        study.power(&combined, &study.label("next_open_1")),
        &golden["PPS"],
        "combination",
    );
    let stability = rank_stability(&combined, &study.members, &study.days, 10, StabilityMode::Common);
    near(
        stability.ok().map(|stability| stability.score),
        &golden["RRE"],
        "combination",
    );
}

/// A label is its own best alpha, and a constant has neither power nor robustness.
#[test]
fn anchors_hold() {
    let Some(study) = Study::open() else { return };
    let label = study.label("next_open_1");
    let best = study.power(&label, &label).unwrap();
    assert!((best - 1.0).abs() < 1e-12, "{best}");
    let turned = daily_correlations(&label.times(-1.0), &label, &study.members, &study.days, 10)
        .power(0.5)
        .unwrap();
    assert!((turned.score + 1.0).abs() < 1e-12);
    let constant = DayTable::from_days(label.names(), vec![1.0; label.days() * label.names()]);
    assert_eq!(study.power(&constant, &label), None);
    let robust = |perturbed: &DayTable| {
        ktd_alphas::rank_robustness(&label, perturbed, &study.members, &study.days, 10)
    };
    assert!((robust(&label).unwrap() - 1.0).abs() < 1e-12);
    assert!(robust(&constant).is_err());
}

#[test]
fn comparisons_of_alphas_are_scipys() {
    let Some(bytes) = read("justify.json") else { return };
    let golden: Value = serde_json::from_slice(&bytes).unwrap();
    let points: Vec<(f64, f64)> = numbers(&golden["rre"])
        .into_iter()
        .zip(numbers(&golden["turnover"]))
        .collect();
    let line = line_fit(&points).unwrap();
    near(Some(line.slope), &golden["slope"], "slope");
    near(Some(line.intercept), &golden["intercept"], "intercept");
    near(Some(line.slope_error), &golden["slope_se"], "slope_se");
    near(
        Some(line.intercept_error),
        &golden["intercept_se"],
        "intercept_se",
    );
    near(Some(line.r_squared), &golden["r2"], "r2");
    near(Some(line.p), &golden["p"], "p");
    let groups = &golden["groups"];
    let (low, high) = (numbers(&groups["low"]), numbers(&groups["high"]));
    let welch = welch_test(&low, &high).unwrap();
    near(Some(welch.t), &groups["welch_t"], "welch");
    near(Some(welch.degrees_of_freedom), &groups["df"], "df");
    near(Some(welch.p), &groups["p"], "p");
    let ranks = mann_whitney(&low, &high).unwrap();
    near(Some(ranks.u), &groups["U"], "U");
    near(Some(ranks.p), &groups["U_p"], "U_p");
    let exact = mann_whitney(&numbers(&groups["small"][0]), &numbers(&groups["small"][1])).unwrap();
    assert!(exact.is_exact);
    near(Some(exact.u), &groups["small_U"], "small_U");
    near(Some(exact.p), &groups["small_p"], "small_p");
    for case in golden["ndcg"].as_array().unwrap() {
        let items: Vec<(f64, f64)> = numbers(&case["human"])
            .into_iter()
            .zip(numbers(&case["score"]))
            .collect();
        let first = usize::try_from(case["k"].as_u64().unwrap()).unwrap();
        near(ndcg(&items, first).ok(), &case["ndcg"], "ndcg");
    }
}

/// The bars of a name, from its first row to its last.
fn bars_of(code: &str) -> Option<(Vec<String>, AdjustedBars)> {
    let table = rows(&read("panel.csv.gz")?);
    let dates: BTreeSet<&String> = table.iter().map(|row| &row[0]).collect();
    let own: BTreeMap<&String, &Vec<String>> = table
        .iter()
        .filter(|row| row[1] == code)
        .map(|row| (&row[0], row))
        .collect();
    let (first, last) = (*own.keys().next().unwrap(), *own.keys().next_back().unwrap());
    let dates: Vec<String> = dates
        .into_iter()
        .filter(|date| first <= *date && *date <= last)
        .cloned()
        .collect();
    let mut bars = AdjustedBars::default();
    for date in &dates {
        let number =
            |column: usize| -> f64 { own.get(date).map_or(f64::NAN, |row| row[column].parse().unwrap()) };
        let factor = number(8);
        bars.open.push(number(2) * factor);
        bars.high.push(number(3) * factor);
        bars.low.push(number(4) * factor);
        bars.close.push(number(5) * factor);
        bars.volume.push(number(6) / factor);
        let mean = (number(3) + number(4) + number(5)) / 3.0;
        bars.vwap.push(if 0.0 < number(6) {
            number(7) / number(6) * factor
        } else {
            mean * factor
        });
        bars.amount.push(number(7));
    }
    Some((dates, bars))
}

#[test]
fn noise_is_drawn_in_its_order() {
    let (Some(study), Some(bytes)) = (Study::open(), read("noise.json")) else {
        return;
    };
    let golden: Value = serde_json::from_slice(&bytes).unwrap();
    let seed = golden["seed"].as_u64().unwrap();
    let sigma = study.metrics["settings"]["sigma"].as_f64().unwrap();
    let first = &golden["examples"][0]["symbol"].as_str().unwrap();
    let mut stream = noise_stream(seed, NoiseLaw::Normal, 0, first);
    for word in golden["first_words"].as_array().unwrap() {
        assert_eq!(stream.next_u64().to_string(), word.as_str().unwrap());
    }
    let mut compared = 0;
    for example in golden["examples"].as_array().unwrap() {
        let law = if example["kind"] == "normal" {
            NoiseLaw::Normal
        } else {
            NoiseLaw::StudentT3
        };
        let draw = usize::try_from(example["draw"].as_u64().unwrap()).unwrap();
        let code = example["symbol"].as_str().unwrap();
        let (dates, bars) = bars_of(code).unwrap();
        let row = dates
            .iter()
            .position(|date| example["date"] == date.as_str())
            .unwrap();
        let moved = perturbed_bars(&bars, law, sigma, &mut noise_stream(seed, law, draw, code)).bars;
        let changes = moved.changes();
        for (field, column) in [
            ("open", &moved.open),
            ("high", &moved.high),
            ("low", &moved.low),
            ("close", &moved.close),
            ("volume", &moved.volume),
            ("amount", &moved.amount),
            ("vwap", &moved.vwap),
            ("change", &changes),
        ] {
            let golden: f64 = example[field].as_str().unwrap().parse().unwrap();
            let ours = column[row];
            let is_near = (ours - golden).abs() <= 1e-9 * golden.abs().max(1e-3);
            assert!(
                is_near || (ours.is_nan() && golden.is_nan()),
                "{code} {row} {field}: {ours} against {golden}"
            );
            compared += 1;
        }
    }
    assert!(0 < compared);
}

/// The scores of a formula on adjusted bars, by the engine.
fn scores_of(text: &str, names: &[(usize, AdjustedBars, Vec<f64>)], days: usize) -> DayTable {
    let fields = [
        "open", "high", "low", "close", "volume", "vwap", "amount", "change",
    ];
    let formula = check_formula(text, &fields, FormulaRole::Alpha).unwrap();
    let plan = FormulaPlan::of(&[formula], FormulaPrecision::Qlib);
    let mut table = DayTable::missing(days, names.len());
    for (name, (first, bars, changes)) in names.iter().enumerate() {
        let column = |field: &String| match field.as_str() {
            "open" => &bars.open,
            "high" => &bars.high,
            "low" => &bars.low,
            "close" => &bars.close,
            "volume" => &bars.volume,
            "vwap" => &bars.vwap,
            "amount" => &bars.amount,
            _ => changes,
        };
        let columns = plan
            .fields()
            .iter()
            .map(|field| FieldCells::Doubles(column(field)))
            .collect();
        let visit =
            |_: usize, cells: &[f32]| table.set_name(name, *first, cells.iter().map(|cell| f64::from(*cell)));
        FormulaEngine::default()
            .evaluate(&plan, &NameRows::new(*first, columns), &NoOtherNames, visit)
            .unwrap();
    }
    table
}

/// From formulas to robustness: the engine, the noise and the metric together.
#[test]
fn robustness_of_formulas_is_scipys() {
    let (Some(study), Some(table)) = (Study::open(), read("alphas.csv")) else {
        return;
    };
    let settings = &study.metrics["settings"];
    let (sigma, seed) = (
        settings["sigma"].as_f64().unwrap(),
        settings["seed"].as_u64().unwrap(),
    );
    let codes: BTreeSet<String> = rows(&read("panel.csv.gz").unwrap())
        .into_iter()
        .map(|row| row[1].clone())
        .collect();
    let names: Vec<(usize, AdjustedBars, Vec<f64>)> = codes
        .iter()
        .map(|code| {
            let (dates, bars) = bars_of(code).unwrap();
            let first = study.dates.iter().position(|date| *date == dates[0]).unwrap();
            let changes = bars.changes();
            (first, bars, changes)
        })
        .collect();
    let draws = [
        (NoiseLaw::Normal, 0),
        (NoiseLaw::Normal, 1),
        (NoiseLaw::StudentT3, 0),
        (NoiseLaw::StudentT3, 1),
    ];
    let perturbed: Vec<Vec<(usize, AdjustedBars, Vec<f64>)>> = draws
        .iter()
        .map(|(law, draw)| {
            let of_name = |((first, bars, _), code): (&(usize, AdjustedBars, Vec<f64>), &String)| {
                let bars = perturbed_bars(bars, *law, sigma, &mut noise_stream(seed, *law, *draw, code)).bars;
                let changes = bars.changes();
                (*first, bars, changes)
            };
            names.iter().zip(&codes).map(of_name).collect()
        })
        .collect();
    for row in std::str::from_utf8(&table).unwrap().lines().skip(1) {
        let (id, text) = row.split_once(',').unwrap();
        let text = text.trim_matches('"');
        let scores = scores_of(text, &names, study.dates.len());
        for ((law, draw), panel) in draws.iter().zip(&perturbed) {
            let noisy = scores_of(text, panel, study.dates.len());
            let ours = ktd_alphas::rank_robustness(&scores, &noisy, &study.members, &study.days, 10).ok();
            let golden = &study.metrics["alphas"][id][format!("PFS_{}_draws", law.word())][*draw];
            let is_near = match (ours, golden.as_f64()) {
                (Some(ours), Some(golden)) => (ours - golden).abs() <= 1e-6,
                (ours, golden) => ours.is_none() && golden.is_none(),
            };
            assert!(is_near, "{id} {law:?} {draw}: {ours:?} against {golden}");
        }
    }
}

/// Reversed ranks keep about half, the same ranks all; copies span one direction.
#[test]
fn known_orders_have_known_figures() {
    let Some(bytes) = read("anchors.json") else { return };
    let golden: Value = serde_json::from_slice(&bytes).unwrap();
    for names in [10, 50, 300] {
        let all = MemberTable::from_days(names, vec![true; 200 * names]);
        let days: Vec<usize> = (0..200).collect();
        let table = |sign: fn(usize) -> f64| {
            let cells = (0..200).flat_map(|day| {
                (0..names).map(move |name| sign(day) * f64::from(u16::try_from(name).unwrap()))
            });
            DayTable::from_days(names, cells.collect())
        };
        let stability = |table: &DayTable| {
            rank_stability(table, &all, &days, 10, StabilityMode::Common)
                .unwrap()
                .score
        };
        let (same, turned) = (table(|_| 1.0), table(|day| if day % 2 == 0 { 1.0 } else { -1.0 }));
        let golden = &golden[format!("n={names}")];
        near(Some(stability(&same)), &golden["same"], "same");
        near(Some(stability(&turned)), &golden["reversed"], "reversed");
        let z_scores = daily_z_scores(&same, &all);
        let copies = pool_diversity(&[&z_scores, &z_scores.times(-1.0), &z_scores], &all, &days).unwrap();
        assert!(copies.score < 1e-9, "{copies:?}");
    }
}

/// What judges and searches submit: taken, or refused with its code.
#[test]
fn answers_of_judges_and_searches_are_read_as_they_should_be() {
    let Some(bytes) = read("replies.jsonl") else {
        return;
    };
    let (mut judged, mut mined) = (0, 0);
    for line in std::str::from_utf8(&bytes).unwrap().lines() {
        let case: Value = serde_json::from_str(line).unwrap();
        let arguments = case["arguments"].as_str().unwrap();
        match case["what"].as_str().unwrap() {
            "judge" => {
                judged += 1;
                judge_case(&case, arguments);
            }
            "mine" => {
                mined += 1;
                mine_case(&case, arguments);
            }
            other => panic!("an unknown kind of case: {other}"),
        }
    }
    assert!(0 < judged && 0 < mined);
    println!("answers compared: {judged} of judges, {mined} of searches");
}

fn judge_case(case: &Value, arguments: &str) {
    let formulas = case["batch"].as_array().unwrap().len();
    let is_text = arguments.starts_with("```");
    if is_text {
        // In a call's arguments a fence is no JSON; in free text the one object counts.
        assert_eq!(read_scores(arguments, formulas).unwrap_err().0, "answer_not_json");
    }
    let (object, _) = if is_text {
        object_in_text(arguments).unwrap()
    } else {
        (arguments.to_owned(), false)
    };
    match read_scores(&object, formulas) {
        Ok(scores) => {
            let expected: Vec<f64> = case["scores"]
                .as_array()
                .unwrap_or_else(|| panic!("taken: {case}"))
                .iter()
                .map(|score| score.as_f64().unwrap())
                .collect();
            let scores: Vec<f64> = scores.iter().map(|score| score.score).collect();
            assert_eq!(scores, expected, "{case}");
        }
        Err((code, named)) => {
            assert_eq!(case["problem"].as_str(), Some(code), "{case}");
            if let Some(expected) = case["named"].as_array() {
                let expected: Vec<u64> = expected.iter().map(|index| index.as_u64().unwrap()).collect();
                assert_eq!(named, expected, "{case}");
            }
        }
    }
}

fn mine_case(case: &Value, arguments: &str) {
    let proposals = match read_proposals(arguments) {
        Ok(proposals) => proposals,
        Err(code) => {
            assert_eq!(case["problem"].as_str(), Some(code), "{case}");
            return;
        }
    };
    assert!(case["problem"].is_null(), "{case}");
    let texts: Vec<&str> = proposals.iter().map(|alpha| alpha.expression.as_str()).collect();
    let known = case["known"].as_array().unwrap();
    let known = known
        .iter()
        .map(|text| text.as_str().unwrap().to_owned())
        .collect();
    let screened = screen_proposals(&texts, &known, Payload::formula_fields(), texts.len());
    let (mut accepted, mut refused) = (Vec::new(), Vec::new());
    for (index, one) in screened.into_iter().enumerate() {
        match one {
            Ok(checked) => accepted.push(Value::from(checked.canonical())),
            Err(fault) => refused.push(serde_json::json!({ "index": index, "code": fault.code() })),
        }
    }
    assert_eq!(Value::from(accepted), case["accepted"], "{case}");
    assert_eq!(Value::from(refused), case["refused"], "{case}");
}
