//! Minute bars of a file, resampled to 15 minutes.

use super::choice::{RealBars, SplitSpan};
use crate::error::StrategyError;
use ktd_env::TradeDate;
use ktd_io::text_file::{TextFile, at_row};
use ktd_strategy_code::{AssetBars, BarTime};
use std::collections::BTreeMap;
use std::path::Path;

/// Minutes of a bar that strategies see.
const BAR_MINUTES: u32 = 15;
/// Columns that a file must have; `symbol` may be left out.
const COLUMNS: [&str; 6] = ["datetime", "open", "high", "low", "close", "volume"];
/// The name of the only symbol of a file without that column.
const ONE: &str = "A";

/// Bars of 15 minutes by symbol.
pub(super) type MinuteBars = BTreeMap<String, AssetBars>;

/// Where a file has its columns.
struct MinuteColumns {
    places: [usize; 6],
    symbol: Option<usize>,
}

/// One row of a file.
struct MinuteRow {
    symbol: String,
    time: BarTime,
    numbers: [f64; 5],
}

impl MinuteColumns {
    fn of(name: &str, header: &[String]) -> Result<Self, StrategyError> {
        let place = |column: &str| header.iter().position(|known| known == column);
        let places: Option<Vec<usize>> = COLUMNS.iter().map(|column| place(column)).collect();
        let places = places.and_then(|places| places.try_into().ok()).ok_or_else(|| {
            let columns = COLUMNS.join(", ");
            StrategyError::input(
                format_args!("{name}: a column is missing"),
                format_args!("write the columns {columns}, and `symbol` where there are several"),
            )
        })?;
        Ok(Self {
            places,
            symbol: place("symbol"),
        })
    }

    /// The row whose cells these are; else what is wrong with it.
    fn row<'c>(&self, cell: impl Fn(usize) -> &'c str) -> Result<MinuteRow, String> {
        let [stamp, prices @ ..] = self.places;
        let stamp = cell(stamp);
        let time = BarTime::read(stamp)
            .ok_or_else(|| format!("{stamp:?} is no time without a zone, such as 2025-01-02 09:31"))?;
        let mut numbers = [0.0; 5];
        for (number, (place, column)) in numbers.iter_mut().zip(prices.iter().zip(COLUMNS.iter().skip(1))) {
            let text = cell(*place);
            let is_fit =
                |value: &f64| value.is_finite() && (0.0 < *value || (*column == "volume" && 0.0 <= *value));
            let read = text.parse().ok().filter(is_fit);
            *number = read.ok_or_else(|| format!("{column} is {text:?}, which is no number above 0"))?;
        }
        Ok(MinuteRow {
            symbol: self.symbol.map_or(ONE, &cell).to_owned(),
            time,
            numbers,
        })
    }
}

/// The minute bars that the keys name, each stamped at its end and each session ended by `session_end`.
pub(super) fn read_minutes(keys: &RealBars, base: &Path) -> Result<Option<MinuteBars>, StrategyError> {
    let Some(path) = &keys.minutes else {
        return Ok(None);
    };
    let splits = keys.splits()?;
    let mut file = TextFile::open(&base.join(path), b',')?;
    let name = file.name();
    let header = file
        .next_row()?
        .map(|(_, header)| header.iter().map(str::to_lowercase).collect());
    let columns = MinuteColumns::of(&name, &header.unwrap_or_else(Vec::new))?;
    let mut read = MinuteBars::new();
    let mut last: BTreeMap<String, BarTime> = BTreeMap::new();
    while let Some((row, record)) = file.next_row()? {
        let wrong = |what: String| at_row(&name, row, what);
        let minute = columns
            .row(|place| record.get(place).unwrap_or_default())
            .map_err(wrong)?;
        if last
            .get(&minute.symbol)
            .is_some_and(|before| *before >= minute.time)
        {
            return Err(wrong("its time does not follow the one before".to_owned()).into());
        }
        let day = TradeDate::parse(minute.time.day()).map_err(|error| wrong(error.to_string()))?;
        if splits
            .iter()
            .any(|split: &SplitSpan| split.start <= day && day < split.end)
        {
            if minute.time.clock() > keys.session_end.as_str() {
                return Err(wrong(format!(
                    "the stamp lies after `session_end`, {}",
                    keys.session_end
                ))
                .into());
            }
            let end = ended(&minute.time).ok_or_else(|| wrong("the stamp is no time of a day".to_owned()))?;
            add(
                read.entry(minute.symbol.clone()).or_default(),
                end,
                minute.numbers,
            );
        }
        last.insert(minute.symbol, minute.time);
    }
    has_sessions(&name, &read, &keys.session_end)?;
    Ok(Some(read))
}

