//! The page of every key of an experiment file, written from the types that read it.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a schema of another form fails the test"
)]

use ktd_env::exchange::Rules;
use ktd_experiment::config::ExperimentConfig;
use ktd_experiment::rules_config::RulesConfig;
use ktd_kit::workspace_root;
use serde_json::{Map, Value, json};
use std::collections::VecDeque;
use std::fmt::Write;

const PAGE: &str = "docs/experiment-file.md";

const HEAD: &str = "\
# Every key of an experiment file

A file of episodes (`kind = \"episodes\"`, or without `kind`) is TOML. `ktd run --help` shows one, [protocol](protocol.md) says what a good
one has, [money](money.md) what concerns prices, budgets and rates. A key that is not here is an error that names the nearest one.
Paths are relative to the file. What has no default may be left out unless it is *required*.

This page is written from the types of the source: `UPDATE=1 cargo test -p ktd-tests --test rules experiment_keys`.
";

/// Ends of names with the unit that they say.
const UNITS: [(&str, &str); 12] = [
    ("_ms", "milliseconds"),
    ("_seconds", "seconds"),
    ("_hours", "hours"),
    ("_mb", "megabytes"),
    ("_fen", "fen"),
    ("_bps", "basis points"),
    ("_bp", "basis points"),
    ("_days", "trading days"),
    ("_chars", "characters"),
    ("_tokens", "tokens"),
    ("requests_per_minute", "requests in 60 seconds"),
    ("tokens_per_minute", "tokens in 60 seconds"),
];

/// The schema of the whole file, and what is still to be written of it.
struct Page {
    definitions: Map<String, Value>,
    /// Tables that were met, by their definitions, with the names under which the page has them.
    met: Vec<(String, String)>,
    /// Those of them that are not written yet.
    next: VecDeque<usize>,
    /// Definitions whose values were told.
    told: Vec<String>,
    text: String,
}

impl Page {
    fn table(&mut self, path: &str, schema: &Value, defaults: &Value) {
        writeln!(
            self.text,
            "\n| key | type | default | unit | meaning |\n|---|---|---|---|---|"
        )
        .unwrap();
        let required: Vec<&str> = schema["required"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let mut values = String::new();
        for (key, of) in schema["properties"].as_object().unwrap() {
            let own = join(path, key);
            let default = defaults.get(key).or_else(|| of.get("default"));
            let (meaning, stated) = meaning(of);
            // A table has defaults of its own, in its section, but for those that are given.
            let default = default.filter(|default| defaults.get(key).is_some() || !default.is_object());
            let default = match default.and_then(toml_of) {
                _ if required.contains(&key.as_str()) => "*required*".to_owned(),
                Some(default) => format!("`{default}`"),
                None => stated,
            };
            let kind = self.kind(&own, of);
            // What has names for its values has no unit.
            let unit = if kind.starts_with('`') { "" } else { unit(key, of) };
            writeln!(self.text, "| `{key}` | {kind} | {default} | {unit} | {meaning} |").unwrap();
            values.push_str(&self.values(key, of));
        }
        if !values.is_empty() {
            write!(self.text, "\n{values}").unwrap();
        }
    }

    /// A type in words.
    fn kind(&mut self, path: &str, schema: &Value) -> String {
        if let Some(options) = schema.get("anyOf") {
            let options = options.as_array().unwrap().iter();
            let options: Vec<&Value> = options.filter(|option| option["type"] != "null").collect();
            let mut kinds = vec![self.kind(path, options[0])];
            for option in options.into_iter().skip(1) {
                // Another form of the same key is a section of its own, by the name of its type.
                let form = name_of(option).map_or_else(
                    || path.to_owned(),
                    |name| join(path, &name.trim_end_matches("Config").to_lowercase()),
                );
                kinds.push(self.kind(&form, option));
            }
            return kinds.join(", or ");
        }
        if let Some(name) = name_of(schema) {
            let definition = self.definitions[name].clone();
            if definition.get("properties").is_none() {
                return self.kind(path, &definition);
            }
            let section = self.name(name, path);
            return format!("table [{section}](#{})", anchor(section));
        }
        if let Some(options) = schema.get("oneOf").or_else(|| schema.get("enum")) {
            let options = options.as_array().unwrap().iter();
            let labels: Vec<String> = options
                .flat_map(labels)
                .map(|label| format!("`{label}`"))
                .collect();
            return labels.join(", ");
        }
        let kind = schema
            .get("type")
            .map_or(&Value::Null, |kind| kind.get(0).unwrap_or(kind));
        match kind.as_str().unwrap_or_default() {
            "array" => format!("list of: {}", self.kind(path, &schema["items"])),
            "object" if schema["additionalProperties"].is_object() => {
                let each = self.kind(&join(path, "NAME"), &schema["additionalProperties"]);
                format!("by name: {each}")
            }
            "object" => "table".to_owned(),
            "integer" => match schema["minimum"].as_u64() {
                Some(least) => format!("whole number from {least}"),
                None => "whole number".to_owned(),
            },
            "boolean" => "true or false".to_owned(),
            "string" => "text".to_owned(),
            "number" => "number".to_owned(),
            _ => "any value".to_owned(),
        }
    }

    /// The name of a table's section: that of its first place.
    fn name(&mut self, definition: &str, path: &str) -> &str {
        let found = self.met.iter().position(|(known, _)| known == definition);
        let place = found.unwrap_or_else(|| {
            self.met.push((definition.to_owned(), path.to_owned()));
            self.next.push_back(self.met.len() - 1);
            self.met.len() - 1
        });
        &self.met[place].1
    }

    /// What the values of a key mean, where their type says it.
    fn values(&mut self, key: &str, schema: &Value) -> String {
        let schema = schema.get("anyOf").map_or(schema, |options| &options[0]);
        let mut text = String::new();
        let Some(name) = name_of(schema).filter(|name| !self.told.iter().any(|told| told == name)) else {
            return text;
        };
        self.told.push(name.to_owned());
        let schema = &self.definitions[name];
        for value in schema["oneOf"].as_array().into_iter().flatten() {
            if let (Some(label), Some(_)) = (value["const"].as_str(), value["description"].as_str()) {
                writeln!(text, "- `{key} = \"{label}\"`: {}", in_a_line(value)).unwrap();
            }
        }
        text
    }
}

fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// The definition that a schema names.
fn name_of(schema: &Value) -> Option<&str> {
    schema["$ref"].as_str()?.strip_prefix("#/$defs/")
}

fn labels(option: &Value) -> Vec<&str> {
    let own = option.as_str().or_else(|| option["const"].as_str());
    let several = option["enum"].as_array().into_iter().flatten();
    own.into_iter().chain(several.filter_map(Value::as_str)).collect()
}

/// The link to a section, as sites that show Markdown make it.
fn anchor(name: &str) -> String {
    let kept = name
        .chars()
        .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '-' | '_'));
    kept.collect::<String>().to_lowercase()
}

