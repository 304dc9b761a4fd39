//! A file of the user's own: weights or trades, as a paper account.

use super::replayed_account::{AccountFault, AccountOrders, AccountTrade, FeeRates, ReplayedAccount};
use crate::BoardError;
use ktd_attribution::account::DayBook;
use ktd_env::{DayIndex, Market, NameId, Ticker, TradeDate};
use ktd_io::text_file::open_text;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;

/// Content of a file, by its header line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CellForm {
    /// `date,symbol,weight`: held from the open of the date; each date with rows lists all that is held.
    Weights,
    /// `date,symbol,shares,price` and perhaps `fee`: signed shares.
    Trades,
}

/// How the account of a file begins and pays.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnAccount {
    /// Cash before the first day, CNY.
    pub cash_cny: f64,
    /// Fees where the file does not tell them.
    pub fees: FeeRates,
    /// Last day, where it is not the file's last.
    pub until: Option<TradeDate>,
}

/// The days of a file's account.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnDays {
    /// Trading days, from the file's first date on.
    pub days: Vec<DayIndex>,
    /// The account, day by day.
    pub books: Vec<DayBook>,
}

/// A row, with its 1-based line.
#[derive(Debug, Clone, Copy)]
struct Row {
    line: u64,
    name: NameId,
    amount: f64,
    price_cny: Option<f64>,
    fee_cny: Option<f64>,
}

/// Reads a file of weights or trades and plays it.
///
/// # Errors
/// [`BoardError`] naming the line of a name, date or number that cannot be.
pub fn play_file(path: &Path, market: &Market, account: OwnAccount) -> Result<OwnDays, BoardError> {
    let text = open_text(path)?;
    let (form, rows) = read_rows(text, path, market)?;
    let (Some(first), Some(last)) = (rows.keys().next().copied(), rows.keys().last().copied()) else {
        return Err(BoardError::input(
            format!("{} has no rows", path.display()),
            "write one row a date and name below the header line",
        ));
    };
    let last = match account.until {
        None => last,
        Some(date) => last_day(market, date, last)?,
    };
    let mut paper = ReplayedAccount::new(account.cash_cny, account.fees);
    let mut own = OwnDays {
        days: Vec::new(),
        books: Vec::new(),
    };
    for place in first.index()..=last.index() {
        let Some(day) = market.day_at(place) else { break };
        let rows = rows.get(&day).map_or(&[][..], Vec::as_slice);
        let orders = orders(form, rows);
        let book = paper
            .step(market, day, &orders)
            .map_err(|fault| refused(path, market, day, rows, &fault))?;
        own.days.push(day);
        own.books.push(book);
    }
    Ok(own)
}

fn last_day(market: &Market, until: TradeDate, last: DayIndex) -> Result<DayIndex, BoardError> {
    let days = market.calendar().partition_point(|date| *date <= until);
    let day = days.checked_sub(1).and_then(|place| market.day_at(place));
    day.filter(|day| last <= *day).ok_or_else(|| {
        let what = format!("`--until {}` is before the file's last date", until.reveal());
        BoardError::input(what, "leave it out, or name a later date")
    })
}

fn orders(form: CellForm, rows: &[Row]) -> AccountOrders {
    if rows.is_empty() {
        return AccountOrders::Hold;
    }
    match form {
        CellForm::Weights => AccountOrders::Weights(rows.iter().map(|row| (row.name, row.amount)).collect()),
        CellForm::Trades => {
            let trades = rows.iter().map(|row| AccountTrade {
                name: row.name,
                shares: row.amount,
                price_cny: row.price_cny,
                fee_cny: row.fee_cny,
            });
            AccountOrders::Trades(trades.collect())
        }
    }
}

fn refused(path: &Path, market: &Market, day: DayIndex, rows: &[Row], fault: &AccountFault) -> BoardError {
    let date = market.date(day).map(TradeDate::reveal).unwrap_or_default();
    let at = |name: &NameId| {
        let code = market.name(*name).map_or("", |info| info.ticker.reveal());
        let line = rows.iter().find(|row| row.name == *name);
        let line = line.map_or_else(String::new, |row| format!(" line {}", row.line));
        format!("{}{line} ({date} {code}): {fault}", path.display())
    };
    match fault {
        AccountFault::NoTrade(name) => BoardError::input(at(name), "trade it on a day on which it trades"),
        AccountFault::Short { name, .. } => {
            BoardError::input(at(name), "short positions are not attributed: sell what is held")
        }
        AccountFault::Kept { name, .. } => BoardError::input(
            at(name),
            "give it at least that weight on this date, and the other names what is left",
        ),
        AccountFault::Cash(_) => BoardError::input(
            format!("{} on {date}: {fault}", path.display()),
            "give more --cash, or trade less",
        ),
        AccountFault::Ruined(_) => BoardError::input(
            format!("{} on {date}: {fault}", path.display()),
            "an account without value has no returns: give more --cash, or end with --until before that day",
        ),
    }
}

