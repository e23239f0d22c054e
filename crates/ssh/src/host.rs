//! A host as the user names it, and the command lines that lead there.

use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::{SshError, way_out};

/// Options of every connection: nothing is asked, a host that is gone is noticed within 15 seconds,
/// and whatever the user's configuration says, the host gets nothing to act with: no agent, no
/// tickets, no windows, tunnels, terminals or commands here.
const OPTIONS: [&str; 13] = [
    "BatchMode=yes",
    "ConnectTimeout=10",
    "ServerAliveInterval=5",
    "ServerAliveCountMax=3",
    "ForwardAgent=no",
    "GSSAPIDelegateCredentials=no",
    "ForwardX11=no",
    "ClearAllForwardings=yes",
    "Tunnel=no",
    "RemoteCommand=none",
    "RequestTTY=no",
    "EscapeChar=none",
    "PermitLocalCommand=no",
];

/// Characters that a shell acts on: `ProxyCommand` and `Match exec` of a configuration pass user
/// and host to one (`%r`, `%h`), so that names with them would be commands. OpenSSH refuses the
/// same since 9.6.
const OF_SHELLS: [char; 12] = ['\'', '"', '`', ';', '&', '<', '>', '|', '(', ')', '{', '}'];
/// Those that only the name of a user may hold: `DOMAIN\USER`, `MACHINE$`.
const OF_USERS: [char; 2] = ['$', '\\'];

/// A host of `~/.ssh/config`, or `USER@HOST`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SshHost {
    name: String,
    program: String,
    configuration: Option<PathBuf>,
}

impl SshHost {
    /// A host by its name.
    ///
    /// # Errors
    /// The name is empty, begins as an option would, or has characters in it that mean something to
    /// a shell.
    pub fn new(name: &str) -> Result<Self, SshError> {
        let fits = |c: char| !c.is_whitespace() && !c.is_control() && !OF_SHELLS.contains(&c);
        let (user, host) = name.rsplit_once('@').unwrap_or(("", name));
        let begins = [name, user, host].iter().any(|part| part.starts_with('-'));
        let is_host = !host.is_empty() && !host.contains(OF_USERS) && !user.ends_with('\\');
        if begins || !is_host || !name.chars().all(fits) {
            return Err(SshError::Name {
                name: name.to_owned(),
            });
        }
        Ok(Self {
            name: name.to_owned(),
            program: "ssh".to_owned(),
            configuration: None,
        })
    }

    /// With this file in place of `~/.ssh/config`.
    #[must_use]
    pub fn with_configuration(self, file: &Path) -> Self {
        // A command line of it may be run from anywhere.
        let file = std::path::absolute(file).unwrap_or_else(|_| file.to_owned());
        Self {
            configuration: Some(file),
            ..self
        }
    }

    /// By this program, which takes the words of `ssh`.
    #[must_use]
    pub fn with_program(self, program: &Path) -> Self {
        Self {
            program: program.display().to_string(),
            ..self
        }
    }

    /// As the user named it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program and arguments that run a command line there, over a connection of its own.
    pub fn command_line(&self, line: &str) -> Vec<String> {
        self.words(&[], line)
    }

    /// What a user types to reach it.
    pub(crate) fn by_hand(&self) -> String {
        match &self.configuration {
            Some(file) => format!("{} -F {} {}", self.program, file.display(), self.name),
            None => format!("{} {}", self.program, self.name),
        }
    }

    /// As [`command_line`](Self::command_line), with more options.
    pub(crate) fn words(&self, options: &[String], line: &str) -> Vec<String> {
        let flags = ["-T", "-a", "-x"].map(str::to_owned);
        let mut words = vec![self.program.clone()];
        words.extend(flags);
        words.extend(self.file_words());
        for option in OPTIONS.iter().copied().map(str::to_owned) {
            words.extend(["-o".to_owned(), option]);
        }
        for option in options {
            words.extend(["-o".to_owned(), option.clone()]);
        }
        words.extend(["--".to_owned(), self.name.clone(), line.to_owned()]);
        words
    }

    /// Whether the user's own configuration shares connections to this host. Also tells whether ssh
    /// is there and understands the configuration.
    pub(crate) fn shares_connections(&self) -> Result<bool, SshError> {
        let output = Command::new(&self.program)
            .args(self.file_words())
            .args(["-G", "--", &self.name])
            .stdin(Stdio::null())
            .output()
            .map_err(SshError::Program)?;
        if !output.status.success() {
            return Err(self.not_connected(&String::from_utf8_lossy(&output.stderr)));
        }
        let settings = String::from_utf8_lossy(&output.stdout);
        Ok(settings
            .lines()
            .filter_map(|line| line.strip_prefix("controlpath "))
            .any(|path| path != "none"))
    }

    /// ssh's last words as an error.
    pub(crate) fn not_connected(&self, says: &str) -> SshError {
        let says = last_words(says);
        SshError::Connect {
            host: self.name.clone(),
            way_out: way_out(&says, &self.by_hand()),
            says,
        }
    }

