//! Codes of a step's record in words, with the code beside.

use super::value::line;
use maud::{Markup, html};

/// A code with its meaning, where one is known: a later program may write others.
pub(super) fn told(code: &str, meaning: fn(&str) -> Option<&'static str>) -> Markup {
    html! {
        @match meaning(code) {
            Some(meaning) if meaning == code => { (meaning) }
            Some(meaning) => { (meaning) " (" code { (line(code)) } ")" }
            None => { code { (line(code)) } }
        }
    }
}

/// A code whose meaning, where one is known, is its title.
pub(super) fn short(code: &str, meaning: Option<&str>) -> Markup {
    html! {
        @match meaning {
            Some(meaning) => { abbr title=(meaning) { (line(code)) } }
            None => { (line(code)) }
        }
    }
}

/// What became of an order.
pub(super) fn of_order(code: &str) -> Option<&'static str> {
    Some(match code {
        "filled" => "filled",
        "clipped" => "filled in part, as cash, volume or a corporate action allowed",
        "unknown_symbol" => "not traded: no such stock in this episode",
        "duplicate" => "not traded: the list has an order on this stock already",
        "not_in_universe" => "not traded: no index member on the day before",
        "not_held" => "not traded: nothing of it is held",
        "side_mismatch" => "not traded: the target asks for no trade, or for one on the other side",
        "oversell" => "not traded: more shares than may be sold",
        "lot" => "not traded: no legal number of shares",
        "max_single_weight" => "not traded: the holding would weigh too much",
        "max_positions" => "not traded: too many stocks would be held",
        "suspended" => "not traded: the stock did not trade at the open",
        "limit_up" => "not traded: the open stood at the upper price limit",
        "limit_down" => "not traded: the open stood at the lower price limit",
        "volume" => {
            "not traded: the share of the day's volume that may trade holds no legal number of shares"
        }
        "cash" => "not traded: the cash did not suffice",
        _ => return None,
    })
}

/// Why a submission was refused: the kind of mistake, or what exactly the orders broke.
pub(super) fn of_submission(code: &str) -> Option<&'static str> {
    Some(match code {
        "bad_tool_call" => "a tool refused its arguments",
        "no_tool_call" => "nothing was called",
        "unknown_tool" => "a tool was called that there is not",
        "wrong_tool" => "another tool was called than the one that submits",
        "multiple_submissions" => "more than one submission",
        "too_many_calls" => "more calls than a reply may have",
        "arguments_malformed" => "the arguments are no JSON object",
        "arguments_too_large" => "the arguments are too large to be read",
        "rejected" => "the orders were refused",
        "truncated" => "the output ended before the reply was complete",
        "refusal" => "the model or its vendor's filter declined",
        "call_in_content" => "the call was written as text and not made",
        "no_answer" => "the reply was empty, several times",
        "not_json" => "the text is no JSON",
        "not_an_object" => "no JSON object",
        "expected" | "wrong_type" => "a value is not of the kind that is asked for",
        "missing" => "a key is missing",
        "unknown_key" => "a key that there is not",
        "unknown_value" => "a value that is none of those allowed",
        "repeated" => "a key stands there twice",
        "too_long" => "a text is too long",
        "too_short" => "a text is too short",
        "too_deep" => "values are nested too deeply",
        "too_many" => "too many items",
        "too_few" => "too few items",
        "out_of_range" => "a number is out of its range",
        "too_precise" => "a weight has too many decimal places",
        "off_step" => "a weight is off the steps that the mask allows",
        "both_quantities" => "both a weight and a number of shares",
        "no_quantity" => "neither a weight nor a number of shares",
        "shares_hidden" => "a number of shares, which this mask does not allow",
        other => return of_rule(other),
    })
}

/// The rule of the exchange that a refused order broke.
fn of_rule(code: &str) -> Option<&'static str> {
    of_order(code)?.strip_prefix("not traded: ")
}

/// What failed between the program and the model.
pub(super) fn of_infrastructure(code: &str) -> Option<&'static str> {
    Some(match code {
        "connect" => "no connection",
        "timeout" => "no reply in time",
        "interrupted" => "the reply broke off",
        "reply_too_large" | "body_too_large" => "the reply is larger than any answer needs",
        "not_sent" => "the request was not sent",
        "not_running" => "the program that answers does not run",
        "rate_limited" => "too many requests or tokens for now",
        "quota_exhausted" => "no credit is left",
        "overloaded" => "the vendor is overloaded",
        "bad_gateway" => "a gateway before the model failed",
        "server_error" => "an error of the vendor's server",
        "request_expired" => "the vendor gave up on the request",
        "not_json" => "the reply is no JSON",
        "body_truncated" | "stream_truncated" => "the reply ends in the middle",
        "body_too_deep" => "the reply is nested too deeply",
        "server_parser_leak" => "the server did not read the model's call",
        "empty_envelope" => "the reply has no message in it",
        "zero_output" => "the message is empty, and no token was generated",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_stands_beside_its_meaning_and_an_unknown_one_alone() {
        let order = told("suspended", of_order).into_string();
        assert!(
            order.starts_with("not traded: the stock did not trade")
                && order.contains("<code><bdi>suspended</bdi></code>"),
            "{order}"
        );
        let rule = told("not_held", of_submission).into_string();
        assert!(rule.starts_with("nothing of it is held"), "{rule}");
        let own = told("<b>", of_infrastructure).into_string();
        assert_eq!(own, "<code><bdi>&lt;b&gt;</bdi></code>");
    }
}