type RowsByDay = BTreeMap<DayIndex, Vec<Row>>;

fn read_rows(text: impl Read, path: &Path, market: &Market) -> Result<(CellForm, RowsByDay), BoardError> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(text);
    let unreadable = |error: &csv::Error| {
        BoardError::input(
            format!("{}: {error}", path.display()),
            "write a CSV file with a header line, as `ktd attribute --help` shows",
        )
    };
    let header = reader.headers().map_err(|error| unreadable(&error))?;
    let columns: Vec<&str> = header.iter().collect();
    let form = match columns.as_slice() {
        ["date", "symbol", "weight"] => CellForm::Weights,
        ["date", "symbol", "shares", "price"] | ["date", "symbol", "shares", "price", "fee"] => {
            CellForm::Trades
        }
        other => {
            let what = format!("{}: its columns are {:?}", path.display(), other.join(","));
            let hint = "name them date,symbol,weight or date,symbol,shares,price[,fee]";
            return Err(BoardError::input(what, hint));
        }
    };
    let mut rows = RowsByDay::new();
    for record in reader.records() {
        let record = record.map_err(|error| unreadable(&error))?;
        let line = record.position().map_or(0, csv::Position::line);
        let (day, row) = read_row(&record, line, form, market).map_err(|(what, hint)| {
            BoardError::input(format!("{} line {line}: {what}", path.display()), hint)
        })?;
        rows.entry(day).or_default().push(row);
    }
    if form == CellForm::Weights {
        rows.iter().try_for_each(|(_, rows)| check_weights(rows, path))?;
    }
    Ok((form, rows))
}

type Fault = (String, &'static str);

fn read_row(
    record: &csv::StringRecord,
    line: u64,
    form: CellForm,
    market: &Market,
) -> Result<(DayIndex, Row), Fault> {
    let cell = |place: usize| record.get(place).unwrap_or_default();
    let date = TradeDate::parse(cell(0)).map_err(|error| (error.to_string(), "write dates as 2024-04-01"))?;
    let day = market
        .day(date)
        .filter(|day| day.before().is_some())
        .ok_or_else(|| {
            let what = format!("{} is no trading day of the panel with a day before it", cell(0));
            (what, "see `ktd data check PANEL` for the days it has")
        })?;
    let name = Ticker::parse(cell(1))
        .ok()
        .and_then(|ticker| market.find(ticker))
        .ok_or_else(|| {
            let what = format!("the panel has no name {:?}", cell(1));
            (
                what,
                "write codes as SH600519; use the panel that the portfolio was held on",
            )
        })?;
    let number = |place: usize, what: &str| -> Result<f64, Fault> {
        let value: Option<f64> = cell(place).parse().ok().filter(|value: &f64| value.is_finite());
        value.ok_or_else(|| {
            (
                format!("{what} is {:?}, no number", cell(place)),
                "write it as 0.05",
            )
        })
    };
    let optional = |place: usize, what: &str, is_good: fn(f64) -> bool| -> Result<Option<f64>, Fault> {
        if cell(place).is_empty() {
            return Ok(None);
        }
        let value = number(place, what)?;
        if is_good(value) {
            return Ok(Some(value));
        }
        let hint = "prices are above 0, fees 0 or more; an empty price is the open, an empty fee is by rate";
        Err((format!("{what} is {value}"), hint))
    };
    let (price_cny, fee_cny) = match form {
        CellForm::Weights => (None, None),
        CellForm::Trades => (
            optional(3, "price", |price| 0.0 < price)?,
            optional(4, "fee", |fee| 0.0 <= fee)?,
        ),
    };
    let row = Row {
        line,
        name,
        amount: number(
            2,
            if form == CellForm::Weights {
                "weight"
            } else {
                "shares"
            },
        )?,
        price_cny,
        fee_cny,
    };
    Ok((day, row))
}

/// Weights of a date: none twice, none negative, together at most 1.
fn check_weights(rows: &[Row], path: &Path) -> Result<(), BoardError> {
    const ROUNDING: f64 = 1e-9;
    let mut sum = 0.0;
    let mut names = std::collections::BTreeSet::new();
    for row in rows {
        sum += row.amount;
        let what = if row.amount < 0.0 {
            format!("the weight {} is below 0", row.amount)
        } else if !names.insert(row.name) {
            "the name has a weight on this date already".to_owned()
        } else if 1.0 + ROUNDING < sum {
            format!("the weights of this date add up to {sum}, more than 1")
        } else {
            continue;
        };
        return Err(BoardError::input(
            format!("{} line {}: {what}", path.display(), row.line),
            "weights are shares of the net asset value: 0 or more, together at most 1; the rest is cash",
        ));
    }
    Ok(())
}
