//! What jobs give back.

use crate::{column, prove, series, setup, source, tables};
use ktd_boxed::{BoxSetup, CodeRunner};
use ktd_kit::has_boxes;
use ktd_sandbox::{BoxJob, ColumnValues, JobData, JobResult, JobStatus, ModuleName, TableCellValue};

const CLOSES: [f64; 5] = [10.0, 11.0, 12.5, f64::NAN, 13.0];

#[test]
fn a_function_gets_a_frame_and_gives_back_a_series() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let text = "def alpha_ret(df):\n    assert list(df.columns) == ['day_close'] and isinstance(df.index, pd.DatetimeIndex)\n    \
                df['more'] = 1\n    return (df['day_close'] / df['day_close'].shift(1)).rename('alpha_ret')\n";
    let mut opened = launcher.open(source(text), 0).unwrap();
    let outcome = opened.run(&series("alpha_ret", &CLOSES)).unwrap();
    let Some(JobResult::Series { name, flags, values }) = outcome.result else {
        panic!("{outcome:?}");
    };
    assert_eq!((name.as_deref(), flags.len()), (Some("alpha_ret"), 0));
    assert!(values[0].is_nan() && values[3].is_nan() && values[4].is_nan());
    assert_eq!(values[1].to_bits(), (11.0_f64 / 10.0).to_bits());
    assert_eq!(
        (outcome.event.exit, outcome.event.diagnostics_bytes),
        (Some(0), 0)
    );
    // Nothing of an earlier run is there, not even in the argument.
    let again = opened.run(&series("alpha_ret", &CLOSES)).unwrap();
    assert_eq!(again.event.result_sha256, outcome.event.result_sha256);
    assert_eq!(again.event.input_sha256, outcome.event.input_sha256);
}

#[test]
fn whatever_is_wrong_with_a_function_has_a_name() {
    if !has_boxes() {
        return;
    }
    let modules = vec![ModuleName::unnamed("numpy"), ModuleName::unnamed("pandas")];
    let launcher = prove(BoxSetup { modules, ..setup() });
    let cases = [
        ("def f(df:\n  pass", "SyntaxError", "syntax"),
        (
            "import no_such_module\ndef f(df): return df",
            "ModuleNotFoundError",
            "import",
        ),
        ("x = {}['a']\ndef f(df): return df", "KeyError", "import"),
        ("def g(df): return df", "no_function", "import"),
        ("def f(df):\n    return df['absent']", "KeyError", "call"),
        ("def f(df):\n    raise SystemExit(0)", "SystemExit", "call"),
        ("def f(df): return 1", "not_series", "result"),
        ("def f(df): return df['day_close'].iloc[1:]", "index", "result"),
        ("def f(df): return df['day_close'].map(str)", "dtype", "result"),
    ];
    for (text, expected, expected_place) in cases {
        let outcome = launcher
            .open(source(text), 0)
            .unwrap()
            .run(&series("f", &CLOSES))
            .unwrap();
        let Some(JobResult::Error {
            class, place, line, ..
        }) = &outcome.result
        else {
            panic!("{text}: {outcome:?}");
        };
        assert_eq!(
            (outcome.status, class.as_str(), place.as_str()),
            (JobStatus::Error, expected, expected_place),
            "{text}"
        );
        if expected_place == "call" {
            assert_eq!(*line, Some(2), "{text}");
        }
    }
}

#[test]
fn a_class_gets_its_parameters_and_gives_back_tables() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let text = "\
import pandas as pd
class Strategy:
    def __init__(self, config): self.n = config['parameters']['N']['value']
    def run(self, market_data, initial_capital):
        frames = market_data if isinstance(market_data, dict) else {'one': market_data}
        trades = pd.DataFrame({'symbol': list(frames), 'pnl': [self.n * 0.5] * len(frames), 'n': [self.n] * len(frames)})
        first = next(iter(frames.values()))
        audit = pd.DataFrame({'datetime': first['datetime'], 'equity': [initial_capital, float('inf')], 'open': [True, None]})
        return trades, audit
