//! The frame of a page: one HTML document without scripts and without anything to load.

use maud::{DOCTYPE, Markup, PreEscaped, html};

/// A whole page with compiled-in style sheets. Every element but HTML's void ones is closed, and of SVG all are.
#[must_use]
pub fn document(title: &str, styles: &[&'static str], body: &Markup) -> String {
    let style = html! { style { @for style in styles { (PreEscaped(style)) } } };
    frame(title, &style, body)
}

/// A whole page whose style sheets, and scripts where it has any, are named in `head`.
#[must_use]
pub fn frame(title: &str, head: &Markup, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE) "\n"
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                (head)
            }
            body { (body) }
        }
    };
    harmless(&page)
}

/// Finished markup without the characters that XML forbids and those that turn the text round them: a template escapes
/// a name, and this keeps it from rewriting its neighbours.
pub(super) fn harmless(markup: &Markup) -> String {
    markup.0.replace(is_harmful, "\u{fffd}")
}

fn is_harmful(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    is_control || super::safe::turns_text(character) || matches!(character, '\u{fffe}' | '\u{ffff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out_of_a_page() {
        let hostile = "<script>alert('x')</script>\" onload=\"x & y\u{0}\u{202e}";
        let page = document(hostile, &["p{}"], &html! { p title=(hostile) { (hostile) } });
        let safe = "&lt;script&gt;alert('x')&lt;/script&gt;&quot; onload=&quot;x &amp; y\u{fffd}\u{fffd}";
        assert!(
            page.contains(&format!("<title>{safe}</title><style>p{{}}</style>")),
            "{page}"
        );
        assert!(
            page.ends_with(&format!("<body><p title=\"{safe}\">{safe}</p></body></html>")),
            "{page}"
        );
    }
}
