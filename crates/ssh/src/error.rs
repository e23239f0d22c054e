//! What can go wrong, with the way out.

use std::io;

/// Why another machine cannot be spoken with; each message fits after "failed to ...".
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SshError {
    /// What was given is no name of a host.
    #[error(
        "use `{name}` as an ssh host: write it as for ssh: a host of ~/.ssh/config, or USER@HOST"
    )]
    Name {
        /// The name as given.
        name: String,
    },
    /// The program does not run.
    #[error("start `ssh`: {0}; the client of OpenSSH has to be installed on this machine")]
    Program(#[source] io::Error),
    /// ssh gave up.
    #[error("connect to `{host}` over ssh: {says}; {way_out}")]
    Connect {
        /// The host as given.
        host: String,
        /// What ssh said.
        says: String,
        /// What the user can do.
        way_out: String,
    },
    /// The connection has ended.
    #[error("ask `{host}` over ssh: the connection has ended: {says}")]
    Ended {
        /// The host as given.
        host: String,
        /// What ssh said.
        says: String,
    },
    /// No answer in time.
    #[error("ask `{host}` over ssh: no answer within {seconds} s")]
    Late {
        /// The host as given.
        host: String,
        /// How long was waited.
        seconds: u64,
    },
    /// The other end cannot do what is needed.
    #[error("read `{host}` over ssh: {says}")]
    Unfit {
        /// The host as given.
        host: String,
        /// What is missing.
        says: String,
    },
}

/// What ssh's last words mean for the user.
pub(crate) fn way_out(says: &str, by_hand: &str) -> String {
    let once = format!("run `{by_hand} true` once by hand");
    // Words of ssh.
    let has = |part: &str| says.contains(part);
    if has("Host key verification failed") || has("host key is known") {
        format!("{once} and look at the host's key before you accept it")
    } else if has("Permission denied") || has("Too many authentication failures") {
        format!(
            "Weir never asks for a password: `{by_hand} true` has to work without one, by a key in ssh's agent \
             (ssh-add) or a connection that is open already (ControlMaster in ~/.ssh/config)"
        )
    } else if has("Could not resolve hostname") {
        "no host has this name, neither in ~/.ssh/config nor in the network".to_owned()
    } else if has("refused") || has("timed out") || has("No route") || has("unreachable") {
        format!("nobody answers for it; see whether `{by_hand} true` works by hand")
    } else {
        format!("{once} to see what is wrong")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_out_fits_what_ssh_said() {
        for (says, way) in [
            (
                "No ED25519 host key is known for app01 and you have requested strict checking.\r\nHost key verification failed.",
                "accept it",
            ),
            (
                "weir@app01: Permission denied (publickey,password).",
                "ssh-add",
            ),
            (
                "ssh: Could not resolve hostname app01: Name or service not known",
                "no host has this name",
            ),
            (
                "ssh: connect to host 127.0.0.1 port 9: Connection refused",
                "nobody answers",
            ),
            (
                "Bad configuration option: x",
                "run `ssh app01 true` once by hand",
            ),
        ] {
            let told = way_out(says, "ssh app01");
            assert!(told.contains(way), "{says}: {told}");
        }
    }
}
