use std::fs;

use super::model::output;
use super::*;
use crate::eval::accumulator::refresh;
use crate::eval::features::Features;
use crate::eval::network::CENTIPAWNS;
use crate::position::{Position, Rules};
use crate::record::diagram::Diagram;
use crate::record::packed::{GameResult, Sample, decode, encode, record_bytes};
use crate::tools::datagen::{Progress, Settings as DatagenSettings, Shard, fill_shard};
use crate::types::Color;

/// A directory with a shard of so many positions.
fn shard(positions: u64) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let settings = DatagenSettings::new::<Minishogi>(60, 5);
    let shard = Shard::open::<Minishogi>(dir.path(), &settings, 0, false).unwrap();
    fill_shard::<Minishogi>(shard, &settings, None, 0, positions, &AtomicBool::new(false), &Progress::default())
        .unwrap();
    dir
}

fn settings() -> Settings {
    Settings {
        epochs: 6,
        batch: 64,
        rate: 0.003,
        last_rate: 0.0003,
        decay: 0.01,
        score_weight: 0.6,
        validation_share: 0.1,
        threads: 2,
        seed: 1,
    }
}

fn trainer(dir: &Path, settings: Settings, resume: Option<&Path>) -> Trainer<Minishogi> {
    let data = Data::load(&[dir.to_owned()], settings.validation_share).unwrap();
    Trainer::new(data, settings, resume).unwrap()
}

fn train(trainer: &mut Trainer<Minishogi>, stop_at: u64) {
    let stop = AtomicBool::new(false);
    let mut tell = |journal: &Journal, _: usize| stop.store(journal.steps >= stop_at, Ordering::Relaxed);
    trainer.train::<TrainError>(&stop, &mut tell, &mut |_| Ok(())).unwrap();
}

#[test]
fn a_small_set_is_learned_by_heart() {
    let dir = shard(400);
    let settings = Settings { epochs: 150, ..settings() };
    let mut trainer = trainer(dir.path(), settings, None);
    train(&mut trainer, u64::MAX);
    let losses = &trainer.journal().losses;
    let (first, last) = (losses[0], losses[losses.len() - 1]);
    assert!(last.training < 0.000_5 && last.training < first.training / 50.0, "{first:?} {last:?}");
}

#[test]
fn integers_say_what_floating_point_says() {
    let dir = shard(1_500);
    let mut trainer = trainer(dir.path(), settings(), None);
    train(&mut trainer, u64::MAX);
    let network = trainer.network().unwrap();
    let bytes = fs::read(dir.path().join("5-0.kzp")).unwrap();
    let mut position = Position::<Minishogi>::new(Rules::default());
    let mut compared = 0;
    for record in bytes.chunks(record_bytes::<Minishogi>()) {
        let sample = decode::<Minishogi>(record).unwrap();
        if Diagram::of(position.board()) != sample.diagram {
            position = Position::from_sfen(&sfen(&sample.diagram), Rules::default()).unwrap();
        }
        let sums = Color::ALL.map(|color| refresh(&network, position.board(), color));
        let bucket = Features::<Minishogi>::output_bucket(sample.diagram.hands);
        let integer = network.output([&sums[0], &sums[1]], position.side_to_move(), bucket) as f32;
        let float = output(&trainer.effective, &Example::of::<Minishogi>(&sample, 0.5)) * CENTIPAWNS as f32;
        let tolerance = 15.0 + float.abs() / 50.0;
        assert!((integer - float).abs() < tolerance, "{integer} {float} {}", position.sfen());
        compared += 1;
        if position.piece_on(sample.best.to()).is_none() {
            position.do_move(sample.best);
        }
    }
    assert!(compared >= 1_500);
}

/// SFEN of a diagram.
fn sfen(diagram: &Diagram) -> String {
    let mut squares = vec![String::from("1"); 25];
    for (square, piece) in &diagram.pieces {
        squares[square.rank::<Minishogi>() * 5 + 4 - square.file::<Minishogi>()] = piece.to_string();
    }
    let ranks: Vec<String> = squares.chunks(5).map(|rank| rank.concat()).collect();
    let mut hands = String::new();
    for color in Color::ALL {
        for &(kind, _) in Minishogi::PIECES.iter().filter(|(kind, _)| *kind != crate::types::PieceType::King) {
            for _ in 0..diagram.hands[color.index()].count(kind) {
                hands += &crate::types::Piece::new(color, kind).to_string();
            }
        }
    }
    let hands = if hands.is_empty() { "-".to_owned() } else { hands };
    format!("{} {} {hands} 1", ranks.join("/"), diagram.side_to_move.letter())
}

