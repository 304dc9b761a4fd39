//! What an address asks for. Names in it are looked up among what was found, and never become paths.

use axum::extract::Query;
use axum::http::Uri;
use ktd_record::exchanges::RequestPlace;
use std::collections::BTreeMap;

/// What is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Route {
    /// All experiments.
    Index,
    /// The style sheet.
    StyleSheet,
    /// The script.
    Script,
    /// Changes as they come.
    Events,
    /// An experiment by its name.
    Experiment(String),
    /// An episode, with real names or not.
    Episode { slug: String, real: bool },
    /// A step.
    Step { slug: String, step: usize, real: bool },
    /// A request as it was sent, or the reply as it came, by step, request and attempt.
    Raw {
        slug: String,
        place: RequestPlace,
        is_reply: bool,
    },
    /// Words in an episode.
    Search { slug: String, words: String },
    /// Two episodes, at a step or at the first difference, with real names or not.
    Compare {
        left: String,
        right: String,
        step: Option<usize>,
        real: bool,
    },
    /// A board in the frame, with real days of masked rows or not.
    Board { slug: String, real: bool },
    /// A board's own page, or a file that it links to.
    BoardFile { slug: String, file: String, real: bool },
    /// An agent of a board, with real days or not.
    TearSheet { board: String, row: String, real: bool },
    /// A study of any kind, or a part of it.
    Study { slug: String, part: StudyPart },
    /// A certificate, or what its bounds rest on.
    Certificate { slug: String, part: CertificatePart },
}

/// What is asked of a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum StudyPart {
    /// How far it is, its report and its units.
    Outline,
    /// Its report as it was written.
    Report,
    /// A file that its report links to.
    File(String),
    /// A unit by its name.
    Unit(String),
}

/// What is asked of a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum CertificatePart {
    /// What it says.
    Document,
    /// What an attacker answered to the probes of a kind, with the truth or not.
    Answers {
        kind: String,
        attacker: String,
        real: bool,
    },
    /// A probe as it was asked.
    Probe { kind: String, number: u64 },
}

/// Letters of a search.
const WORDS_MAX: usize = 200;

impl Route {
    /// The route of an address; `None` where there is no such page.
    pub(super) fn of(uri: &Uri) -> Option<Self> {
        let query: BTreeMap<String, String> = Query::try_from_uri(uri)
            .map(|Query(query)| query)
            .unwrap_or_default();
        let get = |key: &str| query.get(key).map(String::as_str).unwrap_or_default();
        let real = get("real") == "1";
        let parts: Vec<&str> = uri.path().trim_start_matches('/').split('/').collect();
        let page = |name: &str| name.strip_suffix(".html").map(str::to_owned);
        match parts.as_slice() {
            ["" | "index.html"] => Some(Self::Index),
            ["viewer.css"] => Some(Self::StyleSheet),
            ["viewer.js"] => Some(Self::Script),
            ["events"] => Some(Self::Events),
            ["compare.html"] => Some(Self::Compare {
                left: get("a").to_owned(),
                right: get("b").to_owned(),
                step: get("step").parse().ok(),
                real,
            }),
            ["x", name] => page(name).map(Self::Experiment),
            ["e", slug, "" | "index.html"] => Some(Self::Episode {
                slug: (*slug).to_owned(),
                real,
            }),
            ["e", slug, "search.html"] => Some(Self::Search {
                slug: (*slug).to_owned(),
                words: get("q").chars().take(WORDS_MAX).collect(),
            }),
            ["e", slug, file] if file.split('.').count() == 5 => raw(slug, file),
            ["e", slug, step] => Some(Self::Step {
                slug: (*slug).to_owned(),
                step: page(step)?.parse().ok()?,
                real,
            }),
            ["board", name] => Some(Self::Board {
                slug: page(name)?,
                real,
            }),
            ["board", slug, file @ ..] if is_report_file(file) => Some(Self::BoardFile {
                slug: (*slug).to_owned(),
                file: file.join("/"),
                real,
            }),
            ["board", slug, row] => Some(Self::TearSheet {
                board: (*slug).to_owned(),
                row: page(row)?,
                real,
            }),
            ["s", slug, file @ ..] if is_report_file(file) && *file != ["index.html"] => Some(Self::Study {
                slug: (*slug).to_owned(),
                part: StudyPart::File(file.join("/")),
            }),
            ["s", slug, file] => Some(Self::Study {
                slug: (*slug).to_owned(),
                part: match page(file)?.as_str() {
                    "index" => StudyPart::Outline,
                    "report" => StudyPart::Report,
                    other => StudyPart::Unit(other.strip_prefix("unit~")?.to_owned()),
                },
            }),
            ["certificate", name] => Some(Self::Certificate {
                slug: page(name)?,
                part: CertificatePart::Document,
            }),
            ["certificate", slug, file] => Some(Self::Certificate {
                slug: (*slug).to_owned(),
                part: evidence(&page(file)?, real)?,
            }),
            _ => None,
        }
    }

    /// The episodes that are all its page shows; none where it shows more.
    pub(super) fn episodes(&self) -> Vec<&str> {
        if let Self::Compare { left, right, .. } = self {
            vec![left, right]
        } else if let Self::Step { slug, .. } | Self::Raw { slug, .. } | Self::Search { slug, .. } = self {
            vec![slug]
        } else {
            Vec::new()
        }
    }

