//! What an attacker reads in an exhibit's text. Whatever is there is read, whether the mask should have shown it or not.

use crate::attacker_class::AttackerClass;
use crate::column::DayColumn;
use crate::kind::ProbeKind;
use crate::parsed_stock::{ParsedStock, board};
use crate::step_text::{MOST_DAYS, STATE, day_label};
use crate::table::{Row, Table};
use crate::unknown_content::{Subject, UnknownContent, number};
use ktd_env::factors::Factor;
use ktd_env::{Board, Ticker, TradeDate};
use ktd_masking::MaskSettings;
use ktd_tools::Tool;
use serde_json::Value;

/// Parsed exhibit of a probe.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParsedExhibit {
    /// The target's name as shown.
    pub(crate) target: String,
    /// Alias and real code of a stock that was given away.
    pub(crate) anchor: Option<(String, String)>,
    /// Aliases and real codes of the stocks that were given away besides it.
    pub(crate) others: Vec<(String, String)>,
    /// The as-of day of the last step, where it was given away.
    pub(crate) given_day: Option<TradeDate>,
    /// Oldest first.
    pub(crate) steps: Vec<ParsedStep>,
}

/// Parsed step of an exhibit.
#[derive(Debug, Clone, Default)]
pub(crate) struct ParsedStep {
    /// Trading days from the window's first to this one: its label where days are hidden, else the step's number.
    pub(crate) label: Option<i64>,
    /// The trading day itself, where it is shown.
    pub(crate) date: Option<TradeDate>,
    /// Trading days to the last step's as-of day; 0 for the last step, negative before.
    pub(crate) offset: i64,
    pub(crate) market: Vec<(DayColumn, f64)>,
    pub(crate) target: Option<ParsedStock>,
    pub(crate) anchor: Option<ParsedStock>,
    /// Of the stocks given away besides it: place among them, snapshot.
    pub(crate) others: Vec<(usize, ParsedStock)>,
    /// What comparisons say of each stock's first factor in bands.
    pub(crate) bands: Vec<(String, Factor, f64)>,
    /// Plans of the target while it is not held: weight asked for, weight after.
    pub(crate) plans: Vec<(f64, f64)>,
    /// Ids that a plan found unknown.
    pub(crate) unknown_ids: usize,
    /// Every name shown in lists, in the order shown, with its board.
    pub(crate) listed: Vec<(String, Option<Board>)>,
    pub(crate) account: Option<ParsedAccount>,
    /// What stands in it besides these shapes.
    pub(crate) unknown: UnknownContent,
}

/// Parsed account of a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ParsedAccount {
    /// In money, or in units of the cash where weights alone are shown.
    pub(crate) nav: f64,
    cash: f64,
    /// Of the target, where it is held.
    pub(crate) weight: Option<f64>,
    /// Holdings from whose weights cash is counted; `None` where money is shown.
    pub(crate) weighed: Option<usize>,
}

impl ParsedAccount {
    /// The share of NAV that is invested; `None` where it is little.
    pub(crate) fn invested(&self) -> Option<f64> {
        let invested = 1.0 - self.cash / self.nav;
        (0.2 < invested).then_some(invested)
    }
}

/// Less cash than this tells nothing of NAV: its share is counted from rounded weights.
const LEAST_CASH: f64 = 0.05;

