//! The repository's own text, for the tests that read it.

use std::path::{Path, PathBuf};

/// One Rust source file.
#[derive(Debug, Clone)]
pub(crate) struct Source {
    /// Path from the workspace's root, with forward slashes.
    pub(crate) path: String,
    /// Its whole text.
    pub(crate) text: String,
}

impl Source {
    /// Whether the whole file is test code: below a `tests` or `benches` folder, or a module named for its tests.
    pub(crate) fn is_test(&self) -> bool {
        self.path.starts_with("tests/")
            || self.path.contains("/tests/")
            || self.path.contains("/benches/")
            || self.path.ends_with("tests.rs")
    }

    /// The lines before the test module at the end of the file.
    pub(crate) fn lines_without_tests(&self) -> impl Iterator<Item = &str> {
        self.text
            .lines()
            .take_while(|line| !line.starts_with("#[cfg(test)]"))
    }
}

/// All Rust sources below the members of the workspace, in the order of their paths.
pub(crate) fn rust_sources(root: &Path, members: &[String]) -> Vec<Source> {
    let mut paths = Vec::new();
    for member in members {
        collect(&root.join(member), "rs", &mut paths);
    }
    // A member may lie in the folder of another.
    paths.sort();
    paths.dedup();
    paths.iter().filter_map(|path| read(root, path)).collect()
}

/// The sources in the folder of a crate, those of crates below it left out.
pub(crate) fn own_sources(folder: &str) -> Vec<Source> {
    let members = crate::tidy::members();
    let inner: Vec<String> = members
        .iter()
        .filter(|other| {
            other
                .strip_prefix(folder)
                .is_some_and(|rest| rest.starts_with('/'))
        })
        .map(|other| format!("{other}/"))
        .collect();
    let mut sources = rust_sources(&ktd_kit::workspace_root(), &[folder.to_owned()]);
    sources.retain(|source| !inner.iter().any(|inner| source.path.starts_with(inner)));
    sources
}

fn read(root: &Path, path: &Path) -> Option<Source> {
    let text = std::fs::read_to_string(path).ok()?;
    let path = path.strip_prefix(root).unwrap_or(path);
    Some(Source {
        path: path.to_string_lossy().replace('\\', "/"),
        text,
    })
}

/// Files with an extension below a folder, build output left out.
fn collect(folder: &Path, extension: &str, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else {
        return;
    };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "target") {
                collect(&path, extension, found);
            }
        } else if path.extension().is_some_and(|found| found == extension) {
            found.push(path);
        }
    }
}

/// A function and how many lines it takes, signature and closing brace included.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Function {
    /// Its first line, trimmed.
    pub(crate) signature: String,
    /// 1-based line it starts on.
    pub(crate) line: usize,
    /// Lines it takes.
    pub(crate) lines: usize,
}

/// The functions of formatted source lines: rustfmt closes a function at the indentation it opened with.
pub(crate) fn functions<'a>(lines: impl Iterator<Item = &'a str>) -> Vec<Function> {
    let lines: Vec<&str> = lines.collect();
    let starts = lines.iter().enumerate().filter(|(_, line)| opens_function(line));
    starts
        .filter_map(|(start, line)| function_at(&lines, start, line))
        .collect()
}

fn function_at(lines: &[&str], start: usize, line: &str) -> Option<Function> {
    let indent = line.len() - line.trim_start().len();
    let close = format!("{}}}", " ".repeat(indent));
    let rest = lines.get(start..)?;
    // A declaration without a body ends in a semicolon before any brace of its own.
    let first = rest
        .iter()
        .position(|line| line.ends_with(';') || line.ends_with('{') || line.ends_with('}'))?;
    let body = rest.get(first).is_some_and(|line| line.ends_with('{'));
    let length = if body {
        rest.iter().position(|line| *line == close)? + 1
    } else {
        first + 1
    };
    Some(Function {
        signature: line.trim().to_owned(),
        line: start + 1,
        lines: length,
    })
}

fn opens_function(line: &str) -> bool {
    let words = line.trim_start();
    let words = words.strip_prefix("pub").map_or(words, |rest| {
        rest.strip_prefix("(crate)")
            .or_else(|| rest.strip_prefix("(super)"))
            .unwrap_or(rest)
    });
    let mut words = words.trim_start();
    for qualifier in ["const ", "async "] {
        words = words.strip_prefix(qualifier).unwrap_or(words);
    }
    words.starts_with("fn ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_found_with_their_length() {
        let text = "impl A {\n    pub(crate) const fn b(\n        c: u8,\n    ) -> u8 {\n        if c {\n        }\n    }\n}\n\
                    fn one() {}\ntrait T {\n    fn bare(&self);\n}\nasync fn last() {\n}\n";
        let found: Vec<(usize, usize)> = functions(text.lines())
            .iter()
            .map(|function| (function.line, function.lines))
            .collect();
        assert_eq!(found, [(2, 6), (9, 1), (11, 1), (13, 2)]);
    }

    #[test]
    fn the_test_module_is_left_out() {
        let source = Source {
            path: "env/src/a.rs".to_owned(),
            text: "fn a() {}\n#[cfg(test)]\nmod tests {}\n".to_owned(),
        };
        assert_eq!(source.lines_without_tests().count(), 1);
        assert!(!source.is_test());
    }
}
