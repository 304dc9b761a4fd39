//! Laws of the engine: what a value may depend on, and what a canonical form is.
#![expect(
    clippy::cast_possible_truncation,
    reason = "a test stops at the first surprise"
)]

use crate::{
    Alpha158Options, CheckedFormula, FieldCells, FormulaEngine, FormulaFault, FormulaPlan, FormulaPrecision,
    FormulaRole, NamePanel, NameRows, NoOtherNames, PanelName, RowsBack, alpha158, alpha360, check_formula,
    prove_no_look_ahead, style_factors,
};
use proptest::prelude::*;

const FIELDS: [&str; 7] = ["open", "high", "low", "close", "volume", "vwap", "amount"];

/// A stream of numbers that a seed decides.
struct Stream(u64);

impl Stream {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    fn unit(&mut self) -> f64 {
        f64::from(self.next() as u32) / f64::from(u32::MAX)
    }
}

/// A name with halts, ties, zeros, infinities and a constant stretch.
fn columns(rows: usize, seed: u64) -> Vec<Vec<f32>> {
    let mut stream = Stream(seed);
    let mut price = 10.0;
    let mut out = vec![Vec::with_capacity(rows); FIELDS.len()];
    for row in 0..rows {
        price *= 1.0 + 0.04 * (stream.unit() - 0.5);
        let is_missing = stream.below(12) == 0;
        let is_constant = row / 15 % 4 == 3;
        for (place, column) in out.iter_mut().enumerate() {
            let value = if place == 4 {
                f64::from(u32::try_from(stream.below(4)).unwrap()) * 1e6
            } else {
                price * (1.0 + 0.01 * stream.unit())
            };
            let value = if is_constant { 7.25 } else { value };
            let value = if stream.below(150) == 0 {
                f64::INFINITY
            } else {
                value
            };
            column.push(if is_missing { f32::NAN } else { value as f32 });
        }
    }
    out
}

/// A random formula without comparisons of floats, of every kind of operator.
fn formula(stream: &mut Stream, depth: usize) -> String {
    if depth == 0 || stream.below(6) == 0 {
        return format!("${}", stream.pick(&FIELDS));
    }
    let inner = formula(stream, depth - 1);
    let window = stream.pick(&[1, 2, 3, 5, 8, 13, 20, 61, 0]);
    match stream.below(9) {
        0 => {
            let operator = stream.pick(&["Abs", "Sign", "Log"]);
            format!("{operator}({inner})")
        }
        1 => {
            let other = formula(stream, depth - 1);
            let sign = stream.pick(&["+", "-", "*", "/"]);
            format!("({inner}{sign}{other})")
        }
        2 => format!("If({inner}>{},{inner},1.5)", formula(stream, depth - 1)),
        3 => {
            let operator = stream.pick(&["Ref", "Delta"]);
            format!("{operator}({inner},{window})")
        }
        4 => {
            let operator = stream.pick(&["Corr", "Cov"]);
            format!(
                "{operator}({inner},{},{})",
                formula(stream, depth - 1),
                window.max(2)
            )
        }
        5 => format!("Quantile({inner},{window},{})", stream.pick(&["0.2", "0.8", "1"])),
        6 => format!(
            "{}({inner},{})",
            stream.pick(&["Skew", "Kurt"]),
            if window == 0 { 0 } else { window.max(4) }
        ),
        7 => format!("{}({inner},0.25)", stream.pick(&["EMA", "Std", "Count"])),
        _ => {
            let operator = stream.pick(&[
                "Mean", "Sum", "Max", "Min", "Std", "Var", "Med", "Mad", "Rank", "Count", "IdxMax", "IdxMin",
                "WMA", "EMA", "Slope", "Resi", "Rsquare",
            ]);
            format!("{operator}({inner},{window})")
        }
    }
}

fn checked(texts: &[String]) -> Vec<CheckedFormula> {
    let check = |text: &String| {
        check_formula(text, &FIELDS, FormulaRole::Alpha).unwrap_or_else(|error| panic!("{text}: {error}"))
    };
    texts.iter().map(check).collect()
}

