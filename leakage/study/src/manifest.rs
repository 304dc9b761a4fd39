//! A pipeline as its author declares it: what is known when, how it is fitted, and where it trades.

use super::instant_text::parse_instant;
use super::manifest_file::{FeaturePart, ManifestFile};
use crate::StudyError;
use ktd_expressions::{CheckedFormula, FormulaError, FormulaRole, FormulaScaling, check_formula, known_at};
use ktd_formulas::MARKET_FIELDS;
use ktd_io::whole_file::read_text;
use ktd_leakage::{FeatureContract, FeatureSource, PipelineContract, SessionInstant};
use std::path::{Path, PathBuf};
use toml::Spanned;

/// The most that a manifest may hold.
const FILE_LIMIT_BYTES: u64 = 1 << 20;

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

impl LeakManifest {
    /// Reads a manifest.
    ///
    /// # Errors
    /// [`StudyError`] with the line for what is no manifest.
    pub fn read(path: &Path) -> Result<Self, StudyError> {
        let text = read_text(path, FILE_LIMIT_BYTES)?;
        let mut manifest = Self::parse(&text, &path.display().to_string())?;
        manifest.folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(manifest)
    }

    /// The manifest of a text; `name` is what errors call it.
    ///
    /// # Errors
    /// Those of [`LeakManifest::read`].
    pub fn parse(text: &str, name: &str) -> Result<Self, StudyError> {
        let place = Place { text, name };
        let file: ManifestFile = toml::from_str(text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            place.error(at, error.message(), HINT)
        })?;
        for (place_of, part) in file.feature.iter().enumerate() {
            let earlier = file.feature.iter().take(place_of);
            if earlier
                .into_iter()
                .any(|other| other.name.get_ref() == part.name.get_ref())
            {
                let what = format!("two features have the name {:?}", part.name.get_ref());
                return Err(place.error(
                    part.name.span().start,
                    &what,
                    "give each feature a name of its own",
                ));
            }
        }
        let from_end = file.protocol.adjusted_from.is_end();
        let columns = file
            .feature
            .iter()
            .map(|part| column(part, &file, &place))
            .collect::<Result<Vec<_>, _>>()?;
        let features = columns
            .iter()
            .map(|column| FeatureContract {
                name: column.name.clone(),
                source: declared(&column.source, &columns, from_end),
                available_at: column.available_at,
            })
            .collect();
        Ok(Self {
            contract: contract(&file, features, &place)?,
            columns,
            folder: PathBuf::new(),
        })
    }
}

const HINT: &str = "docs/leakage.md has a whole manifest";

/// Where in a file something stands.
struct Place<'a> {
    text: &'a str,
    name: &'a str,
}

impl Place<'_> {
    fn error(&self, at: usize, what: &str, hint: &str) -> StudyError {
        let line = self.text.get(..at).unwrap_or_default().matches('\n').count() + 1;
        StudyError::input(format_args!("{}, line {line}: {what}", self.name), hint)
    }

    fn instant(&self, text: &Spanned<String>, key: &str) -> Result<SessionInstant, StudyError> {
        parse_instant(text.get_ref()).ok_or_else(|| {
            self.error(
                text.span().start,
                &format!("{key} = {:?} is no instant", text.get_ref()),
                "write \"open\", \"close\", \"next_open\", \"next_close\", or with sessions as \"close+3\" and \"close-1\"",
            )
        })
    }

    /// A whole number from the least that is possible.
    fn whole(&self, number: &Spanned<i64>, key: &str, least: i64) -> Result<i64, StudyError> {
        const MOST: i64 = 10_000;
        let value = *number.get_ref();
        if (least..=MOST).contains(&value) {
            return Ok(value);
        }
        Err(self.error(
            number.span().start,
            &format!("{key} = {value} is out of range"),
            &format!("write a whole number from {least} to {MOST}"),
        ))
    }
}

