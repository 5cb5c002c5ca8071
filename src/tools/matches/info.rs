//! What an engine says about its search.

use std::fmt;
use std::str::FromStr;

use rsshogi_usi::{InfoScore, MateScore, ScoreValue, UsiCommand, parse_line};
use serde::{Deserialize, Serialize};

use super::adjudication::score_number;

/// A score as USI writes it: `cp 31`, `mate 5`, `mate -`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Score(pub ScoreValue);

impl Score {
    /// One number: centipawns, and beyond them mates.
    pub fn number(&self) -> i32 {
        score_number(&self.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            ScoreValue::Cp(cp) => write!(f, "cp {cp}"),
            ScoreValue::Mate(MateScore::Ply(ply)) => write!(f, "mate {ply}"),
            ScoreValue::Mate(MateScore::UnknownWin) => f.write_str("mate +"),
            ScoreValue::Mate(MateScore::UnknownLose) => f.write_str("mate -"),
        }
    }
}

impl FromStr for Score {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match parse_line(&format!("info score {text}")) {
            Ok(UsiCommand::Info(info)) => info.score.map(|score| Self(score.value)),
            _ => None,
        }
        .ok_or_else(|| format!("'{text}' is no score"))
    }
}

impl TryFrom<String> for Score {
    type Error = String;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Score> for String {
    fn from(score: Score) -> Self {
        score.to_string()
    }
}

/// The last word of a search about itself, gathered from its `info` lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Thought {
    /// The score of the best line, from the side of the engine; a bound only if there was nothing exact.
    pub score: Option<Score>,
    /// The depth of that line.
    pub depth: Option<u32>,
    /// Nodes searched.
    pub nodes: Option<u64>,
    exact: bool,
}

impl Thought {
    /// Takes up a line; lines that are no `info` say nothing.
    pub fn read(&mut self, line: &str) {
        let line = line.trim_start();
        if !line.starts_with("info") {
            return;
        }
        match parse_line(line) {
            Ok(UsiCommand::Info(info)) => {
                self.nodes = info.nodes.or(self.nodes);
                // Second best lines and remarks about single moves say nothing about the move to come.
                if info.multipv.is_none_or(|number| number <= 1) {
                    self.take(info.score, info.depth);
                }
            }
            _ => self.read_loosely(line),
        }
    }

    fn take(&mut self, score: Option<InfoScore>, depth: Option<u32>) {
        let Some(score) = score else { return };
        let exact = score.bound.is_none();
        if exact || !self.exact {
            self.exact = exact;
            self.score = Some(Score(score.value));
            self.depth = depth.or(self.depth);
        }
    }

    /// Takes what can be read from a line that has a field of an unexpected form.
    fn read_loosely(&mut self, line: &str) {
        let words: Vec<_> = line.split_whitespace().take_while(|word| !["pv", "string"].contains(word)).collect();
        let after = |key: &str| words.iter().position(|word| *word == key).and_then(|at| words.get(at + 1)).copied();
        if let Some(nodes) = after("nodes").and_then(|word| word.parse().ok()) {
            self.nodes = Some(nodes);
        }
        if after("multipv").is_some_and(|number| number != "1") {
            return;
        }
        let score = words.iter().position(|word| *word == "score").map(|at| words[at + 1..].iter().take(2).copied());
        if let Some(score) = score.and_then(|words| words.collect::<Vec<_>>().join(" ").parse::<Score>().ok()) {
            self.take(Some(InfoScore::new(score.0)), after("depth").and_then(|word| word.parse().ok()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thought(lines: &[&str]) -> (Option<String>, Option<u32>, Option<u64>) {
        let mut thought = Thought::default();
        lines.iter().for_each(|line| thought.read(line));
        (thought.score.map(|score| score.to_string()), thought.depth, thought.nodes)
    }

    #[test]
    fn the_last_exact_score_counts() {
        let lines = [
            "info depth 7 score cp 20 nodes 100 pv 2e5b",
            "info depth 8 score cp 90 lowerbound nodes 150 pv 2e5b",
            "info depth 8 currmove 3e3d",
            "info string score cp 9999",
            "info nodes 180 time 3",
        ];
        assert_eq!(thought(&lines), (Some("cp 20".into()), Some(7), Some(180)));
        assert_eq!(thought(&lines[1..2]), (Some("cp 90".into()), Some(8), Some(150)));
    }

    #[test]
    fn only_the_best_of_several_lines_counts() {
        let lines = ["info multipv 1 depth 3 score mate 5 pv 2e5b", "info multipv 2 depth 3 score cp -40 pv 3e3d"];
        assert_eq!(thought(&lines), (Some("mate 5".into()), Some(3), None));
    }

    #[test]
    fn lines_of_a_wrong_form_give_what_they_have() {
        let line = "info depth 5 seldepth x score mate -3 nodes 77 nps 1.5e6 pv 2e5b";
        assert_eq!(thought(&[line]), (Some("mate -3".into()), Some(5), Some(77)));
        assert_eq!(thought(&["info depth 5 score cp", "info", "information", "", "\u{fffd}"]), (None, None, None));
        assert_eq!(thought(&["info score cp 1.5 depth 2 nodes -4"]), (None, None, None));
    }

    #[test]
    fn scores_read_back_as_they_print() {
        for text in ["cp 0", "cp -31", "mate 5", "mate -2", "mate +", "mate -"] {
            assert_eq!(text.parse::<Score>().map(|score| score.to_string()), Ok(text.to_owned()));
        }
        assert!("cp".parse::<Score>().is_err() && "31".parse::<Score>().is_err());
    }
}
