use super::*;
use ktd_env::synth::{SynthConfig, generate};
use ktd_io::whole_file::{list, read_input, write_whole};

/// Words with their categories.
fn words(lexicon: &Lexicon, text: &str) -> Vec<(String, Category)> {
    lexicon
        .find(text)
        .into_iter()
        .map(|found| (text[found.bytes].to_owned(), found.category))
        .collect()
}

fn built_in() -> Lexicon {
    Lists::read(None).unwrap().on(None).unwrap()
}

fn check(lexicon: &Lexicon, cases: &[(&str, &[(&str, Category)])]) {
    for (text, expected) in cases {
        let expected: Vec<(String, Category)> = expected
            .iter()
            .map(|(word, category)| ((*word).to_owned(), *category))
            .collect();
        assert_eq!(words(lexicon, text), expected, "{text}");
    }
}

#[test]
fn words_of_both_languages() {
    use Category::{Brand, Company, Macro, News, RealDate, Sector};
    check(
        &built_in(),
        &[
            (
                "This looks like Moutai, a liquor name.",
                &[("Moutai", Brand), ("liquor", Sector)],
            ),
            ("看好飞天茅台，白酒龙头", &[("飞天茅台", Brand), ("白酒", Sector)]),
            ("看好BYD销量", &[("BYD", Brand)]),
            (
                "ＢＹＤ and ２０２４年３月",
                &[("ＢＹＤ", Brand), ("２０２４年３月", RealDate)],
            ),
            ("Apple is a brand, an apple is not", &[("Apple", Brand)]),
            (
                "earnings\n reports in Q1 2024",
                &[("earnings\n reports", News), ("Q1 2024", RealDate)],
            ),
            (
                "PBoC cut; 央行降准后银行受益",
                &[
                    ("PBoC", Macro),
                    ("央行", Macro),
                    ("降准", Macro),
                    ("银行", Sector),
                ],
            ),
            ("The Fed is fed by data; the fed funds", &[("Fed", Macro)]),
            ("中国人民银行", &[("中国人民银行", Macro)]),
            (
                "Banks lead; I bank on banks, banking on a bank.",
                &[("Banks", Sector), ("banks", Sector), ("bank", Sector)],
            ),
            ("blue-chip and chips; retail investors", &[("chips", Sector)]),
            (
                "China Merchants Bank beats a bank",
                &[("China Merchants Bank", Company), ("bank", Sector)],
            ),
            (
                "sold SH600519, 000001.SZ",
                &[("SH600519", Company), ("000001.SZ", Company)],
            ),
            (
                "sanctions on solar utilities",
                &[("sanctions", Macro), ("solar", Sector), ("utilities", Sector)],
            ),
            ("it may rise; in May it did", &[("May", RealDate)]),
            ("Mou\u{200b}tai", &[("Mou\u{200b}tai", Brand)]),
        ],
    );
}

#[test]
fn what_the_harness_says_is_no_hit() {
    check(
        &built_in(),
        &[
            (
                "asset_0042 of sector_03 on STAR and the STAR Market at day_+12",
                &[],
            ),
            (
                "strong MOM_12_1, low RV_60 and ILLIQ; not at limit-up on MAIN",
                &[],
            ),
            ("科创板涨停后买入，权重0.05", &[]),
            ("", &[]),
            ("\u{0}\u{1b}[31m \u{202e}", &[]),
        ],
    );
}

#[test]
fn a_long_reason_is_read_to_its_end() {
    let text = format!("{} 银行 {}Moutai", "好".repeat(4_000), "momentum ".repeat(1_000));
    let found = words(&built_in(), &text);
    assert_eq!(
        found.iter().map(|(word, _)| word.as_str()).collect::<Vec<_>>(),
        ["银行", "Moutai"]
    );
}

#[test]
fn the_panels_names_and_sectors_are_words() {
    let config = SynthConfig {
        seed: 5,
        names: 20,
        days: 330,
    };
    let market = generate(&config).unwrap();
    let (_, info) = market.names().next().unwrap();
    let [chinese, english] = [&info.company_names[0], &info.company_names[1]];
    let sector = &market.sectors()[usize::from(info.sector.unwrap())];
    let lexicon = Lists::read(None).unwrap().on(Some(&market)).unwrap();
    let text = format!("{chinese}和{}, a {sector} stock", english.to_uppercase());
    assert_eq!(
        words(&lexicon, &text),
        [
            (chinese.clone(), Category::Company),
            (english.to_uppercase(), Category::Company),
            (sector.clone(), Category::Sector)
        ]
    );
    assert!(
        words(&built_in(), chinese)
            .iter()
            .all(|(_, category)| *category != Category::Company)
    );
}

