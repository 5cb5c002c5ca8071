//! The network's sums by three ways, and what its file's reader refuses.

use std::fs;

use bytemuck::Zeroable;
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::accumulator::{Accumulators, refresh};
use super::features::Features;
use super::network::*;
use super::simd::Level;
use crate::movegen::legal_moves;
use crate::position::{Position, Rules};
use crate::types::Color;
use crate::variant::{Minishogi, Shogi, Variant};

/// A network of random weights, large enough that activations reach both ends of their range.
pub(crate) fn random_network<V: Variant>(seed: u64) -> Network<V> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut row = |limit: i16| {
        let mut row = Row::zeroed();
        row.0.fill_with(|| rng.random_range(-limit..=limit));
        row
    };
    let features = (0..Features::<V>::ROWS).map(|_| row(90)).collect();
    let biases = row(150);
    let outputs = std::array::from_fn(|_| OutputRow([row(OUTPUT_LIMIT), row(OUTPUT_LIMIT)]));
    let output_biases = std::array::from_fn(|_| rng.random_range(-1_000_000..1_000_000));
    Network::new(Weights { features, biases, outputs, output_biases }).unwrap()
}

#[derive(Default)]
struct Counts {
    captures: usize,
    drops: usize,
    promotions: usize,
    nulls: usize,
    undos: usize,
    games: usize,
}

/// Walks `plies` random plies to and fro, and compares what all levels compute incrementally with the reference.
fn walk<V: Variant>(plies: usize) -> Counts {
    let network = random_network::<V>(1);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let mut levels: Vec<_> = Level::available().into_iter().map(Accumulators::<V>::new).collect();
    let mut position = Position::<V>::new(Rules::default());
    let mut counts = Counts::default();
    for _ in 0..plies {
        let moves = legal_moves(&position);
        match rng.random_range(0..100) {
            0..20 if position.ply() > 0 => {
                for _ in 0..rng.random_range(1..=position.ply().min(6)) {
                    position.undo_move();
                    counts.undos += 1;
                }
            }
            20..25 if !position.in_check() => {
                position.do_null_move();
                counts.nulls += 1;
            }
            _ if moves.is_empty() || position.ply() >= 400 => {
                position = Position::new(Rules::default());
                counts.games += 1;
            }
            _ => {
                let mv = moves[rng.random_range(0..moves.len())];
                counts.drops += usize::from(mv.is_drop());
                counts.promotions += usize::from(mv.is_promotion());
                counts.captures += usize::from(position.piece_on(mv.to()).is_some());
                position.do_move(mv);
            }
        }
        // A search does not evaluate every position that it comes through.
        if rng.random_range(0..3) == 0 {
            continue;
        }
        let sums = Color::ALL.map(|color| refresh(&network, position.board(), color));
        let bucket = Features::<V>::output_bucket(Color::ALL.map(|color| position.hand(color)));
        let expected = network.output([&sums[0], &sums[1]], position.side_to_move(), bucket);
        for accumulators in &mut levels {
            assert_eq!(accumulators.evaluate(&network, &position), expected, "{}", position.sfen());
            assert_eq!(accumulators.sums(position.ply()), [&sums[0], &sums[1]], "{}", position.sfen());
        }
    }
    counts
}

#[test]
fn incremental_sums_are_the_refreshed_ones_over_100_000_plies() {
    let counts = walk::<Minishogi>(100_000);
    assert!(counts.captures > 1_000 && counts.drops > 1_000 && counts.promotions > 500);
    assert!(counts.nulls > 1_000 && counts.undos > 10_000 && counts.games > 100);
}

#[test]
fn the_network_in_the_program_is_sound_and_small() {
    assert!(super::EMBEDDED.iter().all(|(_, bytes)| bytes.len() <= 8 << 20));
    let network = super::embedded::<Minishogi>().unwrap();
    assert_eq!(network.to_bytes(), super::EMBEDDED[0].1);
    assert!(super::embedded::<Shogi>().is_none());
}

#[test]
fn a_9x9_network_needs_nothing_but_weights() {
    walk::<Shogi>(3_000);
}

#[test]
fn a_network_survives_its_file() {
    let network = random_network::<Minishogi>(3);
    let bytes = network.to_bytes();
    assert!(bytes.len() <= 8 << 20);
    let read = Network::<Minishogi>::from_bytes(&bytes).unwrap();
    assert_eq!(read.weights(), network.weights());
}

#[test]
fn the_reader_says_what_is_wrong() {
    let good = random_network::<Minishogi>(3).to_bytes();
    let read = |bytes: &[u8]| Network::<Minishogi>::from_bytes(bytes).map(|_| ()).unwrap_err();
    let changed = |index: usize| {
        let mut bytes = good.clone();
        bytes[index] ^= 1;
        read(&bytes)
    };
    assert_eq!(read(&[]), FormatError::Empty);
    assert_eq!(read(b"something else"), FormatError::NotANetwork);
    for index in 0..8 {
        assert_eq!(changed(index), FormatError::NotANetwork);
    }
    for index in 8..64 {
        assert_eq!(changed(index), FormatError::DamagedHeader, "byte {index}");
    }
    assert_eq!(changed(64), FormatError::DamagedWeights);
    assert_eq!(changed(good.len() - 1), FormatError::DamagedWeights);
    let expected = good.len();
    assert_eq!(read(&good[..expected - 1]), FormatError::Length { found: expected - 1, expected });
    assert_eq!(read(&[&good[..], &[0]].concat()), FormatError::Length { found: expected + 1, expected });
    assert_eq!(read(&good[..40]), FormatError::Length { found: 40, expected: 64 });
    let other = random_network::<Shogi>(3).to_bytes();
    assert_eq!(read(&other), FormatError::OtherFeatures);
}

#[test]
fn weights_that_could_overflow_are_refused() {
    let good = random_network::<Minishogi>(3);
    let mut features = good.weights().clone();
    features.features[100].0[3] = 20_000;
    let mut outputs = good.weights().clone();
    outputs.outputs[2].0[1].0[7] = i16::MIN;
    for weights in [features, outputs] {
        assert_eq!(Network::<Minishogi>::new(weights).unwrap_err(), FormatError::WeightRange);
    }
    let few = Weights { features: Vec::new(), ..good.weights().clone() };
    assert!(matches!(Network::<Minishogi>::new(few), Err(FormatError::OtherShape { .. })));
}

#[test]
fn files_that_are_none_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let load = |path: &std::path::Path| Network::<Minishogi>::load(path).map(|_| ());
    assert!(matches!(load(dir.path()), Err(NetworkError::Directory(_))));
    let path = dir.path().join("a name with spaces.knnue");
    let missing = load(&path).unwrap_err();
    assert!(matches!(missing, NetworkError::Io { .. }) && missing.to_string().contains("a name with spaces"));
    fs::write(&path, []).unwrap();
    assert!(matches!(load(&path), Err(NetworkError::Content { error: FormatError::Empty, .. })));
    fs::write(&path, random_network::<Minishogi>(3).to_bytes()).unwrap();
    assert!(load(&path).is_ok());
    // What goes on beyond the end is counted without being read.
    let length = fs::metadata(&path).unwrap().len();
    fs::File::options().write(true).open(&path).unwrap().set_len(length + 5).unwrap();
    let Err(NetworkError::Content { error, .. }) = load(&path) else { panic!("it is too long") };
    assert_eq!(error, FormatError::Length { found: length as usize + 5, expected: length as usize });
}
