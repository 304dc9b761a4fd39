//! The profile `qlib` on the panel that Qlib itself is timed on. `tests/scripts/peer_qlib.sh` makes the panel, runs
//! both and names it in `KTD_PEER_PANEL`; without it nothing is measured.

use ktd_qlib::simulate;
use ktd_runs::simulate::qlib::{QlibInputs, QlibInstructions, load_qlib};
use std::error::Error;
use std::hint::black_box;
use std::path::PathBuf;
use std::time::Instant;

const ROUNDS: usize = 20;

/// The settings of the script that times Qlib: top 20, two dropped a day, filled at the open.
fn config(first: &str, last: &str) -> String {
    format!(
        r#"{{"profile": "qlib", "start": "{first}", "end": "{last}", "account": 1000000.0, "deal_price": "open",
        "limit": 0.095, "open_cost": 0.0005, "close_cost": 0.0015, "min_cost": 5.0, "trade_unit": 100,
        "impact_cost": 0.0, "volume_threshold": null, "trade_type": "serial", "settle": "none",
        "benchmark": "SH000300", "risk_degree": 0.95,
        "strategy": {{"kind": "topk_dropout", "topk": 20, "n_drop": 2, "hold_thresh": 1, "only_tradable": false,
        "forbid_all_trade_at_limit": true}}}}"#
    )
}

#[expect(clippy::print_stdout, reason = "a bench tells its figures")]
#[expect(clippy::cast_precision_loss, reason = "a count of days")]
fn main() -> Result<(), Box<dyn Error>> {
    let Some(panel) = std::env::var_os("KTD_PEER_PANEL").map(PathBuf::from) else {
        println!("skipped: KTD_PEER_PANEL names no panel; run tests/scripts/peer_qlib.sh");
        return Ok(());
    };
    let bins = panel.join("qlib_bin");
    let calendar = std::fs::read_to_string(bins.join("calendars/day.txt"))?;
    let days: Vec<&str> = calendar.lines().map(str::trim).collect();
    let (first, last) = (days.get(1).ok_or("no days")?, days.last().ok_or("no days")?);
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("config.json");
    std::fs::write(&file, config(first, last))?;
    let inputs = QlibInputs {
        config: file,
        panel: bins,
        instructions: QlibInstructions::Signal(panel.join("signal.csv.gz")),
        out: folder.path().to_owned(),
    };
    let start = Instant::now();
    let loaded = load_qlib(&inputs)?;
    let read = start.elapsed();
    let mut best = f64::INFINITY;
    let (mut steps, mut fills) = (0, 0);
    for _ in 0..ROUNDS {
        let start = Instant::now();
        let run = black_box(simulate(
            black_box(&loaded.panel),
            &loaded.config,
            &loaded.instructions,
        )?);
        best = best.min(start.elapsed().as_secs_f64());
        (steps, fills) = (run.daily.len(), run.fills.len());
    }
    println!(
        "ktd, profile qlib: read {:.3} s, quotes and loop {:.2} ms for {steps} steps and {fills} orders -> {:.0} steps/s",
        read.as_secs_f64(),
        best * 1e3,
        steps as f64 / best
    );
    Ok(())
}
