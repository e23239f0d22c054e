//! What stands in the fields of made plans: texts, variables, functions and scripts.

use rand::RngExt as _;
use rand::seq::IndexedRandom as _;
use rand_xoshiro::Xoshiro256PlusPlus;

/// Chance, with the number of the group that it serves.
pub(super) struct Chance {
    pub(super) random: Xoshiro256PlusPlus,
    pub(super) group: usize,
    named: usize,
}

/// Texts that somewhere mean something else.
const LITERALS: [&str; 22] = [
    "a", "b c", "x,y", "1", "0", "", "7", "-3", "a&b=c", "q\\,r", "$", "<t>", "it's", "\"q\"", "é",
    "a+b", "%20", "A-b_c", "true", "false", "x;y", "2.50",
];
/// The variables of a user.
pub(super) const VARIABLES: [&str; 6] = ["v1", "v2", "v3", "v4", "v5", "v6"];

impl Chance {
    pub(super) fn new(random: Xoshiro256PlusPlus, group: usize) -> Self {
        Self {
            random,
            group,
            named: 0,
        }
    }

    /// One of them.
    pub(super) fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of.choose(&mut self.random).copied().unwrap_or_default()
    }

    /// Whether it happens, so often in a hundred.
    pub(super) fn percent(&mut self, of_hundred: u32) -> bool {
        self.random.random_range(0..100) < of_hundred
    }

    /// A number from one to another, both among them.
    pub(super) fn between(&mut self, least: u32, most: u32) -> u32 {
        self.random.random_range(least..=most)
    }

    /// A name that no other element of the group has.
    pub(super) fn name(&mut self, kind: &str) -> String {
        self.named += 1;
        format!("{kind}{}", self.named)
    }

    pub(super) fn variable(&mut self) -> &'static str {
        self.one(&VARIABLES)
    }

    /// What may stand in a field: a text, a reference, a function, or several of them.
    pub(super) fn value(&mut self) -> String {
        match self.between(0, 10) {
            10 => format!("${{u{}}}", self.group),
            0..=2 => self.one(&LITERALS).to_owned(),
            3..=5 => format!("${{{}}}", self.variable()),
            6 | 7 => self.function(2),
            _ => {
                let parts = [self.piece(), self.piece(), self.piece()];
                parts.concat()
            }
        }
    }

    fn piece(&mut self) -> String {
        match self.between(0, 2) {
            0 => self.one(&LITERALS).to_owned(),
            1 => format!("${{{}}}", self.variable()),
            _ => self.function(1),
        }
    }

    /// What may be an argument of a function.
    fn argument(&mut self, depth: u32) -> String {
        match self.between(0, 5) {
            0 | 1 => self
                .one(&["a", "b c", "1", "e", "x\\,y", "Q", "a.b", "ü"])
                .to_owned(),
            2..=4 => format!("${{{}}}", self.variable()),
            _ if depth > 0 => self.function(depth - 1),
            _ => "z".to_owned(),
        }
    }

    /// A function with its arguments.
    fn function(&mut self, depth: u32) -> String {
        let (v, w) = (self.variable(), self.variable());
        let (a, b) = (self.argument(depth), self.argument(depth));
        let group = self.group;
        let into = if self.percent(40) { w } else { "" };
        let call = match self.between(0, 43) {
            0 => "__counter(FALSE,)".to_owned(),
            1 => format!("__counter(TRUE,{into})"),
            2 => "__threadNum".to_owned(),
            3 => format!("__V({v})"),
            4 => format!("__V(v${{{v}}},{b})"),
            5 => format!("__eval({a})"),
            6 => format!("__evalVar({v})"),
            7 => format!("__P(p{group},{a})"),
            8 => format!("__setProperty(p{group},{a},)"),
            9 => format!("__setProperty(p{group},{a},true)"),
            10 => format!("__split({a},{w},)"),
            11 => format!("__split({a},{w},b)"),
            12 => {
                let case = self.one(&["UPPER", "LOWER", "CAPITALIZE", ""]);
                format!("__changeCase({a},{case},{into})")
            }
            13 => format!("__urlencode({a})"),
            14 => format!("__urldecode({a})"),
            15 => format!("__escapeHtml({a})"),
            16 => format!("__unescapeHtml({a})"),
            17 => format!("__escapeXml({a})"),
            18 => {
                let algorithm = self.one(&["MD5", "SHA-1", "SHA-256", "SHA-512"]);
                let upper = self.one(&["", "true", "false"]);
                format!("__digest({algorithm},{a},{b},{upper},{into})")
            }
            19 => format!("__isVarDefined({v})"),
            20 => format!("__isPropDefined(p{group})"),
            21 => format!("__intSum(1,-5,{w})"),
            22 => format!("__longSum(4,3000000000,{w})"),
            23 => "__char(65,0x42,067)".to_owned(),
            24 => format!("__unescape({a})"),
            25 => "__samplerName()".to_owned(),
            26 => "__threadGroupName".to_owned(),
            27 => format!("__Random(5,5,{into})"),
            28 => format!("__RandomString(3,k,{into})"),
            29 => format!("__groovy(vars.get(\"{v}\"),{into})"),
            30 => format!("__groovy(\"{v}\".length() + 1,{into})"),
            31 => format!("__jexl3(vars.get(\"{v}\") == null ? \"n\" : 1 + 1,{into})"),
            32 => format!("__javaScript(1 + 2,{into})"),
            33 => format!("__BeanShell(1 + 1,{into})"),
            34 => {
                let which = self.one(&["1", "2", "ALL", "9", ""]);
                format!("__regexFunction(([a-z])([a-z]),$2$-$1$,{which},+,none,{into})")
            }
            35 => format!("__StringFromFile(FOLDER/lines.txt,{into})"),
            36 => {
                let column = self.one(&["0", "1", "next"]);
                format!("__CSVRead(FOLDER/own{group}/names.csv,{column})")
            }
            37 => format!("__log({a})"),
            38 => "__dateTimeConvert(31/01/2020,dd/MM/yyyy,yyyy-MM-dd,)".to_owned(),
            39 => format!("__timeShift(yyyy-MM-dd,2020-01-31,P1DT2H,,{into})"),
            40 => format!("__escapeOroRegexpChars({a},{into})"),
            41 => format!("__RandomFromMultipleVars({v},{into})"),
            42 => format!("__jexl2(\"{v}\" + 1,{into})"),
            _ => format!("__groovy(\"${{{v}}}\".toUpperCase(),{into})"),
        };
        format!("${{{call}}}")
    }

    /// What stands in the field `Parameters` of a script.
    pub(super) fn parameters(&mut self) -> String {
        match self.between(0, 3) {
            0 => self.value(),
            1 => format!("${{{}}} two", self.variable()),
            _ => String::new(),
        }
    }

    /// What a script puts into a variable: a text between quotes that may have references in it.
    fn quoted(&mut self) -> String {
        match self.between(0, 6) {
            0 | 1 => format!("\"${{{}}}\"", self.variable()),
            2 => format!("\"a${{{}}}b\"", self.variable()),
            3 => "\"${__counter(FALSE,)}\"".to_owned(),
            4 => format!("\"${{__V({})}}\"", self.variable()),
            5 => "\"${__threadNum}x\"".to_owned(),
            _ => format!("\"{}\"", self.one(&["s", "t u", "9", ""])),
        }
    }

    /// A statement that every place and every language knows.
    pub(super) fn statement(&mut self) -> String {
        let (v, w) = (self.variable(), self.variable());
        let quoted = self.quoted();
        match self.between(0, 13) {
            0..=2 => format!("vars.put(\"{w}\", {quoted});"),
            3 | 4 => format!("vars.put(\"{w}\", vars.get(\"{v}\") + \"+\");"),
            5 => format!("if (vars.get(\"{v}\") != null) {{ vars.put(\"{w}\", {quoted}); }}"),
            6 => format!("vars.remove(\"{w}\");"),
            7 => format!("props.put(\"p{}\", {quoted});", self.group),
            8 => format!("vars.put(\"{w}\", \"\" + props.get(\"p{}\"));", self.group),
            9 => format!("vars.put(\"{w}\", \"\" + (ctx.getThreadNum() + 1));"),
            10 => format!("vars.put(\"{w}\", Parameters);"),
            11 => format!("log.info({quoted});"),
            12 => format!(
                "for (int i = 0; i < 3; i++) {{ vars.put(\"{w}\", \"\" + i + vars.get(\"{v}\")); }}"
            ),
            _ => format!("vars.put(\"{w}\", \"\" + {quoted}.length());"),
        }
    }

    /// A statement about the sampler that comes.
    pub(super) fn statement_before(&mut self) -> String {
        let quoted = self.quoted();
        match self.between(0, 5) {
            0 => format!("sampler.addArgument(\"k\", {quoted});"),
            1 => format!("vars.put(\"{}\", sampler.getName());", self.variable()),
            2 => format!("sampler.setName({quoted});"),
            _ => self.statement(),
        }
    }

    /// A statement about the sample that was taken.
    pub(super) fn statement_after(&mut self) -> String {
        let w = self.variable();
        let quoted = self.quoted();
        match self.between(0, 9) {
            0 => format!("vars.put(\"{w}\", prev.getResponseCode());"),
            1 => format!("vars.put(\"{w}\", \"\" + prev.isSuccessful());"),
            2 => format!("vars.put(\"{w}\", prev.getSampleLabel());"),
            3 => "prev.setSuccessful(false);".to_owned(),
            4 => format!("prev.setSampleLabel({quoted});"),
            5 => format!("prev.setResponseMessage({quoted});"),
            6 => format!("vars.put(\"{w}\", \"\" + prev.getResponseDataAsString().length());"),
            _ => self.statement(),
        }
    }
}