#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let position = Position::<Minishogi>::from_sfen("2k2/1p2r/5/P1S2/1B2K b Gsg 1", Rules::default()).unwrap();
    let sample = Sample {
        diagram: Diagram::of(position.board()),
        score: 300,
        best: crate::movegen::legal_moves(&position)[0],
        ply: 9,
        result: GameResult::Loss,
        in_check: false,
        tactical: false,
    };
    let example = Example::of::<Minishogi>(&sample, 0.5);
    let effective = Parameters::random::<Minishogi>(3).effective::<Minishogi>();
    let mut gradients = Gradients::zero::<Minishogi>();
    backward(&effective, &example, &mut gradients);
    assert!((gradients.loss - loss(&effective, &example)).abs() < 1e-9);
    let touched: Vec<usize> = (0..gradients.touched.len()).filter(|&row| gradients.touched[row]).collect();
    assert_eq!(touched.len(), example.rows[0].len() + example.rows[1].len() + 4);
    for row in touched {
        for column in [0, 1, 5, 100, 255] {
            let shifted = |by: f32| {
                let mut weights = effective.clone();
                weights.rows[row].0[column] += by;
                loss(&weights, &example)
            };
            let slope = (shifted(0.01) - shifted(-0.01)) / 0.02;
            let found = f64::from(gradients.sums.rows[row].0[column]);
            assert!((slope - found).abs() < 2e-4 + found.abs() / 20.0, "row {row} column {column}: {slope} {found}");
        }
    }
}

#[test]
fn a_stopped_run_goes_on_as_if_it_had_not_been() {
    let dir = shard(1_000);
    let mut whole = trainer(dir.path(), settings(), None);
    train(&mut whole, u64::MAX);

    let out = tempfile::tempdir().unwrap();
    let mut part = trainer(dir.path(), settings(), None);
    train(&mut part, 17);
    assert_eq!(part.journal().steps, 17);
    part.save(out.path()).unwrap();
    let path = out.path().join(CHECKPOINT);
    let mut resumed = trainer(dir.path(), settings(), Some(&path));
    train(&mut resumed, u64::MAX);
    assert_eq!(resumed.effective.rows, whole.effective.rows);

    resumed.save(out.path()).unwrap();
    assert!(Network::<Minishogi>::load(&out.path().join("net.knnue")).is_ok());
    let svg = fs::read_to_string(out.path().join("loss.svg")).unwrap();
    assert!(svg.starts_with("<svg") && svg.contains("validation"));

    let data = || Data::<Minishogi>::load(&[dir.path().to_owned()], 0.1).unwrap();
    let other = Settings { rate: 0.5, ..settings() };
    let error = Trainer::new(data(), other, Some(&path)).unwrap_err();
    assert!(matches!(error, TrainError::Checkpoint(CheckpointError::OtherRun { .. })));
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(&path, bytes).unwrap();
    let error = Trainer::new(data(), settings(), Some(&path)).unwrap_err();
    assert!(matches!(error, TrainError::Checkpoint(CheckpointError::Damaged(_))));
}

#[test]
fn data_is_checked_counted_and_split() {
    let dir = shard(1_000);
    let path = dir.path().join("5-0.kzp");
    let load = || Data::<Minishogi>::load(std::slice::from_ref(&path), 0.1);
    let once = load().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let records = bytes.len() / record_bytes::<Minishogi>();
    assert_eq!(once.census.records, records);
    assert_eq!(once.training.len() + once.validation.len(), records - once.census.noisy - once.census.repeated);
    assert!(once.validation.len() * 5 < once.training.len());
    let few = Data::<Minishogi>::load(std::slice::from_ref(&path), 0.03).unwrap();
    assert!(!few.validation.is_empty() && few.validation.len() * 10 < few.training.len(), "{}", few.validation.len());
    assert_ne!(once.shuffled(1, 0), once.shuffled(1, 1));

    // The same shard twice over holds nothing new.
    bytes.extend_from_within(..);
    fs::write(&path, &bytes).unwrap();
    let twice = load().unwrap();
    assert_eq!(twice.training, once.training);
    assert_eq!(twice.census.repeated, records - once.census.noisy);

    bytes[24 * 7 + 3] ^= 1;
    fs::write(&path, &bytes).unwrap();
    assert!(matches!(load(), Err(DataError::Record { index: 7, .. })));
    fs::write(&path, encode::<Minishogi>(&decode::<Minishogi>(&bytes[..24]).unwrap())).unwrap();
    assert!(matches!(load(), Err(DataError::TooFew(_))));
    assert!(matches!(Data::<Minishogi>::load(&[dir.path().join("none")], 0.1), Err(DataError::Io { .. })));
}
