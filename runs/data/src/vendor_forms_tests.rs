//! The tables of data vendors, written here in each one's form.

use crate::{DataFileError, ImportOptions, Imported, import};
use ktd_env::{Bar, Market, PriceBasis, Ticker, TradeDate, UnsupportedRule};
use std::fmt::Write;
use std::path::Path;
use tempfile::TempDir;

/// Day, open, high, low, close; volume in hands, amount in yuan.
type Row = (&'static str, [&'static str; 4], u64, u64);

const DAYS: [Row; 3] = [
    (
        "2024-01-02",
        ["10.00", "10.20", "9.90", "10.10"],
        32_156,
        32_404_500,
    ),
    (
        "2024-01-03",
        ["10.10", "10.50", "10.00", "10.40"],
        28_001,
        28_900_100,
    ),
    (
        "2024-01-04",
        ["10.40", "10.45", "10.20", "10.30"],
        19_870,
        20_502_300,
    ),
];
const STOCKS: [&str; 3] = ["600519", "000001", "688981"];

fn exchange(code: &str, shanghai: &'static str, shenzhen: &'static str) -> &'static str {
    if code.starts_with('6') { shanghai } else { shenzhen }
}

/// The rows of a file a stock: its code, day, prices and quantities to a line.
fn lines(code: &str, head: &str, line: &dyn Fn(&str, &Row) -> String) -> String {
    let mut text = format!("{head}\n");
    for row in &DAYS {
        writeln!(text, "{}", line(code, row)).unwrap();
    }
    text
}

/// Files of a folder, by name: a file a stock.
fn each(
    name: &dyn Fn(&str) -> String,
    head: &str,
    line: &dyn Fn(&str, &Row) -> String,
) -> Vec<(String, String)> {
    STOCKS
        .iter()
        .map(|code| (name(code), lines(code, head, line)))
        .collect()
}

fn yahoo(code: &str) -> String {
    format!("{code}.{}", exchange(code, "SS", "SZ"))
}

/// yfinance's table of stocks side by side.
fn side_by_side() -> String {
    let fields = ["Adj Close", "Close", "High", "Low", "Open", "Volume"];
    let across = |cell: &dyn Fn(&str, &str) -> String| {
        let cells = fields
            .iter()
            .flat_map(|field| STOCKS.iter().map(move |code| (*field, *code)));
        cells
            .map(|(field, code)| format!(",{}", cell(field, code)))
            .collect::<Vec<_>>()
            .concat()
    };
    let mut text = format!("Price{}\n", across(&|field, _| field.to_owned()));
    writeln!(text, "Ticker{}", across(&|_, code| yahoo(code))).unwrap();
    writeln!(text, "Date{}", ",".repeat(fields.len() * STOCKS.len())).unwrap();
    for (day, [open, high, low, close], hands, _) in &DAYS {
        let cells = across(&|field, _| match field {
            "Adj Close" | "Close" => (*close).to_owned(),
            "High" => (*high).to_owned(),
            "Low" => (*low).to_owned(),
            "Open" => (*open).to_owned(),
            _ => format!("{hands}00"),
        });
        writeln!(text, "{day}{cells}").unwrap();
    }
    text
}

