//! From tokens to a tree with places, in time linear in the text and without unbounded recursion.
//!
//! Precedence and associativity are Python's: comparisons bind loosest, `**` tightest. Arithmetic between two numbers is
//! done here, so that `2*3*$close` and `6*$close` are one formula.

use crate::error::{FormulaError, FormulaFault};
use crate::number::FormulaNumber;
use crate::operator::{FormulaOperator, OperatorShape};
use crate::token::{Lexeme, Token, Tokens};

/// Most bytes of a formula.
pub const MAX_FORMULA_BYTES: usize = 8_192;
/// Most levels of a formula.
pub const MAX_FORMULA_DEPTH: usize = 32;
/// Most operators, fields and numbers of a formula.
pub const MAX_FORMULA_NODES: usize = 256;

/// A part of a formula as read, before its meaning is checked.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) at: usize,
    pub(crate) part: Part,
}

#[derive(Debug)]
pub(crate) enum Part {
    Number(FormulaNumber),
    Field(String),
    Word(String),
    Code(String),
    Apply(FormulaOperator, Vec<Parsed>),
}

/// Reads a formula.
pub(crate) fn parse(text: &str) -> Result<Parsed, FormulaError> {
    if MAX_FORMULA_BYTES < text.len() {
        return Err(too_long(text.len()));
    }
    let mut tokens = Tokens::new(text);
    let next = tokens.next()?;
    let mut parser = Parser {
        tokens,
        next,
        nodes: 0,
        open: 0,
    };
    let tree = parser.comparison()?;
    if parser.next.lexeme != Lexeme::End {
        return Err(parser.unexpected("the end, or an operator between two parts"));
    }
    Ok(tree)
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    next: Token,
    nodes: usize,
    open: usize,
}

/// Binary signs by binding strength, loosest first; comparisons are apart, since they do not chain.
const LEVELS: [&[(&str, FormulaOperator)]; 4] = [
    &[("|", FormulaOperator::Or)],
    &[("&", FormulaOperator::And)],
    &[("+", FormulaOperator::Add), ("-", FormulaOperator::Sub)],
    &[("*", FormulaOperator::Mul), ("/", FormulaOperator::Div)],
];

const COMPARISONS: [(&str, FormulaOperator); 6] = [
    (">=", FormulaOperator::Ge),
    ("<=", FormulaOperator::Le),
    ("==", FormulaOperator::Eq),
    ("!=", FormulaOperator::Ne),
    (">", FormulaOperator::Gt),
    ("<", FormulaOperator::Lt),
];

