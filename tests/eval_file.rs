//! Networks from files: the option `EvalFile`, and `bench --network`.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use bytemuck::Zeroable;
use common::{SOON, START, Session, kozuka, piped, position};
use kozuka::eval::embedded;
use kozuka::eval::features::Features;
use kozuka::eval::network::{Network, OUTPUT_BUCKETS, OutputRow, Row, Weights};
use kozuka::variant::{Minishogi, Shogi};
use tempfile::TempDir;

/// A network that thinks more of every position than the one in the program does.
fn optimist() -> Vec<u8> {
    let network = embedded::<Minishogi>().expect("a network in the program");
    let mut weights = network.weights().clone();
    weights.output_biases.iter_mut().for_each(|bias| *bias += 300_000);
    Network::<Minishogi>::new(weights).expect("a network").to_bytes()
}

/// A network for 9x9.
fn shogi() -> Vec<u8> {
    let weights = Weights {
        features: vec![Row::zeroed(); Features::<Shogi>::ROWS],
        biases: Row::zeroed(),
        outputs: [OutputRow([Row::zeroed(); 2]); OUTPUT_BUCKETS],
        output_biases: [0; OUTPUT_BUCKETS],
    };
    Network::<Shogi>::new(weights).expect("a network").to_bytes()
}

/// A folder whose name has blanks in it, with a file.
fn folder_with(name: &str, content: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::Builder::new().prefix("my  nets ").tempdir().expect("a folder");
    let path = folder.path().join(name);
    fs::write(&path, content).expect("a file");
    (folder, path)
}

/// What the engine thinks of the start position, which shows by what it evaluates.
fn opinion(session: &mut Session) -> String {
    session.send("usinewgame\nposition startpos");
    let answer = session.go("depth 1");
    answer.check(&position(START, ""));
    format!("{:?}", answer.last_info().score)
}

/// A path as it is shown in one line of words.
fn shown(path: &Path) -> String {
    path.display().to_string().replace("  ", " ")
}

/// Sets the option and makes the engine ready; returns what it says.
fn set(session: &mut Session, path: impl AsRef<Path>) -> Vec<String> {
    session.send(&format!("setoption name EvalFile value {}", path.as_ref().display()));
    assert_eq!(session.next_line(std::time::Duration::from_millis(20)), None);
    session.sync()
}

#[test]
fn b46_a_file_that_is_no_network_is_said_and_changes_nothing() {
    let good = optimist();
    let flipped = |index: usize| {
        let mut bytes = good.clone();
        bytes[index] ^= 0x40;
        bytes
    };
    let mut session = Session::ready();
    let internal = opinion(&mut session);
    for (content, reason) in [
        (None, "(os error "),
        (Some(Vec::new()), "the file is empty"),
        (Some(good[..good.len() - 1].to_vec()), "bytes instead of"),
        (Some(flipped(0)), "not a Kozuka network"),
        (Some(flipped(20)), "the header is damaged"),
        (Some(flipped(good.len() / 2)), "the weights are damaged"),
        (Some(b"not a network at all".to_vec()), "not a Kozuka network"),
        (Some(shogi()), "made for another game"),
    ] {
        let (_folder, path) = folder_with("a net.knnue", content.as_deref().unwrap_or_default());
        if content.is_none() {
            fs::remove_file(&path).expect("removed");
        }
        let said = set(&mut session, &path);
        assert_eq!(said.len(), 1, "{reason}: {said:?}");
        assert!(said[0].starts_with("info string EvalFile '") && said[0].contains(reason), "{said:?}");
        assert!(said[0].contains(&shown(&path)), "{said:?}");
        assert_eq!(opinion(&mut session), internal, "{reason}");
        // What has failed is not tried before every move, but whenever the client asks for readiness.
        session.send("position startpos moves 4e4d");
        assert!(session.go("depth 2").strings.is_empty());
        assert_eq!(session.sync(), said);
    }
    let folder = tempfile::tempdir().expect("a folder");
    let said = set(&mut session, folder.path());
    assert!(said.len() == 1 && said[0].contains("it is a directory"), "{said:?}");
    assert_eq!(opinion(&mut session), internal);

    // Without `isready` it is said as well, and the game goes on.
    session.send("setoption name EvalFile value \ngo depth 1");
    assert!(session.expect("bestmove").iter().all(|line| !line.starts_with("info string")));
    session.send("setoption name EvalFile value no such file\nposition startpos");
    let answer = session.go("depth 1");
    assert_eq!(answer.strings.len(), 1);
    answer.check(&position(START, ""));
    session.finish();
}

#[cfg(unix)]
#[test]
fn b46_what_never_ends_or_never_begins_is_not_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo runs");
    assert!(made.success());
    let mut session = Session::ready();
    for path in [Path::new("/dev/zero"), &pipe] {
        let said = set(&mut session, path);
        assert!(said.len() == 1 && said[0].contains("it is no regular file"), "{said:?}");
    }
    session.finish();
}

#[test]
fn a_very_long_path_does_not_hide_the_reason() {
    let mut session = Session::ready();
    let said = set(&mut session, format!("/{}", "folder/".repeat(300)));
    assert!(said.len() == 1 && said[0].contains("...' not loaded: "), "{said:?}");
    session.finish();
}