";
    let frame = || {
        vec![
            column("datetime", ColumnValues::Time(vec![0, 86_400_000_000_000])),
            column("close", ColumnValues::F64(vec![1.0, 2.0])),
            column("name", ColumnValues::Text(vec!["a".to_owned(), "ü".to_owned()])),
            column("volume", ColumnValues::I64(vec![1, 2])),
        ]
    };
    let several = JobData::Frames(vec![("B".to_owned(), frame()), ("A".to_owned(), frame())]);
    let mut opened = launcher.open(source(text), 0).unwrap();
    for (data, symbols) in [(JobData::Frame(frame()), vec!["one"]), (several, vec!["B", "A"])] {
        let outcome = opened.run(&tables("Strategy", data)).unwrap();
        let Some(JobResult::Tables(tables)) = outcome.result else {
            panic!("{outcome:?}");
        };
        assert_eq!(tables[0].name, "trade_log");
        let first: Vec<TableCellValue> = tables[0].rows.iter().map(|row| row[0].clone()).collect();
        let expected: Vec<TableCellValue> = symbols
            .iter()
            .map(|name| TableCellValue::Text((*name).to_owned()))
            .collect();
        assert_eq!(first, expected);
        assert_eq!(
            tables[0].rows[0][1..],
            [TableCellValue::Number(1.0), TableCellValue::Whole(2)]
        );
        let day = TableCellValue::Text("1970-01-01T00:00:00".to_owned());
        assert_eq!(
            tables[1].rows[0],
            [day, TableCellValue::Number(100_000.0), TableCellValue::Flag(true)]
        );
        assert_eq!(
            tables[1].rows[1][1..],
            [TableCellValue::Missing, TableCellValue::Missing]
        );
    }
}

#[test]
fn a_syntax_tree_is_read_and_nothing_of_it_executed() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let text = "print('executed')\nimport numpy as n\ndef f(df):\n    '''text \\ud800'''\n    return [x for x in df.iterrows()]\n";
    let outcome = launcher
        .open(source(text), 0)
        .unwrap()
        .run(&BoxJob::facts("a test"))
        .unwrap();
    assert_eq!(outcome.event.diagnostics_bytes, 0);
    let Some(JobResult::Facts(nodes)) = outcome.result else {
        panic!("{outcome:?}");
    };
    let find = |kind: &str| nodes.iter().find(|node| node.kind == kind).unwrap();
    assert_eq!(nodes[0].kind, "Module");
    assert_eq!(find("ListComp").line, Some(5));
    assert_eq!(find("Attribute").text.as_deref(), Some("iterrows"));
    assert_eq!(
        (find("alias").text.as_deref(), find("alias").detail.as_deref()),
        (Some("numpy"), Some("n"))
    );
    assert_eq!(find("FunctionDef").text.as_deref(), Some("f"));
    let broken = launcher
        .open(source("def f(:"), 0)
        .unwrap()
        .run(&BoxJob::facts("a test"))
        .unwrap();
    assert!(matches!(broken.result, Some(JobResult::Error { place, .. }) if place == "syntax"));
    // As deep as a tree may not be.
    let deep = format!("x = {}1{}", "(".repeat(5_000), ")".repeat(5_000));
    let deep = launcher
        .open(source(&deep), 0)
        .unwrap()
        .run(&BoxJob::facts("a test"))
        .unwrap();
    assert!(
        [JobStatus::Error, JobStatus::Memory].contains(&deep.status),
        "{deep:?}"
    );
}

#[test]
fn a_lie_about_a_result_is_no_fault_of_the_host() {
    if !has_boxes() {
        return;
    }
    let launcher = prove(setup());
    let cases = [
        (
            "import os\nos.write(3, b'KTR1')\nos._exit(0)",
            JobStatus::BadResult,
        ),
        ("import os\nos.write(3, b'x' * (17 << 20))", JobStatus::Flood),
        ("import os\nos.close(3)", JobStatus::NoResult),
        ("import os\nos._exit(0)", JobStatus::NoResult),
        ("import os\nos._exit(97)", JobStatus::NoResult),
    ];
    for (text, status) in cases {
        let outcome = launcher
            .open(source(text), 0)
            .unwrap()
            .run(&BoxJob::script("a test"))
            .unwrap();
        assert_eq!(outcome.status, status, "{text}: {outcome:?}");
    }
}
