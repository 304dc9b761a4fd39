//! Agents that speak lines: small shell scripts.

use super::{Scene, is_running, ktd, told, wait_until};
use ktd_kit::Need;
use serde_json::{Value, json};
use std::process::{Command, Stdio};

/// A scene whose agent runs these shell lines for each line it hears, which is in `$line`. It has no box, for it notes what it hears
/// beside the experiment.
fn scene(answers: &str) -> Scene {
    scene_with(answers, "")
}

fn scene_with(answers: &str, more: &str) -> Scene {
    let scene = Scene::new(&format!("command = [\"sh\", \"agent.sh\"], unboxed = true{more}"));
    let script = format!("while read -r line; do\nprintf '%s\\n' \"$line\" >> heard\n{answers}\ndone\n");
    std::fs::write(scene.path("agent.sh"), script).unwrap();
    scene
}

/// Asks a tool and then holds; the first submission of a step comes during research, and is a wish.
const WELL_BEHAVED: &str = r#"
case $line in
  *'"type":"end"'*) exit 0 ;;
  *'"whole":true'*) echo '{"type":"call","name":"portfolio_state","arguments":{}}' ;;
  *) echo '{"type":"call","name":"submit_action","arguments":{"orders":[],"overall_reason":"nothing to do today"},"usage":{"prompt_tokens":100,"completion_tokens":7}}' ;;
esac
"#;

fn heard(scene: &Scene) -> Vec<Value> {
    let lines = scene.text("heard");
    lines
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn an_agent_submits_once_and_its_bundle_replays_without_it() {
    let scene = scene(WELL_BEHAVED);
    let output = scene.run();
    assert!(output.status.success(), "{}", told(&output));
    // It pays whom it asks itself: what it costs the experiment is known, in the table of cells and in that of costs.
    let printed = String::from_utf8_lossy(&output.stdout);
    let rows: Vec<&str> = printed.lines().filter(|line| line.starts_with("mine ")).collect();
    assert!(
        rows.len() == 2 && rows.iter().all(|row| row.contains("$0.0000")),
        "{printed}"
    );
    let heard = heard(&scene);
    assert_eq!(heard.len(), 10, "three questions a step, and the end");
    assert_eq!(heard[0]["protocol"], 1);
    assert_eq!(heard[0]["tools"].as_array().unwrap().len(), 7);
    assert!(heard[0]["system"].as_str().unwrap().contains("one stock account"));
    assert_eq!(
        heard[1]["messages"].as_array().unwrap().len(),
        2,
        "its call and the answer"
    );
    assert_eq!(heard[1]["messages"][1]["role"], "tool");
    // One rule for all who trade: an early submission ends research, and its orders are asked for again.
    let early = &heard[2];
    assert_eq!(
        (
            &early["phase"],
            &early["required"],
            &early["messages"][1]["content"]
        ),
        (
            &json!("submission"),
            &json!("submit_action"),
            &json!("Research for this step is over; no further tool will be answered.")
        )
    );
    assert_eq!(
        (&heard[3]["step"], &heard[3]["whole"], &heard[3]["ended"]),
        (&json!(2), &json!(true), &json!({ "step": 1, "outcome": "hold" }))
    );
    assert_eq!(
        heard[9],
        json!({ "type": "end", "ended": { "step": 3, "outcome": "hold" } })
    );

    let counters = scene.counters();
    assert_eq!((&counters["hold"], &counters["turns"]), (&json!(3), &json!(9)));
    assert_eq!(counters["completion_tokens"], 7 * 6);
    assert_eq!(
        (&counters["model_faults"], &counters["infrastructure_faults"]),
        (&json!({}), &json!({}))
    );
    let header: Value =
        serde_json::from_str(&std::fs::read_to_string(scene.bundle().join("header.json")).unwrap()).unwrap();
    assert_eq!(header["agent"]["command"], json!(["sh", "agent.sh"]));

    std::fs::remove_file(scene.path("agent.sh")).unwrap();
    scene.check();
}

#[test]
fn bad_words_of_the_protocol_are_the_agents_mistakes() {
    // In turn: an unknown tool, the wish to submit, a submission that is no JSON, prose in the place of one, and a good one.
    let scene = scene(
        r#"
count=$((count + 1))
case $count in
  1) echo '{"type":"call","name":"no_such_tool"}' ;;
  2) echo '{"type":"call","name":"submit_action","arguments":{"orders":5}}' ;;
  3) echo "{\"type\":\"call\",\"name\":\"submit_action\",\"arguments\":\"{'orders': \"}" ;;
  4) echo '{"type":"say","text":"I would rather not."}' ;;
  *) echo '{"type":"call","name":"submit_action","arguments":{"orders":[],"overall_reason":"nothing to do today"}}' ;;
