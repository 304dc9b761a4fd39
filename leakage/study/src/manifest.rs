//! A pipeline as its author declares it: what is known when, how it is fitted, and where it trades.

use crate::StudyError;
use ktd_expressions::{CheckedFormula, FormulaError, FormulaRole, FormulaScaling, check_formula, known_at};
use ktd_formulas::MARKET_FIELDS;
use ktd_leakage::{
    AdjustedFrom, FeatureContract, FeatureKeys, FeatureSource, GraphScope, ManifestKeys, PipelineContract,
    ProtocolKeys, SessionInstant, Switch, UniverseRule,
};
use ktd_study::TomlText;
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The longest that a run of a program may take, where nothing else is named.
pub const DEFAULT_TIMEOUT_SECONDS: u64 = 120;

/// A manifest that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct LeakManifest {
    /// What it declares.
    pub contract: PipelineContract,
    /// Its features, in the order of the contract's.
    pub columns: Vec<ManifestColumn>,
    /// The folder of its commands.
    pub folder: PathBuf,
}

/// A declared feature with what computes it.
#[derive(Debug, Clone, PartialEq)]
pub struct ManifestColumn {
    /// Its name.
    pub name: String,
    /// What computes it.
    pub source: ColumnSource,
    /// When it is declared to be known.
    pub available_at: SessionInstant,
}

/// What computes a feature.
#[derive(Debug, Clone, PartialEq)]
pub enum ColumnSource {
    /// An expression; one that reads ahead is read as well.
    Expression(Box<CheckedFormula>),
    /// An expression that was refused.
    Refused(FormulaError),
    /// The weighted mean over the peers of a name of another feature.
    PeersOf(String),
    /// A program.
    Command(ManifestCommand),
    /// Nothing.
    Undeclared,
}

/// The program of a feature.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ManifestCommand {
    /// Program and arguments.
    pub command: Vec<String>,
    /// Variables of the environment that it gets besides `PATH` and `HOME`.
    pub pass_env: Vec<String>,
    /// The longest that a run may take.
    pub timeout_seconds: u64,
}

const HINT: &str = "docs/leakage.md has a whole manifest";

impl LeakManifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// [`StudyError`] with the line for what is no manifest.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Self::of(&TomlText::read(path)?, folder)
    }

    /// The manifest of a text in a folder.
    ///
    /// # Errors
    /// Those of [`LeakManifest::read`].
    pub fn of(file: &TomlText, folder: PathBuf) -> Result<Self, StudyError> {
        let keys: ManifestKeys<Spanned<FeatureKeys>> = file.value(HINT)?;
        let mut columns = Vec::with_capacity(keys.feature.len());
        for (place, part) in keys.feature.iter().enumerate() {
            let source = column_source(&keys, place, part.get_ref())
                .map_err(|(what, hint)| file.error(part.span().start, &what, hint))?;
            columns.push(ManifestColumn {
                name: part.get_ref().name.clone(),
                source,
                available_at: part.get_ref().available_at,
            });
        }
        let ProtocolKeys { label, .. } = &keys.protocol;
        let from_end = keys.protocol.adjusted_from == AdjustedFrom::End;
        let features = columns.iter().map(|column| FeatureContract {
            name: column.name.clone(),
            source: declared(&column.source, &columns, from_end),
            available_at: column.available_at,
        });
        Ok(Self {
            contract: PipelineContract {
                signal_at: keys.protocol.signal_at,
                fill_at: keys.protocol.fill_at,
                label_price: label.price,
                label_from: label.from_day.0,
                horizon: label.horizon_days.0,
                purge: keys.protocol.purge_days.0,
                scale: keys.protocol.standardise,
                graph: keys.protocol.graph,
                universe: keys.protocol.universe,
                features: features.collect(),
            },
            columns,
            folder,
        })
    }
}

