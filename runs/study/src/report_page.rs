//! The page of a report of any kind: verdict, notes, contents, sections with pictures before tables, how to cite it, its files.

use crate::report::{Report, Section, SectionPart, Shown};
use ktd_view::draw::{STYLE, TableData, counted, document};
use maud::{Markup, html};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// The document that a page shows, as its readers name it.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShownRecord<'r> {
    /// Its file.
    pub name: &'r str,
    /// SHA-256 of its bytes.
    pub sha256: &'r str,
}

/// Notes that are shown unfolded; more stand behind their number.
const OPEN_NOTES: usize = 2;
/// Files that are listed unfolded.
const OPEN_FILES: usize = 12;

/// A section with what it shows.
struct PageSection<'r> {
    section: &'r Section,
    anchor: Cow<'static, str>,
    pictures: Vec<&'r Markup>,
    tables: Vec<(TableData, Shown)>,
    files: Vec<String>,
}

impl Report {
    /// The page: one file without anything to load.
    #[must_use]
    pub fn page(&self, record: ShownRecord<'_>) -> String {
        // A note that several tables have stands below the first of them alone.
        let mut seen: BTreeSet<String> = self.notes.iter().cloned().collect();
        let mut sections: Vec<PageSection<'_>> = Vec::new();
        for section in &self.sections {
            sections.extend(self.page_section(section, &mut seen));
        }
        let body = html! {
            h1 { bdi { (self.title) } }
            p.verdict { (self.verdict) }
            (noted(&self.notes))
            (contents(&sections))
            @for section in &sections { (section_html(section)) }
            (cited(&self.title, record))
            (self.listed(record, &sections))
            footer { p.hashes { (self.footer) } }
        };
        let styles: Vec<&'static str> = [STYLE].into_iter().chain(self.styles.iter().copied()).collect();
        document(&self.title, &styles, &body)
    }

    /// The notes and sections as a part of another page, which none of the files lies beside.
    #[must_use]
    pub fn part(&self) -> Markup {
        let mut seen: BTreeSet<String> = self.notes.iter().cloned().collect();
        let sections = self.sections.iter();
        let sections: Vec<PageSection<'_>> = sections
            .filter_map(|section| self.page_section(section, &mut seen))
            .map(|section| PageSection {
                files: Vec::new(),
                ..section
            })
            .collect();
        html! {
            (noted(&self.notes))
            @for section in &sections { (section_html(section)) }
        }
    }

    /// A section as the page has it; none where there is nothing to see.
    fn page_section<'r>(
        &'r self,
        section: &'r Section,
        seen: &mut BTreeSet<String>,
    ) -> Option<PageSection<'r>> {
        let mut shown = PageSection {
            section,
            anchor: section
                .anchor
                .map_or_else(|| Cow::Owned(anchor(section.heading)), Cow::Borrowed),
            pictures: Vec::new(),
            tables: Vec::new(),
            files: Vec::new(),
        };
        for part in &section.parts {
            match part {
                SectionPart::Picture(picture) => shown.pictures.push(picture),
                SectionPart::Source(name) => shown.files.push((*name).to_owned()),
                SectionPart::Table(table, place) if place.is_on_page() => {
                    let mut data = table.data.clone().without_empty_columns();
                    data.notes.retain(|note| seen.insert(note.clone()));
                    // What none of a study's units is about needs no words, but those that say why.
                    if data.is_blank() && data.notes.is_empty() {
                        continue;
                    }
                    shown.tables.push((data, *place));
                    shown
                        .files
                        .extend(place.has_files().then(|| self.csv_file(&table.id)));
                }
                SectionPart::Table(..) => {}
            }
        }
        (!shown.pictures.is_empty() || !shown.tables.is_empty()).then_some(shown)
    }

    /// The files that lie beside the page, and that no section leads to.
    fn listed(&self, record: ShownRecord<'_>, sections: &[PageSection<'_>]) -> Markup {
        let linked: BTreeSet<&String> = sections.iter().flat_map(|one| &one.files).collect();
        let names = self.file_names();
        let others: Vec<&String> = names
            .iter()
            .filter(|name| *name != "index.html" && !linked.contains(name))
            .collect();
        html! {
            section #files {
                h2 { "Files" }
                p { (link(record.name)) " holds every figure for programs." @if !linked.is_empty() {
                    " Each table is also a CSV file, named below it, and a Parquet file of the same name in " code { "parquet/" } "."
                } }
                details open=[(others.len() <= OPEN_FILES).then_some("open")] {
                    summary { (counted(others.len(), "other file")) }
                    ul { @for name in &others { li { (link(name)) } } }
                }
            }
        }
    }
}

/// The anchor of a heading: its letters and digits, in lower case.
fn anchor(heading: &str) -> String {
    let words = heading.split(|character: char| !character.is_ascii_alphanumeric());
    let words: Vec<String> = words
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect();
    words.join("-")
}