/// The bits of all columns, cut to so many rows.
fn bits(
    engine: &mut FormulaEngine,
    formulas: &[CheckedFormula],
    name: &[Vec<f32>],
    rows: usize,
) -> Vec<Vec<u32>> {
    let plan = FormulaPlan::of(formulas, FormulaPrecision::Qlib);
    let column = |field: &String| &name[FIELDS.iter().position(|known| known == field).unwrap()][..rows];
    let columns = plan
        .fields()
        .iter()
        .map(|field| FieldCells::Singles(column(field)))
        .collect();
    let mut out = vec![Vec::new(); formulas.len()];
    engine
        .evaluate(
            &plan,
            &NameRows::new(0, columns),
            &NoOtherNames,
            |formula, cells| {
                out[formula] = cells.iter().map(|cell| cell.to_bits()).collect();
            },
        )
        .unwrap();
    out
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    /// Neither the rows after a cell, nor the formulas and names evaluated with it, change a bit of it.
    #[test]
    fn bits_depend_on_nothing_but_the_own_rows(seed in any::<u64>(), rows in 1_usize..200) {
        let mut stream = Stream(seed);
        let texts: Vec<String> = (0..6).map(|_| formula(&mut stream, 3)).collect();
        let formulas = checked(&texts);
        let name = columns(200, seed);
        let mut engine = FormulaEngine::default();
        let whole = bits(&mut engine, &formulas, &name, 200);
        bits(&mut engine, &formulas, &columns(120, seed ^ 1), 120);
        let short = bits(&mut engine, &formulas, &name, rows);
        for ((formula, whole), short) in formulas.iter().zip(&whole).zip(&short) {
            prop_assert_eq!(&whole[..rows], short.as_slice(), "{}", formula.canonical());
        }
        for (formula, whole) in formulas.iter().zip(&whole) {
            let alone = bits(&mut FormulaEngine::default(), std::slice::from_ref(formula), &name, 200);
            prop_assert_eq!(&alone[0], whole, "{}", formula.canonical());
        }
    }

    /// A canonical form is a formula, and its own canonical form.
    #[test]
    fn canonical_forms_are_read_as_themselves(seed in any::<u64>()) {
        let mut stream = Stream(seed);
        let text = formula(&mut stream, 4);
        if let Ok(first) = check_formula(&text, &FIELDS, FormulaRole::Alpha) {
            let second = check_formula(first.canonical(), &FIELDS, FormulaRole::Alpha);
            prop_assert_eq!(second.as_ref(), Ok(&first));
        }
    }

    /// Any text is a formula or an error with a place in it.
    #[test]
    fn no_text_is_too_strange(text in "[$a-zA-Z0-9_(),.'+*/<>=&| -]{0,60}") {
        if let Err(error) = check_formula(&text, &FIELDS, FormulaRole::Alpha) {
            prop_assert!(error.at <= text.len());
            prop_assert!(!error.to_string().is_empty());
        }
    }

    /// Any characters at all.
    #[test]
    fn no_character_is_too_strange(text in any::<String>()) {
        if let Err(error) = check_formula(&text, &FIELDS, FormulaRole::Alpha) {
            prop_assert!(error.at <= text.len());
        }
    }
}

#[test]
fn a_formula_in_float64_loses_no_digits() {
    let name: Vec<f64> = (0..40).map(|row| 1e9 + f64::from(row) * 1e-3).collect();
    let formulas = checked(&["Slope($close,5)".to_owned()]);
    let plan = FormulaPlan::of(&formulas, FormulaPrecision::Float64);
    let rows = NameRows::new(0, vec![FieldCells::Doubles(&name)]);
    let visit = |_: usize, cells: &[f32]| {
        assert_eq!(cells.len(), 40);
        assert!(
            cells[1..].iter().all(|cell| (cell - 1e-3).abs() < 1e-6),
            "{cells:?}"
        );
    };
    FormulaEngine::default()
        .evaluate(&plan, &rows, &NoOtherNames, visit)
        .unwrap();
}

#[test]
fn sets_share_their_parts() {
    let texts: Vec<String> = alpha158(&Alpha158Options::default())
        .into_iter()
        .map(|formula| formula.text)
        .collect();
    let plan = FormulaPlan::of(&checked(&texts), FormulaPrecision::Qlib);
    assert_eq!(plan.formulas(), 158);
    assert!(plan.steps() < 420, "{} steps", plan.steps());
    let options = Alpha158Options {
        windows: vec![5],
        include: Some(vec!["MA".to_owned(), "STD".to_owned()]),
        exclude: vec!["STD".to_owned()],
    };
    let few = alpha158(&options);
    assert_eq!(few.last().map(|formula| formula.name.as_str()), Some("MA5"));
    assert_eq!(few.len(), 14);
}

