//! Whether a text says of a word that it does not know, see or use what it stands for: `without news`, `not in 2020`.
//!
//! A word is denied by a cue close before it in its clause (`no news of COVID`), by one right behind it (`the date is
//! unknown`), or with its neighbour in a list (`no news, earnings or policy`). `No doubt Moutai` and `do not sell Moutai` deny nothing.

use ktd_guard::is_chinese;
use std::ops::Range;

// Each list is one text, its entries between bars.

/// Cues of up to two words.
const CUES: &str = "without|no|nor|neither|lacking|lack of|lacks|absent|absence of|ignoring|ignore|ignores|regardless of|\
    irrespective of|independent of|devoid of|free of|unaware of|agnostic to|agnostic about|blind to|\
    cannot identify|cannot infer|cannot tell|cannot know|cannot see|cannot determine|cannot say|cannot be|not be|\
    cannot verify|can't identify|can't tell|can't see|can't know|not know|don't know|not see|don't see|not have|\
    don't have|not given|not told|not shown|not use|not using|not rely|not relying|not depend|not need|\
    not consider|not considering|not assume|not assuming|not guess|not infer|never mentions|nothing about|\
    nothing on";
/// The most words between a cue and what it denies.
const GAP: usize = 5;
/// What may follow `not` where it denies what comes next.
const AFTER_NOT: &str = "in|on|about|from|any|a|an|the|based|driven|due|because|related|tied|of|by|for";
/// What follows `no` where nothing is denied.
const AFTER_NO: &str =
    "doubt|surprise|wonder|other|different|less|longer|better|worse|more|question|reason|one|stranger|sooner";
/// A word between cue and word that makes a statement of its own: the word is named, not denied.
const STATEMENTS: &str = "buy|buying|sell|selling|hold|holding|chase|chasing|add|adding|trim|trimming|own|owning|like|than|is|was|were|\
    are|since|after|when|if|but|yet|so|although|while|except|unless|though|however|which|forget|remember|beats|\
    matches|resembles|looks|fell|rose|rises|falls|reminds|until|whose";
/// What may stand between a word and what says so of it.
const LINKS: &str = "is|are|was|were|remains|remain|name|names|level|levels|data|information|of|the|this|that|it|its|here|to|\
    a|an|rating|ratings|reports|report|figures|numbers|window|period|itself|all|do|does|did|belongs|has|have|been";
/// What says so behind a word.
const BEHIND: &str = "unknown|unavailable|undisclosed|hidden|masked|irrelevant|withheld|anonymised|anonymized|invisible|concealed|\
    unidentified|unstated|n/a|undetermined";
/// What says so behind a word and `not`.
const BEHIND_NOT: &str = "shown|given|known|available|provided|disclosed|visible|considered|used|part|relevant|called|named|needed|\
    matter|told|revealed|mentioned|identifiable|identified|inferred|determined|verified";
const CHINESE_CUES: &str = "没有|没|无|未|不知道|不知|不清楚|不了解|不考虑|不依赖|不涉及|不参考|不依据|不基于|不是|不看|不受|不存在|不含|\
    不需要|并非|并不|缺乏|缺少|忽略|排除|抛开|撇开|看不到|看不出|不因|不猜|不假设|不能判断|不能识别|不能确定|\
    不能得知|而非|不对应|不代表|不属于|不使用|不用|不利用|不借助|不掌握|任何|不管|不论|不预测|不评论|不推测|\
    不猜测|不参照|不凭";
/// Chinese words that begin as a cue does and deny nothing.
const NO_CHINESE_CUES: &str = "无疑|无风险|无非|无量|未来|未尝|没有比|没人比|不是没有|无不|未必不|无愧|没落|未平|无缝|没想到|未免|无异|\
    不是不|没准";
const CHINESE_STATEMENTS: &str = "买|卖|持有|加仓|减仓|追|配置|像|类似|但|却|忘|超过|低于|高于|不|如";
const CHINESE_BEHIND: &str = "未知|不详|不明|未披露|未提供|未显示|未给出|未展示|被隐藏|被屏蔽|不可见|无从得知|不得而知|无关|不予考虑|\
    不作考虑|不纳入|不参与|缺失|不清楚|不可得|看不到|未考虑|未使用|未纳入";
