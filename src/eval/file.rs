//! Where the file of a network is looked for.

use std::env;
use std::path::{Path, PathBuf};

/// The file that a name stands for. A relative name is looked for in the working directory, then beside the program,
/// since clients start engines from wherever they please. A name that is found nowhere is returned as it is.
pub fn find(name: &str) -> PathBuf {
    let program = env::current_exe().ok();
    find_beside(Path::new(name), program.as_deref().and_then(Path::parent))
}

fn find_beside(name: &Path, folder: Option<&Path>) -> PathBuf {
    // Joining an absolute name gives that name.
    let beside = folder.map(|folder| folder.join(name)).filter(|beside| !name.is_file() && beside.is_file());
    beside.unwrap_or_else(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_working_directory_comes_first_and_only_files_count() {
        let folder = tempfile::tempdir().unwrap();
        let beside = |name: &str| find_beside(Path::new(name), Some(folder.path()));
        // Tests run in the package's directory.
        fs::write(folder.path().join("Cargo.toml"), "").unwrap();
        assert_eq!(beside("Cargo.toml"), Path::new("Cargo.toml"));
        // A directory of that name is no file.
        fs::write(folder.path().join("src"), "").unwrap();
        assert_eq!(beside("src"), folder.path().join("src"));
        fs::create_dir(folder.path().join("tests")).unwrap();
        assert_eq!(beside("tests"), Path::new("tests"));
        let absolute = folder.path().join("Cargo.toml");
        assert_eq!(find_beside(&absolute, Some(folder.path())), absolute);
        assert_eq!(beside("no such file"), Path::new("no such file"));
        assert_eq!(find_beside(Path::new("no such file"), None), Path::new("no such file"));
    }
}
