//! The digest of a file.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use sha2::{Digest as _, Sha256};

/// The SHA-256 of a file, in small hexadecimal digits.
pub fn sha256(path: &Path) -> io::Result<String> {
    let mut file = File::open(path)?;
    let mut digest = Sha256::new();
    let mut part = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut part)?;
        if read == 0 {
            break;
        }
        digest.update(&part[..read]);
    }
    let bytes = digest.finalize();
    let digits: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok(digits.concat())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests state what must hold")]
mod tests {
    use super::*;

    #[test]
    fn digests_are_those_of_the_standard() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("abc");
        std::fs::write(&file, "abc").unwrap();
        // The digest of "abc" in FIPS 180-4's examples.
        assert_eq!(
            sha256(&file).unwrap(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
}