impl ParsedExhibit {
    /// Reads an exhibit; `None` for a text that is none.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let exhibit: Value = serde_json::from_str(text).ok()?;
        let target = exhibit.get("target")?.as_str()?.to_owned();
        let revealed = |given: &Value| {
            let word = |key: &str| given.get(key)?.as_str().map(str::to_owned);
            Some((word("alias")?, word("code")?))
        };
        let anchor = exhibit.get("given_away").and_then(revealed);
        let others = exhibit.get("also_given_away").and_then(Value::as_array);
        let others: Vec<(String, String)> = others.into_iter().flatten().filter_map(revealed).collect();
        let given_day = exhibit.get("given_day").and_then(Value::as_str);
        // Of the target itself nothing may be given away.
        let anchor = anchor.filter(|(alias, _)| *alias != target);
        let ids = (target.as_str(), anchor.as_ref().map(|(alias, _)| alias.as_str()));
        let steps = exhibit.get("steps")?.as_array()?;
        let mut steps: Vec<ParsedStep> = steps.iter().map(|step| ParsedStep::read(step, ids)).collect();
        if let Some(last) = steps.last_mut() {
            last.unknown
                .extend(UnknownContent::outside_steps(&exhibit, &target));
        }
        for step in &mut steps {
            step.find_strangers(ids);
        }
        if !others.is_empty() {
            let read = exhibit
                .get("steps")
                .and_then(Value::as_array)
                .into_iter()
                .flatten();
            for (step, value) in steps.iter_mut().zip(read) {
                step.others = snapshots_of(value, &others);
            }
        }
        place(&mut steps);
        Some(Self {
            target,
            anchor,
            others,
            given_day: given_day.and_then(|day| TradeDate::parse(day).ok()),
            steps,
        })
    }

    /// Every stock given away, as alias and real code.
    pub(crate) fn known(&self) -> impl Iterator<Item = &(String, String)> {
        self.anchor.iter().chain(&self.others)
    }

    /// What is left of it of what an exhibit under this mask may say of who and when.
    pub(crate) fn under(mut self, mask: MaskSettings, kind: ProbeKind) -> Self {
        let may_give_away = AttackerClass::of_database(kind) == AttackerClass::DatabaseAndStocks;
        if mask.level.hides_stocks() && Ticker::parse(&self.target).is_ok() {
            self.target.clear();
        }
        self.anchor = self.anchor.filter(|_| may_give_away);
        self.others.retain(|_| may_give_away);
        self.given_day = self.given_day.filter(|_| kind == ProbeKind::AskedDated);
        for step in &mut self.steps {
            step.date = step.date.filter(|_| !mask.level.hides_days());
            if let Some(stock) = &mut step.target {
                stock.board = stock.board.filter(|_| mask.numeric.shows_boards());
            }
        }
        self
    }

    /// The target's board, which every mask shows.
    pub(crate) fn board(&self) -> Option<Board> {
        let shown = |step: &ParsedStep| step.target.as_ref().and_then(|stock| stock.board);
        self.steps.iter().find_map(shown)
    }
}

/// Gives each step its distance from the last one: by labels where they are shown, else one step a day.
fn place(steps: &mut [ParsedStep]) {
    let last = steps.last().and_then(|step| step.label);
    let count = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    for (place, step) in (1..).zip(steps.iter_mut()) {
        step.offset = match (step.label, last) {
            (Some(label), Some(last)) => label - last,
            _ => place - count,
        };
    }
}

impl ParsedStep {
    fn read(step: &Value, (target, anchor): (&str, Option<&str>)) -> Self {
        let mut parsed = Self {
            unknown: UnknownContent::in_step(step, target),
            ..Self::default()
        };
        for message in step.as_array().into_iter().flatten() {
            let source = message.get("source").and_then(Value::as_str).unwrap_or_default();
            let Some(content) = message.get("content") else {
                continue;
            };
            match Tool::from_name(source) {
                Some(Tool::GetMarketContext) => parsed.read_context(content),
                Some(Tool::ScreenCandidates) => parsed.read_screen(content),
                Some(Tool::GetStockSnapshot) => {
                    let id = content.get("stock_id").and_then(Value::as_str);
                    if id == Some(target) {
                        parsed.target = Some(ParsedStock::read(content));
                    } else if id.is_some() && id == anchor {
                        parsed.anchor = Some(ParsedStock::read(content));
                    }
                    parsed
                        .listed
                        .extend(id.map(|id| (id.to_owned(), board(content.get("board")))));
                }
                Some(Tool::CompareCandidates) => parsed.read_comparison(content),
                Some(Tool::RiskCheck) => parsed.read_plan(content, target),
                None if source == STATE => parsed.read_state(content, target),
                // No set of probes has it: certificates are not about episodes with it.
                Some(Tool::PortfolioState | Tool::ScreenByExpression) | None => {}
            }
        }
        parsed
    }

    /// Gives the numbers that no shape explains to the stocks that they could be of.
    fn find_strangers(&mut self, (target, anchor): (&str, Option<&str>)) {
        if let Some(stock) = &mut self.target {
            stock.strangers = self.unknown.numbers_of(&[Subject::Target, Subject::Nobody]);
        }
        let anchor = anchor.and_then(|alias| number(target, alias));
        if let (Some(stock), Some(number)) = (&mut self.anchor, anchor) {
            stock.strangers = self.unknown.numbers_of(&[Subject::Other(number)]);
        }
    }

