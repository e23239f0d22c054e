//! What goes wrong in TLS, in the words of Java 17.

use std::fmt::Write as _;
use std::io;

use tokio_rustls::rustls::{AlertDescription, Error};

/// The error of TLS in an error of a connection; `None` if it was not TLS that failed.
pub(super) fn tls_error(error: &io::Error) -> Option<&Error> {
    error.get_ref()?.downcast_ref()
}

/// What it says.
pub(super) fn says(error: &Error) -> String {
    match error {
        Error::AlertReceived(alert) => format!("Received fatal alert: {}", java_name(*alert)),
        error => error.to_string(),
    }
}

/// An alert as Java and RFC 8446, appendix B.2, write it: `handshake_failure`.
fn java_name(alert: AlertDescription) -> String {
    match alert {
        AlertDescription::UnknownCA => return "unknown_ca".to_owned(),
        AlertDescription::UnrecognisedName => return "unrecognized_name".to_owned(),
        _ => {}
    }
    let mut name = String::new();
    for letter in format!("{alert:?}").chars() {
        if letter.is_ascii_uppercase() && !name.is_empty() {
            name.push('_');
        }
        // Writing to a String never fails.
        let _ = write!(name, "{}", letter.to_ascii_lowercase());
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As Java 17 prints them.
    #[test]
    fn alerts_have_their_names() {
        for (alert, name) in [
            (AlertDescription::HandshakeFailure, "handshake_failure"),
            (AlertDescription::ProtocolVersion, "protocol_version"),
            (AlertDescription::UnrecognisedName, "unrecognized_name"),
            (AlertDescription::UnknownCA, "unknown_ca"),
        ] {
            assert_eq!(java_name(alert), name);
        }
    }
}
