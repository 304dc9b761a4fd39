//! What is looked for, in all the spellings it could hide in.

use aho_corasick::AhoCorasick;
use ktd_env::Market;
use serde_json::Value;
use std::collections::BTreeSet;

/// Looks through bytes for what must not be there; says what it found.
pub(crate) trait Finder {
    fn find(&self, bytes: &[u8]) -> Option<String>;
}

/// Keys.
pub(crate) struct Secrets {
    words: Vec<String>,
    automaton: AhoCorasick,
}

impl Secrets {
    pub(crate) fn of(secrets: &[&str]) -> Self {
        let words: Vec<String> = secrets.iter().flat_map(|secret| spellings(secret)).collect();
        let automaton = AhoCorasick::new(&words).unwrap();
        Self { words, automaton }
    }
}

impl Finder for Secrets {
    fn find(&self, bytes: &[u8]) -> Option<String> {
        let found = self.automaton.find(bytes)?;
        Some(self.words[found.pattern().as_usize()].clone())
    }
}

/// A text as it is, in JSON, in a URL, in hexadecimal, and in base64 wherever in it it begins.
pub(crate) fn spellings(text: &str) -> Vec<String> {
    let bytes = text.as_bytes();
    let each = |spell: fn(u8) -> String| bytes.iter().map(|byte| spell(*byte)).collect::<Vec<_>>().concat();
    // JSON in JSON in JSON: arguments in a body in a record.
    let escape = |text: &String| {
        let json = serde_json::to_string(text).unwrap();
        Some(json[1..json.len() - 1].to_owned())
    };
    let nested = std::iter::successors(Some(text.to_owned()), escape).take(5);
    let is_word = |byte: u8| byte.is_ascii_alphanumeric();
    let escaped = bytes.iter().map(|byte| match *byte {
        byte if is_word(byte) => char::from(byte).to_string(),
        byte => format!("\\u{:04x}", u32::from(byte)),
    });
    let in_url = bytes.iter().map(|byte| match *byte {
        byte if is_word(byte) || b"-._~".contains(&byte) => char::from(byte).to_string(),
        byte => format!("%{byte:02X}"),
    });
    let mut all: Vec<String> = nested.flat_map(|json| [json.replace('/', "\\/"), json]).collect();
    all.extend([
        escaped.collect(),
        in_url.collect(),
        each(|byte| format!("{byte:02x}")),
        each(|byte| format!("{byte:02X}")),
    ]);
    for before in 0..3 {
        let padded = [vec![0; before], bytes.to_vec()].concat();
        let digits = base64(&padded[..padded.len() / 3 * 3]);
        // The first group also holds what stands before.
        let inner = digits[if before == 0 { 0 } else { 4 }..].to_owned();
        all.push(inner.replace('+', "-").replace('/', "_"));
        all.push(inner);
    }
    all
}

/// Base64 of whole groups.
fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let group = |three: &[u8]| {
        let number = three
            .iter()
            .fold(0_usize, |number, byte| number << 8 | usize::from(*byte));
        [18, 12, 6, 0].map(|shift| char::from(DIGITS[number >> shift & 63]))
    };
    bytes.chunks_exact(3).flat_map(group).collect()
}

/// What a blinded run hides of a panel: codes, company names and dates.
pub(crate) struct Facts {
    codes: BTreeSet<String>,
    words: Vec<String>,
    automaton: AhoCorasick,
}

impl Facts {
    pub(crate) fn of(market: &Market) -> Self {
        let (mut codes, mut words) = (BTreeSet::new(), Vec::new());
        for (_, info) in market.names() {
            let code = info.ticker.reveal();
            codes.insert(code[2..].to_owned());
            words.extend(spellings(code));
            for name in &info.company_names {
                words.extend(spellings(name));
                words.push(utf16_escaped(name));
            }
        }
        for day in market.calendar() {
            let date = day.reveal();
            let parts: Vec<&str> = date.split('-').collect();
            let (year, month, day) = (parts[0], parts[1], parts[2]);
            let bare = |part: &str| part.trim_start_matches('0').to_owned();
            words.extend(spellings(&date));
            words.push(format!("{year}/{month}/{day}"));
            words.push(format!("{year}/{}/{}", bare(month), bare(day)));
            words.push(format!("{year}.{month}.{day}"));
            words.push(format!("{year}年{}月{}日", bare(month), bare(day)));
            codes.insert(format!("{year}{month}{day}"));
        }
        words.retain(|word| !word.is_empty());
        let automaton = AhoCorasick::new(&words).unwrap();
        Self {
            codes,
            words,
            automaton,
        }
    }

    /// A code in a text of JSON, or of JSON inside its texts. Numbers may honestly be as a code is.
    fn in_value(&self, value: &Value) -> Option<String> {
        match value {
            Value::String(text) => match serde_json::from_str(text) {
                Ok(inner @ (Value::Object(_) | Value::Array(_))) => self.in_value(&inner),
                _ => self.in_text(text),
            },
            Value::Array(items) => items.iter().find_map(|item| self.in_value(item)),
            Value::Object(members) => members
                .iter()
                .find_map(|(key, value)| self.in_text(key).or_else(|| self.in_value(value))),
            Value::Null | Value::Bool(_) | Value::Number(_) => None,
        }
    }

    /// A run of digits that stands alone and is a code.
    fn in_text(&self, text: &str) -> Option<String> {
        // A sentence may carry a table, whose numbers are as honest as others.
        if let Some((before, json)) = text.split_once(['{', '[']).filter(|_| text.contains("\":")) {
            let start = before.len();
            if let Some(Ok(value)) = serde_json::Deserializer::from_str(&text[start..])
                .into_iter::<Value>()
                .next()
            {
                let rest = json.rsplit_once(['}', ']']).map_or("", |(_, rest)| rest);
                return self
                    .in_text(before)
                    .or_else(|| self.in_value(&value))
                    .or_else(|| self.in_text(rest));
            }
        }
        let is_word = |character: char| character.is_alphanumeric() || matches!(character, '.' | ',' | '_');
        text.split(|character| !is_word(character))
            .map(|word| word.trim_matches(['.', ',', '_']))
            .find(|word| self.codes.contains(*word))
            .map(str::to_owned)
    }
}

impl Finder for Facts {
    fn find(&self, bytes: &[u8]) -> Option<String> {
        if let Some(found) = self.automaton.find(bytes) {
            return Some(self.words[found.pattern().as_usize()].clone());
        }
        let values: Result<Vec<Value>, _> = serde_json::Deserializer::from_slice(bytes).into_iter().collect();
        match values {
            Ok(values) => values.iter().find_map(|value| self.in_value(value)),
            Err(_) => self.in_text(&String::from_utf8_lossy(bytes)),
        }
    }
}

fn utf16_escaped(text: &str) -> String {
    let units: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
    units.concat()
}
