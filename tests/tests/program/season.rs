//! A season in which endpoints fall silent, models disappear and others come to nothing: what was decided stands, nothing that can
//! be decided is lost, and nobody is ranked by a part.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a broken fixture fails the test"
)]

use ktd_baselines::named;
use ktd_bundle::BundlePaths;
use ktd_bundle::event::WrittenEvent;
use ktd_bundle::open::{read_header, read_private};
use ktd_bundle::summary_file::write_summary;
use ktd_kit::program::printed;
use ktd_kit::vendor::{Then, json_reply, reply};
use ktd_kit::{Folder, Vendor, assert_ok, refused};
use ktd_record::chain::{Log, LogReader};
use serde_json::{Value, json};
use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

const STEPS: usize = 8;

/// An experiment of an agent that is built in and of one at an endpoint.
fn experiment(base_url: &str, rest: &str) -> String {
    format!(
        "name = 'season'\nsynthetic = {{ seed = 5, names = 90, days = 330 }}\nmasks = [{{ level = 'blinded' }}]\n\
         modes = ['fixed-candidate']\nwindows = [{{ id = 'w', last_days = {STEPS} }}]\n{rest}\n\
         agents = [{{ id = 'momentum', builtin = 'momentum' }}, {{ id = 'far-1.5', model = 'm', base_url = '{base_url}' }}]\n"
    )
}

/// A vendor of a model that trades, but for the requests at these places, which get `other`.
fn vendor(is_other: impl Fn(usize) -> bool + Send + Sync + 'static, other: Vec<u8>) -> Vendor {
    let (model, count) = (named("momentum", 1).unwrap(), AtomicUsize::new(0));
    Vendor::new(move |request, stream| {
        if is_other(count.fetch_add(1, Ordering::Relaxed)) {
            stream.write_all(&other)?;
        } else {
            let answer = String::from_utf8_lossy(&model.reply(&request.body)).replace("builtin-", "replied-");
            stream.write_all(&json_reply(answer.as_bytes()))?;
        }
        Ok(Then::Keep)
    })
}

/// A reply of a model that talks and calls nothing.
fn prose() -> Vec<u8> {
    let message = json!({ "role": "assistant", "content": "I would rather not say." });
    let choices = json!([{ "index": 0, "finish_reason": "stop", "message": message }]);
    json_reply(
        json!({ "id": "x", "model": "m", "choices": choices })
            .to_string()
            .as_bytes(),
    )
}

const CELL: &str = "season/cells/far-1.5__w__blinded-exact__fixed-candidate__s1";

fn summary(folder: &Folder) -> Value {
    serde_json::from_str(&folder.text(&format!("{CELL}/summary.json"))).unwrap()
}

/// The board of all cells: a note of the far agent, and its row, where it has one.
fn board(folder: &Folder) -> (String, Option<Value>) {
    let output = folder.ktd(&["leaderboard", "season", "--json"]);
    let board = printed(&output);
    let notes = board["notes"].as_array().unwrap().iter();
    let note = notes
        .filter_map(Value::as_str)
        .find(|note| note.starts_with("far-1.5 on w"));
    let rows = board["tracks"][0]["leaders"].as_array().unwrap();
    let row = |agent: &str| rows.iter().find(|row| row["agent"] == agent).cloned();
    assert_eq!(row("momentum").unwrap()["alpha_rank"], 1);
    (note.unwrap_or_default().to_owned(), row("far-1.5"))
}

/// Whether all that was played can be given away, and is verified by who has nothing else.
fn publishes(folder: &Folder) {
    assert_ok(&folder.ktd(&["certify", "--new-key", "key.pem"]));
    assert_ok(&folder.ktd(&[
        "publish",
        "season",
        "--key",
        "key.pem",
        "--out",
        "public",
        "--open-mask",
    ]));
    assert_ok(&folder.ktd(&["verify", "public", "--signer", "key.pem.pub"]));
}

