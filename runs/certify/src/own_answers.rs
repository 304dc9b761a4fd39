//! What answers of a program of somebody's own recover of the probes of a set: counted as those of the attackers here, beside them,
//! and part of no certificate.

use super::answer_line::{AnswerLine, RecordedGuess};
use super::attack_tables::{CountedAttacks, percent, status};
use super::attacker_record::{AttackerRecord, Knowledge, database_attackers};
use super::certificate::rule;
use super::compose::count;
use super::config::CertifyConfig;
use super::gold_line::{GoldLine, board_label};
use super::language_attackers::{CodeText, stock as stock_of};
use super::paths::CertifyPaths;
use super::set_record::SetRecord;
use super::sets::{load_answers, load_gold};
use crate::{CertificateStudy, CertifyError};
use ktd_data::market_source::MarketSource;
use ktd_env::{Board, Market};
use ktd_io::line_file::LineKind;
use ktd_probes::judge::{
    AcceptanceRule, Counted, JudgementSettings, RecoveryCount, RecoveryRate, UnansweredCount,
};
use ktd_probes::{AttackerClass, Attackers, ProbeKind};
use ktd_stats::StatsError;
use ktd_study::{Report, Section, Shown, check_recorded_files, known_base, recorded_keys};
use ktd_view::draw::Align::{Left, Right};
use ktd_view::draw::{TableCell, TableData, counted};
use ktd_view::row_table::RowTable;
use schemars::JsonSchema;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What somebody's own answers recovered of the probes of a set.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct CountedAnswers {
    /// Of each file and question.
    pub figures: Vec<OwnFigure>,
    /// Probes without an answer, of each file and kind.
    pub unanswered: Vec<UnansweredCount>,
    /// How many attackers of the program were put to the set.
    pub attackers_of_set: usize,
    /// By what the verdicts are, as the folder of the set says it: whoever holds the folder may have changed that.
    pub terms: JudgementSettings,
    /// Why stocks, days and sectors were not looked up in the panel, so that those that it does not have count as not found; left out
    /// where they were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_looked_up: Option<String>,
}

/// What a file of answers recovered of a question, beside the attacker of the set that recovers most of it.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct OwnFigure {
    /// What it recovers; its attacker is the name of the file.
    pub rate: RecoveryRate,
    /// What a certificate would make of it.
    pub verdict: &'static str,
    /// The attacker of the set that recovers most; left out of a set that nobody attacked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub best_of_set: Option<BestOfSet>,
}

/// Attacker of a set that recovers most of a question.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct BestOfSet {
    /// Its name.
    pub attacker: String,
    /// What it recovers.
    pub share: f64,
}

/// Counts files of answers to the probes of a study, each by the name of its file, beside the attackers that were put to them.
///
/// # Errors
/// [`CertifyError`] naming file and line, and for a folder without probes.
pub fn count_answers(root: &Path, files: &[PathBuf]) -> Result<(CountedAnswers, Report), CertifyError> {
    if !root.is_dir() {
        return Err(CertifyError::input(
            format!("{}: there is no such folder", root.display()),
            "name the folder that `ktd probe` or `ktd certify` wrote",
        ));
    }
    let keys = recorded_keys::<CertificateStudy>(root)?;
    let paths = CertifyPaths::new(root);
    let (record, probed) = (SetRecord::read(&paths.set_record())?, paths.probed());
    if !probed.at(probed.gold()).exists() {
        return Err(CertifyError::input(
            format!("{}: there is no answer key", probed.at(probed.gold()).display()),
            "whoever made the probes has it below private/: let them count, or ask them for it",
        ));
    }
    check_recorded_files(root)?;
    let gold = load_gold(&probed, &record.by_kind())?;
    let panel = panel_of((&keys, root), &record);
    let own = files.iter().map(|path| (name_of(path), path.clone(), true));
    let known = database_attackers().into_iter().map(|attacker| {
        let path = probed.at(&probed.answers(&attacker.name));
        (attacker.name, path, false)
    });
    let (mut attackers, mut found): (Vec<AttackerRecord>, Counted) = (Vec::new(), Counted::default());
    // A set that was not attacked has the answers of nobody.
    for (name, path, is_own) in own.chain(known.filter(|(_, path, _)| path.exists())) {
        if attackers.iter().any(|attacker| attacker.name == name) {
            return Err(CertifyError::input(
                format!("{}: there are answers of {name} already", path.display()),
                "each file of answers counts under its own name, and an attacker of the set keeps its own: rename the file",
            ));
        }
        let answers = if is_own {
            answers_in_order(&path, &gold, panel.as_deref().ok())?
        } else {
            load_answers(&path, &gold)?
        };
        let counts = count(&name, &gold, &answers, &record.plan)?;
        found.recovered.extend(counts.recovered);
        found.unanswered.extend(counts.unanswered);
        attackers.push(AttackerRecord {
            name,
            knows: Knowledge::Database,
            model: None,
        });
    }
    let rule = rule(&record, keys.criteria(), &attackers);
    let names: Vec<String> = files.iter().map(|path| name_of(path)).collect();
    let figures: Result<Vec<RecoveryRate>, _> = found
        .recovered
        .iter()
        .map(|count| rate(&rule, count, &names))
        .collect();
    let all = CountedAttacks {
        figures: &figures?,
        unanswered: &found.unanswered,
    };
    let terms = JudgementSettings {
        thresholds: keys.criteria().thresholds,
        confidence: keys.criteria().confidence,
        joint_days: record.plan.joint_days,
    };
    let counts = CountedAnswers {
        not_looked_up: panel.err(),
        ..CountedAnswers::of(&names, all, terms)
    };
    let report = report(&keys.name, (&names, &counts), all);
    Ok((counts, report))
}

