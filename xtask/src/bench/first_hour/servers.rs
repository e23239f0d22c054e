//! Real servers as somebody else would have started them: their own configuration, their own
//! command line, no help for Weir.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::write;
use crate::error::TaskError;
use crate::process::{output, run};
use crate::workspace::Workspace;

/// The CPU of the server; the load has the other one.
const CPU: &str = "0";
const OTHER_CPU: &str = "1";
const STARTS: Duration = Duration::from_secs(90);
/// Where distributions install Java.
const JAVAS: &str = "/usr/lib/jvm";
const SOURCES: &str = "bench/first-hour";
/// Bytes of the file that is compressed.
const BIG: usize = 60_000;

/// With these a Spring Boot tells of its threads and its pool over JMX.
const SHOWN: [&str; 3] = [
    "--server.tomcat.mbeanregistry.enabled=true",
    "--spring.jmx.enabled=true",
    "--spring.datasource.hikari.register-mbeans=true",
];
/// With this a Liberty does.
const MONITOR: &str = "    <feature>monitor-1.0</feature>\n";

/// A kind of server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) enum Server {
    Tomcat,
    /// Spring Boot that shows its figures.
    SpringBoot,
    /// Spring Boot as it is without options.
    SpringPlain,
    /// Spring Boot with a virtual thread for each request.
    SpringVirtual,
    /// Liberty that shows its figures.
    Liberty,
    /// Liberty without the feature for that.
    LibertyPlain,
    /// Apache httpd, a process for each connection.
    Prefork,
    /// Apache httpd with threads.
    Event,
    Nginx,
    /// A server that Weir does not know.
    Python,
    /// Another one, with one thread for all requests.
    Node,
}

/// What bounds it; what is not said is left to its default.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::bench) struct Limits {
    pub(in crate::bench) threads: Option<u32>,
    pub(in crate::bench) pool: Option<u32>,
    pub(in crate::bench) connections: Option<u32>,
}

