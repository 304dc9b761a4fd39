//! Recorded requests against the header's mask: whoever relabels a bundle leaves prompts that another mask made.
//!
//! Neither a key nor the panel is needed: the text that explains a mask is compiled in, and each rung of numbers has keys
//! and columns that it never shows. The model's own words are not looked at.

use crate::conversation::conversation;
use crate::header::Header;
use ktd_env::{Ticker, TradeDate};
use ktd_experiment::branch::numeric_at;
use ktd_masking::{FactorScale, Level, MaskSettings, Mode, Numeric};
use ktd_record::RecordError;
use ktd_record::exchanges::{ExchangeRecord, Intent};
use ktd_record::json_parts::{each_member, values_in};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What stands in the prompts of an episode under the mask and the mode of its header.
#[derive(Debug)]
struct ExpectedPrompts {
    mask: MaskSettings,
    /// Whether a step has no research, so that its one message may open with what asks for the submission.
    is_one_message: bool,
    /// Opening of each step's message, and the same as JSON has it; none where another version wrote the prompts.
    opening: Option<(String, String)>,
    /// Texts of the system message, in order.
    system: Vec<&'static str>,
}

/// Whether the recorded prompts can be compared with the texts of this program: another version has other texts.
#[must_use]
pub fn are_of_this_program(header: &Header) -> bool {
    header.prompts_sha256 == ktd_prompts::hash()
}

/// A check of the requests of a store against the header's mask and mode, one after the other.
///
/// A step's last request repeats all that was shown before in the step, and is read whole; the others must hold the
/// opening. No more than one request is held.
#[derive(Debug)]
pub struct PromptCheck<'h> {
    header: &'h Header,
    path: PathBuf,
    by_numeric: BTreeMap<Numeric, ExpectedPrompts>,
    /// The last request so far of the step that is being read.
    last: Option<Intent>,
}

impl<'h> PromptCheck<'h> {
    /// A check of the store at `path`.
    #[must_use]
    pub fn new(header: &'h Header, path: &Path) -> Self {
        Self {
            header,
            path: path.to_owned(),
            by_numeric: BTreeMap::new(),
            last: None,
        }
    }

    /// Checks the next record.
    ///
    /// # Errors
    /// [`RecordError::File`] naming a request that shows something else.
    pub fn check(&mut self, exchange: ExchangeRecord<'_>) -> Result<(), RecordError> {
        let ExchangeRecord::Intent { intent, .. } = exchange else {
            return Ok(());
        };
        let before = self.last.replace(intent.clone());
        let Some(before) = before else {
            return Ok(());
        };
        let goes_on = before.at.step == intent.at.step && before.at <= intent.at;
        if goes_on && self.expected(&before).has_opening(&before.request) {
            return Ok(());
        }
        self.check_whole(&before)
    }

    /// Checks what is left at the end of the store.
    ///
    /// # Errors
    /// As [`Self::check`].
    pub fn end(mut self) -> Result<(), RecordError> {
        self.last.take().map_or(Ok(()), |last| self.check_whole(&last))
    }

    fn check_whole(&mut self, intent: &Intent) -> Result<(), RecordError> {
        let numeric = self.numeric_of(intent);
        let fault = self.expected(intent).fault(&intent.request);
        fault.map_or(Ok(()), |fault| {
            let (level, numeric) = (self.header.mask.level_label(), numeric.label());
            let what = format!(
                "{}: {fault}, but header.json says that the mask is {level}/{numeric} and the mode {}",
                intent.at,
                self.header.mode.label()
            );
            Err(RecordError::damaged(&self.path, what))
        })
    }

    fn numeric_of(&self, intent: &Intent) -> Numeric {
        let header = self.header;
        numeric_at(header.branch.as_ref(), header.mask.numeric, intent.at.step)
    }

    fn expected(&mut self, intent: &Intent) -> &ExpectedPrompts {
        let (header, numeric) = (self.header, self.numeric_of(intent));
        let expected = self.by_numeric.entry(numeric);
        expected.or_insert_with(|| ExpectedPrompts::of(header, numeric))
    }
}

impl ExpectedPrompts {
    fn of(header: &Header, numeric: Numeric) -> Self {
        let mut arm = header.mask.arm();
        arm.settings.numeric = numeric;
        let is_known = are_of_this_program(header);
        let opening = is_known.then(|| {
            let plain = ktd_prompts::step_opening(arm.explained());
            let quoted = Value::from(plain.as_str()).to_string();
            let in_json = quoted.trim_matches('"').to_owned();
            (plain, in_json)
        });
        let system = if is_known {
            ktd_prompts::system_texts(header.mode)
        } else {
            Vec::new()
        };
        Self {
            mask: arm.settings,
            is_one_message: header.mode != Mode::OpenResearch,
            opening,
            system,
        }
    }