    fn read_context(&mut self, content: &Value) {
        let day = content.get("day").and_then(Value::as_str).unwrap_or_default();
        let step = content.get("step").and_then(Value::as_i64);
        let counted = step
            .filter(|step| (1..=MOST_DAYS).contains(step))
            .map(|step| step - 1);
        // Where the date is shown, the number of the step still counts the trading days.
        self.label = day_label(day).or(counted);
        self.date = TradeDate::parse(day).ok();
        self.market = market(content);
    }

    fn read_screen(&mut self, content: &Value) {
        let Some(table) = content.get("candidates").and_then(Table::read) else {
            return;
        };
        for row in table.rows() {
            if let Some(id) = row.get("stock_id").and_then(Value::as_str) {
                self.listed.push((id.to_owned(), board(row.get("board"))));
            }
        }
    }

    fn read_comparison(&mut self, content: &Value) {
        let Some(table) = Table::read(content) else {
            return;
        };
        for row in table.rows() {
            let Some(id) = row.get("stock_id").and_then(Value::as_str) else {
                continue;
            };
            self.listed.push((id.to_owned(), board(row.get("board"))));
            let band = Factor::ALL.into_iter().find_map(|factor| {
                let shown = row.get(&format!("{}_band", factor.name()))?.as_f64()?;
                Some((factor, shown))
            });
            self.bands
                .extend(band.map(|(factor, shown)| (id.to_owned(), factor, shown)));
        }
    }

    fn read_plan(&mut self, content: &Value, target: &str) {
        let count = |key: &str| content.get(key).and_then(Value::as_u64).unwrap_or(0);
        let faults = content
            .get("errors")
            .and_then(Value::as_array)
            .map_or(0, Vec::len);
        let more = usize::try_from(count("more_errors")).unwrap_or(0);
        self.unknown_ids += faults + more;
        let Some(table) = content.get("plan").and_then(Table::read) else {
            return;
        };
        // Other names of a plan take fees from the same account.
        let mut rows = table.rows().filter(|_| table.len() == 1);
        let Some(row) = rows.find(|row| row.get("stock_id").and_then(Value::as_str) == Some(target)) else {
            return;
        };
        let weight = |column: &str| row.get(column).and_then(Value::as_f64);
        let is_new = weight("weight_now").is_none_or(|held| held <= 0.0);
        let is_accepted = row.get("result").and_then(Value::as_str) == Some("accepted");
        self.plans.extend(
            weight("target_weight")
                .zip(weight("weight_after"))
                .filter(|_| is_new && is_accepted),
        );
    }

    fn read_state(&mut self, content: &Value, target: &str) {
        let Some(account) = content.get("account") else {
            return;
        };
        let number = |key: &str| account.get(key).and_then(Value::as_f64);
        let weight_of = |row: &Row<'_>| row.get("weight").and_then(Value::as_f64);
        let holdings = account.get("holdings").and_then(Table::read);
        let weights: Vec<(bool, f64)> = holdings
            .iter()
            .flat_map(Table::rows)
            .filter_map(|row| {
                let is_target = row.get("stock_id").and_then(Value::as_str) == Some(target);
                Some((is_target, weight_of(&row)?))
            })
            .collect();
        let own = weights.iter().find(|(is_target, _)| *is_target);
        let weight = own.map(|(_, weight)| *weight).filter(|weight| 0.0 < *weight);
        let money = number("nav").zip(number("cash"));
        let parsed = |(nav, cash), weighed| ParsedAccount {
            nav,
            cash,
            weight,
            weighed,
        };
        // While nothing is traded cash stays as it is, and its share tells the path of NAV.
        let left = 1.0 - weights.iter().map(|(_, weight)| weight).sum::<f64>();
        self.account = match money {
            Some(money) => Some(parsed(money, None)),
            None => (LEAST_CASH < left).then(|| parsed((1.0 / left, 1.0), Some(weights.len()))),
        }
        .filter(|account| 0.0 < account.nav);
    }
}

