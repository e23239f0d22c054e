//! The sources, as they were when Weir was built.

/// An application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum App {
    /// `/stress`, `/light`, `/heavy` in three kinds and `/posts`, as a WAR for a servlet container.
    Stress(ServletApi),
    /// The bulletin board, a Spring Boot application that carries its Tomcat.
    Posts,
    /// The integration server with idle threads, and the SOAP provider that its flows call.
    IdleThreads,
}

/// The name under which a container has the servlet API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServletApi {
    /// `jakarta.servlet`: Tomcat from 10 on, Open Liberty with `servlet-5.0` or later.
    Jakarta,
    /// `javax.servlet`: Tomcat 9.
    Javax,
}

/// Path within `java/`, and content.
type Source = (&'static str, &'static str);

/// Takes in the files of a directory in `java/`.
macro_rules! sources {
    ($directory:literal: $($file:literal)*) => {
        &[$((
            concat!($directory, "/", $file),
            include_str!(concat!("../../../java/", $directory, "/", $file)),
        )),*]
    };
}

const STRESS: &[Source] = sources!("stress":
    "pom.xml"
    "src/main/java/weir/stress/Answer.java"
    "src/main/java/weir/stress/BadParameter.java"
    "src/main/java/weir/stress/Catalogue.java"
    "src/main/java/weir/stress/ChoiceParameter.java"
    "src/main/java/weir/stress/Disk.java"
    "src/main/java/weir/stress/Endpoint.java"
    "src/main/java/weir/stress/Heavy.java"
    "src/main/java/weir/stress/HeavyServer.java"
    "src/main/java/weir/stress/Level.java"
    "src/main/java/weir/stress/Light.java"
    "src/main/java/weir/stress/NumberParameter.java"
    "src/main/java/weir/stress/Numeric.java"
    "src/main/java/weir/stress/Parameters.java"
    "src/main/java/weir/stress/PassingStream.java"
    "src/main/java/weir/stress/Pool.java"
    "src/main/java/weir/stress/PoolMBean.java"
    "src/main/java/weir/stress/Posts.java"
    "src/main/java/weir/stress/Requests.java"
    "src/main/java/weir/stress/RequestsMBean.java"
    "src/main/java/weir/stress/Steps.java"
    "src/main/java/weir/stress/Stress.java"
    "src/main/java/weir/stress/StressServlet.java"
    "src/main/java/weir/stress/Unavailable.java"
    "src/main/java/weir/stress/package-info.java"
    "src/main/webapp/WEB-INF/ibm-web-bnd.xml"
    "src/main/webapp/WEB-INF/web.xml"
);

