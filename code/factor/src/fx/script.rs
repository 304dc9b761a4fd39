//! The tree of a definition, as written.

/// A sign between two values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
}

/// A part of a definition, and the byte where it begins.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Located {
    pub(crate) at: usize,
    pub(crate) part: Part,
}

/// What a part is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    Number(f64),
    Name(String),
    Text(String),
    List(Vec<Located>),
    Negated(Box<Located>),
    Between(Arithmetic, Box<Located>, Box<Located>),
    Call(String, Vec<Located>),
}

/// Names with their values, and the result.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Script {
    pub(crate) assignments: Vec<Assignment>,
    pub(crate) result: Located,
}

/// A name, where it stands, and its value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) at: usize,
    pub(crate) value: Located,
}

impl Script {
    /// Every part, in the order of the text.
    pub(crate) fn for_each_mut(&mut self, visit: &mut impl FnMut(&mut Located)) {
        for assignment in &mut self.assignments {
            assignment.value.for_each_mut(visit);
        }
        self.result.for_each_mut(visit);
    }
}

impl Located {
    fn for_each_mut(&mut self, visit: &mut impl FnMut(&mut Self)) {
        visit(self);
        match &mut self.part {
            Part::Number(_) | Part::Name(_) | Part::Text(_) => {}
            Part::List(items) | Part::Call(_, items) => {
                for item in items {
                    item.for_each_mut(visit);
                }
            }
            Part::Negated(inner) => inner.for_each_mut(visit),
            Part::Between(_, left, right) => {
                left.for_each_mut(visit);
                right.for_each_mut(visit);
            }
        }
    }
}