/// The most Chinese characters between a cue and what it denies, on either side.
const CHINESE_GAP: usize = 8;
const LISTED: &str = "or|and|nor|/";

/// Which of the parts of a text in lower case, given in order, it denies.
pub(super) fn denied(text: &str, parts: &[Range<usize>]) -> Vec<bool> {
    let between = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    let mut all: Vec<bool> = parts
        .iter()
        .map(|part| {
            let (before, after) = (between(0, part.start), between(part.end, text.len()));
            is_denied_before(before) || is_denied_behind(after)
        })
        .collect();
    let joins = |left: usize, right: usize| {
        let (Some(first), Some(second)) = (parts.get(left), parts.get(right)) else {
            return false;
        };
        is_list(between(first.end, second.start), between(second.end, text.len()))
    };
    let mut is_before = false;
    for (place, is_denied) in all.iter_mut().enumerate() {
        *is_denied |= is_before && joins(place - 1, place);
        is_before = *is_denied;
    }
    let mut is_behind = false;
    for (place, is_denied) in all.iter_mut().enumerate().rev() {
        *is_denied |= is_behind && joins(place, place + 1);
        let part = parts.get(place);
        let own = part.is_some_and(|part| is_denied_behind(between(part.end, text.len())));
        is_behind = own || is_behind && *is_denied;
    }
    all
}

/// Whether a list has a word.
fn has(list: &str, word: &str) -> bool {
    list.split('|').any(|entry| entry == word)
}

/// Words of English text, `don't` as one.
fn words(text: &str) -> Vec<&str> {
    let is_of_word =
        |character: char| character.is_ascii_alphanumeric() || character == '\'' || character == '/';
    text.split(|character: char| !is_of_word(character))
        .filter(|word| !word.is_empty())
        .collect()
}

/// The clause that ends with a text, or begins with it: up to a mark that parts statements.
fn is_break(character: char) -> bool {
    matches!(
        character,
        '.' | '!' | '?' | ';' | ':' | '\n' | '。' | '！' | '？' | '；' | '：' | '(' | ')'
    )
}

fn is_comma(character: char) -> bool {
    matches!(character, ',' | '，')
}

fn is_denied_before(before: &str) -> bool {
    let clause = before
        .rsplit(|character| is_break(character) || is_comma(character))
        .next()
        .unwrap_or_default();
    let words = words(clause);
    let is_cue = |place: usize| {
        let (Some(word), gap) = (words.get(place), words.len() - 1 - place) else {
            return false;
        };
        let next = words.get(place + 1).copied();
        let is_not = matches!(*word, "not" | "isn't" | "wasn't" | "aren't") && gap < GAP;
        if *word == "any" && gap <= 1 || is_not && next.is_none_or(|next| has(AFTER_NOT, next)) {
            return true;
        }
        let is_innocent = *word == "no" && next.is_some_and(|next| has(AFTER_NO, next));
        !is_innocent
            && CUES.split('|').any(|cue| match cue.split_once(' ') {
                None => cue == *word && gap <= GAP,
                Some((first, second)) => first == *word && next == Some(second) && gap <= GAP + 1,
            })
    };
    let said = |place: usize| words.iter().skip(place + 1).any(|word| has(STATEMENTS, word));
    (0..words.len()).any(|place| is_cue(place) && !said(place)) || is_denied_before_in_chinese(clause)
}

fn is_denied_before_in_chinese(clause: &str) -> bool {
    CHINESE_CUES.split('|').any(|cue| {
        let Some(start) = clause.rfind(cue) else {
            return false;
        };
        let from = clause.get(start..).unwrap_or_default();
        let gap = from.get(cue.len()..).unwrap_or_default();
        gap.chars().count() <= CHINESE_GAP
            && !NO_CHINESE_CUES
                .split('|')
                .any(|innocent| from.starts_with(innocent))
            && !CHINESE_STATEMENTS.split('|').any(|word| gap.contains(word))
            && gap.chars().all(|character| {
                is_chinese(character) || "、 \"'“”".contains(character) || character.is_ascii_alphanumeric()
            })
    })
}