/// The same rows as each vendor writes them.
fn vendors() -> Vec<(&'static str, Vec<(String, String)>)> {
    let dense = |day: &str| day.replace('-', "");
    vec![
        (
            "AKShare (stock_zh_a_hist)",
            each(
                &|code| format!("{code}.csv"),
                "日期,股票代码,开盘,收盘,最高,最低,成交量,成交额,振幅,涨跌幅,涨跌额,换手率",
                &|code, (day, [o, h, l, c], v, a)| format!("{day},{code},{o},{c},{h},{l},{v},{a},1,2,3,4"),
            ),
        ),
        (
            "Tushare (daily)",
            each(
                &|code| format!("{code}.csv"),
                "ts_code,trade_date,open,high,low,close,pre_close,change,pct_chg,vol,amount",
                &|code, (day, [o, h, l, c], v, a)| {
                    let (exchange, day) = (exchange(code, "SH", "SZ"), dense(day));
                    let (thousands, yuan) = (a / 1000, a % 1000);
                    format!("{code}.{exchange},{day},{o},{h},{l},{c},10,0.1,1.5,{v},{thousands}.{yuan:03}")
                },
            ),
        ),
        (
            "BaoStock (query_history_k_data_plus)",
            each(
                &|code| format!("{code}.csv"),
                "date,code,open,high,low,close,preclose,volume,amount,adjustflag,turn,tradestatus,pctChg,isST",
                &|code, (day, [o, h, l, c], v, a)| {
                    let exchange = exchange(code, "sh", "sz");
                    format!("{day},{exchange}.{code},{o}00,{h}00,{l}00,{c}00,10,{v}00,{a}.0000,3,0.1,1,1.5,0")
                },
            ),
        ),
        (
            "RiceQuant (get_price)",
            each(
                &|code| format!("{code}.csv"),
                "order_book_id,datetime,open,close,high,low,total_turnover,volume,prev_close",
                &|code, (day, [o, h, l, c], v, a)| {
                    let exchange = exchange(code, "XSHG", "XSHE");
                    format!("{code}.{exchange},{day} 00:00:00,{o},{c},{h},{l},{a}.0,{v}00.0,10")
                },
            ),
        ),
        (
            "JoinQuant (get_price)",
            each(
                &|code| format!("{code}.{}.csv", exchange(code, "XSHG", "XSHE")),
                ",open,close,high,low,volume,money,paused",
                &|_, (day, [o, h, l, c], v, a)| format!("{day},{o},{c},{h},{l},{v}00.0,{a}.0,0.0"),
            ),
        ),
        (
            "yfinance (auto_adjust=False)",
            each(
                &|code| format!("{}.csv", yahoo(code)),
                "Date,Open,High,Low,Close,Adj Close,Volume,Dividends,Stock Splits",
                &|_, (day, [o, h, l, c], v, _)| {
                    format!("{day} 00:00:00+08:00,{o},{h},{l},{c},{c},{v}00,0.0,0.0")
                },
            ),
        ),
        (
            "yfinance (auto_adjust=False)",
            vec![("wide.csv".to_owned(), side_by_side())],
        ),
    ]
}

fn folder(files: &[(String, String)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        std::fs::write(folder.path().join(name), text).unwrap();
    }
    folder
}

fn read(path: &Path, edit: impl FnOnce(&mut ImportOptions)) -> Result<Imported, DataFileError> {
    let mut options = ImportOptions {
        sources: vec![path.to_owned()],
        ..ImportOptions::default()
    };
    edit(&mut options);
    import(&options, &mut ())
}

fn imported(files: &[(String, String)]) -> Imported {
    read(folder(files).path(), |_| ()).unwrap()
}

fn one(name: &str, text: String) -> Vec<(String, String)> {
    vec![(name.to_owned(), text)]
}

/// The refusal of a file, with its hint.
fn refusal(text: &str, map: Option<&str>) -> String {
    let folder = folder(&one("600519.csv", text.to_owned()));
    let refused = read(folder.path(), |options| options.map = map.map(str::to_owned));
    let error = refused.map(|_| ()).unwrap_err();
    format!("{error}; {}", error.hint())
}

/// A long file in shares and yuan, with or without amounts.
fn long(has_amounts: bool) -> String {
    let mut text = "date,symbol,open,high,low,close,volume".to_owned();
    text.push_str(if has_amounts { ",amount\n" } else { "\n" });
    for code in STOCKS {
        for (day, prices, hands, amount) in &DAYS {
            let exchange = exchange(code, "SH", "SZ");
            write!(text, "{day},{exchange}{code},{},{hands}00", prices.join(",")).unwrap();
            writeln!(
                text,
                "{}",
                if has_amounts {
                    format!(",{amount}")
                } else {
                    String::new()
                }
            )
            .unwrap();
        }
    }
    text
}

fn bar(market: &Market, code: &str, day: &str) -> Bar {
    let name = market.find(Ticker::parse(code).unwrap()).unwrap();
    let day = market.day(TradeDate::parse(day).unwrap()).unwrap();
    market.bar(name, day).unwrap()
}