    /// Whether the bytes of a request hold the opening; `true` where it is not known.
    fn has_opening(&self, request: &str) -> bool {
        self.opening
            .as_ref()
            .is_none_or(|(_, in_json)| request.contains(in_json.as_str()))
    }

    /// What a request shows that it cannot under this mask; none where it fits.
    fn fault(&self, request: &str) -> Option<String> {
        let Ok(request) = serde_json::from_str::<Value>(request) else {
            return Some("the request is not JSON".to_owned());
        };
        let said = conversation(&request);
        let of = |wanted: &'static str| said.iter().filter(move |(role, _)| role == wanted);
        let system: String = of("system").map(|(_, text)| text.as_str()).collect();
        if !has_in_order(&system, &self.system) {
            return Some("its system message is another mode's".to_owned());
        }
        let first = of("user")
            .map(|(_, text)| text.as_str())
            .next()
            .unwrap_or_default();
        let first = if self.is_one_message {
            ktd_prompts::without_force(first)
        } else {
            first
        };
        if let Some((opening, _)) = &self.opening
            && !first.starts_with(opening.as_str())
        {
            return Some("its message opens with the text of another mask".to_owned());
        }
        let is_own_words = |role: &str| matches!(role, "system" | "assistant" | "model");
        said.iter()
            .filter(|(role, _)| !is_own_words(role))
            .flat_map(|(_, text)| values_in(text))
            .find_map(|value| self.shown_too_much(&value))
    }

    /// A key, a column or an identifier in JSON of the harness that this mask never shows.
    fn shown_too_much(&self, value: &Value) -> Option<String> {
        let mut fault = None;
        each_member(value, &mut |key, text| {
            let found = match text {
                None => is_hidden(self.mask.numeric, key).then(|| format!("it shows `{key}`")),
                Some(text) => identifier_fault(self.mask.level, text).map(|kind| format!("it shows {kind}")),
            };
            if fault.is_none() {
                fault = found;
            }
        });
        fault
    }
}

/// Whether the parts stand in a text one after the other.
fn has_in_order(text: &str, parts: &[&str]) -> bool {
    let mut rest = text;
    parts.iter().all(|part| match rest.split_once(part) {
        Some((_, after)) => {
            rest = after;
            true
        }
        None => false,
    })
}

/// Counts of shares, which `exact` alone shows.
const SHARES: [&str; 4] = ["shares", "shares_to_trade", "requested_shares", "filled_shares"];

/// Prices and volumes, which ranks and bands stand in place of.
const PRICES: [&str; 10] = [
    "bars",
    "open",
    "high",
    "low",
    "close",
    "volume",
    "price",
    "previous_close",
    "next_open_limits",
    "index",
];

/// What bands show no more, besides.
const BESIDES_BANDS: [&str; 14] = [
    "nav",
    "cash",
    "nav_return",
    "unrealised_return",
    "fees",
    "board",
    "boards",
    "sector",
    "sectors",
    "technicals",
    "breadth",
    "dispersion",
    "cost",
    "fee",
];

/// Whether a rung never shows a key or a column of this name.
#[must_use]
pub fn is_hidden(numeric: Numeric, key: &str) -> bool {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| key.ends_with(suffix));
    let is_of_shares = numeric != Numeric::Exact && SHARES.contains(&key);
    is_of_shares
        || match numeric.scale() {
            FactorScale::Values => ends(&["_pct", "_band"]),
            FactorScale::Percentiles => ends(&["_z", "_band"]) || PRICES.contains(&key),
            FactorScale::Bands => {
                ends(&["_z", "_pct", "_rank"]) || PRICES.contains(&key) || BESIDES_BANDS.contains(&key)
            }
        }
}

/// What kind of identifier a text is that a level never shows: a real one that is hidden, or an alias of one that is not.
#[must_use]
pub fn identifier_fault(level: Level, text: &str) -> Option<&'static str> {
    let is_alias = |prefix: &str| {
        let rest = text.strip_prefix(prefix);
        rest.is_some_and(|rest| !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let is_label = || ["day_+", "day_-"].into_iter().any(is_alias);
    let kinds = [
        (
            level.hides_stocks() && Ticker::parse(text).is_ok(),
            "an exchange code",
        ),
        (level.hides_days() && TradeDate::parse(text).is_ok(), "a date"),
        (!level.hides_stocks() && is_alias("asset_"), "an alias of a stock"),
        (!level.hides_days() && is_label(), "a label of a day"),
    ];
    kinds.into_iter().find(|(is_so, _)| *is_so).map(|(_, kind)| kind)
}
