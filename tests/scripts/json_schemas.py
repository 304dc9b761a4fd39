#!/usr/bin/env python3
"""Writes docs/schemas/*.schema.json from the types of the source that are serialised, their comments as descriptions.

    python3 tests/scripts/json_schemas.py

Reads `pub struct` and `pub enum` with the attributes of serde that this source uses, and nothing else of Rust: an
attribute or type that it does not know ends it with a message. `schemas.rs` of the program's tests validates documents
of real runs against what it writes.
"""

import json
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DIALECT = "https://json-schema.org/draft/2020-12/schema"
DOCUMENTS = {
    "header": ("Header", "header.json of a bundle: what an episode is, before it begins"),
    "summary": ("Summary", "summary.json of a bundle: metrics, counters and money"),
    "leaderboard": ("Leaderboard", "leaderboard.json, and what `ktd --json leaderboard` prints"),
    "certificate": ("SignedCertificate", "certificate.json, and what `ktd --json certify` prints"),
    "event": ("EventLine", "a line of events.jsonl of a bundle"),
    "published": ("Publication", "published.json, and what `ktd --json publish` prints"),
    "plan": ("PlanDocument", "what `ktd --json plan` prints"),
    "results": ("Results", "what `ktd --json run`, `demo` and `replay --branch` print"),
    "verified": ("VerifiedDocument", "what `ktd --json verify` prints"),
    "checks": ("Checks", "what `ktd --json doctor` prints"),
    "error": ("Failure", "what every command prints on standard error under `--json` when it fails"),
}
# Documents that commands put together by hand, as Rust that this script reads.
BY_HAND = """
/// published.json of a folder with bundles.
#[derive(Serialize)]
pub struct Publication {
    /// What is signed.
    pub manifest: PublicationManifest,
    /// By whom.
    pub signature: Signature,
}

/// A line of the log of events.
#[derive(Serialize)]
pub struct EventLine {
    /// Its place, from 0.
    pub seq: u64,
    /// SHA-256 of the line before; of the first line, over the header.
    pub prev: String,
    /// What happened.
    pub body: Event<Value>,
}

/// A plan.
#[derive(Serialize)]
pub struct PlanDocument {
    pub plan: ExperimentPlan,
}

/// Cells of an experiment.
#[derive(Serialize)]
pub struct Results {
    pub cells: Vec<CellDocument>,
    /// What was spent, by agent and over all; of a run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub money: Option<MoneyDocument>,
    /// What the data cannot support; of a run alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notes: Option<Vec<String>>,
    /// What the demo shows, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shows: Option<String>,
    /// The table of the demo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub story: Option<Value>,
    /// Whose key the demo used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask_key: Option<String>,
    /// The episode that the demo replayed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<Value>,
}

/// A cell and its result.
#[derive(Serialize)]
pub struct CellDocument {
    /// The episode's identity in the experiment.
    pub cell: String,
    /// Its directory.
    pub bundle: String,
    pub agent: String,
    pub window: String,
    /// Mask level.
    pub level: String,
    /// The level whose text explains identifiers in a prompt-only control.
    pub instruction: Option<MaskInstruction>,
    /// How numbers are shown.
    pub numeric: String,
    /// Decision mode.
    pub mode: String,
    pub seed: u64,
    /// How strongly submissions are forced.
    pub force: ForceLevel,
    pub thinking: ThinkingPolicy,
    /// What summary.json holds; null where the cell stopped.
    pub summary: Option<Summary>,
    /// What this run spent on it.
    pub money: Spending,
    /// Why it stopped.
    pub error: Option<String>,
    /// How to fix that.
    pub hint: Option<String>,
}

/// What was spent.
#[derive(Serialize)]
pub struct MoneyDocument {
    /// By agent.
    pub agents: BTreeMap<String, Value>,
    /// Over the experiment.
    pub experiment: Spending,
    /// Each cap of the budget, with what is spent of it.
    pub budget: Option<Vec<Value>>,
}

/// Bundles and a certificate that were checked.
#[derive(Serialize)]
pub struct VerifiedDocument {
    pub bundles: Vec<VerifiedBundle>,
    /// Publications and boards, where any was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signed: Option<Vec<VerifiedFolder>>,
    /// The certificate, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate: Option<Map>,
}

/// A bundle that was checked.
#[derive(Serialize)]
pub struct VerifiedBundle {
    /// Its directory.
    pub bundle: String,
    pub ok: bool,
    /// What holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Vec<String>>,
    /// What could not be checked, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Vec<String>>,
    /// What no check of these files can tell: it is their maker's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Vec<String>>,
    /// Whether the certificate is for its mask.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mask: Option<Map>,
    /// What differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

/// A folder that somebody may have signed.
#[derive(Serialize)]
pub struct VerifiedFolder {
    /// Its path.
    pub folder: String,
    pub ok: bool,
    /// Who signed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signer: Option<SignerMark>,
    /// What holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checked: Option<Vec<String>>,
    /// What could not be checked, and why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unchecked: Option<Vec<String>>,
    /// What no check of these files can tell: it is their maker's word.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub claimed: Option<Vec<String>>,
    /// What differs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<String>,
}

/// What the doctor looked at.
#[derive(Serialize)]
pub struct Checks {
    pub checks: Vec<CheckDocument>,
}

/// One check.
#[derive(Serialize)]
pub struct CheckDocument {
    /// What was looked at.
    pub check: String,
    pub ok: bool,
    /// What was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
    /// What is wrong.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// How to fix it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// What works, but should be known.
    pub notes: Vec<String>,
}

/// Why a command failed.
#[derive(Serialize)]
pub struct Failure {
    /// What is wrong, and where.
    pub error: String,
    /// How to fix it; null where nothing can be said.
    pub hint: Option<String>,
    /// 1: a check found a difference. 2: the input or the machine has to be fixed. 3: a budget is used up.
    pub exit_code: u8,
}
"""
PLAIN = {
    "String": {"type": "string"},
    "str": {"type": "string"},
    "PathBuf": {"type": "string"},
    "bool": {"type": "boolean"},
    "f64": {"type": "number"},
    "Value": {},
    "Map": {"type": "object"},
    # `Range<usize>` under a name of its own.
    "Stretch": {
        "description": "First place, and the one after the last.",
        "type": "object",
        "properties": {"start": {"type": "integer", "minimum": 0}, "end": {"type": "integer", "minimum": 0}},
        "required": ["start", "end"],
        "additionalProperties": False,
    },
    # Decimals as text, so that no reader makes floats of them.
    "TokenPrice": {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$"},
    "UnitsPerDollar": {"type": "string", "pattern": "^[0-9]+(\\.[0-9]+)?$"},
}
for unsigned in ("u8", "u16", "u32", "u64", "usize", "NonZeroU32", "NonZeroUsize"):
    PLAIN[unsigned] = {"type": "integer", "minimum": 0}
for signed in ("i8", "i16", "i32", "i64", "isize"):
    PLAIN[signed] = {"type": "integer"}
ITEM = re.compile(
    r"(?P<docs>(?:^///[^\n]*\n)*)(?P<attributes>(?:^#\[(?:[^\n]*\]|[^\n]*\n(?:    [^\n]*\n)+\)\])\n)*)"
    r"^(?:pub(?:\([^)]*\))? )?(?P<kind>struct|enum) (?P<name>\w+)(?P<generics><[^>{;]*>)? ?(?P<body>\{\n.*?^\}|\([^\n]*\);)",
    re.M | re.S,
)


def source_items():
    """All structs and enums by name."""
    items = {}
    for path in sorted(ROOT.glob("**/src/**/*.rs")):
        for match in ITEM.finditer(path.read_text(encoding="utf-8")):
            if "Serialize" in match["attributes"]:
                items.setdefault(match["name"], []).append((path, match))
    for match in ITEM.finditer(BY_HAND):
        items[match["name"]] = [(ROOT, match)]
    return items


ITEMS = source_items()


def described(docs):
    """The first paragraph of a comment."""
    lines = [line.strip()[3:].strip() for line in docs.splitlines()]
    paragraph = " ".join(lines).split("  ")[0]
    return re.sub(r"\[`(?:\w+::)*(\w+)`\]", r"`\1`", paragraph)


def keys_of(attributes):
    """The keys of all `#[serde(...)]`, with their values."""
    keys = {}
    for inside in re.findall(r"#\[serde\((.*?)\)\]", attributes, re.S):
        for key in re.findall(r'(\w+)(?:\s*=\s*"([^"]*)")?', inside):
            keys[key[0]] = key[1] or True
    return keys


def renamed(word, rule):
    """A Rust name as serde writes it."""
    if rule in (None, "snake_case") and word[0].islower():
        return word
    split = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", word).lower()
    if rule == "snake_case":
        return split
    if rule == "kebab-case":
        return split.replace("_", "-")
    if rule == "lowercase":
        return word.lower()
    assert rule is None, rule
    return word


def split_top(text):
    """The parts of a list at its outermost commas."""
    parts, depth, start = [], 0, 0
    for place, mark in enumerate(text):
        depth += mark in "<([{"
        depth -= mark in ">)]}"
        if mark == "," and depth == 0:
            parts.append(text[start:place])
            start = place + 1
    return [part.strip() for part in [*parts, text[start:]] if part.strip()]


def members(body):
    """Comment, attributes and text of each field or variant."""
    found, docs, attributes, text = [], "", "", ""
    depth = 0
    for line in body.strip("{}\n").splitlines():
        line = line.strip()
        if depth == 0 and not text and line.startswith("///"):
            docs += line + "\n"
        elif depth == 0 and not text and (line.startswith("#[") or attributes.count("[") > attributes.count("]")):
            attributes += line + "\n"
        elif line.startswith("//") or not line:
            continue
        else:
            text += line + "\n"
            depth += sum(line.count(mark) for mark in "({[<") - sum(line.count(mark) for mark in ")}]>")
            if depth == 0 and line.endswith(","):
                found.append((docs, attributes, text.strip().rstrip(",")))
                docs, attributes, text = "", "", ""
    if text.strip():
        found.append((docs, attributes, text.strip()))
    return found


class Schema:
    """One document's schema, with the definitions that it needs."""

    def __init__(self):
        self.definitions = {}
        self.file = ROOT
        self.arguments = {}
        self.name = ""

    def of_type(self, text):
        """The schema of a Rust type."""
        text = text.strip().removeprefix("&'static ").removeprefix("&")
        head, _, rest = text.partition("<")
        head = head.strip().split("::")[-1]
        inside = split_top(rest[:-1]) if rest else []
        if head == "Option":
            return {"anyOf": [self.of_type(inside[0]), {"type": "null"}]}
        if head in ("Vec", "BTreeSet"):
            return {"type": "array", "items": self.of_type(inside[0])}
        if head in ("Box", "Arc"):
            return self.of_type(inside[0])
        if head == "BTreeMap":
            return {"type": "object", "additionalProperties": self.of_type(inside[1])}
        if text.startswith("["):
            item, count = text[1:-1].split(";")
            schema = {"type": "array", "items": self.of_type(item)}
            if count.strip().isdigit():
                schema |= {"minItems": int(count), "maxItems": int(count)}
            return schema
        if text.startswith("("):
            items = [self.of_type(part) for part in split_top(text[1:-1])]
            return {"type": "array", "prefixItems": items, "minItems": len(items), "maxItems": len(items)}
        if head in PLAIN:
            return dict(PLAIN[head])
        if head == "Self":
            return {"$ref": f"#/$defs/{self.name}"}
        if head in self.arguments:
            return dict(self.arguments[head])
        return self.reference(head, inside)

    def reference(self, name, inside):
        """A reference to a definition, which is made when it is first asked for."""
        arguments = dict.fromkeys(("T", "S"), self.of_type(inside[0])) if inside else {}
        label = "Of".join([name, *inside])
        if label not in self.definitions:
            self.definitions[label] = {}
            outer, self.arguments = self.arguments, arguments
            asked_by, self.name = self.name, label
            self.definitions[label] = self.of_item(name)
            self.arguments, self.name = outer, asked_by
        return {"$ref": f"#/$defs/{label}"}

    def of_item(self, name):
        """The schema of a struct or enum."""
        known = ITEMS.get(name, [])
        if not known and name in LABELS:
            return {"type": "string", "enum": LABELS[name]}
        # A private name may occur twice: the one of this file is meant, or that of this crate.
        near = [item for item in known if item[0] == self.file] or [
            item for item in known if item[0].parts[:-1] == self.file.parts[:-1]
        ]
        # A public name stands once in the whole workspace.
        public = [item for item in known if re.search(r"^pub (?:struct|enum)", item[1][0], re.M)]
        known = known if len(known) == 1 else near if len(near) == 1 else public
        if len(known) != 1:
            raise SystemExit(f"{name}: {len(known)} serialised types of this name")
        path, match = known[0]
        asked_by, self.file = self.file, path
        schema = self.of_match(match)
        self.file = asked_by
        return schema

    def of_match(self, match):
        """The schema of an item of the source."""
        keys = keys_of(match["attributes"])
        if "into" in keys:
            return self.of_item(keys["into"])
        body, docs = match["body"], described(match["docs"])
        if match["kind"] == "enum":
            schema = self.of_enum(body, keys)
        elif body.startswith("("):
            schema = self.of_type(re.sub(r"\bpub(\([^)]*\))? ", "", body[1:-2]).rstrip(","))
        else:
            schema = self.of_fields(body, keys)
        return {"description": docs, **schema} if docs else schema

    def of_fields(self, body, keys):
        """The schema of a struct with named fields."""
        properties, required = {}, []
        for docs, attributes, text in members(body):
            field, _, kind = re.sub(r"^pub(\([^)]*\))? ", "", text).partition(":")
            own = keys_of(attributes)
            if own.get("skip") or own.get("skip_serializing"):
                continue
            # What is written by its label is a word of the list.
            by_label = own.get("serialize_with", "label::serialize") == "label::serialize"
            assert "flatten" not in own and by_label, text
            name = own.get("rename") or renamed(field.strip().removeprefix("r#"), keys.get("rename_all"))
            kind = kind.strip()
            may_lack = "skip_serializing_if" in own
            if may_lack and kind.startswith("Option<"):
                # What is not there is left out, and never null.
                kind = kind[len("Option<"):-1]
            schema = self.of_type(kind)
            text = described(docs)
            properties[name] = {"description": text, **schema} if text else schema
            if not may_lack:
                required.append(name)
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def of_enum(self, body, keys):
        """The schema of an enum: words, or objects with a tag."""
        words, forms = [], []
        for docs, attributes, text in members(body):
            own = keys_of(attributes)
            name = re.match(r"\w+", text)[0]
            label = own.get("rename") or renamed(name, keys.get("rename_all"))
            fields = text[len(name):].strip()
            tag = keys.get("tag")
            if tag:
                form = self.of_fields(fields, {}) if fields.startswith("{") else self.of_fields("", {})
                form["properties"] = {tag: {"const": label}, **form["properties"]}
                form["required"] = [tag, *form["required"]]
                forms.append({"description": described(docs), **form})
            elif not fields:
                words.append(label)
            else:
                inside = self.of_fields(fields, {}) if fields.startswith("{") else self.of_type(fields[1:-1])
                if keys.get("untagged"):
                    forms.append({"description": described(docs), **inside})
                    continue
                forms.append(
                    {
                        "description": described(docs),
                        "type": "object",
                        "properties": {label: inside},
                        "required": [label],
                        "additionalProperties": False,
                    }
                )
        if not forms:
            return {"type": "string", "enum": words}
        return {"anyOf": [{"type": "string", "enum": words}, *forms] if words else forms}


def labels():
    """The labels of closed sets that are written by `label()` instead of a derive."""
    found = {}
    for path in ROOT.glob("**/src/**/*.rs"):
        text = path.read_text(encoding="utf-8")
        for name, body in re.findall(r"^impl (\w+) \{\n(.*?)^\}", text, re.M | re.S):
            label = re.search(r"fn label\(self\) -> &'static str \{(.*?)^    \}", body, re.M | re.S)
            words = re.findall(r'Self::\w+(?:\s*\{[^}]*\})? => "([^"]+)"', label[1]) if label else []
            if words:
                found[name] = words
    return found


LABELS = labels()


def main():
    """Writes every document's schema."""
    folder = ROOT / "docs/schemas"
    folder.mkdir(exist_ok=True)
    for name, (item, title) in DOCUMENTS.items():
        schema = Schema()
        top = schema.of_item(item)
        top.pop("description", None)
        document = {"$schema": DIALECT, "title": title, **top, "$defs": dict(sorted(schema.definitions.items()))}
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        (folder / f"{name}.schema.json").write_text(text, encoding="utf-8")
        print(f"docs/schemas/{name}.schema.json: {len(schema.definitions)} definitions")


if __name__ == "__main__":
    main()