impl Parser<'_> {
    fn advance(&mut self) -> Result<Token, FormulaError> {
        let next = self.tokens.next()?;
        Ok(std::mem::replace(&mut self.next, next))
    }

    fn is_sign(&self, sign: &str) -> bool {
        matches!(self.next.lexeme, Lexeme::Sign(found) if found == sign)
    }

    fn operator_of(&self, signs: &[(&str, FormulaOperator)]) -> Option<FormulaOperator> {
        signs
            .iter()
            .find(|(sign, _)| self.is_sign(sign))
            .map(|(_, operator)| *operator)
    }

    fn unexpected(&self, expected: &str) -> FormulaError {
        let hint = if self.is_sign("=") {
            "use == to compare"
        } else {
            "check signs, commas and brackets"
        };
        self.tokens.syntax(self.next.at, expected, hint)
    }

    fn made(&mut self, at: usize, part: Part) -> Result<Parsed, FormulaError> {
        self.nodes += 1;
        if MAX_FORMULA_NODES < self.nodes {
            return Err(FormulaError::new(
                FormulaFault::TooLarge,
                at,
                self.tokens.from(at),
                "at most 256 operators, fields and numbers",
                "split the formula",
            ));
        }
        Ok(Parsed { at, part })
    }

    /// One level deeper: brackets and powers recurse.
    fn deeper<T>(
        &mut self,
        at: usize,
        read: impl FnOnce(&mut Self) -> Result<T, FormulaError>,
    ) -> Result<T, FormulaError> {
        self.open += 1;
        if MAX_FORMULA_DEPTH < self.open {
            return Err(too_deep(at, self.tokens.from(at)));
        }
        let inner = read(self)?;
        self.open -= 1;
        Ok(inner)
    }

    fn comparison(&mut self) -> Result<Parsed, FormulaError> {
        let left = self.binary(0)?;
        let Some(operator) = self.operator_of(&COMPARISONS) else {
            return Ok(left);
        };
        let at = self.advance()?.at;
        let right = self.binary(0)?;
        if self.operator_of(&COMPARISONS).is_some() {
            return Err(FormulaError::new(
                FormulaFault::ChainedComparison,
                self.next.at,
                self.tokens.from(self.next.at),
                "one comparison",
                "write (a>b)&(b>c)",
            ));
        }
        let is_number = |side: &Parsed| matches!(side.part, Part::Number(_));
        if is_number(&left) && !is_number(&right) {
            return self.made(at, Part::Apply(operator.mirrored(), vec![right, left]));
        }
        self.made(at, Part::Apply(operator, vec![left, right]))
    }

    /// Signs of one level and all tighter ones, from the left.
    fn binary(&mut self, level: usize) -> Result<Parsed, FormulaError> {
        let Some(signs) = LEVELS.get(level) else {
            return self.signed();
        };
        let mut left = self.binary(level + 1)?;
        while let Some(operator) = self.operator_of(signs) {
            let at = self.advance()?.at;
            let right = self.binary(level + 1)?;
            left = self.joined(operator, at, left, right)?;
        }
        Ok(left)
    }

    /// Two parts under a sign: numbers are computed at once, and a number steps behind what it multiplies.
    fn joined(
        &mut self,
        operator: FormulaOperator,
        at: usize,
        left: Parsed,
        right: Parsed,
    ) -> Result<Parsed, FormulaError> {
        if let (Part::Number(left), Part::Number(right)) = (&left.part, &right.part)
            && let Some(compute) = arithmetic(operator)
        {
            let Some(value) = compute(*left, *right) else {
                return Err(FormulaError::new(
                    FormulaFault::Number,
                    at,
                    &format!("{operator}({left},{right})"),
                    "a result within 64 bits, finite",
                    "use smaller numbers",
                ));
            };
            return self.made(at, Part::Number(value));
        }
        if operator == FormulaOperator::Mul && matches!(left.part, Part::Number(_)) {
            return self.made(at, Part::Apply(operator, vec![right, left]));
        }
        self.made(at, Part::Apply(operator, vec![left, right]))
    }

    /// Signs before a part: an odd number of minuses turns it.
    fn signed(&mut self) -> Result<Parsed, FormulaError> {
        let mut minuses = Vec::new();
        while self.is_sign("-") || self.is_sign("+") {
            let is_minus = self.is_sign("-");
            let at = self.advance()?.at;
            if is_minus {
                minuses.push(at);
            }
        }
        let mut inner = self.power()?;
        for at in minuses.into_iter().rev() {
            inner = self.negated(at, inner)?;
        }
        Ok(inner)
    }

    fn negated(&mut self, at: usize, inner: Parsed) -> Result<Parsed, FormulaError> {
        let Part::Number(number) = inner.part else {
            let minus_one = self.made(at, Part::Number(FormulaNumber::Integer(-1)))?;
            return self.made(at, Part::Apply(FormulaOperator::Mul, vec![inner, minus_one]));
        };
        let value = number.negated().ok_or_else(|| {
            FormulaError::new(
                FormulaFault::Number,
                at,
                &number.to_string(),
                "an integer of 64 bits",
                "use a smaller number",
            )
        })?;
        Ok(Parsed {
            at,
            part: Part::Number(value),
        })
    }

    /// A part, and its power: from the right, tighter than a minus before it.
    fn power(&mut self) -> Result<Parsed, FormulaError> {
        let base = self.primary()?;
        if !self.is_sign("**") {
            return Ok(base);
        }
        let at = self.advance()?.at;
        let exponent = self.deeper(at, Self::signed)?;
        self.joined(FormulaOperator::Power, at, base, exponent)
    }

    fn primary(&mut self) -> Result<Parsed, FormulaError> {
        if self.is_sign("(") {
            let at = self.advance()?.at;
            let inner = self.deeper(at, Self::comparison)?;
            self.close()?;
            return Ok(inner);
        }
        if !matches!(
            self.next.lexeme,
            Lexeme::Number(_) | Lexeme::Field(_) | Lexeme::Word(_)
        ) {
            return Err(self.unexpected("a field, a number, an operator or a bracket"));
        }
        let Token { lexeme, at } = self.advance()?;
        match lexeme {
            Lexeme::Number(number) => self.made(at, Part::Number(number)),
            Lexeme::Field(name) => self.made(at, Part::Field(name)),
            Lexeme::Word(word) if self.is_sign("(") => self.call(at, &word),
            Lexeme::Word(word) => self.made(at, Part::Word(word)),
            Lexeme::Text(_) | Lexeme::Sign(_) | Lexeme::End => Err(self.unexpected("a part of a formula")),
        }
    }

    fn close(&mut self) -> Result<(), FormulaError> {
        if !self.is_sign(")") {
            return Err(self.unexpected("`)`"));
        }
        self.advance()?;
        Ok(())
    }

    /// An operator with its arguments; the next token is the opening bracket.
    fn call(&mut self, at: usize, word: &str) -> Result<Parsed, FormulaError> {
        if matches!(word, "P" | "PRef") {
            return Err(FormulaError::new(
                FormulaFault::Unsupported,
                at,
                word,
                "an operator on daily data",
                "remove the operator: point-in-time reports are not supported",
            ));
        }
        let Some(operator) = FormulaOperator::named(word) else {
            return Err(unknown_operator(at, word));
        };
        self.advance()?;
        let arguments = self.deeper(at, |parser| parser.arguments(operator))?;
        self.close()?;
        self.made(at, Part::Apply(operator, arguments))
    }

    fn arguments(&mut self, operator: FormulaOperator) -> Result<Vec<Parsed>, FormulaError> {
        let mut arguments = Vec::new();
        if self.is_sign(")") {
            return Ok(arguments);
        }
        loop {
            let argument = self.argument(operator, arguments.len())?;
            arguments.push(argument);
            if !self.is_sign(",") {
                return Ok(arguments);
            }
            self.advance()?;
        }
    }

    fn argument(&mut self, operator: FormulaOperator, place: usize) -> Result<Parsed, FormulaError> {
        let takes_a_code = match operator.shape() {
            OperatorShape::CodeFirst => place == 0,
            OperatorShape::CodeLast => place == 1,
            OperatorShape::One
            | OperatorShape::Two
            | OperatorShape::Choice
            | OperatorShape::Window
            | OperatorShape::Quantile
            | OperatorShape::Pair => false,
        };
        if takes_a_code && let Lexeme::Text(code) = &self.next.lexeme {
            let code = code.clone();
            let at = self.advance()?.at;
            return self.made(at, Part::Code(code));
        }
        let argument = self.comparison()?;
        if matches!(argument.part, Part::Word(_)) && self.is_sign("=") {
            return Err(FormulaError::new(
                FormulaFault::KeywordArgument,
                argument.at,
                self.tokens.from(argument.at),
                "an argument without a name",
                "remove the name and `=`",
            ));
        }
        Ok(argument)
    }
}