#[test]
fn a_good_file_is_used_until_another_is_named() {
    let (_folder, path) = folder_with("net.knnue", &optimist());
    let mut session = Session::ready();
    let internal = opinion(&mut session);
    let said = set(&mut session, &path);
    assert_eq!(said, [format!("info string evaluating by EvalFile '{}'", shown(&path))]);
    let other = opinion(&mut session);
    assert_ne!(other, internal);
    // A bad one after it changes nothing either.
    assert_eq!(set(&mut session, "no such file").len(), 1);
    assert_eq!(opinion(&mut session), other);
    for none in ["<internal>", "<empty>", ""] {
        assert!(set(&mut session, none).is_empty());
        assert_eq!(opinion(&mut session), internal);
        set(&mut session, &path);
        assert_eq!(opinion(&mut session), other);
    }
    // It is the file of one game, and comes back with it.
    session.send("setoption name USI_Variant value shogi");
    let said = session.sync();
    assert!(said.len() == 1 && said[0].contains("made for another game"), "{said:?}");
    session.send("position startpos");
    session.go("depth 1");
    session.send("setoption name USI_Variant value minishogi");
    assert_eq!(session.sync().len(), 1);
    assert_eq!(opinion(&mut session), other);
    session.finish();
}

#[test]
fn the_same_file_again_costs_nothing_and_keeps_the_table() {
    let (_folder, path) = folder_with("net.knnue", &optimist());
    let mut session = Session::ready();
    set(&mut session, &path);
    session.send("position startpos");
    let nodes = |session: &mut Session| session.go("depth 8").last_info().nodes.expect("nodes");
    let first = nodes(&mut session);
    session.send("usinewgame");
    assert_eq!(nodes(&mut session), first);
    // Not even read: it may have gone.
    fs::remove_file(&path).expect("removed");
    assert!(set(&mut session, &path).is_empty());
    session.send("setoption name EvalFile value <internal>");
    assert!(set(&mut session, &path).is_empty());
    let second = nodes(&mut session);
    assert!(second < first, "{second} after {first} nodes");
    session.finish();
}

#[test]
fn a_file_named_while_thinking_counts_after_it() {
    let (_folder, path) = folder_with("net.knnue", &optimist());
    let mut session = Session::ready();
    let internal = opinion(&mut session);
    session.send(&format!("go infinite\nsetoption name EvalFile value {}\nisready", path.display()));
    let lines = session.expect_within("readyok", SOON);
    assert!(lines.iter().all(|line| !line.contains("EvalFile")), "{lines:?}");
    let start = Instant::now();
    session.send("stop");
    session.answer(start).check(&position(START, ""));
    assert_eq!(session.sync().len(), 1);
    assert_ne!(opinion(&mut session), internal);
    session.finish();
}

#[test]
fn b46_a_relative_path_is_looked_for_here_and_beside_the_binary() {
    let (folder, path) = folder_with("net.knnue", &optimist());
    let relative = path.strip_prefix("/").unwrap_or(&path);
    let mut command = kozuka();
    command.current_dir(path.ancestors().last().expect("a root"));
    let mut session = Session::start_command(command);
    assert_eq!(set(&mut session, relative).len(), 1);
    let there = opinion(&mut session);
    assert!(set(&mut session, "net.knnue")[0].contains("not loaded"));
    session.finish();

    let program =
        folder.path().join(kozuka().get_program().to_string_lossy().rsplit(['/', '\\']).next().expect("a name"));
    fs::copy(kozuka().get_program(), &program).expect("a copy");
    let mut command = piped(&program);
    command.current_dir(path.ancestors().last().expect("a root"));
    let mut session = Session::start_command(command);
    assert!(set(&mut session, "net.knnue")[0].contains("evaluating by EvalFile"));
    assert_eq!(opinion(&mut session), there);
    session.finish();
}

#[test]
fn a_game_without_a_network_refuses_that_of_another() {
    let (_folder, path) = folder_with("net.knnue", &optimist());
    let mut session = Session::start_with(&["--variant", "shogi"]);
    session.send("position startpos");
    let before = format!("{:?}", session.go("depth 2").last_info().score);
    let said = set(&mut session, &path);
    assert!(said.len() == 1 && said[0].contains("made for another game"), "{said:?}");
    session.send("usinewgame\nposition startpos");
    assert_eq!(format!("{:?}", session.go("depth 2").last_info().score), before);
    // One of its own is used.
    let (_folder, path) = folder_with("shogi.knnue", &shogi());
    assert!(set(&mut session, &path)[0].contains("evaluating by EvalFile"));
    session.send("usinewgame\nposition startpos");
    assert_ne!(format!("{:?}", session.go("depth 2").last_info().score), before);
    session.finish();
}

#[test]
fn a_bench_by_another_network_counts_otherwise_and_a_bad_file_is_one_error() {
    let (_folder, path) = folder_with("net.knnue", &optimist());
    let bench = |arguments: &[&str]| {
        let output = kozuka().args(["bench", "--depth", "4"]).args(arguments).output().expect("the binary runs");
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let nodes = |text: &str| text.lines().last().and_then(|line| line.split(' ').next()?.parse::<u64>().ok());
    let (code, internal, _) = bench(&[]);
    assert_eq!(code, Some(0));
    let (code, other, _) = bench(&["--network", &path.display().to_string()]);
    assert_eq!(code, Some(0));
    assert!(nodes(&internal).is_some() && nodes(&other).is_some() && nodes(&internal) != nodes(&other));
    fs::write(&path, "short").expect("a file");
    let (code, out, errors) = bench(&["--network", &path.display().to_string()]);
    assert_eq!((code, out.as_str()), (Some(1), ""));
    assert!(errors.lines().count() == 1 && errors.contains("not a Kozuka network"), "{errors}");
}
