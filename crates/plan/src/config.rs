//! Elements that give users their data, their cookies, their caches and their passwords.

use crate::{ElementId, Position, Template};

/// Something that advances when an iteration of the nearest controller above it starts.
#[derive(Debug, Clone, PartialEq)]
pub enum IterationElement<T = Template> {
    /// Variables from the next line of a file.
    CsvDataSet(Box<CsvDataSet<T>>),
    /// A variable that counts.
    Counter(Box<Counter<T>>),
    /// A random whole number.
    RandomVariable(Box<RandomVariable<T>>),
    /// Variables that differ by user; only those that change once an iteration.
    UserParameters(UserParameters<T>),
}

/// A CSV Data Set.
#[derive(Debug, Clone, PartialEq)]
pub struct CsvDataSet<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// The file; relative to the plan's folder.
    pub file: T,
    /// Its character set; empty: UTF-8.
    pub encoding: T,
    /// Names of the variables, separated by commas; empty: the first line holds them.
    pub names: T,
    /// The first line is no data though the names are given.
    pub ignore_first_line: bool,
    /// Between the fields; `\t` is a tab, empty a comma.
    pub delimiter: T,
    /// Fields may be quoted.
    pub quoted: bool,
    /// Starts again at the end of the file.
    pub recycle: T,
    /// Ends the user at the end of the file.
    pub stop_user: T,
    /// Who shares the place in the file: `shareMode.all`, `shareMode.group`, `shareMode.thread`
    /// or a name.
    pub share: T,
    /// Where it stands.
    pub at: Position,
}

/// A Counter.
#[derive(Debug, Clone, PartialEq)]
pub struct Counter<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// First value; empty: 0.
    pub start: T,
    /// Last value, after which it starts again; empty: no end.
    pub end: T,
    /// Step; empty: 0.
    pub step: T,
    /// A pattern of Java's `DecimalFormat`; empty: plain.
    pub format: T,
    /// The variable.
    pub variable: T,
    /// Each user counts for itself.
    pub per_user: bool,
    /// Starts again with each iteration of the group (only if it counts per user).
    pub reset_on_group_iteration: bool,
}

/// A Random Variable.
#[derive(Debug, Clone, PartialEq)]
pub struct RandomVariable<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// The variable.
    pub variable: T,
    /// Least value.
    pub minimum: T,
    /// Greatest value.
    pub maximum: T,
    /// A pattern of Java's `DecimalFormat`; empty: plain.
    pub format: T,
    /// Seed; empty: the run's.
    pub seed: T,
    /// Each user has its own row of numbers.
    pub per_user: T,
}

/// User Parameters: user n takes row (n − 1) mod rows.
#[derive(Debug, Clone, PartialEq)]
pub struct UserParameters<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// Names of the variables.
    pub names: Vec<T>,
    /// One row of values after another.
    pub rows: Vec<Vec<T>>,
}

/// A Cookie Manager.
#[derive(Debug, Clone, PartialEq)]
pub struct CookieManager<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// Cookies that every user starts with.
    pub cookies: Vec<StaticCookie<T>>,
    /// Forgets the server's cookies when the group starts an iteration.
    pub clear_each_iteration: bool,
    /// It follows the group's "same user on next iteration" instead.
    pub controlled_by_group: bool,
    /// JMeter's name of the policy; empty: `standard`.
    pub policy: T,
    /// Where it stands.
    pub at: Position,
}

/// A cookie that stands in the plan.
#[derive(Debug, Clone, PartialEq)]
pub struct StaticCookie<T = Template> {
    /// Its name.
    pub name: T,
    /// Its value.
    pub value: T,
    /// The host or domain it belongs to.
    pub domain: T,
    /// The path it belongs to.
    pub path: T,
    /// Only over TLS.
    pub secure: bool,
    /// The domain stands for its subdomains too.
    pub gives_domain: bool,
    /// The path was given, and not made up.
    pub gives_path: bool,
    /// 0, or of which RFC: 1 for RFC 2109.
    pub version: i32,
}

/// A Cache Manager.
#[derive(Debug, Clone, PartialEq)]
pub struct CacheManager<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// Keeps to `Expires` and `max-age`: fresh entries are not asked for again.
    pub use_expires: bool,
    /// Forgets everything when the group starts an iteration.
    pub clear_each_iteration: bool,
    /// It follows the group's "same user on next iteration" instead.
    pub controlled_by_group: bool,
    /// Most entries; empty: 5,000.
    pub max_entries: T,
}

/// An Authorization Manager.
#[derive(Debug, Clone, PartialEq)]
pub struct AuthManager<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// In file order.
    pub entries: Vec<Authorization<T>>,
    /// Forgets digests when the group starts an iteration.
    pub clear_each_iteration: bool,
    /// It follows the group's "same user on next iteration" instead.
    pub controlled_by_group: bool,
}

