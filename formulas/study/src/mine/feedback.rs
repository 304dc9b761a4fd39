//! What a search by a language model shows of what it has found: train figures alone.

use super::figures::TrainFormula;
use super::market::OpenMine;
use ktd_alphas::LabelKind;
use ktd_alphas::{FigureRow, ProposalFault, TrialBook, TrialFault};
use ktd_expressions::{CheckedFormula, FormulaFault, FormulaRole, check_formula};
use ktd_masking::{Count, Payload, Prompt, TrainFigures};
use ktd_prompts::{MinerRoundSlots, MinerRulesSlots, alpha_miner_question, alpha_miner_system};
use ktd_study::StudyError;
use std::collections::{BTreeMap, BTreeSet};

/// Best formulas that are shown.
const SHOWN_BEST: usize = 10;

/// Last formulas that are shown.
const SHOWN_LAST: usize = 8;

/// Why a proposed formula has no fitness.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ProposalEnd {
    /// It was not tried.
    NotTried(ProposalFault),
    /// It was tried, and left out.
    LeftOut(TrialFault),
}

impl ProposalEnd {
    /// The stable code.
    pub(super) fn code(self) -> &'static str {
        match self {
            Self::NotTried(fault) => fault.code(),
            Self::LeftOut(fault) => fault.code(),
        }
    }

    /// How to fix it, for a model: text of this program alone.
    const fn fix(self) -> &'static str {
        match self {
            Self::NotTried(ProposalFault::Formula(fault)) | Self::LeftOut(TrialFault::Refused(fault)) => {
                fix_of_formula(fault)
            }
            Self::NotTried(ProposalFault::Duplicate) => "it was tried before: propose another one",
            Self::NotTried(ProposalFault::BeyondAsked) => "propose no more than are asked for",
            Self::LeftOut(TrialFault::TooManyNodes) => "use fewer parts",
            Self::LeftOut(TrialFault::Sparse) => {
                "it is missing for most stocks: avoid logarithms and roots of what may be 0 or below"
            }
            Self::LeftOut(TrialFault::Constant) => "it is equal for all stocks on most days",
            Self::LeftOut(TrialFault::Undefined) => "it orders stocks on no day",
        }
    }
}

const fn fix_of_formula(fault: FormulaFault) -> &'static str {
    match fault {
        FormulaFault::LookAhead => "it reads a later day: use Ref and Delta with 1 row or more",
        FormulaFault::Syntax => "it is no formula: check its brackets and commas",
        FormulaFault::UnknownOperator => "use the operators of the list, by their own names",
        FormulaFault::UnknownField => "use the fields of the list",
        FormulaFault::Arity => "give each operator its own number of arguments",
        FormulaFault::Window => "a window is a whole number from 1 to 5000",
        FormulaFault::NotASeries => "an operator needs a field or a formula where it has a number",
        FormulaFault::BooleanArithmetic | FormulaFault::NotBoolean => {
            "conditions belong into If, And, Or and Not, and values do not"
        }
        FormulaFault::NamesACode => "no formula may name an instrument",
        FormulaFault::TooLong | FormulaFault::TooDeep | FormulaFault::TooLarge => "use fewer parts",
        FormulaFault::Number => "a number is out of range",
        FormulaFault::Unsupported
        | FormulaFault::KeywordArgument
        | FormulaFault::ChainedComparison
        | FormulaFault::PythonLogic
        | FormulaFault::PythonOperator => "use the operators of the list and nothing else of Python",
    }
}

/// One proposal of an earlier round.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct PastProposal {
    /// The round, from 1.
    pub(super) round: usize,
    /// Its place in the answer, from 1.
    pub(super) place: usize,
    /// Its canonical form, where it is a formula.
    pub(super) form: Option<String>,
    pub(super) end: Result<(), ProposalEnd>,
}

/// The message that stands before all rounds of a search.
pub(super) fn system(open: &OpenMine) -> Prompt {
    let label = match open.mine.label {
        LabelKind::NextOpen => "from the next day's open to the open of the day after",
        LabelKind::Close => "from the day's close to the close of the next day",
    };
    let slots = MinerRulesSlots {
        label: Payload::label(label),
        max_nodes: Count::of(open.mine.filter.max_nodes).into(),
    };
    let fields = &open.train.data.panel.fields;
    alpha_miner_system(&slots, |field| fields.iter().any(|known| known == field))
}