#[test]
fn the_same_prices_in_every_form_give_one_hash() {
    let with_amounts = imported(&one("long.csv", long(true))).market.content_hash();
    let without = imported(&one("long.csv", long(false))).market.content_hash();
    for (form, files) in vendors() {
        let Imported { market, report } = imported(&files);
        assert_eq!((report.forms.len(), report.forms[0].form.as_str()), (1, form));
        assert_eq!(report.forms[0].files, files.len(), "{form}");
        let is_yahoo = form.starts_with("yfinance");
        assert_eq!(
            report.missing.iter().any(|line| line.starts_with("no factors")),
            !is_yahoo,
            "{form}"
        );
        assert_eq!(bar(&market, "SH600519", "2024-01-02").volume, 3_215_600, "{form}");
        // Yahoo has no amounts, which a panel says of itself.
        let expected = if is_yahoo { without } else { with_amounts };
        assert_eq!(market.content_hash(), expected, "{form}");
        if !is_yahoo {
            let heads = ["成交额", "amount", "total_turnover", "money"];
            let cut: Vec<(String, String)> = files
                .iter()
                .map(|(name, text)| (name.clone(), drop_column(text, &heads)))
                .collect();
            assert_eq!(
                imported(&cut).market.content_hash(),
                without,
                "{form} without amounts"
            );
        }
    }
}

fn drop_column(text: &str, heads: &[&str]) -> String {
    let place = text
        .lines()
        .next()
        .unwrap()
        .split(',')
        .position(|head| heads.contains(&head))
        .unwrap();
    let kept = |line: &str| {
        let cells = line.split(',').enumerate().filter(|(at, _)| *at != place);
        cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(",")
    };
    text.lines().map(|line| kept(line) + "\n").collect()
}

#[test]
fn what_was_understood_names_columns_units_and_the_first_row() {
    let (_, files) = vendors().swap_remove(1);
    let Imported { report, .. } = imported(&files);
    let text = crate::forms_text(&report.forms, &report.missing);
    let words: String = text
        .split(' ')
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ");
    for part in [
        "Tushare (daily): 3 files, the first",
        "000001.csv",
        "volume vol hands of 100 shares 3215600",
        "amount amount thousands of yuan 32404500",
        "not read: pre_close, change, pct_chg",
        "no ST dates",
        "no listing dates",
        "no index membership",
        "no factors",
    ] {
        assert!(words.contains(part), "{part}\n{text}");
    }
    let json = serde_json::to_value(report.forms[0].document()).unwrap();
    assert_eq!(json["columns"][1]["column"], "ts_code");
    assert_eq!(json["columns"][1]["first_row"], "SZ000001");
}

#[test]
fn columns_of_others_are_mapped_and_the_panel_says_so() {
    let text = long(true).replace(
        "date,symbol,open,high,low,close,volume,amount",
        "day,sec,o,h,l,c,lots,value",
    );
    let text = text
        .replace("00,32404500", ",32404.5")
        .replace("00,28900100", ",28900.1")
        .replace("00,20502300", ",20502.3");
    let folder = folder(&one("mine.csv", text));
    let map = "date=day,symbol=sec,open=o,high=h,low=l,close=c,volume=lots:hands,amount=value:thousands";
    let Imported { market, .. } = read(&folder.path().join("*.csv"), |options| {
        options.map = Some(map.to_owned());
    })
    .unwrap();
    let own = imported(&one("long.csv", long(true))).market;
    assert_eq!(
        bar(&market, "SZ000001", "2024-01-03"),
        bar(&own, "SZ000001", "2024-01-03")
    );
    assert!(
        market.notes().iter().any(|note| note.contains(map)),
        "{:?}",
        market.notes()
    );
    for (map, part) in [
        ("date", "is not FIELD=COLUMN"),
        ("mood=x", "names no field"),
        ("volume=lots:thousands", "a unit that its field cannot have"),
        ("volume=lots:hand", "no column \"lots:hand\""),
        (
            "volume=volume:lots",
            "\"lots\", which stands behind \"volume\", is no unit of volume",
        ),
        ("open=open,open=close", "for the second time"),
    ] {
        assert!(refusal(&long(true), Some(map)).contains(part), "{map}");
    }
}

