//! The table for people, and the line for programs.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde::Serialize;

use super::sprt::{Model, Sprt, Verdict};
use super::standings::{Line, Standings};
use super::stats::Pentanomial;
use crate::types::Color;

/// The last line of a match with `--json`.
#[derive(Debug, Serialize)]
pub struct Summary<'a> {
    games: u32,
    engines: Vec<EngineSummary<'a>>,
    sente_wins: u32,
    gote_wins: u32,
    draws: u32,
    reasons: BTreeMap<&'static str, u32>,
    sprt: Option<SprtSummary>,
}

#[derive(Debug, Serialize)]
struct EngineSummary<'a> {
    name: &'a str,
    wins: u32,
    draws: u32,
    losses: u32,
    points: f64,
    elo: f64,
    elo_low: f64,
    elo_high: f64,
    los: f64,
    pairs: [u32; 5],
    illegal_moves: u32,
    crashes: u32,
    time_forfeits: u32,
    no_answer: u32,
    mean_depth: Option<f64>,
    nodes_per_second: Option<f64>,
    mean_time_ms: Option<f64>,
}

#[derive(Debug, Serialize)]
struct SprtSummary {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
    llr: f64,
    lower: f64,
    upper: f64,
    result: Verdict,
}

impl<'a> Summary<'a> {
    /// Of a match with or without a test; the test looks at the first engine.
    pub fn new(standings: &'a Standings, sprt: Option<&Sprt>) -> Self {
        let first = standings.engines.first().map(|line| line.pairs).unwrap_or_default();
        Self {
            games: standings.games,
            engines: standings.engines.iter().map(EngineSummary::new).collect(),
            sente_wins: standings.sente_wins,
            gote_wins: standings.gote_wins,
            draws: standings.draws,
            reasons: standings.reasons.iter().map(|(reason, count)| (reason.name(), *count)).collect(),
            sprt: sprt.map(|sprt| SprtSummary::new(sprt, &first)),
        }
    }

    /// One line of JSON.
    pub fn to_json(&self) -> String {
        // Names and finite numbers always have a JSON form.
        serde_json::to_string(self).unwrap_or_default()
    }
}

impl<'a> EngineSummary<'a> {
    fn new(line: &'a Line) -> Self {
        let elo = line.pairs.elo();
        Self {
            name: &line.name,
            wins: line.wins,
            draws: line.draws,
            losses: line.losses,
            points: line.points(),
            elo: hundredths(elo.value),
            elo_low: hundredths(elo.low),
            elo_high: hundredths(elo.high),
            los: line.pairs.los(),
            pairs: line.pairs.0,
            illegal_moves: line.illegal_moves,
            crashes: line.crashes,
            time_forfeits: line.time_forfeits,
            no_answer: line.no_answer,
            mean_depth: line.mean_depth().map(hundredths),
            nodes_per_second: line.nodes_per_second().map(f64::round),
            mean_time_ms: line.mean_time().map(|time| (time.as_secs_f64() * 1e6).round() / 1e3),
        }
    }
}

fn hundredths(value: f64) -> f64 {
    (value * 100.0).round() / 100.0
}

impl SprtSummary {
    fn new(sprt: &Sprt, sample: &Pentanomial) -> Self {
        let (lower, upper) = sprt.bounds();
        let Sprt { elo0, elo1, alpha, beta, model } = *sprt;
        Self { elo0, elo1, alpha, beta, model, llr: sprt.llr(sample), lower, upper, result: sprt.verdict(sample) }
    }
}

/// The table at the end of a match.
pub fn table(standings: &Standings, sprt: Option<&Sprt>) -> String {
    let mut text = String::new();
    let width = standings.engines.iter().map(|line| line.name.chars().count()).max().unwrap_or(0).max(6);
    let _ = writeln!(
        text,
        "{:width$}  games   wins  draws losses  points  score       Elo    95 % interval     LOS   sente    gote  depth     nps  ms/move",
        "engine"
    );
    for line in &standings.engines {
        let _ = writeln!(text, "{}", row(line, width));
    }
    let faulty: Vec<_> = standings.engines.iter().filter_map(faults).collect();
    if !faulty.is_empty() {
        let _ = writeln!(text, "failures: {}", faulty.join("; "));
    }
    if let Some(first) = standings.engines.first() {
        let counts = first.pairs.0.map(|count| count.to_string()).join(" ");
        let _ = writeln!(text, "pairs of {} with 0, 0.5, 1, 1.5, 2 points: {counts}", first.name);
    }
    let total = f64::from(standings.games.max(1)) / 100.0;
    let _ = writeln!(
        text,
        "sente won {} ({:.1} %), gote won {} ({:.1} %), drawn {}",
        standings.sente_wins,
        f64::from(standings.sente_wins) / total,
        standings.gote_wins,
        f64::from(standings.gote_wins) / total,
        standings.draws
    );
    let reasons: Vec<_> =
        standings.reasons.iter().map(|(reason, count)| format!("{} {count}", reason.name())).collect();
    let _ = writeln!(text, "reasons: {}", if reasons.is_empty() { "none".to_owned() } else { reasons.join(", ") });
    if let Some(sprt) = sprt {
        let _ = writeln!(
            text,
            "{}",
            sprt_line(sprt, &standings.engines.first().map(|line| line.pairs).unwrap_or_default())
        );
    }
    text
}