#[test]
fn a_step_waits_for_a_dead_endpoint_which_is_told_at_once_and_when_it_is_back() {
    for (status, code) in [
        ("502 Bad Gateway", "bad_gateway"),
        ("503 Service Unavailable", "overloaded"),
    ] {
        let dead = vendor(|place| (3..11).contains(&place), reply(status, "", b""));
        let retries = "retries = { attempts = 2, first_wait_ms = 1, longest_wait_ms = 4 }";
        let folder = Folder::with(&[("season.toml", &experiment(&dead.base_url(), retries))]);
        let run = ["run", "season.toml", "--out", "season", "--on-event"];
        let output = folder.ktd(&[&run[..], &["echo \"$KTD_EVENT\" >> told.txt"]].concat());
        assert_ok(&output);
        let told = String::from_utf8_lossy(&output.stderr);
        for line in ["does not answer: all that ask it wait", "answers again, after"] {
            let lines = told
                .lines()
                .filter(|told| told.contains(&dead.base_url()) && told.contains(line));
            assert_eq!(lines.count(), 1, "{told}");
            assert_eq!(folder.text("told.txt").matches(line).count(), 1);
        }
        let ended = "the run ended: 0 of 2 cells are unfinished";
        assert!(folder.text("told.txt").contains(ended));
        let counters = summary(&folder)["counters"].clone();
        assert_eq!(
            (&counters["uncovered"], &counters["infrastructure_faults"]),
            (&json!(0), &json!({ code: 8 })),
            "{told}"
        );
        assert_eq!(
            dead.count(),
            STEPS + 8,
            "nothing is asked twice that was answered"
        );
        assert_ok(&folder.ktd(&["verify", CELL]));
        // Every send has its lines, when it leaves and when it ends, also those that nobody answered.
        let sends = folder.text(&format!("{CELL}/private/sends.jsonl"));
        assert_eq!(sends.matches("under_way").count(), STEPS + 8);
        assert_eq!(sends.lines().count(), 2 * (STEPS + 8));
        let outcome = format!("\"outcome\":\"{}\"", &status[..3]);
        assert_eq!(sends.matches(&outcome).count(), 8, "{sends}");
    }
}

#[test]
fn an_endpoint_that_was_never_heard_is_given_up_and_no_step_with_it() {
    let retries = "retries = { attempts = 2, first_wait_ms = 1, longest_wait_ms = 4 }";
    // Nothing listens there, and only the system could make something listen there.
    let folder = Folder::with(&[("season.toml", &experiment("http://127.0.0.1:1/v1", retries))]);
    let run = [
        "run",
        "season.toml",
        "--out",
        "season",
        "--on-event",
        "echo \"$KTD_EVENT\" >> told.txt",
    ];
    let told = refused(&folder.ktd(&run), 2);
    // At once, and not with the run's end alone.
    let events = folder.text("told.txt");
    let ended = events.find("ended without a result: ").unwrap();
    assert!(ended < events.find("the run ended").unwrap(), "{events}");
    assert!(
        told.contains("step 1: the endpoint has never answered, last `connect`"),
        "{told}"
    );
    assert!(!folder.at(&format!("{CELL}/summary.json")).exists());
}

#[test]
fn an_agent_that_decides_nothing_is_stopped_and_has_no_rank() {
    let talker = vendor(|place| 4 <= place, prose());
    let rules = "session = { schema_retries = 0 }\nstop_after = { fallbacks_in_a_row = 3 }";
    let folder = Folder::with(&[("season.toml", &experiment(&talker.base_url(), rules))]);
    let run = ["run", "season.toml", "--out", "season"];
    let output = folder.ktd(&run);
    assert_ok(&output);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(
        told.contains("ended after 7 of 8 steps (stopped: 3 steps in a row without a decision)"),
        "{told}"
    );
    let asked = talker.count();
    assert_ok(&folder.ktd(&run));
    assert_eq!(talker.count(), asked, "it is finished");
    assert_ok(&folder.ktd(&["verify", CELL]));
    let (note, row) = board(&folder);
    assert!(
        note.contains("ended after 7 of 8 steps (stopped: 3 steps") && row.is_none(),
        "{note}"
    );
}

