//! How long ten thousand finished units take to be answered, with a folder each and with a line each.
//!
//! `cargo bench -p ktd-tests --bench finished_study`

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a measurement: a broken fixture ends it, and it prints what it measured"
)]

#[path = "../tests/kinds/questionnaire.rs"]
mod questionnaire;

use ktd_kit::vendor::{Then, json_reply};
use ktd_kit::{Vendor, this_program};
use ktd_study::{StudyRun, Unheard, any};
use questionnaire::Questionnaire;
use std::io::Write;
use std::time::{Duration, Instant};

const UNITS: usize = 10_000;

fn main() {
    let answer = br#"{"choices":[{"message":{"role":"assistant","content":"ok"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":1,"total_tokens":2}}"#;
    let vendor = Vendor::new(move |_, stream| {
        stream.write_all(&json_reply(answer))?;
        Ok(Then::Keep)
    });
    let folder = tempfile::tempdir().unwrap();
    let url = vendor.base_url();
    let agent =
        format!("id = 'a'\nmodel = 'm'\nvendor = 'vllm'\nmax_output_tokens = 9\nbase_url = '{url}'\n");
    for (name, text) in [
        (
            "lines",
            format!("name = 'x'\nquestions = ['Why?']\nlines = {UNITS}\n"),
        ),
        (
            "folders",
            format!("name = 'x'\nquestions = ['Why?']\nrepeats = {UNITS}\n[[agents]]\n{agent}"),
        ),
    ] {
        let file = folder.path().join(format!("{name}.toml"));
        std::fs::write(&file, text).unwrap();
        let first = timed(&file, &folder.path().join(name));
        let again = timed(&file, &folder.path().join(name));
        println!("{UNITS} {name}: run {first:.1?}, answered again {again:.2?}");
    }
}

fn timed(file: &std::path::Path, out: &std::path::Path) -> Duration {
    let tasks = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .unwrap();
    let (_tell, told_to_end) = tokio::sync::watch::channel(false);
    let begin = Instant::now();
    let run = StudyRun {
        program: &this_program(),
        threads: 2,
        tasks: tasks.handle(),
        progress: &Unheard,
        told_to_end: &told_to_end,
        counts: None,
        retries_lost: false,
        claims: None,
    };
    let end = any::<Questionnaire>().run(file, Some(out), &run).unwrap();
    assert!(end.finished.is_some());
    begin.elapsed()
}
