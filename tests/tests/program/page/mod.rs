//! The page of a leaderboard: whole, safe with hostile names, small, and never a number that is none.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a broken fixture fails the test"
)]

mod synthetic;
pub(crate) mod well_formed;

use ktd_board::page::report;
use ktd_board::sheet::{self, TableKind};
use ktd_board::{Bounds, WeightBasis};
use ktd_board::{Cohort, Leaderboard, Linked};
use ktd_bundle::summary::Metric;
use ktd_masking::Level;
use ktd_study::ShownRecord;
use ktd_view::draw::{Layout, display_width};
use synthetic::{board, missing};
use well_formed::check;

/// What the page is of.
const RECORD: ShownRecord<'static> = ShownRecord {
    name: "leaderboard.json",
    sha256: "0123456789abcdef",
};

/// Anchors of the ten sections.
const SECTIONS: [&str; 10] = [
    "leaderboard",
    "waterfall",
    "curves",
    "slope",
    "forest",
    "exposures",
    "calibration",
    "health",
    "sensitivity",
    "contrasts",
];

/// Words that a page has when a number was none, or a structure was shown as it is.
const NO_WORDS: [&str; 5] = ["NaN", "inf", "None", "Some", "undefined"];

/// The page of a board.
fn render(board: &Leaderboard) -> String {
    report(board, WeightBasis::HEADLINE).page(RECORD)
}

/// The page of a board, after what must hold of every page.
fn page_of(board: &Leaderboard) -> String {
    let page = render(board);
    check(&page);
    for word in page.split(|character: char| !character.is_alphanumeric()) {
        assert!(!NO_WORDS.contains(&word), "the page has the word {word:?}");
    }
    assert!(!page.contains(">null<"), "the page has a null");
    assert_eq!(page, render(board), "the same board gives the same page");
    page
}

fn section<'p>(page: &'p str, id: &str) -> &'p str {
    let start = page
        .find(&format!("<section id=\"{id}\">"))
        .unwrap_or_else(|| panic!("no section {id}"));
    let end = page[start..].find("</section>").unwrap();
    &page[start..start + end]
}

#[test]
fn all_ten_sections_have_pictures_with_title_and_description_or_a_table() {
    let page = page_of(&board(5, 60, 3, 1));
    for id in SECTIONS {
        let section = section(&page, id);
        assert!(section.contains("<h2>"), "{id} has no head");
        // A key in a legend has its words beside it.
        let is_key = |drawing: &&str| {
            drawing.starts_with("class=\"line-key\"") && drawing.contains("aria-hidden=\"true\"")
        };
        let drawings = section.split("<svg ").skip(1);
        let drawings: Vec<&str> = drawings.filter(|drawing| !is_key(drawing)).collect();
        // Selections under other settings are a table and nothing else.
        let is_drawn = id != "sensitivity";
        assert_eq!(!drawings.is_empty(), is_drawn, "{id}: pictures");
        for drawing in drawings {
            assert!(
                drawing.starts_with("class=\"wide\" role=\"img\"")
                    || drawing.starts_with("class=\"small\" role=\"img\"")
            );
            let title = drawing.find("<title>").unwrap();
            assert_eq!(&drawing[title - 1..title], ">", "{id}: the title comes first");
            assert!(
                drawing.contains("<desc>") && !drawing.contains("<desc></desc>"),
                "{id}: no description"
            );
        }
        assert!(
            section.contains("<summary>The numbers</summary>") == is_drawn && section.contains("<table>"),
            "{id}: no numbers"
        );
        for part in ["Data ", "fit ", "seeds 1, 2, 3, 4, 5", "leaderboard.json"] {
            assert!(
                section.contains(part),
                "{id} does not say where its numbers come from: {part}"
            );
        }
        assert!(
            page.contains(&format!("href=\"#{id}\"")),
            "{id} is not in the contents"
        );
    }
}

#[test]
fn nothing_is_loaded_and_nothing_runs() {
    let page = page_of(&board(4, 40, 2, 2));
    for banned in [
        "<script",
        "<link",
        "<img",
        "<iframe",
        "http",
        "url(",
        "@import",
        "src=",
        "onload",
        "javascript:",
        "style=\"",
    ] {
        assert!(!page.contains(banned), "the page has {banned:?}");
    }
}

