//! Who meets whom, with which opening and which colours.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

/// Which engines meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Format {
    /// Everybody meets everybody.
    #[default]
    RoundRobin,
    /// The first engine meets each of the others.
    Gauntlet,
}

/// One game to be played.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Number of the game in the match, from 0.
    pub number: u32,
    /// Number of the pair of games that share opening and engines, from 0.
    pub pair: u32,
    /// Which opening, from 0; to be taken modulo the number of openings there are.
    pub opening: u32,
    /// The engines of Black and White by their index.
    pub players: [usize; 2],
}

/// All games of a match, computed on demand.
///
/// Round by round every pairing plays one opening twice, with colours changed. So the games played so far are always a
/// fair sample, whenever the match is stopped.
#[derive(Clone, Debug)]
pub struct Schedule {
    pairings: Vec<(usize, usize)>,
    games: u32,
}

impl Schedule {
    /// A match of that many engines (at least 2) with `games` games in each pairing. An odd number leaves the last pair
    /// of games incomplete.
    pub fn new(engines: usize, format: Format, games: u32) -> Self {
        let pairings = match format {
            Format::Gauntlet => (1..engines).map(|other| (0, other)).collect(),
            Format::RoundRobin => {
                (0..engines).flat_map(|first| (first + 1..engines).map(move |second| (first, second))).collect()
            }
        };
        Self { pairings, games }
    }

    /// Number of games.
    pub fn len(&self) -> u32 {
        self.games.saturating_mul(self.pairings())
    }

    /// Whether there is nothing to play.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of pairs of games that are complete when all is played.
    pub fn complete_pairs(&self) -> u32 {
        (self.games / 2).saturating_mul(self.pairings())
    }

    fn pairings(&self) -> u32 {
        u32::try_from(self.pairings.len()).unwrap_or(u32::MAX)
    }

    /// The game of that number, or `None` behind the last one.
    pub fn slot(&self, number: u32) -> Option<Slot> {
        if number >= self.len() {
            return None;
        }
        let round_len = 2 * self.pairings();
        let (round, within) = (number / round_len, number % round_len);
        // The last round of an odd number of games holds one game of each pairing.
        let single = round == self.games / 2;
        let (pairing, second_game) = if single { (within, false) } else { (within / 2, within % 2 == 1) };
        let (first, second) = *self.pairings.get(pairing as usize)?;
        Some(Slot {
            number,
            pair: round * self.pairings() + pairing,
            opening: round,
            players: if second_game { [second, first] } else { [first, second] },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_engines_play_each_opening_with_both_colours() {
        let schedule = Schedule::new(2, Format::RoundRobin, 4);
        let slots: Vec<_> = (0..).map_while(|number| schedule.slot(number)).collect();
        assert_eq!(slots.len(), 4);
        let shape: Vec<_> = slots.iter().map(|slot| (slot.pair, slot.opening, slot.players)).collect();
        assert_eq!(shape, [(0, 0, [0, 1]), (0, 0, [1, 0]), (1, 1, [0, 1]), (1, 1, [1, 0])]);
    }

    #[test]
    fn every_pairing_gets_the_same_number_of_games_and_colours() {
        for (format, pairings) in [(Format::RoundRobin, 6), (Format::Gauntlet, 3)] {
            for games in 1..8 {
                let schedule = Schedule::new(4, format, games);
                let slots: Vec<_> = (0..).map_while(|number| schedule.slot(number)).collect();
                assert_eq!(slots.len() as u32, schedule.len());
                assert_eq!(schedule.len(), games * pairings);
                for a in 0..4 {
                    for b in a + 1..4 {
                        let as_black = slots.iter().filter(|slot| slot.players == [a, b]).count() as u32;
                        let as_white = slots.iter().filter(|slot| slot.players == [b, a]).count() as u32;
                        if format == Format::Gauntlet && a != 0 {
                            assert_eq!((as_black, as_white), (0, 0));
                        } else {
                            assert_eq!((as_black, as_white), (games.div_ceil(2), games / 2));
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn pairs_are_complete_except_the_last_of_an_odd_number() {
        let schedule = Schedule::new(3, Format::RoundRobin, 5);
        let mut sizes = std::collections::BTreeMap::new();
        for slot in (0..).map_while(|number| schedule.slot(number)) {
            *sizes.entry(slot.pair).or_insert(0) += 1;
        }
        assert_eq!(sizes.values().filter(|size| **size == 2).count() as u32, schedule.complete_pairs());
        assert_eq!(sizes.values().filter(|size| **size == 1).count(), 3);
    }
}
