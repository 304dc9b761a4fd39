//! Lists of words: files, one entry a line.

use super::category::Category;
use crate::ReasonsError;
use ktd_guard::{exact_key, is_chinese, key};
use ktd_io::sha256::sha256_hex;
use ktd_io::whole_file::{list, read_input};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeSet;
use std::path::Path;

/// A built-in list: its file's name, its category (`None`: words that are no hit), its text.
type BuiltIn = (&'static str, Option<Category>, &'static str);

macro_rules! built_in {
    ($category:expr, $name:literal) => {
        ($name, $category, include_str!(concat!("../lists/", $name)))
    };
}

const BUILT_IN: [BuiltIn; 19] = [
    built_in!(Some(Category::Brand), "brand.en.txt"),
    built_in!(Some(Category::Brand), "brand.zh.txt"),
    built_in!(Some(Category::Company), "company.en.txt"),
    built_in!(Some(Category::Company), "company.zh.txt"),
    built_in!(Some(Category::Sector), "sector.en.txt"),
    built_in!(Some(Category::Sector), "sector.zh.txt"),
    built_in!(Some(Category::RealDate), "real-date.en.txt"),
    built_in!(Some(Category::RealDate), "real-date.zh.txt"),
    built_in!(Some(Category::Index), "index.en.txt"),
    built_in!(Some(Category::Index), "index.zh.txt"),
    built_in!(Some(Category::Event), "event.en.txt"),
    built_in!(Some(Category::Event), "event.zh.txt"),
    built_in!(Some(Category::Market), "market.en.txt"),
    built_in!(Some(Category::Market), "market.zh.txt"),
    built_in!(Some(Category::News), "news.en.txt"),
    built_in!(Some(Category::News), "news.zh.txt"),
    built_in!(Some(Category::Macro), "macro.en.txt"),
    built_in!(Some(Category::Macro), "macro.zh.txt"),
    built_in!(None, "vocabulary.txt"),
];

/// A list of words.
#[derive(Debug, Clone)]
pub(super) struct WordList {
    pub(super) record: ListRecord,
    /// `None` for words that are no hit.
    pub(super) category: Option<Category>,
    pub(super) entries: Vec<Entry>,
}

/// Which list was used.
#[derive(Debug, Clone, PartialEq, Eq, JsonSchema, Serialize)]
pub struct ListRecord {
    /// Its file's name.
    pub name: String,
    /// SHA-256 of its text.
    pub sha256: String,
    /// Whether it came with the program.
    pub is_built_in: bool,
    /// Entries, those of no hit among them.
    pub entries: usize,
}

/// One entry of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Entry {
    /// Its spellings, folded; some end in a plural.
    pub(super) spellings: BTreeSet<String>,
    /// Whether case counts; the spellings then keep theirs.
    pub(super) is_exact: bool,
    /// What it tells; `None` for a phrase that is no hit.
    pub(super) category: Option<Category>,
}

/// The lists that came with the program, those of `folder` in their place.
///
/// # Errors
/// [`ReasonsError`] when the folder cannot be read, holds no list or one of another name, or a line is no entry.
pub(super) fn word_lists(folder: Option<&Path>) -> Result<Vec<WordList>, ReasonsError> {
    let own = folder.map(own_texts).transpose()?.unwrap_or_default();
    let list = |(name, category, text): &BuiltIn| {
        let own = own.iter().find(|(own, _)| own == name);
        WordList::parse(
            name,
            *category,
            own.map_or(text, |(_, text)| text.as_str()),
            own.is_none(),
        )
    };
    BUILT_IN.iter().map(list).collect()
}

/// Names and texts of the lists in a folder.
fn own_texts(folder: &Path) -> Result<Vec<(String, String)>, ReasonsError> {
    let mut found = Vec::new();
    for path in list(folder)? {
        if path.extension().is_none_or(|extension| extension != "txt") {
            continue;
        }
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if !BUILT_IN.iter().any(|(known, ..)| *known == name) {
            return Err(ReasonsError::input(
                format!("{} is no list of words", path.display()),
                known_names(),
            ));
        }
        let text = read_input(&path)?;
        found.push((name, text));
    }
    if found.is_empty() {
        let what = format!("{} holds no list of words", folder.display());
        return Err(ReasonsError::input(what, known_names()));
    }
    Ok(found)
}

fn known_names() -> String {
    let names: Vec<&str> = BUILT_IN.iter().map(|(name, ..)| *name).collect();
    format!(
        "lists are {}; one that is absent is the program's own",
        names.join(", ")
    )
}

impl WordList {
    fn parse(
        name: &str,
        category: Option<Category>,
        text: &str,
        is_built_in: bool,
    ) -> Result<Self, ReasonsError> {
        let mut entries = Vec::new();
        for (place, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}');
            let line = line.split_once('#').map_or(line, |(entry, _)| entry).trim();
            if line.is_empty() {
                continue;
            }
            for word in spelled_out(line) {
                let entry = Entry::parse(&word, category).ok_or_else(|| {
                    ReasonsError::input(
                        format!("{name}, line {}: {line:?} has no word", place + 1),
                        "write one word or phrase a line; `=` before it makes case count, `!` makes it no hit",
                    )
                })?;
                entries.push(entry);
            }
        }
        let record = ListRecord {
            name: name.to_owned(),
            sha256: sha256_hex(text.as_bytes()),
            is_built_in,
            entries: entries.len(),
        };
        Ok(Self {
            record,
            category,
            entries,
        })
    }

    /// The list's name with its entries.
    pub(super) fn named_entries(&self) -> (String, &[Entry]) {
        (self.record.name.clone(), &self.entries)
    }
}

