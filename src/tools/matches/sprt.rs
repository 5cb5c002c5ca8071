//! The sequential probability ratio test that stops a match once it has decided.
//!
//! The test is the generalised one (GSPRT) on pentanomial pairs with exact maximum likelihoods: M. Van den Bergh,
//! *Comments on Normalized Elo*, <https://www.cantate.be/Fishtest/normalized_elo_practical.pdf>, and *The generalized
//! maximum likelihood ratio for the expectation value of a distribution*,
//! <https://www.cantate.be/Fishtest/support_MLE_multinomial.pdf>.

use clap::ValueEnum;
use serde::{Deserialize, Serialize};

use super::stats::{Pentanomial, score_of_elo};

/// In which unit the bounds of the test are meant.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Usual Elo: the expected score decides.
    #[default]
    Logistic,
    /// Normalised Elo: the expected score in standard deviations of a game decides, so that the length of the test does
    /// not depend on how drawish the game is.
    Normalized,
}

/// The hypotheses and the error rates.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Sprt {
    /// Elo under H0.
    pub elo0: f64,
    /// Elo under H1, above `elo0`.
    pub elo1: f64,
    /// Probability of accepting H1 although H0 holds, in (0, 0.5).
    pub alpha: f64,
    /// Probability of accepting H0 although H1 holds, in (0, 0.5).
    pub beta: f64,
    /// The unit of the two.
    pub model: Model,
}

/// Where a test stands.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Verdict {
    /// `elo0` is accepted: the change is no gain.
    H0,
    /// `elo1` is accepted.
    H1,
    /// More games are needed.
    #[serde(rename = "undecided")]
    Undecided,
}

/// Elo per unit of Napierian log-odds, and so of normalised Elo per unit of t-value.
const ELO_PER_UNIT: f64 = 800.0 / std::f64::consts::LN_10;

/// The scores a pair can have, 0 to 1 for a game.
const SCORES: [f64; 5] = [0.0, 0.25, 0.5, 0.75, 1.0];

type Distribution = [f64; 5];

impl Sprt {
    /// The bounds of the log-likelihood ratio: at or below the first H0 is accepted, at or above the second H1.
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of H1 to H0 given those pairs; 0 without pairs, never NaN or infinite.
    pub fn llr(&self, sample: &Pentanomial) -> f64 {
        if sample.pairs() == 0 {
            return 0.0;
        }
        // A result that has not occurred yet is not impossible.
        let counts = sample.0.map(|count| f64::from(count).max(1e-3));
        let pairs: f64 = counts.iter().sum();
        let observed = counts.map(|count| count / pairs);
        let fit = |elo: f64| match self.model {
            Model::Logistic => with_mean(&SCORES, &observed, score_of_elo(elo)),
            // A pair of games varies half as much as a game, hence the root of two.
            Model::Normalized => with_t_value(&observed, elo / ELO_PER_UNIT * std::f64::consts::SQRT_2),
        };
        let (h0, h1) = (fit(self.elo0), fit(self.elo1));
        let ratio: f64 = (0..5).map(|i| observed[i] * (h1[i] / h0[i]).ln()).sum();
        let llr = pairs * ratio;
        if llr.is_finite() { llr } else { 0.0 }
    }

    /// Where the test stands after those pairs.
    pub fn verdict(&self, sample: &Pentanomial) -> Verdict {
        let (low, high) = self.bounds();
        let llr = self.llr(sample);
        if llr >= high {
            Verdict::H1
        } else if llr <= low {
            Verdict::H0
        } else {
            Verdict::Undecided
        }
    }
}

/// The most likely distribution over `values` with the given mean, after `observed` was seen (proposition 1.1 of the paper
/// on expectation values). The mean must lie strictly between the extreme values.
fn with_mean(values: &[f64; 5], observed: &Distribution, mean: f64) -> Distribution {
    let lowest = values.iter().copied().fold(f64::INFINITY, f64::min) - mean;
    let highest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max) - mean;
    if lowest >= 0.0 || highest <= 0.0 {
        return *observed;
    }
    // The slope falls from +infinity to -infinity between the two poles, so that halving finds its one zero.
    let slope = |theta: f64| -> f64 {
        (0..5).map(|i| observed[i] * (values[i] - mean) / (1.0 + theta * (values[i] - mean))).sum()
    };
    let (mut low, mut high) = (-1.0 / highest, -1.0 / lowest);
    for _ in 0..100 {
        let middle = 0.5 * (low + high);
        if slope(middle) > 0.0 { low = middle } else { high = middle }
    }
    let theta = 0.5 * (low + high);
    std::array::from_fn(|i| observed[i] / (1.0 + theta * (values[i] - mean)))
}

