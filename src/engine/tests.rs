use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use super::*;
use crate::types::Color;
use crate::variant::Minishogi;

const LONG: Duration = Duration::from_secs(60);

fn options() -> SearchOptions {
    SearchOptions { hash_mib: 1, ..SearchOptions::default() }
}

fn go(engine: &mut AnyEngine, limits: Limits) -> Receiver<Reply> {
    let (sender, receiver) = channel();
    engine.go(limits, &[], &options(), move |event| match event {
        Event::Notices(notices) => panic!("{notices:?}"),
        Event::Report(..) => {}
        Event::Reply(reply) => sender.send(reply).unwrap(),
    });
    receiver
}

fn is_move(reply: &Reply) -> bool {
    matches!(reply, Reply::Move { .. })
}

fn moves(list: &str) -> Vec<String> {
    list.split_whitespace().map(str::to_owned).collect()
}

#[test]
fn games_have_names() {
    for &game in GameId::ALL {
        assert_eq!(game.name().parse(), Ok(game));
        for alias in game.aliases() {
            assert_eq!(alias.to_uppercase().parse(), Ok(game));
        }
    }
    assert_eq!("chess".parse::<GameId>(), Err(UnknownGame("chess".to_owned())));
}

#[test]
fn positions_of_any_game_are_played() {
    let mut position = AnyPosition::new(GameId::Minishogi, Rules::default());
    assert_eq!(position.legal_moves().len(), 14);
    let (key, sfen) = (position.key(), position.sfen());
    position.play("4e4d").unwrap();
    assert_eq!((position.ply(), position.side_to_move()), (1, Color::White));
    assert_eq!(position.play("4e4d"), Err(MoveError("4e4d".to_owned())));
    position.undo();
    assert_eq!((position.key(), position.sfen()), (key, sfen));
    position.undo();
    assert_eq!(position.ply(), 0);

    let mut position = AnyPosition::new(GameId::Shogi, Rules::default());
    position.play("7g7f").unwrap();
    assert_eq!(position.legal_moves().len(), 30);
    assert_eq!((position.outcome(), position.can_declare_win(), position.in_check()), (None, false, false));
}

#[test]
fn a_mate_is_seen() {
    let mated = AnyPosition::from_sfen(GameId::Minishogi, "4k/4G/4P/5/K4 w - 1", Rules::default()).unwrap();
    assert_eq!(mated.legal_moves(), Vec::<String>::new());
    assert_eq!(mated.checkers(), ["1b"]);
    assert_eq!(mated.outcome().map(|outcome| outcome.to_string()).as_deref(), Some("sente_wins checkmate"));
}

#[test]
fn diagrams_show_board_and_hands() {
    let position = AnyPosition::from_sfen(GameId::Minishogi, "4k/+P4/5/5/K4 b R2Pb 1", Rules::default());
    assert!(position.is_err(), "three pawns");
    let position = AnyPosition::from_sfen(GameId::Minishogi, "4k/+P4/5/5/K4 b RPb 1", Rules::default()).unwrap();
    assert_eq!(
        position.diagram(),
        "  5  4  3  2  1\n  .  .  .  .  k  a\n +P  .  .  .  .  b\n  .  .  .  .  .  c\n  .  .  .  .  .  d\n  \
         K  .  .  .  .  e\nsente in hand: Rx1 Px1\ngote in hand: bx1"
    );
}

#[test]
fn a_bad_position_leaves_the_old_one_and_a_bad_move_stops() {
    let rules = Rules::default();
    let mut engine = AnyEngine::new(GameId::Minishogi, rules);
    engine.set_position(None, &moves("4e4d"), rules).unwrap();
    let before = engine.position().sfen();
    assert!(matches!(engine.set_position(Some("5/5 b - 1"), &[], rules), Err(PositionError::Sfen(_))));
    assert_eq!(engine.position().sfen(), before);
    let error = engine.set_position(None, &moves("4e4d 0000 2a2b"), rules).unwrap_err();
    assert_eq!(error.to_string(), "illegal move '0000' at ply 2, stopping before it");
    assert_eq!(engine.position().sfen(), before);
}

#[test]
fn long_histories_are_taken_at_once_and_beyond_repetition() {
    let rules = Rules { max_moves: 50, ..Rules::default() };
    let mut engine = AnyEngine::new(GameId::Minishogi, rules);
    let history = moves(&"4e4d 2a2b 4d4e 2b2a ".repeat(500));
    let start = Instant::now();
    engine.set_position(None, &history, rules).unwrap();
    assert!(start.elapsed() < Duration::from_secs(1));
    assert_eq!(engine.position().ply(), 2_000);
    let reply = go(&mut engine, Limits::depth(1)).recv_timeout(LONG).unwrap();
    assert!(is_move(&reply));
}