fn contract(
    file: &ManifestFile,
    features: Vec<FeatureContract>,
    place: &Place<'_>,
) -> Result<PipelineContract, StudyError> {
    let protocol = &file.protocol;
    let label = &protocol.label;
    Ok(PipelineContract {
        signal_at: place.instant(&protocol.signal_at, "signal_at")?,
        fill_at: place.instant(&protocol.fill_at, "fill_at")?,
        label_price: label.price.field(),
        label_from: place.whole(&label.from_day, "from_day", 0)?,
        horizon: place.whole(&label.horizon_days, "horizon_days", 1)?,
        purge: place.whole(&protocol.purge_days, "purge_days", 0)?,
        scale: protocol.standardise.rows(),
        graph: protocol.graph.scope(),
        universe: protocol.universe.rule(),
        features,
    })
}

fn column(part: &FeaturePart, file: &ManifestFile, place: &Place<'_>) -> Result<ManifestColumn, StudyError> {
    let name = part.name.get_ref();
    let at = part.name.span().start;
    if name.trim().is_empty() || name.chars().any(char::is_control) {
        return Err(place.error(
            at,
            &format!("{name:?} is no name of a feature"),
            "give it letters",
        ));
    }
    let available_at = place.instant(&part.available_at, "available_at")?;
    let sources = [
        part.expression.is_some(),
        part.command.is_some(),
        part.peers_of.is_some(),
    ];
    if 1 < sources.iter().filter(|is_there| **is_there).count() {
        return Err(place.error(
            at,
            &format!("feature {name:?} has more than one of `expression`, `command` and `peers_of`"),
            "keep one",
        ));
    }
    if part.command.is_none() && (part.pass_env.is_some() || part.timeout_seconds.is_some()) {
        return Err(place.error(
            at,
            &format!("feature {name:?} has `pass_env` or `timeout_seconds` without `command`"),
            "remove them",
        ));
    }
    Ok(ManifestColumn {
        name: name.clone(),
        source: source(part, file, place)?,
        available_at,
    })
}

fn source(part: &FeaturePart, file: &ManifestFile, place: &Place<'_>) -> Result<ColumnSource, StudyError> {
    if let Some(text) = &part.expression {
        return Ok(match check_formula(text, &MARKET_FIELDS, FormulaRole::Label) {
            Ok(formula) => ColumnSource::Expression(Box::new(formula)),
            Err(error) => ColumnSource::Refused(error),
        });
    }
    if let Some(of) = &part.peers_of {
        let own = file
            .feature
            .iter()
            .find(|other| other.name.get_ref() == of.get_ref());
        if own.is_none_or(|own| own.expression.is_none()) {
            let what = format!("peers_of = {:?} is no feature with an expression", of.get_ref());
            return Err(place.error(
                of.span().start,
                &what,
                "name a feature of this file that has an expression",
            ));
        }
        if file.protocol.graph.is_none() {
            return Err(place.error(
                of.span().start,
                "`peers_of` needs a graph",
                "name one under [protocol]",
            ));
        }
        return Ok(ColumnSource::PeersOf(of.get_ref().clone()));
    }
    let Some(command) = &part.command else {
        return Ok(ColumnSource::Undeclared);
    };
    if command.get_ref().first().is_none_or(String::is_empty) {
        let hint = "for example: command = [\"python3\", \"mine.py\"]";
        return Err(place.error(command.span().start, "`command` is empty", hint));
    }
    let seconds = match &part.timeout_seconds {
        Some(seconds) => u64::try_from(place.whole(seconds, "timeout_seconds", 1)?).unwrap_or(u64::MAX),
        None => DEFAULT_TIMEOUT_SECONDS,
    };
    Ok(ColumnSource::Command(ManifestCommand {
        command: command.get_ref().clone(),
        pass_env: part.pass_env.clone().unwrap_or_default(),
        timeout_seconds: seconds,
    }))
}

/// The longest that a run of a program may take, where a manifest names nothing else.
pub const DEFAULT_TIMEOUT_SECONDS: u64 = 120;

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
