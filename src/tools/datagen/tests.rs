use std::fs;
use std::path::Path;

use super::*;
use crate::record::packed::{decode, record_bytes};

fn settings() -> Settings {
    Settings {
        openings: vec![Minishogi::START_SFEN.to_owned()],
        openings_share: 50,
        ..Settings::new::<Minishogi>(60, 9)
    }
}

/// Fills a shard in `dir`; with `stop_at`, stops once there are so many positions.
fn make(dir: &Path, settings: &Settings, resume: bool, target: u64) -> Vec<u8> {
    let shard = Shard::open::<Minishogi>(dir, settings, 0, resume).unwrap();
    fill_shard::<Minishogi>(shard, settings, None, 0, target, &AtomicBool::new(false), &Progress::default()).unwrap();
    fs::read(dir.join(format!("{}-0.kzp", settings.seed))).unwrap()
}

#[test]
fn equal_seeds_make_equal_shards_and_others_do_not() {
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let first = make(dirs[0].path(), &settings(), false, 400);
    assert!(first.len() >= 400 * record_bytes::<Minishogi>());
    assert_eq!(first, make(dirs[1].path(), &settings(), false, 400));
    assert_ne!(first, make(dirs[2].path(), &Settings { seed: 10, ..settings() }, false, 400));

    let mut seen = std::collections::HashSet::new();
    let mut results = std::collections::HashSet::new();
    for record in first.chunks(record_bytes::<Minishogi>()) {
        let sample = decode::<Minishogi>(record).unwrap();
        results.insert(sample.result as u8);
        assert!(seen.insert(format!("{:?}", sample.diagram)), "a position twice");
    }
    assert!(results.len() >= 2);
}

#[test]
fn a_stopped_run_goes_on_as_if_it_had_not_been() {
    let whole = tempfile::tempdir().unwrap();
    let parts = tempfile::tempdir().unwrap();
    let expected = make(whole.path(), &settings(), false, 600);

    make(parts.path(), &settings(), false, 150);
    // A stop that comes at once, then a death between the writing of records and of the state.
    let shard = Shard::open::<Minishogi>(parts.path(), &settings(), 0, true).unwrap();
    fill_shard::<Minishogi>(shard, &settings(), None, 0, 600, &AtomicBool::new(true), &Progress::default()).unwrap();
    let path = parts.path().join("9-0.kzp");
    let mut torn = fs::read(&path).unwrap();
    torn.extend_from_slice(&[1; 100]);
    fs::write(&path, torn).unwrap();

    make(parts.path(), &settings(), true, 350);
    assert_eq!(make(parts.path(), &settings(), true, 600), expected);
}

#[test]
fn nothing_is_overwritten_or_mixed() {
    let dir = tempfile::tempdir().unwrap();
    make(dir.path(), &settings(), false, 50);
    let open = |settings: &Settings, resume| Shard::open::<Minishogi>(dir.path(), settings, 0, resume).map(|_| ());
    assert!(matches!(open(&settings(), false), Err(ShardError::Exists(_))));
    assert!(matches!(open(&Settings { nodes: 61, ..settings() }, true), Err(ShardError::OtherSettings { .. })));
    assert!(open(&settings(), true).is_ok());

    let path = dir.path().join("9-0.kzp");
    let mut bytes = fs::read(&path).unwrap();
    bytes[30] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(open(&settings(), true), Err(ShardError::Damaged { .. })));
    fs::write(&path, &bytes[..100]).unwrap();
    assert!(matches!(open(&settings(), true), Err(ShardError::Damaged { .. })));
    fs::write(dir.path().join("9-0.json"), "{").unwrap();
    assert!(matches!(open(&settings(), true), Err(ShardError::State { .. })));
}