/// Compiled into the stress application.
const REGULATOR: &[Source] = sources!("regulator":
    "core/src/main/java/weir/regulator/Checkpoint.java"
    "core/src/main/java/weir/regulator/CheckpointState.java"
    "core/src/main/java/weir/regulator/ClassSettings.java"
    "core/src/main/java/weir/regulator/ConcurrencyText.java"
    "core/src/main/java/weir/regulator/CpuLoad.java"
    "core/src/main/java/weir/regulator/Entrance.java"
    "core/src/main/java/weir/regulator/Entry.java"
    "core/src/main/java/weir/regulator/GarbageCollections.java"
    "core/src/main/java/weir/regulator/HeldLocks.java"
    "core/src/main/java/weir/regulator/HeldMonitors.java"
    "core/src/main/java/weir/regulator/Metric.java"
    "core/src/main/java/weir/regulator/Metrics.java"
    "core/src/main/java/weir/regulator/OnCpu.java"
    "core/src/main/java/weir/regulator/Pauser.java"
    "core/src/main/java/weir/regulator/PromiseBy.java"
    "core/src/main/java/weir/regulator/PromiseText.java"
    "core/src/main/java/weir/regulator/Promises.java"
    "core/src/main/java/weir/regulator/Quantity.java"
    "core/src/main/java/weir/regulator/Regime.java"
    "core/src/main/java/weir/regulator/Regulator.java"
    "core/src/main/java/weir/regulator/RegulatorBean.java"
    "core/src/main/java/weir/regulator/RegulatorMXBean.java"
    "core/src/main/java/weir/regulator/Settings.java"
    "core/src/main/java/weir/regulator/SettingsException.java"
    "core/src/main/java/weir/regulator/SettingsReader.java"
    "core/src/main/java/weir/regulator/Stretch.java"
    "core/src/main/java/weir/regulator/ThreadCpu.java"
    "core/src/main/java/weir/regulator/Time.java"
    "core/src/main/java/weir/regulator/UrlPatterns.java"
    "core/src/main/java/weir/regulator/VirtualThreads.java"
    "core/src/main/java/weir/regulator/WaitListener.java"
    "core/src/main/java/weir/regulator/WakeProbe.java"
    "core/src/main/java/weir/regulator/Work.java"
    "core/src/main/java/weir/regulator/limit/Adaptive.java"
    "core/src/main/java/weir/regulator/limit/AdaptiveLimit.java"
    "core/src/main/java/weir/regulator/limit/Admission.java"
    "core/src/main/java/weir/regulator/limit/Aimd.java"
    "core/src/main/java/weir/regulator/limit/AimdLimit.java"
    "core/src/main/java/weir/regulator/limit/Cap.java"
    "core/src/main/java/weir/regulator/limit/ClassRules.java"
    "core/src/main/java/weir/regulator/limit/ClassSeen.java"
    "core/src/main/java/weir/regulator/limit/Concurrency.java"
    "core/src/main/java/weir/regulator/limit/Counts.java"
    "core/src/main/java/weir/regulator/limit/Fixed.java"
    "core/src/main/java/weir/regulator/limit/FixedLimit.java"
    "core/src/main/java/weir/regulator/limit/Gcra.java"
    "core/src/main/java/weir/regulator/limit/Gradient2.java"
    "core/src/main/java/weir/regulator/limit/Gradient2Limit.java"
    "core/src/main/java/weir/regulator/limit/Kept.java"
    "core/src/main/java/weir/regulator/limit/Kind.java"
    "core/src/main/java/weir/regulator/limit/Knee.java"
    "core/src/main/java/weir/regulator/limit/Level.java"
    "core/src/main/java/weir/regulator/limit/Limit.java"
    "core/src/main/java/weir/regulator/limit/Line.java"
    "core/src/main/java/weir/regulator/limit/MeanResponse.java"
    "core/src/main/java/weir/regulator/limit/Permit.java"
    "core/src/main/java/weir/regulator/limit/Promise.java"
    "core/src/main/java/weir/regulator/limit/Promised.java"
    "core/src/main/java/weir/regulator/limit/Proven.java"
    "core/src/main/java/weir/regulator/limit/Rate.java"
    "core/src/main/java/weir/regulator/limit/ResponseBound.java"
    "core/src/main/java/weir/regulator/limit/Rules.java"
    "core/src/main/java/weir/regulator/limit/Sample.java"
    "core/src/main/java/weir/regulator/limit/Seconds.java"
    "core/src/main/java/weir/regulator/limit/ServiceClass.java"
    "core/src/main/java/weir/regulator/limit/Slots.java"
    "core/src/main/java/weir/regulator/limit/Standing.java"
    "core/src/main/java/weir/regulator/limit/Standstill.java"
    "core/src/main/java/weir/regulator/limit/Succession.java"
    "core/src/main/java/weir/regulator/limit/Vegas.java"
    "core/src/main/java/weir/regulator/limit/VegasLimit.java"
    "core/src/main/java/weir/regulator/limit/Why.java"
    "core/src/main/java/weir/regulator/limit/Window.java"
    "core/src/main/java/weir/regulator/limit/package-info.java"
    "core/src/main/java/weir/regulator/package-info.java"
    "core/src/main/java/weir/regulator/pause/Backlog.java"
    "core/src/main/java/weir/regulator/pause/Blame.java"
    "core/src/main/java/weir/regulator/pause/Comparison.java"
    "core/src/main/java/weir/regulator/pause/LastSeven.java"
    "core/src/main/java/weir/regulator/pause/Lateness.java"
    "core/src/main/java/weir/regulator/pause/Pace.java"
    "core/src/main/java/weir/regulator/pause/PauseControl.java"
    "core/src/main/java/weir/regulator/pause/PauseRules.java"
    "core/src/main/java/weir/regulator/pause/ProgressJudge.java"
    "core/src/main/java/weir/regulator/pause/ResponseTarget.java"
    "core/src/main/java/weir/regulator/pause/RoundRobin.java"
    "core/src/main/java/weir/regulator/pause/Running.java"
    "core/src/main/java/weir/regulator/pause/SignTest.java"
    "core/src/main/java/weir/regulator/pause/Steering.java"
    "core/src/main/java/weir/regulator/pause/Target.java"
    "core/src/main/java/weir/regulator/pause/Targets.java"
    "core/src/main/java/weir/regulator/pause/ThroughputTarget.java"
    "core/src/main/java/weir/regulator/pause/Turn.java"
    "core/src/main/java/weir/regulator/pause/UsualTimes.java"
    "core/src/main/java/weir/regulator/pause/package-info.java"
    "jakarta/src/main/java/weir/regulator/servlet/Completion.java"
    "jakarta/src/main/java/weir/regulator/servlet/Lookout.java"
    "jakarta/src/main/java/weir/regulator/servlet/Refusals.java"
    "jakarta/src/main/java/weir/regulator/servlet/RegulatorFilter.java"
    "jakarta/src/main/java/weir/regulator/servlet/package-info.java"
);

