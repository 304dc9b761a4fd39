//! One tree.

/// A node: a question, or a value.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node {
    /// Values of the column up to `at` go left.
    Question {
        /// 0-based column.
        column: usize,
        /// The largest value that goes left.
        at: f64,
        /// Place of the left child; the right one follows it.
        left: usize,
    },
    /// What is added to the forecast.
    Leaf(f64),
}

/// A regression tree; its root is the first node.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    nodes: Vec<Node>,
}

impl Tree {
    /// A tree of one leaf.
    pub(super) fn leaf(value: f64) -> Self {
        Self {
            nodes: vec![Node::Leaf(value)],
        }
    }

    /// Turns a leaf into a question with two leaves; gives the place of the left one.
    pub(super) fn split(&mut self, node: usize, column: usize, at: f64, values: [f64; 2]) -> usize {
        let left = self.nodes.len();
        if let Some(node) = self.nodes.get_mut(node) {
            *node = Node::Question { column, at, left };
        }
        self.nodes.extend(values.map(Node::Leaf));
        left
    }

    /// What the tree adds to the forecast of a row.
    pub(super) fn predict(&self, row: &[f64]) -> f64 {
        let mut place = 0;
        loop {
            match self.nodes.get(place) {
                Some(Node::Question { column, at, left }) => {
                    let goes_left = row.get(*column).is_some_and(|value| value <= at);
                    place = if goes_left { *left } else { left + 1 };
                }
                Some(Node::Leaf(value)) => return *value,
                None => return 0.0,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_go_by_the_questions() {
        let mut tree = Tree::leaf(9.0);
        let left = tree.split(0, 1, 0.5, [1.0, 2.0]);
        tree.split(left + 1, 0, 3.0, [4.0, 8.0]);
        let of = |row: [f64; 2]| tree.predict(&row);
        assert!((of([0.0, 0.5]) - 1.0).abs() < 1e-15);
        assert!((of([3.0, 0.6]) - 4.0).abs() < 1e-15);
        assert!((of([3.1, 0.6]) - 8.0).abs() < 1e-15);
    }
}
