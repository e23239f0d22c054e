//! Programs that the tests need beside a Rust toolchain, and how to get them.
//!
//! On a fresh Debian machine a container's root can have them installed by the test command itself;
//! anybody else is told which packages to install. Nothing is installed when nothing is missing.

use std::env;
use std::process::Command;

use crate::error::TaskError;
use crate::process;

/// A program that the tests need.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Need {
    what: &'static str,
    why: &'static str,
    /// Any of these in `PATH` will do.
    programs: &'static [&'static str],
    /// This variable may name one that stands elsewhere.
    variable: &'static str,
    /// Debian packages that hold it.
    packages: &'static [&'static str],
}

/// Builds the SQLite that the sample server carries.
pub(crate) const C_COMPILER: Need = Need {
    what: "a C compiler",
    why: "SQLite is built from source",
    programs: &["cc", "gcc", "clang"],
    variable: "CC",
    packages: &["gcc", "libc6-dev"],
};

/// Opens the report.
pub(crate) const BROWSER: Need = Need {
    what: "Chromium",
    why: "a test opens the report in a real browser",
    programs: &["chromium", "chromium-browser", "google-chrome"],
    variable: "CHROME",
    packages: &["chromium", "fonts-dejavu-core"],
};

/// A server that runs already, and answers what the bench of the load engine sends.
pub(crate) const NGINX: Need = Need {
    what: "nginx",
    why: "tests and a bench load a real one",
    programs: &["nginx"],
    variable: "NGINX",
    packages: &["nginx"],
};

/// A server that Weir does not know.
pub(crate) const NODE: Need = Need {
    what: "Node.js",
    why: "a bench explains a server with one thread",
    programs: &["node", "nodejs"],
    variable: "NODE",
    packages: &["nodejs"],
};

/// What the load engine is compared with.
pub(crate) const WRK: Need = Need {
    what: "wrk",
    why: "the bench compares with it",
    programs: &["wrk"],
    variable: "WRK",
    packages: &["wrk"],
};

/// Another load generator.
pub(crate) const AB: Need = Need {
    what: "ab",
    why: "the bench compares with it",
    programs: &["ab"],
    variable: "AB",
    packages: &["apache2-utils"],
};

/// A server under test.
pub(crate) const HTTPD: Need = Need {
    what: "an Apache httpd",
    why: "tests load a real one",
    programs: &["apache2", "httpd"],
    variable: "HTTPD_HOME",
    packages: &["apache2-bin"],
};

/// Runs a server that Weir does not know.
pub(crate) const PYTHON: Need = Need {
    what: "Python 3",
    why: "tests tune a server that is written in it",
    programs: &["python3"],
    variable: "PYTHON",
    packages: &["python3"],
};

/// Runs JMeter, which `weir run --engine jmeter` starts.
pub(crate) const JAVA: Need = Need {
    what: "a Java runtime",
    why: "tests run plans in a real JMeter",
    programs: &["java"],
    variable: "JAVA_HOME",
    packages: &["default-jdk-headless"],
};

/// Assembles JMeter, unless the user has one.
pub(crate) const MAVEN: Need = Need {
    what: "Maven",
    why: "tests assemble a JMeter; JMETER_HOME may name one instead",
    programs: &["mvn"],
    variable: "JMETER_HOME",
    packages: &["maven"],
};

/// Stands for another machine.
pub(crate) const SSHD: Need = Need {
    what: "OpenSSH",
    why: "tests reach a server over ssh",
    programs: &["sshd"],
    variable: "SSHD",
    packages: &["openssh-server", "openssh-client"],
};

/// Makes the network of that machine.
pub(crate) const IP: Need = Need {
    what: "the program ip",
    why: "tests make a network namespace",
    programs: &["ip"],
    variable: "IP",
    packages: &["iproute2"],
};

/// Builds what is written in C for a program without libraries.
pub(crate) const MUSL_GCC: Need = Need {
    what: "musl-gcc",
    why: "a static program is linked with musl",
    programs: &["musl-gcc"],
    variable: "MUSL_GCC",
    packages: &["musl-tools"],
};

/// Builds what is written in C for another processor.
pub(crate) const AARCH64_GCC: Need = Need {
    what: "a C compiler for aarch64",
    why: "SQLite and QuickJS are built for that processor",
    programs: &["aarch64-linux-gnu-gcc"],
    variable: "AARCH64_GCC",
    packages: &["gcc-aarch64-linux-gnu", "libc6-dev-arm64-cross"],
};

/// Runs programs of another processor.
pub(crate) const QEMU_USER: Need = Need {
    what: "an emulator of other processors",
    why: "what was built for one is started once",
    programs: &["qemu-aarch64-static"],
    variable: "QEMU_USER",
    packages: &["qemu-user-static"],
};

