//! What the golden columns do not show: operators that no task uses, gaps, and texts that are no definition.

use super::{FxDefinition, FxFault};
use crate::bars::{FactorBar, FactorBars, PanelDay};
use proptest::prelude::*;

/// Bars whose prices are all the given one, on weekdays from a Monday on.
fn bars(closes: &[f64]) -> FactorBars {
    let monday = PanelDay::parse("2015-01-05").unwrap();
    let rows = monday.weekdays_from().zip(closes).map(|(day, close)| {
        let bar = FactorBar {
            open: *close,
            high: *close,
            low: *close,
            close: *close,
            volume: 100.0,
        };
        (day, bar)
    });
    FactorBars::new(rows).unwrap()
}

fn values(fx: &str, closes: &[f64]) -> Vec<Option<f64>> {
    let cells = FxDefinition::parse(fx).unwrap().evaluate(&bars(closes)).unwrap();
    cells
        .into_iter()
        .map(|cell| (!cell.is_nan()).then(|| (cell * 1e9).round() / 1e9))
        .collect()
}

fn fault(fx: &str) -> (FxFault, usize) {
    let error = FxDefinition::parse(fx).unwrap_err();
    (error.fault, error.at)
}

const N: Option<f64> = None;

fn some<const ROWS: usize>(cells: [f64; ROWS]) -> Vec<Option<f64>> {
    cells.map(Some).into()
}

#[test]
fn signs_bind_as_in_python() {
    assert_eq!(values("-2**2+C", &[1.0]), some([-3.0]));
    assert_eq!(values("2**3**0*4-6/3/2", &[1.0]), some([7.0]));
    assert_eq!(values("2**-1", &[1.0]), some([0.5]));
    assert_eq!(values("a = C+1; b = a*2; -b", &[1.0, 2.0]), some([-4.0, -6.0]));
    assert_eq!(values("(0-8)**(1/3)", &[1.0]), [N]);
}

#[test]
fn what_is_not_finite_is_missing() {
    assert_eq!(values("1/(C-1)", &[1.0, 2.0]), [N, Some(1.0)]);
    assert_eq!(values("exp(C*1000)", &[1.0]), [N]);
    assert_eq!(values("log(C-1)", &[1.0]), [N]);
    assert_eq!(values("either(gt(C,1),nan)", &[2.0]), [N]);
    assert_eq!(values("either(gt(C,1),lt(C,0))", &[2.0, 1.0]), some([1.0, 0.0]));
    assert_eq!(values("nan0(lag(C,1))", &[2.0, 1.0]), some([0.0, 2.0]));
    assert_eq!(values("when(lag(gt(C,0),1),C,nan)", &[2.0, 1.0]), [N, Some(1.0)]);
}

#[test]
fn windows_need_all_their_values() {
    let gap = "x = when(eq(C,9),nan,C); ";
    let closes = [1.0, 3.0, 9.0, 2.0, 4.0, 4.0];
    let with = |fx: &str| values(&format!("{gap}{fx}"), &closes);
    assert_eq!(with("sum(x,2)"), [N, Some(4.0), N, N, Some(6.0), Some(8.0)]);
    assert_eq!(with("max(x,2)"), [N, Some(3.0), N, N, Some(4.0), Some(4.0)]);
    assert_eq!(with("median(x,2)"), [N, Some(2.0), N, N, Some(3.0), Some(4.0)]);
    assert_eq!(with("var(x,2)"), [N, Some(2.0), N, N, Some(2.0), Some(0.0)]);
    assert_eq!(
        with("wma(x,2)"),
        [N, Some(7.0 / 3.0)]
            .map(|cell| cell.map(|value: f64| (value * 1e9).round() / 1e9))
            .into_iter()
            .chain([N, N, Some(3.333_333_333), Some(4.0)])
            .collect::<Vec<_>>()
    );
    assert_eq!(with("argmax(x,2)"), [N, Some(0.0), N, N, Some(0.0), Some(0.0)]);
    assert_eq!(with("cov(x,2*x,2)"), [N, Some(4.0), N, N, Some(4.0), Some(0.0)]);
    assert_eq!(with("corr(x,x,2)"), [N, Some(1.0), N, N, Some(1.0), N]);
    assert_eq!(
        with("fir(x,[0.5,0.5])"),
        [N, Some(2.0), N, N, Some(3.0), Some(4.0)]
    );
    assert_eq!(
        with("cummin(x)"),
        [Some(1.0), Some(1.0), N, Some(1.0), Some(1.0), Some(1.0)]
    );
    assert_eq!(with("cumprod(x)"), some([1.0, 3.0, 3.0, 6.0, 24.0, 96.0]));
    assert_eq!(with("emean(x,3)"), [N, N, N, Some(2.0), Some(2.5), Some(2.8)]);
}

