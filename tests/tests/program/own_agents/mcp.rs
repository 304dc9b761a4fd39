//! Clients that call over MCP: JSON-RPC lines over pipes, by hand.

use super::{Scene, told};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Stdio};

/// What a STATE says of its step.
const STEP_1: &str = "\"step\":1,";
const STEP_2: &str = "\"step\":2,";

struct Client {
    server: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    requests: u64,
    greeting: Value,
}

impl Client {
    fn connect(scene: &Scene) -> Self {
        Self::connect_with(scene, &[])
    }

    fn connect_with(scene: &Scene, arguments: &[&str]) -> Self {
        let mut server = scene
            .start("mcp")
            .args(arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let (stdin, stdout) = (server.stdin.take().unwrap(), server.stdout.take().unwrap());
        let mut client = Self {
            server,
            stdin,
            stdout: BufReader::new(stdout),
            requests: 0,
            greeting: Value::Null,
        };
        let who = json!({ "name": "test", "version": "1" });
        client.greeting = client.request(
            "initialize",
            &json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": who }),
        );
        client.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
        client
    }

    fn send(&mut self, message: &Value) {
        writeln!(self.stdin, "{message}").unwrap();
        self.stdin.flush().unwrap();
    }

    fn request(&mut self, method: &str, parameters: &Value) -> Value {
        self.requests += 1;
        let id = self.requests;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let reply: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(reply["id"], id, "{reply}");
        reply["result"].clone()
    }

    /// Whether the answer is an error, and its texts.
    fn call(&mut self, name: &str, arguments: &Value) -> (bool, Vec<String>) {
        let answer = self.request("tools/call", &json!({ "name": name, "arguments": arguments }));
        let blocks = answer["content"].as_array().unwrap();
        let texts = blocks
            .iter()
            .map(|block| block["text"].as_str().unwrap().to_owned());
        (answer["isError"].as_bool().unwrap(), texts.collect())
    }

    /// Holds. The first submission of a step comes during research: it is answered as a wish, and made again.
    fn hold(&mut self) -> (bool, Vec<String>) {
        let action = json!({ "orders": [], "overall_reason": "nothing to do today" });
        let early = self.call("submit_action", &action);
        if early.0 && early.1[0].starts_with("Research for this step is over") {
            return self.call("submit_action", &action);
        }
        early
    }

    fn step(&mut self) -> String {
        let read = self.request("resources/read", &json!({ "uri": "ktd://step" }));
        read["contents"][0]["text"].as_str().unwrap().to_owned()
    }

    /// Leaves, and gives what the server said on standard error.
    fn leave(self) -> String {
        drop(self.stdin);
        let output = self.server.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", told(&output));
        told(&output)
    }
}

#[test]
fn a_client_trades_leaves_and_comes_back() {
    let scene = Scene::new("external = \"mcp\"");
    let unplayed = scene.run();
    let table = String::from_utf8_lossy(&unplayed.stdout);
    assert!(
        unplayed.status.success(),
        "a cell that waits for its client is no failure"
    );
    assert!(table.contains("waits") && table.contains("ktd mcp"), "{table}");

    let mut client = Client::connect(&scene);
    assert!(
        client.greeting["instructions"]
            .as_str()
            .unwrap()
            .contains("one stock account")
    );
    let tools = client.request("tools/list", &json!({}));
    let names: Vec<&str> = tools["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert_eq!(names.len(), 7);
    assert_eq!(names.last(), Some(&"submit_action"));
    let opening = client.step();
    assert!(opening.contains("STATE:\n") && opening.contains(STEP_1));
    let prompt = client.request("prompts/get", &json!({ "name": "step" }));
    assert_eq!(prompt["messages"][0]["content"]["text"], opening);

    let (is_error, answer) = client.call("portfolio_state", &json!({}));
    assert!(!is_error && answer.len() == 1, "{answer:?}");
    let (is_error, answer) = client.hold();
    assert!(
        !is_error && answer[0].starts_with("Step 1: taken as a decision to hold"),
        "{answer:?}"
    );
    assert!(answer[1].contains(STEP_2), "{answer:?}");
    client.call("portfolio_state", &json!({}));
    assert!(client.leave().contains("left in step 2;"));

    // What was said before is there again, and was not asked for again.
    let mut client = Client::connect(&scene);
    let step = client.step();
    assert!(
        step.contains(STEP_2) && step.contains("[you called portfolio_state {}]"),
        "{step}"
    );
    client.hold();
    let (is_error, answer) = client.hold();
    assert!(
        !is_error && answer[1].contains("The episode is over"),
        "{answer:?}"
    );
    let (is_error, answer) = client.hold();
    assert!(
        is_error && answer[0].contains("The episode is over"),
        "{answer:?}"
    );
    client.leave();

    let counters = scene.counters();
    assert_eq!(
        (&counters["hold"], &counters["tool_calls_ok"]),
        (&json!(3), &json!(2))
    );
    scene.check();
    assert!(scene.run().status.success(), "a played cell is in the table");
    // The same command again finds nothing left to do, and says so.
    let mut client = Client::connect(&scene);
    assert!(client.step().contains("The episode is over"));
    client.leave();
}

#[test]
fn bad_calls_are_told_as_errors_and_may_be_mended() {
    let scene = Scene::new("external = \"mcp\"");
    let mut client = Client::connect(&scene);
    // A client that reads no resource hears the opening message with its first answer.
    let (is_error, answer) = client.call("get_stock_snapshot", &json!({ "stock_id": 5 }));
    assert!(is_error && answer[0].contains("\"errors\""), "{answer:?}");
    assert!(answer[1].contains(STEP_1), "{answer:?}");
    let (is_error, answer) = client.call("submit_action", &json!({ "orders": 5 }));
    assert!(
        is_error && !answer.concat().contains("attempt 1"),
        "a wish is not judged: {answer:?}"
    );
    let (is_error, answer) = client.call("submit_action", &json!({ "orders": 5 }));
    assert!(
        is_error && answer.last().unwrap().contains("attempt 1 of 4"),
        "{answer:?}"
    );
    let unknown = json!({ "orders": [{ "stock_id": "asset_9999", "side": "BUY", "target_weight": 0.1, "confidence": 0.5,
        "reason": "a name of nowhere" }], "overall_reason": "nothing to do today" });
    for attempt in 2..=3 {
        let (is_error, answer) = client.call("submit_action", &unknown);
        let expected = format!("attempt {attempt} of 4");
        assert!(is_error && answer[0].contains(&expected), "{answer:?}");
    }
    let (is_error, answer) = client.call("portfolio_state", &json!({}));
    assert!(
        is_error && answer[0].starts_with("Step 1: no submission was good"),
        "{answer:?}"
    );
    assert!(answer[1].contains(STEP_2), "{answer:?}");
    let (is_error, _) = client.hold();
    assert!(!is_error);
    client.hold();
    client.leave();
    let counters = scene.counters();
    assert_eq!((&counters["fallback"], &counters["hold"]), (&json!(1), &json!(2)));
    scene.check();
}

#[test]
fn a_file_without_such_an_agent_is_refused() {
    let scene = Scene::new("builtin = \"hold\"");
    let output = scene.start("mcp").stdin(Stdio::null()).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        told(&output).contains("no agent calls over MCP"),
        "{}",
        told(&output)
    );
    assert!(output.stdout.is_empty());
}

/// A client reads its own configuration, the server's standard error and every answer: none of them dates the episode.
#[test]
fn a_client_is_told_no_cell_no_window_and_no_length() {
    let scene = Scene::in_window("external = \"mcp\"", "crash-of-2015");
    // Who runs the experiment is told a name for the client's configuration.
    let unplayed = String::from_utf8_lossy(&scene.run().stdout).into_owned();
    let token = unplayed
        .split("`--cell ")
        .nth(1)
        .unwrap()
        .split('`')
        .next()
        .unwrap();
    assert_eq!(token.len(), 12, "{unplayed}");

    let mut client = Client::connect_with(&scene, &["--cell", token]);
    let mut heard = vec![client.greeting.to_string()];
    for (method, parameters) in [
        ("tools/list", json!({})),
        ("resources/list", json!({})),
        ("prompts/list", json!({})),
        ("resources/read", json!({ "uri": "ktd://step" })),
        ("prompts/get", json!({ "name": "step" })),
    ] {
        heard.push(client.request(method, &parameters).to_string());
    }
    for _ in 0..4 {
        heard.extend(client.hold().1);
    }
    heard.push(client.leave());
    let heard = heard.join("\n");
    assert!(
        heard.contains("Step 3: taken") && heard.contains(token),
        "{heard}"
    );
    for hidden in [
        "crash-of-2015",
        "mine__",
        "steps_total",
        "steps_left",
        "of 3",
        "\"own\"",
        "out/cells",
    ] {
        assert!(!heard.contains(hidden), "{hidden}: {heard}");
    }
    // An unknown name is answered without one that tells.
    let wrong = scene
        .start("mcp")
        .args(["--cell", "x"])
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(
        told(&wrong).contains(token) && !told(&wrong).contains("crash-of-2015"),
        "{}",
        told(&wrong)
    );
}