/// A file of one stock with a value a day behind the vendor's columns.
fn with(form: usize, column: &str, values: [&str; 3]) -> Vec<(String, String)> {
    let (_, mut files) = vendors().swap_remove(form);
    files.truncate(1);
    let text = &mut files[0].1;
    let lines = text.lines().zip(std::iter::once(column).chain(values));
    *text = lines
        .map(|(line, value)| format!("{line},{value}\n"))
        .collect::<Vec<_>>()
        .concat();
    files
}

fn factors(market: &Market) -> String {
    let days = DAYS.map(|(day, ..)| bar(market, "SH600519", day).factor.to_string());
    days.join(" ")
}

#[test]
fn factors_are_read_from_files_of_their_own_and_from_adjusted_closes() {
    let head = vendors();
    let prices = |form: usize| head[form].1[..1].to_vec();
    for (form, name, text, expected) in [
        (
            0,
            "factor.csv",
            "date,hfq_factor\n2024-01-04,2.5\n1900-01-01,2.0\n",
            "2 2 2.5",
        ),
        (
            1,
            "f.csv",
            "ts_code,trade_date,adj_factor\n600519.SH,20240102,3.5\n600519.SH,20240103,3.5\n600519.SH,20240104,3.6\n",
            "3.5 3.5 3.6",
        ),
        (
            2,
            "f.csv",
            "code,dividOperateDate,foreAdjustFactor,backAdjustFactor,adjustFactor\nsh.600519,2024-01-03,0.9,1.1,1.1\n",
            "1 1.1 1.1",
        ),
        (
            3,
            "f.csv",
            "order_book_id,ex_date,ex_factor,ex_cum_factor\n600519.XSHG,2024-01-03,1.1,7.1\n",
            "1 7.1 7.1",
        ),
        (
            4,
            "f.csv",
            "time,code,factor\n2024-01-02,600519.XSHG,4.1\n2024-01-03,600519.XSHG,4.1\n2024-01-04,600519.XSHG,4.2\n",
            "4.1 4.1 4.2",
        ),
    ] {
        let mut files = prices(form);
        // A file without codes is one stock, whose code its name says.
        let name = if form == 0 {
            format!("600519_{name}")
        } else {
            name.to_owned()
        };
        files.push((name, text.to_owned()));
        let Imported { market, report } = imported(&files);
        assert_eq!(factors(&market), expected, "{}", head[form].0);
        assert!(!report.missing.iter().any(|line| line.contains("no factors")));
    }
    // The third day's close is paid for; the noise of the second day's is no dividend.
    let text = "Date,Open,High,Low,Close,Adj Close,Volume\n2024-01-02,10,10,10,10,9.000000,100\n\
                2024-01-03,11,11,11,11,9.9000003,100\n2024-01-04,12,12,12,12,12,100\n";
    assert_eq!(
        factors(&imported(&one("600519.SS.csv", text.to_owned())).market),
        "0.9 0.9 1"
    );
    let own = with(4, "factor", ["1", "1", "2"]);
    let refused = read(folder(&own).path(), |_| ()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("basis"), "{refused}");
}

#[test]
fn every_stock_needs_factors_where_there_are_files_of_them() {
    for (form, stocks, name, text, part) in [
        (
            1,
            1,
            "f.csv",
            "ts_code,trade_date,adj_factor\n600519.SH,20240103,3.5\n",
            "row 2: no file of factors has one of SH600519",
        ),
        (
            0,
            2,
            "600519_factor.csv",
            "date,hfq_factor\n1900-01-01,2.0\n",
            "no file of factors has one of SZ000001",
        ),
    ] {
        let (_, mut files) = vendors().swap_remove(form);
        files.truncate(stocks);
        files.push((name.to_owned(), text.to_owned()));
        let refused = read(folder(&files).path(), |_| ()).map(|_| ()).unwrap_err();
        assert!(refused.to_string().contains(part), "{refused}");
    }
}