impl Limits {
    pub(in crate::bench) fn named(self) -> [(&'static str, Option<u32>); 3] {
        [
            ("threads", self.threads),
            ("pool", self.pool),
            ("connections", self.connections),
        ]
    }
}

/// A server that runs until this is dropped.
pub(in crate::bench) struct Running {
    child: Child,
    port: u16,
}

impl Running {
    pub(in crate::bench) fn origin(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The process that was started, and those that it started.
    pub(in crate::bench) fn processes(&self) -> Vec<u32> {
        let mut found = vec![self.child.id()];
        let mut at = 0;
        while let Some(process) = found.get(at) {
            let path = format!("/proc/{process}/task/{process}/children");
            // One that has ended has none.
            let children = fs::read_to_string(path).unwrap_or_default();
            found.extend(
                children
                    .split_whitespace()
                    .filter_map(|id| id.parse::<u32>().ok()),
            );
            at += 1;
        }
        found
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // nginx and httpd end their children only when they are asked to.
        let asked = Command::new("kill")
            .arg(self.child.id().to_string())
            .status();
        let until = Instant::now() + Duration::from_secs(15);
        while asked.is_ok() && Instant::now() < until {
            if !matches!(self.child.try_wait(), Ok(None)) {
                return;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What the servers are made of.
pub(in crate::bench) struct Kit {
    folder: PathBuf,
    tomcat: PathBuf,
    liberty: PathBuf,
    /// A folder `WEB-INF` and `META-INF` are put beside.
    classes: PathBuf,
    /// The Spring Boot application.
    jar: PathBuf,
    /// What answers in Python.
    script: PathBuf,
    /// What answers in Node.js.
    node: PathBuf,
}

impl Kit {
    /// Fetches and builds what is missing.
    pub(in crate::bench) fn prepare(
        workspace: &Workspace,
        program: &Path,
        folder: &Path,
    ) -> Result<Self, TaskError> {
        let folder = std::path::absolute(folder).map_err(TaskError::file("find", folder))?;
        fs::create_dir_all(&folder).map_err(TaskError::file("write", &folder))?;
        let installed = |name: &str| {
            let text = output(Command::new(program).args(["target", "install", name]))?;
            let line = text.lines().last().unwrap_or_default().trim().to_owned();
            Ok::<_, TaskError>(PathBuf::from(line))
        };
        let (tomcat, liberty) = (installed("tomcat-11")?, installed("liberty")?);
        let sources = workspace.root.join(SOURCES);
        let java = sources.join("java/weir/hour");
        let files = ["Work.java", "HourServlet.java", "QuietDriver.java"];
        let classes = folder.join("classes");
        let mut javac = Command::new("javac");
        javac
            .args(["--release", "17", "-cp"])
            .arg(tomcat.join("lib/servlet-api.jar"))
            .arg("-d")
            .arg(&classes)
            .args(files.map(|name| java.join(name)));
        run(&mut javac)?;
        let spring = folder.join("spring");
        let package = spring.join("src/main/java/weir/hour");
        fs::create_dir_all(&package).map_err(TaskError::file("write", &package))?;
        for (from, to) in files
            .map(|name| (java.join(name), package.join(name)))
            .into_iter()
            .chain([
                (
                    sources.join("spring/HourApplication.java"),
                    package.join("HourApplication.java"),
                ),
                (sources.join("spring/pom.xml"), spring.join("pom.xml")),
            ])
        {
            fs::copy(&from, &to).map_err(TaskError::file("read", &from))?;
        }
        let mut maven = Command::new("mvn");
        maven
            .args(["-q", "-B", "-Dmaven.test.skip", "package"])
            .current_dir(&spring);
        run(&mut maven)?;
        Ok(Self {
            jar: spring.join("target/hour.jar"),
            script: sources.join("answers.py"),
            node: sources.join("answers.mjs"),
            folder,
            tomcat,
            liberty,
            classes,
        })
    }

    /// An empty folder for a case.
    pub(in crate::bench) fn place(&self, name: &str) -> Result<PathBuf, TaskError> {
        let place = self.folder.join("cases").join(name);
        if place.exists() {
            fs::remove_dir_all(&place).map_err(TaskError::file("remove", &place))?;
        }
        fs::create_dir_all(&place).map_err(TaskError::file("write", &place))?;
        Ok(place)
    }

    /// The other server, with so many threads.
    pub(in crate::bench) fn away(&self, threads: u32) -> Result<Running, TaskError> {
        let place = self.place("away")?;
        let limits = Limits {
            threads: Some(threads),
            pool: None,
            connections: None,
        };
        self.start_on(OTHER_CPU, Server::Tomcat, limits, None, &place)
    }

    /// A server with these limits, started like somebody else's.
    pub(in crate::bench) fn start(
        &self,
        server: Server,
        limits: Limits,
        away: Option<&str>,
        place: &Path,
    ) -> Result<Running, TaskError> {
        self.start_on(CPU, server, limits, away, place)
    }

    fn start_on(
        &self,
        cpu: &str,
        server: Server,
        limits: Limits,
        away: Option<&str>,
        place: &Path,
    ) -> Result<Running, TaskError> {
        let port = free_port()?;
        let base = place.join("server");
        if base.exists() {
            fs::remove_dir_all(&base).map_err(TaskError::file("remove", &base))?;
        }
        let start = Start {
            kit: self,
            limits,
            away,
            base: &base,
            port,
        };
        let words = match server {
            Server::Tomcat => start.tomcat()?,
            Server::SpringBoot => start.spring_boot(&SHOWN)?,
            Server::SpringPlain => start.spring_boot(&[])?,
            Server::SpringVirtual => start.spring_virtual()?,
            Server::Liberty => start.liberty(MONITOR)?,
            Server::LibertyPlain => start.liberty("")?,
            Server::Prefork => start.httpd("prefork")?,
            Server::Event => start.httpd("event")?,
            Server::Nginx => start.nginx()?,
            Server::Python => start.python()?,
            Server::Node => start.node()?,
        };
        let log = base.join("out");
        let out = File::create(&log).map_err(TaskError::file("write", &log))?;
        let error = out.try_clone().map_err(TaskError::file("write", &log))?;
        let child = Command::new("taskset")
            .args(["--cpu-list", cpu])
            .args(&words)
            .env("WLP_USER_DIR", &base)
            .current_dir(&base)
            // An httpd that ends ends its whole group.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(out)
            .stderr(error)
            .spawn()
            .map_err(|source| TaskError::Start {
                command: words.join(" "),
                source,
            })?;
        let mut running = Running { child, port };
        let until = Instant::now() + STARTS;
        while !answers(port) {
            let ended = running.child.try_wait().is_ok_and(|end| end.is_some());
            if ended || Instant::now() > until {
                return Err(TaskError::Ended {
                    command: words.join(" "),
                    status: format!("it does not answer; see {}", log.display()),
                });
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(running)
    }
}

/// The oldest Java of this machine that has at least this release.
fn java_since(release: u32) -> Result<PathBuf, TaskError> {
    let homes = fs::read_dir(JAVAS).map_err(TaskError::file("read", Path::new(JAVAS)))?;
    let of_home = |home: PathBuf| {
        let text = fs::read_to_string(home.join("release")).ok()?;
        let version = text
            .lines()
            .find_map(|line| line.strip_prefix("JAVA_VERSION=\""))?;
        let found: u32 = version.split(['.', '"']).next()?.parse().ok()?;
        (found >= release).then(|| (found, home.join("bin/java")))
    };
    let found = homes.flatten().filter_map(|home| of_home(home.path()));
    let oldest = found.min_by_key(|(release, _)| *release);
    oldest.map(|(_, java)| java).ok_or_else(|| TaskError::Form {
        what: format!("the Javas in {JAVAS}"),
        why: format!("none is {release} or later"),
    })
}

/// A start of a server.
struct Start<'a> {
    kit: &'a Kit,
    limits: Limits,
    away: Option<&'a str>,
    base: &'a Path,
    port: u16,
}

impl Start<'_> {
    fn put(&self, name: &str, text: &str) -> Result<(), TaskError> {
        let path = self.base.join(name);
        let folder = path.parent().unwrap_or(self.base);
        fs::create_dir_all(folder).map_err(TaskError::file("write", folder))?;
        write(&path, text)
    }

    fn java(&self) -> Vec<String> {
        let mut words = vec!["java".to_owned(), "-Xmx256m".to_owned()];
        words.extend(self.away.map(|away| format!("-Dweir.hour.away={away}")));
        words
    }

    /// The application as a folder that a servlet container serves.
    fn application(&self, name: &str) -> Result<(), TaskError> {
        self.put(
            &format!("{name}/WEB-INF/web.xml"),
            "<web-app xmlns=\"https://jakarta.ee/xml/ns/jakartaee\" version=\"6.0\">\n  <servlet><servlet-name>work</servlet-name>\
             <servlet-class>weir.hour.HourServlet</servlet-class></servlet>\n  <servlet-mapping><servlet-name>work</servlet-name>\
             <url-pattern>/work</url-pattern></servlet-mapping>\n</web-app>\n",
        )?;
        let to = format!("{name}/WEB-INF/classes/weir/hour");
        let from = self.kit.classes.join("weir/hour");
        let to = self.base.join(to);
        fs::create_dir_all(&to).map_err(TaskError::file("write", &to))?;
        let entries = fs::read_dir(&from).map_err(TaskError::file("read", &from))?;
        for entry in entries.flatten() {
            fs::copy(entry.path(), to.join(entry.file_name()))
                .map_err(TaskError::file("write", &to))?;
        }
        Ok(())
    }

    fn tomcat(&self) -> Result<Vec<String>, TaskError> {
        let mut connector = BTreeMap::from([
            ("port", self.port.to_string()),
            ("address", "127.0.0.1".to_owned()),
            ("protocol", "HTTP/1.1".to_owned()),
            ("maxKeepAliveRequests", "-1".to_owned()),
        ]);
        let threads = self.limits.threads.map(|threads| threads.to_string());
        connector.extend(threads.map(|threads| ("maxThreads", threads)));
        let connections = self.limits.connections.map(|limit| limit.to_string());
        connector.extend(connections.map(|limit| ("maxConnections", limit)));
        let attributes: Vec<String> = connector
            .iter()
            .map(|(name, value)| format!("{name}=\"{value}\""))
            .collect();
        self.put(
            "conf/server.xml",
            &format!(
                "<Server port=\"-1\">\n  <Service name=\"Catalina\">\n    <Connector {}/>\n    <Engine name=\"Catalina\" \
                 defaultHost=\"localhost\">\n      <Host name=\"localhost\" appBase=\"webapps\"/>\n    </Engine>\n  </Service>\n\
                 </Server>\n",
                attributes.join(" ")
            ),
        )?;
        self.put("conf/web.xml", "<web-app/>\n")?;
        self.application("webapps/ROOT")?;
        if let Some(pool) = self.limits.pool {
            self.put(
                "webapps/ROOT/META-INF/context.xml",
                &format!(
                    "<Context>\n  <Resource name=\"jdbc/db\" type=\"javax.sql.DataSource\" driverClassName=\"weir.hour.QuietDriver\" \
                     url=\"jdbc:quiet:\" maxTotal=\"{pool}\" maxWaitMillis=\"-1\"/>\n</Context>\n"
                ),
            )?;
        }
        for folder in ["logs", "temp", "work"] {
            let folder = self.base.join(folder);
            fs::create_dir_all(&folder).map_err(TaskError::file("write", &folder))?;
        }
        let home = &self.kit.tomcat;
        let jars = ["bootstrap.jar", "tomcat-juli.jar"].map(|jar| home.join("bin").join(jar));
        let mut words = self.java();
        words.extend([
            format!("-Dcatalina.home={}", home.display()),
            format!("-Dcatalina.base={}", self.base.display()),
            "-cp".to_owned(),
            jars.map(|jar| jar.display().to_string()).join(":"),
            "org.apache.catalina.startup.Bootstrap".to_owned(),
            "start".to_owned(),
        ]);
        Ok(words)
    }

    /// Virtual threads begin with Java 21, and stand aside in a lock since 24.
    fn spring_virtual(&self) -> Result<Vec<String>, TaskError> {
        let mut words = self.spring_boot(&SHOWN)?;
        words.push("--spring.threads.virtual.enabled=true".to_owned());
        words[0] = java_since(24)?.display().to_string();
        Ok(words)
    }

    fn spring_boot(&self, options: &[&str]) -> Result<Vec<String>, TaskError> {
        fs::create_dir_all(self.base).map_err(TaskError::file("write", self.base))?;
        let mut words = self.java();
        words.extend([
            "-jar".to_owned(),
            self.kit.jar.display().to_string(),
            format!("--server.port={}", self.port),
            "--server.address=127.0.0.1".to_owned(),
            "--server.tomcat.max-keep-alive-requests=-1".to_owned(),
            "--spring.datasource.url=jdbc:quiet:".to_owned(),
            "--spring.datasource.driver-class-name=weir.hour.QuietDriver".to_owned(),
            "--spring.datasource.hikari.pool-name=db".to_owned(),
        ]);
        for (option, limit) in [
            ("server.tomcat.threads.max", self.limits.threads),
            ("server.tomcat.max-connections", self.limits.connections),
            (
                "spring.datasource.hikari.maximum-pool-size",
                self.limits.pool,
            ),
        ] {
            words.extend(limit.map(|limit| format!("--{option}={limit}")));
        }
        words.extend(options.iter().map(|option| (*option).to_owned()));
        Ok(words)
    }

    fn liberty(&self, features: &str) -> Result<Vec<String>, TaskError> {
        let executor = self.limits.threads.map_or(String::new(), |threads| {
            format!("  <executor maxThreads=\"{threads}\"/>\n")
        });
        let source = self.limits.pool.map_or(String::new(), |pool| {
            format!(
                "  <library id=\"quiet\"><folder dir=\"{}\"/></library>\n  <dataSource id=\"db\" jndiName=\"jdbc/db\" \
                 type=\"java.sql.Driver\">\n    <jdbcDriver libraryRef=\"quiet\" java.sql.Driver=\"weir.hour.QuietDriver\"/>\n    \
                 <properties URL=\"jdbc:quiet:\"/>\n    <connectionManager maxPoolSize=\"{pool}\" connectionTimeout=\"-1\"/>\n  \
                 </dataSource>\n",
                self.kit.classes.display()
            )
        });
        self.application("servers/hour/apps/root")?;
        self.put(
            "servers/hour/server.xml",
            &format!(
                "<server>\n  <featureManager>\n    <feature>servlet-6.0</feature>\n    <feature>jdbc-4.3</feature>\n    \
                 <feature>jndi-1.0</feature>\n{features}  </featureManager>\n  <httpEndpoint id=\"defaultHttpEndpoint\" host=\"127.0.0.1\" \
                 httpPort=\"{}\" httpsPort=\"-1\">\n    <httpOptions maxKeepAliveRequests=\"-1\"/>\n  </httpEndpoint>\n{executor}{source}  \
                 <webApplication location=\"root\" contextRoot=\"/\">\n    <classloader commonLibraryRef=\"{}\"/>\n  \
                 </webApplication>\n</server>\n",
                self.port,
                if self.limits.pool.is_some() { "quiet" } else { "global" }
            ),
        )?;
        let tools = self.kit.liberty.join("bin/tools");
        let mut words = self.java();
        // As its own script starts it: without these there is no JNDI.
        let opened = self.kit.liberty.join("lib/platform/java/java9.options");
        words.extend([
            format!("@{}", opened.display()),
            format!("-javaagent:{}", tools.join("ws-javaagent.jar").display()),
            "-jar".to_owned(),
            tools.join("ws-server.jar").display().to_string(),
            "hour".to_owned(),
        ]);
        Ok(words)
    }

    fn httpd(&self, mpm: &str) -> Result<Vec<String>, TaskError> {
        self.put("htdocs/big.txt", &big())?;
        let module = |name: &str| {
            format!("LoadModule {name}_module /usr/lib/apache2/modules/mod_{name}.so\n")
        };
        let modules: String = [
            "authz_core",
            "mime",
            "filter",
            "deflate",
            "proxy",
            "proxy_http",
        ]
        .map(module)
        .concat();
        let workers = self.limits.threads.unwrap_or(150);
        let pass = self.away.map_or(String::new(), |away| {
            format!("ProxyPass /work {away}/work\n")
        });
        let base = self.base.display();
        self.put(
            "httpd.conf",
            &format!(
                "ServerRoot {base}\nServerName localhost\nPidFile {base}/pid\nListen 127.0.0.1:{}\nErrorLog {base}/error.log\n\
                 LoadModule mpm_{mpm}_module /usr/lib/apache2/modules/mod_mpm_{mpm}.so\n{modules}MaxRequestWorkers {workers}\n\
                 KeepAlive On\nMaxKeepAliveRequests 0\nTypesConfig /etc/mime.types\nDocumentRoot {base}/htdocs\n\
                 DeflateCompressionLevel 9\nAddOutputFilterByType DEFLATE text/plain\n{pass}",
                self.port
            ),
        )?;
        let configuration = self.base.join("httpd.conf").display().to_string();
        let words = ["apache2", "-f", &configuration, "-DFOREGROUND"];
        Ok(words.map(str::to_owned).to_vec())
    }

    fn nginx(&self) -> Result<Vec<String>, TaskError> {
        self.put("html/big.txt", &big())?;
        let connections = self.limits.connections.unwrap_or(1024);
        let pass = self.away.map_or(String::new(), |away| {
            format!(
                "    location /work {{ proxy_pass {away}; proxy_http_version 1.1; proxy_set_header Connection \"\"; }}\n"
            )
        });
        let base = self.base.display();
        self.put(
            "nginx.conf",
            &format!(
                "worker_processes 1;\nerror_log {base}/error.log;\npid {base}/pid;\nevents {{\n  worker_connections {connections};\n}}\n\
                 http {{\n  access_log off;\n  default_type text/plain;\n  gzip on;\n  gzip_comp_level 9;\n  gzip_types text/plain;\n  \
                 keepalive_requests 10000000;\n  server {{\n    listen 127.0.0.1:{};\n    root {base}/html;\n{pass}  }}\n}}\n",
                self.port
            ),
        )?;
        let configuration = self.base.join("nginx.conf").display().to_string();
        let words = ["nginx", "-c", &configuration, "-g", "daemon off;"];
        Ok(words.map(str::to_owned).to_vec())
    }

    fn python(&self) -> Result<Vec<String>, TaskError> {
        fs::create_dir_all(self.base).map_err(TaskError::file("write", self.base))?;
        let script = self.kit.script.display().to_string();
        Ok(vec!["python3".to_owned(), script, self.port.to_string()])
    }

    fn node(&self) -> Result<Vec<String>, TaskError> {
        fs::create_dir_all(self.base).map_err(TaskError::file("write", self.base))?;
        let script = self.kit.node.display().to_string();
        let mut words = vec!["node".to_owned(), script, self.port.to_string()];
        words.extend(self.away.map(str::to_owned));
        Ok(words)
    }
}

/// A text that takes long to compress.
fn big() -> String {
    let mut state: u32 = 1;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        format!("{} ", state >> 20)
    });
    let mut text = String::new();
    for word in words {
        text.push_str(&word);
        if text.len() > BIG {
            return text;
        }
    }
    text
}

fn free_port() -> Result<u16, TaskError> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).and_then(|free| free.local_addr());
    let address = listener.map_err(|source| TaskError::Start {
        command: "a listener on a free port".to_owned(),
        source,
    })?;
    Ok(address.port())
}

/// Whether a server answers a request with anything but an error of its own.
fn answers(port: u16) -> bool {
    let ask = || -> std::io::Result<bool> {
        let mut stream = TcpStream::connect(("127.0.0.1", port))?;
        stream.set_read_timeout(Some(Duration::from_secs(5)))?;
        stream.write_all(
            b"GET /work?cpu=1 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        )?;
        let mut answer = [0; 12];
        stream.read_exact(&mut answer)?;
        // Of a file server there is no such file, and it answers all the same.
        let status = String::from_utf8_lossy(&answer[9..]).into_owned();
        Ok(status == "200" || status == "404")
    };
    ask().unwrap_or(false)
}
