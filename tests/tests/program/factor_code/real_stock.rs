//! A real stock as panel Q, where real panels lie beside the repository.

use super::scene::{BUNDLE, experiment, has_boxes, model};
use ktd_data::{ImportOptions, import};
use ktd_env::PriceBasis;
use ktd_kit::need::data_root;
use ktd_kit::{Need, assert_ok, quiet, refused};
use serde_json::Value;

const SYMBOL: &str = "SH600519";

#[test]
fn a_real_stock_is_judged_on_without_its_name_or_its_days() {
    if !has_boxes() || !Need::RealPanels.is_met() {
        return;
    }
    let data = data_root();
    let options = ImportOptions {
        sources: vec![data.join("cn_csi300_window_2023_2026.parquet")],
        basis: Some(PriceBasis::Raw),
        ..ImportOptions::default()
    };
    let market = import(&options, &mut ()).unwrap().market;
    let vendor = model();
    let folder = experiment(
        &vendor,
        &format!("real = {{ panel = 'real.ktdp', symbol = '{SYMBOL}' }}"),
    );
    folder.write("real.ktdp", market.to_bytes());
    assert_ok(&quiet(folder.path(), &["factor-code", "run", "code.toml"]));

    let header: Value = serde_json::from_slice(&folder.read(&format!("{BUNDLE}/header.json"))).unwrap();
    assert_eq!(header["is_real"], true);
    let panel = folder.text(&format!("{BUNDLE}/private/panel_Q.csv"));
    let days: Vec<&str> = panel
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap())
        .collect();
    // weekdays one after the other, whatever the stock's own days were
    assert_eq!((days.len(), days[0], days[5]), (500, "2015-01-05", "2015-01-12"));
    let digits = SYMBOL.trim_start_matches("SH");
    for (path, bytes) in ktd_kit::files(&folder.at(BUNDLE)) {
        let is_text = !path.starts_with("private") && !path.to_string_lossy().contains("exchanges");
        if is_text && !path.ends_with("agent.json") {
            let text = String::from_utf8(bytes).unwrap();
            assert!(
                !text.contains(SYMBOL) && !text.contains(digits),
                "{}",
                path.display()
            );
        }
    }
    assert!(
        vendor
            .requests()
            .iter()
            .all(|request| !String::from_utf8_lossy(&request.body).contains(digits))
    );
    assert_ok(&quiet(folder.path(), &["replay", BUNDLE]));
    let report = ["factor-code", "report", "results", "--out", "page.html"];
    assert_ok(&quiet(folder.path(), &report));
    assert!(!folder.text("page.html").contains("Q synthetic"));

    // without its bars nothing is judged again
    std::fs::remove_file(folder.at(&format!("{BUNDLE}/private/panel_Q.csv"))).unwrap();
    assert!(refused(&quiet(folder.path(), &["replay", BUNDLE]), 2).contains("panel_Q.csv"));
}
