//! Answers the question of a probe from what an exhibit shows openly: a real code, a real date.

use crate::answer;
use crate::foresight::Foresight;
use crate::identifier::{is_code, is_date};
use crate::seen::Seen;
use ktd_tools::SUBMIT_ACTION;
use serde_json::{Value, json};

/// The answer to the probe of a request, where it is one: what the exhibits show, and nothing under a mask.
pub(crate) fn answer_probe(seen: &Seen, memory: &dyn Foresight) -> Option<Vec<u8>> {
    let exhibits = seen.exhibits();
    let arguments = match exhibits.as_slice() {
        [] => return None,
        [exhibit] => which_stock(exhibit, memory),
        [first, second, ..] => same_stock(first, second),
    };
    Some(match arguments {
        Some(arguments) => answer::call(seen, SUBMIT_ACTION, &arguments.to_string()),
        None => answer::say(seen, "I recognise neither the stock nor the day."),
    })
}

fn which_stock(exhibit: &Value, memory: &dyn Foresight) -> Option<Value> {
    let code = target(exhibit);
    let day = last_day(exhibit);
    if code.is_none() && day.is_none() {
        return None;
    }
    // The close before the day that opens the step is the last one shown.
    let date = day.map(|day| memory.day_before(day).unwrap_or_else(|| day.to_owned()));
    let mut arguments = json!({
        "stocks": code.into_iter().collect::<Vec<_>>(),
        "date": date.unwrap_or_default(),
        "confidence": 1.0,
    });
    if let (Some(code), Some(object)) = (code, arguments.as_object_mut()) {
        for key in ["sector", "board"] {
            if let Some(text) = of_target(exhibit, code, key) {
                object.insert(key.to_owned(), Value::from(text));
            }
        }
    }
    Some(arguments)
}

fn same_stock(first: &Value, second: &Value) -> Option<Value> {
    let (first, second) = (target(first)?, target(second)?);
    Some(json!({ "same_stock": first == second, "confidence": 1.0 }))
}

/// The target, where it is shown by its code.
fn target(exhibit: &Value) -> Option<&str> {
    exhibit.pointer("/target")?.as_str().filter(|text| is_code(text))
}

/// The day of the last step, where it is shown by its date.
fn last_day(exhibit: &Value) -> Option<&str> {
    let last = exhibit.pointer("/steps")?.as_array()?.last()?;
    let days = last.as_array()?.iter();
    days.filter_map(|message| message.pointer("/content/day")?.as_str())
        .find(|text| is_date(text))
}

/// What a snapshot of the target says under a key.
fn of_target<'a>(exhibit: &'a Value, code: &str, key: &str) -> Option<&'a str> {
    let steps = exhibit.pointer("/steps")?.as_array()?;
    let contents = steps
        .iter()
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(|message| message.pointer("/content"));
    let mut own = contents.filter(|content| content.pointer("/stock_id").is_some_and(|id| id == code));
    own.find_map(|content| content.get(key)?.as_str())
}