#[test]
fn hostile_names_stay_text() {
    const HOSTILE: &str = "\"><script>alert('x')</script><svg onload=\"x\"> & \u{202e}\u{0}]]>";
    let mut board = board(3, 30, 2, 3);
    board.title = HOSTILE.to_owned();
    board.notes = vec![HOSTILE.to_owned()];
    board.ktd = HOSTILE.to_owned();
    board.model.styles[0] = HOSTILE.to_owned();
    board.model.configuration = HOSTILE.to_owned();
    board.protocol.data = HOSTILE.to_owned();
    board.contrasts[0].agent = HOSTILE.to_owned();
    board.contrasts[0].reading = HOSTILE.to_owned();
    board.sensitivity[0].setting = HOSTILE.to_owned();
    for track in &mut board.tracks {
        track.window = HOSTILE.to_owned();
        track.dates[0] = HOSTILE.to_owned();
        track.notes = vec![HOSTILE.to_owned()];
        track.leaders[0].agent = HOSTILE.to_owned();
        track.leaders[0]
            .metrics
            .get_mut(&ktd_board::BoardMetric::Ece)
            .unwrap()
            .median = missing(HOSTILE);
    }
    let page = page_of(&board);
    assert!(
        !page.contains("<script") && !page.contains("<svg onload"),
        "a name became markup"
    );
    assert!(!page.contains('\u{202e}') && !page.contains('\0'));
    assert!(page.contains("&lt;script&gt;alert('x')"));
}

#[test]
fn a_large_board_stays_small() {
    let page = page_of(&board(12, 548, 15, 7));
    assert!(page.len() < 2_000_000, "{} bytes", page.len());
}

#[test]
fn what_is_not_known_says_why() {
    let mut board = board(3, 30, 1, 4);
    let track = &mut board.tracks[0];
    track.benchmark_return = missing("no index");
    track.benchmark.clear();
    track.price_index_name = None;
    track.price_index_return = missing("no index");
    track.price_index.clear();
    track.separation = None;
    for leader in &mut track.leaders {
        for stat in leader.metrics.values_mut() {
            stat.median = missing("the run lasted one day");
            stat.quartiles = None;
            stat.values.clear();
        }
        leader.alpha_rank = None;
        leader.return_rank = None;
        leader.delta_rank = None;
        leader.rank_interval = None;
        leader.first_share = None;
        leader.attribution = None;
        leader.unattributed_reason = Some("the file has no trades".to_owned());
        leader.selection = None;
        leader.exposures.clear();
        leader.daily_exposures.clear();
        leader.curves = None;
        leader.reliability = None;
        leader.memory_gap = None;
    }
    board.model.calibration = None;
    board.model.vif_path.clear();
    board.contrasts.clear();
    board.sensitivity.clear();
    board.health.dates.clear();
    board.health.factors.clear();
    let page = page_of(&board);
    let leaderboard = section(&page, "leaderboard");
    for reason in ["the run lasted one day", "the file has no trades"] {
        assert!(
            leaderboard.contains(&format!("<abbr title=\"{reason}\">n/a<sup>")),
            "{reason}: not in its cell"
        );
        assert!(
            leaderboard.contains(&format!("</sup> {reason}</li>")),
            "{reason}: not below the table"
        );
    }
    assert!(
        leaderboard.contains("class=\"nothing\""),
        "ranks without intervals say so"
    );
    let absent = section(&page, "absent");
    for title in [
        "Where the return came from",
        "How the return grew",
        "From return to skill",
        "Selection against luck",
        "Exposures to the styles",
        "Confidence against what happened",
        "Health of the factor model",
        "Other settings of the model",
        "Bright against blinded",
    ] {
        assert!(
            absent.contains(&format!("<dt>{title}")),
            "{title} does not say why"
        );
    }
}