/// Name and password for the URLs below one URL.
#[derive(Debug, Clone, PartialEq)]
pub struct Authorization<T = Template> {
    /// Start of the URLs.
    pub base_url: T,
    /// User name.
    pub user: T,
    /// Password.
    pub password: T,
    /// Windows domain, which goes in front of the name; may be empty.
    pub domain: T,
    /// Realm; empty: any.
    pub realm: T,
    /// How.
    pub mechanism: AuthMechanism,
}

/// How a user proves who it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuthMechanism {
    /// RFC 7617, sent without being asked.
    #[default]
    Basic,
    /// RFC 7616.
    Digest,
    /// Whichever of the two the server asks for, after it has asked.
    AsAsked,
}

/// A DNS Cache Manager.
#[derive(Debug, Clone, PartialEq)]
pub struct DnsCache<T = Template> {
    /// Identity.
    pub id: ElementId,
    /// Host names and the addresses they stand for, separated by commas.
    pub hosts: Vec<(T, T)>,
    /// Forgets everything when the group starts an iteration.
    pub clear_each_iteration: bool,
}

impl<T> IterationElement<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> IterationElement<U> {
        match self {
            Self::CsvDataSet(csv) => IterationElement::CsvDataSet(Box::new(CsvDataSet {
                id: csv.id,
                file: f(&csv.file),
                encoding: f(&csv.encoding),
                names: f(&csv.names),
                ignore_first_line: csv.ignore_first_line,
                delimiter: f(&csv.delimiter),
                quoted: csv.quoted,
                recycle: f(&csv.recycle),
                stop_user: f(&csv.stop_user),
                share: f(&csv.share),
                at: csv.at,
            })),
            Self::Counter(counter) => IterationElement::Counter(Box::new(Counter {
                id: counter.id,
                start: f(&counter.start),
                end: f(&counter.end),
                step: f(&counter.step),
                format: f(&counter.format),
                variable: f(&counter.variable),
                per_user: counter.per_user,
                reset_on_group_iteration: counter.reset_on_group_iteration,
            })),
            Self::RandomVariable(random) => {
                IterationElement::RandomVariable(Box::new(RandomVariable {
                    id: random.id,
                    variable: f(&random.variable),
                    minimum: f(&random.minimum),
                    maximum: f(&random.maximum),
                    format: f(&random.format),
                    seed: f(&random.seed),
                    per_user: f(&random.per_user),
                }))
            }
            Self::UserParameters(parameters) => IterationElement::UserParameters(parameters.map(f)),
        }
    }
}

impl<T> UserParameters<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> UserParameters<U> {
        UserParameters {
            id: self.id,
            names: self.names.iter().map(&mut *f).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| row.iter().map(&mut *f).collect())
                .collect(),
        }
    }
}

impl<T> CookieManager<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> CookieManager<U> {
        let cookies = self.cookies.iter().map(|cookie| StaticCookie {
            name: f(&cookie.name),
            value: f(&cookie.value),
            domain: f(&cookie.domain),
            path: f(&cookie.path),
            secure: cookie.secure,
            gives_domain: cookie.gives_domain,
            gives_path: cookie.gives_path,
            version: cookie.version,
        });
        CookieManager {
            id: self.id,
            cookies: cookies.collect(),
            clear_each_iteration: self.clear_each_iteration,
            controlled_by_group: self.controlled_by_group,
            policy: f(&self.policy),
            at: self.at,
        }
    }
}

impl<T> CacheManager<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> CacheManager<U> {
        CacheManager {
            id: self.id,
            use_expires: self.use_expires,
            clear_each_iteration: self.clear_each_iteration,
            controlled_by_group: self.controlled_by_group,
            max_entries: f(&self.max_entries),
        }
    }
}

impl<T> AuthManager<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> AuthManager<U> {
        let entries = self.entries.iter().map(|entry| Authorization {
            base_url: f(&entry.base_url),
            user: f(&entry.user),
            password: f(&entry.password),
            domain: f(&entry.domain),
            realm: f(&entry.realm),
            mechanism: entry.mechanism,
        });
        AuthManager {
            id: self.id,
            entries: entries.collect(),
            clear_each_iteration: self.clear_each_iteration,
            controlled_by_group: self.controlled_by_group,
        }
    }
}

impl<T> DnsCache<T> {
    /// Replaces every text.
    pub fn map<U>(&self, f: &mut impl FnMut(&T) -> U) -> DnsCache<U> {
        DnsCache {
            id: self.id,
            hosts: self.hosts.iter().map(|(n, a)| (f(n), f(a))).collect(),
            clear_each_iteration: self.clear_each_iteration,
        }
    }
}
