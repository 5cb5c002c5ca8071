//! AdamW (Ilya Loshchilov, Frank Hutter, "Decoupled Weight Decay Regularization", 2019) and its learning rate.

use std::f32::consts::PI;

use bytemuck::Zeroable;
use rayon::prelude::*;

use super::model::{Effective, Gradients, Parameters, TAIL_ROWS, Wide, feature_limit, output_limit, rows_per_feature};
use crate::eval::features::Features;
use crate::eval::network::{OUTPUT_BUCKETS, WIDTH};
use crate::eval::simd::{Kernel, Level};
use crate::variant::Variant;

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;

/// Moments of the gradients.
#[derive(Clone, Debug)]
pub struct Optimizer {
    /// First moments, one row for each of [`Parameters`].
    pub first: Vec<Wide>,
    /// Second moments.
    pub second: Vec<Wide>,
    /// Steps done.
    pub steps: u64,
    level: Level,
}

/// The learning rate: rises over the first steps, then falls along half a cosine to `last`.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// The highest rate.
    pub rate: f32,
    /// The rate of the last step.
    pub last: f32,
    /// Steps of the rise.
    pub warm_up: u64,
    /// All steps.
    pub steps: u64,
}

impl Schedule {
    /// The rate at that step, from 0.
    pub fn at(&self, step: u64) -> f32 {
        if step < self.warm_up {
            return self.rate * (step + 1) as f32 / self.warm_up as f32;
        }
        let done = (step - self.warm_up) as f32 / (self.steps.saturating_sub(self.warm_up).max(1)) as f32;
        self.last + (self.rate - self.last) * (1.0 + (PI * done.min(1.0)).cos()) / 2.0
    }
}

/// What is the same for all rows of a step.
#[derive(Clone, Copy, Debug)]
struct Step {
    rate: f32,
    decay: f32,
    /// Divides sums of gradients by the number of positions.
    scale: f32,
    first_correction: f32,
    second_correction: f32,
}

#[derive(Debug)]
struct Moments<'a> {
    values: &'a mut [Wide],
    first: &'a mut [Wide],
    second: &'a mut [Wide],
}

impl Moments<'_> {
    #[inline(always)]
    fn update(&mut self, row: usize, gradient: &Wide, step: &Step, limit: f32) {
        let (values, first, second) = (&mut self.values[row].0, &mut self.first[row].0, &mut self.second[row].0);
        for i in 0..WIDTH {
            let gradient = gradient.0[i] * step.scale;
            first[i] = BETA1 * first[i] + (1.0 - BETA1) * gradient;
            second[i] = BETA2 * second[i] + (1.0 - BETA2) * gradient * gradient;
            let direction = first[i] * step.first_correction / ((second[i] * step.second_correction).sqrt() + EPSILON);
            values[i] = (values[i] - step.rate * (direction + step.decay * values[i])).clamp(-limit, limit);
        }
    }
}

/// Rows of one feature, or the tail, with the gradients of all threads.
struct Chunk<'a> {
    moments: Moments<'a>,
    effective: &'a mut [Wide],
    gradients: Vec<(&'a mut [Wide], &'a mut [bool])>,
    step: Step,
    /// The largest value of the rows.
    limit: f32,
    is_tail: bool,
}

impl Chunk<'_> {
    /// The sum of the gradients of a row, which are zero from then on.
    #[inline(always)]
    fn take_gradient(&mut self, row: usize) -> Wide {
        let mut sum = Wide::zeroed();
        for (rows, touched) in &mut self.gradients {
            if std::mem::take(&mut touched[row]) {
                for i in 0..WIDTH {
                    sum.0[i] += rows[row].0[i];
                }
                rows[row] = Wide::zeroed();
            }
        }
        sum
    }
}

impl Kernel for Chunk<'_> {
    type Output = ();

    #[inline(always)]
    fn run(mut self) {
        if self.is_tail {
            for row in 0..TAIL_ROWS {
                let gradient = self.take_gradient(row);
                let limit = if (1..=2 * OUTPUT_BUCKETS).contains(&row) { output_limit() } else { self.limit };
                self.moments.update(row, &gradient, &self.step, limit);
                self.effective[row] = self.moments.values[row];
            }
            return;
        }
        let mut all = Wide::zeroed();
        for bucket in 0..self.effective.len() {
            let gradient = self.take_gradient(bucket);
            for i in 0..WIDTH {
                all.0[i] += gradient.0[i];
            }
            self.moments.update(bucket + 1, &gradient, &self.step, self.limit);
        }
        self.moments.update(0, &all, &self.step, self.limit);
        let (shared, own) = self.moments.values.split_at(1);
        for (effective, own) in self.effective.iter_mut().zip(own) {
            for i in 0..WIDTH {
                effective.0[i] = shared[0].0[i] + own.0[i];
            }
        }
    }
}

impl Optimizer {
    /// Before the first step.
    pub fn new<V: Variant>() -> Self {
        let zero = vec![Wide::zeroed(); Parameters::count::<V>()];
        Self { first: zero.clone(), second: zero, steps: 0, level: Level::detect() }
    }

    /// Changes parameters and effective weights by the gradients of all threads, summed over so many positions, and
    /// makes the gradients zero.
    pub fn step<V: Variant>(
        &mut self,
        parameters: &mut Parameters,
        effective: &mut Effective,
        gradients: &mut [Gradients],
        positions: usize,
        rate: f32,
        decay: f32,
    ) {
        self.steps += 1;
        let correction = |beta: f32| 1.0 / (1.0 - beta.powi(self.steps.min(1 << 20) as i32));
        let step = Step {
            rate,
            decay,
            scale: 1.0 / positions.max(1) as f32,
            first_correction: correction(BETA1),
            second_correction: correction(BETA2),
        };
        let features = Features::<V>::ROWS_PER_BUCKET;
        // A chunk for each feature; what remains after them is the tail.
        let size_of_chunk = |chunk: usize, size: usize| if chunk < features { size } else { TAIL_ROWS };
        let mut chunks = Vec::with_capacity(features + 1);
        let mut values = &mut parameters.rows[..];
        let mut first = &mut self.first[..];
        let mut second = &mut self.second[..];
        let mut weights = &mut effective.rows[..];
        let mut threads: Vec<_> =
            gradients.iter_mut().map(|thread| (&mut thread.sums.rows[..], &mut thread.touched[..])).collect();
        for chunk in 0..=features {
            let parameter_rows = size_of_chunk(chunk, rows_per_feature::<V>());
            let effective_rows = size_of_chunk(chunk, Features::<V>::KING_BUCKETS);
            chunks.push(Chunk {
                moments: Moments {
                    values: split_off(&mut values, parameter_rows),
                    first: split_off(&mut first, parameter_rows),
                    second: split_off(&mut second, parameter_rows),
                },
                effective: split_off(&mut weights, effective_rows),
                gradients: threads
                    .iter_mut()
                    .map(|(rows, touched)| (split_off(rows, effective_rows), split_off(touched, effective_rows)))
                    .collect(),
                step,
                limit: feature_limit::<V>(),
                is_tail: chunk == features,
            });
        }
        let level = self.level;
        chunks.into_par_iter().for_each(|chunk| level.run(chunk));
    }
}

/// Takes the first `count` items off the front.
fn split_off<'a, T>(items: &mut &'a mut [T], count: usize) -> &'a mut [T] {
    let (first, rest) = std::mem::take(items).split_at_mut(count);
    *items = rest;
    first
}
