//! What the reference strategies earned on real bars: every document on every series of every split.

use super::choice::{RealBars, SplitSpan};
use super::series::{PlannedSeries, RealSource};
use crate::error::StrategyError;
use ktd_io::parallel::in_parallel;
use ktd_strategy_code::{
    DocumentId, INITIAL_CAPITAL, ParameterValue, Parameters, RunEarnings, StrategyBars, StrategyDocument,
    run_reference,
};
use std::path::Path;

/// The parameter that names the stamp of a session's last bar.
const SESSION_END: &str = "session_end";

/// What one strategy earned on one series.
#[derive(Debug, Clone, PartialEq)]
pub struct BarRun {
    /// The document.
    pub strategy: DocumentId,
    /// `train` or `test`.
    pub split: &'static str,
    /// Symbols of the series, in the order of the document's assets.
    pub symbols: Vec<String>,
    /// Its bars.
    pub bars: usize,
    /// What was earned.
    pub earnings: RunEarnings,
}

/// What a document could not run on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeriesLeftOut {
    /// The document.
    pub strategy: DocumentId,
    /// `train` or `test`.
    pub split: &'static str,
    /// Why there is no series at all.
    pub no_data: Option<&'static str>,
    /// Series with too few bars.
    pub too_short: usize,
}

/// What strategies earned on real bars.
#[derive(Debug, Clone, PartialEq)]
pub struct BarStudy {
    /// The panel's hash.
    pub source: Option<String>,
    /// Name, first day, and day after the last of each split.
    pub splits: Vec<[String; 3]>,
    /// Runs by document, then split, then series.
    pub runs: Vec<BarRun>,
    /// What is not among the runs, by document and split.
    pub left_out: Vec<SeriesLeftOut>,
}

/// What the reference strategies of documents earned on the bars that the keys name, with the documents' own parameters; files
/// are relative to `base`. The result does not depend on the number of threads.
///
/// # Errors
/// [`StrategyError`] for keys and files that cannot be used, and for a series of a list with too few bars.
pub fn reference_study(
    keys: &RealBars,
    base: &Path,
    documents: &[DocumentId],
    threads: usize,
) -> Result<BarStudy, StrategyError> {
    let source = RealSource::read(keys, base)?;
    let splits = keys.splits()?;
    let mut left_out = Vec::new();
    let mut jobs = Vec::new();
    for id in documents {
        let document = StrategyDocument::built_in(*id).map_err(StrategyError::invalid)?;
        for split in &splits {
            let plan = source.plan((*id, &document), split)?;
            left_out.push(SeriesLeftOut {
                strategy: *id,
                split: split.name,
                no_data: plan.no_data,
                too_short: plan.too_short,
            });
            let series = plan.series.into_iter();
            jobs.extend(series.map(|series| (*id, document.clone(), split, series)));
        }
    }
    let runs = in_parallel(&jobs, threads, |(id, document, split, series)| {
        run_one(&source, (*id, document), split, series)
    });
    Ok(BarStudy {
        source: source.daily.as_ref().and_then(|daily| daily.source.clone()),
        splits: vec![split_of("train", &keys.train), split_of("test", &keys.test)],
        runs: runs.into_iter().collect::<Result<_, _>>()?,
        left_out,
    })
}

fn split_of(name: &str, [start, end]: &[String; 2]) -> [String; 3] {
    [name.to_owned(), start.clone(), end.clone()]
}

fn run_one(
    source: &RealSource,
    (id, document): (DocumentId, &StrategyDocument),
    split: &SplitSpan,
    series: &PlannedSeries,
) -> Result<BarRun, StrategyError> {
    let market = source.market(document, series, split)?;
    let parameters = with_session_end(&document.default_parameters(), &source.keys.session_end);
    Ok(BarRun {
        strategy: id,
        split: split.name,
        symbols: series.symbols.clone(),
        bars: market.times().len(),
        earnings: reference_earnings(id, &parameters, &market)?,
    })
}

/// What the reference of a document earned on a market.
pub(super) fn reference_earnings(
    id: DocumentId,
    parameters: &Parameters,
    market: &StrategyBars,
) -> Result<RunEarnings, StrategyError> {
    let logs = run_reference(id, parameters, market, INITIAL_CAPITAL)?;
    RunEarnings::of_reference(&logs, market, INITIAL_CAPITAL)
        .ok_or_else(|| StrategyError::invalid(format!("{id} has no bar")))
}

/// Parameters with the end of the sessions that the bars have, where the document names one.
pub(super) fn with_session_end(parameters: &Parameters, session_end: &str) -> Parameters {
    Parameters::new(parameters.iter().map(|(name, value)| {
        let own = (name == SESSION_END).then(|| ParameterValue::Text(session_end.to_owned()));
        (name.to_owned(), own.unwrap_or_else(|| value.clone()))
    }))
}

