//! The pools that a Tomcat can have behind it: how they are declared.

use crate::xml_attributes::escaped;

/// How long a request waits for a connection at most. Longer than any published experiment holds
/// one; an error instead of a wait would hide the queue.
const WAIT_MS_MAX: u32 = 180_000;

/// Whose pool it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PoolKind {
    /// Tomcat's own, `tomcat-jdbc`.
    TomcatJdbc,
    /// `HikariCP`.
    Hikari,
}

impl PoolKind {
    /// The `<Resource>` of `conf/context.xml`; without a limit the pool has its own.
    pub(super) fn resource(self, url: &str, user: &str, limit: Option<f64>) -> String {
        let (url, user) = (escaped(url), escaped(user));
        let limited = |names: &[&str]| -> String {
            let limit = limit.into_iter();
            limit
                .flat_map(|limit| names.iter().map(move |name| format!(" {name}=\"{limit}\"")))
                .collect()
        };
        match self {
            Self::TomcatJdbc => format!(
                "<Resource name=\"jdbc/db\" auth=\"Container\" type=\"javax.sql.DataSource\" \
                 factory=\"org.apache.tomcat.jdbc.pool.DataSourceFactory\" \
                 driverClassName=\"org.postgresql.Driver\" url=\"{url}\" username=\"{user}\" \
                 initialSize=\"0\" minIdle=\"0\" maxWait=\"{WAIT_MS_MAX}\"{}/>",
                limited(&["maxActive", "maxIdle"])
            ),
            Self::Hikari => format!(
                "<Resource name=\"jdbc/db\" auth=\"Container\" type=\"javax.sql.DataSource\" \
                 factory=\"com.zaxxer.hikari.HikariJNDIFactory\" \
                 driverClassName=\"org.postgresql.Driver\" jdbcUrl=\"{url}\" username=\"{user}\" \
                 minimumIdle=\"0\" connectionTimeout=\"{WAIT_MS_MAX}\" registerMbeans=\"true\" \
                 poolName=\"db\"{}/>",
                limited(&["maximumPoolSize"])
            ),
        }
    }
}