esac
"#,
    );
    let output = scene.run();
    assert!(output.status.success(), "{}", told(&output));
    let counters = scene.counters();
    assert_eq!(counters["tool_calls_refused"], json!({ "unknown_tool": 1 }));
    let faults = counters["model_faults"].as_object().unwrap();
    assert_eq!(
        faults.values().filter_map(Value::as_u64).sum::<u64>(),
        2,
        "{faults:?}"
    );
    assert_eq!((&counters["hold"], &counters["fallback"]), (&json!(3), &json!(0)));
    let heard = heard(&scene);
    let forced: Vec<&Value> = heard.iter().map(|line| &line["required"]).collect();
    assert_eq!(
        forced[..4],
        [
            &Value::Null,
            &Value::Null,
            &json!("submit_action"),
            &json!("submit_action")
        ]
    );
    scene.check();
}

#[test]
fn an_agent_that_dies_is_started_again_and_told_the_whole_step() {
    let scene = scene(&format!(
        "if test -e heard.once || ! grep -q tool_call_id heard; then :; else touch heard.once; exit 3; fi\n{WELL_BEHAVED}"
    ));
    let output = scene.run();
    assert!(output.status.success(), "{}", told(&output));
    let counters = scene.counters();
    assert_eq!(counters["infrastructure_faults"], json!({ "interrupted": 1 }));
    assert_eq!(
        (&counters["hold"], &counters["uncovered"]),
        (&json!(3), &json!(0))
    );
    // The second process hears the rules and the whole step again, its forerunner's call among it.
    let heard = heard(&scene);
    assert_eq!(
        (&heard[2]["protocol"], &heard[2]["whole"]),
        (&json!(1), &json!(true))
    );
    assert_eq!(heard[2]["messages"].as_array().unwrap().len(), 3);
    scene.check();
}

#[test]
fn silence_and_floods_lose_steps_and_never_hold() {
    for (answers, more, code) in [
        ("sleep 1000", ", timeout_seconds = 1", "timeout"),
        ("head -c 3000000 /dev/zero", "", "reply_too_large"),
    ] {
        let scene = scene_with(answers, more);
        let output = scene.run();
        assert_eq!(output.status.code(), Some(1), "{answers}: {}", told(&output));
        let counters = scene.counters();
        assert_eq!(
            counters["infrastructure_faults"],
            json!({ code: 6 }),
            "{answers}: two attempts a step"
        );
        assert_eq!(
            (&counters["uncovered"], &counters["hold"], &counters["fallback"]),
            (&json!(3), &json!(0), &json!(0)),
            "{answers}"
        );
        scene.check();
    }
}