#[cfg(test)]
mod tests {
    use super::super::choice::SeriesChoice;
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};
    use ktd_io::whole_file::write_whole;
    use ktd_strategy_code::FillPrice;
    use std::fmt::Write as _;
    use std::path::PathBuf;

    /// A panel file of a synthetic market over three years from 2022 on, and keys for it.
    fn panel() -> (tempfile::TempDir, RealBars) {
        let folder = tempfile::tempdir().unwrap();
        let config = SynthConfig {
            seed: 3,
            names: 12,
            days: 480,
        };
        let market = generate(&config).unwrap();
        write_whole(&folder.path().join("p.ktdp"), &market.to_bytes()).unwrap();
        let keys = RealBars {
            panel: Some(PathBuf::from("p.ktdp")),
            symbols: SeriesChoice::Word("all".to_owned()),
            train: ["2022-01-01", "2023-01-01"].map(str::to_owned),
            test: ["2023-01-01", "2024-01-01"].map(str::to_owned),
            ..RealBars::default()
        };
        (folder, keys)
    }

    #[test]
    fn every_daily_document_runs_and_threads_do_not_matter() {
        let (folder, keys) = panel();
        let one = reference_study(&keys, folder.path(), &DocumentId::ALL, 1).unwrap();
        let four = reference_study(&keys, folder.path(), &DocumentId::ALL, 4).unwrap();
        assert_eq!(one, four);
        for id in DocumentId::ALL {
            let runs: Vec<&BarRun> = one.runs.iter().filter(|run| run.strategy == id).collect();
            let left = one.left_out.iter().find(|left| left.strategy == id).unwrap();
            let has_none = [DocumentId::S04, DocumentId::S05, DocumentId::S07].contains(&id);
            assert_eq!(has_none, runs.is_empty(), "{id}");
            assert_eq!(has_none, left.no_data.is_some(), "{id}");
            // Every trade at the next open is one of the close: no fill is lost on the way.
            for run in runs {
                let trades = FillPrice::ALL.map(|fill| run.earnings.free(fill).trades);
                assert_eq!(trades[0], trades[1], "{id}");
            }
        }
        let pairs = one.runs.iter().filter(|run| run.strategy == DocumentId::S06);
        assert!(pairs.clone().all(|run| run.symbols[0] < run.symbols[1]));
        assert!(
            one.runs
                .iter()
                .any(|run| run.earnings.free(FillPrice::OwnClose).trades > 0)
        );
    }

    #[test]
    fn bars_after_a_split_change_nothing_in_it() {
        let (folder, keys) = panel();
        let whole = reference_study(&keys, folder.path(), &DocumentId::ALL, 2).unwrap();
        let shorter = RealBars {
            test: ["2023-01-01", "2023-09-01"].map(str::to_owned),
            ..keys
        };
        let shorter = reference_study(&shorter, folder.path(), &DocumentId::ALL, 2).unwrap();
        let train = |study: &BarStudy| -> Vec<BarRun> {
            let runs = study.runs.iter().filter(|run| run.split == "train");
            runs.cloned().collect()
        };
        assert_eq!(train(&whole), train(&shorter));
        assert_ne!(whole.runs, shorter.runs);
    }

    #[test]
    fn what_the_bars_do_not_hold_is_named() {
        let (folder, keys) = panel();
        let error = |change: &dyn Fn(&mut RealBars)| {
            let mut keys = keys.clone();
            change(&mut keys);
            let study = reference_study(&keys, folder.path(), &DocumentId::ALL, 1);
            study.unwrap_err().to_string()
        };
        let empty = error(&|keys| keys.test = ["2031-01-01", "2032-01-01"].map(str::to_owned));
        assert!(empty.contains("the split `test` is empty"), "{empty}");
        let unknown = error(&|keys| keys.symbols = SeriesChoice::List(vec!["SH999999".to_owned()]));
        assert!(unknown.contains("p.ktdp has no symbol \"SH999999\""), "{unknown}");
        let codes = reference_study(&keys, folder.path(), &[DocumentId::S01], 1)
            .unwrap()
            .runs;
        let pair = [codes[0].symbols[0].clone(), codes[1].symbols[0].clone()];
        let short = error(&|keys| {
            keys.pairs = SeriesChoice::List(vec![pair.clone()]);
            keys.test = ["2023-01-01", "2023-03-01"].map(str::to_owned);
        });
        assert!(
            short.contains("common bars in the split `test`, and S06 needs 79"),
            "{short}"
        );
    }

    /// Daily bars of two symbols, and minutes of one, over 28 days of six months.
    fn tables() -> (String, String) {
        let mut bars = "date,symbol,open,high,low,close,volume\n".to_owned();
        let mut minutes = "datetime,open,high,low,close,volume\n".to_owned();
        for month in ["2024-01", "2024-02", "2024-03", "2025-01", "2025-02", "2025-03"] {
            for day in 1..=28_i32 {
                for (symbol, place) in [("AAPL", 1), ("MSFT", 2)] {
                    let (close, day) = (10 + (day * place) % 7, format!("{month}-{day:02}"));
                    let (high, low) = (close + 1, close - 1);
                    writeln!(bars, "{day},{symbol},{close},{high},{low},{close},100").unwrap();
                }
                for (clock, price) in [("09:45", 10 + day % 3), ("10:00", 11 + day % 5), ("15:00", 10)] {
                    let (high, low) = (price + 1, price - 1);
                    writeln!(minutes, "{month}-{day:02} {clock},{price},{high},{low},{price},5").unwrap();
                }
            }
        }
        (bars, minutes)
    }

    #[test]
    fn a_table_of_bars_and_a_file_of_minutes_do_for_a_panel() {
        let folder = tempfile::tempdir().unwrap();
        let (bars, minutes) = tables();
        write_whole(&folder.path().join("bars.csv"), bars.as_bytes()).unwrap();
        write_whole(&folder.path().join("minutes.csv"), minutes.as_bytes()).unwrap();
        let keys = RealBars {
            bars: Some(PathBuf::from("bars.csv")),
            minutes: Some(PathBuf::from("minutes.csv")),
            ..RealBars::default()
        };
        let study = reference_study(&keys, folder.path(), &DocumentId::ALL, 2).unwrap();
        let count = |id| study.runs.iter().filter(|run| run.strategy == id).count();
        assert_eq!((count(DocumentId::S01), count(DocumentId::S06)), (4, 2));
        assert_eq!((count(DocumentId::S04), count(DocumentId::S05)), (2, 2));
        assert_eq!((count(DocumentId::S09), count(DocumentId::S08)), (0, 2));
        assert_eq!(study.source, None);
    }
}
