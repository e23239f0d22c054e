//! What users of ab, wrk, hey, oha and curl type, in Weir's words.
//!
//! An option that means the same everywhere is taken as if Weir's own had been typed. One that
//! means different things to different tools is refused with all of them; one that has no meaning
//! here says what to type instead. [`SPELLINGS`] is the whole list, which
//! `docs/reference/load-tools.md` shows.

use std::ffi::OsString;
use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::ExpectedError;

/// An option of another tool.
pub(crate) struct Spelling {
    /// As it is typed there.
    pub(crate) typed: &'static str,
    /// Whose it is.
    pub(crate) tools: &'static str,
    becomes: Becomes,
}

/// What an option is here.
enum Becomes {
    /// Another option with the same value.
    Own(&'static str),
    /// A header field with the value.
    Field(&'static str),
    /// `-m` with this method.
    Method(&'static str),
    /// `-b` with the file.
    File,
    /// `-b` with the file, and POST where no method is typed.
    Body,
    /// `-b` with the text or `@file` and a form's content type, and POST where no method is typed.
    Form,
    /// A method, or where it has a colon in it the proxy.
    MethodOrProxy,
    /// A proxy without its scheme.
    Proxy,
    /// Name and password.
    Login,
    /// Nothing has to be done: why.
    Nothing(&'static str),
    /// What to type instead, or why there is nothing to type.
    Refused(&'static str),
}

use Becomes::{
    Body, Field, File, Form, Login, Method, MethodOrProxy, Nothing, Own, Proxy, Refused,
};

const fn row(typed: &'static str, tools: &'static str, becomes: Becomes) -> Spelling {
    Spelling {
        typed,
        tools,
        becomes,
    }
}

/// Every option of the other tools that is not Weir's own.
pub(crate) const SPELLINGS: &[Spelling] = &[
    row("-z", "hey, oha", Own("-d")),
    row("-q", "oha; hey", Own("--rate")),
    row("-R", "wrk2", Own("--rate")),
    row("-X", "curl; ab", MethodOrProxy),
    row("--request", "curl", Own("-m")),
    row("-x", "hey, oha, curl", Proxy),
    row("-T", "ab, hey, oha", Field("Content-Type")),
    row("-C", "ab", Field("Cookie")),
    row("--cookie", "curl", Field("Cookie")),
    row("--user-agent", "curl", Field("User-Agent")),
    row("-a", "hey, oha", Login),
    row("-u", "curl", Login),
    row("--user", "curl", Login),
    row("-p", "ab", Body),
    row("-D", "hey, oha", File),
    row("--data", "curl", Form),
    row("--data-binary", "curl", Form),
    row("--urls-from-file", "oha", Own("--urls")),
    row("-i", "ab", Method("HEAD")),
    row("-I", "curl", Method("HEAD")),
    row("--host", "hey, oha", Field("Host")),
    row("--disable-keepalive", "hey, oha", Own("--no-keepalive")),
    row(
        "-k",
        "ab; curl",
        Nothing("connections are kept, and certificates are not looked at"),
    ),
    row(
        "--insecure",
        "curl, oha",
        Nothing("certificates are not looked at"),
    ),
    row("--latency", "wrk", Nothing("percentiles are always shown")),
    row("-r", "ab", Nothing("a run goes on after errors")),
    row(
        "--no-tui",
        "oha",
        Nothing("without a terminal there are plain lines"),
    ),
    row(
        "--disable-redirects",
        "hey, oha",
        Nothing("redirects are not followed"),
    ),
    row(
        "-t",
        "ab; wrk; hey, oha",
        Refused(
            "the time limit of ab is -d; the threads of wrk need nothing here; \
             the timeout of hey and oha is --timeout",
        ),
    ),
    row(
        "--threads",
        "wrk",
        Nothing("there are as many threads as it takes"),
    ),
    row(
        "-s",
        "ab; wrk; curl",
        Refused(
            "the timeout of ab is --timeout; what a script of wrk does is done by a .jmx plan; \
             curl's can be left out",
        ),
    ),
    row(
        "-A",
        "ab; hey, oha; curl",
        Refused(
            "ab's name and password are -a NAME:PASSWORD; the Accept field of hey and oha is \
             -H 'Accept: …'; curl's user agent is -H 'User-Agent: …'",
        ),
    ),
    row("-U", "hey", Refused("the user agent is -H 'User-Agent: …'")),
    row(
        "-P",
        "ab",
        Refused("name and password of a proxy are in --proxy http://NAME:PASSWORD@HOST:PORT"),
    ),
    row(
        "-L",
        "curl",
        Refused("redirects are not followed; a .jmx plan can follow them"),
    ),
    row(
        "-F",
        "oha, curl",
        Refused("a form with files is sent by a .jmx plan"),
    ),
    row(
        "-o",
        "hey, oha, curl",
        Refused("--json FILE writes the result, --hlog FILE the response times"),
    ),
    row("-g", "ab", Refused("--hlog FILE writes the response times")),
    row(
        "-w",
        "ab, oha, curl",
        Refused("--json FILE writes the result"),
    ),
    row(
        "-v",
        "ab, wrk, curl",
        Refused("--json FILE writes all that was measured"),
    ),
    row(
        "-V",
        "ab, curl",
        Refused("`weir --version` prints the version"),
    ),
    row(
        "-B",
        "ab",
        Refused("addresses of the client are not chosen"),
    ),
    row(
        "-E",
        "ab",
        Refused("a client's certificate is in a .jmx plan's keystore"),
    ),
    row(
        "-f",
        "ab, curl",
        Refused("what is spoken is the server's choice"),
    ),
    row(
        "-Z",
        "ab, oha",
        Refused("ciphers are the server's choice; several bodies need a .jmx plan"),
    ),
];

/// The words of single dashes that are several letters long.
const LONG_WITH_ONE_DASH: [(&str, &str); 5] = [
    ("-h2", "--http2"),
    ("-host", "--host"),
    ("-disable-keepalive", "--disable-keepalive"),
    ("-disable-redirects", "--disable-redirects"),
    ("-cpus", "--load-cpus"),
];

/// Words as Weir has them, and what is to be said of them.
#[derive(Debug, Default)]
pub(crate) struct Translated {
    pub(crate) words: Vec<OsString>,
    pub(crate) notes: Vec<String>,
}

/// The spelling of a word and the value that is part of it (`-z10s`, `--data=x`).
fn spelling(word: &str) -> Option<(&'static Spelling, Option<&str>)> {
    if let Some(long) = word.strip_prefix("--") {
        let (name, value) = match long.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (long, None),
        };
        let mut all = SPELLINGS.iter();
        let found = all.find(|known| known.typed.strip_prefix("--") == Some(name));
        return found.map(|known| (known, value));
    }
    let end = 1 + word.strip_prefix('-')?.chars().next()?.len_utf8();
    let (letter, rest) = word.split_at(end);
    let mut all = SPELLINGS.iter();
    let found = all.find(|known| known.typed == letter);
    found.map(|known| (known, Some(rest).filter(|rest| !rest.is_empty())))
}

/// Weir's own long options without a value.
const SWITCHES: [&str; 4] = ["http2", "no-keepalive", "discard", "help"];

/// Whether the word after this one is its value: another tool's option, one of Weir's letters, or
/// a long option of Weir's, of which few have none.
pub(crate) fn takes_next(word: &str, values: &str) -> bool {
    let is_own = word.len() == 2 && word.starts_with('-') && word.ends_with(|c| values.contains(c));
    match spelling(word) {
        _ if is_own => true,
        Some((known, with)) => known.takes_value() && with.is_none(),
        None => word
            .strip_prefix("--")
            .is_some_and(|long| !long.contains('=') && !SWITCHES.contains(&long)),
    }
}

/// Weir's words for what was typed; `values` are its own letters that take a value.
pub(crate) fn translate(words: &[OsString], values: &str) -> Result<Translated, ExpectedError> {
    let mut done = Translated::default();
    let mut rest = words.iter();
    let (mut posts, mut is_form) = (false, false);
    while let Some(word) = rest.next() {
        let typed = word.to_string_lossy();
        let long = LONG_WITH_ONE_DASH.iter().find(|(long, _)| typed == *long);
        let text = long.map_or(&*typed, |(_, long)| *long);
        let Some((known, with)) = spelling(text) else {
            done.words
                .push(long.map_or_else(|| word.clone(), |(_, long)| (*long).into()));
            // The value of an option of Weir's own is not looked at.
            if takes_next(text, values) {
                done.words.extend(rest.next().cloned());
            }
            continue;
        };
        let value = match (known.takes_value(), with) {
            (true, Some(value)) => Some(value.to_owned()),
            (true, None) => {
                let next = rest.next();
                let next = next.ok_or_else(|| wrong(known, "a value belongs to it"))?;
                Some(next.to_string_lossy().into_owned())
            }
            (false, Some(more)) if !text.starts_with("--") && !known.is_refused() => {
                return Err(wrong(
                    known,
                    &format!("`{more}` behind it is not understood"),
                ));
            }
            (false, _) => None,
        };
        posts |= matches!(known.becomes, Body | Form);
        is_form |= matches!(known.becomes, Form);
        done.add(known, value.as_deref().unwrap_or_default())?;
    }
    if is_form && !done.says(is_content_type) {
        done.push("-H", "Content-Type: application/x-www-form-urlencoded");
    }
    if posts && !done.says(|word| word.starts_with("-m") || word.starts_with("--method")) {
        done.push("-m", "POST");
    }
    Ok(done)
}

/// Whether a word is the field that says what a body is: behind `-H`, or in one word with it.
fn is_content_type(word: &str) -> bool {
    let field = word.strip_prefix("--header=").unwrap_or(word);
    let field = field.strip_prefix("-H").unwrap_or(field);
    let name = field.split(':').next().unwrap_or_default();
    name.trim().eq_ignore_ascii_case("content-type")
}

fn wrong(known: &Spelling, says: &str) -> ExpectedError {
    ExpectedError::Input(format!("{} ({}): {says}", known.typed, known.tools))
}

impl Spelling {
    /// Whether a value belongs to it.
    fn takes_value(&self) -> bool {
        match self.becomes {
            Own(to) => to != "--no-keepalive",
            Field(_) | File | Body | Form | MethodOrProxy | Proxy | Login => true,
            Nothing(_) => self.typed == "--threads",
            Method(_) | Refused(_) => false,
        }
    }

    fn is_refused(&self) -> bool {
        matches!(self.becomes, Refused(_))
    }

    /// What it is here.
    fn told(&self) -> String {
        match self.becomes {
            File => "`-b @VALUE`".to_owned(),
            Own(to) if !self.takes_value() => format!("`{to}`"),
            Own(to) => format!("`{to} VALUE`"),
            Field(name) => format!("`-H '{name}: VALUE'`"),
            Method(method) => format!("`-m {method}`"),
            Body => "`-m POST -b @VALUE`".to_owned(),
            Form => "`-m POST -b VALUE -H 'Content-Type: application/x-www-form-urlencoded'`; \
                     `@FILE` is the text of a file"
                .to_owned(),
            MethodOrProxy => "`-m VALUE`; with a colon in it `--proxy http://VALUE`".to_owned(),
            Proxy => "`--proxy http://VALUE`".to_owned(),
            Login => "`-H 'Authorization: Basic …'` of `NAME:PASSWORD`".to_owned(),
            Nothing(why) => format!("nothing: {why}"),
            Refused(why) => format!("refused: {why}"),
        }
    }
}

/// The whole list, for `--help`.
pub(crate) fn help() -> String {
    let mut text = "Options of other tools:\n".to_owned();
    for known in SPELLINGS {
        let told = known.told().replace('`', "");
        let typed = format!("{} ({})", known.typed, known.tools);
        let _ = writeln!(text, "  {typed:28}  {told}");
    }
    text
}

impl Translated {
    fn push(&mut self, option: &str, value: impl Into<OsString>) {
        self.words.push(option.into());
        self.words.push(value.into());
    }

    /// Whether any word is such a one.
    fn says(&self, is: impl Fn(&str) -> bool) -> bool {
        self.words.iter().any(|word| is(&word.to_string_lossy()))
    }

    fn add(&mut self, known: &Spelling, value: &str) -> Result<(), ExpectedError> {
        match known.becomes {
            Own(to) if !known.takes_value() => self.words.push(to.into()),
            Own(to) => {
                if known.typed == "-q" {
                    let number = value.parse::<f64>();
                    number.map_err(|_| {
                        wrong(known, "a rate belongs to it; ab's quiet can be left out")
                    })?;
                    self.notes.push(format!(
                        "-q {value}: {value} requests/s of all users together, as oha means it; \
                         hey means each of them"
                    ));
                }
                self.push(to, value);
            }
            Field(name) => self.push("-H", format!("{name}: {value}")),
            Method(method) => self.push("-m", method),
            File | Body => self.push("-b", format!("@{value}")),
            Form => self.push("-b", value),
            MethodOrProxy if value.contains(':') => self.push("--proxy", with_scheme(value)),
            MethodOrProxy => self.push("-m", value),
            Proxy => self.push("--proxy", with_scheme(value)),
            Login if !value.contains(':') => {
                return Err(wrong(
                    known,
                    "NAME:PASSWORD belongs to it; a file to PUT (ab) is -m PUT -b @FILE",
                ));
            }
            Login => {
                let login = STANDARD.encode(value);
                self.push("-H", format!("Authorization: Basic {login}"));
            }
            Nothing(_) => {}
            Refused(says) => return Err(wrong(known, says)),
        }
        Ok(())
    }
}

fn with_scheme(proxy: &str) -> String {
    if proxy.contains("://") {
        proxy.to_owned()
    } else {
        format!("http://{proxy}")
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use crate::commands::run::grammar::{RunArguments, UrlArguments, parse};

    const URL: &str = "http://127.0.0.1:1/";

    fn words(text: &str) -> Vec<OsString> {
        text.split(' ').map(OsString::from).collect()
    }

    fn read(text: &str) -> UrlArguments {
        match parse(&words(text)).unwrap() {
            RunArguments::Url(read) => *read,
            RunArguments::Plan(_) => panic!("a plan: {text}"),
        }
    }

    /// What Weir's own words say, and what is said of them.
    fn translated(text: &str) -> (String, Vec<String>) {
        let done = translate(&words(text), "cdmHbn").unwrap();
        let shown: Vec<_> = done
            .words
            .iter()
            .map(|word| word.to_string_lossy())
            .collect();
        (shown.join(" "), done.notes)
    }

    #[test]
    fn each_option_is_what_the_list_says() {
        for (typed, own) in [
            ("-z 10s", "-d 10s"),
            ("-z5m", "-d 5m"),
            ("-R 2000", "--rate 2000"),
            ("-X POST", "-m POST"),
            ("-X 10.0.0.1:3128", "--proxy http://10.0.0.1:3128"),
            ("-x http://p:1", "--proxy http://p:1"),
            ("-x p:1", "--proxy http://p:1"),
            ("--request PUT", "-m PUT"),
            ("-T text/plain", "-H Content-Type: text/plain"),
            ("-C a=b", "-H Cookie: a=b"),
            ("--cookie a=b", "-H Cookie: a=b"),
            ("--user-agent=x", "-H User-Agent: x"),
            (
                "-a Aladdin:open",
                "-H Authorization: Basic QWxhZGRpbjpvcGVu",
            ),
            ("-u a:b", "-H Authorization: Basic YTpi"),
            ("--user a:b", "-H Authorization: Basic YTpi"),
            ("-p f.json", "-b @f.json -m POST"),
            ("-p f.json -m PUT", "-b @f.json -m PUT"),
            ("-D f.json", "-b @f.json"),
            (
                "--data a=1",
                "-b a=1 -H Content-Type: application/x-www-form-urlencoded -m POST",
            ),
            (
                "-H Content-Type:x --data-binary @f",
                "-H Content-Type:x -b @f -m POST",
            ),
            (
                "--data a=1 -Hcontent-type:x -m PUT",
                "-b a=1 -Hcontent-type:x -m PUT",
            ),
            ("--header -k --seed -z -k", "--header -k --seed -z"),
            ("--urls-from-file f", "--urls f"),
            ("-i", "-m HEAD"),
            ("-I", "-m HEAD"),
            ("--host h", "-H Host: h"),
            ("-host h", "-H Host: h"),
            ("--disable-keepalive", "--no-keepalive"),
            ("-disable-keepalive", "--no-keepalive"),
            ("-h2", "--http2"),
            ("-cpus 1", "--load-cpus 1"),
            (
                "-k --latency --insecure -r --no-tui --disable-redirects --threads 4",
                "",
            ),
            ("-H -k -b -z -c 4", "-H -k -b -z -c 4"),
        ] {
            assert_eq!(translated(typed).0, own, "{typed}");
        }
        let (own, notes) = translated("-q 50");
        assert_eq!((&*own, notes.len()), ("--rate 50", 1));
        assert!(notes[0].contains("all users together"), "{notes:?}");
    }

    #[test]
    fn what_means_several_things_says_what_to_type() {
        for known in SPELLINGS {
            let Refused(says) = known.becomes else {
                continue;
            };
            let error = translate(&words(known.typed), "cdmHbn").unwrap_err();
            let told = error.to_string();
            assert!(told.contains(says) && told.contains(known.tools), "{told}");
            assert_eq!(error.exit_code(), 2);
        }
        for (typed, part) in [
            ("-q http://127.0.0.1/", "quiet"),
            ("-u file", "-m PUT -b @FILE"),
            ("-z", "a value belongs to it"),
            ("-kx", "not understood"),
        ] {
            let error = translate(&words(typed), "cdmHbn").unwrap_err();
            assert!(error.to_string().contains(part), "{typed}: {error}");
        }
    }

    #[test]
    fn what_people_have_in_their_fingers_is_read() {
        let ab = read(&format!(
            "-k -n 1000 -c 50 -C a=b -T application/json {URL}"
        ));
        assert_eq!(
            (ab.requests, ab.connections, ab.header.len()),
            (Some(1_000), 50, 2)
        );
        let wrk = read(&format!("-c 100 -d 30s --latency --timeout 2s {URL}"));
        assert_eq!(wrk.timeout, wrk.duration.map(|all| all / 15));
        let wrk2 = read(&format!("-c100 -d30 -R2000 --latency {URL}"));
        assert!(wrk2.rate.is_some() && wrk2.connections == 100);
        let hey = read(&format!("-z 5m -c 10 -m POST -a a:b {URL}"));
        assert_eq!((&*hey.method, hey.header.len()), ("POST", 1));
        let bare = read("127.0.0.1:8080 -R 100");
        assert_eq!(bare.url[0].as_str(), "http://127.0.0.1:8080/");
        let several = read(&format!("{URL} {URL}b -d 10"));
        assert_eq!(several.url.len(), 2);
        let error = parse(&words(&format!("-t4 -c100 -d30s {URL}"))).unwrap_err();
        assert!(error.to_string().contains("the threads of wrk"), "{error}");
    }

    #[test]
    fn own_letters_and_switches_are_those_that_are_parsed() {
        use clap::CommandFactory as _;
        let options = UrlArguments::command();
        for option in options.get_arguments() {
            let takes_value = option.get_action().takes_values();
            if let Some(long) = option.get_long() {
                assert_eq!(SWITCHES.contains(&long), !takes_value, "{long}");
            }
            if let Some(letter) = option.get_short() {
                let typed = format!("-{letter}");
                assert_eq!(takes_next(&typed, "cdmHbn"), takes_value, "{typed}");
                // What is Weir's own is nobody else's.
                assert!(spelling(&typed).is_none(), "{typed}");
            }
        }
    }

    #[test]
    fn the_page_has_the_whole_list() {
        let page = include_str!("../../../../../docs/reference/load-tools.md");
        let missing: Vec<String> = SPELLINGS
            .iter()
            .map(|known| format!("| `{}` | {} | {} |", known.typed, known.tools, known.told()))
            .filter(|row| !page.contains(row))
            .collect();
        assert!(missing.is_empty(), "missing:\n{}", missing.join("\n"));
        let rows = page.lines().filter(|line| line.starts_with("| `")).count();
        assert_eq!(rows, SPELLINGS.len());
    }
}