fn row(line: &Line, width: usize) -> String {
    let elo = line.pairs.elo();
    let games = f64::from(line.games().max(1));
    let percent = |(half_points, games): (u32, u32)| {
        if games == 0 { "-".to_owned() } else { format!("{:.1} %", f64::from(half_points) * 50.0 / f64::from(games)) }
    };
    let or_dash = |text: Option<String>| text.unwrap_or_else(|| "-".to_owned());
    format!(
        "{:width$} {:6} {:6} {:6} {:6} {:7.1} {:4.1} % {:+9.1} [{:+7.1}, {:+7.1}] {:5.1} % {:>7} {:>7} {:>6} {:>7} {:>8}",
        line.name,
        line.games(),
        line.wins,
        line.draws,
        line.losses,
        line.points(),
        line.points() * 100.0 / games,
        elo.value,
        elo.low,
        elo.high,
        line.pairs.los() * 100.0,
        percent(line.by_color[Color::Black.index()]),
        percent(line.by_color[Color::White.index()]),
        or_dash(line.mean_depth().map(|depth| format!("{depth:.1}"))),
        or_dash(line.nodes_per_second().map(thousands)),
        or_dash(line.mean_time().map(|time| format!("{:.2}", time.as_secs_f64() * 1e3))),
    )
}

fn thousands(value: f64) -> String {
    if value >= 1e6 { format!("{:.2}M", value / 1e6) } else { format!("{:.0}k", value / 1e3) }
}

fn faults(line: &Line) -> Option<String> {
    let counts = [
        (line.illegal_moves, "illegal moves"),
        (line.crashes, "crashes"),
        (line.time_forfeits, "time forfeits"),
        (line.no_answer, "without an answer"),
    ];
    let parts: Vec<_> =
        counts.iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}")).collect();
    (!parts.is_empty()).then(|| format!("{}: {}", line.name, parts.join(", ")))
}

/// Where the test stands, in a line.
pub fn sprt_line(sprt: &Sprt, sample: &Pentanomial) -> String {
    let (low, high) = sprt.bounds();
    let verdict = match sprt.verdict(sample) {
        Verdict::H0 => "H0 accepted",
        Verdict::H1 => "H1 accepted",
        Verdict::Undecided => "undecided",
    };
    let unit = match sprt.model {
        Model::Logistic => "Elo",
        Model::Normalized => "normalised Elo",
    };
    format!(
        "SPRT {} against {} {unit}: LLR {:+.3} in ({low:.3}, {high:.3}), {verdict} after {} pairs",
        sprt.elo0,
        sprt.elo1,
        sprt.llr(sample),
        sample.pairs()
    )
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::game;
    use super::super::record::{GameResult, Reason};
    use super::*;

    const SPRT: Sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: Model::Logistic };

    fn numbers_are_finite(text: &str) {
        for word in ["NaN", "nan", "inf"] {
            assert!(!text.contains(word), "{text}");
        }
    }

    #[test]
    fn the_line_for_programs_has_the_promised_keys() {
        let mut standings = Standings::new(["A", "B"]);
        standings.add(&game(1, GameResult::SenteWins, Reason::Checkmate));
        standings.add(&game(2, GameResult::GoteWins, Reason::NoAnswer));
        let json: serde_json::Value =
            serde_json::from_str(&Summary::new(&standings, Some(&SPRT)).to_json()).expect("JSON");
        assert_eq!(json["games"], 2);
        assert_eq!((&json["sente_wins"], &json["gote_wins"], &json["draws"]), (&1.into(), &1.into(), &0.into()));
        assert_eq!(json["reasons"]["checkmate"], 1);
        assert_eq!(json["engines"][0]["points"], 2.0);
        assert_eq!(json["engines"][1]["no_answer"], 1);
        for key in [
            "name",
            "wins",
            "draws",
            "losses",
            "elo",
            "elo_low",
            "elo_high",
            "illegal_moves",
            "crashes",
            "time_forfeits",
        ] {
            assert!(!json["engines"][0][key].is_null(), "{key}");
        }
        assert_eq!(json["sprt"]["result"], "undecided");
        assert!(Summary::new(&standings, None).to_json().contains("\"sprt\":null"));
    }

    #[test]
    fn no_games_and_one_sided_games_give_numbers() {
        let mut standings = Standings::new(["A", "B"]);
        for _ in 0..2 {
            let json = Summary::new(&standings, Some(&SPRT)).to_json();
            let text = table(&standings, Some(&SPRT));
            numbers_are_finite(&json);
            numbers_are_finite(&text);
            let json: serde_json::Value = serde_json::from_str(&json).expect("JSON");
            assert!(json["engines"][0]["elo"].is_f64() && json["engines"][0]["elo_high"].is_f64());
            standings.add(&game(1, GameResult::SenteWins, Reason::Checkmate));
            standings.add(&game(2, GameResult::GoteWins, Reason::Checkmate));
        }
    }

    #[test]
    fn the_table_names_failures() {
        let mut standings = Standings::new(["A", "B"]);
        standings.add(&game(1, GameResult::SenteWins, Reason::TimeForfeit));
        assert!(table(&standings, None).contains("failures: B: 1 time forfeits"));
    }
}