#[test]
fn an_agent_that_mostly_falls_back_has_no_rank() {
    let talker = vendor(|place| 3 <= place, prose());
    let rules = "session = { schema_retries = 0 }";
    let folder = Folder::with(&[("season.toml", &experiment(&talker.base_url(), rules))]);
    assert_ok(&folder.ktd(&["run", "season.toml", "--out", "season"]));
    let (_, row) = board(&folder);
    let row = row.unwrap();
    assert_eq!(row["unranked_reason"], "decided 3 of 8 steps", "{row}");
    assert_eq!(
        (&row["alpha_rank"], &row["return_rank"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn a_model_that_is_gone_is_withdrawn_and_all_others_are_published() {
    let gone = vendor(
        |place| 3 <= place,
        reply("404 Not Found", "", br#"{"error":{"message":"no such model"}}"#),
    );
    let folder = Folder::with(&[("season.toml", &experiment(&gone.base_url(), ""))]);
    let run = ["run", "season.toml", "--out", "season"];
    let told = refused(&folder.ktd(&run), 2);
    assert!(told.contains("--withdraw AGENT"), "{told}");
    let told = refused(&folder.ktd(&[&run[..], &["--withdraw", "nobody"]].concat()), 2);
    assert!(told.contains("nobody is called \"nobody\""), "{told}");

    let output = folder.ktd(&[&run[..], &["--withdraw", "far-1.5"]].concat());
    assert_ok(&output);
    let told = String::from_utf8_lossy(&output.stdout);
    assert!(told.contains("ended after 3 of 8 steps (withdrawn)"), "{told}");
    let status = printed(&folder.ktd(&["--json", "status", "season"]));
    let far = status["agents"].as_array().unwrap().iter();
    let far = far.clone().find(|agent| agent["agent"] == "far-1.5").unwrap();
    assert_eq!(
        (
            &far["steps"],
            &far["steps_done"],
            &far["steps_given_up"]["withdrawn"]
        ),
        (&8.into(), &3.into(), &5.into()),
        "{status}"
    );
    let asked = gone.count();
    assert_ok(&folder.ktd(&run));
    assert_eq!(gone.count(), asked, "it is asked nothing more");
    assert_ok(&folder.ktd(&["verify", CELL]));
    let (note, row) = board(&folder);
    assert!(
        note.contains("ended after 3 of 8 steps (withdrawn)") && row.is_none(),
        "{note}"
    );
    publishes(&folder);
}

#[test]
fn an_agent_that_was_taken_out_of_the_file_is_withdrawn_by_its_name() {
    let gone = vendor(
        |_| true,
        reply("404 Not Found", "", br#"{"error":{"message":"no such model"}}"#),
    );
    let whole = experiment(&gone.base_url(), "");
    let folder = Folder::with(&[("season.toml", &whole)]);
    let run = ["run", "season.toml", "--out", "season"];
    let told = refused(&folder.ktd(&run), 2);
    assert!(told.contains("--withdraw AGENT"), "{told}");
    let (others, _) = whole.split_once(", { id = 'far-1.5'").unwrap();
    folder.write("season.toml", format!("{others}]\n"));
    assert_ok(&folder.ktd(&[&run[..], &["--withdraw", "far-1.5"]].concat()));
    assert_eq!(summary(&folder)["reason"], "withdrawn");
    let (note, _) = board(&folder);
    assert!(note.contains("ended after 0 of 8 steps (withdrawn)"), "{note}");
    publishes(&folder);
}

#[test]
fn an_invoice_is_met_line_by_line() {
    let calm = vendor(|_| false, Vec::new());
    let prices = r#"{"rows":[{"model":"m","asof":"2026-11","source":"test","input":1.5,"output":7.25}]}"#;
    let whole = experiment(&calm.base_url(), "prices = 'prices.json'");
    let whole = whole.replace("model = 'm',", "model = 'm', max_output_tokens = 700,");
    let folder = Folder::with(&[("season.toml", &whole), ("prices.json", prices)]);
    assert_ok(&folder.ktd(&["run", "season.toml", "--out", "season"]));
    let sends = folder.text(&format!("{CELL}/private/sends.jsonl"));
    let sends: Vec<Value> = sends
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|send: &Value| send["outcome"] != "under_way")
        .collect();
    let cost = |send: &Value| send["cost_picodollars"].as_u64().unwrap();
    let total: u64 = sends.iter().map(cost).sum();
    let day = &sends[0]["at"].as_str().unwrap()[..10];
    let compared = |picodollars: u64| {
        let dollars = format!(
            "{}.{:012}",
            picodollars / 1_000_000_000_000,
            picodollars % 1_000_000_000_000
        );
        let lay = |more: &str| {
            folder.write("bill.csv", format!("day,model,usd\n{day},m,{dollars}\n{more}"));
            let output = folder.ktd(&["--json", "status", "season", "--invoice", "bill.csv"]);
            let compared: Value = serde_json::from_slice(&output.stdout).unwrap();
            (output.status.code(), compared)
        };
        let (code, compared) = lay("2020-01-01,other,3\n");
        assert_eq!(
            (&compared["lines"][0]["agrees"], code),
            (&json!(false), Some(1)),
            "nothing was sent in 2020"
        );
        let line = lay("").1["lines"][0].clone();
        (lay("").0, line["agrees"] == true, line["sends"].as_u64().unwrap())
    };
    assert_eq!(compared(total), (Some(0), true, 8));
    let more = total + 20_000_000_000;
    assert_eq!(compared(more), (Some(1), false, 8), "two cents more");
    // A reply that was lost may have cost them.
    let mut lost = sends[0].clone();
    lost["at"] = json!(format!("{day}T00:00:00.000Z"));
    lost["outcome"] = json!("under_way");
    lost["cost_picodollars"] = json!(20_000_000_000_u64);
    lost["is_most"] = json!(true);
    let mut log = std::fs::File::options()
        .append(true)
        .open(folder.at(&format!("{CELL}/private/sends.jsonl")))
        .unwrap();
    writeln!(log, "{lost}").unwrap();
    assert_eq!(compared(more), (Some(0), true, 9));
    for none in [
        "day,model,usd\n30.11.2026,m,1\n",
        "when,model,usd\n2026-11-02,m,1\n",
        "day,model,usd\n2026-11-02,m,much\n",
        "day,model,usd\n",
    ] {
        folder.write("bill.csv", none);
        let told = refused(&folder.ktd(&["status", "season", "--invoice", "bill.csv"]), 2);
        assert!(told.contains("write the columns day, model and usd"), "{told}");
    }
}

#[test]
fn who_names_the_whole_episodes_of_a_withdrawn_agent_alone_ranks_it_no_more() {
    let gone = vendor(
        |place| STEPS <= place,
        reply("404 Not Found", "", br#"{"error":{"message":"no such model"}}"#),
    );
    let folder = Folder::with(&[(
        "season.toml",
        &experiment(&gone.base_url(), "seeds = [1, 2]\nparallel_cells = 1"),
    )]);
    let run = ["run", "season.toml", "--out", "season", "--withdraw", "far-1.5"];
    let told = refused(&folder.ktd(&run[..4]), 2);
    assert!(told.contains("--withdraw AGENT"), "{told}");
    assert_ok(&folder.ktd(&run));
    assert_eq!(summary(&folder)["reason"], "completed", "the first seed is whole");
    let momentum = CELL.replace("far-1.5", "momentum");
    let output = folder.ktd(&["--json", "leaderboard", CELL, &momentum]);
    let board = printed(&output);
    let rows = board["tracks"][0]["leaders"].as_array().unwrap();
    let far = rows.iter().find(|row| row["agent"] == "far-1.5").unwrap();
    assert_eq!(far["alpha_rank"], Value::Null);
    assert_eq!(far["unranked_reason"], "ended after 0 of 8 steps (withdrawn)");
}

/// A record that is cut after its best step and made again over the cut says that it is complete.
#[test]
fn a_record_that_was_cut_and_says_that_it_is_complete_is_refused() {
    let calm = vendor(|_| false, Vec::new());
    let folder = Folder::with(&[("season.toml", &experiment(&calm.base_url(), ""))]);
    assert_ok(&folder.ktd(&["run", "season.toml", "--out", "season"]));
    assert_ok(&folder.ktd(&["verify", CELL]));
    let paths = BundlePaths::new(&folder.at(CELL));
    let events = folder.text(&format!("{CELL}/events.jsonl"));
    let ends = |line: &str| serde_json::from_str::<Value>(line).unwrap()["body"]["kind"] == "step_end";
    let kept = events.lines().scan(0, |steps, line| {
        let before = *steps;
        *steps += usize::from(ends(line));
        Some((before, line))
    });
    let kept: Vec<&str> = kept
        .take_while(|(steps, _)| *steps < 5)
        .map(|(_, line)| line)
        .collect();
    folder.write(&format!("{CELL}/events.jsonl"), kept.join("\n") + "\n");
    let genesis = serde_json::from_str::<Value>(kept[0]).unwrap()["prev"]
        .as_str()
        .unwrap()
        .to_owned();
    let whole = LogReader::open(&paths.events())
        .unwrap()
        .from(&genesis)
        .read_to_end()
        .unwrap();
    let mut log = Log::continue_at(&paths.events(), (&whole, &whole), &genesis).unwrap();
    let reason = "completed".to_owned();
    log.append(&WrittenEvent::EpisodeEnd { reason }).unwrap();
    let ledger = folder.text(&format!("{CELL}/private/ledger.jsonl"));
    let ledger: Vec<&str> = ledger.lines().take(5).collect();
    folder.write(&format!("{CELL}/private/ledger.jsonl"), ledger.join("\n") + "\n");
    let (_, key) = read_private(&paths, &read_header(&paths).unwrap()).unwrap();
    write_summary(&paths, &key).unwrap();
    assert_eq!(summary(&folder)["metrics"]["days"], 5);
    let told = refused(&folder.ktd(&["verify", CELL]), 1);
    assert!(told.contains("events.jsonl"), "{told}");
}