#[test]
fn halts_flags_and_dividends_are_read_where_a_source_has_them() {
    let (_, files) = vendors().swap_remove(2);
    let missing = imported(&files).report.missing;
    let of_st = UnsupportedRule::StLimit.text();
    let words = |line: &String| line.starts_with(of_st) && line.contains("isST was read");
    assert!(missing.iter().any(words), "{missing:?}");
    let edited = |from: &str, to: &str| vec![(files[0].0.clone(), files[0].1.replace(from, to))];
    let market = imported(&edited("1987000,20502300.0000,3,0.1,1,1.5,0", ",,3,,0,,1")).market;
    assert_eq!(bar(&market, "SH600519", "2024-01-04").volume, 0);
    let (_, info) = market.names().next().unwrap();
    assert_eq!(info.st.len(), 1);
    assert_eq!(info.st[0].start.reveal(), "2024-01-04");
    let adjusted = read(folder(&edited(",3,0.1", ",2,0.1")).path(), |_| ());
    let adjusted = adjusted.map(|_| ()).unwrap_err();
    assert!(
        adjusted.to_string().contains("row 2: adjustflag is 2"),
        "{adjusted}"
    );
    let (_, files) = vendors().swap_remove(4);
    let halted = files[0].1.replace("20502300.0,0.0", "20502300.0,1.0");
    let market = imported(&one("600519.XSHG.csv", halted)).market;
    assert_eq!(bar(&market, "SH600519", "2024-01-04").volume, 0);
    let (_, files) = vendors().swap_remove(5);
    let paid = files[0].1.replacen("0.0,0.0", "0.25,0.0", 1);
    let market = imported(&one("600519.SS.csv", paid)).market;
    let (_, info) = market.names().next().unwrap();
    assert_eq!(info.dividends[0].yuan_per_share.to_string(), "0.25");
}

/// Dividends would count twice with factors beside prices that are adjusted already.
#[test]
fn adjusted_prices_are_not_taken_as_traded() {
    let text = |share: f64| {
        let mut text = "date,symbol,open,high,low,close,volume,amount\n".to_owned();
        for day in 1..=28 {
            // The last days are after the last dividend, as it is with prices adjusted backwards.
            let price = if day <= 20 { 10.0 * share } else { 10.0 };
            let (high, low) = (price * 1.01, price * 0.99);
            writeln!(
                text,
                "2024-02-{day:02},SH600519,{price:.2},{high:.2},{low:.2},{price:.2},10000,100000"
            )
            .unwrap();
        }
        text
    };
    let said = refusal(&text(0.9), None);
    assert!(
        said.contains("outside its low and high on 20 of 28 days") && !said.contains("--basis adjusted"),
        "{said}"
    );
    imported(&one("as_traded.csv", text(1.0)));
    let folder = folder(&one("adjusted.csv", text(0.9)));
    // Whoever says so is told what is not known of them.
    let taken = read(folder.path(), |options| {
        options.basis = Some(PriceBasis::Adjusted);
    });
    let missing = taken.unwrap().report.missing;
    assert!(
        missing
            .iter()
            .any(|line| line.starts_with("no factor of these adjusted prices")),
        "{missing:?}"
    );
}

