//! Whether two values are the same up to the last bits of figures.

use serde_json::Value;

/// Where two documents differ first; figures may lie apart by this share of the larger one or of 1.
pub(crate) fn difference_beyond(apart: f64, recorded: &str, made: &str) -> Option<String> {
    let value = |text: &str| serde_json::from_str::<Value>(text).ok();
    match (value(recorded), value(made)) {
        (Some(recorded), Some(made)) => {
            first_difference(apart, &recorded, &made).map(|path| format!("{path} differs"))
        }
        _ => Some("one of the two is no document".to_owned()),
    }
}

/// Where two values differ first, as a path.
fn first_difference(apart: f64, recorded: &Value, made: &Value) -> Option<String> {
    match (recorded, made) {
        (Value::Object(left), Value::Object(right)) => {
            let keys = left.keys().chain(right.keys());
            let mut found = keys.filter_map(|key| {
                let (one, other) = (left.get(key), right.get(key));
                let inner =
                    first_difference(apart, one.unwrap_or(&Value::Null), other.unwrap_or(&Value::Null))?;
                Some(join(key, &inner))
            });
            found.next()
        }
        (Value::Array(left), Value::Array(right)) if left.len() == right.len() => {
            let mut found = left
                .iter()
                .zip(right)
                .enumerate()
                .filter_map(|(place, (one, other))| {
                    Some(join(&place.to_string(), &first_difference(apart, one, other)?))
                });
            found.next()
        }
        (Value::Number(left), Value::Number(right)) if left.is_f64() || right.is_f64() => {
            let (one, other) = (left.as_f64()?, right.as_f64()?);
            let is_near = (one - other).abs() <= apart * one.abs().max(other.abs()).max(1.0);
            (!is_near).then(String::new)
        }
        (left, right) => (left != right).then(String::new),
    }
}

fn join(key: &str, inner: &str) -> String {
    if inner.is_empty() {
        key.to_owned()
    } else {
        format!("{key}.{inner}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn figures_may_differ_in_their_last_bits_and_nothing_else() {
        let one = json!({"a": [1, {"x": 0.1}], "b": "safe", "c": null});
        let mut other = one.clone();
        other["a"][1]["x"] = json!(0.1 + 1e-12);
        assert_eq!(first_difference(1e-9, &one, &other), None);
        other["a"][1]["x"] = json!(0.1 + 1e-8);
        assert_eq!(first_difference(1e-9, &one, &other).as_deref(), Some("a.1.x"));
        assert_eq!(
            first_difference(1e-9, &one, &json!({"a": one["a"], "b": "leak"})).as_deref(),
            Some("b")
        );
        assert_eq!(first_difference(1e-9, &json!(1), &json!(2)).as_deref(), Some(""));
        assert_eq!(
            first_difference(1e-9, &json!([1]), &json!([1, 2])).as_deref(),
            Some("")
        );
    }
}