#[test]
fn states_remember_and_a_missing_condition_is_false() {
    let closes = [1.0, 5.0, 2.0, 3.0, 5.0];
    assert_eq!(
        values("since(eq(C,5))", &closes),
        [N, Some(0.0), Some(1.0), Some(2.0), Some(0.0)]
    );
    assert_eq!(
        values("last(eq(C,5),lag(C,1))", &closes),
        [N, Some(1.0), Some(1.0), Some(1.0), Some(3.0)]
    );
    assert_eq!(
        values("sumsince(eq(C,5),C)", &closes),
        [N, Some(5.0), Some(7.0), Some(10.0), Some(5.0)]
    );
    assert_eq!(
        values("run(gt(C,lag(C,1)))", &closes),
        some([0.0, 1.0, 0.0, 1.0, 2.0])
    );
    assert_eq!(
        values("latch(gt(C,2),eq(C,2))", &closes),
        some([0.0, 1.0, 0.0, 1.0, 1.0])
    );
    assert_eq!(
        values("runsum(C,sign(C-2))", &closes),
        some([1.0, 5.0, 2.0, 3.0, 8.0])
    );
}

#[test]
fn periods_are_those_of_the_calendar() {
    let closes: Vec<f64> = (1..=11).map(f64::from).collect();
    let week = values("prevp(C,'W','mean')", &closes);
    assert_eq!(week[..5], [N; 5]);
    assert_eq!(
        week[5..],
        [Some(3.0), Some(3.0), Some(3.0), Some(3.0), Some(3.0), Some(8.0)]
    );
    assert_eq!(
        values("sofar(C,'W','first')", &closes)[4..7],
        [Some(1.0), Some(6.0), Some(6.0)]
    );
    assert_eq!(values("sofar(C,'M','sum')", &closes)[10], Some(66.0));
    assert_eq!(values("samedow(C,2)", &closes)[10], Some(3.5));
    // a missing value within the week
    assert_eq!(values("prevp(lag(C,1),'W','max')", &closes)[5], N);
    assert_eq!(values("prevp(lag(C,1),'W','last')", &closes)[5], Some(4.0));
}

#[test]
fn a_text_that_is_no_definition_is_refused_at_its_byte() {
    for (text, wanted, at) in INVALID {
        assert_eq!(fault(text), (wanted, at), "{text}");
    }
}

#[test]
fn a_definition_has_an_end_of_its_size() {
    let sum = |terms: usize| format!("C{}", "+C".repeat(terms));
    let nested = |levels: usize| format!("{}C{}", "(".repeat(levels), ")".repeat(levels));
    assert_eq!(fault(&sum(128)).0, FxFault::TooLarge);
    assert_eq!(fault(&nested(32)).0, FxFault::TooDeep);
    assert_eq!(fault(&" ".repeat(9_000)).0, FxFault::TooLong);
    assert!(FxDefinition::parse(&sum(127)).is_ok());
    assert!(FxDefinition::parse(&nested(31)).is_ok());
}

