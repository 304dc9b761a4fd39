//! What a built-in agent can read in a request: the last state, the tools' answers, tables by column.

use ktd_tools::{SUBMIT_ACTION, Tool};
use serde_json::Value;

/// The line before the state.
const STATE_LINE: &str = "STATE:\n";

/// How the line before an exhibit of a probe begins.
const EXHIBIT_LINE: &str = "EXHIBIT ";

/// The share of the account that an agent invests at most: what is left pays the fees.
const INVESTED_MICRO: u32 = 950_000;

/// A weight of 1, in millionths: what an order's six decimals can say.
pub(crate) const WHOLE_MICRO: u32 = 1_000_000;

/// A request as a model would read it. Whatever is missing is simply absent.
#[derive(Debug)]
pub(crate) struct Seen {
    request: Value,
    state: Value,
    /// Answers of tools in order, each with the tool's name.
    answers: Vec<(String, Value)>,
}

/// The rows of a `{columns, rows}` object.
#[derive(Debug, Default)]
pub(crate) struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<Value>>,
}

/// What the state allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Allowed {
    pub(crate) max_positions: usize,
    pub(crate) max_single_weight_micro: u32,
    /// What target weights have to be multiples of.
    pub(crate) weight_step_micro: u32,
    /// The share of the account that the agent itself invests at most.
    pub(crate) invested_micro: u32,
}

impl Seen {
    pub(crate) fn read(request: &[u8]) -> Self {
        let request = serde_json::from_slice(request).unwrap_or_default();
        let mut seen = Self {
            state: Value::Null,
            answers: Vec::new(),
            request,
        };
        seen.state = seen
            .texts_of("user")
            .iter()
            .rev()
            .find_map(|text| state_in(text))
            .unwrap_or_default();
        seen.answers = seen.read_answers();
        seen
    }

    fn messages(&self) -> &[Value] {
        list(at(&self.request, "/messages"))
    }

    /// The texts of all messages of this role, oldest first.
    pub(crate) fn texts_of(&self, role: &str) -> Vec<&str> {
        let of_role = self
            .messages()
            .iter()
            .filter(|message| at(message, "/role") == role);
        of_role
            .filter_map(|message| at(message, "/content").as_str())
            .collect()
    }

    /// What the messages that open a step say from the state on, oldest first.
    pub(crate) fn state_texts(&self) -> impl Iterator<Item = &str> {
        self.texts_of("user")
            .into_iter()
            .filter_map(|text| text.rsplit_once(STATE_LINE))
            .map(|(_, state)| state)
    }

    /// The exhibits of a probe's question; none in an episode.
    pub(crate) fn exhibits(&self) -> Vec<Value> {
        let texts = self.texts_of("user");
        let lines: Vec<&str> = texts.iter().flat_map(|text| text.lines()).collect();
        let exhibit = |pair: &[&str]| match pair {
            [title, exhibit] if title.starts_with(EXHIBIT_LINE) => serde_json::from_str(exhibit).ok(),
            _ => None,
        };
        lines.windows(2).filter_map(exhibit).collect()
    }

    fn read_answers(&self) -> Vec<(String, Value)> {
        let calls: Vec<&Value> = self
            .messages()
            .iter()
            .flat_map(|message| list(at(message, "/tool_calls")))
            .collect();
        let answer = |message: &Value| {
            let id = at(message, "/tool_call_id").as_str()?;
            let call = calls.iter().rev().find(|call| at(call, "/id") == id)?;
            let content = at(message, "/content").as_str()?;
            let value = json_in(content).unwrap_or_else(|| Value::from(content));
            Some((at(call, "/function/name").as_str()?.to_owned(), value))
        };
        let answers = self.messages().iter().filter_map(answer);
        answers.chain(self.answers_to_said()).collect()
    }