#[test]
fn every_named_formula_is_an_alpha() {
    for formula in alpha360().into_iter().chain(style_factors()) {
        let checked = check_formula(&formula.text, &FIELDS, FormulaRole::MaskedAlpha);
        assert!(checked.is_ok(), "{}: {checked:?}", formula.name);
    }
}

#[test]
fn other_instruments_are_read_on_their_own_sessions() {
    struct One(Vec<f32>);
    impl NamePanel for One {
        fn name_rows(&self, code: &str) -> Option<NameRows<'_>> {
            code.eq_ignore_ascii_case("SH600000")
                .then(|| NameRows::new(2, vec![FieldCells::Singles(&self.0)]))
        }
    }
    let text = "ChangeInstrument('SH600000',Mean($close,2))-Mask($close>2,'sh600000')".to_owned();
    let plan = FormulaPlan::of(&checked(&[text]), FormulaPrecision::Qlib);
    let own = [1.0_f32; 6];
    let rows = NameRows::new(1, vec![FieldCells::Singles(&own)]);
    let mut out = Vec::new();
    let mut engine = FormulaEngine::default();
    let panel = One(vec![1.0, 3.0, 5.0]);
    engine
        .evaluate(&plan, &rows, &panel, |_, cells| out = cells.to_vec())
        .unwrap();
    assert_eq!(format!("{out:?}"), "[NaN, 1.0, 1.0, 3.0, NaN, NaN]");
    let error = engine
        .evaluate(&plan, &rows, &NoOtherNames, |_, _| {})
        .unwrap_err();
    assert!(error.to_string().contains("sh600000"), "{error}");
    let error = engine
        .evaluate(&plan, &NameRows::new(0, Vec::new()), &panel, |_, _| {})
        .unwrap_err();
    assert!(error.to_string().contains("0 columns"), "{error}");
}

/// A panel of three names under proof, cut and replaced at five sessions each.
fn leaks(formulas: &[CheckedFormula]) -> usize {
    let plan = FormulaPlan::of(formulas, FormulaPrecision::Qlib);
    let panel: Vec<Vec<Vec<f32>>> = (0..3).map(|seed| columns(120, seed)).collect();
    let place = |field: &String| FIELDS.iter().position(|known| known == field).unwrap();
    let names: Vec<PanelName<'_>> = panel
        .iter()
        .enumerate()
        .map(|(code, name)| PanelName {
            code: format!("N{code}"),
            rows: NameRows::new(
                code * 10,
                plan.fields()
                    .iter()
                    .map(|field| FieldCells::Singles(&name[place(field)]))
                    .collect(),
            ),
        })
        .collect();
    let replace = |session: usize, name: &PanelName<'_>| {
        let other = columns(name.rows.rows(), session as u64 + 77);
        plan.fields()
            .iter()
            .map(|field| other[place(field)].iter().map(|cell| f64::from(*cell)).collect())
            .collect()
    };
    let sessions = [1, 15, 60, 100, 119];
    prove_no_look_ahead(&plan, &names, &sessions, &sessions, replace)
        .unwrap()
        .len()
}

#[test]
fn no_value_reads_a_later_day() {
    let mut texts: Vec<String> = alpha158(&Alpha158Options::default())
        .into_iter()
        .map(|formula| formula.text)
        .collect();
    let mut stream = Stream(5);
    texts.extend((0..300).map(|_| formula(&mut stream, 3)));
    texts.push("ChangeInstrument('N1',Std($close,7))".to_owned());
    assert_eq!(leaks(&checked(&texts)), 0);
}

#[test]
fn the_proof_finds_what_reads_a_later_day() {
    for text in [
        "Ref($close,-1)",
        "Delta(Mean($close,3),-2)",
        "Ref(Ref($close,-3),1)",
    ] {
        assert_eq!(
            check_formula(text, &FIELDS, FormulaRole::Alpha)
                .unwrap_err()
                .fault,
            FormulaFault::LookAhead
        );
        let label = check_formula(text, &FIELDS, FormulaRole::Label).unwrap();
        assert!(0 < leaks(&[label]), "{text}");
    }
    let too_far = check_formula("Ref($close,-261)", &FIELDS, FormulaRole::Label).unwrap_err();
    assert_eq!(too_far.fault, FormulaFault::LookAhead);
}

