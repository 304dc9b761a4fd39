//! Circles of modules: the nouns of a crate, and those of a folder in it, import each other in one direction.

use crate::crates::CRATES;
use crate::sources::{Source, own_sources};
use std::collections::{BTreeMap, BTreeSet};

/// Imports between the modules of one folder: at the top of a crate, or in a module of it.
type Imports = BTreeMap<String, BTreeSet<String>>;

/// The modules that lead to a file from its crate's root; the root itself has none.
fn module_path(source: &Source, folder: &str) -> Option<Vec<String>> {
    let path = source.path.strip_prefix(folder)?.strip_prefix("/src/")?;
    let path = path.strip_suffix(".rs")?;
    let path = path.strip_suffix("/mod").unwrap_or(path);
    let is_root = matches!(path, "lib" | "main");
    let modules = path.split('/').map(str::to_owned);
    Some(if is_root { Vec::new() } else { modules.collect() })
}

/// A file's code without comments and tests.
fn code(source: &Source) -> String {
    let lines = source.lines_without_tests();
    let lines = lines.filter(|line| !line.trim_start().starts_with("//"));
    lines.fold(String::new(), |code, line| code + line + "\n")
}

fn word(text: &str) -> &str {
    let is_part = |character: char| character.is_alphanumeric() || character == '_';
    text.split(|character| !is_part(character))
        .next()
        .unwrap_or_default()
}

/// The first words of a path or of each path in a group: `a` and `b` of `{a::c, b}`.
fn heads(text: &str) -> Vec<&str> {
    let Some(group) = text.strip_prefix('{') else {
        return vec![word(text)];
    };
    let (mut depth, mut heads, mut start) = (0_u32, Vec::new(), 0);
    for (place, character) in group.char_indices() {
        match character {
            '{' => depth += 1,
            '}' if depth == 0 => {
                heads.push(word(group[start..place].trim_start()));
                break;
            }
            '}' => depth -= 1,
            ',' if depth == 0 => {
                heads.push(word(group[start..place].trim_start()));
                start = place + 1;
            }
            _ => {}
        }
    }
    heads.retain(|head| !head.is_empty());
    heads
}

/// The first words of paths that start at a folder's root, which is `mark` from the crate's, from a file this deep in it.
fn from_root<'c>(code: &'c str, mark: &str, depth: usize) -> Vec<&'c str> {
    let starts_word = |place: usize| {
        let before = code[..place].chars().next_back();
        !before.is_some_and(|character| character.is_alphanumeric() || "_:$".contains(character))
    };
    let mut found = Vec::new();
    let crates = code.match_indices(mark).filter(|(place, _)| starts_word(*place));
    for (place, mark) in crates {
        found.extend(heads(&code[place + mark.len()..]));
    }
    let supers = code
        .match_indices("super::")
        .filter(|(place, _)| starts_word(*place));
    for (place, _) in supers {
        let (mut rest, mut up) = (&code[place..], 0);
        while let Some(after) = rest.strip_prefix("super::") {
            (rest, up) = (after, up + 1);
        }
        if up == depth {
            found.extend(heads(rest));
        }
    }
    found
}

/// The names that a root takes from its modules: each with the module.
fn re_exports(root: &str, modules: &BTreeSet<String>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    for statement in root
        .split("use ")
        .skip(1)
        .filter_map(|rest| rest.split(';').next())
    {
        let module = word(
            statement
                .trim_start_matches("crate::")
                .trim_start_matches("self::"),
        );
        if !modules.contains(module) {
            continue;
        }
        let is_part = |character: char| character.is_alphanumeric() || character == '_';
        for name in statement.split(|character| !is_part(character)) {
            names.insert(name.to_owned(), module.to_owned());
        }
    }
    names
}

/// Files that are no tests: the modules that lead to each, and its code.
type Files = Vec<(Vec<String>, String)>;

fn files(folder: &str, sources: &[Source]) -> Files {
    let sources = sources.iter().filter(|source| !source.is_test());
    sources
        .filter_map(|source| Some((module_path(source, folder)?, code(source))))
        .collect()
}

/// The folders of modules: the crate's own first, then those below it.
fn folders(files: &Files) -> BTreeSet<&[String]> {
    files
        .iter()
        .flat_map(|(path, _)| (0..path.len()).filter_map(|end| path.get(..end)))
        .collect()
}