impl Entry {
    /// `word`, `=Word` where case counts, `!phrase` for one that is no hit, `!=Phrase` for both.
    fn parse(line: &str, category: Option<Category>) -> Option<Self> {
        let (is_no_hit, word) = line.strip_prefix('!').map_or((false, line), |word| (true, word));
        let (is_exact, word) = word.strip_prefix('=').map_or((false, word), |word| (true, word));
        Self::of(word, is_exact, category.filter(|_| !is_no_hit))
    }

    /// The entry of a word; `None` when nothing of it can be seen.
    pub(super) fn of(word: &str, is_exact: bool, category: Option<Category>) -> Option<Self> {
        let word = word.trim();
        let base = if is_exact { exact_key(word) } else { key(word) };
        if base.trim().is_empty() {
            return None;
        }
        let mut spellings = BTreeSet::new();
        for base in [base.replace(' ', "-"), base] {
            spellings.extend(plurals(&base));
            spellings.insert(base);
        }
        Some(Self {
            spellings,
            is_exact,
            category,
        })
    }
}

/// All phrases of a line: `{bond|trust} {default|crisis}` is four.
fn spelled_out(line: &str) -> Vec<String> {
    let parts = line
        .split_once('{')
        .and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (choices, after))) = parts else {
        return vec![line.to_owned()];
    };
    let after = spelled_out(after);
    let each = choices
        .split('|')
        .flat_map(|choice| after.iter().map(move |after| format!("{before}{choice}{after}")));
    each.collect()
}

/// The plurals of an English word or of a phrase's last word.
fn plurals(word: &str) -> Vec<String> {
    let Some(last) = word.chars().next_back().filter(char::is_ascii_alphabetic) else {
        return Vec::new();
    };
    if word.chars().any(is_chinese) {
        return Vec::new();
    }
    let stem = word.get(..word.len() - 1).unwrap_or_default();
    let ends_in_consonant = stem.ends_with(|before: char| !"aeiou".contains(before));
    match last.to_ascii_lowercase() {
        'y' if ends_in_consonant => vec![format!("{stem}ies"), format!("{word}s")],
        's' | 'x' | 'z' | 'h' => vec![format!("{word}s"), format!("{word}es")],
        _ => vec![format!("{word}s")],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<WordList, ReasonsError> {
        WordList::parse("news.en.txt", Some(Category::News), text, false)
    }

    #[test]
    fn a_line_is_an_entry() {
        let list = parse("\u{feff}# head\n\nearnings report # often\n=Fed\n!fed by\n公告\n").unwrap();
        let spellings = |place: usize| list.entries[place].spellings.iter().cloned().collect::<Vec<_>>();
        assert_eq!(
            spellings(0),
            [
                "earnings report",
                "earnings reports",
                "earnings-report",
                "earnings-reports"
            ]
        );
        assert_eq!(
            (spellings(1), list.entries[1].is_exact),
            (vec!["Fed".to_owned(), "Feds".to_owned()], true)
        );
        assert_eq!(
            (list.entries[2].category, list.entries[0].category),
            (None, Some(Category::News))
        );
        assert_eq!((spellings(3), list.record.entries), (vec!["公告".to_owned()], 4));
    }

    #[test]
    fn a_line_without_a_word_is_named() {
        let error = parse("news\n= \n").unwrap_err();
        assert!(
            error.to_string().contains("line 2") && error.hint().contains("one word"),
            "{error}"
        );
    }

    #[test]
    fn choices_are_spelled_out() {
        assert_eq!(
            spelled_out("{bond|trust} {default|crisis}"),
            ["bond default", "bond crisis", "trust default", "trust crisis"]
        );
        assert_eq!(spelled_out("news"), ["news"]);
    }

    #[test]
    fn plurals_of_english_words() {
        assert_eq!(plurals("policy"), ["policies", "policys"]);
        assert_eq!(plurals("gas"), ["gass", "gases"]);
        assert_eq!(plurals("bank"), ["banks"]);
        assert!(plurals("银行").is_empty() && plurals("5G").len() == 1 && plurals("2024").is_empty());
    }

    #[test]
    fn built_in_lists_have_no_line_twice() {
        for list in word_lists(None).unwrap() {
            let mut seen = BTreeSet::new();
            for entry in &list.entries {
                let again = entry
                    .spellings
                    .iter()
                    .find(|spelling| !seen.insert((*spelling).clone()));
                assert_eq!(again, None, "twice in {}", list.record.name);
            }
            assert!(3 < list.entries.len(), "{}", list.record.name);
        }
    }
}
