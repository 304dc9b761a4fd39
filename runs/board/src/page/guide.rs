//! How to read the page: what the words mean, and what they do not say.

use ktd_study::Section;
use maud::html;

/// Words with their meanings.
const WORDS: [(&str, &str); 11] = [
    (
        "Common",
        "What every share of this market earned that day, times the share of the account that was invested. Cash earns 0.",
    ),
    (
        "Style",
        "What leaning on known styles earned: momentum, volatility, illiquidity and the others under \"Exposures to the styles\". A style is \
         not skill: it can be bought without choosing a single name.",
    ),
    (
        "Selection",
        "What is left of the held names' returns after common and style: the part that a choice of names could explain. \
         It is what agents are ranked by.",
    ),
    (
        "Execution, slippage, cost",
        "Execution is what a day's trades earned or missed between close and open; slippage is filling away from the open; \
         cost is fees. They have columns of their own, so that fees cannot hide in selection.",
    ),
    (
        "Unattributed",
        "Profit and loss of holdings that the model does not cover on a day, such as shares that resume after a \
         suspension. It is shown and never spread over the rest.",
    ),
    (
        "Luck",
        "What luck gives as selection is not zero, because equal weights and few names lean away from the fit's own \
         weights. Compare a selection with its band of random portfolios, not with zero.",
    ),
    (
        "Barra-style, but smaller",
        "One country, no industries, prices and volumes only: the drift of an industry lands in selection. An agent that \
         held one industry all the time may look skilled or unskilled for that alone.",
    ),
    (
        "Bright and blinded",
        "A bright run shows real names and dates, a blinded one hides them. A model that remembers these years earns more \
         when it sees names. The memory gap, bright minus blinded with the same numbers, is that difference; where the \
         blinded numbers are coarser, the gap is signal and memory.",
    ),
    (
        "Underpowered",
        "So few windows that even the clearest result could not reach p < 0.05. It says nothing for either side.",
    ),
    (
        "Overlapping windows",
        "Windows that share days are not independent: tests over them claim more than there is. The notes say which do.",
    ),
    (
        "Trials and DSR",
        "The more is tried, the better the best looks. The deflated Sharpe ratio counts every finished run on disk for a \
         window, shown or not.",
    ),
];

/// The section.
pub(super) fn section() -> Section {
    let words = html! { dl { @for (word, meaning) in WORDS { dt { (word) } dd { (meaning) } } } };
    Section::new("How to read this").at("guide", "").picture(words)
}
