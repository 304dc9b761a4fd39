//! What attackers say, and what it counts for.

use crate::attackers::scene::{BLINDED, ask, asked, at, scene};
use crate::attackers::scripted::{Say, Script};
use ktd_certify::language_attackers::LanguageAnswer;
use ktd_masking::Level;
use ktd_probes::{Measure, ProbeKind};

const CHEATER: &str = "agents = [{ id = \"cheater\", builtin = \"cheater\" }]";
pub(crate) const MODEL: &str = "parallel = 3\nschema_retries = 2\nretries = { attempts = 2, unanswered_hours = 0, first_wait_ms = 1 }\n\
    agents = [{ id = \"m\", model = \"m\", vendor = \"vllm\", base_url = \"http://127.0.0.1:9/v1\" }]";

#[tokio::test]
async fn the_cheater_recovers_all_on_bright_and_what_each_mask_shows() {
    let folder = tempfile::tempdir().unwrap();
    for (level, has_stock, has_day) in [
        (Level::Bright, true, true),
        (Level::DateBlind, true, false),
        (Level::StockBlind, false, true),
        (Level::Blinded, false, false),
    ] {
        let set = scene().probes(at(level), &ProbeKind::FIXED, 2);
        let output = folder.path().join(level.label());
        let answers = asked(CHEATER, &output).ask_itself(&set).await.unwrap();
        let tally = set.tally(&answers);
        assert_eq!(tally.probes, 10);
        for (measure, is_found) in [
            (Measure::Top1, has_stock),
            (Measure::Top5, has_stock),
            (Measure::Date5, has_day),
            (Measure::Joint, has_stock && has_day),
            (Measure::Sector, has_stock),
            (Measure::Board, has_stock),
            (Measure::Same, has_stock),
        ] {
            let all = tally.asked(measure);
            let expected = if is_found { all } else { 0 };
            assert_eq!(
                (tally.hits(measure), 0 < all),
                (expected, true),
                "{level:?} {measure:?}"
            );
        }
        let exact = answers.iter().zip(&set.gold).filter(|(answer, gold)| {
            let day = answer.answer(&scene().market).and_then(|answer| answer.day);
            day == Some(gold.targets[0].day)
        });
        assert_eq!(exact.count(), if has_day { 8 } else { 0 }, "{level:?}");
        let unanswered: Vec<&LanguageAnswer> =
            answers.iter().filter(|answer| answer.guess.is_none()).collect();
        let expected = match level {
            Level::Blinded => 10,
            // Without codes nobody tells two stocks apart.
            Level::StockBlind => 2,
            Level::Bright | Level::DateBlind => 0,
        };
        assert_eq!(unanswered.len(), expected, "{level:?}");
        assert!(
            unanswered
                .iter()
                .all(|answer| answer.reason.as_deref() == Some("no_tool_call"))
        );
    }
}

#[tokio::test]
async fn good_answers_count_and_bad_ones_are_fed_back_then_unanswered() {
    let set = scene().probes(BLINDED, &[ProbeKind::Day], 7);
    let code = |place: usize| scene().code(&set.gold[place]);
    let date = |place: usize| scene().date(&set.gold[place]);
    let good = |place: usize| Say::stock(&[&code(place)], &date(place));
    let six: Vec<&str> = ["SH600000"; 6].to_vec();
    let says = [
        vec![good(0)],
        vec![Say::Call("{'stocks': ['SH600000']}".to_owned()), good(1)],
        vec![Say::Filtered, Say::Filtered, good(2)],
        vec![
            Say::stock(&six, ""),
            Say::Text("It is the bank.".to_owned()),
            good(3),
        ],
        vec![Say::stock(&["SH600000", &code(4)], "")],
        // A weekend after a week of the panel.
        vec![Say::stock(&[], "2022-01-09")],
        vec![Say::stock(&six, "")],
    ];
    let script = Script::new(set.probes.iter().zip(says));
    let folder = tempfile::tempdir().unwrap();
    let attackers = asked(MODEL, folder.path());
    let answers = ask(&attackers, &set, &script).await.unwrap();
    let told: Vec<(bool, Option<&str>, Vec<&str>)> = answers
        .iter()
        .map(|answer| {
            let mistakes = answer.mistakes.iter().map(String::as_str).collect();
            (answer.guess.is_some(), answer.reason.as_deref(), mistakes)
        })
        .collect();
    let too_many = "too_many_stocks";
    assert_eq!(
        told,
        [
            (true, None, vec![]),
            (true, None, vec!["answer_not_json"]),
            (false, Some("refusal"), vec!["refusal", "refusal"]),
            (true, None, vec![too_many, "no_tool_call"]),
            (true, None, vec![]),
            (true, None, vec![]),
            (false, Some(too_many), vec![too_many; 3]),
        ]
    );
    let tally = set.tally(&answers);
    assert_eq!((tally.probes, tally.answered), (7, 5));
    // The second guess of the fifth probe is its second, although the first names no stock.
    assert_eq!((tally.hits(Measure::Top1), tally.hits(Measure::Top5)), (3, 4));
    assert_eq!(tally.hits(Measure::Date5), 3);
    let friday = answers[5].answer(&scene().market).unwrap().day.unwrap();
    assert_eq!(scene().market.date(friday).unwrap().reveal(), "2022-01-07");
    // What is fed back says what was wrong, in the harness's own words.
    let second = &script.requests_about(&set.probes[6])[1];
    let feedback = second["messages"][3]["content"].as_str().unwrap();
    assert!(
        feedback.contains("more than five codes") && feedback.contains("attempt 1 of 3"),
        "{feedback}"
    );
}

#[tokio::test]
async fn every_force_level_asks_for_the_same_answer() {
    let set = scene().probes(BLINDED, &[ProbeKind::Linked], 1);
    let arguments = r#"{"same_stock": true, "confidence": 0.5}"#.to_owned();
    for (force, is_call) in [
        ("F0", true),
        ("F1", true),
        ("F2", true),
        ("F3", false),
        ("F4", false),
    ] {
        let says = if is_call {
            Say::Call(arguments.clone())
        } else {
            Say::Text(arguments.clone())
        };
        let script = Script::new([(&set.probes[0], vec![says])]);
        let folder = tempfile::tempdir().unwrap();
        let model = MODEL.replace("id = \"m\",", &format!("id = \"m\", force = \"{force}\","));
        let attackers = asked(&model, folder.path());
        let answers = ask(&attackers, &set, &script).await.unwrap();
        assert_eq!(
            answers[0].guess.as_ref().unwrap().same_stock,
            Some(true),
            "{force}"
        );
        let request = &script.requests()[0];
        assert_eq!(request.get("tools").is_some(), is_call, "{force}");
        let question = request["messages"][1]["content"].as_str().unwrap();
        assert_eq!(
            question.contains("\"same_stock\":{\""),
            !is_call,
            "{force}: {question}"
        );
    }
}
