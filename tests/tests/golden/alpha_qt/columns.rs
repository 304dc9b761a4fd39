//! The files of the set.

use flate2::read::GzDecoder;
use ktd_factor_code::{FactorBar, FactorBars, PanelDay};
use ktd_kit::golden::outside;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;

/// The four panels of the set.
pub(super) const PANELS: [&str; 4] = ["G", "R", "Q", "E"];

/// A file's text, unpacked; `None` where the set lacks it.
pub(super) fn text(file: &str) -> Option<String> {
    let path = outside("alpha_qt")?.join(file);
    if !path.is_file() {
        println!("passed over: no {}", path.display());
        return None;
    }
    let mut opened = File::open(&path).unwrap();
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        GzDecoder::new(opened).read_to_string(&mut text).unwrap();
    } else {
        opened.read_to_string(&mut text).unwrap();
    }
    Some(text)
}

/// The bars of a panel.
pub(super) fn bars(panel: &str) -> Option<FactorBars> {
    let text = text(&format!("panel_{panel}.csv"))?;
    let rows = text.lines().skip(1).map(|line| {
        let mut cells = line.split(',');
        let day = PanelDay::parse(cells.next().unwrap()).unwrap();
        let mut number = || cells.next().unwrap().parse::<f64>().unwrap();
        let bar = FactorBar {
            open: number(),
            high: number(),
            low: number(),
            close: number(),
            volume: number(),
        };
        (day, bar)
    });
    Some(FactorBars::new(rows).unwrap())
}

/// The golden column of each task on a panel, NaN where missing.
pub(super) fn golden(panel: &str) -> Option<BTreeMap<String, Vec<f64>>> {
    let text = text(&format!("gold_{panel}.csv.gz"))?;
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().unwrap().split(',').skip(1).collect();
    let mut columns: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for line in lines {
        for (name, cell) in names.iter().zip(line.split(',').skip(1)) {
            let cell = if cell.is_empty() {
                f64::NAN
            } else {
                cell.parse().unwrap()
            };
            columns.entry((*name).to_owned()).or_default().push(cell);
        }
    }
    Some(columns)
}
