//! From text to tokens, one at a time, each with its place.

use crate::error::{FormulaError, FormulaFault};
use crate::number::FormulaNumber;

/// What a token is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Lexeme {
    Number(FormulaNumber),
    Field(String),
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
const SIGNS: [&str; 18] = [
    "**", ">=", "<=", "==", "!=", ">", "<", "&", "|", "+", "-", "*", "/", "(", ")", ",", "=", ";",
];

/// Signs of Python that the language lacks.
const FOREIGN_SIGNS: [&str; 7] = ["//", "<<", ">>", "%", "@", "^", "~"];

/// Words of Python between values.
const LOGIC_WORDS: [&str; 5] = ["and", "or", "not", "if", "else"];
const OPERATOR_WORDS: [&str; 2] = ["in", "is"];
const RESERVED_WORDS: [&str; 12] = [
    "lambda", "for", "while", "def", "class", "import", "from", "return", "yield", "await", "async", "None",
];

/// The tokens of a text, from the left.
#[derive(Debug)]
pub(crate) struct Tokens<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Tokens<'a> {
    pub(crate) const fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    fn rest(&self) -> &'a str {
        self.text.get(self.at..).unwrap_or("")
    }

    /// The text from a byte on, for a message.
    pub(crate) fn from(&self, at: usize) -> &'a str {
        self.text.get(at..).unwrap_or("")
    }

    /// The next token.
    pub(crate) fn next(&mut self) -> Result<Token, FormulaError> {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        self.at += blanks;
        let at = self.at;
        let lexeme = self.lexeme()?;
        Ok(Token { lexeme, at })
    }

    fn lexeme(&mut self) -> Result<Lexeme, FormulaError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else {
            return Ok(Lexeme::End);
        };
        if first == '$' {
            return self.field();
        }
        if first.is_ascii_digit()
            || (first == '.' && rest.chars().nth(1).is_some_and(|second| second.is_ascii_digit()))
        {
            return self.number();
        }
        if first.is_ascii_alphabetic() {
            return self.word();
        }
        if first == '\'' || first == '"' {
            return self.quoted(first);
        }
        self.sign()
    }

    fn sign(&mut self) -> Result<Lexeme, FormulaError> {
        let rest = self.rest();
        if let Some(sign) = FOREIGN_SIGNS.into_iter().find(|sign| rest.starts_with(sign)) {
            return Err(FormulaError::new(
                FormulaFault::PythonOperator,
                self.at,
                sign,
                "one of + - * / ** > >= < <= == != & |",
                "use an operator of the language",
            ));
        }
        let Some(sign) = SIGNS.into_iter().find(|sign| rest.starts_with(sign)) else {
            return Err(self.syntax(self.at, "a part of a formula", "remove this character"));
        };
        self.at += sign.len();
        Ok(Lexeme::Sign(sign))
    }

    fn field(&mut self) -> Result<Lexeme, FormulaError> {
        let name = self.from(self.at + 1);
        if name.starts_with('$') {
            return Err(FormulaError::new(
                FormulaFault::Unsupported,
                self.at,
                self.rest(),
                "a field of daily data",
                "remove the field: point-in-time reports are not supported",
            ));
        }
        let end = name
            .find(|character: char| !character.is_alphanumeric() && character != '_')
            .unwrap_or(name.len());
        let name = name.get(..end).unwrap_or("");
        if name.is_empty() {
            return Err(self.syntax(
                self.at,
                "the name of a field after `$`",
                "write a field such as $close",
            ));
        }
        self.at += 1 + end;
        Ok(Lexeme::Field(name.to_lowercase()))
    }

    fn word(&mut self) -> Result<Lexeme, FormulaError> {
        let rest = self.rest();
        let end = rest
            .find(|character: char| !character.is_ascii_alphanumeric() && character != '_')
            .unwrap_or(rest.len());
        let word = rest.get(..end).unwrap_or("");
        if LOGIC_WORDS.contains(&word) {
            return Err(FormulaError::new(
                FormulaFault::PythonLogic,
                self.at,
                word,
                "an operator of the language",
                "use & and | with brackets, Not(..) or If(..,..,..)",
            ));
        }
        if OPERATOR_WORDS.contains(&word) {
            return Err(FormulaError::new(
                FormulaFault::PythonOperator,
                self.at,
                word,
                "one of + - * / ** > >= < <= == != & |",
                "use an operator of the language",
            ));
        }
        if RESERVED_WORDS.contains(&word) {
            return Err(self.syntax(self.at, "a part of a formula", "remove this word of Python"));
        }
        self.at += end;
        Ok(Lexeme::Word(word.to_owned()))
    }

    fn quoted(&mut self, quote: char) -> Result<Lexeme, FormulaError> {
        let inner = self.from(self.at + 1);
        let Some(end) = inner.find([quote, '\n']) else {
            return Err(self.syntax(self.at, "a closing quote", "close the text in quotes"));
        };
        let text = inner.get(..end).unwrap_or("");
        let is_plain =
            |character: char| character.is_ascii_alphanumeric() || matches!(character, '.' | '_' | '-');
        if text.is_empty() || !text.chars().all(is_plain) {
            return Err(self.syntax(
                self.at,
                "the code of an instrument in quotes",
                "use letters and digits alone",
            ));
        }
        self.at += end + 2;
        Ok(Lexeme::Text(text.to_owned()))
    }

    /// Python's decimal integers and floats.
    fn number(&mut self) -> Result<Lexeme, FormulaError> {
        let rest = self.rest();
        let (whole, after) = digits(rest);
        let point = after.strip_prefix('.');
        let (decimals, mut after) = point.map_or(("", after), digits);
        let mut is_float = point.is_some();
        if let Some(exponent) = after.strip_prefix(['e', 'E']) {
            let (power, behind) = digits(exponent.strip_prefix(['+', '-']).unwrap_or(exponent));
            if power.is_empty() || !is_grouped(power) {
                return Err(self.syntax(
                    self.at,
                    "the digits of an exponent",
                    "write a number such as 1e-12",
                ));
            }
            is_float = true;
            after = behind;
        }
        let length = rest.len() - after.len();
        let text = rest.get(..length).unwrap_or("");
        let follows = after.chars().next();
        let is_glued = follows.is_some_and(|next| next.is_alphanumeric() || matches!(next, '_' | '.' | '$'));
        let bare = text.replace('_', "");
        let leads_with_zero =
            !is_float && 1 < bare.len() && bare.starts_with('0') && bare.contains(|digit| digit != '0');
        if is_glued || leads_with_zero || !is_grouped(whole) || !is_grouped(decimals) {
            return Err(self.syntax(
                self.at,
                "a decimal number",
                "write a number such as 5, 1_000, .5 or 1e-12",
            ));
        }
        let number = if is_float {
            bare.parse()
                .ok()
                .filter(|value: &f64| value.is_finite())
                .map(FormulaNumber::Float)
        } else {
            bare.parse().ok().map(FormulaNumber::Integer)
        };
        let at = self.at;
        self.at += length;
        number.map(Lexeme::Number).ok_or_else(|| {
            FormulaError::new(
                FormulaFault::Number,
                at,
                text,
                "an integer of 64 bits or a finite float",
                "use a smaller number",
            )
        })
    }

    /// An error about the form of the text.
    pub(crate) fn syntax(&self, at: usize, expected: &str, hint: &str) -> FormulaError {
        let found = self.from(at);
        let found = if found.is_empty() { "the end" } else { found };
        FormulaError::new(FormulaFault::Syntax, at, found, expected, hint)
    }
}

/// Leading digits with their low lines, and what follows.
fn digits(text: &str) -> (&str, &str) {
    let end = text
        .find(|character: char| !character.is_ascii_digit() && character != '_')
        .unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// Whether low lines stand between digits alone.
fn is_grouped(digits: &str) -> bool {
    !digits.starts_with('_') && !digits.ends_with('_') && !digits.contains("__")
}
