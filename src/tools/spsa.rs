//! Simultaneous perturbation stochastic approximation: improves many numbers at once by games between two settings.
//!
//! J. C. Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization", IEEE
//! Transactions on Aerospace and Electronic Systems 34 (1998), with the schedule that fishtest uses for Stockfish. In
//! iteration `k` of `N` every number is moved by `c(k)`, up or down by lot, and the other way for the opponent. The
//! result of their games then moves it by `r(k) * c(k) * result` towards the side that won:
//!
//! ```text
//!   c(k) = c_end * (N / k)^0.101
//!   r(k) = a(k) / c(k)^2,   a(k) = r_end * c_end^2 * ((A + N) / (A + k))^0.602,   A = N / 10
//! ```
//!
//! So `c_end` is the perturbation at the end, in units of the number, and `r_end` the share of it by which the last
//! won pair of games moves it.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// How fast steps get smaller.
const ALPHA: f64 = 0.602;
/// How fast perturbations get smaller.
const GAMMA: f64 = 0.101;
/// The share of the iterations by which the decline of the steps is delayed.
const STABILITY: f64 = 0.1;

/// One number and what has become of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Number {
    /// Its name.
    pub name: String,
    /// Where it began.
    pub start: i32,
    /// The least value it may have.
    pub min: i32,
    /// The greatest.
    pub max: i32,
    /// The perturbation at the end; at least one half, since settings are whole numbers.
    pub c_end: f64,
    /// The learning rate at the end.
    pub r_end: f64,
    /// What it is now, within `min..=max`.
    pub theta: f64,
}

impl Number {
    /// The whole number next to it.
    pub fn value(&self) -> i32 {
        self.theta.round() as i32
    }

    fn clamp(&self, theta: f64) -> f64 {
        theta.clamp(self.min.into(), self.max.into())
    }
}

/// A run of the method. Everything that is to come depends on what is in it alone, so a run that was saved goes on as if
/// it had not been broken off.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Spsa {
    /// Iterations from beginning to end.
    pub iterations: u64,
    /// Iterations done.
    pub done: u64,
    /// Where the lots come from.
    pub seed: u64,
    /// The numbers.
    pub numbers: Vec<Number>,
}

/// Two settings to be compared.
#[derive(Clone, PartialEq, Debug)]
pub struct Trial {
    /// The numbers moved one way, in the order of [`Spsa::numbers`].
    pub plus: Vec<i32>,
    /// And the other way.
    pub minus: Vec<i32>,
    /// What a result of 1 for `plus` adds to each number.
    steps: Vec<f64>,
}

impl Spsa {
    /// The comparison that is next, or `None` at the end. The same until [`Spsa::learn`] is called.
    pub fn trial(&self) -> Option<Trial> {
        if self.done >= self.iterations {
            return None;
        }
        let (k, n) = ((self.done + 1) as f64, self.iterations as f64);
        let delay = STABILITY * n;
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(self.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ self.done);
        let mut trial = Trial { plus: Vec::new(), minus: Vec::new(), steps: Vec::new() };
        for number in &self.numbers {
            let c = number.c_end * (n / k).powf(GAMMA);
            let a = number.r_end * number.c_end.powi(2) * ((delay + n) / (delay + k)).powf(ALPHA);
            let flip = if rng.random::<bool>() { 1.0 } else { -1.0 };
            let moved = |direction: f64| number.clamp(number.theta + direction * flip * c).round() as i32;
            trial.plus.push(moved(1.0));
            trial.minus.push(moved(-1.0));
            trial.steps.push(a / c.powi(2) * c * flip);
        }
        Some(trial)
    }