#[test]
fn wrong_units_are_refused_with_those_that_fit() {
    let in_hands = long(true)
        .replace("00,32404500", ",32404500")
        .replace("00,28900100", ",28900100");
    let in_hands = in_hands.replace("00,20502300", ",20502300");
    let in_thousands = long(true)
        .replace(",32404500", ",32404.5")
        .replace(",28900100", ",28900.1")
        .replace(",20502300", ",20502.3");
    let both = in_hands
        .replace(",32404500", ",32404.5")
        .replace(",28900100", ",28900.1")
        .replace(",20502300", ",20502.3");
    for (text, near, fits) in [
        (
            in_hands,
            "near 100 on 9 of 9 days",
            "--map volume=volume:hands,amount=amount:yuan",
        ),
        (
            in_thousands,
            "near 1/1000 on",
            "--map volume=volume:shares,amount=amount:thousands",
        ),
        (
            both,
            "near 1/10 on",
            "--map volume=volume:hands,amount=amount:thousands",
        ),
    ] {
        let said = refusal(&text, None);
        assert!(said.contains(near) && said.contains(fits), "{near}: {said}");
        // What it says would fit does.
        let map = fits.strip_prefix("--map ").unwrap().to_owned();
        let folder = folder(&one("long.csv", text));
        let market = read(folder.path(), |options| options.map = Some(map))
            .unwrap()
            .market;
        let bar = bar(&market, "SH600519", "2024-01-02");
        assert_eq!(
            (bar.volume, bar.amount_cny.to_bits()),
            (3_215_600, 32_404_500_f64.to_bits())
        );
    }
    let tushare = vendors().swap_remove(1).1[0]
        .1
        .replace("32156,", "3215600,")
        .replace("28001,", "2800100,");
    let said = refusal(&tushare, None);
    assert!(
        said.contains("near 1/100 on 2 of 3 days") && said.contains("volume=vol:shares"),
        "{said}"
    );
    let mut one_in_hands = "date,symbol,open,high,low,close,volume,amount\n".to_owned();
    for (code, volume) in [("SH600519", 10_000), ("SZ000001", 10_000), ("SZ000002", 100)] {
        for day in 1..=28 {
            writeln!(
                one_in_hands,
                "2024-02-{day:02},{code},10,10,10,10,{volume},100000"
            )
            .unwrap();
        }
    }
    let said = refusal(&one_in_hands, None);
    assert!(
        said.contains("1 of 3 stocks differ from the rest: SZ000002")
            && said.contains("near 100 on 28 of 28 days")
            && said.contains("fetch SZ000002 again"),
        "{said}"
    );
}

/// Eight stocks at 10 yuan on 56 days; of the last one each line is what `line` makes of its day.
fn last_is(line: &dyn Fn(usize, &str) -> String) -> String {
    let mut text = "date,symbol,open,high,low,close,volume,amount\n".to_owned();
    for stock in 1..=8 {
        for place in 0..56 {
            let day = format!("2024-{:02}-{:02},SZ00000{stock}", 1 + place / 28, 1 + place % 28);
            let own = if stock == 8 {
                line(place, &day)
            } else {
                format!("{day},10,10,10,10,10000,100000")
            };
            writeln!(text, "{own}").unwrap();
        }
    }
    text
}

#[test]
fn a_unit_of_some_days_and_adjusted_prices_of_some_stocks_are_refused() {
    let recent = |volume: usize| {
        last_is(&|place, day| {
            let volume = if place < 36 { 10_000 } else { volume };
            format!("{day},10,10,10,10,{volume},100000")
        })
    };
    let said = refusal(&recent(1_000_000), None);
    assert!(
        said.contains("changes within 1 of 8 stocks: SZ000008") && said.contains("is 1/100 on 20 of 56 days"),
        "{said}"
    );
    let said = refusal(&recent(100), None);
    assert!(said.contains("is 100 on 20 of 56 days"), "{said}");
    let adjusted = last_is(&|place, day| {
        let price = if place < 36 { 7 } else { 10 };
        format!("{day},{price},{price},{price},{price},10000,100000")
    });
    let said = refusal(&adjusted, None);
    assert!(
        said.contains("in 1 of 8 stocks (SZ000008), of SZ000008 on 36 of 56 days")
            && said.contains("adjusted, not as traded"),
        "{said}"
    );
    let folder = folder(&one("600519.csv", recent(10_000)));
    assert!(read(folder.path(), |_| ()).is_ok());
}

