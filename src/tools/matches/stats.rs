//! Elo from pairs of games.
//!
//! Two games with the same opening and colours changed are not independent, so the unit is the pair: its score is one of
//! five (0, ½, 1, 1½, 2 points), and the variance is taken over pairs. See <https://www.chessprogramming.org/Match_Statistics>
//! and M. Van den Bergh, *A practical introduction to the GSPRT*,
//! <https://www.cantate.be/Fishtest/GSPRT_approximation.pdf>, for the pentanomial model.

use statrs::distribution::{ContinuousCDF, Normal};

/// No match of sensible length tells larger differences apart, so every Elo that is printed lies between minus this and
/// this. It is the Elo of a score of 99.9 %.
pub const ELO_LIMIT: f64 = 1199.83;

/// Half the width, in standard errors, of an interval that holds the true value in 95 of 100 matches.
pub const Z95: f64 = 1.959_964;

/// How many pairs scored 0, ½, 1, 1½ and 2 points.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Pentanomial(pub [u32; 5]);

impl Pentanomial {
    /// Counts a pair by the half points it brought, 0 to 4; more counts as 4.
    pub fn add(&mut self, half_points: usize) {
        self.0[half_points.min(4)] += 1;
    }

    /// Number of pairs.
    pub fn pairs(&self) -> u32 {
        self.0.iter().sum()
    }

    /// Mean score of a game, 0 to 1; one half if there are no pairs.
    pub fn mean(&self) -> f64 {
        if self.pairs() == 0 {
            return 0.5;
        }
        let points: f64 =
            self.0.iter().zip(0..).map(|(count, quarter)| f64::from(*count) * f64::from(quarter) / 4.0).sum();
        points / f64::from(self.pairs())
    }

    /// Variance of the score of a pair, that score being 0 to 1; 0 if there are no pairs.
    pub fn variance(&self) -> f64 {
        if self.pairs() == 0 {
            return 0.0;
        }
        let mean = self.mean();
        let sum: f64 = self
            .0
            .iter()
            .zip(0..)
            .map(|(count, quarter)| f64::from(*count) * (f64::from(quarter) / 4.0 - mean).powi(2))
            .sum();
        sum / f64::from(self.pairs())
    }

    /// Standard error of the mean.
    fn standard_error(&self) -> f64 {
        f64::sqrt(self.variance() / f64::from(self.pairs()))
    }

    /// The interval that holds the true mean score with 95 %.
    ///
    /// Where all pairs had one score the sample says nothing about the variance. The largest that a score between 0 and 1
    /// can have, that of a coin, then stands in for it.
    fn interval(&self) -> (f64, f64) {
        let pairs = f64::from(self.pairs());
        if self.pairs() == 0 {
            return (0.0, 1.0);
        }
        let mean = self.mean();
        if self.variance() > 0.0 {
            let margin = Z95 * self.standard_error();
            return ((mean - margin).max(0.0), (mean + margin).min(1.0));
        }
        // Wilson's score interval for `pairs` tosses of a coin.
        let z2 = Z95 * Z95;
        let centre = (mean + z2 / (2.0 * pairs)) / (1.0 + z2 / pairs);
        let margin = Z95 / (1.0 + z2 / pairs) * f64::sqrt(mean * (1.0 - mean) / pairs + z2 / (4.0 * pairs * pairs));
        ((centre - margin).max(0.0), (centre + margin).min(1.0))
    }

    /// Elo difference with its 95 % interval, always finite and in order.
    pub fn elo(&self) -> Elo {
        let (low, high) = self.interval();
        // A clean score has no finite Elo. Take it a quarter of a point off the end.
        let edge = if self.pairs() == 0 { 0.0 } else { 0.125 / f64::from(self.pairs()) };
        let value = elo_of_score(self.mean().clamp(edge, 1.0 - edge));
        Elo { value, low: elo_of_score(low).min(value), high: elo_of_score(high).max(value) }
    }

    /// Likelihood of superiority: the probability, 0 to 1, that the true mean score is above one half. Without variance
    /// in the sample that of a coin is taken.
    pub fn los(&self) -> f64 {
        if self.pairs() == 0 {
            return 0.5;
        }
        let error = if self.variance() > 0.0 { self.standard_error() } else { 0.5 / f64::from(self.pairs()).sqrt() };
        Normal::standard().cdf((self.mean() - 0.5) / error)
    }
}