    /// From its page to the site's root.
    pub(super) const fn root(&self) -> &'static str {
        match self {
            Self::Index | Self::StyleSheet | Self::Script | Self::Events | Self::Compare { .. } => "",
            Self::Experiment(_)
            | Self::Board { .. }
            | Self::Certificate {
                part: CertificatePart::Document,
                ..
            } => "../",
            Self::Episode { .. }
            | Self::Step { .. }
            | Self::Raw { .. }
            | Self::Search { .. }
            | Self::TearSheet { .. }
            | Self::Study { .. }
            | Self::Certificate { .. }
            | Self::BoardFile { .. } => "../../",
        }
    }
}

/// A page, or a file that a report links to: itself a plain name with one of their endings, or such a one in a plain folder.
fn is_report_file(parts: &[&str]) -> bool {
    let is_plain = |name: &str| {
        let allowed = |character: char| character.is_ascii_alphanumeric() || "_-.".contains(character);
        !name.is_empty() && !name.starts_with('.') && name.chars().all(allowed)
    };
    let (folder, name) = match parts {
        [name] => (None, *name),
        [folder, name] => (Some(*folder), *name),
        _ => return false,
    };
    let is_known = ["csv", "json", "md"]
        .iter()
        .any(|ending| name.strip_suffix(ending).is_some_and(|stem| stem.ends_with('.')));
    let is_page = folder.is_none() && name == "index.html";
    is_plain(name)
        && (is_page || is_known)
        && folder.is_none_or(|folder| is_plain(folder) && folder != "private")
}

/// `answers~KIND~ATTACKER` or `probe~KIND~NUMBER`.
fn evidence(name: &str, real: bool) -> Option<CertificatePart> {
    let parts: Vec<&str> = name.split('~').collect();
    match parts.as_slice() {
        ["answers", kind, attacker] => Some(CertificatePart::Answers {
            kind: (*kind).to_owned(),
            attacker: (*attacker).to_owned(),
            real,
        }),
        ["probe", kind, number] => Some(CertificatePart::Probe {
            kind: (*kind).to_owned(),
            number: number.parse().ok()?,
        }),
        _ => None,
    }
}

/// `STEP.request.ORDINAL.ATTEMPT.txt` or `STEP.reply.ORDINAL.ATTEMPT.txt`.
fn raw(slug: &str, file: &str) -> Option<Route> {
    let mut parts = file.split('.');
    let step = parts.next()?.parse().ok()?;
    let is_reply = match parts.next()? {
        "request" => false,
        "reply" => true,
        _ => return None,
    };
    let (ordinal, attempt) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    if parts.next() != Some("txt") {
        return None;
    }
    Some(Route::Raw {
        slug: slug.to_owned(),
        place: RequestPlace {
            step,
            ordinal,
            attempt,
        },
        is_reply,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn route(address: &str) -> Option<Route> {
        Route::of(&address.parse().unwrap())
    }

    #[test]
    fn addresses_name_pages_and_no_files() {
        assert_eq!(route("/"), Some(Route::Index));
        let step = |real| {
            Some(Route::Step {
                slug: "demo~a".to_owned(),
                step: 3,
                real,
            })
        };
        assert_eq!(route("/e/demo~a/3.html"), step(false));
        assert_eq!(route("/e/demo~a/3.html?real=1"), step(true));
        let compare = Route::Compare {
            left: "a b".to_owned(),
            right: "c".to_owned(),
            step: None,
            real: false,
        };
        assert_eq!(route("/compare.html?a=a%20b&b=c"), Some(compare));
        let answers = Route::Certificate {
            slug: "c".to_owned(),
            part: CertificatePart::Answers {
                kind: "day".to_owned(),
                attacker: "price-level".to_owned(),
                real: false,
            },
        };
        assert_eq!(
            route("/certificate/c/answers~day~price-level.html"),
            Some(answers)
        );
        let place = RequestPlace {
            step: 3,
            ordinal: 1,
            attempt: 0,
        };
        let raw = Route::Raw {
            slug: "a".to_owned(),
            place,
            is_reply: true,
        };
        assert_eq!(route("/e/a/3.reply.1.0.txt"), Some(raw));
        let file = |file: &str| Route::Study {
            slug: "a".to_owned(),
            part: StudyPart::File(file.to_owned()),
        };
        assert_eq!(route("/s/a/T1_funnel.csv"), Some(file("T1_funnel.csv")));
        assert_eq!(route("/s/a/tables/t.csv"), Some(file("tables/t.csv")));
        for none in [
            "/e/a/3.reply.1.0.html",
            "/etc/passwd",
            "/e/demo~a/../../header.json",
            "/e/demo~a/private/episode.json",
            "/e/demo~a/header.json",
            "/board/x/private/leaderboard.json",
            "/board/x/../leaderboard.json",
            "/board/x/tables/.hidden.csv",
            "/board/x/lab.pem",
            "/s/x/cells/one/header.json",
            "/s/x/private/gold.json",
            "/certificate/x/answers~day.html",
            "/certificate/x/probe~day~-1.html",
            "/certificate/x/private~gold~0.html",
            "/e/demo~a/-1.html",
            "/e/demo~a/%2e%2e%2fheader.html",
        ] {
            assert_eq!(route(none), None, "{none}");
        }
    }
}