fn unit(key: &str, schema: &Value) -> &'static str {
    if schema.to_string().contains("DollarText") {
        return "US dollars";
    }
    let says = |end: &str| key.ends_with(end) || key.contains(&format!("{end}_"));
    let unit = UNITS.iter().find(|(end, _)| says(end));
    unit.map_or("", |(_, unit)| unit)
}

/// The first paragraph of a comment.
fn in_a_line(schema: &Value) -> String {
    let whole = schema["description"].as_str().unwrap_or_default();
    let first = whole.split("\n\n").next().unwrap_or_default();
    first.replace('\n', " ").replace('|', "\\|")
}

/// What a key means, and the default that its comment states.
fn meaning(schema: &Value) -> (String, String) {
    let whole = in_a_line(schema);
    let stated = whole.split_once(" (default").and_then(|(before, after)| {
        let (default, after) = after.split_once(')')?;
        let default = default.trim_start_matches([':', ' ']);
        Some((format!("{before}{after}"), default.to_owned()))
    });
    stated.unwrap_or((whole, String::new()))
}

/// A default as a file would write it; none of what is absent.
fn toml_of(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Array(items) => {
            let items: Vec<String> = items.iter().filter_map(toml_of).collect();
            Some(format!("[{}]", items.join(", ")))
        }
        Value::Object(keys) => {
            let keys: Vec<String> = keys
                .iter()
                .filter_map(|(key, value)| Some(format!("{key} = {}", toml_of(value)?)))
                .collect();
            Some(format!("{{ {} }}", keys.join(", ")))
        }
        Value::Bool(_) | Value::Number(_) | Value::String(_) => Some(value.to_string()),
    }
}

/// The page.
fn page() -> String {
    let schema = schemars::schema_for!(ExperimentConfig).to_value();
    let mut page = Page {
        definitions: schema["$defs"].as_object().unwrap().clone(),
        met: Vec::new(),
        next: VecDeque::new(),
        told: Vec::new(),
        text: HEAD.to_owned(),
    };
    page.table("", &schema, &Value::Null);
    // Keys of the exchange that are left out keep the defaults of its rules.
    let rules = json!(RulesConfig::of(&Rules::default()));
    while let Some(place) = page.next.pop_front() {
        let (definition, path) = page.met[place].clone();
        let schema = page.definitions[&definition].clone();
        write!(page.text, "\n## {path}\n\n{}\n", in_a_line(&schema)).unwrap();
        let defaults = if path == "rules" { &rules } else { &Value::Null };
        page.table(&path, &schema, defaults);
    }
    page.text
}

#[test]
fn the_page_of_every_key_is_that_of_the_types() {
    let text = page();
    let path = workspace_root().join(PAGE);
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(&path, &text).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(
        written, text,
        "{PAGE} is not that of the types: UPDATE=1 cargo test -p ktd-tests --test rules experiment_keys"
    );
    for line in [
        "| `max_tool_calls` | whole number from 0 | `20` |",
        "| `api_key_env` | text |",
        "| `nonce` | text |",
    ] {
        assert!(text.contains(line), "{line}");
    }
}
