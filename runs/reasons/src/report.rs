//! From bundles to rates: what a model names beyond what it was shown, by mask and agent.

use super::detection::Detection;
use super::hit::{Hit, hits};
use super::lexicon::{Lexicon, Lists};
use super::rate::{Rates, ReasonScope, Tally};
use super::stated_reasons::StatedReasons;
use super::word_list::ListRecord;
use crate::ReasonsError;
use ktd_bundle::bundle_ref::{BundleRef, check_episodes};
use ktd_bundle::bundle_set::BundleSet;
use ktd_bundle::episode_filter::EpisodeFilter;
use ktd_bundle::finished_episode::OpenedBundle;
use ktd_data::market_source::market_of;
use ktd_experiment::mask_arm::MaskInstruction;
use ktd_io::parallel::in_parallel;
use ktd_masking::{Level, Mode, Numeric};
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The version of the JSON document.
pub const REASONS_FORMAT: u32 = 2;

/// What is read, and how.
#[derive(Debug, Clone, Default)]
pub struct ReasonOptions {
    /// The panel, when it is no longer where the bundles were made.
    pub panel: Option<PathBuf>,
    /// A folder of lists in place of the program's own.
    pub lists: Option<PathBuf>,
    /// What of the found is read.
    pub shown: EpisodeFilter,
    /// Threads; the report is the same whatever their number.
    pub threads: usize,
}

/// Words in reasons, by mask and agent.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct ReasonReport {
    /// [`REASONS_FORMAT`].
    pub format: u32,
    /// Version of the program.
    pub ktd: String,
    /// The lists that were looked through.
    pub lists: Vec<ListRecord>,
    /// By agent, mode and mask.
    pub rows: Vec<ReasonRow>,
    /// What the same lists find of planted texts, on the first panel.
    pub detection: Detection,
    /// Every hit, in the order of bundles, steps and words.
    pub hits: Vec<Hit>,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// One agent under one mask in one mode.
#[derive(Debug, Clone, PartialEq, JsonSchema, Serialize)]
pub struct ReasonRow {
    /// The agent.
    pub agent: String,
    /// The decision mode.
    pub mode: Mode,
    /// The mask's level.
    pub level: Level,
    /// The level whose text explained identifiers, if it is a prompt-only control.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub instruction: Option<MaskInstruction>,
    /// How the mask shows numbers.
    pub numeric: Numeric,
    /// Episodes.
    pub episodes: usize,
    /// Words in the reasons of orders, and in those for the whole.
    pub rates: BTreeMap<ReasonScope, Rates>,
}

/// An episode with the words in it.
#[derive(Debug, Clone)]
pub struct EpisodeReasons {
    /// The reasons as stated.
    pub stated: StatedReasons,
    /// The words that count.
    pub hits: Vec<Hit>,
}

/// All that was read.
#[derive(Debug, Clone)]
pub struct ReasonSet {
    /// Episodes, in the order of their paths.
    pub episodes: Vec<EpisodeReasons>,
    /// The lists that were looked through.
    pub lists: Vec<ListRecord>,
    /// What the same lists find of planted texts, on the first panel.
    pub detection: Detection,
    /// What was left out, and why.
    pub notes: Vec<String>,
}

/// Reads finished episodes and looks for words.
///
/// # Errors
/// [`ReasonsError`] when a bundle that is read is damaged, when one would count twice, and when lists or a named panel cannot
/// be read.
pub fn read_reasons(
    findings: &BundleSet,
    options: &ReasonOptions,
    tick: &(dyn Fn() + Sync),
) -> Result<ReasonSet, ReasonsError> {
    options.shown.check(&findings.named)?;
    let named: Vec<&BundleRef> = findings
        .named
        .iter()
        .filter(|found| options.shown.has(found))
        .collect();
    if named.is_empty() {
        return Err(ReasonsError::input(
            "there is no finished episode to read",
            "run one with `ktd run`; of a branch the episode that it left is read",
        ));
    }
    check_episodes(named.iter().copied())?;
    let named = named.into_iter().map(|bundle| OpenedBundle::read(bundle.clone()));
    let named: Vec<OpenedBundle> = named.collect::<Result<_, _>>()?;
    let lists = Lists::read(options.lists.as_deref())?;
    let mut notes = left_out(findings);
    let lexicons = lexicons(&named, &lists, options, &mut notes)?;
    let heard = in_parallel(&named, options.threads.max(1), |opened| {
        tick();
        let stated = StatedReasons::read(opened.clone())?;
        let lexicon = lexicons.get(&opened.bundle.header.data.panel_blake3);
        let hits = lexicon.map_or_else(|| Ok(Vec::new()), |lexicon| hits(&stated, lexicon))?;
        Ok(EpisodeReasons { stated, hits })
    });
    let detection = match lexicons.values().next() {
        Some(lexicon) => Detection::of(lexicon)?,
        None => Detection::of(&lists.on(None)?)?,
    };
    Ok(ReasonSet {
        episodes: heard.into_iter().collect::<Result<_, ReasonsError>>()?,
        lists: lists.records(),
        detection,
        notes,
    })
}

