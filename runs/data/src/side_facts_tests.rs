//! Sectors, indices, dividends and statuses on their way into a panel, from every kind of source that carries them.

use crate::{DayFact, ImportOptions, ImportReport, Imported, import};
use ktd_env::{CashDividend, Market, Ticker};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text).unwrap();
    path
}

/// Two stocks on three days; the sector column holds `sectors`, row by row.
fn long_file(folder: &TempDir, head: &str, sectors: [&str; 6]) -> PathBuf {
    let mut text = format!("date,symbol,open,high,low,close,volume,{head}\n");
    let cells = ["SH600000", "SZ000001"]
        .into_iter()
        .flat_map(|symbol| ["02", "03", "04"].map(|day| (symbol, day)));
    for ((symbol, day), sector) in cells.zip(sectors) {
        writeln!(text, "2024-01-{day},{symbol},10,10,10,10,100,{sector}").unwrap();
    }
    write(folder, "long.csv", &text)
}

fn imported(source: &Path, edit: impl FnOnce(&mut ImportOptions)) -> Imported {
    let mut options = ImportOptions {
        sources: vec![source.to_owned()],
        ..ImportOptions::default()
    };
    edit(&mut options);
    import(&options, &mut ()).unwrap()
}

/// The sectors that a view of each day shows of a stock; a dash where it has none.
fn shown(market: &Market, code: &str) -> String {
    let name = market.find(Ticker::parse(code).unwrap()).unwrap();
    let sector = |day: usize| market.as_of(market.day_at(day).unwrap()).sector(name);
    let label = |place: Option<u16>| place.map_or("-", |place| &market.sectors()[usize::from(place)]);
    (0..3).map(|day| label(sector(day))).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_column_of_a_long_file_dates_its_sectors() {
    for head in ["sector", "sw_l1", "industry"] {
        let folder = tempfile::tempdir().unwrap();
        let source = long_file(&folder, head, ["Banks", "Banks", "Media", "", "Steel", ""]);
        let Imported { market, report } = imported(&source, |_| ());
        let ImportReport { unknown_columns, .. } = report;
        assert!(unknown_columns.is_empty(), "{unknown_columns:?}");
        assert_eq!(shown(&market, "SH600000"), "Banks Banks Media");
        // Not known before its first row, kept after its last.
        assert_eq!(shown(&market, "SZ000001"), "- Steel Steel");
        assert!(!market.notes().iter().any(|note| note.contains("undated")));
    }
}

#[test]
fn a_column_that_never_changes_needs_no_dates() {
    let folder = tempfile::tempdir().unwrap();
    let source = long_file(
        &folder,
        "sector",
        ["Banks", "", "Banks", "Steel", "Steel", "Steel"],
    );
    let market = imported(&source, |_| ()).market;
    assert!(market.names().all(|(_, info)| info.dated_sectors.is_empty()));
    assert_eq!(shown(&market, "SH600000"), "Banks Banks Banks");
}

#[test]
fn a_side_file_gives_dated_sectors_or_says_that_they_look_ahead() {
    let folder = tempfile::tempdir().unwrap();
    let source = long_file(&folder, "mood", [""; 6]);
    let dated =
        "symbol,sector,from,until_excl\nSH600000,Banks,2020-01-01,2024-01-04\nSH600000,Media,2024-01-04,\n";
    let dated = write(&folder, "dated.csv", dated);
    let market = imported(&source, |options| {
        options.sectors = Some(dated.display().to_string());
    })
    .market;
    assert_eq!(shown(&market, "SH600000"), "Banks Banks Media");
    assert_eq!(shown(&market, "SZ000001"), "- - -");
    assert!(!market.notes().iter().any(|note| note.contains("undated")));

    let undated = write(&folder, "undated.csv", "symbol,name,sw_l1\nSH600000,x,Media\n");
    let undated = format!("{}:sw_l1", undated.display());
    let market = imported(&source, |options| options.sectors = Some(undated)).market;
    assert_eq!(shown(&market, "SH600000"), "Media Media Media");
    let note = market.notes().iter().find(|note| note.contains("undated"));
    assert!(note.unwrap().contains("known before it was made"), "{note:?}");
    let path = write(&folder, "panel.ktdp", "");
    std::fs::write(&path, market.to_bytes()).unwrap();
    let record = crate::market_source::MarketSource::from_file(&path)
        .unwrap()
        .record;
    assert!(record.limitations.iter().any(|line| line.contains("undated")));
}

#[test]
fn several_indices_are_kept_in_order_and_the_total_return_index_apart() {
    let folder = tempfile::tempdir().unwrap();
    let source = long_file(&folder, "sector", ["Banks"; 6]);
    let mut levels = "date,symbol,open,close\n".to_owned();
    for (symbol, level) in [("SH000905", 5000), ("SH000300", 3000), ("H00300", 4000)] {
        writeln!(levels, "2024-01-02,{symbol},{level},{level}").unwrap();
    }
    let file = write(&folder, "levels.csv", &levels).display().to_string();
    let options = |indices: &[&str]| ImportOptions {
        sources: vec![source.clone()],
        indices: indices.iter().map(|symbol| format!("{file}:{symbol}")).collect(),
        total_return_index: Some(format!("{file}:H00300")),
        ..ImportOptions::default()
    };
    let market = import(&options(&["SH000300", "SH000905"]), &mut ())
        .unwrap()
        .market;
    let codes: Vec<&str> = market.indices().iter().map(|index| index.code.as_str()).collect();
    assert_eq!(codes, ["SH000300", "SH000905"]);
    let index = market.total_return_index().unwrap();
    assert_eq!(
        (index.code.as_str(), index.close[0].to_bits()),
        ("H00300", 4000.0_f64.to_bits())
    );
    let twice = import(&options(&["SH000300", "SH000300"]), &mut ()).unwrap_err();
    assert!(twice.to_string().contains("imported twice"), "{twice}");
}

/// Bins as Qlib writes them: the place of the first day, then a value a day, as 32-bit floats.
fn qlib(folder: &TempDir) -> PathBuf {
    write(
        folder,
        "calendars/day.txt",
        "2024-01-02\n2024-01-03\n2024-01-04\n",
    );
    let list = ["SH600000", "SZ000001", "SH000300"].map(|code| format!("{code}\t2024-01-02\t2024-01-04\n"));
    write(folder, "instruments/all.txt", &list.concat());
    for code in ["sh600000", "sz000001", "sh000300"] {
        for field in ["open", "high", "low", "close", "volume"] {
            let bytes: Vec<u8> = [0.0_f32, 10.0, 10.0, 10.0]
                .into_iter()
                .flat_map(f32::to_le_bytes)
                .collect();
            let path = write(folder, &format!("features/{code}/{field}.day.bin"), "");
            std::fs::write(path, bytes).unwrap();
        }
    }
    folder.path().to_owned()
}

#[test]
fn qlib_bins_take_sectors_and_indices_from_beside_them() {
    let folder = tempfile::tempdir().unwrap();
    let source = qlib(&folder);
    let side = tempfile::tempdir().unwrap();
    let sectors =
        "symbol,sector,start,end\nSH600000,Banks,2020-01-01,2024-01-03\nSH600000,Media,2024-01-04,\n";
    let sectors = write(&side, "sectors.csv", sectors).display().to_string();
    let Imported { market, report } = imported(&source, |options| {
        options.sectors = Some(sectors);
        options.indices = vec![format!("{}:SH000300", source.display())];
    });
    assert_eq!(report.skipped_indices, ["SH000300"]);
    assert_eq!(market.indices()[0].close, [10.0; 3]);
    assert_eq!(shown(&market, "SH600000"), "Banks Banks Media");
}

/// A dividend of a row's day, and one of a side file, which stands above it.
#[test]
fn dividends_come_from_a_column_or_a_side_file() {
    let folder = tempfile::tempdir().unwrap();
    let source = long_file(&folder, "dividend", ["", "0.5", "", "0", "0.25", ""]);
    let paid = |market: &Market, code: &str| -> Vec<String> {
        let name = market.find(Ticker::parse(code).unwrap()).unwrap();
        let dividends = market.name(name).unwrap().dividends.iter();
        let text = |paid: &CashDividend| format!("{} {}", paid.ex_day.reveal(), paid.yuan_per_share);
        dividends.map(text).collect()
    };
    let Imported { market, report } = imported(&source, |_| ());
    assert!(report.unused_columns.is_empty() && report.unknown_columns.is_empty());
    let said: Vec<String> = report.day_facts.iter().map(DayFact::text).collect();
    assert_eq!(said[1..], ["unknown: no source says it", "2"]);
    let another = tempfile::tempdir().unwrap();
    let unpaid = long_file(&another, "dividend", ["", "0", "", "0", "", ""]);
    let unpaid = imported(&unpaid, |_| ()).report.day_facts;
    assert_eq!(unpaid[2].text(), "none");
    assert_eq!(paid(&market, "SH600000"), ["2024-01-03 0.5"]);
    let file = "symbol,ex_day,cash\nSH600000,2024-01-03,0.49\n000001.SZ,20240104,1.2345678\n";
    let file = write(&folder, "dividends.csv", file);
    let market = imported(&source, |options| options.dividends = Some(file)).market;
    assert_eq!(paid(&market, "SH600000"), ["2024-01-03 0.49"]);
    assert_eq!(
        paid(&market, "SZ000001"),
        ["2024-01-03 0.25", "2024-01-04 1.2345678"]
    );
}

#[test]
fn statuses_are_dated_and_a_delisting_period_ends_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let source = long_file(&folder, "st", ["0", "1", "1", "0", "0", "0"]);
    let file = "symbol,status,from,until_excl\nSH600000,delisting,2024-01-04,\nSZ000001,S,2006-01-01,2024-01-03\nSZ000001,*ST,2024-01-04,\n";
    let file = write(&folder, "statuses.csv", file);
    let market = imported(&source, |options| options.statuses = Some(file)).market;
    let marks = |code: &str| {
        let name = market.find(Ticker::parse(code).unwrap()).unwrap();
        let days = market.calendar().iter();
        let mark = |day| match (market.is_st(name, day), market.is_unreformed(name, day)) {
            (true, _) => "ST",
            (_, true) => "S",
            _ if market.delisting_period(name, day).is_some() => "delisting",
            _ => "-",
        };
        days.map(|day| mark(*day)).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(marks("SH600000"), "- ST delisting");
    assert_eq!(marks("SZ000001"), "S - ST");
}

#[test]
fn wrong_side_files_are_refused_by_row() {
    let statuses = "symbol,status,start,end\nSH600000";
    let dividends = "symbol,ex_day,cash\nSH600000,2024-01-03,0.5\nSH600000";
    for (is_status, text, part) in [
        (true, "symbol,status\nSH600000,ST\n".to_owned(), "lacks"),
        (true, format!("{statuses},PT,2024-01-02,2024-01-03\n"), "row 2"),
        (true, format!("{statuses},ST,2024-01-03,2024-01-02\n"), "row 2"),
        (false, "symbol,cash\nSH600000,0.5\n".to_owned(), "lacks"),
        (false, format!("{dividends},2024-01-03,0.5\n"), "row 3"),
        (false, format!("{dividends},2024-01-04,-1\n"), "row 3"),
        (false, format!("{dividends},soon,1\n"), "row 3"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let file = Some(write(&folder, "facts.csv", &text));
        let mut options = ImportOptions {
            sources: vec![long_file(&folder, "mood", [""; 6])],
            ..ImportOptions::default()
        };
        *(if is_status {
            &mut options.statuses
        } else {
            &mut options.dividends
        }) = file;
        let failure = import(&options, &mut ()).unwrap_err();
        assert!(failure.to_string().contains(part), "{text}: {failure}");
    }
}
