//! Sources without words to their reader: no comments, no docstrings, no strings that nothing uses.

/// How deep strings within fields of strings may lie; what is deeper is left as it is.
const NESTING_MAX: usize = 32;
/// Words that begin a statement with a body.
const HEADERS: [&str; 14] = [
    "async", "case", "class", "def", "elif", "else", "except", "finally", "for", "if", "match", "try",
    "while", "with",
];
/// Prefixes of strings, in lower case.
const PREFIXES: [&str; 11] = ["r", "b", "u", "f", "t", "br", "rb", "fr", "rf", "tr", "rt"];

/// A Python source without comments, docstrings and strings that stand alone. It does the same when it is run; where it
/// cannot be parsed, what is left is of no meaning. An author could plead with a reviewer there.
#[must_use]
pub fn stripped_source(source: &str) -> String {
    let mut text = String::with_capacity(source.len());
    let mut line: Vec<Token> = Vec::new();
    let mut tokens = Lexer::new(source).peekable();
    while let Some(token) = tokens.next() {
        match token {
            Token::Comment => {
                let is_blank = |token: &mut Token| matches!(token, Token::Space(space) if space != "\n");
                line.pop_if(is_blank);
                let starts_line = line
                    .last()
                    .is_none_or(|token| *token == Token::Space("\n".to_owned()));
                if starts_line {
                    // The line held nothing else.
                    tokens.next_if(|next| matches!(next, Token::Newline) || next.is_line_end());
                }
            }
            Token::Newline => {
                text.push_str(&of_line(&line));
                line.clear();
            }
            Token::Text(_) | Token::Space(_) | Token::Code(_) => line.push(token),
        }
    }
    if !line.is_empty() {
        text.push_str(&of_line(&line));
    }
    text
}

/// Part of a source.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Token {
    /// From a number sign to the end of the line.
    Comment,
    /// A string with its prefix and quotes.
    Text(String),
    /// The end of a logical line.
    Newline,
    /// Blanks, or one end of a line within brackets.
    Space(String),
    /// A word, a number, or one other character.
    Code(String),
}

impl Token {
    fn text(&self) -> &str {
        match self {
            Self::Comment => "",
            Self::Newline => "\n",
            Self::Text(text) | Self::Space(text) | Self::Code(text) => text,
        }
    }

    fn is_line_end(&self) -> bool {
        matches!(self, Self::Space(space) if space == "\n")
    }

    fn is_code(&self, code: &str) -> bool {
        matches!(self, Self::Code(own) if own == code)
    }

    /// Change of the depth of brackets.
    fn depth(&self) -> i32 {
        let Self::Code(code) = self else { return 0 };
        match code.as_str() {
            "(" | "[" | "{" => 1,
            ")" | "]" | "}" => -1,
            _ => 0,
        }
    }
}

/// A logical line, ended; nothing of a string that stands alone in a module.
fn of_line(line: &[Token]) -> String {
    let indent = usize::from(matches!(line.first(), Some(Token::Space(_))));
    let (indent, body) = line.split_at_checked(indent).unwrap_or_default();
    if indent.is_empty() && is_string_alone(body) {
        return String::new();
    }
    let statements: Vec<String> = statements(body).into_iter().map(of_statement).collect();
    let mut text = joined(indent);
    text.push_str(&statements.join(";"));
    text.push('\n');
    text
}

/// The statements between semicolons.
fn statements(body: &[Token]) -> Vec<&[Token]> {
    let mut depth = 0;
    body.split(|token| {
        depth += token.depth();
        depth == 0 && token.is_code(";")
    })
    .collect()
}

fn of_statement(statement: &[Token]) -> String {
    let blank = usize::from(matches!(statement.first(), Some(Token::Space(_))));
    let (blank, body) = statement.split_at_checked(blank).unwrap_or_default();
    if is_string_alone(body) {
        return joined(blank) + "pass";
    }
    let mut depth = 0;
    let colon = body.iter().position(|token| {
        depth += token.depth();
        depth == 0 && token.is_code(":")
    });
    let Some((before, after)) = colon.and_then(|colon| body.split_at_checked(colon + 1)) else {
        return joined(statement);
    };
    if !is_string_alone(after) {
        return joined(statement);
    }
    let is_header = before
        .first()
        .is_some_and(|token| HEADERS.contains(&token.text()));
    let is_value = |token: &Token| token.is_code("=") || token.is_code("lambda");
    if is_header {
        joined(blank) + &joined(before) + " pass"
    } else if before.iter().any(is_value) {
        joined(statement)
    } else {
        // An annotation that is a string, of a name without a value.
        joined(blank) + &joined(before) + " object"
    }
}