    fn file_words(&self) -> Vec<String> {
        let file = self.configuration.iter();
        file.flat_map(|file| ["-F".to_owned(), file.display().to_string()])
            .collect()
    }
}

/// The command of these words, out of reach of a Ctrl-C that is meant for Weir.
pub(crate) fn command(words: &[String]) -> Command {
    let (program, arguments) = words.split_first().expect("a command line has a program");
    let mut command = Command::new(program);
    command.args(arguments).process_group(0);
    command
}

/// The end of what ssh said, on one line.
pub(crate) fn last_words(says: &str) -> String {
    let lines: Vec<&str> = says.lines().map(str::trim).collect();
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    let from = lines.len().saturating_sub(3);
    match &lines[from..] {
        [] => "it said nothing".to_owned(),
        last => last.join(" "),
    }
}

/// A word as a shell takes it, whatever is in it.
pub fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_ssh_would_take_for_an_option_is_no_host() {
        for name in [
            "",
            "-oProxyCommand=id",
            "weir@-oProxyCommand=id",
            "weir@",
            "a b",
            "a\nb",
            "a;id",
            "$(id)",
            "$HOME",
            "`id`@app01",
            "a\\@app01",
            "a|id@app01",
        ] {
            assert!(SshHost::new(name).is_err(), "{name:?}");
        }
        for name in [
            "app01",
            "weir@10.0.0.5",
            "app-01.example.com",
            "[fe80::1%eth0]",
            "ssh://weir@app01:2222",
            "DOMAIN\\weir@app01",
        ] {
            assert_eq!(SshHost::new(name).unwrap().name(), name);
        }
    }

    #[test]
    fn a_command_line_asks_nothing_and_names_the_configuration() {
        let host = SshHost::new("app01").unwrap();
        let words = host.command_line("cat limit");
        assert_eq!(words[0], "ssh");
        assert!(words.contains(&"BatchMode=yes".to_owned()));
        assert_eq!(words[words.len() - 3..], ["--", "app01", "cat limit"]);
        let host = host.with_configuration(Path::new("/etc/hosts-of-weir"));
        let words = host.command_line("true");
        assert_eq!(words[4..6], ["-F", "/etc/hosts-of-weir"]);
        assert_eq!(host.by_hand(), "ssh -F /etc/hosts-of-weir app01");
    }

    /// What the client of OpenSSH makes of the words and of a configuration that gives everything
    /// away.
    #[test]
    fn a_host_gets_nothing_to_act_with() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("config");
        let generous = "Host *\n ForwardAgent yes\n ForwardX11 yes\n ForwardX11Trusted yes\n \
                        GSSAPIDelegateCredentials yes\n LocalForward 127.0.0.1:9 127.0.0.1:9\n \
                        RemoteForward 9 127.0.0.1:9\n DynamicForward 9\n Tunnel yes\n \
                        PermitLocalCommand yes\n LocalCommand id\n RemoteCommand id\n \
                        RequestTTY force\n";
        std::fs::write(&file, generous).unwrap();
        let host = SshHost::new("app01").unwrap().with_configuration(&file);
        let mut words = host.command_line("true");
        words.truncate(words.len() - 1);
        let settings = |words: &[String]| {
            let output = Command::new("ssh").arg("-G").args(&words[1..]).output();
            String::from_utf8(output.unwrap().stdout).unwrap()
        };
        let by_hand = settings(&["ssh", "-F", file.to_str().unwrap(), "app01"].map(str::to_owned));
        let by_weir = settings(&words);
        for (setting, generous, wanted) in [
            ("forwardagent", "yes", "no"),
            ("forwardx11", "yes", "no"),
            ("gssapidelegatecredentials", "yes", "no"),
            ("tunnel", "point-to-point", "false"),
            ("permitlocalcommand", "yes", "no"),
            ("requesttty", "force", "false"),
            ("clearallforwardings", "no", "yes"),
        ] {
            let is = |settings: &str, value: &str| {
                let found = settings
                    .lines()
                    .find_map(|line| line.strip_prefix(setting)?.strip_prefix(' '));
                assert_eq!(found, Some(value), "{setting}");
            };
            is(&by_hand, generous);
            is(&by_weir, wanted);
        }
    }

    #[test]
    fn last_words_are_one_line() {
        assert_eq!(last_words(""), "it said nothing");
        assert_eq!(last_words("a\r\nb\n\nc\nd\n"), "b c d");
    }

    proptest! {
        #[test]
        fn a_shell_takes_a_quoted_word_as_it_is(word in "[^\0]{0,20}") {
            let output = Command::new("/bin/sh")
                .args(["-c", &format!("printf %s {}", quoted(&word))])
                .output()
                .unwrap();
            prop_assert_eq!(output.stdout, word.as_bytes());
        }
    }
}
