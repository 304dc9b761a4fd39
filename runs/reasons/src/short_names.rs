//! Names of companies as people shorten them, from the names that a panel lists.

use ktd_guard::is_chinese;
use std::collections::{BTreeMap, BTreeSet};

// Each list is one text, its entries between bars.

/// What stands at the end of a listed Chinese name and is left away.
const ENDINGS: &str = "股份|集团|控股|科技|技术|生物|电子|药业|制药|医药|医疗|智能|能源|电气|银行|证券|信息|光电|新材|材料|国际|环保|\
    传媒|软件|食品|电力|高科|精密|化学|通信|动力|健康|装备|汽车|实业|网络|文化|重工|化工|矿业|家居|资源|电器|旅游|\
    物流|燃气|航空|黄金|机械|激光|光学|工业|石化|啤酒|乳业|水泥|钢铁|铝业|铜业|酒业|保险|微电";
/// Places at the head of a listed Chinese name that are left away.
const PLACES: &str = "中国|上海|北京|天津|重庆|广东|广州|深圳|浙江|杭州|宁波|江苏|南京|苏州|无锡|山东|青岛|四川|成都|湖南|长沙|湖北|\
    武汉|河北|河南|山西|陕西|西安|贵州|云南|福建|厦门|安徽|新疆";
/// Pairs of characters that are words, or places: left of a name they name nothing.
const WORDS: &str = "国际|国家|建设|发展|长江|东方|南方|北方|西部|中部|东部|华东|华南|华北|中原|联合|世纪|时代|阳光|光明|振兴|复兴|\
    创新|创业|未来|先导|领先|第一|人民|大众|通用|综合|平安|健康|安全|信息|数据|智慧|智能|电子|能源|科技|机场|铁路|\
    高速|港口|银行|证券|保险|汽车|石油|石化|化工|电力|核电|黄金|稀土|软件|卫星|移动|电信|联通|动力|重工|船舶|建筑|\
    中铁|交建|中冶|长城|黄山|泰山|海洋|太阳|太极|金牌|红旗|五洲|神州|天地|东海|西南|东南|西北|东北|中心|核心|价值|\
    成长|动量|指数|市场|风险|组合|新高|增长|稳健|龙头|交通|农业|文化|国新|大有|大全|大商|大海|步长|天风|能建|金风|\
    合力|平高|新集|新安|新百|新城|新华|老板|太保|电影|电建|电广|电投|家化|胜利|通号|有线|机电|石头|神火|公牛|巨人|\
    春秋|同方|吉祥|凤凰|彩虹|银河|隧道|水务|焦化|焦煤|煤业|锌业|锡业|钨业|软控|民生|工商|信达|临港|首开|百联|富达|\
    恒生|美的|光线|光启|建工|城投|外服|风华|浪潮|长春|贵阳|江西|安阳|三峡|一重|鼎力|大族|大华|思源|梅花|福田|晨光|\
    星湖|超声|华联|国安|建发|国贸|综艺|首钢";
/// What stands at the end of a listed English name and is left away, word by word.
const ENGLISH_ENDINGS: &str = "co|ltd|limited|company|corp|corporation|inc|plc|group|holding|holdings|technology|technologies|tech|industry|\
    industries|international|electronics|electronic|bank|securities|pharma|pharmaceutical|pharmaceuticals|energy|\
    materials|chemical|chemicals|motor|motors|insurance|foods|food|power|steel|software|media|machinery|electric|\
    resources";
/// English words at the head of a name that alone name nothing.
const ENGLISH_WORDS: &str = "china|chinese|shanghai|beijing|shenzhen|guangdong|zhejiang|jiangsu|shandong|sichuan|national|great|united|\
    general|first|global|eastern|western|northern|southern|central|golden|digital|state|industrial|commercial|\
    merchants|people|new|international";
/// The fewest letters of an English short name.
const LETTERS_MIN: usize = 5;

/// Short names that belong to one of the listed names each, in the order of their texts.
pub(super) fn short_names(listed: &[String]) -> Vec<String> {
    let mut owners: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for name in listed {
        let short = if name.chars().any(is_chinese) {
            chinese(name)
        } else {
            english(name)
        };
        for short in short.into_iter().filter(|short| short != name) {
            owners.entry(short).or_default().insert(name);
        }
    }
    let own = owners.into_iter().filter(|(_, names)| names.len() == 1);
    own.map(|(short, _)| short).collect()
}

/// Whether a list has an entry.
fn has(list: &str, word: &str) -> bool {
    list.split('|').any(|entry| entry == word)
}

fn chinese(name: &str) -> Vec<String> {
    let head = ENDINGS.split('|').find_map(|ending| name.strip_suffix(ending));
    let tail = PLACES.split('|').find_map(|place| name.strip_prefix(place));
    let is_name = |short: &&str| {
        let is_known = has(WORDS, short) || has(ENDINGS, short) || has(PLACES, short);
        // `其中`, `集中`, `盘中` and the like end in what such a name begins with.
        let is_cut = short.chars().count() == 2 && short.starts_with('中');
        2 <= short.chars().count() && !is_cut && short.chars().all(is_chinese) && !is_known
    };
    [head, tail]
        .into_iter()
        .flatten()
        .filter(is_name)
        .map(str::to_owned)
        .collect()
}

fn english(name: &str) -> Vec<String> {
    let words: Vec<&str> = name
        .split([' ', ',', '.', '(', ')'])
        .filter(|word| !word.is_empty())
        .collect();
    let kept = words
        .iter()
        .rposition(|word| !has(ENGLISH_ENDINGS, word))
        .map_or(0, |last| last + 1);
    let kept = words.get(..kept).unwrap_or_default();
    let short = kept.join(" ");
    let is_word = kept.len() == 1 && has(ENGLISH_WORDS, &short);
    let is_long = LETTERS_MIN <= short.chars().filter(char::is_ascii_alphabetic).count();
    if is_long && !is_word {
        vec![short]
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_shortened_to_what_is_its_own() {
        let listed = [
            "恒瑞医药",
            "贵州茅台",
            "中国平安",
            "东方证券",
            "甲乙科技",
            "甲乙电子",
            "kweichow moutai co., ltd.",
            "china bank",
        ];
        let listed = listed.map(str::to_owned);
        assert_eq!(short_names(&listed), ["kweichow moutai", "恒瑞", "茅台"]);
    }
}