#[test]
fn files_that_are_no_prices_are_refused_by_name() {
    let adjusted = "Date,Open,High,Low,Close,Volume\n2024-01-02,10,10,10,10,100\n";
    assert!(refusal(adjusted, None).contains("auto_adjust=False"));
    let part = "日期,收盘,成交量\n2024-01-02,10,100\n";
    assert!(refusal(part, None).contains("600519.csv: the columns open, high, low are missing"));
    let wrong = vendors().swap_remove(0).1[0].1.replace("32156", "many");
    let said = refusal(&wrong, None);
    assert!(said.contains("600519.csv, row 2: volume"), "{said}");
    let (_, mut files) = vendors().swap_remove(0);
    let renamed = files[0].1.replace("收盘", "收盘价");
    let members = "symbol,start,end\nSH600519,2024-01-02,2024-01-04\n";
    for (text, part) in [
        (
            renamed.as_str(),
            "are missing; it has 日期, 股票代码, 开盘, 收盘价",
        ),
        (
            renamed.as_str(),
            "nearest known form is AKShare (stock_zh_a_hist), which also has 收盘:",
        ),
        (members, "given to --universe"),
        ("<!DOCTYPE html>\n<html>\n", "is a web page"),
        ("\"\"\n", "its first line names none"),
    ] {
        let said = refusal(text, None);
        assert!(said.contains(part), "{part}: {said}");
    }
    files[0].1 = files[0].1.lines().next().unwrap().to_owned();
    let missing = imported(&files).report.missing;
    let is_said = |line: &String| line.starts_with("no rows in 1 of 3 files") && line.ends_with("600519.csv");
    assert!(missing.iter().any(is_said), "{missing:?}");
    let index = folder(&one("sh000300.csv", files[1].1.replace(",股票代码", ",代码")));
    let refused = read(index.path(), |_| ()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("code of an index"), "{refused}");
    let folder = folder(&one("prices.csv", long(true).replace(",symbol", ",stock")));
    let refused = read(folder.path(), |_| ()).map(|_| ()).unwrap_err();
    assert!(refused.to_string().contains("symbol is missing"), "{refused}");
    assert!(refused.hint().contains("600519.csv"), "{}", refused.hint());
}

#[test]
fn an_index_is_read_in_every_form_and_spelling_of_its_code() {
    let stocks = folder(&one("long.csv", long(true)));
    // Stocks side by side have no file of their own.
    for (form, files) in &vendors()[..6] {
        let (name, text) = &files[0];
        let index = folder(&one(
            &name.replace("600519", "000300"),
            text.replace("600519", "000300"),
        ));
        let file = index.path().join(name.replace("600519", "000300"));
        for code in [
            "",
            ":SH000300",
            ":000300.SH",
            ":sh.000300",
            ":000300.XSHG",
            ":000300",
        ] {
            let argument = format!("{}{code}", file.display());
            let found = read(stocks.path(), |options| options.indices = vec![argument.clone()]);
            let market = found
                .unwrap_or_else(|error| panic!("{form}{code}: {error}"))
                .market;
            let levels = &market.indices()[0];
            assert_eq!(levels.code, "SH000300", "{form}{code}");
            assert_eq!(
                levels
                    .close
                    .iter()
                    .map(|close| format!("{close:.2}"))
                    .collect::<Vec<_>>(),
                ["10.10", "10.40", "10.30"],
                "{form}{code}"
            );
        }
        let among = read(index.path(), |_| ()).map(|_| ()).unwrap_err();
        assert!(
            format!("{among} {}", among.hint()).contains("--index"),
            "{form}: {among}"
        );
    }
    let nameless = folder(&one("levels.csv", "date,open,close\n2024-01-02,1,1\n".to_owned()));
    let file = nameless.path().join("levels.csv").display().to_string();
    let found = read(stocks.path(), |options| options.indices = vec![file.clone()]);
    let error = found.map(|_| ()).unwrap_err();
    assert_eq!(
        error.hint(),
        format!("say it behind the file: --index {file}:SH000300")
    );
}

#[test]
fn what_some_files_say_of_days_and_some_do_not_is_told() {
    let mut files = vendors().swap_remove(2).1;
    for (_, text) in &mut files[..2] {
        *text = text.replace(",tradestatus,pctChg,isST\n", ",tradestatus,pctChg,mood\n");
    }
    let missing = imported(&files).report.missing;
    let told = "ST flags are in 1 of 3 files: in the others no stock is ST on any day";
    assert!(missing.iter().any(|line| line == told), "{missing:?}");
    assert!(
        !missing.iter().any(|line| line.starts_with("halts")),
        "{missing:?}"
    );
}
