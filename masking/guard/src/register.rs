//! Names by which a panel's stocks, sectors and days can be identified in the open.

use crate::digits::digit_runs;
use ktd_env::{Market, Ticker, TradeDate};
use std::collections::{BTreeMap, BTreeSet};

/// Every public name of a panel.
#[derive(Debug, Clone, Default)]
pub struct Register {
    /// Place of each stock in the order of the codes.
    codes: BTreeMap<Ticker, usize>,
    /// Names of companies and the places of the stocks that have them.
    companies: BTreeMap<String, Vec<usize>>,
    /// Names of sectors and the places of their stocks.
    sectors: BTreeMap<String, Vec<usize>>,
    calendar: Vec<TradeDate>,
}

/// What a text names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Mentions {
    /// Stocks, as places in the order of the codes.
    pub stocks: BTreeSet<usize>,
    /// Sectors by name.
    pub sectors: BTreeSet<String>,
    /// Days, as places in the calendar of the last trading day that is no later.
    pub days: BTreeSet<usize>,
}

const EXCHANGES: [&str; 3] = ["SH", "SZ", "BJ"];
const CODE_DIGITS: usize = 6;
const DATE_DIGITS: usize = 8;

impl Register {
    /// The names of a panel.
    #[must_use]
    pub fn of(market: &Market) -> Self {
        let mut register = Self {
            calendar: market.calendar().to_vec(),
            ..Self::default()
        };
        for (place, (_, info)) in market.names().enumerate() {
            register.codes.insert(info.ticker, place);
            for name in info.company_names.iter().filter(|name| is_name(name)) {
                register.companies.entry(name.clone()).or_default().push(place);
            }
            let dated = info.dated_sectors.iter().map(|dated| dated.sector);
            let sectors: BTreeSet<u16> = dated.chain(info.sector).collect();
            let labels = sectors
                .into_iter()
                .filter_map(|sector| market.sectors().get(usize::from(sector)));
            for sector in labels.filter(|sector| is_name(sector)) {
                register.sectors.entry(sector.clone()).or_default().push(place);
            }
        }
        register
    }

    /// The stocks of a sector, as places in the order of the codes.
    #[must_use]
    pub fn of_sector(&self, sector: &str) -> &[usize] {
        self.sectors.get(sector).map_or(&[], Vec::as_slice)
    }

    /// What a text names: the whole of it, or any part of one that is more than a word.
    #[must_use]
    pub fn read(&self, text: &str) -> Mentions {
        let mut mentions = Mentions::default();
        let is_word = |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        let text = text.trim();
        if text.chars().all(is_word) {
            mentions
                .stocks
                .extend(self.companies.get(text).into_iter().flatten());
            mentions
                .sectors
                .extend(self.sectors.get_key_value(text).map(|(name, _)| name.clone()));
        } else {
            let told = self
                .companies
                .iter()
                .filter(|(name, _)| text.contains(name.as_str()));
            mentions.stocks.extend(told.flat_map(|(_, places)| places));
            let told = self.sectors.keys().filter(|name| text.contains(name.as_str()));
            mentions.sectors.extend(told.cloned());
        }
        self.read_digits(text, &mut mentions);
        mentions
    }

    /// What a number names: six digits a stock, eight a day.
    #[must_use]
    pub fn read_number(&self, number: f64) -> Mentions {
        let mut mentions = Mentions::default();
        let is_whole = (number.trunc() - number).abs() < f64::EPSILON;
        if is_whole && (1e5..1e8).contains(&number) {
            self.read_digits(&format!("{number:.0}"), &mut mentions);
        }
        mentions
    }

