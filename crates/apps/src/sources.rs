//! The sources, as they were when Weir was built.

/// An application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum App {
    /// `/stress`, `/light`, `/heavy` and `/posts`, as a WAR for a servlet container.
    Stress(ServletApi),
    /// The bulletin board, a Spring Boot application that carries its Tomcat.
    Posts,
}

/// The name under which a container has the servlet API.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServletApi {
    /// `jakarta.servlet`: Tomcat from 10 on, Open Liberty with `servlet-5.0` or later.
    Jakarta,
    /// `javax.servlet`: Tomcat 9.
    Javax,
}

/// Path within the application's directory, and content.
type Source = (&'static str, &'static str);

/// Takes in the files of a directory in `java/`.
macro_rules! sources {
    ($directory:literal: $($file:literal)*) => {
        &[$(($file, include_str!(concat!("../../../java/", $directory, "/", $file)))),*]
    };
}

const STRESS: &[Source] = sources!("stress":
    "pom.xml"
    "src/main/java/weir/stress/Answer.java"
    "src/main/java/weir/stress/BadParameter.java"
    "src/main/java/weir/stress/Catalogue.java"
    "src/main/java/weir/stress/ChoiceParameter.java"
    "src/main/java/weir/stress/Endpoint.java"
    "src/main/java/weir/stress/Heavy.java"
    "src/main/java/weir/stress/Level.java"
    "src/main/java/weir/stress/Light.java"
    "src/main/java/weir/stress/NumberParameter.java"
    "src/main/java/weir/stress/Parameters.java"
    "src/main/java/weir/stress/Pool.java"
    "src/main/java/weir/stress/PoolMBean.java"
    "src/main/java/weir/stress/Posts.java"
    "src/main/java/weir/stress/Requests.java"
    "src/main/java/weir/stress/RequestsMBean.java"
    "src/main/java/weir/stress/Stress.java"
    "src/main/java/weir/stress/StressServlet.java"
    "src/main/java/weir/stress/Unavailable.java"
    "src/main/java/weir/stress/package-info.java"
    "src/main/webapp/WEB-INF/ibm-web-bnd.xml"
    "src/main/webapp/WEB-INF/web.xml"
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

impl App {
    /// For people.
    pub fn what(self) -> &'static str {
        match self {
            Self::Stress(ServletApi::Jakarta) => "the stress application (jakarta.servlet)",
            Self::Stress(ServletApi::Javax) => "the stress application (javax.servlet)",
            Self::Posts => "the bulletin board (Spring Boot)",
        }
    }

    pub(crate) fn sources(self) -> &'static [Source] {
        match self {
            Self::Stress(_) => STRESS,
            Self::Posts => POSTS,
        }
    }

    /// What Maven is told beside what it is told for all of them.
    pub(crate) fn arguments(self) -> &'static [&'static str] {
        match self {
            Self::Stress(ServletApi::Javax) => &["-Pjavax"],
            Self::Stress(ServletApi::Jakarta) | Self::Posts => &[],
        }
    }

    /// Name and extension of the file that Maven makes.
    pub(crate) fn file(self) -> (&'static str, &'static str) {
        match self {
            Self::Stress(ServletApi::Jakarta) => ("stress", "war"),
            Self::Stress(ServletApi::Javax) => ("stress-javax", "war"),
            Self::Posts => ("posts", "jar"),
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
        for (name, sources) in [("stress", STRESS), ("posts", POSTS)] {
            let directory = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("../../java")
                .join(name);
            let mut there = Vec::new();
            files(&directory, "", &mut there);
            there.sort();
            let carried: Vec<&str> = sources.iter().map(|(path, _)| *path).collect();
            assert_eq!(carried, there, "{name}");
        }
    }
}
