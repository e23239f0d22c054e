//! A page of metrics that a server of any kind tells about itself.

use std::net::SocketAddr;

use weir_exchange::MetricsUrl;
use weir_probe::{NameTable, Source};

use crate::error::TargetError;

/// A page in Prometheus's text format, and what the metrics on it stand for.
#[derive(Debug, Clone, PartialEq)]
pub struct MetricsPage {
    /// Its URL, or its path on the server itself.
    pub place: String,
    /// The names.
    pub names: NameTable,
}

impl MetricsPage {
    /// Where it is read, for a server at this address.
    pub(crate) fn source(&self, server: SocketAddr) -> Result<Source, TargetError> {
        let url = on_server(&self.place, server);
        let parsed: MetricsUrl = url.parse().map_err(|error| TargetError::Setting {
            name: "metrics".to_owned(),
            says: format!("{url}: {error}"),
        })?;
        Ok(Source::Prometheus {
            url: parsed,
            names: self.names.clone(),
        })
    }
}

/// A URL; a path is one on the server.
pub(crate) fn on_server(place: &str, server: SocketAddr) -> String {
    if place.starts_with('/') {
        format!("http://{server}{place}")
    } else {
        place.to_owned()
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_one_on_the_server_itself() {
        let server = "127.0.0.1:8080".parse().unwrap();
        assert_eq!(
            on_server("/metrics", server),
            "http://127.0.0.1:8080/metrics"
        );
        assert_eq!(
            on_server("http://127.0.0.1:9100/m", server),
            "http://127.0.0.1:9100/m"
        );
        let page = |place: &str| MetricsPage {
            place: place.to_owned(),
            names: NameTable::default(),
        };
        assert!(page("/metrics").source(server).is_ok());
        let error = page("ftp://x").source(server).unwrap_err().to_string();
        assert!(error.contains("set `metrics`: ftp://x"), "{error}");
    }
}