/// The most likely distribution whose mean is `t` standard deviations above one half (section 4 of the paper on
/// normalised Elo: each step solves the condition made linear at the distribution of the step before).
fn with_t_value(observed: &Distribution, t: f64) -> Distribution {
    let mut fitted = [0.2; 5];
    for _ in 0..50 {
        let mean: f64 = (0..5).map(|i| fitted[i] * SCORES[i]).sum();
        let variance: f64 = (0..5).map(|i| fitted[i] * (SCORES[i] - mean).powi(2)).sum();
        let sigma = variance.sqrt().max(1e-9);
        let values = SCORES.map(|score| score - 0.5 - t * sigma * (1.0 + ((mean - score) / sigma).powi(2)) / 2.0);
        let next = with_mean(&values, observed, 0.0);
        let change = (0..5).map(|i| (next[i] - fitted[i]).abs()).fold(0.0, f64::max);
        fitted = next;
        if change < 1e-9 {
            break;
        }
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(elo0: f64, elo1: f64, model: Model) -> Sprt {
        Sprt { elo0, elo1, alpha: 0.05, beta: 0.05, model }
    }

    fn near(a: f64, b: f64, tolerance: f64) -> bool {
        (a - b).abs() <= tolerance
    }

    #[test]
    fn bounds_are_walds() {
        let (low, high) = test(0.0, 5.0, Model::Logistic).bounds();
        assert!(near(low, -2.944, 1e-3) && near(high, 2.944, 1e-3));
    }

    #[test]
    fn the_ratio_agrees_with_the_normal_approximation_for_many_pairs() {
        // LLR ≈ N (s1 - s0)(2 mean - s0 - s1) / (2 variance), the approximation of the GSPRT page.
        let sample = Pentanomial([200, 1000, 2500, 1100, 230]);
        let sprt = test(0.0, 5.0, Model::Logistic);
        let (s0, s1) = (score_of_elo(0.0), score_of_elo(5.0));
        let expected =
            f64::from(sample.pairs()) * (s1 - s0) * (2.0 * sample.mean() - s0 - s1) / (2.0 * sample.variance());
        assert!(near(sprt.llr(&sample), expected, 0.02 * expected.abs() + 0.02), "{} {expected}", sprt.llr(&sample));
    }

    #[test]
    fn the_normalised_ratio_agrees_with_the_t_value_for_many_pairs() {
        // With the t-value as the parameter, LLR ≈ N (t1 - t0)(2 t - t0 - t1) / 2 for small t.
        let sample = Pentanomial([200, 1000, 2500, 1100, 230]);
        let sprt = test(0.0, 5.0, Model::Normalized);
        let t = |nelo: f64| nelo / ELO_PER_UNIT * std::f64::consts::SQRT_2;
        let seen = (sample.mean() - 0.5) / sample.variance().sqrt();
        let expected = f64::from(sample.pairs()) * (t(5.0) - t(0.0)) * (2.0 * seen - t(0.0) - t(5.0)) / 2.0;
        assert!(near(sprt.llr(&sample), expected, 0.02 * expected.abs() + 0.02), "{} {expected}", sprt.llr(&sample));
    }

    #[test]
    fn fitted_distributions_meet_their_condition() {
        let observed = [0.1, 0.2, 0.3, 0.3, 0.1];
        for mean in [0.3, 0.5, 0.62] {
            let fitted = with_mean(&SCORES, &observed, mean);
            assert!(near(fitted.iter().sum(), 1.0, 1e-9));
            assert!(near((0..5).map(|i| fitted[i] * SCORES[i]).sum(), mean, 1e-9));
        }
        for t in [-0.2, 0.0, 0.15] {
            let fitted = with_t_value(&observed, t);
            let mean: f64 = (0..5).map(|i| fitted[i] * SCORES[i]).sum();
            let variance: f64 = (0..5).map(|i| fitted[i] * (SCORES[i] - mean).powi(2)).sum();
            assert!(near((mean - 0.5) / variance.sqrt(), t, 1e-6));
        }
    }

    #[test]
    fn clear_matches_are_decided() {
        for model in [Model::Logistic, Model::Normalized] {
            let sprt = test(0.0, 10.0, model);
            assert_eq!(sprt.verdict(&Pentanomial([100, 400, 900, 600, 300])), Verdict::H1);
            assert_eq!(sprt.verdict(&Pentanomial([300, 600, 900, 400, 100])), Verdict::H0);
            assert_eq!(sprt.verdict(&Pentanomial([1, 2, 3, 2, 1])), Verdict::Undecided);
        }
    }

    #[test]
    fn extreme_samples_give_numbers() {
        for model in [Model::Logistic, Model::Normalized] {
            for counts in
                [[0; 5], [1, 0, 0, 0, 0], [0, 0, 1, 0, 0], [0, 0, 0, 0, 1], [0, 0, 0, 0, 3000], [0, 0, 3000, 0, 0]]
            {
                let llr = test(-3.0, 5.0, model).llr(&Pentanomial(counts));
                assert!(llr.is_finite(), "{model:?} {counts:?} {llr}");
            }
        }
        assert_eq!(test(0.0, 5.0, Model::Logistic).llr(&Pentanomial::default()), 0.0);
    }

    #[test]
    fn one_sided_matches_lean_the_right_way() {
        for model in [Model::Logistic, Model::Normalized] {
            let sprt = test(0.0, 50.0, model);
            assert!(sprt.llr(&Pentanomial([0, 0, 0, 0, 40])) > 1.0);
            assert!(sprt.llr(&Pentanomial([40, 0, 0, 0, 0])) < -1.0);
        }
    }
}