/// Arithmetic between two numbers; none beyond 64 bits and where the result is not finite.
type Arithmetic = fn(FormulaNumber, FormulaNumber) -> Option<FormulaNumber>;

/// The arithmetic of an operator's sign, where it has one.
fn arithmetic(operator: FormulaOperator) -> Option<Arithmetic> {
    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "five operators have a sign of arithmetic"
    )]
    match operator {
        FormulaOperator::Add => Some(FormulaNumber::plus),
        FormulaOperator::Sub => Some(FormulaNumber::minus),
        FormulaOperator::Mul => Some(FormulaNumber::times),
        FormulaOperator::Div => Some(FormulaNumber::over),
        FormulaOperator::Power => Some(FormulaNumber::to_the),
        _ => None,
    }
}

pub(crate) fn too_long(bytes: usize) -> FormulaError {
    FormulaError::new(
        FormulaFault::TooLong,
        MAX_FORMULA_BYTES,
        &format!("{bytes} bytes"),
        "at most 8192 bytes",
        "split the formula",
    )
}

pub(crate) fn too_deep(at: usize, found: &str) -> FormulaError {
    FormulaError::new(
        FormulaFault::TooDeep,
        at,
        found,
        "at most 32 levels",
        "split the formula, or remove brackets",
    )
}

fn unknown_operator(at: usize, word: &str) -> FormulaError {
    let similar = FormulaOperator::ALL
        .iter()
        .find(|operator| operator.name().eq_ignore_ascii_case(word));
    let hint = similar.map_or_else(
        || "use an operator of the language".to_owned(),
        |operator| format!("use `{operator}`: upper and lower case differ"),
    );
    FormulaError::new(
        FormulaFault::UnknownOperator,
        at,
        word,
        "the name of an operator",
        &hint,
    )
}