    fn read_digits(&self, text: &str, mentions: &mut Mentions) {
        let runs = digit_runs(text);
        for (place, run) in runs.iter().enumerate() {
            let digits = run.digits;
            match digits.len() {
                CODE_DIGITS if run.between != "." => mentions.stocks.extend(self.stock(digits)),
                DATE_DIGITS => {
                    let (year, rest) = digits.split_at(4);
                    let (month, day) = rest.split_at(2);
                    mentions.days.extend(self.day([year, month, day]));
                }
                4 => {
                    let parts = runs.get(place + 1).zip(runs.get(place + 2));
                    let near = parts.filter(|(month, day)| is_mark(month.between) && is_mark(day.between));
                    mentions
                        .days
                        .extend(near.and_then(|(month, day)| self.day([digits, month.digits, day.digits])));
                }
                _ => {}
            }
        }
    }

    fn stock(&self, digits: &str) -> Option<usize> {
        let tickers = EXCHANGES
            .iter()
            .filter_map(|exchange| Ticker::parse(&format!("{exchange}{digits}")).ok());
        tickers
            .into_iter()
            .find_map(|ticker| self.codes.get(&ticker).copied())
    }

    /// The place of a date: of the last trading day that is no later, where the panel reaches so far.
    fn day(&self, [year, month, day]: [&str; 3]) -> Option<usize> {
        let date = TradeDate::parse(&format!("{year}-{month:0>2}-{day:0>2}")).ok()?;
        let later = self.calendar.partition_point(|day| *day <= date);
        let place = later.checked_sub(1)?;
        (date <= *self.calendar.last()?).then_some(place)
    }
}

/// Whether a name is long enough to be one: of a single letter everything would be a mention.
fn is_name(name: &str) -> bool {
    let characters = name.chars().count();
    if name.is_ascii() {
        3 <= characters
    } else {
        2 <= characters
    }
}

/// Whether what stands between two numbers joins them to one date.
fn is_mark(between: &str) -> bool {
    let mut characters = between.chars();
    characters.next().is_some() && characters.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ktd_env::synth::{SynthConfig, generate};

    fn register() -> Register {
        let config = SynthConfig {
            seed: 5,
            names: 30,
            days: 60,
        };
        Register::of(&generate(&config).unwrap())
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "codes are what is told here")]
    fn decimals_and_longer_numbers_are_no_codes() {
        let register = register();
        let (ticker, place) = register.codes.iter().next_back().unwrap();
        let digits = &ticker.reveal()[2..];
        let stocks = |text: &str| -> Vec<usize> { register.read(text).stocks.into_iter().collect() };
        for text in [
            digits.to_owned(),
            format!("x.{digits}"),
            format!("{digits}.5 yuan"),
        ] {
            assert_eq!(stocks(&text), [*place], "{text}");
        }
        for text in [format!("0.{digits}"), format!("{digits}0"), format!("1{digits}")] {
            assert!(stocks(&text).is_empty(), "{text}");
        }
        let number: f64 = digits.parse().unwrap();
        assert_eq!(register.read_number(number).stocks.len(), 1);
        assert_eq!(register.read_number(number + 0.5), Mentions::default());
        for number in [f64::NAN, f64::INFINITY, -number, 1e300, 7.0] {
            assert_eq!(register.read_number(number), Mentions::default());
        }
    }

    #[test]
    fn a_name_within_a_word_is_none_and_within_a_sentence_is_one() {
        let register = register();
        let (company, places) = register
            .companies
            .iter()
            .find(|(name, _)| name.is_ascii())
            .unwrap();
        let stocks = |text: &str| -> Vec<usize> { register.read(text).stocks.into_iter().collect() };
        assert_eq!(stocks(&format!("what {company} said")), *places);
        let (sector, _) = register
            .sectors
            .iter()
            .find(|(name, _)| !name.contains(' '))
            .unwrap();
        assert_eq!(register.read(sector).sectors.len(), 1);
        assert!(register.read(&format!("{sector}s")).sectors.is_empty());
        assert_eq!(register.read(&format!("({sector})")).sectors.len(), 1);
        assert!(!is_name("A") && !is_name("行") && is_name("银行"));
    }
}