/// An Elo difference and the ends of its 95 % interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Elo {
    /// The estimate.
    pub value: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// The Elo difference at which that score, 0 to 1, is expected; within ±[`ELO_LIMIT`].
pub fn elo_of_score(score: f64) -> f64 {
    if score <= 0.0 {
        -ELO_LIMIT
    } else if score >= 1.0 {
        ELO_LIMIT
    } else {
        // Adding zero turns a negative zero into a plain one.
        (-400.0 * (1.0 / score - 1.0).log10()).clamp(-ELO_LIMIT, ELO_LIMIT) + 0.0
    }
}

/// The score, 0 to 1, expected at that Elo difference.
pub fn score_of_elo(elo: f64) -> f64 {
    1.0 / (1.0 + 10f64.powf(-elo / 400.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    #[test]
    fn elo_and_score_are_inverse() {
        for elo in [-500.0, -10.0, 0.0, 3.5, 200.0] {
            assert!(near(elo_of_score(score_of_elo(elo)), elo, 1e-9));
        }
        assert!(near(elo_of_score(0.75), 190.85, 0.01));
        assert!(near(elo_of_score(0.999), ELO_LIMIT, 0.01));
    }

    #[test]
    fn a_known_match_gives_known_numbers() {
        // Worked by hand: 100 pairs, mean 0.5375, variance 0.064219.
        let sample = Pentanomial([5, 20, 40, 25, 10]);
        assert!(near(sample.mean(), 0.5375, 1e-12));
        assert!(near(sample.variance(), 0.064_218_75, 1e-9), "{}", sample.variance());
        let elo = sample.elo();
        let margin = Z95 * f64::sqrt(0.064_218_75 / 100.0);
        assert!(near(elo.value, 26.1, 0.1), "{elo:?}");
        assert!(near(elo.low, elo_of_score(0.5375 - margin), 1e-6));
        assert!(near(elo.high, elo_of_score(0.5375 + margin), 1e-6));
        assert!(near(sample.los(), 0.930_535, 1e-5), "{}", sample.los());
    }

    #[test]
    fn the_pair_is_the_unit() {
        // The same 50 %, but pairs that always split have no variance left to doubt.
        let split = Pentanomial([0, 1, 98, 1, 0]).elo();
        let swing = Pentanomial([50, 0, 0, 0, 50]).elo();
        assert!(split.high - split.low < 10.0 && swing.high - swing.low > 60.0);
    }

    #[test]
    fn nothing_is_ever_infinite_or_out_of_order() {
        for counts in [
            [0; 5],
            [1, 0, 0, 0, 0],
            [0, 0, 1, 0, 0],
            [0, 0, 0, 0, 1],
            [0, 0, 0, 0, 5000],
            [0, 0, 900, 0, 0],
            [0, 1, 0, 0, 0],
        ] {
            let sample = Pentanomial(counts);
            let elo = sample.elo();
            for value in [elo.value, elo.low, elo.high, sample.los(), sample.mean(), sample.variance()] {
                assert!(value.is_finite(), "{counts:?}");
            }
            assert!(elo.low <= elo.value && elo.value <= elo.high, "{counts:?} {elo:?}");
            assert!(elo.low >= -ELO_LIMIT && elo.high <= ELO_LIMIT);
            assert!((0.0..=1.0).contains(&sample.los()));
        }
        assert_eq!(Pentanomial::default().elo(), Elo { value: 0.0, low: -ELO_LIMIT, high: ELO_LIMIT });
    }

    #[test]
    fn one_sided_results_are_more_certain_the_more_there_are() {
        let few = Pentanomial([0, 0, 0, 0, 2]);
        let many = Pentanomial([0, 0, 0, 0, 50]);
        assert!(few.elo().low < many.elo().low && many.elo().low > 300.0);
        assert!(few.los() < many.los());
    }

    #[test]
    fn a_mirrored_match_gives_the_mirrored_interval() {
        let (there, back) = (Pentanomial([3, 9, 30, 12, 7]).elo(), Pentanomial([7, 12, 30, 9, 3]).elo());
        assert!(near(there.value, -back.value, 1e-9) && near(there.low, -back.high, 1e-9));
    }
}
