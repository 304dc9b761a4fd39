//! All ways to choose half of some blocks.

/// Chooses `chosen` of `blocks`, in the order of a dictionary.
#[derive(Debug, Clone)]
pub(crate) struct Splits {
    blocks: usize,
    next: Option<Vec<usize>>,
}

impl Splits {
    /// Half of an even number of blocks.
    pub(crate) fn halves(blocks: usize) -> Self {
        Self {
            blocks,
            next: Some((0..blocks / 2).collect()),
        }
    }
}

impl Iterator for Splits {
    type Item = Vec<usize>;

    fn next(&mut self) -> Option<Vec<usize>> {
        let current = self.next.take()?;
        self.next = successor(&current, self.blocks);
        Some(current)
    }
}

/// The choice after `chosen`: the last place that can move on does, and those behind it follow close.
fn successor(chosen: &[usize], blocks: usize) -> Option<Vec<usize>> {
    let behind = chosen
        .iter()
        .rev()
        .enumerate()
        .find(|(behind, block)| *block + 1 + behind < blocks);
    let (behind, block) = behind?;
    let kept = chosen.len() - 1 - behind;
    let follow = *block + 1..=*block + 1 + behind;
    Some(chosen.iter().take(kept).copied().chain(follow).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_of_four_in_order() {
        let all: Vec<Vec<usize>> = Splits::halves(4).collect();
        assert_eq!(all, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]);
        assert_eq!(Splits::halves(16).count(), 12_870);
    }
}
