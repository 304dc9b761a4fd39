//! From text to tokens, each with its place.

use crate::fx_error::{FxError, FxFault};

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lexeme {
    Number(f64),
    Word(String),
    Text(String),
    Sign(&'static str),
    End,
}

/// A token and the byte where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Token {
    pub(crate) lexeme: Lexeme,
    pub(crate) at: usize,
}

/// Signs of the language, longer ones first.
const SIGNS: [&str; 12] = ["**", "+", "-", "*", "/", "(", ")", "[", "]", ",", "=", ";"];

/// All tokens of a text, the last of them its end.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, FxError> {
    let mut found = Vec::new();
    let mut at = 0;
    loop {
        let rest = text.get(at..).unwrap_or("");
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\n', '\r']).len();
        at += blanks;
        let (lexeme, length) = lexeme(text.get(at..).unwrap_or(""), at)?;
        let ended = lexeme == Lexeme::End;
        found.push(Token { lexeme, at });
        if ended {
            return Ok(found);
        }
        at += length;
    }
}

fn lexeme(rest: &str, at: usize) -> Result<(Lexeme, usize), FxError> {
    let Some(first) = rest.chars().next() else {
        return Ok((Lexeme::End, 0));
    };
    if first.is_ascii_digit() || first == '.' {
        return number(rest, at);
    }
    if first.is_ascii_alphabetic() || first == '_' {
        let length = rest
            .find(|next: char| !next.is_ascii_alphanumeric() && next != '_')
            .unwrap_or(rest.len());
        let word = rest.get(..length).unwrap_or("");
        return Ok((Lexeme::Word(word.to_owned()), length));
    }
    if first == '\'' || first == '"' {
        let inner = rest.get(1..).unwrap_or("");
        let Some(length) = inner.find(first) else {
            return Err(FxError::new(
                FxFault::Syntax,
                at,
                rest,
                "close the quotation mark",
            ));
        };
        let text = inner.get(..length).unwrap_or("");
        return Ok((Lexeme::Text(text.to_owned()), length + 2));
    }
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
        Some(sign) => Ok((Lexeme::Sign(sign), sign.len())),
        None => Err(FxError::new(FxFault::Syntax, at, rest, "remove this character")),
    }
}

/// Digits, one point, and an exponent that follows them.
fn number(rest: &str, at: usize) -> Result<(Lexeme, usize), FxError> {
    let mut length = rest
        .find(|next: char| !next.is_ascii_digit() && next != '.')
        .unwrap_or(rest.len());
    let after = rest.get(length..).unwrap_or("");
    if let Some(exponent) = after.strip_prefix(['e', 'E']) {
        let signed = exponent.len() - exponent.trim_start_matches(['+', '-']).len();
        let digits = exponent.get(signed..).unwrap_or("");
        let count = digits.len()
            - digits
                .trim_start_matches(|next: char| next.is_ascii_digit())
                .len();
        if 0 < count && signed < 2 {
            length += 1 + signed + count;
        }
    }
    let digits = rest.get(..length).unwrap_or("");
    match digits.parse::<f64>() {
        Ok(value) if value.is_finite() => Ok((Lexeme::Number(value), length)),
        _ => Err(FxError::new(
            FxFault::Number,
            at,
            digits,
            "write a finite number such as 20 or 0.06",
        )),
    }
}