const POSTS: &[Source] = sources!("posts":
    "pom.xml"
    "src/main/java/weir/posts/BoardController.java"
    "src/main/java/weir/posts/Listing.java"
    "src/main/java/weir/posts/PageRequest.java"
    "src/main/java/weir/posts/Post.java"
    "src/main/java/weir/posts/PostsApplication.java"
    "src/main/java/weir/posts/package-info.java"
    "src/main/resources/application.properties"
);

const IDLE_THREADS: &[Source] = sources!("idle-threads":
    "pom.xml"
    "src/main/java/weir/idle/BadOption.java"
    "src/main/java/weir/idle/DeepThreads.java"
    "src/main/java/weir/idle/Entrance.java"
    "src/main/java/weir/idle/Figures.java"
    "src/main/java/weir/idle/FreePort.java"
    "src/main/java/weir/idle/Http.java"
    "src/main/java/weir/idle/IdleFlows.java"
    "src/main/java/weir/idle/JettyEntrance.java"
    "src/main/java/weir/idle/Main.java"
    "src/main/java/weir/idle/Mapping.java"
    "src/main/java/weir/idle/Options.java"
    "src/main/java/weir/idle/OrderFlow.java"
    "src/main/java/weir/idle/Pages.java"
    "src/main/java/weir/idle/Provider.java"
    "src/main/java/weir/idle/Server.java"
    "src/main/java/weir/idle/Settings.java"
    "src/main/java/weir/idle/Soap.java"
    "src/main/java/weir/idle/TomcatEntrance.java"
    "src/main/java/weir/idle/package-info.java"
    "src/main/resources/simplelogger.properties"
    "src/main/resources/weir/idle/order-to-prices.xsl"
    "src/main/resources/weir/idle/prices-to-answer.xsl"
);

impl App {
    /// For people.
    pub fn what(self) -> &'static str {
        match self {
            Self::Stress(ServletApi::Jakarta) => "the stress application (jakarta.servlet)",
            Self::Stress(ServletApi::Javax) => "the stress application (javax.servlet)",
            Self::Posts => "the bulletin board (Spring Boot)",
            Self::IdleThreads => "the integration server with idle threads (Apache Camel)",
        }
    }

    /// Everything that it is built from.
    pub(crate) fn sources(self) -> impl Iterator<Item = &'static Source> {
        let (own, library): (&[Source], &[Source]) = match self {
            Self::Stress(_) => (STRESS, REGULATOR),
            Self::Posts => (POSTS, &[]),
            Self::IdleThreads => (IDLE_THREADS, &[]),
        };
        own.iter().chain(library)
    }

    /// The directory in which Maven builds it, within `java/`.
    pub(crate) fn directory(self) -> &'static str {
        match self {
            Self::Stress(_) => "stress",
            Self::Posts => "posts",
            Self::IdleThreads => "idle-threads",
        }
    }

    /// What Maven is told beside what it is told for all of them.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Stress(ServletApi::Javax) => &["-Pjavax"],
            Self::Stress(ServletApi::Jakarta) | Self::Posts | Self::IdleThreads => &[],
        }
    }

    /// Name and extension of the file that Maven makes.
    pub(crate) fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Stress(ServletApi::Jakarta) => ("stress", "war"),
            Self::Stress(ServletApi::Javax) => ("stress-javax", "war"),
            Self::Posts => ("posts", "jar"),
            Self::IdleThreads => ("idle-threads", "jar"),
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use std::path::Path;

    use super::*;

    /// The files below a directory, without those of tests and of Maven's own builds.
    fn files(directory: &Path, beneath: &str, found: &mut Vec<String>) {
        for entry in std::fs::read_dir(directory.join(beneath)).unwrap() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            let path = if beneath.is_empty() {
                name
            } else {
                format!("{beneath}/{name}")
            };
            if path == "target" || path == "src/test" {
                continue;
            }
            if directory.join(&path).is_dir() {
                files(directory, &path, found);
            } else {
                found.push(path);
            }
        }
    }

    #[test]
    fn every_file_is_carried() {
        let java = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../java");
        for (directories, sources) in [
            (&["stress"][..], STRESS),
            (&["posts"][..], POSTS),
            (&["idle-threads"][..], IDLE_THREADS),
            (
                &["regulator/core/src/main", "regulator/jakarta/src/main"][..],
                REGULATOR,
            ),
        ] {
            let mut there = Vec::new();
            for directory in directories {
                let mut found = Vec::new();
                files(&java.join(directory), "", &mut found);
                there.extend(found.iter().map(|path| format!("{directory}/{path}")));
            }
            there.sort();
            let carried: Vec<&str> = sources.iter().map(|(path, _)| *path).collect();
            assert_eq!(carried, there);
        }
    }
}
