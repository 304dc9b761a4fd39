//! A real stock as panel Q, where real panels lie beside the repository.

use super::scene::{STUDY, UNIT, experiment, model};
use ktd_data::{ImportOptions, import};
use ktd_env::PriceBasis;
use ktd_kit::need::data_root;
use ktd_kit::{Need, assert_ok, has_boxes, quiet, refused};
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

    let header: Value = serde_json::from_slice(&folder.read(&format!("{UNIT}/header.json"))).unwrap();
    assert_eq!(header["decides"]["is_real"], true);
    let digits = SYMBOL.trim_start_matches("SH");
    // What was asked for says which stock it was; no answer, verdict or page does, and its bars are in no record.
    for (path, bytes) in ktd_kit::files(&folder.at(STUDY)) {
        let name = path.to_string_lossy();
        if !["study.json", "private", ".zst", ".parquet", "agent.json"]
            .iter()
            .any(|part| name.contains(part))
        {
            let text = String::from_utf8(bytes).unwrap();
            assert!(!text.contains(digits), "{name}");
        }
    }
    assert!(
        vendor
            .requests()
            .iter()
            .all(|request| !String::from_utf8_lossy(&request.body).contains(digits))
    );
    assert_ok(&quiet(folder.path(), &["replay", STUDY]));
    assert!(
        !folder
            .text(&format!("{STUDY}/index.html"))
            .contains("Q synthetic")
    );

    // without its bars nothing is made again
    std::fs::remove_file(folder.at("real.ktdp")).unwrap();
    assert!(refused(&quiet(folder.path(), &["replay", STUDY]), 2).contains("real.ktdp"));
}