fn is_denied_behind(after: &str) -> bool {
    let clause = after
        .split(|character| is_break(character) || is_comma(character))
        .next()
        .unwrap_or_default();
    let words = words(clause);
    let cue = words.iter().position(|word| !has(LINKS, word));
    let rest = cue.and_then(|cue| words.get(cue..)).unwrap_or_default();
    let in_english = match rest {
        ["or", "not", ..] => words.first() == Some(&"or"),
        ["plays" | "play", "no", ..] => true,
        [
            "not" | "isn't" | "aren't" | "wasn't" | "cannot" | "can't" | "never",
            "be",
            word,
            ..,
        ]
        | ["not" | "isn't" | "aren't" | "wasn't" | "never", word, ..] => has(BEHIND_NOT, word),
        [word, ..] => has(BEHIND, word),
        [] => false,
    };
    let in_chinese = CHINESE_BEHIND.split('|').any(|cue| {
        let gap = clause.find(cue).and_then(|start| clause.get(..start));
        gap.is_some_and(|gap| {
            gap.chars().count() <= CHINESE_GAP
                && !CHINESE_STATEMENTS.split('|').any(|word| gap.contains(word))
        })
    });
    in_english || in_chinese
}

/// Whether what stands between two words, and behind the second, makes a list of them.
fn is_list(gap: &str, after: &str) -> bool {
    let between = words(gap);
    let is_joined =
        between.iter().any(|word| has(LISTED, word)) || gap.contains(['、', '或', '和', '与', '及', '/']);
    let is_short = between.len() <= 4 && gap.chars().filter(|character| is_chinese(*character)).count() <= 6;
    let goes_on = || {
        let rest = after.trim_start();
        rest.is_empty()
            || rest.starts_with(|next| is_comma(next) || is_break(next) || next == '、')
            || words(rest).first().is_some_and(|word| has(LISTED, word))
    };
    is_short
        && !gap.contains(is_break)
        && !between.iter().any(|word| has(STATEMENTS, word))
        && (is_joined || gap.contains(is_comma) && goes_on())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether a text denies each of some words.
    fn of(text: &str, said: &[&str]) -> Vec<bool> {
        let text = text.to_lowercase();
        let parts: Vec<Range<usize>> = said
            .iter()
            .map(|word| {
                text.find(&word.to_lowercase())
                    .map(|at| at..at + word.len())
                    .unwrap()
            })
            .collect();
        denied(&text, &parts)
    }

    #[test]
    fn what_is_not_known_or_used_is_denied() {
        for (text, said) in [
            ("I act without news here", "news"),
            ("There is no news of COVID in the data", "COVID"),
            ("I do not know the date", "date"),
            ("This is not in 2020", "2020"),
            ("The sector is unknown", "sector"),
            ("Sectors are not shown", "Sectors"),
            ("没有任何公告可用", "公告"),
            ("不考虑行业与政策", "政策"),
            ("具体日期不详", "日期"),
        ] {
            assert_eq!(of(text, &[said]), [true], "{text}");
        }
        assert_eq!(
            of("no news, earnings or policy", &["news", "earnings", "policy"]),
            [true; 3]
        );
        assert_eq!(
            of("earnings or news are not given", &["earnings", "news"]),
            [true; 2]
        );
        assert_eq!(
            of("no news, moutai looks strong", &["news", "moutai"]),
            [true, false]
        );
    }

    #[test]
    fn what_is_named_in_a_negative_sentence_is_named() {
        for (text, said) in [
            ("No doubt this is Moutai", "Moutai"),
            ("Do not sell Moutai", "Moutai"),
            ("Not since the 2015 crash was it so low", "2015 crash"),
            ("no stock is like Moutai", "Moutai"),
            ("Without a signal. Moutai leads", "Moutai"),
            ("无疑是茅台", "茅台"),
            ("不要卖出茅台", "茅台"),
            ("未来看好茅台", "茅台"),
        ] {
            assert_eq!(of(text, &[said]), [false], "{text}");
        }
    }
}
