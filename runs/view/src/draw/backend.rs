//! Plotters draws axes onto our canvas: its own SVG backend writes colours and whole pixels, ours writes classes (so that
//! one drawing serves light, dark and print) and tenths.

use super::canvas::{Anchor, Canvas};
use plotters::style::RGBColor;
use plotters::style::text_anchor::{HPos, VPos};
use plotters_backend::{
    BackendColor, BackendCoord, BackendStyle, BackendTextStyle, DrawingBackend, DrawingErrorKind,
    FontTransform,
};
use std::convert::Infallible;

/// Units of plotters in one unit of the canvas.
pub(super) const FINE: i32 = 10;

/// What plotters draws, as the colours by which it tells: this table alone ties them to classes.
const INKS: [(RGBColor, &str); 3] = [(AXIS, "ax"), (GRID, "gr"), (LABEL, "tk")];

/// The axes and their ticks.
pub(super) const AXIS: RGBColor = RGBColor(0, 0, 1);
/// Lines across the plot at the ticks.
pub(super) const GRID: RGBColor = RGBColor(0, 0, 2);
/// Text at the ticks and beside the axes.
pub(super) const LABEL: RGBColor = RGBColor(0, 0, 3);

/// A canvas as plotters sees it.
pub(super) struct Ink<'c>(pub(super) &'c mut Canvas);

type Drawn = Result<(), DrawingErrorKind<Infallible>>;

fn class(color: BackendColor) -> &'static str {
    let known = INKS.iter().find(|(ink, _)| (ink.0, ink.1, ink.2) == color.rgb);
    known.map_or("ax", |(_, class)| class)
}

fn is_seen(color: BackendColor) -> bool {
    0.0 < color.alpha
}

fn point((x, y): BackendCoord) -> (f64, f64) {
    (f64::from(x) / f64::from(FINE), f64::from(y) / f64::from(FINE))
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a drawing is some hundred units wide"
)]
fn fine(size: f64) -> u32 {
    (size.clamp(1.0, 1e5) * f64::from(FINE)) as u32
}

impl DrawingBackend for Ink<'_> {
    type ErrorType = Infallible;

    fn get_size(&self) -> (u32, u32) {
        (fine(self.0.width()), fine(self.0.height()))
    }

    fn ensure_prepared(&mut self) -> Drawn {
        Ok(())
    }

    fn present(&mut self) -> Drawn {
        Ok(())
    }

    fn draw_pixel(&mut self, at: BackendCoord, color: BackendColor) -> Drawn {
        if is_seen(color) {
            self.0.dot(class(color), point(at), 0.5);
        }
        Ok(())
    }

    fn draw_line<S: BackendStyle>(&mut self, from: BackendCoord, to: BackendCoord, style: &S) -> Drawn {
        if is_seen(style.color()) {
            self.0.line(class(style.color()), point(from), point(to));
        }
        Ok(())
    }

    fn draw_path<S: BackendStyle, I: IntoIterator<Item = BackendCoord>>(
        &mut self,
        path: I,
        style: &S,
    ) -> Drawn {
        let points: Vec<(f64, f64)> = path.into_iter().map(point).collect();
        match points.as_slice() {
            _ if !is_seen(style.color()) => {}
            [from, to] => self.0.line(class(style.color()), *from, *to),
            points => self.0.path(class(style.color()), points),
        }
        Ok(())
    }

    fn draw_text<T: BackendTextStyle>(&mut self, text: &str, style: &T, at: BackendCoord) -> Drawn {
        if text.is_empty() || !is_seen(style.color()) {
            return Ok(());
        }
        let (x, y) = point(at);
        let size = style.size() / f64::from(FINE);
        // A baseline lies about a third of the letters' height below their middle.
        let down = match style.anchor().v_pos {
            VPos::Top => size * 0.85,
            VPos::Center => size * 0.34,
            VPos::Bottom => -size * 0.2,
        };
        let anchor = match style.anchor().h_pos {
            HPos::Left => Anchor::Start,
            HPos::Center => Anchor::Middle,
            HPos::Right => Anchor::End,
        };
        if matches!(style.transform(), FontTransform::None) {
            self.0.text(class(style.color()), anchor, (x, y + down), text);
        } else {
            self.0.upright(class(style.color()), (x + down, y), text);
        }
        Ok(())
    }

    /// There is no font here: letters are taken to be half as wide as high.
    fn estimate_text_size<T: BackendTextStyle>(
        &self,
        text: &str,
        style: &T,
    ) -> Result<(u32, u32), DrawingErrorKind<Infallible>> {
        let letters = f64::from(u32::try_from(crate::table::display_width(text)).unwrap_or(u32::MAX));
        let size = style.size() / f64::from(FINE);
        Ok((fine(letters * size * 0.5), fine(size)))
    }
}
