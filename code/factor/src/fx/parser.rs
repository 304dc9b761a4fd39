//! From tokens to the tree of a definition. Signs bind as in Python: `**` above a minus on its left, from the right;
//! then `*` and `/`; then `+` and `-`.

use super::script::{Arithmetic, Assignment, Located, Part, Script};
use super::token::{Lexeme, Token, tokens};
use crate::fx_error::{FxError, FxFault};

/// The most bytes of a definition.
pub const MAX_FX_BYTES: usize = 8_192;
/// The most parts of a definition: numbers, names, signs and calls.
pub const MAX_FX_NODES: usize = 256;
/// The most levels of a definition.
pub const MAX_FX_DEPTH: usize = 32;

/// Reads `name = value; name = value; result`.
pub(crate) fn parse(text: &str) -> Result<Script, FxError> {
    if MAX_FX_BYTES < text.len() {
        return Err(FxError::new(
            FxFault::TooLong,
            MAX_FX_BYTES,
            "",
            format!("a definition has at most {MAX_FX_BYTES} bytes"),
        ));
    }
    let tokens = tokens(text)?;
    let mut parser = Parser {
        text,
        tokens: &tokens,
        next: 0,
        nodes: 0,
        depth: 0,
    };
    parser.script()
}

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    next: usize,
    nodes: usize,
    depth: usize,
}

impl Parser<'_> {
    fn script(&mut self) -> Result<Script, FxError> {
        let mut assignments = Vec::new();
        loop {
            while self.takes(";") {}
            let Some((name, at)) = self.assigned_name() else {
                break;
            };
            self.next += 2;
            let value = self.sum()?;
            if !self.takes(";") {
                return Err(
                    self.unexpected("end the assignment with a semicolon, and give the result after it")
                );
            }
            assignments.push(Assignment { name, at, value });
        }
        let result = self.sum()?;
        while self.takes(";") {}
        if self.peek().lexeme != Lexeme::End {
            return Err(
                self.unexpected("the result is the last part of a definition; remove what follows it")
            );
        }
        Ok(Script { assignments, result })
    }

    /// The name before an equals sign, if the next part is an assignment.
    fn assigned_name(&self) -> Option<(String, usize)> {
        let name = self.tokens.get(self.next)?;
        let sign = self.tokens.get(self.next + 1)?;
        match (&name.lexeme, &sign.lexeme) {
            (Lexeme::Word(word), Lexeme::Sign("=")) => Some((word.clone(), name.at)),
            _ => None,
        }
    }

    fn sum(&mut self) -> Result<Located, FxError> {
        self.depth += 1;
        if MAX_FX_DEPTH < self.depth {
            return Err(FxError::new(
                FxFault::TooDeep,
                self.peek().at,
                self.rest(),
                format!("a definition has at most {MAX_FX_DEPTH} levels; give a part a name first"),
            ));
        }
        let mut left = self.product()?;
        loop {
            let sign = if self.takes("+") {
                Arithmetic::Add
            } else if self.takes("-") {
                Arithmetic::Subtract
            } else {
                break;
            };
            let right = self.product()?;
            left = self.between(sign, left, right)?;
        }
        self.depth -= 1;
        Ok(left)
    }

    fn product(&mut self) -> Result<Located, FxError> {
        let mut left = self.signed()?;
        loop {
            let sign = if self.takes("*") {
                Arithmetic::Multiply
            } else if self.takes("/") {
                Arithmetic::Divide
            } else {
                break;
            };
            let right = self.signed()?;
            left = self.between(sign, left, right)?;
        }
        Ok(left)
    }

    /// A value with its minus signs; a minus before a number is the number's own.
    fn signed(&mut self) -> Result<Located, FxError> {
        let at = self.peek().at;
        let mut minus = 0_usize;
        while self.takes("-") {
            minus += 1;
        }
        let inner = self.power()?;
        if minus.is_multiple_of(2) {
            return Ok(inner);
        }
        if let Part::Number(value) = inner.part {
            let part = Part::Number(-value);
            return Ok(Located { at, part });
        }
        self.located(at, Part::Negated(Box::new(inner)))
    }

    fn power(&mut self) -> Result<Located, FxError> {
        let base = self.value()?;
        if !self.takes("**") {
            return Ok(base);
        }
        self.depth += 1;
        if MAX_FX_DEPTH < self.depth {
            return Err(self.unexpected("too many powers of powers"));
        }
        let exponent = self.signed()?;
        self.depth -= 1;
        self.between(Arithmetic::Power, base, exponent)
    }

    fn value(&mut self) -> Result<Located, FxError> {
        let token = self.peek().clone();
        self.next += 1;
        match token.lexeme {
            Lexeme::Number(value) => self.located(token.at, Part::Number(value)),
            Lexeme::Text(text) => self.located(token.at, Part::Text(text)),
            Lexeme::Word(word) if self.takes("(") => {
                let arguments = self.list(")")?;
                self.located(token.at, Part::Call(word, arguments))
            }
            Lexeme::Word(word) => self.located(token.at, Part::Name(word)),
            Lexeme::Sign("(") => {
                let inner = self.sum()?;
                if self.takes(")") {
                    return Ok(inner);
                }
                Err(self.unexpected("close the bracket"))
            }
            Lexeme::Sign("[") => {
                let items = self.list("]")?;
                self.located(token.at, Part::List(items))
            }
            Lexeme::Sign(_) | Lexeme::End => {
                self.next -= 1;
                Err(self.unexpected("a number, a name, a call or a bracket must stand here"))
            }
        }
    }

    /// Values with commas between them, to the closing bracket.
    fn list(&mut self, close: &'static str) -> Result<Vec<Located>, FxError> {
        let mut items = Vec::new();
        if self.takes(close) {
            return Ok(items);
        }
        loop {
            items.push(self.sum()?);
            if self.takes(close) {
                return Ok(items);
            }
            if !self.takes(",") {
                return Err(self.unexpected("put a comma between two arguments, or close the bracket"));
            }
        }
    }

    fn between(&mut self, sign: Arithmetic, left: Located, right: Located) -> Result<Located, FxError> {
        self.located(left.at, Part::Between(sign, Box::new(left), Box::new(right)))
    }

    fn located(&mut self, at: usize, part: Part) -> Result<Located, FxError> {
        self.nodes += 1;
        if MAX_FX_NODES < self.nodes {
            return Err(FxError::new(
                FxFault::TooLarge,
                at,
                self.text.get(at..).unwrap_or(""),
                format!("a definition has at most {MAX_FX_NODES} parts"),
            ));
        }
        Ok(Located { at, part })
    }

    fn takes(&mut self, sign: &str) -> bool {
        let taken = matches!(self.peek().lexeme, Lexeme::Sign(next) if next == sign);
        self.next += usize::from(taken);
        taken
    }

    fn peek(&self) -> &Token {
        const END: &Token = &Token {
            lexeme: Lexeme::End,
            at: 0,
        };
        self.tokens.get(self.next).or(self.tokens.last()).unwrap_or(END)
    }

    fn rest(&self) -> &str {
        self.text.get(self.peek().at..).unwrap_or("")
    }

    fn unexpected(&self, hint: &str) -> FxError {
        FxError::new(FxFault::Syntax, self.peek().at, self.rest(), hint)
    }
}
