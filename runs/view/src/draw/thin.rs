//! Fewer points for a line, without changing what is seen of it.

/// Width of a column, in units of the drawing: two units are one to three pixels of a screen.
const COLUMN: f64 = 2.0;

/// The points of a line from left to right, thinned: of each narrow column the lowest and the highest stay, of the whole
/// the first and the last, and of a straight run both ends. Points that are no numbers are left out.
#[must_use]
pub fn thin(points: impl IntoIterator<Item = (f64, f64)>) -> Vec<(f64, f64)> {
    let points: Vec<(f64, f64)> = points
        .into_iter()
        .filter(|(x, y)| x.is_finite() && y.is_finite())
        .collect();
    let [first, middle @ .., last] = points.as_slice() else {
        return points;
    };
    let mut kept = vec![*first];
    let mut column: Option<Column> = None;
    for point in middle {
        column = match column {
            Some(open) if point.0 < open.end => Some(open.with(*point)),
            open => {
                kept.extend(open.into_iter().flat_map(Column::points));
                Some(Column::of(*point))
            }
        };
    }
    kept.extend(column.into_iter().flat_map(Column::points));
    kept.push(*last);
    kept.dedup();
    straightened(kept)
}

/// What is seen of the points of one column.
#[derive(Debug, Clone, Copy)]
struct Column {
    end: f64,
    low: (f64, f64),
    high: (f64, f64),
}

impl Column {
    fn of(point: (f64, f64)) -> Self {
        Self {
            end: (point.0 / COLUMN).floor() * COLUMN + COLUMN,
            low: point,
            high: point,
        }
    }

    fn with(self, point: (f64, f64)) -> Self {
        Self {
            low: if point.1 < self.low.1 { point } else { self.low },
            high: if self.high.1 < point.1 { point } else { self.high },
            ..self
        }
    }

    fn points(self) -> [(f64, f64); 2] {
        if self.low.0 <= self.high.0 {
            [self.low, self.high]
        } else {
            [self.high, self.low]
        }
    }
}

/// Leaves out points that lie on the line between their neighbours.
fn straightened(points: Vec<(f64, f64)>) -> Vec<(f64, f64)> {
    // Far below what a drawing's one decimal shows.
    const SEEN: f64 = 0.01;
    let mut kept: Vec<(f64, f64)> = Vec::with_capacity(points.len());
    for point in points {
        if let [.., before, middle] = kept.as_slice() {
            let run = point.0 - before.0;
            let share = if 0.0 < run {
                (middle.0 - before.0) / run
            } else {
                0.0
            };
            let straight = before.1 + (point.1 - before.1) * share;
            if 0.0 < run && (straight - middle.1).abs() < SEEN {
                kept.pop();
            }
        }
        kept.push(point);
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(points: &[(f64, f64)]) -> (f64, f64) {
        let values = || points.iter().map(|(_, y)| *y);
        (
            values().fold(f64::INFINITY, f64::min),
            values().fold(f64::NEG_INFINITY, f64::max),
        )
    }

    #[test]
    fn extremes_and_ends_stay() {
        let points: Vec<(f64, f64)> = (0..5000_u32)
            .map(|day| {
                let spike = match day {
                    1234 => 90.0,
                    3210 => -70.0,
                    _ => 0.0,
                };
                let mixed = f64::from(day.wrapping_mul(2_654_435_761) % 1000) / 100.0;
                (f64::from(day) / 10.0, mixed + spike)
            })
            .collect();
        let thinned = thin(points.iter().copied());
        assert!(thinned.len() <= 2 * 251 + 2, "{}", thinned.len());
        assert_eq!(range(&thinned), range(&points));
        assert_eq!(thinned.first(), points.first());
        assert_eq!(thinned.last(), points.last());
        assert!(thinned.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    #[test]
    fn straight_runs_keep_their_ends() {
        let flat = (0..100).map(|day| (f64::from(day) * 3.0, 5.0));
        assert_eq!(thin(flat), [(0.0, 5.0), (297.0, 5.0)]);
    }

    #[test]
    fn one_point_and_none() {
        assert_eq!(thin([(3.0, 4.0)]), [(3.0, 4.0)]);
        assert!(thin([]).is_empty());
        assert!(thin([(0.0, f64::NAN)]).is_empty());
    }
}
