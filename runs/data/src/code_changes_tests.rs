//! Changed codes on their way into a panel: one name where they fit, an error where they do not.

use crate::{DataFileError, ImportOptions, Imported, import};
use ktd_env::Ticker;
use std::path::PathBuf;
use tempfile::TempDir;

/// Rows of a long file: date, code, factor.
fn long_file(folder: &TempDir, rows: &[(&str, &str, &str)]) -> PathBuf {
    let lines = rows.iter().map(|(date, code, factor)| {
        let cells = if factor.is_empty() {
            ",,,,0"
        } else {
            "10,10,10,10,100"
        };
        format!("{date},{code},{cells},{factor},2010-08-27,1\n")
    });
    let head = "date,symbol,open,high,low,close,volume,factor,listed,st\n".to_owned();
    write(folder, "long.csv", &(head + &lines.collect::<String>()))
}

fn write(folder: &TempDir, name: &str, text: &str) -> PathBuf {
    let path = folder.path().join(name);
    std::fs::write(&path, text).unwrap();
    path
}

fn imported(
    rows: &[(&str, &str, &str)],
    files: impl FnOnce(&TempDir, &mut ImportOptions),
) -> Result<Imported, DataFileError> {
    let folder = tempfile::tempdir().unwrap();
    let mut options = ImportOptions {
        sources: vec![long_file(&folder, rows)],
        basis: Some(ktd_env::PriceBasis::Raw),
        ..ImportOptions::default()
    };
    files(&folder, &mut options);
    import(&options, &mut ())
}

/// SZ300114 became SZ302132 on 2025-02-17; another name has rows on all days.
const JOINED: [(&str, &str, &str); 6] = [
    ("2025-02-13", "SZ300114", "2"),
    ("2025-02-14", "SZ300114", "2"),
    ("2025-02-17", "SZ302132", "2"),
    ("2025-02-18", "SZ302132", "2"),
    ("2025-02-13", "SH600000", "1"),
    ("2025-02-18", "SH600000", "1"),
];

#[test]
fn a_changed_code_is_one_name_with_all_that_both_have() {
    let files = |folder: &TempDir, options: &mut ImportOptions| {
        let members = "symbol,start,end\nSZ300114,2025-02-13,2025-02-14\nSZ302132,2025-02-17,2025-02-18\n";
        options.universe = Some(write(folder, "members.csv", members));
        let names = "symbol,name\nSZ300114,Old\nSZ302132,New\n";
        options.names = Some(write(folder, "names.csv", names));
        let sectors = "symbol,sector\nSZ302132,Aircraft\nSZ300114,Gauges\n";
        options.sectors = Some(write(folder, "sectors.csv", sectors).display().to_string());
        let listings = "symbol,list_date\nSZ300114,2010-08-27\nSZ302132,2025-02-17\n";
        options.listings = Some(write(folder, "listings.csv", listings));
    };
    let Imported { market, report } = imported(&JOINED, files).unwrap();
    let codes: Vec<&str> = market.names().map(|(_, info)| info.ticker.reveal()).collect();
    assert_eq!(codes, ["SH600000", "SZ302132"]);
    let name = market.find(Ticker::parse("SZ302132").unwrap()).unwrap();
    let info = market.name(name).unwrap();
    assert_eq!(market.bars_of(name).count(), 4);
    assert_eq!(info.company_names, ["Old", "New"]);
    assert_eq!(info.listed.unwrap().reveal(), "2010-08-27");
    assert_eq!(market.date(info.last_row).unwrap().reveal(), "2025-02-18");
    assert_eq!(market.sectors()[usize::from(info.sector.unwrap())], "Aircraft");
    for date in market.calendar() {
        assert!(market.is_member(name, *date) && market.is_st(name, *date));
    }
    let [joined] = report.joined_codes.as_slice() else {
        panic!("{:?}", report.joined_codes)
    };
    assert_eq!(
        (joined.old.reveal(), joined.new.reveal()),
        ("SZ300114", "SZ302132")
    );
    assert_eq!((joined.from.reveal().as_str(), joined.rows), ("2025-02-17", 2));
}

/// The file stands above what is known, and a chain ends at the newest code.
#[test]
fn a_file_of_changes_stands_above_the_known_ones() {
    let codes = "old,new,from\nBJ430047,BJ830047,2025-02-14\nBJ830047,BJ920047,2025-02-17\nSZ300114,SZ301114,2025-02-17\n";
    let rows = [
        ("2025-02-13", "BJ430047", "2"),
        ("2025-02-14", "BJ830047", "2"),
        ("2025-02-17", "BJ920047", "2"),
        ("2025-02-14", "SZ300114", "1"),
        ("2025-02-17", "SZ301114", "1"),
    ];
    let files = |folder: &TempDir, options: &mut ImportOptions| {
        options.codes = Some(write(folder, "codes.csv", codes));
    };
    let market = imported(&rows, files).unwrap().market;
    let names: Vec<(&str, usize)> = market
        .names()
        .map(|(name, info)| (info.ticker.reveal(), market.bars_of(name).count()))
        .collect();
    assert_eq!(names, [("BJ920047", 3), ("SZ301114", 2)]);
}

#[test]
fn rows_that_do_not_fit_are_refused_and_say_so() {
    let with = |row: (&'static str, &'static str, &'static str)| {
        let mut rows = JOINED.to_vec();
        rows.push(row);
        imported(&rows, |_, _| ()).map(|_| ()).unwrap_err().to_string()
    };
    let late = with(("2025-02-19", "SZ300114", "2"));
    assert!(
        late.contains("row 8") && late.contains("from 2025-02-17 on"),
        "{late}"
    );
    let twice = with(("2025-02-14", "SZ302132", "2"));
    assert!(
        twice.contains("are one name") && twice.contains("row 3"),
        "{twice}"
    );
    let mut rows = JOINED.to_vec();
    rows[2].2 = "1";
    let moved = imported(&rows, |_, _| ()).map(|_| ()).unwrap_err().to_string();
    assert!(moved.contains("factor moves"), "{moved}");
    // A row without a close is no bar, and says nothing.
    rows = JOINED.to_vec();
    rows.push(("2025-02-19", "SZ300114", ""));
    assert_eq!(imported(&rows, |_, _| ()).unwrap().report.build.bars, 6);
}

#[test]
fn files_of_changes_that_contradict_themselves_are_refused() {
    for (text, part) in [
        ("old,new\nBJ430047,BJ920047\n", "lacks one of the columns"),
        ("old,new,from\nBJ430047,BJ430047,2025-10-09\n", "changes nothing"),
        ("old,new,from\nBJ430047,BJ920047,soon\n", "row 2"),
        (
            "old,new,from\nBJ430047,BJ920047,2025-10-09\nBJ430047,BJ920048,2025-10-09\n",
            "second change",
        ),
        (
            "old,new,from\nBJ430047,BJ920047,2025-10-09\nBJ830047,BJ920047,2025-10-09\n",
            "merger",
        ),
        (
            "old,new,from\nBJ430047,BJ920047,2025-10-09\nBJ920047,BJ430047,2025-10-10\n",
            "does not come before",
        ),
    ] {
        let files = |folder: &TempDir, options: &mut ImportOptions| {
            options.codes = Some(write(folder, "codes.csv", text));
        };
        let failure = imported(&JOINED, files).map(|_| ()).unwrap_err().to_string();
        assert!(failure.contains(part), "{text:?}: {failure}");
    }
}