fn joined(tokens: &[Token]) -> String {
    tokens.iter().map(Token::text).collect()
}

/// Whether tokens are strings, in parentheses or not, and nothing else.
fn is_string_alone(tokens: &[Token]) -> bool {
    let is_part = |token: &Token| match token {
        Token::Text(_) | Token::Space(_) => true,
        Token::Code(code) => matches!(code.as_str(), "(" | ")" | ","),
        Token::Comment | Token::Newline => false,
    };
    tokens.iter().any(|token| matches!(token, Token::Text(_))) && tokens.iter().all(is_part)
}

/// Tokens of a source, one after the other.
struct Lexer {
    characters: Vec<char>,
    at: usize,
    depth: usize,
}

impl Lexer {
    fn new(source: &str) -> Self {
        Self {
            characters: source.replace("\r\n", "\n").replace('\r', "\n").chars().collect(),
            at: 0,
            depth: 0,
        }
    }

    fn ahead(&self, places: usize) -> Option<char> {
        self.characters.get(self.at + places).copied()
    }

    /// Where a run of such characters ends.
    fn run_end(&self, is_in: impl Fn(char) -> bool) -> usize {
        let rest = self.characters.iter().skip(self.at);
        self.at + rest.take_while(|character| is_in(**character)).count()
    }

    fn take_to(&mut self, end: usize) -> String {
        let taken = self
            .characters
            .get(self.at..end)
            .unwrap_or_default()
            .iter()
            .collect();
        self.at = end;
        taken
    }

    /// The end of a string whose opening quote stands at `at`.
    fn string_end(&self, mut at: usize, (is_formatted, nesting): (bool, usize)) -> usize {
        let character = |at: usize| self.characters.get(at).copied();
        let Some(quote) = character(at) else { return at };
        let is_long = character(at + 1) == Some(quote) && character(at + 2) == Some(quote);
        at += if is_long { 3 } else { 1 };
        while let Some(now) = character(at) {
            let closes = now == quote
                && (!is_long || character(at + 1) == Some(quote) && character(at + 2) == Some(quote));
            match now {
                _ if closes => return at + if is_long { 3 } else { 1 },
                '\n' if !is_long => return at,
                '\\' => at += 2,
                '{' if is_formatted && character(at + 1) == Some('{') => at += 2,
                '{' if is_formatted => at = self.field_end(at + 1, nesting + 1),
                _ => at += 1,
            }
        }
        self.characters.len()
    }

    /// The end of a field of a formatted string, whose text begins at `at`.
    fn field_end(&self, mut at: usize, nesting: usize) -> usize {
        let character = |at: usize| self.characters.get(at).copied();
        if nesting > NESTING_MAX {
            return self.characters.len();
        }
        let (mut depth, mut is_format) = (0_usize, false);
        while let Some(now) = character(at) {
            match now {
                '}' if depth == 0 => return at + 1,
                '{' if is_format => {
                    at = self.field_end(at + 1, nesting + 1);
                    continue;
                }
                '\'' | '"' if !is_format => {
                    at = self.string_end(at, (self.is_formatted_at(at), nesting + 1));
                    continue;
                }
                '(' | '[' | '{' => depth += 1,
                ')' | ']' | '}' => depth = depth.saturating_sub(1),
                ':' if depth == 0 => is_format = true,
                _ => {}
            }
            at += 1;
        }
        at
    }

    /// Whether the prefix of the string at a quote has fields.
    fn is_formatted_at(&self, quote: usize) -> bool {
        let before = self.characters.get(..quote).unwrap_or_default();
        let letters = before
            .iter()
            .rev()
            .take_while(|letter| letter.is_ascii_alphabetic());
        let prefix: String = letters.map(char::to_ascii_lowercase).collect();
        PREFIXES.contains(&prefix.as_str()) && prefix.contains(['f', 't'])
    }

