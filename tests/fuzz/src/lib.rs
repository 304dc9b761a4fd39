//! Fuzz targets: what the reply of a model or the file of a stranger reaches, from bytes to a value or an error.
//!
//! A target asserts what holds for every input: no panic, an error that says something, a bound, and that what was read
//! is read again from what is written. Both the fuzzer and the tests of the workspace (`program::fuzz`) call them.

mod certificates;
mod episodes;
mod experiments;
mod formulas;
mod panels;
mod records;
mod replies;

/// A target: its name, and what it does with an input.
#[derive(Clone, Copy)]
pub struct Target {
    /// The name of the fuzzer's program and of the folder of its cases.
    pub name: &'static str,
    /// Reads the input, and panics where a law is broken.
    pub run: fn(&[u8]),
}

macro_rules! targets {
    ($($name:ident: $run:path,)*) => {
        /// Every target.
        pub const TARGETS: &[Target] = &[$(Target { name: stringify!($name), run: $run },)*];
    };
}

targets! {
    chat_completions: replies::chat_completions,
    responses: replies::responses,
    messages: replies::messages,
    generate_content: replies::generate_content,
    tool_call: episodes::tool_call,
    submission: episodes::submission,
    experiment: experiments::experiment,
    price_table: experiments::price_table,
    header: records::header,
    events: records::events,
    exchanges: records::exchanges,
    lines: records::lines,
    panel: panels::panel,
    csv_panel: panels::csv_panel,
    parquet_panel: panels::parquet_panel,
    qlib_simulation: panels::qlib_simulation,
    qlib_import: panels::qlib_import,
    certificate: certificates::certificate,
    formula: formulas::formula,
    formula_answers: formulas::formula_answers,
}

/// Runs the target of this name.
///
/// # Panics
/// Where the input breaks a law, and for a name that is no target's.
pub fn run(name: &str, input: &[u8]) {
    let target = TARGETS.iter().find(|target| target.name == name);
    (target.expect("a target has this name").run)(input);
}

/// Fails unless a refusal says something.
pub(crate) fn assert_explained(message: &impl ToString) {
    assert!(!message.to_string().trim().is_empty(), "a refusal says nothing");
}

/// The first byte, which chooses among settings, and the rest.
pub(crate) fn split_choice(input: &[u8]) -> (usize, &[u8]) {
    input
        .split_first()
        .map_or((0, input), |(choice, rest)| (usize::from(*choice), rest))
}

/// A value that is read again from what is written of it is the same.
pub(crate) fn assert_read_again<T>(value: &T)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = serde_json::to_string(value).expect("what was read can be written");
    let again: T = serde_json::from_str(&text).expect("what was written can be read");
    assert_eq!(*value, again, "written and read again");
}
