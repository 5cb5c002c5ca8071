//! Replays the matches in `usi-logs`: the rules accept every move and give the same results.

use std::path::Path;

use kozuka::engine::{AnyPosition, GameId};
use kozuka::position::Rules;
use kozuka::tools::matches::record::{self, GameRecord, GameResult, Header, Reason};

fn replay(header: &Header, game: &GameRecord) {
    let id: GameId = header.variant.parse().expect("a known game");
    let rules = Rules { sennichite: header.sennichite.parse().expect("a known setting"), max_moves: header.max_plies };
    let mut position = AnyPosition::from_sfen(id, &game.sfen, rules).expect("a position");
    for mv in game.moves.split_whitespace() {
        assert!(position.outcome().is_none(), "game {} goes on behind its end at {mv}", game.game);
        position.play(mv).unwrap_or_else(|error| panic!("game {}: {error}", game.game));
    }
    match position.outcome() {
        Some(outcome) => {
            assert_eq!((GameResult::of(outcome.winner), Reason::from(outcome.reason)), (game.result, game.reason));
        }
        None => assert!(
            !matches!(
                game.reason,
                Reason::Checkmate
                    | Reason::Stalemate
                    | Reason::Repetition
                    | Reason::PerpetualCheck
                    | Reason::DoublePerpetualCheck
                    | Reason::MaxPlies
            ),
            "game {} is not over: {:?}",
            game.game,
            game.reason
        ),
    }
}

#[test]
fn recorded_matches_replay() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("usi-logs");
    let mut games = 0;
    for entry in std::fs::read_dir(&dir).expect("usi-logs is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            let record = record::read(&path).unwrap_or_else(|error| panic!("{error}"));
            record.games.iter().for_each(|game| replay(&record.header, game));
            games += record.games.len();
        }
    }
    assert!(games > 0, "there is a recorded match in {}", dir.display());
}