/// What ends at once, or talks beside the protocol, would do so for ever: it is started twice, the person is told why, and the
/// same command goes on once it runs.
#[test]
fn a_program_that_does_not_run_is_told_with_its_last_words_and_goes_on_once_mended() {
    for (answers, reason) in [
        (
            "echo 'ImportError: no module named tea' >&2; exit 3",
            "it ended with exit code 3: ImportError: no module named tea",
        ),
        (
            "echo 'debug: thinking ...'",
            "it wrote \"debug: thinking ...\", which is no line of the protocol",
        ),
        ("echo '{\"type\":\"shout\"}'", "which is no line of the protocol"),
    ] {
        let scene = scene(answers);
        let output = scene.run();
        let said = told(&output);
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(
            said.contains("the program does not run: ") && said.contains(reason),
            "{said}"
        );
        assert!(said.contains("by hand"), "{said}");
        assert_eq!(heard(&scene).len(), 2);
        let script =
            format!("while read -r line; do\nprintf '%s\\n' \"$line\" >> heard\n{WELL_BEHAVED}\ndone\n");
        std::fs::write(scene.path("agent.sh"), script).unwrap();
        assert!(scene.run().status.success());
        assert_eq!(
            scene.counters()["infrastructure_faults"],
            json!({ "interrupted": 1 })
        );
        // What the agent wrote instead of a word is kept nowhere.
        let events = std::fs::read_to_string(scene.bundle().join("events.jsonl")).unwrap();
        assert!(!events.contains("thinking"), "{events}");
        scene.check();
    }
}

#[test]
fn an_agent_has_no_more_environment_than_it_was_given() {
    let scene = scene_with(
        &format!("env > environment\n{WELL_BEHAVED}"),
        ", pass_env = [\"OWN_AGENT_SETTING\"]",
    );
    let mut start = scene.start("run");
    start
        .env("OWN_AGENT_SETTING", "a setting")
        .env("OPENAI_API_KEY", "sk-canary");
    let output = start.output().unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let environment = scene.text("environment");
    let mut names: Vec<&str> = environment
        .lines()
        .filter_map(|line| line.split('=').next())
        .collect();
    names.retain(|name| !["PWD", "OLDPWD", "SHLVL", "_"].contains(name));
    names.sort_unstable();
    assert_eq!(names, ["HOME", "OWN_AGENT_SETTING", "PATH"]);
    // The name of a variable stands in the header, its value nowhere.
    let header = std::fs::read_to_string(scene.bundle().join("header.json")).unwrap();
    assert!(header.contains("OWN_AGENT_SETTING") && !header.contains("a setting"));
}

/// Reads whatever it can before it trades, and says so on standard error.
const PRYING: &str = r#"
test -e looked || {
  touch looked
  echo "own: $(ls | tr '\n' ' ')"
  echo "root: $(ls / | tr '\n' ' ')"
  echo "links: $(tail -n +3 /proc/net/dev | cut -d: -f1 | tr -d ' \n')"
  echo "processes: $(ls /proc | grep -c '^[0-9]')"
  cat own.toml ../own.toml "$PLACE/own.toml" "$PLACE/more/hidden" more/shown
  find / -name own.toml -not -path '/proc/*'
  touch agent.sh more/shown /usr/mine
} >&2
"#;

#[test]
fn a_program_in_its_box_sees_its_own_files_and_nothing_else() {
    if !Need::Boxes.is_met() {
        return;
    }
    let scene =
        Scene::new("command = [\"sh\", \"agent.sh\"], files = [\"more/shown\"], pass_env = [\"PLACE\"]");
    scene.folder.write(
        "agent.sh",
        format!("while read -r line; do\n{PRYING}\n{WELL_BEHAVED}\ndone\n"),
    );
    scene.folder.write("more/shown", "a file of its own\n");
    scene.folder.write("more/hidden", "synthetic secret\n");
    let output = scene
        .start("run")
        .env("PLACE", scene.folder.path())
        .output()
        .unwrap();
    let said = told(&output);
    assert!(output.status.success(), "{said}");
    for line in [
        "own: agent.sh looked more ",
        "links: lo\n",
        "a file of its own",
        "'agent.sh': Read-only file system",
        "'more/shown': Read-only file system",
        "'/usr/mine': Read-only file system",
    ] {
        assert!(said.contains(line), "{line}: {said}");
    }
    let root = said.lines().find_map(|line| line.strip_prefix("root: ")).unwrap();
    for folder in root.split_whitespace() {
        let known = [
            "agent", "bin", "dev", "etc", "lib", "lib64", "proc", "sbin", "tmp", "usr",
        ];
        assert!(known.contains(&folder), "{said}");
    }
    assert!(
        !said.contains("synthetic") && !said.contains("/own.toml\n"),
        "{said}"
    );
    let header = std::fs::read_to_string(scene.bundle().join("header.json")).unwrap();
    assert_eq!(
        serde_json::from_str::<Value>(&header).unwrap()["agent"]["unboxed"],
        false
    );
    scene.check();
}