    /// The answers to submissions that were text instead of calls: what follows the object.
    fn answers_to_said(&self) -> impl Iterator<Item = (String, Value)> + '_ {
        let text = |message: &Value| at(message, "/content").as_str().unwrap_or_default().to_owned();
        self.messages().windows(2).filter_map(move |pair| {
            let [said, answer] = pair else {
                return None;
            };
            let is_said = at(said, "/role") == "assistant" && text(said).starts_with('{');
            let is_answer = is_said && at(answer, "/role") == "user";
            let value = json_in(&text(answer)).unwrap_or_else(|| Value::from(text(answer)));
            is_answer.then(|| (SUBMIT_ACTION.to_owned(), value))
        })
    }

    /// How many messages the conversation has: the age of the step.
    pub(crate) fn age(&self) -> usize {
        self.messages().len()
    }

    /// How many bytes a token estimate may count.
    pub(crate) fn text_bytes(&self) -> usize {
        self.messages()
            .iter()
            .filter_map(|message| at(message, "/content").as_str())
            .map(str::len)
            .sum()
    }

    /// Whether the request forces a submission.
    pub(crate) fn must_submit(&self) -> bool {
        let tools = list(at(&self.request, "/tools"));
        let is_alone = |tool: &Value| at(tool, "/function/name") == SUBMIT_ACTION;
        at(&self.request, "/tool_choice/function/name") == SUBMIT_ACTION || tools.iter().all(is_alone)
    }

    /// Whether a submission can only be text, there being no tool to call.
    pub(crate) fn must_say(&self) -> bool {
        list(at(&self.request, "/tools")).is_empty()
    }

    /// Whether the request offers this tool.
    pub(crate) fn has_tool(&self, name: &str) -> bool {
        list(at(&self.request, "/tools"))
            .iter()
            .any(|tool| at(tool, "/function/name") == name)
    }

    /// The answers of one tool, oldest first.
    pub(crate) fn answers_of(&self, name: &str) -> Vec<&Value> {
        self.answers
            .iter()
            .filter(|(tool, _)| tool == name)
            .map(|(_, value)| value)
            .collect()
    }

    /// How many tool calls of the step were answered.
    pub(crate) fn answer_count(&self) -> usize {
        self.answers.len()
    }

    /// The state's day label.
    pub(crate) fn day(&self) -> Option<&str> {
        at(&self.state, "/day").as_str()
    }

    /// The 1-based step, as the state tells it.
    pub(crate) fn step(&self) -> Option<usize> {
        usize::try_from(at(&self.state, "/step").as_u64()?).ok()
    }

    /// The names held.
    pub(crate) fn held(&self) -> Vec<String> {
        Table::read(at(&self.state, "/account/holdings")).texts("stock_id")
    }

    /// The limits, when the state tells both.
    pub(crate) fn allowed(&self) -> Option<Allowed> {
        Some(Allowed {
            max_positions: usize::try_from(at(&self.state, "/limits/max_positions").as_u64()?).ok()?,
            max_single_weight_micro: micro(at(&self.state, "/limits/max_single_weight").as_f64()?)?,
            weight_step_micro: at(&self.state, "/limits/target_weight_step")
                .as_f64()
                .and_then(micro)
                .unwrap_or(1)
                .max(1),
            invested_micro: INVESTED_MICRO,
        })
    }

    /// The candidates: the state's own table, else the latest answer of `screen_candidates`.
    pub(crate) fn candidates(&self) -> Table {
        let table = Table::read(at(&self.state, "/candidates"));
        if !table.rows.is_empty() {
            return table;
        }
        let answers = self.answers_of(Tool::ScreenCandidates.name());
        answers
            .last()
            .map(|answer| Table::read(at(answer, "/candidates")))
            .unwrap_or_default()
    }

    /// The names it could trade: the candidates', else the universe's.
    pub(crate) fn names(&self) -> Vec<String> {
        let names = self.candidates().texts("stock_id");
        if !names.is_empty() {
            return names;
        }
        let universe = at(&self.state, "/universe");
        let by_board = universe
            .as_object()
            .into_iter()
            .flat_map(serde_json::Map::values)
            .flat_map(list);
        list(universe)
            .iter()
            .chain(by_board)
            .filter_map(|name| name.as_str().map(str::to_owned))
            .collect()
    }

    /// The names whose orders an earlier submission of this step was sent back for, and whether any was named.
    pub(crate) fn refused(&self) -> Vec<String> {
        let answers = self.answers_of(SUBMIT_ACTION);
        let tables = answers.iter().map(|answer| Table::read(at(answer, "/orders")));
        tables
            .flat_map(|table| {
                let results: Vec<String> = table.texts("result");
                table
                    .texts("stock_id")
                    .into_iter()
                    .zip(results)
                    .collect::<Vec<_>>()
            })
            .filter(|(_, result)| result == "rejected")
            .map(|(name, _)| name)
            .collect()
    }
}