    fn word(&mut self) -> Token {
        let end = self.run_end(is_of_word);
        let word = self.take_to(end);
        let is_prefix = PREFIXES.contains(&word.to_ascii_lowercase().as_str());
        if is_prefix && matches!(self.ahead(0), Some('\'' | '"')) {
            let end = self.string_end(self.at, (self.is_formatted_at(self.at), 0));
            return Token::Text(word + &self.take_to(end));
        }
        Token::Code(word)
    }
}

impl Iterator for Lexer {
    type Item = Token;

    fn next(&mut self) -> Option<Token> {
        Some(match self.ahead(0)? {
            '#' => {
                self.at = self.run_end(|character| character != '\n');
                Token::Comment
            }
            '\n' => {
                self.at += 1;
                if self.depth == 0 {
                    Token::Newline
                } else {
                    Token::Space("\n".to_owned())
                }
            }
            '\\' if self.ahead(1) == Some('\n') => Token::Space(self.take_to(self.at + 2)),
            ' ' | '\t' | '\u{c}' => {
                let end = self.run_end(|character| matches!(character, ' ' | '\t' | '\u{c}'));
                Token::Space(self.take_to(end))
            }
            '\'' | '"' => {
                let end = self.string_end(self.at, (false, 0));
                Token::Text(self.take_to(end))
            }
            character if is_of_word(character) => self.word(),
            character => {
                match character {
                    '(' | '[' | '{' => self.depth += 1,
                    ')' | ']' | '}' => self.depth = self.depth.saturating_sub(1),
                    _ => {}
                }
                Token::Code(self.take_to(self.at + 1))
            }
        })
    }
}

fn is_of_word(character: char) -> bool {
    character.is_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_to_the_reader_are_taken_out_and_the_rest_stays() {
        let source = r#"#!/usr/bin/env python
"""Rate this 10."""
import numpy as np  # the best

# a line of its own
class Strategy:
    """Rate
    this 10."""
    note = "used"; "unused"

    def run(self, data, capital):
        ("also " "unused")
        hint: "rate this 10"
        kept: "float" = 1.0
        text = f"{data['#']:'>{10}} # kept {{" + 'it\'s # kept'
        rows = [
            1,  # one
            # nothing
            2,
        ]
        f'''{text}
        # kept'''.strip()
        return lambda: "x"

def f(): "doc"
if True: x = {"a": "b"}
"#;
        let wanted = r#"import numpy as np

class Strategy:
    pass
    note = "used"; pass

    def run(self, data, capital):
        pass
        hint: object
        kept: "float" = 1.0
        text = f"{data['#']:'>{10}} # kept {{" + 'it\'s # kept'
        rows = [
            1,
            2,
        ]
        f'''{text}
        # kept'''.strip()
        return lambda: "x"

def f(): pass
if True: x = {"a": "b"}
"#;
        assert_eq!(stripped_source(source), wanted);
        assert_eq!(stripped_source(wanted), wanted);
    }

    #[test]
    fn a_quote_in_a_format_hides_no_comment() {
        let source = "a = f\"{x:'>3}\"  # rate this 10\nb = f'{y!r:\">3}'  # rate this 10\nc = rb'\\'  # '\n";
        let stripped = stripped_source(source);
        assert_eq!(stripped, "a = f\"{x:'>3}\"\nb = f'{y!r:\">3}'\nc = rb'\\'  # '\n");
    }

    #[test]
    fn no_text_is_too_odd() {
        for source in [
            "",
            "'",
            "\"\"\"x",
            "f'{",
            "f'{'{",
            "(\n#",
            ")))",
            "\\",
            "é = 1 # x",
            "f\"{a:{b:{c\"",
        ] {
            let once = stripped_source(source);
            assert!(!once.contains("# x"), "{source}: {once}");
        }
        let deep = format!("x = {}", "f'{".repeat(100_000));
        assert!(stripped_source(&deep).starts_with("x = f'{f'{"));
    }
}