/// Starts a process of its own beside the agent, before anything else.
const WITH_A_CHILD: &str = "test -e child || { sleep 1000 & echo $! > child; }";

#[test]
fn nothing_of_an_agent_is_left_behind() {
    for (answers, is_covered) in [(WELL_BEHAVED, true), ("exit 1", false)] {
        let scene = scene(&format!("{WITH_A_CHILD}\n{answers}"));
        assert_eq!(scene.run().status.success(), is_covered);
        let child = scene.text("child").trim().to_owned();
        assert!(!child.is_empty());
        wait_until("the agent's own child is gone", || !is_running(&child));
    }
}

#[test]
fn a_signal_ends_the_agent_too_and_the_run_continues() {
    let waits = format!(
        "{WITH_A_CHILD}\nif test -e go || ! grep -q '\"step\":2' heard; then :; else sleep 1000; fi\n{WELL_BEHAVED}"
    );
    let scene = scene(&waits);
    let mut run = scene.start("run");
    let mut run = run.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the agent is in step 2", || {
        scene.text("heard").contains("\"step\":2")
    });
    let child = scene.text("child").trim().to_owned();
    let terminated = Command::new("kill").arg(run.id().to_string()).status();
    assert!(terminated.unwrap().success());
    assert_eq!(run.wait().unwrap().code(), Some(130));
    wait_until("the agent's own child is gone", || !is_running(&child));

    std::fs::write(scene.path("go"), "").unwrap();
    let before = heard(&scene).len();
    let output = scene.run();
    assert!(output.status.success(), "{}", told(&output));
    let again = &heard(&scene)[before];
    assert_eq!(
        (&again["step"], &again["whole"], &again["protocol"]),
        (&json!(2), &json!(true), &json!(1))
    );
    assert_eq!(scene.counters()["hold"], 3);
    scene.check();
}

#[test]
fn a_branch_goes_on_with_an_outside_agent() {
    let first = Scene::new("builtin = \"hold\"");
    assert!(first.run().status.success());
    let second = scene(WELL_BEHAVED);
    let agent = format!("{}:mine", second.path("own.toml").display());
    let (bundle, out) = (first.bundle(), second.bundle());
    std::fs::create_dir_all(out.parent().unwrap()).unwrap();
    let output = ktd(&[
        "replay",
        bundle.to_str().unwrap(),
        "--branch",
        "2",
        "--agent",
        &agent,
        "--out",
        out.to_str().unwrap(),
    ])
    .output()
    .unwrap();
    assert!(output.status.success(), "{}", told(&output));
    let heard = heard(&second);
    assert_eq!(
        (&heard[0]["step"], &heard[0]["ended"], heard.len()),
        (&json!(2), &Value::Null, 7)
    );
    second.check();
}

#[test]
fn a_missing_program_is_said_before_anything_runs() {
    let scene = Scene::new("command = [\"./no_such_agent\"]");
    let (experiment, out) = (scene.path("own.toml"), scene.path("out"));
    let doctor = [
        "doctor",
        experiment.to_str().unwrap(),
        "--out",
        out.to_str().unwrap(),
    ];
    for output in [scene.run(), ktd(&doctor).output().unwrap()] {
        let all = format!("{}{}", told(&output), String::from_utf8_lossy(&output.stdout));
        assert!(!output.status.success());
        assert!(all.contains("there is no program \"./no_such_agent\""), "{all}");
    }
    assert!(!scene.bundle().exists());
}
