#![expect(clippy::unwrap_used, reason = "tests state what must hold")]

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use super::*;
use crate::recognise::java_command::tests::process;

/// A jar with these entries, laid out as Spring Boot's Maven plugin does.
fn jar(path: &Path, entries: &[(&str, &str)]) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let mut jar = zip::ZipWriter::new(File::create(path).unwrap());
    let stored = zip::write::SimpleFileOptions::default();
    for (name, text) in entries {
        jar.start_file(*name, stored).unwrap();
        jar.write_all(text.as_bytes()).unwrap();
    }
    jar.finish().unwrap();
}

const MANIFEST: &str = "Manifest-Version: 1.0\r\nMain-Class: org.springframework.boot.loader.launch.JarLauncher\r\n\
                        Start-Class: com.example.Posts\r\nSpring-Boot-Version: 3.5.8\r\n";
const PROPERTIES: &str =
    "server.port=8080\nserver.tomcat.threads.max=${THREADS:20}\nserver.tomcat.maxConnections=100\n";

fn found(line: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> Found {
    let tree = tempfile::tempdir().unwrap();
    let release = tree.path().join("usr/release");
    fs::create_dir_all(tree.path().join("usr")).unwrap();
    fs::write(release, "IMPLEMENTOR=\"X\"\nJAVA_VERSION=\"25.0.1\"\n").unwrap();
    jar(
        &tree.path().join("srv/posts.jar"),
        &[
            ("META-INF/MANIFEST.MF", MANIFEST),
            ("BOOT-INF/classes/application.properties", PROPERTIES),
            (
                "BOOT-INF/classes/application-prod.properties",
                "server.tomcat.threads.max=77\n",
            ),
            ("BOOT-INF/lib/tomcat-embed-core-10.1.49.jar", ""),
            ("BOOT-INF/lib/HikariCP-6.3.3.jar", ""),
        ],
    );
    for (name, text) in files {
        let path = tree.path().join("srv").join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let mut facts = process(line);
    let variables = variables.iter();
    facts.environment = variables
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let java = JavaCommand::of(&facts).unwrap();
    recognise(&facts, &java, 8080, &Machine::of_tree(tree.path())).unwrap()
}

fn told(found: &Found, stage: &str) -> (String, String, bool) {
    let limit = found
        .limits
        .iter()
        .find(|limit| limit.stage == stage)
        .unwrap();
    (
        limit.value.to_string(),
        limit.origin.clone(),
        limit.set == SetWay::Jmx,
    )
}

fn is(value: &str, origin: &str, live: bool) -> (String, String, bool) {
    (value.to_owned(), origin.to_owned(), live)
}

#[test]
fn settings_inside_the_jar_count_when_nothing_stronger_says_more() {
    let found = found("/usr/bin/java -jar posts.jar", &[], &[]);
    assert_eq!(found.name, "Spring Boot 3.5.8 (posts.jar)");
    let inside = "/srv/posts.jar!BOOT-INF/classes/application.properties";
    assert_eq!(
        told(&found, "threads"),
        is("20", &format!("{inside}:2"), false)
    );
    assert_eq!(
        told(&found, "connections"),
        is("100", &format!("{inside}:3"), false)
    );
    assert_eq!(told(&found, "backlog"), is("100", "default", false));
    assert_eq!(
        told(&found, "pool.HikariPool-1"),
        is("10", "default", false)
    );
}

#[test]
fn the_strongest_source_counts() {
    let files = [
        (
            "application.yml",
            "spring:\n  profiles:\n    active: prod\nserver:\n  tomcat:\n    threads:\n      max: 30\n",
        ),
        (
            "config/application-prod.properties",
            "server.tomcat.accept-count=5\nserver.tomcat.threads.max=40\n",
        ),
    ];
    let variables = [
        ("SERVER_TOMCAT_MAXCONNECTIONS", "300"),
        ("SPRING_DATASOURCE_HIKARI_POOL_NAME", "posts"),
    ];
    let line = "/usr/bin/java -Dserver.tomcat.mbeanregistry.enabled=true -jar posts.jar \
                --spring.datasource.hikari.register-mbeans=true --server.tomcat.connection-timeout=20s";
    let found = found(line, &files, &variables);
    let prod = "/srv/config/application-prod.properties";
    assert_eq!(
        told(&found, "threads"),
        is("40", &format!("{prod}:2"), true)
    );
    assert_eq!(
        told(&found, "backlog"),
        is("5", &format!("{prod}:1"), false)
    );
    assert_eq!(told(&found, "connections"), is("300", "environment", true));
    assert_eq!(
        told(&found, "native.connectionTimeout"),
        is("20000", "command line", true)
    );
    assert_eq!(told(&found, "pool.posts"), is("10", "default", true));
}

#[test]
fn an_application_on_a_class_path_is_one_too() {
    let facts = process(
        "/usr/bin/java -cp target/classes:/m2/spring-boot-3.4.0.jar:/m2/spring-boot-starter-web-3.4.0.jar:\
         /m2/jetty-server-12.0.1.jar com.example.Main",
    );
    let java = JavaCommand::of(&facts).unwrap();
    let nowhere = Machine::of_tree(Path::new("/nonexistent"));
    let found = recognise(&facts, &java, 8080, &nowhere).unwrap();
    assert_eq!(found.name, "Spring Boot 3.4.0 (com.example.Main)");
    assert!(found.notes[0].contains("no Tomcat inside"));
    let other = process("/usr/bin/java -cp a.jar com.example.Main");
    let java = JavaCommand::of(&other).unwrap();
    assert_eq!(recognise(&other, &java, 8080, &nowhere), None);
}

/// The value of `threads`, its origin's end and the pool's, of an application with these files.
fn threads(line: &str, files: &[(&str, &str)], variables: &[(&str, &str)]) -> (String, String) {
    let (value, origin, _) = told(&found(line, files, variables), "threads");
    (value, origin)
}

const DOCUMENTS: &str = "server:\n  tomcat:\n    threads:\n      max: 50\n---\nspring.config.activate.on-profile: prod\n\
                         server.tomcat.threads.max: 300\n---\nspring.config.activate.on-profile: \"!prod\"\n\
                         server.tomcat.max-connections: 111\n";
const LINE: &str = "/usr/bin/java -jar posts.jar";

#[test]
fn documents_hold_under_their_profiles() {
    let files = [("application.yml", DOCUMENTS)];
    let connections = |found: &Found| told(found, "connections").0;
    let without = found(LINE, &files, &[]);
    assert_eq!(told(&without, "threads").0, "50");
    assert_eq!(connections(&without), "111");
    let line = format!("{LINE} --spring.profiles.active=prod");
    let prod = found(&line, &files, &[]);
    assert_eq!(
        told(&prod, "threads"),
        is("300", "/srv/application.yml:7", false)
    );
    assert_eq!(connections(&prod), "100", "that of the jar");
    for (line, variables) in [
        (
            "/usr/bin/java -Dspring.profiles.active=eu,prod -jar posts.jar",
            &[][..],
        ),
        (LINE, &[("SPRING_PROFILES_ACTIVE", "prod")]),
        (
            LINE,
            &[(
                "SPRING_APPLICATION_JSON",
                r#"{"spring": {"profiles": {"active": "prod"}}}"#,
            )],
        ),
        (LINE, &[("SPRING_PROFILES_INCLUDE", "prod")]),
    ] {
        assert_eq!(
            threads(line, &files, variables).0,
            "300",
            "{line} {variables:?}"
        );
    }
    let properties = "server.tomcat.threads.max=5\n#---\nspring.config.activate.on-profile=prod\nserver.tomcat.threads.max=6\n";
    assert_eq!(
        threads(&line, &[("application.properties", properties)], &[]).0,
        "6"
    );
    let of_platform = "server.tomcat.threads.max=5\n#---\nspring.config.activate.on-cloud-platform=kubernetes\nserver.tomcat.threads.max=6\n";
    let files = [("application.properties", of_platform)];
    assert_eq!(threads(LINE, &files, &[]).0, "5");
    let pod = [
        ("KUBERNETES_SERVICE_HOST", "a"),
        ("KUBERNETES_SERVICE_PORT", "b"),
    ];
    assert_eq!(threads(LINE, &files, &pod).0, "6");
}

#[test]
fn groups_of_profiles_are_followed() {
    let group = |text: &str| {
        let main = format!("{text}\nspring.profiles.active=live\n");
        let files = [
            ("application.properties", main.as_str()),
            ("application-db.properties", "server.tomcat.threads.max=7\n"),
            (
                "application-live.properties",
                "server.tomcat.threads.max=8\nserver.tomcat.accept-count=9\n",
            ),
        ];
        let found = found(LINE, &files, &[]);
        (told(&found, "threads").0, told(&found, "backlog").0)
    };
    let is = |threads: &str| (threads.to_owned(), "9".to_owned());
    assert_eq!(group(""), is("8"));
    assert_eq!(
        group("spring.profiles.group.live=db"),
        is("7"),
        "members count more"
    );
    assert_eq!(group("spring.profiles.group.live[0]=db"), is("7"));
    assert_eq!(
        group("spring.profiles.include=db"),
        is("8"),
        "what is included counts less"
    );
}

/// Since Spring Boot 2.4 a file outside counts more than any inside.
#[test]
fn what_is_outside_counts_more_than_what_is_inside() {
    let files = [("application.properties", "server.tomcat.threads.max=5\n")];
    let line = format!("{LINE} --spring.profiles.active=prod");
    assert_eq!(threads(&line, &files, &[]).0, "5", "the jar's prod says 77");
    assert_eq!(threads(&line, &[], &[]).0, "77");
    let files = [
        ("application.properties", "server.tomcat.threads.max=5\n"),
        ("config/application.yml", "server.tomcat.threads.max: 6\n"),
        ("config/a/application.yml", "server.tomcat.threads.max: 7\n"),
    ];
    for (files, value) in [(&files[..1], "5"), (&files[..2], "6"), (&files[..], "7")] {
        assert_eq!(threads(LINE, files, &[]).0, value);
    }
    let files = [
        (
            "other/application.properties",
            "server.tomcat.threads.max=8\n",
        ),
        ("shop.properties", "server.tomcat.threads.max=9\n"),
        ("own.yml", "server.tomcat.threads.max: 10\n"),
    ];
    for (options, value) in [
        ("--spring.config.location=file:./other/", "8"),
        (
            "--spring.config.additional-location=optional:file:other/",
            "8",
        ),
        ("--spring.config.name=shop", "9"),
        ("--spring.config.location=file:own.yml", "10"),
        ("--spring.config.location=classpath:/nothing/", "200"),
    ] {
        assert_eq!(
            threads(&format!("{LINE} {options}"), &files, &[]).0,
            value,
            "{options}"
        );
    }
}

#[test]
fn what_counts_more_and_cannot_be_read_makes_a_limit_unknown() {
    let threads = |text: &str, more: &str| {
        let files = [("application.yml", text), ("more.yml", more)];
        self::threads(LINE, &files, &[])
    };
    let (value, why) = threads(
        "spring.config.import: \"configserver:http://x\"\nserver.tomcat.threads.max: 5\n",
        "",
    );
    assert_eq!(value, "not known");
    assert!(
        why.contains("application.yml imports configserver:http://x"),
        "{why}"
    );
    let import = "spring.config.import: more.yml\nserver.tomcat.threads.max: 5\n";
    assert_eq!(threads(import, "server.tomcat.threads.max: 6\n").0, "6");
    assert_eq!(threads(import, "a: 1\n").0, "5");
    let gone = "spring.config.import: optional:file:./gone.yml\nserver.tomcat.threads.max: 5\n";
    assert_eq!(threads(gone, "").0, "5");
    assert_eq!(threads(&gone.replace("optional:", ""), "").0, "not known");
    for text in [
        "server.tomcat.threads.max: ${GONE}\n",
        "a: &a\n  threads:\n    max: 4\nserver:\n  tomcat: *a\n",
        "a: &a\n  max: 4\nserver:\n  tomcat:\n    threads:\n      <<: *a\n",
        "server.tomcat.threads.max: 5\n---\nspring.config.activate.on-profile: a & b | c\nserver.tomcat.threads.max: 6\n",
        "server.tomcat.threads.max: 5\n---\nspring.config.activate.on-cloud-platform: sap\nserver.tomcat.threads.max: 6\n",
        "server.tomcat.threads.max: 5\nb: @x@\nserver.tomcat.threads.max: 6\n",
    ] {
        assert_eq!(threads(text, "").0, "not known", "{text}");
    }
    assert_eq!(threads("server.tomcat.threads.max: &a 5\n", "").0, "5");
    let unknown = [("application.yml", DOCUMENTS)];
    let line = format!("{LINE} --spring.profiles.active=${{GONE}}");
    let (value, why) = self::threads(&line, &unknown, &[]);
    assert_eq!(value, "not known");
    assert!(why.contains("profile"), "{why}");
    // Behind it may stand that threads are virtual.
    let typed = format!("{line} --server.tomcat.threads.max=3 --server.tomcat.max-connections=3");
    let typed = found(&typed, &unknown, &[]);
    assert_eq!(told(&typed, "connections").0, "3");
    assert_eq!(told(&typed, "threads").0, "not known");
}

#[test]
fn virtual_threads_have_no_limit() {
    let files = [(
        "application.properties",
        "spring.threads.virtual.enabled=true\nserver.tomcat.threads.max=50\n",
    )];
    let found = found(LINE, &files, &[]);
    assert_eq!(told(&found, "threads").0, "no limit");
    assert!(
        found
            .notes
            .iter()
            .any(|note| note.contains("virtual threads")),
        "{:?}",
        found.notes
    );
    let settings = |value: &str| {
        let line = format!("{LINE} --spring.threads.virtual.enabled={value}");
        let facts = process(&line);
        let java = JavaCommand::of(&facts).unwrap();
        SpringEnvironment::of(
            &facts,
            &java,
            true,
            &Machine::of_tree(Path::new("/nonexistent")),
        )
    };
    let on = settings("true");
    let decided = |boot, java| virtual_threads(&on, boot, java);
    assert!(matches!(decided(Some(true), Some(21)), Some(Ok(_))));
    assert_eq!(decided(Some(false), Some(21)), None, "before 3.2");
    assert_eq!(decided(Some(true), Some(17)), None, "Java has none");
    assert!(matches!(decided(Some(true), None), Some(Err(_))));
    assert!(matches!(decided(None, Some(21)), Some(Err(_))));
    assert_eq!(
        virtual_threads(&settings("false"), Some(true), Some(21)),
        None
    );
}