/// Makes packages.
pub(crate) const DPKG_DEB: Need = Need {
    what: "dpkg-deb",
    why: "a package for Debian is made with it",
    programs: &["dpkg-deb"],
    variable: "DPKG_DEB",
    packages: &["dpkg"],
};

/// Puts a program on a CPU.
pub(crate) const TASKSET: Need = Need {
    what: "the program taskset",
    why: "processes that spin are put on the CPU of a server",
    programs: &["taskset"],
    variable: "TASKSET",
    packages: &["util-linux"],
};

/// Makes a network namespace and gives it to a program.
pub(crate) const UNSHARE: Need = Need {
    what: "the program unshare",
    why: "a network that loses packets is one that only the server and its load have",
    programs: &["unshare"],
    variable: "UNSHARE",
    packages: &["util-linux"],
};

/// The kernel's firewall.
pub(crate) const NFT: Need = Need {
    what: "the program nft",
    why: "a firewall drops packets between the load and the server",
    programs: &["nft"],
    variable: "NFT",
    packages: &["nftables"],
};

/// Kills a process at each of its system calls.
pub(crate) const STRACE: Need = Need {
    what: "the program strace",
    why: "a test kills Weir at each change that it makes on a disk",
    programs: &["strace"],
    variable: "STRACE",
    packages: &["strace"],
};

/// The database behind servers under test.
pub(crate) const POSTGRESQL: Need = Need {
    what: "PostgreSQL",
    why: "tests start one of their own",
    // Debian keeps `initdb` out of the search path; the other comes with the server's package.
    programs: &["initdb", "pg_ctlcluster"],
    variable: "POSTGRESQL_BIN",
    packages: &["postgresql"],
};

impl Need {
    fn is_met(&self) -> bool {
        env::var_os(self.variable).is_some()
            || self.programs.iter().any(|name| process::installed(name))
    }
}

/// Makes sure that all of it is there: installs what is missing when that is possible, else names
/// it.
pub(crate) fn provide(needs: &[Need]) -> Result<(), TaskError> {
    if missing(needs).is_empty() {
        return Ok(());
    }
    if rustix::process::geteuid().is_root() && process::installed("apt-get") {
        install(&missing(needs))?;
    }
    match missing(needs) {
        still if still.is_empty() => Ok(()),
        still => Err(missing_error(&still)),
    }
}

fn missing(needs: &[Need]) -> Vec<Need> {
    needs
        .iter()
        .filter(|need| !need.is_met())
        .copied()
        .collect()
}

fn install(needs: &[Need]) -> Result<(), TaskError> {
    for need in needs {
        println!("{} is missing ({}): installing it", need.what, need.why);
    }
    let apt_get = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command
            .args(arguments)
            .env("DEBIAN_FRONTEND", "noninteractive");
        process::run(&mut command)
    };
    // Without this a failed download ends in apt-get's own words, which do not say what it was for.
    let explain = |_| missing_error(needs);
    apt_get(&["update", "--quiet"]).map_err(explain)?;
    let mut arguments = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    arguments.extend(needs.iter().flat_map(|need| need.packages));
    apt_get(&arguments).map_err(explain)
}

fn missing_error(needs: &[Need]) -> TaskError {
    let what: Vec<String> = needs
        .iter()
        .map(|need| format!("{} ({})", need.what, need.why))
        .collect();
    let packages: Vec<&str> = needs
        .iter()
        .flat_map(|need| need.packages)
        .copied()
        .collect();
    TaskError::Missing {
        what: what.join(" and "),
        packages: packages.join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOWHERE: Need = Need {
        what: "a unicorn",
        why: "to ride on",
        programs: &["no-such-program-anywhere"],
        variable: "NO_SUCH_VARIABLE_ANYWHERE",
        packages: &["unicorn", "unicorn-data"],
    };

    const EVERYWHERE: Need = Need {
        programs: &["no-such-program-anywhere", "sh"],
        ..NOWHERE
    };

    #[test]
    fn only_what_is_not_there_is_missing() {
        let named: Vec<&str> = missing(&[NOWHERE, EVERYWHERE])
            .iter()
            .map(|need| need.programs[0])
            .collect();
        assert_eq!(named, ["no-such-program-anywhere"]);
        assert!(missing(&[EVERYWHERE]).is_empty());
    }

    #[test]
    fn the_message_names_purpose_packages_and_the_way_on() {
        let message = missing_error(&[NOWHERE]).to_string();
        for part in ["a unicorn (to ride on)", "unicorn unicorn-data", "--fast"] {
            assert!(message.contains(part), "{message}");
        }
    }
}