impl Table {
    pub(crate) fn read(table: &Value) -> Self {
        let columns = list(at(table, "/columns")).iter();
        Self {
            columns: columns
                .map(|name| name.as_str().unwrap_or_default().to_owned())
                .collect(),
            rows: list(at(table, "/rows"))
                .iter()
                .map(|row| list(row).to_vec())
                .collect(),
        }
    }

    fn column(&self, name: &str) -> impl Iterator<Item = &Value> {
        let place = self
            .columns
            .iter()
            .position(|column| column == name)
            .unwrap_or(usize::MAX);
        self.rows
            .iter()
            .map(move |row| row.get(place).unwrap_or(&Value::Null))
    }

    /// The texts of a column, rows without one left out.
    pub(crate) fn texts(&self, name: &str) -> Vec<String> {
        self.column(name)
            .filter_map(|value| value.as_str().map(str::to_owned))
            .collect()
    }

    /// (name, value) of a factor: its raw value, or the percentile or band that is shown in its place.
    pub(crate) fn values(&self, factor: &str) -> Vec<(String, f64)> {
        let raw = self.numbers(factor);
        if raw.is_empty() {
            return self.told(factor, ["_pct", "_band"]);
        }
        raw
    }

    /// (name, score) of a factor, 0 for a middling name: its z-score, its percentile less 50, or its band.
    pub(crate) fn scores(&self, factor: &str) -> Vec<(String, f64)> {
        const MIDDLE_PERCENTILE: f64 = 50.0;
        let percentiles = self.numbers(&format!("{factor}_pct"));
        if percentiles.is_empty() {
            return self.told(factor, ["_z", "_band"]);
        }
        let centred = percentiles
            .into_iter()
            .map(|(id, place)| (id, place - MIDDLE_PERCENTILE));
        centred.collect()
    }

    /// The first of two columns of a factor that has numbers.
    fn told(&self, factor: &str, [first, second]: [&str; 2]) -> Vec<(String, f64)> {
        let numbers = self.numbers(&format!("{factor}{first}"));
        if numbers.is_empty() {
            return self.numbers(&format!("{factor}{second}"));
        }
        numbers
    }

    /// (name, number) of the rows that have both.
    pub(crate) fn numbers(&self, name: &str) -> Vec<(String, f64)> {
        let pair = |(id, number): (&Value, &Value)| Some((id.as_str()?.to_owned(), number.as_f64()?));
        self.column("stock_id")
            .zip(self.column(name))
            .filter_map(pair)
            .collect()
    }
}

/// A weight in [0, 1] in millionths.
pub(crate) fn micro(weight: f64) -> Option<u32> {
    // Through text, for the casts from floats are refused: 0.2 is "200000".
    let text = format!("{:.0}", weight * f64::from(WHOLE_MICRO));
    text.parse().ok().filter(|micro| *micro <= WHOLE_MICRO)
}

/// The value at a JSON pointer, null where there is none.
fn at<'a>(value: &'a Value, pointer: &str) -> &'a Value {
    value.pointer(pointer).unwrap_or(&Value::Null)
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// The first JSON object of a text: a tool's answer is one, feedback carries one inside a sentence.
fn json_in(text: &str) -> Option<Value> {
    let (start, _) = text.char_indices().find(|(_, character)| *character == '{')?;
    let mut values = serde_json::Deserializer::from_str(text.get(start..)?).into_iter();
    values.next()?.ok()
}

/// The object on the line after the last `STATE:` line of a message.
fn state_in(text: &str) -> Option<Value> {
    let (_, after) = text.rsplit_once(STATE_LINE)?;
    serde_json::from_str(after.lines().next()?)
        .ok()
        .filter(Value::is_object)
}
