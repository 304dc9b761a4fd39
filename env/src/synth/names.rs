//! Invented codes, companies and sectors.

use super::draws::pick;
use crate::seed::KeyedStream;
use crate::ticker::{Board, Ticker};

/// Who a name is. The list of identities is in the order of the codes.
#[derive(Debug, Clone)]
pub(super) struct Identity {
    pub(super) ticker: Ticker,
    /// Place in [`SECTORS`].
    pub(super) sector: usize,
    pub(super) chinese_name: String,
    pub(super) english_name: String,
}

/// A sector: its label, and how companies of it call themselves in Chinese and in English.
pub(super) struct Sector {
    pub(super) label: &'static str,
    chinese: &'static str,
    english: &'static str,
}

const fn sector(label: &'static str, chinese: &'static str, english: &'static str) -> Sector {
    Sector {
        label,
        chinese,
        english,
    }
}

/// The ten sectors.
pub(super) const SECTORS: [Sector; 10] = [
    sector("Energy", "能源", "Energy"),
    sector("Materials", "新材", "Materials"),
    sector("Industrials", "重工", "Industries"),
    sector("Consumer Discretionary", "家居", "Living"),
    sector("Consumer Staples", "食品", "Foods"),
    sector("Health Care", "医药", "Pharma"),
    sector("Financials", "信托", "Trust"),
    sector("Information Technology", "微电", "Microelectronics"),
    sector("Communication Services", "通信", "Telecom"),
    sector("Utilities", "水务", "Water"),
];

/// Rare characters with distinct readings; a brand is two of them.
const SYLLABLES: [(&str, &str); 56] = [
    ("翎", "ling"),
    ("璟", "jing"),
    ("漪", "yi"),
    ("鸢", "yuan"),
    ("堇", "jin"),
    ("岫", "xiu"),
    ("霁", "ji"),
    ("徵", "zhi"),
    ("荻", "di"),
    ("犀", "xi"),
    ("砚", "yan"),
    ("澹", "dan"),
    ("骛", "wu"),
    ("栾", "luan"),
    ("榭", "xie"),
    ("筠", "yun"),
    ("蘅", "heng"),
    ("珑", "long"),
    ("琮", "cong"),
    ("昶", "chang"),
    ("樾", "yue"),
    ("旸", "yang"),
    ("湄", "mei"),
    ("泖", "mao"),
    ("嵊", "sheng"),
    ("崤", "xiao"),
    ("邈", "miao"),
    ("翮", "he"),
    ("隽", "juan"),
    ("镡", "tan"),
    ("铎", "duo"),
    ("笏", "hu"),
    ("箬", "ruo"),
    ("篁", "huang"),
    ("蓼", "liao"),
    ("葭", "jia"),
    ("薜", "bi"),
    ("藜", "li"),
    ("萝", "luo"),
    ("茜", "qian"),
    ("苕", "tiao"),
    ("椒", "jiao"),
    ("楸", "qiu"),
    ("樟", "zhang"),
    ("桫", "suo"),
    ("枋", "fang"),
    ("杼", "zhu"),
    ("暾", "tun"),
    ("晷", "gui"),
    ("曜", "yao"),
    ("朔", "shuo"),
    ("旻", "min"),
    ("弢", "tao"),
    ("崧", "song"),
    ("岱", "dai"),
    ("夔", "kui"),
];

const CHINEXT_PERCENT: usize = 26;
const STAR_PERCENT: usize = 12;

/// Draws `names` identities: about 62 % MAIN, 26 % `ChiNext` and 12 % STAR.
pub(super) fn identities(seed: u64, names: usize) -> Vec<Identity> {
    let mut stream = KeyedStream::for_purpose(seed, "synth names");
    let mut tickers = tickers(&mut stream, names);
    tickers.sort_unstable();
    let mut brands: Vec<(usize, usize)> = (0..SYLLABLES.len())
        .flat_map(|first| (0..SYLLABLES.len()).map(move |second| (first, second)))
        .filter(|(first, second)| first != second)
        .collect();
    stream.shuffle(&mut brands);
    let places: Vec<usize> = (0..SECTORS.len()).collect();
    tickers
        .into_iter()
        .zip(brands)
        .map(|(ticker, brand)| {
            let sector = pick(&mut stream, &places).unwrap_or_default();
            company(ticker, sector, brand)
        })
        .collect()
}