#[test]
fn reach_follows_the_structure() {
    for (text, back) in [
        ("Mean(Ref($close,3),5)", RowsBack::Rows(7)),
        ("Delta($close,4)+Corr($open,$close,10)", RowsBack::Rows(9)),
        ("EMA($close,5)", RowsBack::All),
        ("Ref($close,0)", RowsBack::All),
        ("Mean($close,0.5)", RowsBack::All),
        ("If($close>1,Quantile($close,6,0.5),1)", RowsBack::Rows(5)),
    ] {
        let formula = check_formula(text, &FIELDS, FormulaRole::Alpha).unwrap();
        assert_eq!(formula.reach().back, back, "{text}");
    }
}

#[test]
fn masked_formulas_name_no_code() {
    let text = "$close/ChangeInstrument('SH600000',$close)";
    assert!(check_formula(text, &FIELDS, FormulaRole::Alpha).is_ok());
    let error = check_formula(text, &FIELDS, FormulaRole::MaskedAlpha).unwrap_err();
    assert_eq!((error.fault, error.at), (FormulaFault::NamesACode, 7));
}

#[test]
fn limits_hold_at_their_edges() {
    let nested = |levels: usize| format!("{}$close{}", "Abs(".repeat(levels), ")".repeat(levels));
    let fault = |text: &str| {
        check_formula(text, &FIELDS, FormulaRole::Alpha)
            .map(|_| ())
            .map_err(|error| error.fault)
    };
    assert_eq!(fault(&nested(31)), Ok(()));
    assert_eq!(fault(&nested(32)), Err(FormulaFault::TooDeep));
    assert_eq!(
        fault(&format!("{}$close{}", "(".repeat(32), ")".repeat(32))),
        Ok(())
    );
    assert_eq!(fault(&"(".repeat(10_000_000)), Err(FormulaFault::TooLong));
    assert_eq!(fault(&"$close**".repeat(200)), Err(FormulaFault::TooDeep));
    assert_eq!(
        fault(&format!("{}$close", "-".repeat(5000))),
        Err(FormulaFault::TooLarge)
    );
    assert_eq!(
        fault(&format!("$close{}", "-+".repeat(4000))),
        Err(FormulaFault::Syntax)
    );
    assert_eq!(fault("Ref($close,5000)"), Ok(()));
    assert_eq!(
        fault("Ref($close,-9223372036854775807-1)"),
        Err(FormulaFault::Window)
    );
    assert_eq!(fault("Mask($close,'a b')"), Err(FormulaFault::Syntax));
}

/// What numpy's types do to integers and conditions.
#[test]
fn integers_and_conditions_keep_their_types() {
    let close = [1.0_f32, f32::NAN, 0.0, -2.0];
    let answers = [
        ("If($close>0,2,3)**2", "[4.0, 9.0, 9.0, 9.0]"),
        ("If($close>0,2,3)/2", "[1.0, 1.5, 1.5, 1.5]"),
        ("If($close,1,0)", "[1.0, 1.0, 0.0, 1.0]"),
        ("Not($close>0)-1", "[-1.0, 0.0, 0.0, 0.0]"),
        ("Abs(If($close>0,-2,3))", "[2.0, 3.0, 3.0, 3.0]"),
        ("Ref($close>0,0)", "[1.0, 1.0, 1.0, 1.0]"),
        ("Delta($close>0,1)", "[NaN, -1.0, 0.0, 0.0]"),
        ("Delta($close,0)", "[0.0, NaN, -1.0, -3.0]"),
        (
            "If($close>0,9223372036854775807,1)+1",
            "[-9.223372e18, 2.0, 2.0, 2.0]",
        ),
        ("Sign($close)", "[1.0, NaN, 0.0, -1.0]"),
        ("($close>0)*($close>-1)+($close<0)", "[1.0, 0.0, 0.0, 1.0]"),
        ("Greater($close>0,If($close<0,5,0))", "[1.0, 0.0, 0.0, 5.0]"),
        ("$close!=$close", "[0.0, 1.0, 0.0, 0.0]"),
        ("Count($close,2)", "[1.0, 1.0, 1.0, 2.0]"),
        ("EMA($close,1)", "[1.0, 1.0, 0.0, -2.0]"),
    ];
    for (text, answer) in answers {
        let plan = FormulaPlan::of(&checked(&[text.to_owned()]), FormulaPrecision::Qlib);
        let rows = NameRows::new(0, vec![FieldCells::Singles(&close)]);
        let visit = |_: usize, cells: &[f32]| assert_eq!(format!("{cells:?}"), answer, "{text}");
        FormulaEngine::default()
            .evaluate(&plan, &rows, &NoOtherNames, visit)
            .unwrap();
    }
}