/// Texts that are no definition: what is wrong, and the byte.
const INVALID: [(&str, FxFault, usize); 23] = [
    ("C+", FxFault::Syntax, 2),
    ("C C", FxFault::Syntax, 2),
    ("(C", FxFault::Syntax, 2),
    ("a = C", FxFault::Syntax, 5),
    ("C $", FxFault::Syntax, 2),
    ("1.2.3", FxFault::Number, 0),
    ("C+X", FxFault::UnknownName, 2),
    ("foo(C)", FxFault::UnknownOperator, 0),
    ("C = 1; C", FxFault::NameTaken, 0),
    ("a = 1; a = 2; a", FxFault::NameTaken, 7),
    ("mean(C)", FxFault::Arity, 0),
    ("mean(C,0)", FxFault::Window, 7),
    ("mean(C,2.5)", FxFault::Window, 7),
    ("mean(C,-3)", FxFault::Window, 7),
    ("lag(C,-1)", FxFault::Window, 6),
    ("mean(C,V)", FxFault::Argument, 7),
    ("ema(C,0.5)", FxFault::Window, 6),
    ("ewa(C,0)", FxFault::Window, 6),
    ("quantile(C,9,1.5)", FxFault::Window, 13),
    ("prevp(C,'Y','max')", FxFault::Argument, 8),
    ("prevp(C,'W','sum')", FxFault::Argument, 12),
    ("mean('C',2)", FxFault::Argument, 5),
    ("fdw(0.4,20)", FxFault::Argument, 0),
];

#[test]
fn a_recursion_over_a_gap_is_an_error_with_its_place() {
    let definition = FxDefinition::parse("x = when(eq(C,2),nan,C); 1+ema(x,3)").unwrap();
    let error = definition.evaluate(&bars(&[1.0, 2.0, 3.0])).unwrap_err();
    assert_eq!((error.fault, error.at), (FxFault::Gap, 27));
    assert!(definition.evaluate(&bars(&[2.0, 1.0, 3.0])).is_ok());
}

proptest! {
    /// A value of a row is the same whatever follows it: the language cannot look ahead.
    #[test]
    fn no_operator_reads_a_later_row(place in 0..FACTORS.len(), cut in 1..60_usize, seed in 0..1_000_u64) {
        let mut stream = ktd_env::KeyedStream::for_purpose(seed, "test");
        let closes: Vec<f64> = (0..60).map(|_| 1.0 + (stream.uniform() * 20.0).floor() / 4.0).collect();
        let definition = FxDefinition::parse(FACTORS[place]).unwrap();
        let whole = definition.evaluate(&bars(&closes)).unwrap();
        let prefix = definition.evaluate(&bars(&closes[..cut])).unwrap();
        let bits = |cells: &[f64]| -> Vec<u64> { cells.iter().map(|cell| cell.to_bits()).collect() };
        prop_assert_eq!(bits(&whole[..cut]), bits(&prefix));
    }

    #[test]
    fn any_text_is_a_definition_or_an_error_within_it(text in "[a-zA-Z0-9_ ()+*/,;='.\\[\\]é-]{0,60}") {
        if let Err(error) = FxDefinition::parse(&text) {
            prop_assert!(error.at <= text.len());
        }
    }
}

/// Operators of every group.
const FACTORS: [&str; 16] = [
    "std(ret(C,1),5)",
    "rank(C,7)*median(C,4)",
    "argmax(C,5)-argmin(C,5)",
    "quantile(C,6,0.3)-tailmean(C,6,0.3)",
    "skew(C,8)+kurt(C,9)",
    "corr(C,lag(C,1),6)+beta(C,lag(C,2),6)",
    "rsq(C,6)+rse(C,6)+resid(C,6)",
    "curve(C,5)+timerank(C,5)+maxdd(C,5)+medad(C,5)",
    "ema(C,3)-wilder(C,3)+ewa(C,0.2)",
    "cumsum(C)/cumprod(C)+cummax(C)-cummin(C)",
    "emean(C,3)+estd(C,3)+erank(C,3)+ebeta(C,lag(C,1),4)",
    "since(gt(C,3))+last(gt(C,3),C)+sumsince(gt(C,3),C)",
    "run(gt(C,2))+runsum(C,sign(C-3))+latch(gt(C,4),lt(C,2))",
    "prevp(C,'W','max')+sofar(C,'M','mean')",
    "samedow(C,2)",
    "fir(C,fdw(0.4,6))",
];