/// Snapshots in a step of the stocks that are known besides the first: place among them, snapshot.
fn snapshots_of(step: &Value, known: &[(String, String)]) -> Vec<(usize, ParsedStock)> {
    let messages = step.as_array().into_iter().flatten();
    let snapshot = |message: &Value| {
        let source = message.get("source").and_then(Value::as_str)?;
        let content = message.get("content")?;
        let id = content.get("stock_id").and_then(Value::as_str)?;
        let place = known.iter().position(|(alias, _)| alias == id)?;
        (Tool::from_name(source) == Some(Tool::GetStockSnapshot)).then(|| (place, ParsedStock::read(content)))
    };
    messages.filter_map(snapshot).collect()
}

/// What a market context says, number by number.
pub(crate) fn market(content: &Value) -> Vec<(DayColumn, f64)> {
    let mut read = Vec::new();
    let number = |group: &str, key: &str| content.get(group)?.get(key)?.as_f64();
    let plain = [
        ("index", "level", DayColumn::IndexLevel),
        ("index", "return_1d", DayColumn::IndexReturn1d),
        ("index", "return_5d", DayColumn::IndexReturn5d),
        ("index", "return_20d", DayColumn::IndexReturn20d),
        ("index", "return_60d", DayColumn::IndexReturn60d),
        ("index", "volatility_20d", DayColumn::IndexVolatility),
        ("index", "drawdown_60d", DayColumn::IndexDrawdown),
        ("breadth", "members", DayColumn::Members),
        ("breadth", "advancers", DayColumn::Advancers),
        ("breadth", "decliners", DayColumn::Decliners),
        ("breadth", "unchanged", DayColumn::Unchanged),
        ("breadth", "at_limit_up", DayColumn::AtLimitUp),
        ("breadth", "at_limit_down", DayColumn::AtLimitDown),
        ("breadth", "suspended", DayColumn::Suspended),
    ];
    read.extend(
        plain
            .into_iter()
            .filter_map(|(group, key, column)| Some((column, number(group, key)?))),
    );
    read.extend(
        content
            .get("dispersion")
            .and_then(Value::as_f64)
            .map(|value| (DayColumn::Dispersion, value)),
    );
    let Some(table) = content.get("boards").and_then(Table::read) else {
        return read;
    };
    for row in table.rows() {
        let Some(place) =
            board(row.get("board")).and_then(|board| Board::ALL.iter().position(|of| *of == board))
        else {
            continue;
        };
        let cells = [
            ("members", DayColumn::BoardMembers(place)),
            ("return_1d", DayColumn::BoardReturn1d(place)),
            ("return_20d", DayColumn::BoardReturn20d(place)),
            ("share_up", DayColumn::BoardShareUp(place)),
            ("return_1d_rank", DayColumn::BoardRank1d(place)),
            ("return_20d_rank", DayColumn::BoardRank20d(place)),
        ];
        read.extend(
            cells
                .into_iter()
                .filter_map(|(key, column)| Some((column, row.get(key)?.as_f64()?))),
        );
    }
    read
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::parsed_stock::Form;
    use ktd_env::factors::Technical;
    use serde_json::json;

    fn read(exhibit: &Value) -> ParsedExhibit {
        ParsedExhibit::read(&exhibit.to_string()).unwrap()
    }

    fn exhibit(steps: &Value) -> Value {
        json!({"target": "asset_0007", "given_away": null, "steps": steps})
    }

    fn snapshot(content: &Value) -> ParsedStock {
        let mut content = content.clone();
        content["stock_id"] = json!("asset_0007");
        let step = json!([{"source": "get_stock_snapshot", "content": content}]);
        read(&exhibit(&json!([step]))).steps[0].target.clone().unwrap()
    }

    #[test]
    fn a_foreign_text_is_none() {
        for text in [
            "",
            "no json",
            "[]",
            "7",
            r#"{"steps":[]}"#,
            r#"{"target":7,"steps":[]}"#,
            r#"{"target":"asset_0001"}"#,
            r#"{"target":"asset_0001","steps":{}}"#,
            r#"{"target":"asset_0001","steps":[]"#,
        ] {
            assert!(ParsedExhibit::read(text).is_none(), "{text}");
        }
    }

    #[test]
    fn what_has_another_shape_is_passed_over() {
        let steps = json!([
            7,
            [7, {"source": "get_market_context"}, {"content": {}}],
            [{"source": "get_market_context", "content": []}],
            [{"source": "screen_candidates", "content": {"candidates": {"columns": ["stock_id"]}}}],
            [{"source": "state", "content": {"account": {"nav": 0, "cash": 0}}}],
        ]);
        let parsed = read(&exhibit(&steps));
        assert_eq!(parsed.steps.len(), 5);
        for step in &parsed.steps {
            assert!(step.market.is_empty() && step.listed.is_empty() && step.account.is_none());
        }
        assert_eq!(parsed.board(), None);
    }

    #[test]
    fn bars_are_read_by_column_whatever_their_order() {
        let table =
            json!({"columns": ["close", "volume", "days_ago"], "rows": [[10.5, 3, 2], [11, null, 0]]});
        let bars = snapshot(&json!({"bars": table})).bars;
        let read: Vec<_> = bars
            .iter()
            .map(|bar| (bar.days_ago, bar.close, bar.volume))
            .collect();
        assert_eq!(read, [(2, Some(10.5), Some(3.0)), (0, Some(11.0), None)]);
        assert!(bars.iter().all(|bar| bar.open.is_none() && bar.high.is_none()));
    }

    #[test]
    fn bars_without_days_are_counted_and_absurd_ones_too() {
        for days_ago in [json!(null), json!(-3), json!(i64::MAX), json!(1e300)] {
            let rows = json!([[1, days_ago], [2, days_ago], [3, days_ago]]);
            let table = json!({"columns": ["close", "days_ago"], "rows": rows});
            let bars = snapshot(&json!({"bars": table})).bars;
            let days: Vec<i64> = bars.iter().map(|bar| bar.days_ago).collect();
            assert_eq!(days, [2, 1, 0], "{days_ago}");
        }
    }

    #[test]
    fn factors_and_technicals_are_read_in_their_forms() {
        let stock = snapshot(&json!({
            "board": "STAR",
            "flags": ["suspended", 7],
            "previous_close": 12.5,
            "next_open_limits": {"up": 13.75, "down": 11.25},
            "factors": {"columns": ["value", Factor::Rv60.name(), Factor::Skew.name()],
                        "rows": [["raw", 0.25, null], ["pct", 70, 30], ["odd", 1, 2]]},
            "technicals": {Technical::Rsi14.name(): 55.0, "return_5d_pct": 80, "unknown": 1},
            "price": 42.42,
        }));
        assert_eq!(
            (stock.board, stock.flags.as_slice()),
            (Some(Board::Star), ["suspended".to_owned()].as_slice())
        );
        assert_eq!((stock.previous_close, stock.limit_up), (Some(12.5), Some(13.75)));
        assert_eq!(
            stock.factors,
            [
                (Form::Raw, Factor::Rv60, 0.25),
                (Form::Percentile, Factor::Rv60, 70.0),
                (Form::Percentile, Factor::Skew, 30.0),
            ]
        );
        let mut technicals = stock.technicals;
        technicals.sort_by_key(|(_, technical, _)| technical.index());
        assert_eq!(technicals.len(), 2);
        assert!(technicals.contains(&(Form::Percentile, Technical::Return5d, 80.0)));
        assert!(technicals.contains(&(Form::Raw, Technical::Rsi14, 55.0)));
        assert_eq!(stock.strangers, [42.42, 1.0]);
    }

    #[test]
    fn lists_give_names_with_their_boards() {
        let table =
            json!({"columns": ["board", "stock_id"], "rows": [["MAIN", "asset_0002"], ["X", "asset_0003"]]});
        let steps = json!([[{"source": "screen_candidates", "content": {"candidates": table}}]]);
        assert_eq!(
            read(&exhibit(&steps)).steps[0].listed,
            [
                ("asset_0002".to_owned(), Some(Board::Main)),
                ("asset_0003".to_owned(), None)
            ]
        );
    }

    #[test]
    fn a_stock_given_away_is_told_from_the_target() {
        let shown = |id: &str, board: &str| json!({"source": "get_stock_snapshot", "content": {"stock_id": id, "board": board}});
        let steps = json!([[
            shown("asset_0007", "MAIN"),
            shown("asset_0002", "STAR"),
            shown("asset_0003", "CHINEXT")
        ]]);
        let mut text = exhibit(&steps);
        text["given_away"] = json!({"alias": "asset_0002", "code": "SH689999"});
        let parsed = read(&text);
        assert_eq!(
            parsed.anchor,
            Some(("asset_0002".to_owned(), "SH689999".to_owned()))
        );
        let anchor = parsed.steps[0].anchor.as_ref().and_then(|stock| stock.board);
        assert_eq!((parsed.board(), anchor), (Some(Board::Main), Some(Board::Star)));
    }

    #[test]
    fn steps_lie_where_their_labels_say() {
        let step = |day: &str| json!([{"source": "get_market_context", "content": {"day": day}}]);
        let offsets = |days: &[&str]| -> Vec<i64> {
            let steps: Vec<Value> = days.iter().map(|day| step(day)).collect();
            let parsed = read(&exhibit(&json!(steps)));
            parsed.steps.iter().map(|step| step.offset).collect()
        };
        assert_eq!(offsets(&["day_-1", "day_+0", "day_+4"]), [-5, -4, 0]);
        assert_eq!(offsets(&["2024-03-01", "2024-03-08"]), [-1, 0]);
        assert_eq!(
            offsets(&["day_-9223372036854775808", "day_+9223372036854775807"]),
            [-1, 0]
        );
        let parsed = read(&exhibit(&json!([step("2024-03-01")])));
        assert_eq!(parsed.steps[0].date, TradeDate::parse("2024-03-01").ok());
    }

    #[test]
    fn the_account_tells_of_the_target_alone() {
        let state = |rows: Value| {
            let holdings = json!({"columns": ["stock_id", "weight"], "rows": rows});
            let account = json!({"nav": 100.0, "cash": 40.0, "holdings": holdings});
            let steps = json!([[{"source": "state", "content": {"account": account}}]]);
            read(&exhibit(&steps)).steps[0].account.unwrap()
        };
        let held = state(json!([["asset_0001", 0.5], ["asset_0007", 0.1]]));
        assert_eq!((held.weight, held.nav), (Some(0.1), 100.0));
        assert!((held.invested().unwrap() - 0.6).abs() < 1e-12);
        assert_eq!(state(json!([["asset_0001", 0.5]])).weight, None);
        assert_eq!(state(json!([["asset_0007", 0.0]])).weight, None);
    }

    #[test]
    fn without_money_cash_is_what_the_weights_leave() {
        let state = |rows: Value| {
            let holdings = json!({"columns": ["stock_id", "weight"], "rows": rows});
            let account = json!({"nav": null, "cash": null, "holdings": holdings});
            read(&exhibit(
                &json!([[{"source": "state", "content": {"account": account}}]]),
            ))
            .steps[0]
                .account
        };
        let held = state(json!([["asset_0001", 0.5], ["asset_0007", 0.1]])).unwrap();
        assert_eq!((held.weight, held.weighed), (Some(0.1), Some(2)));
        assert!((held.invested().unwrap() - 0.6).abs() < 1e-12 && (held.nav - 2.5).abs() < 1e-12);
        let grown = state(json!([["asset_0001", 0.6], ["asset_0007", 0.1]])).unwrap();
        assert!(
            (grown.nav / held.nav - 0.4 / 0.3).abs() < 1e-12,
            "cash has not moved"
        );
        assert!(
            state(json!([["asset_0001", 0.98]])).is_none(),
            "too little cash to tell"
        );
    }

    #[test]
    fn a_market_is_read_number_by_number() {
        let boards = json!({"columns": ["board", "return_1d", "share_up"],
                            "rows": [["STAR", 0.01, 0.5], ["NASDAQ", 1, 1], ["MAIN", null, 0.25]]});
        let read = market(&json!({
            "index": {"level": 3000.5, "return_1d": null},
            "breadth": {"advancers": 12},
            "dispersion": 0.02,
            "boards": boards,
        }));
        assert_eq!(
            read,
            [
                (DayColumn::IndexLevel, 3000.5),
                (DayColumn::Advancers, 12.0),
                (DayColumn::Dispersion, 0.02),
                (DayColumn::BoardReturn1d(2), 0.01),
                (DayColumn::BoardShareUp(2), 0.5),
                (DayColumn::BoardShareUp(0), 0.25),
            ]
        );
    }
}