impl CountedAnswers {
    /// Those of these names among all attackers.
    fn of(names: &[String], all: CountedAttacks<'_>, terms: JudgementSettings) -> Self {
        let (own, of_set): (Vec<&RecoveryRate>, Vec<&RecoveryRate>) = all
            .figures
            .iter()
            .partition(|figure| names.contains(&figure.attacker));
        let best = |figure: &RecoveryRate| {
            let alike = of_set
                .iter()
                .filter(|other| (other.kind, other.measure) == (figure.kind, figure.measure));
            let best = alike.max_by(|left, right| left.share.total_cmp(&right.share));
            best.map(|best| BestOfSet {
                attacker: best.attacker.clone(),
                share: best.share,
            })
        };
        let figures = own.iter().map(|figure| OwnFigure {
            rate: (*figure).clone(),
            verdict: verdict(figure, all.unanswered),
            best_of_set: best(figure),
        });
        let unanswered = all.unanswered.iter();
        let of_set: BTreeSet<&str> = of_set.iter().map(|figure| figure.attacker.as_str()).collect();
        let attackers_of_set = of_set.len();
        Self {
            figures: figures.collect(),
            attackers_of_set,
            terms,
            not_looked_up: None,
            unanswered: unanswered
                .filter(|count| names.contains(&count.attacker))
                .cloned()
                .collect(),
        }
    }

    /// What the answers of a name come to, beside the attackers of the set.
    fn told(&self, name: &str) -> String {
        let unanswered = self.unanswered.iter().filter(|count| count.attacker == name);
        let (probes, left) = unanswered.fold((0, 0), |(probes, left), count| {
            (probes + count.probes, left + count.unanswered)
        });
        let lead = |figure: &OwnFigure| Some(figure.rate.share - figure.best_of_set.as_ref()?.share);
        let ahead: Vec<(f64, &OwnFigure)> = self
            .figures
            .iter()
            .filter(|figure| figure.rate.attacker == name)
            .filter_map(|figure| Some((lead(figure).filter(|lead| 0.0 < *lead)?, figure)))
            .collect();
        let set = match self.attackers_of_set {
            put if put < Attackers::NAMES.len() => {
                format!(
                    "the {put} of {} attackers that were put to the set",
                    Attackers::NAMES.len()
                )
            }
            put => format!("the set's {put} attackers"),
        };
        let most = ahead.iter().max_by(|left, right| left.0.total_cmp(&right.0));
        let beside = match most.and_then(|(_, figure)| Some((figure, figure.best_of_set.as_ref()?))) {
            None if self.attackers_of_set == 0 => "nobody else was put to the set".to_owned(),
            None => format!("it recovers of no question more than the best of {set}"),
            Some((figure, best)) => format!(
                "it recovers more than every one of {set} of {}, most of all {} of {} probes: {} %, where {} has {} %",
                counted(ahead.len(), "question"),
                figure.rate.measure.label(),
                figure.rate.kind.label(),
                percent(figure.rate.share),
                best.attacker,
                percent(best.share)
            ),
        };
        format!("{name} answers {} of {probes} probes: {beside}", probes - left)
    }