/// The question of a round: what was found so far.
pub(super) fn question(
    open: &OpenMine,
    (round, rounds, asked): (usize, usize, usize),
    book: &TrialBook,
    past: &[PastProposal],
) -> Result<Prompt, StudyError> {
    let last = past.get(past.len().saturating_sub(SHOWN_LAST)..).unwrap_or(past);
    let shown = ShownFormulas::of(open, book, last)?;
    let best = book.hall_of_fame(SHOWN_BEST);
    let best = best.iter().filter_map(|trial| shown.row(&trial.form, Vec::new()));
    let last = last.iter().filter_map(|proposal| shown.proposal(proposal));
    Ok(alpha_miner_question(&MinerRoundSlots {
        round: Count::of(round).into(),
        rounds: Count::of(rounds).into(),
        tried: Count::of(book.evaluated()).into(),
        best: Payload::list(best),
        last: Payload::list(last),
        asked: Count::of(asked).into(),
    }))
}

/// Formulas with their train figures.
struct ShownFormulas(BTreeMap<String, (CheckedFormula, FigureRow)>);

impl ShownFormulas {
    /// The best, and those of the last that have a fitness.
    fn of(open: &OpenMine, book: &TrialBook, last: &[PastProposal]) -> Result<Self, StudyError> {
        let mut forms: Vec<&str> = book
            .hall_of_fame(SHOWN_BEST)
            .into_iter()
            .map(|trial| trial.form.as_str())
            .collect();
        let known: BTreeSet<&str> = forms.iter().copied().collect();
        let last = last.iter().filter(|proposal| proposal.end.is_ok());
        let mut others: Vec<&str> = last.filter_map(|proposal| proposal.form.as_deref()).collect();
        others.retain(|form| !known.contains(form));
        let fitness = |form: &str| book.fitness(form).unwrap_or(f64::NEG_INFINITY);
        others.sort_by(|left, right| fitness(right).total_cmp(&fitness(left)));
        forms.extend(others);
        let fields = &open.train.data.panel.fields;
        let mut formulas = Vec::with_capacity(forms.len());
        for form in forms {
            let checked = check_formula(form, fields, FormulaRole::MaskedAlpha)
                .map_err(|error| StudyError::input(&error, &error.hint))?;
            let rank_ic = book.trial(form).and_then(|trial| trial.outcome.ok());
            let rank_ic = rank_ic.map_or(0.0, |score| score.rank_ic);
            formulas.push(TrainFormula { checked, rank_ic });
        }
        let rows = open.train_figures(&formulas)?;
        let shown = formulas.into_iter().zip(rows).map(|(formula, row)| {
            let form = formula.checked.canonical().to_owned();
            (form, (formula.checked, row))
        });
        Ok(Self(shown.collect()))
    }

    /// A formula with its figures, after the entries that are given.
    fn row(&self, form: &str, mut entries: Vec<(&'static str, Payload)>) -> Option<Payload> {
        let (checked, row) = self.0.get(form)?;
        entries.push(("formula", Payload::formula(checked.formula()).ok()?));
        entries.push(("parts", Count::of(checked.formula().nodes()).into()));
        entries.push((
            "train",
            TrainFigures {
                predictive_power: row.get("pps"),
                stability: row.get("rre"),
                robustness: row.get("pfs_n"),
                largest_correlation: row.get("correlation"),
            }
            .into(),
        ));
        Some(Payload::map(entries))
    }

    /// A proposal with its figures, or why it has none.
    fn proposal(&self, proposal: &PastProposal) -> Option<Payload> {
        let mut entries = vec![
            ("round", Count::of(proposal.round).into()),
            ("place", Count::of(proposal.place).into()),
        ];
        match proposal.end {
            Ok(()) => self.row(proposal.form.as_deref()?, entries),
            Err(end) => {
                entries.push(("refused", Payload::label(end.code())));
                entries.push(("fix", Payload::label(end.fix())));
                Some(Payload::map(entries))
            }
        }
    }
}