/// Days of a mask that hides them are numbers on the page, also where other rows show theirs; the record names them.
#[test]
fn a_masked_window_is_called_by_its_name_and_its_number_of_days() {
    let mut board = board(3, 130, 1, 4);
    let dates = board.tracks[0].dates.clone();
    board.tracks[0].level = Level::Bright;
    let page = page_of(&board);
    assert!(page.contains(&format!("({} to {}", dates[0], dates[129])) && page.contains("month's last day"));
    board.tracks[0].level = Level::Blinded;
    let page = page_of(&board);
    assert!(
        page.contains("(130 days)") && page.contains(">day 126<"),
        "{page}"
    );
    let dates = board.tracks[0].dates.iter().chain(&board.health.dates);
    let named: Vec<&str> = dates
        .map(|date| &date[..7])
        .filter(|month| page.contains(month))
        .collect();
    assert!(named.is_empty(), "{named:?}");
}

#[test]
fn a_board_of_days_that_cannot_be_fitted_names_no_first() {
    let mut board = board(3, 40, 1, 5);
    assert!(page_of(&board).contains("First by selection"));
    board.health.thin_days = board.health.dates.len();
    let page = page_of(&board);
    assert!(
        page.contains(
            "Nothing is known of selection: the factor model could be fitted on none of the 40 days"
        )
    );
    assert!(!page.contains("First by selection"));
    board.unfinished = 2;
    let page = page_of(&board);
    assert!(
        page.contains("no whole experiment: 2 episodes of it did not end. Nothing is known of selection"),
        "an unfinished one says so, too"
    );
}

#[test]
fn small_boards_are_pages_too() {
    for (agents, days, tracks) in [
        (1, 60, 1),
        (3, 1, 1),
        (1, 1, 1),
        (2, 2, 2),
        (0, 30, 1),
        (3, 0, 1),
        (30, 20, 1),
    ] {
        page_of(&board(agents, days, tracks, 5));
    }
    let mut empty = board(3, 30, 1, 5);
    empty.tracks.clear();
    assert!(page_of(&empty).contains("There is no ranking"));
}

#[test]
fn medians_stand_with_their_quartiles_and_curves_are_said_to_be_means() {
    let mut board = board(3, 40, 1, 6);
    let first = &mut board.tracks[0].leaders[0];
    let turnover = first.metrics.get_mut(&ktd_board::BoardMetric::Turnover).unwrap();
    turnover.median = Metric::of(Ok(7.25));
    turnover.quartiles = Some(Bounds { low: 6.5, high: 9.75 });
    first.seeds = vec![1, 2, 3];
    let page = page_of(&board);
    let leaderboard = section(&page, "leaderboard");
    assert!(
        leaderboard.contains("7.25 [6.50, 9.75]"),
        "no quartiles beside the median"
    );
    assert!(leaderboard.contains("max_single_weight"), "no rejected orders");
    assert!(leaderboard.contains("mixed: "), "no comparability");
    assert!(leaderboard.contains("a bull market (benchmark"), "no regime");
    let memory = section(&page, "memory");
    assert!(
        page.contains("href=\"#memory\""),
        "the gaps are not in the contents"
    );
    assert!(
        ["before", "across", "after"]
            .iter()
            .all(|side| memory.contains(&format!(">{side}<")))
    );
    let curves = section(&page, "curves");
    assert!(curves.contains("Every curve is the mean over seeds") && curves.contains("mean of 3 seeds"));
}

#[test]
fn a_day_alone_is_a_point() {
    let page = page_of(&board(2, 1, 1, 6));
    assert!(section(&page, "exposures").contains("class=\"expo point\""));
}

fn losses(linked: &mut Linked) {
    let split = [&mut linked.common, &mut linked.style, &mut linked.selection];
    let beside = [
        &mut linked.execution,
        &mut linked.slip,
        &mut linked.cost,
        &mut linked.unattributed,
    ];
    let mut whole = 0.0;
    for part in split.into_iter().flatten().chain(beside) {
        *part = -part.abs() - 0.01;
        whole += *part;
    }
    linked.portfolio = whole;
}