/// The imports between the modules of the folder that these modules lead to.
fn imports(folder: &[String], files: &Files) -> Imports {
    let mark = ["crate"].into_iter().chain(folder.iter().map(String::as_str));
    let mark = mark.fold(String::new(), |mark, module| mark + module + "::");
    let files = files.iter();
    let files: Vec<(&[String], &String)> = files
        .filter_map(|(path, code)| Some((path.strip_prefix(folder)?, code)))
        .collect();
    let modules: BTreeSet<String> = files
        .iter()
        .filter_map(|(path, _)| path.first().cloned())
        .collect();
    let roots = files.iter().filter(|(path, _)| path.is_empty());
    let re_exported: BTreeMap<String, String> =
        roots.flat_map(|(_, code)| re_exports(code, &modules)).collect();
    let mut imports = Imports::new();
    for (path, code) in &files {
        let Some(module) = path.first() else { continue };
        let known = imports.entry(module.clone()).or_default();
        for head in from_root(code, &mark, path.len()) {
            let target = modules.get(head).or_else(|| re_exported.get(head));
            known.extend(target.filter(|target| *target != module).cloned());
        }
    }
    imports
}

/// All modules that can be reached from one by at least one import.
fn reached<'i>(imports: &'i Imports, from: &str) -> BTreeSet<&'i str> {
    let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
    while let Some(module) = next.pop() {
        for target in imports.get(module).into_iter().flatten() {
            if seen.insert(target.as_str()) {
                next.push(target);
            }
        }
    }
    seen
}

/// Each largest set of modules that reach each other.
fn circles(imports: &Imports) -> BTreeSet<BTreeSet<&str>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> = imports
        .keys()
        .map(|module| (module.as_str(), reached(imports, module)))
        .collect();
    let reaches = |from: &str, to: &str| reach.get(from).is_some_and(|found| found.contains(to));
    let in_circle = reach.keys().filter(|module| reaches(module, module));
    in_circle
        .map(|module| {
            let others = reach.keys().copied();
            others
                .filter(|other| reaches(module, other) && reaches(other, module))
                .collect()
        })
        .collect()
}

#[test]
fn the_modules_of_a_crate_import_each_other_in_one_direction() {
    let mut found = Vec::new();
    for row in CRATES.iter() {
        let files = files(&row.folder, &own_sources(&row.folder));
        for folder in folders(&files) {
            let imports = imports(folder, &files);
            for module in circles(&imports).into_iter().flatten() {
                let place = [std::slice::from_ref(&row.name), folder].concat().join("::");
                found.push(format!("{place}: {module} -> {:?}", imports[module]));
            }
        }
    }
    assert!(
        found.is_empty(),
        "move what both need into a module of its own: {found:#?}"
    );
}

#[test]
fn imports_are_read_through_groups_parents_and_the_root() {
    let source = |path: &str, text: &str| Source {
        path: format!("room/src/{path}.rs"),
        text: text.to_owned(),
    };
    let sources = [
        source(
            "lib",
            "mod a;\nmod b;\npub use b::{Thing, inner::Other as Same};\n",
        ),
        source("a", "use crate::{Thing, c::{x, y}};\n"),
        source("b/mod", "use super::a::Name;\nmod inner;\n"),
        source(
            "b/inner",
            "use super::own;\nuse super::outer::H;\n// crate::c\nfn f() { super::super::d::g() }\n",
        ),
        source("b/outer", "use crate::b::inner::{I, J};\n"),
        source("c", "use std::fmt;\n#[cfg(test)]\nmod tests { use crate::a; }\n"),
        source(
            "d",
            "macro_rules! m { () => { $crate::a::x() } }\nuse crate::Same;\n",
        ),
    ];
    let files = files("room", &sources);
    let below = ["b".to_owned()];
    assert_eq!(folders(&files), BTreeSet::from([&[][..], &below[..]]));
    assert_eq!(
        circles(&imports(&below, &files)),
        BTreeSet::from([BTreeSet::from(["inner", "outer"])])
    );
    let imports = imports(&[], &files);
    let of = |module: &str| imports[module].iter().map(String::as_str).collect::<Vec<_>>();
    assert_eq!(of("a"), ["b", "c"]);
    assert_eq!(of("b"), ["a", "d"]);
    assert_eq!(of("c"), Vec::<&str>::new());
    assert_eq!(of("d"), ["b"]);
    assert_eq!(
        circles(&imports),
        BTreeSet::from([BTreeSet::from(["a", "b", "d"])])
    );
}
