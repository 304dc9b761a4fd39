//! Tables of data vendors: the columns that tell whose a file is, what each holds, and its unit (docs/data-sources.md).

use super::column::Column;
use super::units::{Unit, entries};

/// How the files of a vendor's call look.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct VendorForm {
    /// Vendor and call, as reports name them.
    pub(super) name: &'static str,
    /// A header with all columns of one of these lists is of this form.
    known_by: &'static [&'static str],
    /// `FIELD=COLUMN[:UNIT],...`, as `--map` has it; of two columns of a field a file has one.
    columns: &'static str,
    /// What to know before its prices are used.
    pub(super) caveat: Option<&'static str>,
}

impl VendorForm {
    /// The form of a header; none where the columns are those of a long file.
    pub(super) fn of(header: &[&str]) -> Option<&'static Self> {
        let has_all = |names: &&str| names.split(',').all(|name| header.contains(&name));
        FORMS.iter().find(|form| form.known_by.iter().any(has_all))
    }

    /// The form that shares most columns with a header, more than a long file does, and the columns of it that the header lacks;
    /// none where it lacks none.
    pub(super) fn nearest(header: &[&str]) -> Option<(&'static str, Vec<&'static str>)> {
        let is_long = |head: &&&str| Column::of_name(&head.to_ascii_lowercase()).is_some();
        let of_long_file = header.iter().filter(is_long).count();
        let has = |head: &str| !head.is_empty() && header.contains(&head);
        let shared = |form: &Self| {
            entries(form.columns)
                .flatten()
                .filter(|entry| has(entry.1))
                .count()
        };
        // Of equals the first.
        let form = FORMS.iter().rev().max_by_key(|form| shared(form))?;
        let is_there = |field: Column| {
            entries(form.columns)
                .flatten()
                .any(|entry| entry.0 == field && has(entry.1))
        };
        let needed = [
            Column::Date,
            Column::Open,
            Column::High,
            Column::Low,
            Column::Close,
            Column::Volume,
        ];
        let lacking: Vec<&str> = entries(form.columns)
            .flatten()
            .filter(|entry| needed.contains(&entry.0) && !is_there(entry.0))
            .map(|entry| entry.1)
            .collect();
        (of_long_file.max(2) < shared(form) && !lacking.is_empty()).then_some((form.name, lacking))
    }

    /// What the column of this name holds.
    pub(super) fn column(&self, head: &str) -> Option<(Column, Unit)> {
        let found = entries(self.columns)
            .flatten()
            .find(|(_, name, _)| *name == head)?;
        Some((found.0, found.2))
    }
}

const fn form(name: &'static str, known_by: &'static [&'static str], columns: &'static str) -> VendorForm {
    VendorForm {
        name,
        known_by,
        columns,
        caveat: None,
    }
}

/// The first that knows a header has it: files of prices stand before files of factors.
static FORMS: [VendorForm; 11] = [
    VendorForm {
        caveat: Some("prices are as traded only under adjust=\"\""),
        ..form(
            "AKShare (stock_zh_a_hist)",
            &["日期,收盘,成交量"],
            "date=日期,symbol=股票代码,open=开盘,high=最高,low=最低,close=收盘,volume=成交量:hands,amount=成交额:yuan",
        )
    },
    form(
        "Tushare (daily)",
        &["ts_code,vol,close"],
        "date=trade_date,symbol=ts_code,open=open,high=high,low=low,close=close,volume=vol:hands,amount=amount:thousands,\
         factor=adj_factor",
    ),
    form(
        "BaoStock (query_history_k_data_plus)",
        &[
            "date,close,adjustflag",
            "date,close,tradestatus",
            "date,close,isST",
        ],
        "date=date,symbol=code,open=open,high=high,low=low,close=close,volume=volume,amount=amount,adjustflag=adjustflag,\
         tradestatus=tradestatus,st=isST",
    ),
    VendorForm {
        caveat: Some("prices are as traded only under adjust_type=\"none\""),
        ..form(
            "RiceQuant (get_price)",
            &["order_book_id,close", "total_turnover,close"],
            "date=date,date=datetime,symbol=order_book_id,open=open,high=high,low=low,close=close,volume=volume,amount=total_turnover",
        )
    },
    VendorForm {
        caveat: Some(
            "prices are as traded only under fq=None; under others they are price x factor: --basis adjusted",
        ),
        ..form(
            "JoinQuant (get_price)",
            &["money,close", "paused,close"],
            "date=time,date=date,date=,symbol=code,open=open,high=high,low=low,close=close,volume=volume,amount=money,factor=factor,\
             suspended=paused",
        )
    },
    VendorForm {
        caveat: Some(
            "before a split or bonus issue prices are divided by it and volumes multiplied: lots, limits and fen are not those traded",
        ),
        ..form(
            "yfinance (auto_adjust=False)",
            &["Close,Adj Close"],
            "date=Date,symbol=Ticker,symbol=Symbol,open=Open,high=High,low=Low,close=Close,adj_close=Adj Close,volume=Volume,\
             dividend=Dividends",
        )
    },
    form(
        "Tushare (adj_factor)",
        &["ts_code,trade_date,adj_factor"],
        "date=trade_date,symbol=ts_code,factor=adj_factor",
    ),
    form(
        "JoinQuant (factor)",
        &["time,code,factor"],
        "date=time,symbol=code,factor=factor",
    ),
    form(
        "BaoStock (query_adjust_factor)",
        &["code,dividOperateDate,backAdjustFactor"],
        "date=dividOperateDate,symbol=code,factor_since=backAdjustFactor",
    ),
    form(
        "RiceQuant (get_ex_factor)",
        &["ex_date,ex_cum_factor"],
        "date=ex_date,symbol=order_book_id,factor_since=ex_cum_factor",
    ),
    form(
        "AKShare (hfq-factor)",
        &["date,hfq_factor"],
        // Its files begin with a row of 1900: a stock without one was not downloaded.
        "date=date,factor=hfq_factor",
    ),
];