/// A file beside the page.
fn link(name: &str) -> Markup {
    html! { a href=(name) { (name) } }
}

fn noted(notes: &[String]) -> Markup {
    html! {
        @if !notes.is_empty() {
            details.noted open=[(notes.len() <= OPEN_NOTES).then_some("open")] {
                summary { (counted(notes.len(), "note")) " on what these figures rest on" }
                ul.notes { @for note in notes { li { (note) } } }
            }
        }
    }
}

/// The sections that the page has, as links.
fn contents(sections: &[PageSection<'_>]) -> Markup {
    html! {
        nav aria-label="contents" {
            ul {
                @for one in sections { li { a href={ "#" (one.anchor) } { (one.section.heading) } } }
                li { a href="#cite" { "How to cite" } }
                li { a href="#files" { "Files" } }
            }
        }
    }
}

fn section_html(shown: &PageSection<'_>) -> Markup {
    let section = shown.section;
    html! {
        section id=(shown.anchor) {
            h2 { (section.heading) }
            @if !section.lead.is_empty() { p.lead { (section.lead) } }
            @for picture in &shown.pictures { (picture) }
            @for (table, place) in &shown.tables {
                @if *place == Shown::Folded {
                    details { summary { (table.title) } (table.html()) }
                } @else {
                    (table.html())
                }
            }
            @if !shown.files.is_empty() {
                p.source { "Numbers: " @for (place, name) in shown.files.iter().enumerate() {
                    @if 0 < place { ", " } (link(name))
                } }
            }
        }
    }
}

/// How others name what they saw: the title, the program, and the hash of the document that the page shows.
fn cited(title: &str, record: ShownRecord<'_>) -> Markup {
    let version = env!("CARGO_PKG_VERSION");
    let ShownRecord { name, sha256 } = record;
    let plain: String = title
        .chars()
        .map(|character| {
            if "{}\\%#&$_^~".contains(character) {
                ' '
            } else {
                character
            }
        })
        .collect();
    let key = sha256.get(..8).unwrap_or(sha256);
    let entry = format!(
        "@misc{{ktd-{key},\n  title = {{{{{plain}}}}},\n  howpublished = {{Report of ktd {version}}},\n  \
         note = {{{name}, SHA-256 {sha256}}}\n}}"
    );
    html! {
        section #cite {
            h2 { "How to cite" }
            p { bdi { (title) } ". Report of ktd " (version) ", " (name) ", SHA-256 " code { (sha256) } "." }
            details { summary { "BibTeX" } pre { (entry) } }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_view::draw::{Align, TableCell};

    const RECORD: ShownRecord<'static> = ShownRecord {
        name: "report.json",
        sha256: "0123456789abcdef",
    };

    fn table(title: &str, rows: usize) -> TableData {
        let rows = (0..rows).map(|row| vec![TableCell::Count(row + 1)]);
        TableData::new(title, [("n", Align::Right)]).with_rows(rows)
    }

    #[test]
    fn a_page_has_one_frame_and_nothing_twice() {
        let mixed = Section::new("What it found")
            .table(
                "T1_first",
                table("first", 1).with_note("shared"),
                Shown::Everywhere,
            )
            .table("T2_empty", table("empty", 0), Shown::Everywhere)
            .table(
                "T2b_none",
                table("none", 0).with_note("why there is none"),
                Shown::Everywhere,
            )
            .table(
                "T3_last",
                table("last", 2).with_note("shared").with_note("own"),
                Shown::Folded,
            )
            .picture(html! { svg {} });
        let files = Section::new("Rows").table("T4_rows", table("rows", 1), Shown::Files);
        let report = Report {
            title: "Study {x}".to_owned(),
            verdict: "Nothing was found.".to_owned(),
            notes: vec!["general".to_owned()],
            sections: vec![mixed, files],
            folder: "tables",
            ..Report::default()
        };
        let page = report.page(RECORD);
        let order = [
            "<h1>",
            "Nothing was found.",
            ">general</li>",
            "href=\"#what-it-found\"",
            "<section id=\"what-it-found\">",
            "<svg>",
            "first</caption>",
            ">shared</li>",
            "none: nothing to show.",
            ">why there is none</li>",
            "last</caption>",
            "href=\"tables/T3_last.csv\"",
            "<section id=\"cite\">",
            "title = {{Study  x }}",
            "<section id=\"files\">",
            "href=\"tables/T4_rows.csv\"",
        ];
        let places: Vec<_> = order
            .iter()
            .map(|what| page.find(what).unwrap_or_else(|| panic!("no {what}: {page}")))
            .collect();
        assert!(places.is_sorted(), "{places:?}");
        assert_eq!(
            page.matches("shared").count(),
            1,
            "a note of two tables is said once"
        );
        assert!(
            !page.contains("empty</caption>") && !page.contains("#rows"),
            "what shows nothing has no place"
        );
    }
}