#[test]
fn a_search_replies_once_and_may_be_followed_by_another() {
    let mut engine = AnyEngine::new(GameId::Minishogi, Rules::default());
    for _ in 0..50 {
        let replies = go(&mut engine, Limits::depth(1));
        assert!(is_move(&replies.recv_timeout(LONG).unwrap()));
        // The sender is gone with the search.
        assert!(replies.recv_timeout(LONG).is_err());
    }
}

#[test]
fn without_limits_it_waits_for_stop() {
    let mut engine = AnyEngine::new(GameId::Minishogi, Rules::default());
    let replies = go(&mut engine, Limits::default());
    assert!(replies.recv_timeout(Duration::from_millis(100)).is_err());
    assert!(engine.is_searching());
    engine.stop();
    assert!(is_move(&replies.recv_timeout(LONG).unwrap()));
    engine.finish();
    assert!(!engine.is_searching());
    engine.stop();
}

#[test]
fn a_second_search_ends_the_first() {
    let mut engine = AnyEngine::new(GameId::Shogi, Rules::default());
    let first = go(&mut engine, Limits { infinite: true, ..Limits::default() });
    let second = go(&mut engine, Limits::depth(1));
    assert!(is_move(&first.try_recv().unwrap()));
    assert!(is_move(&second.recv_timeout(LONG).unwrap()));
}

#[test]
fn pondering_ends_with_the_hit_or_with_stop() {
    let mut engine = AnyEngine::new(GameId::Minishogi, Rules::default());
    let ponder = Limits { ponder: true, ..Limits::default() };
    for limits in [Limits { depth: Some(1), ..ponder.clone() }, ponder.clone()] {
        let replies = go(&mut engine, limits);
        assert!(replies.recv_timeout(Duration::from_millis(50)).is_err());
        engine.ponderhit(None);
        assert!(is_move(&replies.recv_timeout(LONG).unwrap()));
    }
    // Times that come with the hit count from then on.
    let replies = go(&mut engine, ponder.clone());
    let clock = Clock { remaining: [Some(0); 2], byoyomi: 300, ..Clock::default() };
    let hit = Instant::now();
    engine.ponderhit(Some(clock));
    engine.ponderhit(Some(Clock { byoyomi: 60_000, ..clock }));
    assert!(is_move(&replies.recv_timeout(LONG).unwrap()));
    assert!(hit.elapsed() < Duration::from_millis(1_000));

    let replies = go(&mut engine, ponder);
    engine.close();
    assert!(is_move(&replies.try_recv().unwrap()));
}

#[test]
fn closing_lets_a_bounded_search_finish() {
    let mut engine = AnyEngine::new(GameId::Minishogi, Rules::default());
    let (sender, receiver) = channel();
    engine.go(Limits::depth(4), &[], &options(), move |event| sender.send(event).unwrap());
    engine.close();
    let events: Vec<Event> = receiver.try_iter().collect();
    let deepest = events.iter().filter_map(|event| match event {
        Event::Report(report, _) => Some(report.depth),
        Event::Notices(_) | Event::Reply(_) => None,
    });
    assert_eq!(deepest.max(), Some(4));
    assert!(matches!(events.last(), Some(Event::Reply(Reply::Move { .. }))));
}

#[test]
fn only_legal_searchmoves_count() {
    let mut engine = AnyEngine::new(GameId::Minishogi, Rules::default());
    let (sender, receiver) = channel();
    engine.go(Limits::depth(3), &moves("5d5c 9z9z 1e1a"), &options(), move |event| sender.send(event).unwrap());
    engine.close();
    let events: Vec<Event> = receiver.try_iter().collect();
    assert!(matches!(&events[0], Event::Notices(notices) if notices.len() == 2), "before anything else is told");
    assert!(matches!(events.last(), Some(Event::Reply(Reply::Move { best, .. })) if best == "5d5c"));
}

#[test]
fn a_panic_still_gives_a_legal_move() {
    let mut engine = Engine::<Minishogi>::new(Rules::default());
    let (sender, receiver) = channel();
    // A sink that panics takes the search with it.
    engine.go(Limits::depth(3), &[], &options(), move |event| match event {
        Event::Notices(_) => {}
        Event::Report(..) => panic!("for a test"),
        Event::Reply(reply) => sender.send(reply).unwrap(),
    });
    assert!(is_move(&receiver.recv_timeout(LONG).unwrap()));
    engine.finish();
    let (sender, receiver) = channel();
    engine.go(Limits::depth(2), &[], &options(), move |event| sender.send(event).unwrap());
    engine.close();
    assert!(receiver.try_iter().any(|event| matches!(event, Event::Reply(Reply::Move { .. }))));
}
