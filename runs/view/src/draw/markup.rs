//! Markup that cannot be left open: well-formed XML that every browser reads as HTML.

/// Characters that XML forbids, or that turn text around them: an agent's name must not rewrite its neighbours.
fn is_harmful(character: char) -> bool {
    let is_control = character.is_control() && !matches!(character, '\n' | '\t');
    let turns_text =
        matches!(character, '\u{200e}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    is_control || turns_text || matches!(character, '\u{fffe}' | '\u{ffff}')
}

/// Text that nothing can break out of, neither in an element nor in a quoted attribute.
fn escape(into: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => into.push_str("&amp;"),
            '<' => into.push_str("&lt;"),
            '>' => into.push_str("&gt;"),
            '"' => into.push_str("&quot;"),
            '\'' => into.push_str("&#39;"),
            other if is_harmful(other) => into.push('\u{fffd}'),
            other => into.push(other),
        }
    }
}

/// Name and value of an attribute; names are ours, values are anyone's.
pub type Attribute<'a> = (&'static str, &'a str);

/// A document or a part of one.
#[derive(Debug, Default)]
pub struct Markup {
    text: String,
}

impl Markup {
    /// A whole page with our style sheet and what `body` writes. It is well-formed XML that browsers read as HTML.
    pub fn document(title: &str, style: &'static str, body: impl FnOnce(&mut Self)) -> String {
        let mut page = Self::default();
        page.verbatim("<!DOCTYPE html>\n");
        page.element("html", &[("lang", "en")], |page| {
            page.element("head", &[], |page| {
                page.empty("meta", &[("charset", "utf-8")]);
                page.empty(
                    "meta",
                    &[
                        ("name", "viewport"),
                        ("content", "width=device-width, initial-scale=1"),
                    ],
                );
                page.empty("meta", &[("name", "color-scheme"), ("content", "light dark")]);
                page.leaf("title", &[], title);
                page.element("style", &[], |page| page.verbatim(style));
            });
            page.element("body", &[], body);
        });
        page.finish()
    }

    /// An element with what `inner` writes in it.
    pub fn element(
        &mut self,
        tag: &'static str,
        attributes: &[Attribute<'_>],
        inner: impl FnOnce(&mut Self),
    ) {
        self.start(tag, attributes);
        self.text.push('>');
        inner(self);
        self.text.push_str("</");
        self.text.push_str(tag);
        self.text.push('>');
    }

    /// An element with text in it.
    pub fn leaf(&mut self, tag: &'static str, attributes: &[Attribute<'_>], text: &str) {
        self.element(tag, attributes, |inner| inner.text(text));
    }

    /// An element that has no inside: a void element of HTML, or a shape of SVG.
    pub fn empty(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.start(tag, attributes);
        self.text.push_str("/>");
    }

    /// Text.
    pub fn text(&mut self, text: &str) {
        escape(&mut self.text, text);
    }

    /// Our own compiled-in text as it is: the document type and the style sheet.
    pub fn verbatim(&mut self, text: &'static str) {
        self.text.push_str(text);
    }

    /// Another part, as it was written.
    pub fn append(&mut self, part: &Self) {
        self.text.push_str(&part.text);
    }

    /// The whole text.
    pub fn finish(self) -> String {
        self.text
    }

    fn start(&mut self, tag: &'static str, attributes: &[Attribute<'_>]) {
        self.text.push('<');
        self.text.push_str(tag);
        // An element without a class is written as one.
        for (name, value) in attributes.iter().filter(|attribute| **attribute != ("class", "")) {
            self.text.push(' ');
            self.text.push_str(name);
            self.text.push_str("=\"");
            escape(&mut self.text, value);
            self.text.push('"');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_breaks_out() {
        let mut page = Markup::default();
        let hostile = "<script>alert('x')</script>\" onload=\"x & y\u{0}\u{202e}";
        page.leaf("p", &[("title", hostile)], hostile);
        let safe =
            "&lt;script&gt;alert(&#39;x&#39;)&lt;/script&gt;&quot; onload=&quot;x &amp; y\u{fffd}\u{fffd}";
        assert_eq!(page.finish(), format!("<p title=\"{safe}\">{safe}</p>"));
    }

    #[test]
    fn elements_close_in_order() {
        let mut page = Markup::default();
        page.element("ul", &[], |list| {
            list.leaf("li", &[("class", "a")], "one");
            list.empty("hr", &[]);
        });
        assert_eq!(page.finish(), "<ul><li class=\"a\">one</li><hr/></ul>");
    }
}