#[test]
fn losses_alone_stay_on_the_picture() {
    let mut board = board(2, 40, 1, 8);
    for contribution in board.tracks[0]
        .leaders
        .iter_mut()
        .flat_map(|leader| leader.attribution.iter_mut())
        .flat_map(|bases| [&mut bases.pre, &mut bases.post, &mut bases.two])
    {
        losses(&mut contribution.carino);
    }
    let page = page_of(&board);
    let waterfall = section(&page, "waterfall");
    for bar in waterfall
        .split("<rect ")
        .skip(1)
        .filter(|bar| bar.starts_with("class=\"neg\"") || bar.starts_with("class=\"tot\""))
    {
        let number = |name: &str| -> f64 {
            let start = bar.find(&format!("{name}=\"")).unwrap() + name.len() + 2;
            bar[start..].split('"').next().unwrap().parse().unwrap()
        };
        assert!(
            0.0 <= number(" x") && number(" x") + number("width") <= 340.0,
            "{bar}"
        );
    }
}

#[test]
fn numbers_that_are_none_are_never_shown() {
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let mut board = board(3, 30, 2, 9);
        board.model.vif_threshold = bad;
        board.model.vif_path[0].vif[0].vif = Some(bad);
        board.health.r_squared.fill(bad);
        board.health.factors[0].significant_share = bad;
        board.health.factors[0].newey_west_t = Some(bad);
        board.sensitivity[0].selection.fill(bad);
        board.sensitivity[0].largest_daily_change = bad;
        board.sensitivity[1].kendall_tau.value = Some(bad);
        board.contrasts[0].pairs[0].bright = bad;
        board.contrasts[0].p = Some(bad);
        board.contrasts[0].shift = Some(bad);
        for leader in &mut board.tracks[0].leaders {
            leader
                .metrics
                .values_mut()
                .for_each(|stat| stat.median.value = Some(bad));
            leader.exposures[..].iter_mut().for_each(|value| *value = bad);
            leader
                .daily_exposures
                .iter_mut()
                .for_each(|series| series.fill(Some(bad)));
            leader.first_share = leader.first_share.map(|_| bad);
            if let Some(curves) = &mut leader.curves {
                curves.nav.fill(bad);
                curves.style.fill(bad);
                curves.drawdown.fill(bad);
            }
            if let Some(selection) = &mut leader.selection {
                selection.a_day = bad;
                selection.interval = Some(Bounds { low: bad, high: bad });
                selection.null_band = Some(Bounds { low: bad, high: bad });
                selection.null_mean = Some(bad);
                selection.dsr.value = Some(bad);
            }
            for contribution in leader
                .attribution
                .iter_mut()
                .flat_map(|bases| [&mut bases.pre, &mut bases.post, &mut bases.two])
            {
                contribution.carino.selection = Some(bad);
                contribution.carino.portfolio = bad;
            }
            if let Some(reliability) = &mut leader.reliability {
                reliability.ece.value = Some(bad);
                reliability.bins[9].confidence = Some(bad);
            }
        }
        page_of(&board);
    }
}

#[test]
fn controls_and_references_stand_below_without_a_rank() {
    let board = board(4, 30, 1, 10);
    let page = page_of(&board);
    let table = section(&page, "leaderboard");
    let rows: Vec<&str> = table
        .split("<tbody>")
        .nth(1)
        .unwrap()
        .split("<tr")
        .skip(1)
        .collect();
    let leaders = &board.tracks[0].leaders;
    for (row, leader) in rows.iter().zip(leaders) {
        let is_apart = matches!(leader.cohort, Cohort::Control | Cohort::Reference);
        assert_eq!(row.starts_with(" class=\"apart"), is_apart, "{}", leader.agent);
        assert!(
            !is_apart || row.contains("><td></td><th"),
            "{} has a rank",
            leader.agent
        );
    }
    assert!(
        rows[4].starts_with(" class=\"apart first\""),
        "the first of them is cut off from the ranked"
    );
}