    fn table(&self) -> TableData {
        let table = RowTable::new("What the answers recover", &self.figures)
            .column(("attacker", Left, 0), |own| TableCell::Text(own.rate.attacker.clone()))
            .column(("probes", Left, 0), |own| {
                TableCell::Text(own.rate.kind.label().to_owned())
            })
            .column(("measure", Left, 0), |own| {
                TableCell::Text(own.rate.measure.label().to_owned())
            })
            .column(("recovers", Right, 0), |own| TableCell::Percent(own.rate.share))
            .column(("at most", Right, 1), |own| {
                TableCell::Percent(own.rate.simultaneous.upper)
            })
            .column(("guessing gives", Right, 1), |own| TableCell::Percent(own.rate.chance))
            .column(("best of the set", Right, 0), |own| {
                TableCell::optional(
                    own.best_of_set.as_ref().map(|best| best.share),
                    TableCell::Percent,
                )
            })
            .column(("by", Left, 1), |own| {
                let by = own.best_of_set.as_ref();
                TableCell::Text(by.map(|best| best.attacker.clone()).unwrap_or_default())
            })
            .column(("verdict", Left, 0), |own| {
                TableCell::Text(own.verdict.to_owned())
            })
            .table()
            .with_note("at most: the upper end of an interval of what it recovers that holds for all attackers at once; the verdict is on how far that lies above guessing")
            .with_note(format!(
                "allowed, as this folder says it{}: {}",
                if self.terms.are_own() { ", and not as by default" } else { "" },
                self.terms
            ));
        match &self.not_looked_up {
            Some(why) => table.with_note(format!(
                "stocks, days and sectors that the panel does not have count as not found: without it nobody tells them ({why})"
            )),
            None => table,
        }
    }
}

/// What a certificate would make of a rate: it refuses whoever leaves out too much, whatever the rest of the answers recover.
fn verdict(figure: &RecoveryRate, unanswered: &[UnansweredCount]) -> &'static str {
    let mut own = unanswered
        .iter()
        .filter(|count| count.attacker == figure.attacker);
    if own.any(|count| count.kind == figure.kind && count.is_too_few()) {
        "too few answers"
    } else {
        status(figure)
    }
}

/// The rate of a count, whose bound holds for all attackers together: whoever has answers of its own may own every price, as the
/// attackers of the set do, and is none of the language models that others would be taken for.
fn rate(rule: &AcceptanceRule, count: &RecoveryCount, own: &[String]) -> Result<RecoveryRate, StatsError> {
    if !own.contains(&count.attacker) {
        return rule.rate(count);
    }
    rule.rate_in(count, AttackerClass::of_database(count.kind))
}

/// `mine` of `mine.jsonl.zst`.
fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.split('.').next().unwrap_or_default().to_owned()
}

/// A line a probe in the order of the keys, whatever the order of the file: a probe that it leaves out is unanswered.
fn answers_in_order(
    path: &Path,
    gold: &[GoldLine],
    panel: Option<&Market>,
) -> Result<Vec<AnswerLine>, CertifyError> {
    let mut given: BTreeMap<(ProbeKind, usize), (usize, AnswerLine)> = BTreeMap::new();
    // A slip in a file that somebody wrote is no damage of a record.
    let slip = |error: ktd_io::FileError| CertifyError::input(error, FORM);
    let lines: Vec<AnswerLine> = LineKind::Probes.open(path)?.values().map_err(slip)?;
    let at = |place: usize, what: String| format!("{}: line {}: {what}", path.display(), place + 1);
    for (place, line) in lines.into_iter().enumerate() {
        if let Some((before, _)) = given.insert((line.kind, line.number), (place, line)) {
            let what = format!("its probe is answered on line {} already", before + 1);
            return Err(CertifyError::input(at(place, what), "write one line a probe"));
        }
    }
    if given.is_empty() {
        return Err(CertifyError::input(
            format!("{}: it holds no answer", path.display()),
            FORM,
        ));
    }
    let mut answers = Vec::with_capacity(gold.len());
    for gold in gold {
        answers.push(match given.remove(&(gold.kind, gold.number)) {
            Some((place, line)) => {
                let slip = |(what, hint)| CertifyError::input(at(place, what), hint);
                as_compared(line, gold, panel).map_err(slip)?
            }
            None => AnswerLine {
                kind: gold.kind,
                number: gold.number,
                answer: None,
                reason: None,
            },
        });
    }
    match given.into_iter().next() {
        None => Ok(answers),
        Some(((kind, number), (place, _))) => Err(CertifyError::input(
            at(place, format!("no {} probe {number} was put", kind.label())),
            "answer the probes of this set: `kind` is the name of the file and `number` that of its line, from 0",
        )),
    }
}

/// The form of a line.
const FORM: &str = "write one line a probe: {\"kind\": \"day\", \"number\": 0, \"answer\": {\"stocks\": [\"SH600519\"], \"place\": 1893}}; \
                    of `linked` probes {\"same_stock\": true}; docs/mask-certificate.md says all of it";

