//! What a match shows while it runs: one moving line in a terminal, plain lines elsewhere, all on stderr.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::sprt::Sprt;
use super::standings::Standings;
use super::stats::Pentanomial;

/// Plain lines come at most this often.
const PLAIN_INTERVAL: Duration = Duration::from_secs(1);

/// The progress of one match.
pub struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    /// Games that were there when it started.
    before: u32,
    total: u32,
    last_plain: Option<Instant>,
    silent: bool,
}

impl Progress {
    /// Of a match of `total` games of which `before` are played already.
    pub fn new(total: u32, before: u32) -> Self {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(u64::from(total)).with_position(u64::from(before));
            // Only a template that is wrong in itself is refused; the default one then stands in.
            if let Ok(style) = ProgressStyle::with_template("{bar:20} {msg}") {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, started: Instant::now(), before, total, last_plain: None, silent: false }
    }

    /// Of a match of which nothing is to be shown but what goes wrong.
    #[cfg(feature = "tune")]
    pub fn silent() -> Self {
        Self { bar: None, started: Instant::now(), before: 0, total: 0, last_plain: None, silent: true }
    }

    /// Shows how it stands.
    pub fn update(&mut self, standings: &Standings, sprt: Option<(&Sprt, &Pentanomial)>) {
        if self.silent {
            return;
        }
        let last = standings.games >= self.total;
        if self.bar.is_none() && !last && self.last_plain.is_some_and(|at| at.elapsed() < PLAIN_INTERVAL) {
            return;
        }
        let text = self.text(standings, sprt);
        match &self.bar {
            Some(bar) => {
                bar.set_position(u64::from(standings.games));
                bar.set_message(text);
            }
            None => {
                self.last_plain = Some(Instant::now());
                eprintln!("{text}");
            }
        }
    }

    fn text(&self, standings: &Standings, sprt: Option<(&Sprt, &Pentanomial)>) -> String {
        let mut parts = vec![format!("{}/{}", standings.games, self.total)];
        if let Some(first) = standings.engines.first() {
            let elo = first.pairs.elo();
            parts.push(format!("{} +{} ={} -{}", first.name, first.wins, first.draws, first.losses));
            parts.push(format!("Elo {:+.1} [{:+.1}, {:+.1}]", elo.value, elo.low, elo.high));
        }
        if let Some((sprt, sample)) = sprt {
            let (low, high) = sprt.bounds();
            parts.push(format!("LLR {:+.2} ({low:.2}, {high:.2})", sprt.llr(sample)));
        }
        let played = standings.games.saturating_sub(self.before);
        if played > 0 && standings.games < self.total {
            let left =
                self.started.elapsed().as_secs_f64() / f64::from(played) * f64::from(self.total - standings.games);
            // A test usually ends long before all of its games are played.
            parts.push(format!("{}{} left", if sprt.is_some() { "at most " } else { "" }, hours(left as u64)));
        }
        parts.join("  ")
    }

    /// Prints lines without disturbing the moving one.
    pub fn note(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| eprintln!("{text}")),
            None => eprintln!("{text}"),
        }
    }

    /// Takes the moving line away.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

fn hours(seconds: u64) -> String {
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 { format!("{hours}:{minutes:02}:{seconds:02}") } else { format!("{minutes}:{seconds:02}") }
}

#[cfg(test)]
mod tests {
    use super::super::record::tests::game;
    use super::super::record::{GameResult, Reason};
    use super::super::sprt::Model;
    use super::*;

    #[test]
    fn the_line_tells_games_score_elo_and_llr() {
        let progress = Progress::new(4, 0);
        let mut standings = Standings::new(["A", "B"]);
        standings.add(&game(1, GameResult::SenteWins, Reason::Checkmate));
        standings.add(&game(2, GameResult::Draw, Reason::MaxPlies));
        let sprt = Sprt { elo0: 0.0, elo1: 5.0, alpha: 0.05, beta: 0.05, model: Model::Logistic };
        let text = progress.text(&standings, Some((&sprt, &standings.engines[0].pairs)));
        for part in ["2/4", "A +1 =1 -0", "Elo +190.8", "LLR +", "left"] {
            assert!(text.contains(part), "{text}");
        }
    }

    #[test]
    fn times_are_readable() {
        assert_eq!((hours(59).as_str(), hours(3661).as_str()), ("0:59", "1:01:01"));
    }
}
