//! Import, load and factor times of the real panels. Without them it says so and measures the synthetic market.

use ktd_data::{ImportOptions, import, load_panel};
use ktd_env::factors::FactorConfig;
use ktd_env::synth::{SynthConfig, generate};
use ktd_env::{DateSpan, FactorTable, Market, PriceBasis, TradeDate};
use std::error::Error;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// The benchmark's long window.
const LONG_WINDOW: (&str, &str) = ("2024-01-02", "2026-04-10");
const IMPORT_ROUNDS: usize = 3;
const LOAD_ROUNDS: usize = 20;

fn main() -> Result<(), Box<dyn Error>> {
    let synthetic = generate(&SynthConfig::default())?;
    measure_load("synthetic market, 300 names x 800 days", &synthetic)?;
    let Some(data) = data_folder() else {
        return Ok(());
    };
    let window = measure_import(
        "window panel 2023-2026",
        &data,
        "cn_csi300_window_2023_2026.parquet",
    )?;
    measure_load("window panel 2023-2026", &window)?;
    let (start, end) = (TradeDate::parse(LONG_WINDOW.0)?, TradeDate::parse(LONG_WINDOW.1)?);
    let days = window.days_within(DateSpan { start, end });
    if let (Some(first), Some(last)) = (days.first().and_then(|day| day.before()), days.last()) {
        let best = best_of(LOAD_ROUNDS, || {
            FactorTable::new(&window, &FactorConfig::KTD, first, *last).map(|_| ())
        })?;
        tell(&format!("factor table, {} days", days.len()), best);
    }
    let whole = measure_import("panel 2010-2026", &data, "cn_csi300ever_daily_2010_2026.parquet")?;
    measure_load("panel 2010-2026", &whole)
}

/// The folder of real panels: `KTD_DATA`, or `../shared/data` beside the repository.
#[expect(clippy::print_stdout, reason = "a skipped measurement is told")]
fn data_folder() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join(std::env::var_os("KTD_DATA").unwrap_or_else(|| "../shared/data".into()));
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no real panels at {} (set KTD_DATA)", folder.display());
    None
}

fn measure_import(what: &str, data: &Path, file: &str) -> Result<Market, Box<dyn Error>> {
    let indices = data.join("cn_index_daily_2010_2026.parquet");
    let options = ImportOptions {
        sources: vec![data.join(file)],
        basis: Some(PriceBasis::Raw),
        universe: Some(data.join("cn_csi300_members.csv")),
        indices: vec![format!("{}:SH000300", indices.display())],
        names: Some(data.join("cn_csi300_members.csv")),
        ..ImportOptions::default()
    };
    let mut market = None;
    let best = best_of(IMPORT_ROUNDS, || {
        import(&options, &mut ()).map(|imported| market = Some(imported.market))
    })?;
    let market = market.ok_or("nothing was imported")?;
    let (names, days) = (market.names().len(), market.calendar().len());
    tell(
        &format!("import of the {what}, {names} names x {days} days"),
        best,
    );
    Ok(market)
}

fn measure_load(what: &str, market: &Market) -> Result<(), Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("panel.ktdp");
    let bytes = market.to_bytes();
    std::fs::write(&path, &bytes)?;
    let best = best_of(LOAD_ROUNDS, || load_panel(&path).map(|_| ()))?;
    tell(&format!("load of the {what}, {} bytes", bytes.len()), best);
    Ok(())
}

fn best_of<E>(rounds: usize, mut round: impl FnMut() -> Result<(), E>) -> Result<f64, E> {
    let mut best = f64::INFINITY;
    for _ in 0..rounds {
        let start = Instant::now();
        round()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best)
}

#[expect(clippy::print_stdout, reason = "a bench tells its figures")]
fn tell(what: &str, seconds: f64) {
    println!("{what}: {:.1} ms", seconds * 1e3);
}