/// An answer with its codes as the key spells them: what is found must not hang on a dot. What it names is in the panel, where that is
/// known.
fn as_compared(
    mut line: AnswerLine,
    gold: &GoldLine,
    panel: Option<&Market>,
) -> Result<AnswerLine, (String, &'static str)> {
    let Some(answer) = line.answer.as_mut() else {
        return Ok(line);
    };
    if answer.day.is_some() && answer.place.is_none() {
        let hint = "days are compared by `place`, the day's place in the panel's calendar, from 0: write it beside `day`";
        return Err(("its day has no place".to_owned(), hint));
    }
    let names_any = !answer.stocks.is_empty()
        || answer.place.is_some()
        || answer.sector.is_some()
        || answer.board.is_some();
    let is_other = match gold.is_same() {
        Some(_) => names_any && answer.same_stock.is_none(),
        None => !names_any && answer.same_stock.is_some(),
    };
    if is_other {
        let hint = "of `linked` probes `same_stock` counts; of all others stocks, place, sector and board do";
        return Err((format!("a {} probe asks something else", gold.kind.label()), hint));
    }
    let target = gold.targets.first().map_or("", |target| target.stock.as_str());
    // An empty text keeps its rank.
    for stock in answer.stocks.iter_mut().filter(|stock| !stock.is_empty()) {
        let code = CodeText::read(stock).ok_or_else(|| {
            let hint = "write six digits with the exchange: SH600519, 600519.SH or 600519.XSHG";
            (format!("{stock:?} is no code of a stock"), hint)
        })?;
        if panel.is_some_and(|panel| stock_of(panel, stock).is_none()) {
            let hint = "name stocks of the panel; an empty text keeps the rank of a guess that names none";
            return Err((format!("the panel has no stock {stock:?}"), hint));
        }
        *stock = match code.exchange {
            Some(exchange) => format!("{exchange}{}", code.digits),
            None if target.ends_with(code.digits) => target.to_owned(),
            None => code.digits.to_owned(),
        };
    }
    unknown_name(answer, panel).map_or(Ok(line), Err)
}

/// What an answer names that is no board, or no day and no sector of the panel where that is known, and how to fix it.
fn unknown_name(answer: &RecordedGuess, panel: Option<&Market>) -> Option<(String, &'static str)> {
    let is_board = |name: &String| Board::ALL.iter().any(|board| board_label(*board) == name);
    if let Some(board) = answer.board.as_ref().filter(|board| !is_board(board)) {
        let hint = "boards are MAIN, CHINEXT, STAR and BSE";
        return Some((format!("there is no board {board:?}"), hint));
    }
    let panel = panel?;
    let days = panel.calendar().len();
    if let Some(place) = answer.place.filter(|place| days <= *place) {
        let what = format!("its place {place}, counted from 0, is none of the panel's {days} trading days");
        let hint = "write the day's place among the trading days of the panel, from 0, or leave it out";
        return Some((what, hint));
    }
    let sector = answer.sector.as_ref();
    let unknown = sector.filter(|sector| !panel.sectors().contains(*sector))?;
    let hint =
        "write the sector as the panel names it, as the answers of the set's attackers do, or leave it out";
    Some((format!("the panel has no sector {unknown:?}"), hint))
}

/// The panel of a set, or why it is not there: whoever counts holds the probes and their key, and maybe no panel.
fn panel_of((keys, root): (&CertifyConfig, &Path), record: &SetRecord) -> Result<Arc<Market>, String> {
    let base = known_base(root).map_err(|error| error.to_string())?;
    let source = MarketSource::named(keys.panel.as_deref(), keys.synthetic, &base);
    let source = source.map_err(|error| error.to_string())?;
    let (found, wanted) = (&source.record.panel_blake3, &record.data.panel_blake3);
    if found != wanted {
        return Err(format!("the panel's hash is {found}, but the set is of {wanted}"));
    }
    Ok(source.market)
}

fn report(title: &str, (names, counts): (&[String], &CountedAnswers), all: CountedAttacks<'_>) -> Report {
    let told: Vec<String> = names.iter().map(|name| counts.told(name)).collect();
    Report {
        title: title.to_owned(),
        verdict: format!("{}. No certificate is of these answers.", told.join("; ")),
        sections: vec![
            Section::new("Answers of your own").table("own", counts.table(), Shown::Everywhere),
            all.add_to(Section::new("All attackers"), Shown::Page),
        ],
        ..Report::default()
    }
}