    /// Learns from a trial: `result` is what `plus` won less what it lost, in games for each pair of games, −2 to 2.
    pub fn learn(&mut self, trial: &Trial, result: f64) {
        for (number, step) in self.numbers.iter_mut().zip(&trial.steps) {
            number.theta = number.clamp(number.theta + step * result);
        }
        self.done += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(name: &str, start: i32, c_end: f64) -> Number {
        Number { name: name.to_owned(), start, min: 0, max: 200, c_end, r_end: 0.02, theta: start.into() }
    }

    fn run(iterations: u64) -> Spsa {
        let numbers = vec![number("a", 20, 8.0), number("b", 150, 8.0), number("c", 100, 4.0)];
        Spsa { iterations, done: 0, seed: 3, numbers }
    }

    /// The result of a pair of games that the better setting wins more often: the noise is about as large as the
    /// greatest difference.
    fn play(trial: &Trial, rng: &mut Xoshiro256PlusPlus) -> f64 {
        let badness = |values: &[i32]| {
            let squares = values.iter().zip([80.0, 90.0, 40.0]).map(|(&value, best)| (f64::from(value) - best).powi(2));
            squares.sum::<f64>() / 3_000.0
        };
        let lead = badness(&trial.minus) - badness(&trial.plus);
        let mut game = || if rng.random::<f64>() < 1.0 / (1.0 + (-lead).exp()) { 1.0 } else { -1.0 };
        game() + game()
    }

    #[test]
    fn it_finds_the_bottom_of_a_noisy_bowl() {
        let mut spsa = run(8_000);
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(11);
        while let Some(trial) = spsa.trial() {
            let result = play(&trial, &mut rng);
            spsa.learn(&trial, result);
        }
        for (number, best) in spsa.numbers.iter().zip([80.0, 90.0, 40.0]) {
            assert!((number.theta - best).abs() < 12.0, "{number:?}");
        }
        assert_eq!(spsa.done, 8_000);
    }

    #[test]
    fn the_schedule_ends_at_the_values_that_were_asked_for() {
        let mut spsa = Spsa { done: 999, ..run(1_000) };
        let trial = spsa.trial().expect("the last one");
        for (index, number) in spsa.numbers.iter().enumerate() {
            assert_eq!((trial.plus[index] - number.start).abs(), number.c_end as i32);
            assert_eq!(trial.plus[index] - number.start, number.start - trial.minus[index]);
            assert!((trial.steps[index].abs() - number.r_end * number.c_end).abs() < 1e-9);
        }
        spsa.learn(&trial, 2.0);
        assert!((spsa.numbers[0].theta - 20.0).abs() - 2.0 * 0.02 * 8.0 < 1e-9);
        assert_eq!(spsa.trial(), None);
        let first = run(1_000).trial().expect("the first one");
        assert!(first.steps[0].abs() > trial.steps[0].abs());
        assert!((first.plus[0] - 20).abs() > 8);
    }

    #[test]
    fn settings_stay_within_bounds_and_differ() {
        let mut spsa = run(300);
        spsa.numbers.push(number("edge", 0, 0.5));
        spsa.numbers.push(number("other edge", 200, 30.0));
        while let Some(trial) = spsa.trial() {
            for (plus, minus) in trial.plus.iter().zip(&trial.minus) {
                assert!((0..=200).contains(plus) && (0..=200).contains(minus) && plus != minus, "{trial:?}");
            }
            spsa.learn(&trial, 2.0);
            assert!(spsa.numbers.iter().all(|number| (0.0..=200.0).contains(&number.theta)));
        }
    }

    #[test]
    fn a_run_goes_on_from_text_as_if_it_had_not_been_broken_off() {
        let (mut whole, mut broken) = (run(200), run(200));
        for iteration in 0..200 {
            let trial = whole.trial().expect("not yet the end");
            let result = f64::from(iteration % 5 - 2);
            whole.learn(&trial, result);
            let text = serde_json::to_string(&broken).expect("text");
            broken = serde_json::from_str(&text).expect("a run");
            let same = broken.trial().expect("not yet the end");
            assert_eq!(trial, same);
            broken.learn(&same, result);
        }
        assert_eq!(whole, broken);
    }
}
