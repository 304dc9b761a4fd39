//! A picture with its caption and the names of its colours.

use super::table::scroll;
use maud::{Markup, html};

/// Colours that lines, dots and bars have in turn: the classes `c0`, `f0` and `k0` to `c7`, `f7` and `k7` of the style sheet.
pub const COLOURS: usize = 8;

/// A short line of a class in a legend. The rule of the style sheet that draws the curves of the class draws it too, so that
/// colour and dashes are the same.
#[must_use]
pub fn line_key(class: &str) -> Markup {
    html! { svg.line-key viewBox="0 0 26 8" aria-hidden="true" { line class=(class) x1="0" y1="4" x2="26" y2="4" {} } }
}

/// A picture with its caption below it and the names of its colours, in their order, between the two. What is wider than
/// the page scrolls in a box of its own.
#[must_use]
pub fn captioned<'n>(caption: &str, names: impl IntoIterator<Item = &'n str>, drawing: &Markup) -> Markup {
    let names: Vec<&str> = names.into_iter().collect();
    html! {
        figure {
            (scroll(caption, drawing))
            @if !names.is_empty() {
                ul.legend {
                    @for (place, name) in names.iter().enumerate() {
                        li { span class=(format!("k{}", place % COLOURS)) {} bdi { (name) } }
                    }
                }
            }
            figcaption { (caption) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_colours_of_their_places_and_are_escaped() {
        let names = ["a", "b", "c", "d", "e", "f", "g", "h", "<i>"];
        let shown = captioned("what", names, &html! { svg {} }).into_string();
        assert!(
            shown.contains("<span class=\"k7\"></span><bdi>h</bdi>"),
            "{shown}"
        );
        assert!(
            shown.contains("<span class=\"k0\"></span><bdi>&lt;i&gt;</bdi>"),
            "{shown}"
        );
        assert!(!captioned("what", [], &html! {}).into_string().contains("legend"));
    }
}