/// What computes the feature at a place; or what is wrong with it, and how to fix it.
fn column_source(
    keys: &ManifestKeys<Spanned<FeatureKeys>>,
    place: usize,
    part: &FeatureKeys,
) -> Result<ColumnSource, (String, &'static str)> {
    let features = || keys.feature.iter().map(Spanned::get_ref);
    let name = &part.name;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err((format!("{name:?} is no name of a feature"), "give it letters"));
    }
    if features().take(place).any(|earlier| earlier.name == *name) {
        let what = format!("two features have the name {name:?}");
        return Err((what, "give each feature a name of its own"));
    }
    if part.command.is_none() && (part.pass_env.is_some() || part.timeout_seconds.is_some()) {
        let what = format!("feature {name:?} has `pass_env` or `timeout_seconds` without `command`");
        return Err((what, "remove them"));
    }
    match (&part.expression, &part.peers_of, &part.command) {
        (Some(text), None, None) => Ok(match check_formula(text, &MARKET_FIELDS, FormulaRole::Label) {
            Ok(formula) => ColumnSource::Expression(Box::new(formula)),
            Err(error) => ColumnSource::Refused(error),
        }),
        (None, Some(of), None) => {
            if !features().any(|other| other.name == *of && other.expression.is_some()) {
                let what = format!("peers_of = {of:?} is no feature with an expression");
                return Err((what, "name a feature of this file that has an expression"));
            }
            if keys.protocol.graph == GraphScope::NoGraph {
                return Err(("`peers_of` needs a graph".to_owned(), "name one under [protocol]"));
            }
            Ok(ColumnSource::PeersOf(of.clone()))
        }
        (None, None, Some(command)) if command.first().is_none_or(String::is_empty) => Err((
            "`command` is empty".to_owned(),
            "for example: command = [\"python3\", \"mine.py\"]",
        )),
        (None, None, Some(command)) => Ok(ColumnSource::Command(ManifestCommand {
            command: command.clone(),
            pass_env: part.pass_env.clone().unwrap_or_default(),
            timeout_seconds: part
                .timeout_seconds
                .map_or(DEFAULT_TIMEOUT_SECONDS, |seconds| seconds.0.unsigned_abs()),
        })),
        (None, None, None) => Ok(ColumnSource::Undeclared),
        _ => Err((
            format!("feature {name:?} has more than one of `expression`, `command` and `peers_of`"),
            "keep one",
        )),
    }
}

/// What a contract knows of a source.
fn declared(source: &ColumnSource, columns: &[ManifestColumn], from_end: bool) -> FeatureSource {
    match source {
        ColumnSource::Expression(formula) => FeatureSource::Expression {
            known_at: instant_of(formula),
            has_adjusted_level: from_end && !FormulaScaling::of(formula.formula(), &power_of).is_ratio(),
        },
        ColumnSource::Refused(error) => FeatureSource::Refused(error.fault.code().to_owned()),
        ColumnSource::PeersOf(name) => {
            let own = columns.iter().find(|column| column.name == *name);
            own.map_or(FeatureSource::Undeclared, |own| match &own.source {
                // A refused expression is a finding of its own column.
                ColumnSource::Refused(_) => FeatureSource::Program,
                ColumnSource::Expression(_)
                | ColumnSource::PeersOf(_)
                | ColumnSource::Command(_)
                | ColumnSource::Undeclared => declared(&own.source, columns, from_end),
            })
        }
        ColumnSource::Command(_) => FeatureSource::Program,
        ColumnSource::Undeclared => FeatureSource::Undeclared,
    }
}

fn instant_of(formula: &CheckedFormula) -> SessionInstant {
    let is_known_at_open = |field: &str| matches!(field, "open" | "factor");
    let count = known_at(formula.formula(), &is_known_at_open).unwrap_or(0);
    SessionInstant::of_count(count)
}

/// The power with which a field changes when an instrument is adjusted from another end.
fn power_of(field: &str) -> f64 {
    match field {
        "volume" => -1.0,
        "amount" | "change" => 0.0,
        _ => 1.0,
    }
}

/// The manifest of the runs under a protocol for a horizon; it says what the run does, leaks and all.
///
/// # Errors
/// [`StudyError`] where it cannot be written.
pub(super) fn manifest_text(
    switch: Switch,
    (horizon, future_days): (usize, usize),
    (universe, adjusted_from): (UniverseRule, AdjustedFrom),
) -> Result<String, StudyError> {
    let keys = ManifestKeys::of_switch(switch, (horizon, future_days), (universe, adjusted_from));
    let text = toml::to_string(&keys).map_err(|error| StudyError::input(error, HINT))?;
    let name = switch.name();
    Ok(format!(
        "# {name}, labels of {horizon} sessions: what is known when, and where it trades.\n{text}"
    ))
}
