//! A container image from scratch: the program and an empty folder for temporary files.
//!
//! It is written as `docker save` writes one, so that `docker load` and `podman load` take it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Built, copy, fresh, write};
use crate::error::TaskError;
use crate::process::{output, run};

/// What is in the image, as its one layer.
fn write_layer(built: &Built, folder: &Path) -> Result<(), TaskError> {
    let root = folder.join("root");
    copy(&built.program, &root.join("weir"))?;
    for empty in ["tmp", "work"] {
        let empty = root.join(empty);
        fs::create_dir_all(&empty).map_err(TaskError::file("write", &empty))?;
    }
    run(Command::new("tar")
        .args(["--owner=0", "--group=0", "--sort=name", "--mtime=@0", "-cf"])
        .arg(folder.join("layer.tar"))
        .arg("-C")
        .arg(&root)
        .args(["weir", "tmp", "work"]))
}

/// Writes the image, and the file that says the same to whoever builds images.
pub(super) fn save(built: &Built, place: &Path) -> Result<PathBuf, TaskError> {
    let folder = place.join(format!("image-{}", built.processor.target()));
    fresh(&folder)?;
    write_layer(built, &folder)?;
    let digest = |name: &str| {
        let line = output(Command::new("sha256sum").arg(folder.join(name)))?;
        let digest = line
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        Ok::<_, TaskError>(digest)
    };
    let layer = digest("layer.tar")?;
    let configuration = serde_json::json!({
        "architecture": built.processor.debian(),
        "os": "linux",
        "config": { "Entrypoint": ["/weir"], "WorkingDir": "/work" },
        "rootfs": { "type": "layers", "diff_ids": [format!("sha256:{layer}")] },
    });
    write(&folder.join("config.json"), &configuration.to_string())?;
    let name = format!("{}.json", digest("config.json")?);
    let from = folder.join("config.json");
    fs::rename(&from, folder.join(&name)).map_err(TaskError::file("write", &from))?;
    let manifest = serde_json::json!([{
        "Config": name,
        "RepoTags": [format!("weir:{}", built.version)],
        "Layers": ["layer.tar"],
    }]);
    write(&folder.join("manifest.json"), &manifest.to_string())?;
    write(
        &place.join("Containerfile"),
        "FROM scratch\nCOPY weir /weir\nWORKDIR /work\nENTRYPOINT [\"/weir\"]\n",
    )?;
    let image = format!(
        "weir-{}-{}-image.tar",
        built.version,
        built.processor.debian()
    );
    let image = place.join(image);
    run(Command::new("tar")
        .args(["--owner=0", "--group=0", "-cf"])
        .arg(&image)
        .arg("-C")
        .arg(&folder)
        .args(["manifest.json", &name, "layer.tar"]))?;
    Ok(image)
}