/// Codes from ranges the exchanges have not used for companies: SH604, SZ004, SZ3025-SZ3029 and SH6892-SH6899.
fn tickers(stream: &mut KeyedStream, names: usize) -> Vec<Ticker> {
    let percent_of = |percent: usize| (names * percent + 50) / 100;
    let (chinext, star) = (percent_of(CHINEXT_PERCENT), percent_of(STAR_PERCENT));
    let main = names.saturating_sub(chinext + star);
    let range = |prefix: &'static str, from: u32, until: u32| {
        (from..until).filter_map(move |number| Ticker::parse(&format!("{prefix}{number:06}")).ok())
    };
    let mut pools = [
        (
            main,
            range("SH", 604_000, 605_000)
                .chain(range("SZ", 4_000, 5_000))
                .collect::<Vec<_>>(),
        ),
        (chinext, range("SZ", 302_500, 303_000).collect()),
        (star, range("SH", 689_200, 690_000).collect()),
    ];
    let mut drawn = Vec::with_capacity(names);
    for (wanted, pool) in &mut pools {
        stream.shuffle(pool);
        drawn.extend(pool.iter().take(*wanted));
    }
    drawn
}

fn company(ticker: Ticker, sector: usize, brand: (usize, usize)) -> Identity {
    let syllable = |place: usize| SYLLABLES.get(place).copied().unwrap_or_default();
    let ((first, first_reading), (second, second_reading)) = (syllable(brand.0), syllable(brand.1));
    let (chinese, english) = SECTORS
        .get(sector)
        .map_or(("", ""), |sector| (sector.chinese, sector.english));
    let (initial, rest) = first_reading.split_at(first_reading.len().min(1));
    Identity {
        ticker,
        sector,
        chinese_name: format!("{first}{second}{chinese}"),
        english_name: format!("{}{rest}{second_reading} {english}", initial.to_uppercase()),
    }
}

impl Identity {
    pub(super) const fn board(&self) -> Board {
        self.ticker.board()
    }
}

#[cfg(test)]
mod tests {
    use super::super::MAX_NAMES;
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn the_largest_market_has_distinct_names_in_the_boards_shares() {
        let names = usize::try_from(MAX_NAMES).unwrap();
        let identities = identities(3, names);
        assert_eq!(identities.len(), names);
        assert!(identities.windows(2).all(|pair| pair[0].ticker < pair[1].ticker));
        let chinese: BTreeSet<&str> = identities.iter().map(|name| name.chinese_name.as_str()).collect();
        assert_eq!(chinese.len(), names);
        for (board, share) in [(Board::Main, 62), (Board::ChiNext, 26), (Board::Star, 12)] {
            let found = identities.iter().filter(|name| name.board() == board).count();
            assert_eq!(found * 100, names * share, "{board:?}");
        }
        let sectors: BTreeSet<usize> = identities.iter().map(|name| name.sector).collect();
        assert_eq!(sectors.len(), SECTORS.len());
    }

    #[test]
    fn readings_are_distinct() {
        let readings: BTreeSet<&str> = SYLLABLES.iter().map(|syllable| syllable.1).collect();
        let characters: BTreeSet<&str> = SYLLABLES.iter().map(|syllable| syllable.0).collect();
        assert_eq!(
            (readings.len(), characters.len()),
            (SYLLABLES.len(), SYLLABLES.len())
        );
    }

    #[test]
    fn a_single_name_is_on_the_main_board() {
        assert_eq!(identities(1, 1)[0].board(), Board::Main);
    }
}