#[test]
fn a_full_name_is_the_company_and_a_short_one_the_brand() {
    let config = SynthConfig {
        seed: 5,
        names: 20,
        days: 330,
    };
    let market = generate(&config).unwrap();
    let name = market.names().next().unwrap().1.company_names[0].clone();
    let folder = tempfile::tempdir().unwrap();
    let short: String = name.chars().take(2).collect();
    let path = folder.path().join("brand.zh.txt");
    write_whole(&path, format!("{name}\n{short}\n").as_bytes()).unwrap();
    let lists = Lists::read(Some(folder.path())).unwrap();
    check(
        &lists.on(Some(&market)).unwrap(),
        &[
            (&name, &[(&name, Category::Company)]),
            (&short, &[(&short, Category::Brand)]),
        ],
    );
    check(&lists.on(None).unwrap(), &[(&name, &[(&name, Category::Brand)])]);
}

#[test]
fn names_cut_short_are_not_looked_for() {
    assert!(is_short("动力") && !is_short("st动力") && !is_short("五粮液") && !is_short("3m"));
}

#[test]
fn a_company_wins_over_the_sector_inside_it() {
    let entry = |word: &str, category| Entry::of(word, false, Some(category)).unwrap();
    let (company, sector) = (
        [
            entry("招商银行", Category::Company),
            entry("太阳能", Category::Company),
        ],
        [entry("银行", Category::Sector), entry("太阳能", Category::Sector)],
    );
    let lexicon = Lexicon {
        words: Words::new([
            ("sector".to_owned(), sector.as_slice()),
            (PANEL.to_owned(), &company),
        ])
        .unwrap(),
        dates: DateFinder::new().unwrap(),
        levels: LevelFinder::new().unwrap(),
        codes: CodeFinder::new(None).unwrap(),
    };
    check(
        &lexicon,
        &[
            (
                "招商银行与银行",
                &[("招商银行", Category::Company), ("银行", Category::Sector)],
            ),
            // At equal length a list wins over the panel: more often the word is meant than the company called so.
            ("太阳能", &[("太阳能", Category::Sector)]),
        ],
    );
}

/// Every text that the harness can say at a masked level, less what it fills in.
#[test]
fn prompts_hold_no_word_that_counts() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../prompts/templates");
    let lexicon = built_in();
    let mut read = 0;
    for path in list(&folder).unwrap() {
        let found = words(&lexicon, &read_input(&path).unwrap());
        // The example of a code, where codes are shown.
        let found: Vec<_> = found.into_iter().filter(|(word, _)| word != "SH600000").collect();
        assert_eq!(found, [], "{}", path.display());
        read += 1;
    }
    assert!(20 < read, "{read}");
}

#[test]
fn the_talk_of_a_trader_who_sees_numbers_alone_is_no_hit() {
    let lexicon = built_in();
    for text in [
        "Buy: MOM_12_1 z-score of 2.1, low RV_60; I expect it may march on for 20 days.",
        "Trim to 0.05 to bank the gains and reduce concentration; fed by strong volume.",
        "Diversify: portfolio construction with low auto-correlation, blue-chip-like stability.",
        "The index fell 2.5 % in 20 days; cut exposure of 2000 shares at 1,688.00.",
        "A line of defence: sell the loser, hold cash as insurance.",
        "Retail investors chase limit-up names; the upper limit blocks the buy.",
        "其中标的走势稳定增强，综合评分最高，减持锁定收益。",
        "量化工具显示动量强，胜利率高，近3月波动低，继续增持。",
        "加工行情数据后，持有10年一遇的低估值，每周一次调仓。",
        "成交行为活跃，其中行情集中，风险可控，止损政策不变。",
        "轻微信号转弱，价格力度不足，完美的突破，稳定增长。",
    ] {
        assert_eq!(words(&lexicon, text), [], "{text}");
    }
}