#[test]
fn the_basis_is_switched_without_a_script() {
    let page = page_of(&board(2, 30, 1, 11));
    for basis in ["pre", "post", "two"] {
        let checked = if basis == "two" {
            " checked=\"checked\""
        } else {
            ""
        };
        let radio = format!(
            "<input type=\"radio\" name=\"basis\" id=\"basis-{basis}\"{checked}><label for=\"basis-{basis}\">"
        );
        assert!(page.contains(&radio), "{basis}");
        assert!(
            page.contains(&format!("#basis-{basis}:checked ~ .cards .basis-{basis}")),
            "{basis}"
        );
        assert!(
            page.contains(&format!("<div class=\"basis-{basis}\">")),
            "{basis}"
        );
    }
}

#[test]
fn a_ranking_shows_that_it_scrolls_and_cuts_no_name() {
    let page = page_of(&board(12, 30, 1, 13));
    let style = page.split("</style>").next().unwrap();
    let rule = |selector: &str| {
        let start = style.find(&format!("\n{selector} {{")).unwrap();
        let end = style[start..].find('}').unwrap();
        &style[start..start + end]
    };
    let scroll = rule(".scroll");
    assert!(
        scroll.contains("overflow-x: auto") && scroll.contains("local") && scroll.contains("var(--shade)")
    );
    let names = rule("tbody th, thead tr:last-child > th:first-child.l");
    assert!(names.contains("position: sticky") && names.contains("left: 0"));
    assert!(rule("tbody th").contains("overflow-wrap: anywhere"));
    assert!(!style.contains("text-overflow"), "names are wrapped");
    for name in [
        "llama-5-405b-instruct-long-context",
        "\u{901a}\u{4e49}\u{5343}\u{95ee}-\u{9ed8}\u{8ba4}",
    ] {
        let table = section(&page, "leaderboard");
        assert!(table.contains(&format!("{name} \u{b7} model</th>")), "{name}");
    }
    assert!(
        style.contains(".numbers:not([open]), .styles:not([open]) { display: none; }"),
        "folded numbers are not printed"
    );
}

#[test]
fn tables_fit_a_terminal_and_keep_what_ranks() {
    let mut board = board(12, 30, 2, 14);
    board.tracks[0].leaders[1].agent = "\u{1b}[2Jmodel".to_owned();
    for kind in TableKind::ALL {
        let table = sheet::table(&board, kind, &board.tracks[0], WeightBasis::Pre);
        for width in [80, 100, 200] {
            let layout = Layout {
                width: Some(width),
                is_coloured: false,
                flag: "--wide",
            };
            let text = table.text_in(layout);
            let widest = text.lines().map(display_width).max().unwrap();
            assert!(widest <= width, "{kind:?} at {width} takes {widest}:\n{text}");
            assert!(!text.contains('\u{1b}'), "{kind:?}: an escape sequence");
        }
    }
    let ranking = sheet::table(&board, TableKind::Ranking, &board.tracks[0], WeightBasis::Pre);
    let narrow = ranking.text_in(Layout {
        width: Some(80),
        flag: "--wide",
        ..Layout::default()
    });
    let heads = narrow.lines().find(|line| line.starts_with("alpha-rk")).unwrap();
    for head in ["agent", "bp a day", "low", "high"] {
        assert!(heads.contains(head), "{head}: {heads}");
    }
    assert!(narrow.replace('\n', " ").contains("(--wide shows"), "{narrow}");
    assert!(narrow.contains("llama-5-405b-instruct-long-context"), "{narrow}");
}

#[test]
fn every_class_has_a_style() {
    let page = page_of(&board(12, 60, 2, 12));
    let (style, rest) = page.split_once("</style>").unwrap();
    let used: std::collections::BTreeSet<&str> = rest
        .split("class=\"")
        .skip(1)
        .flat_map(|after| after.split('"').next().unwrap().split(' '))
        .collect();
    // Marks without a rule of their own: they take the one of their element.
    let plain = ["t", "apart", "numbers"];
    for class in used.into_iter().filter(|class| !plain.contains(class)) {
        let rule = format!(".{class}");
        let has_rule = style.match_indices(&rule).any(|(place, _)| {
            let next = style[place + rule.len()..].chars().next().unwrap();
            !next.is_alphanumeric() && next != '-'
        });
        assert!(has_rule, "class {class:?} has no rule");
    }
}