/// Whether there are bars, and sessions end where the keys say so.
fn has_sessions(name: &str, read: &MinuteBars, session_end: &str) -> Result<(), StrategyError> {
    if read.is_empty() {
        return Err(StrategyError::input(
            format_args!("{name} has no bar in the splits"),
            "choose splits with days of the file",
        ));
    }
    let has_end = |bars: &AssetBars| bars.times.iter().any(|time| time.clock() == session_end);
    match read.iter().find(|(_, bars)| !has_end(bars)) {
        None => Ok(()),
        Some((symbol, _)) => Err(StrategyError::input(
            format_args!("{name}: no bar of {symbol} is stamped {session_end}"),
            "set `session_end` to the stamp of a session's last bar",
        )),
    }
}

/// The end of the 15 minutes that a stamp lies in.
fn ended(time: &BarTime) -> Option<BarTime> {
    let (hours, minutes) = time.clock().split_once(':')?;
    let minute = hours.parse::<u32>().ok()? * 60 + minutes.parse::<u32>().ok()?;
    let seconds = time.as_str().get(17..).is_some_and(|seconds| seconds != "00");
    let end = (minute + u32::from(seconds)).div_ceil(BAR_MINUTES) * BAR_MINUTES;
    BarTime::parse(&format!("{}T{:02}:{:02}:00", time.day(), end / 60, end % 60)).filter(|_| end < 24 * 60)
}

/// Adds minutes to the bar that ends at `end`.
fn add(bars: &mut AssetBars, end: BarTime, [open, high, low, close, volume]: [f64; 5]) {
    if bars.times.last() != Some(&end) {
        bars.times.push(end);
        bars.open.push(open);
        bars.high.push(high);
        bars.low.push(low);
        bars.close.push(close);
        bars.volume.push(volume);
        return;
    }
    let replace = |column: &mut Vec<f64>, with: &dyn Fn(f64) -> f64| {
        if let Some(value) = column.last_mut() {
            *value = with(*value);
        }
    };
    replace(&mut bars.high, &|known| known.max(high));
    replace(&mut bars.low, &|known| known.min(low));
    replace(&mut bars.close, &|_| close);
    replace(&mut bars.volume, &|known| known + volume);
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_io::whole_file::write_whole;
    use std::path::PathBuf;

    fn read(text: &str) -> Result<MinuteBars, String> {
        let folder = tempfile::tempdir().unwrap();
        write_whole(&folder.path().join("m.csv"), text.as_bytes()).unwrap();
        let keys = RealBars {
            minutes: Some(PathBuf::from("m.csv")),
            ..RealBars::default()
        };
        let read = read_minutes(&keys, folder.path()).map_err(|error| error.to_string())?;
        Ok(read.unwrap())
    }

    const HEADER: &str = "datetime,open,high,low,close,volume\n";

    #[test]
    fn minutes_become_bars_stamped_at_their_end() {
        let rows = "2025-01-02 09:31,10,11,9,10.5,100\n2025-01-02 09:45,10.5,12,10,11,50\n2025-01-02 09:46,11,11,8,9,1\n2025-01-02 15:00,9,9,9,9,0\n";
        let read = read(&format!("{HEADER}{rows}")).unwrap();
        let bars = &read["A"];
        let times: Vec<&str> = bars.times.iter().map(BarTime::clock).collect();
        assert_eq!(times, ["09:45", "10:00", "15:00"]);
        assert_eq!(
            (&bars.open, &bars.high),
            (&vec![10.0, 11.0, 9.0], &vec![12.0, 11.0, 9.0])
        );
        assert_eq!(
            (&bars.low, &bars.close),
            (&vec![9.0, 8.0, 9.0], &vec![11.0, 9.0, 9.0])
        );
        assert_eq!(bars.volume, [150.0, 1.0, 0.0]);
    }

    #[test]
    fn what_is_no_file_of_minutes_is_refused_by_row() {
        for (text, part) in [
            ("datetime,open\n".to_owned(), "a column is missing"),
            (HEADER.to_owned(), "has no bar in the splits"),
            (
                format!("{HEADER}2025-01-02T09:31:00Z,1,1,1,1,1\n"),
                "no time without a zone",
            ),
            (
                format!("{HEADER}2025-01-02 09:32,1,1,1,1,1\n2025-01-02 09:31,1,1,1,1,1\n"),
                "does not follow",
            ),
            (
                format!("{HEADER}2025-01-02 09:32,1,1,1,1,1\n2025-01-02 09:32,1,1,1,1,1\n"),
                "does not follow",
            ),
            (
                format!("{HEADER}2025-01-02 09:31,1,1,1,NaN,1\n"),
                "close is \"NaN\"",
            ),
            (
                format!("{HEADER}2025-01-02 16:00,1,1,1,1,1\n"),
                "lies after `session_end`",
            ),
            (format!("{HEADER}2025-01-02 09:31,1,0,1,1,1\n"), "high is \"0\""),
            (
                format!("{HEADER}2025-01-02 09:31,1,1,1,1,1\n"),
                "no bar of A is stamped 15:00",
            ),
            (
                format!("{HEADER}2010-01-04 09:31,1,1,1,1,1\n"),
                "has no bar in the splits",
            ),
        ] {
            let error = read(&text).unwrap_err();
            assert!(error.contains(part), "{part}: {error}");
        }
    }
}