/// The words of each panel. Without one its companies are not known by name, which is noted.
fn lexicons(
    named: &[OpenedBundle],
    lists: &Lists,
    options: &ReasonOptions,
    notes: &mut Vec<String>,
) -> Result<BTreeMap<String, Arc<Lexicon>>, ReasonsError> {
    let mut panels: BTreeMap<&str, Vec<&OpenedBundle>> = BTreeMap::new();
    for opened in named {
        let panel = &opened.bundle.header.data.panel_blake3;
        panels.entry(panel).or_default().push(opened);
    }
    let mut lexicons = BTreeMap::new();
    for (hash, of_panel) in panels {
        let Some(first) = of_panel.first() else { continue };
        let kept = of_panel.iter().find_map(|opened| opened.panel());
        let source = match market_of(
            &first.bundle.header.data,
            kept.as_deref(),
            options.panel.as_deref(),
        ) {
            Ok(source) => Some(source),
            Err(error) if options.panel.is_some() => return Err(error.into()),
            Err(error) => {
                notes.push(format!(
                    "company names and the panel's sectors were not looked for in {} \
                     episodes: {error}; name their panel with --panel",
                    of_panel.len()
                ));
                None
            }
        };
        let lexicon = lists.on(source.as_ref().map(|source| source.market.as_ref()))?;
        lexicons.insert(hash.to_owned(), Arc::new(lexicon));
    }
    Ok(lexicons)
}

fn left_out(findings: &BundleSet) -> Vec<String> {
    let mut notes: Vec<String> = findings.unfinished_note().into_iter().collect();
    let branches = findings.branches();
    if 0 < branches {
        notes.push(format!(
            "branches are left out, for their first steps are another episode's: {branches}"
        ));
    }
    notes
}

impl ReasonReport {
    /// Counts what was heard.
    ///
    /// # Errors
    /// [`ReasonsError::Input`] for counts that no share has.
    pub fn of(reasons: ReasonSet) -> Result<Self, ReasonsError> {
        let ReasonSet {
            episodes: heard,
            lists,
            detection,
            mut notes,
        } = reasons;
        let rows = rows(&heard)?;
        let own: Vec<&str> = lists
            .iter()
            .filter(|list| !list.is_built_in)
            .map(|list| list.name.as_str())
            .collect();
        if !own.is_empty() {
            notes.push(format!("lists in place of the program's own: {}", own.join(", ")));
        }
        Ok(Self {
            format: REASONS_FORMAT,
            ktd: env!("CARGO_PKG_VERSION").to_owned(),
            lists,
            rows,
            detection,
            hits: heard
                .iter()
                .flat_map(|heard| heard.hits.iter().cloned())
                .collect(),
            notes,
        })
    }
}

/// Agent, mode, level, text and numbers, in the order of rows.
type Key<'h> = (&'h str, &'h str, Level, Option<MaskInstruction>, &'h str);

fn rows(heard: &[EpisodeReasons]) -> Result<Vec<ReasonRow>, ReasonsError> {
    let mut groups: BTreeMap<Key<'_>, Vec<&EpisodeReasons>> = BTreeMap::new();
    for one in heard {
        let header = &one.stated.opened.bundle.header;
        let key = (
            header.agent.id.as_str(),
            header.mode.label(),
            header.mask.level,
            header.mask.instruction,
            header.mask.numeric.label(),
        );
        groups.entry(key).or_default().push(one);
    }
    let row = |of_row: &Vec<&EpisodeReasons>| {
        let header = &of_row.first()?.stated.opened.bundle.header;
        let row = |rates| ReasonRow {
            agent: header.agent.id.clone(),
            mode: header.mode,
            level: header.mask.level,
            instruction: header.mask.instruction,
            numeric: header.mask.numeric,
            episodes: of_row.len(),
            rates,
        };
        Some(rates(of_row).map(row))
    };
    groups.values().filter_map(row).collect()
}

fn rates(of_row: &[&EpisodeReasons]) -> Result<BTreeMap<ReasonScope, Rates>, ReasonsError> {
    let mut tallies: BTreeMap<ReasonScope, Tally> =
        ReasonScope::ALL.map(|scope| (scope, Tally::default())).into();
    for heard in of_row {
        let mut hits: BTreeMap<(usize, Option<usize>), Vec<&Hit>> = BTreeMap::new();
        for hit in &heard.hits {
            hits.entry((hit.step, hit.order)).or_default().push(hit);
        }
        for step in &heard.stated.steps {
            for (order, text) in step.texts() {
                let scope = if order.is_some() {
                    ReasonScope::Order
                } else {
                    ReasonScope::Overall
                };
                let own = hits.get(&(step.step, order.map(|place| place + 1)));
                let own = own.into_iter().flatten().copied();
                tallies.entry(scope).or_default().add(text, own);
            }
        }
    }
    let tallies = tallies.into_iter();
    tallies
        .map(|(scope, tally)| Ok((scope, tally.rates(scope.label())?)))
        .collect()
}
