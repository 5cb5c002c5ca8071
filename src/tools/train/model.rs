//! The network in floating point: its parameters, forward and backward.
//!
//! Each feature has one row of weights for every king bucket, and one that all buckets share, which is added to theirs
//! (a "virtual feature", Yu Nasu 2018; "factoriser" in chess). What was learned with the king on one square then helps
//! on all. The forward pass sees sums only, made once a step; what is exported are the sums.

use arrayvec::ArrayVec;
use bytemuck::{Pod, Zeroable};
use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::SeedableRng;

use super::data::Example;
use crate::eval::features::Features;
use crate::eval::network::{
    ACTIVATION_ONE, FormatError, Network, OUTPUT_BUCKETS, OUTPUT_LIMIT, OUTPUT_ONE, OUTPUT_UNIT, OutputRow, Row, WIDTH,
    Weights,
};
use crate::variant::Variant;

/// Weights of one feature in floating point, or anything of that size.
#[derive(Clone, Copy, PartialEq, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Wide(pub [f32; WIDTH]);

/// The active rows of one side.
pub type Rows = ArrayVec<u32, 48>;

/// Columns that are summed at once, held in registers.
const BLOCK: usize = 64;
/// Rows after those of the features: biases, outputs, and a row that holds the biases of the outputs.
pub const TAIL_ROWS: usize = 2 + 2 * OUTPUT_BUCKETS;
const _: () = assert!(OUTPUT_BUCKETS <= WIDTH && WIDTH.is_multiple_of(BLOCK));

/// Where the trainer keeps a feature's row: the buckets of a feature side by side.
pub fn trainer_row<V: Variant>(row: usize) -> usize {
    let (bucket, feature) = (row / Features::<V>::ROWS_PER_BUCKET, row % Features::<V>::ROWS_PER_BUCKET);
    feature * Features::<V>::KING_BUCKETS + bucket
}

/// The weights as the forward pass uses them, or their gradients: one row a feature and bucket, then the tail.
#[derive(Clone, Debug)]
pub struct Effective {
    /// All rows.
    pub rows: Vec<Wide>,
    features: usize,
}

impl Effective {
    /// All zero.
    pub fn zero<V: Variant>() -> Self {
        let features = Features::<V>::ROWS;
        Self { rows: vec![Wide::zeroed(); features + TAIL_ROWS], features }
    }

    const fn biases(&self) -> usize {
        self.features
    }

    const fn output(&self, bucket: usize, half: usize) -> usize {
        self.features + 1 + 2 * bucket + half
    }

    const fn output_biases(&self) -> usize {
        self.features + 1 + 2 * OUTPUT_BUCKETS
    }
}

/// What is learned: for each feature the shared row, then those of the buckets; then the tail.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// All rows.
    pub rows: Vec<Wide>,
}

/// Rows of [`Parameters`] for one feature.
pub const fn rows_per_feature<V: Variant>() -> usize {
    Features::<V>::KING_BUCKETS + 1
}

impl Parameters {
    /// Number of rows.
    pub const fn count<V: Variant>() -> usize {
        Features::<V>::ROWS_PER_BUCKET * rows_per_feature::<V>() + TAIL_ROWS
    }

    /// Small random numbers to begin with.
    pub fn random<V: Variant>(seed: u64) -> Self {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut rows = vec![Wide::zeroed(); Self::count::<V>()];
        let mut fill = |row: &mut Wide, from: f32, to: f32| row.0.fill_with(|| rng.random_range(from..to));
        let tail = rows.len() - TAIL_ROWS;
        for shared in rows[..tail].iter_mut().step_by(rows_per_feature::<V>()) {
            fill(shared, -0.15, 0.15);
        }
        // Squared activations have no slope at zero: neurons begin with something to give.
        fill(&mut rows[tail], 0.1, 0.5);
        for output in &mut rows[tail + 1..=tail + 2 * OUTPUT_BUCKETS] {
            fill(output, -0.08, 0.08);
        }
        Self { rows }
    }

    /// The sums that the forward pass uses.
    pub fn effective<V: Variant>(&self) -> Effective {
        let mut effective = Effective::zero::<V>();
        let tail = self.rows.len() - TAIL_ROWS;
        let buckets = Features::<V>::KING_BUCKETS;
        for (from, to) in self.rows[..tail].chunks(buckets + 1).zip(effective.rows.chunks_mut(buckets)) {
            for (row, own) in to.iter_mut().zip(&from[1..]) {
                for i in 0..WIDTH {
                    row.0[i] = from[0].0[i] + own.0[i];
                }
            }
        }
        let features = effective.features;
        effective.rows[features..].copy_from_slice(&self.rows[tail..]);
        effective
    }
}

/// Gradients of one thread.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// By row of [`Effective`].
    pub sums: Effective,
    /// Rows that are not zero.
    pub touched: Vec<bool>,
    /// Sum of the losses.
    pub loss: f64,
}

impl Gradients {
    /// All zero.
    pub fn zero<V: Variant>() -> Self {
        let sums = Effective::zero::<V>();
        Self { touched: vec![false; sums.rows.len()], sums, loss: 0.0 }
    }
}

#[inline(always)]
fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// What the first layer makes of a position, and the output before the sigmoid.
struct Activations {
    sums: [Wide; 2],
    output: f32,
}

#[inline(always)]
fn sum_rows(weights: &Effective, rows: &Rows) -> Wide {
    let mut target = Wide::zeroed();
    let biases = &weights.rows[weights.biases()];
    for start in (0..WIDTH).step_by(BLOCK) {
        let mut sums = [0.0; BLOCK];
        sums.copy_from_slice(&biases.0[start..start + BLOCK]);
        for &row in rows {
            let row = &weights.rows[row as usize].0[start..start + BLOCK];
            for i in 0..BLOCK {
                sums[i] += row[i];
            }
        }
        target.0[start..start + BLOCK].copy_from_slice(&sums);
    }
    target
}

#[inline(always)]
fn add_to_row(target: &mut Wide, addend: &Wide) {
    for i in 0..WIDTH {
        target.0[i] += addend.0[i];
    }
}

#[inline(always)]
fn activations(weights: &Effective, example: &Example) -> Activations {
    let sums = [sum_rows(weights, &example.rows[0]), sum_rows(weights, &example.rows[1])];
    // Many partial sums, so that vectors can hold them.
    let mut partial = [0.0; 32];
    for (half, sums) in sums.iter().enumerate() {
        let outputs = &weights.rows[weights.output(example.bucket, half)];
        for start in (0..WIDTH).step_by(partial.len()) {
            for (i, sum) in partial.iter_mut().enumerate() {
                let active = sums.0[start + i].clamp(0.0, 1.0);
                *sum += active * active * outputs.0[start + i];
            }
        }
    }
    let output = partial.iter().sum::<f32>() + weights.rows[weights.output_biases()].0[example.bucket];
    Activations { sums, output }
}

/// The expected points of the side to move, before the sigmoid.
#[inline(always)]
pub fn output(weights: &Effective, example: &Example) -> f32 {
    activations(weights, example).output
}

/// The squared error of the expected points.
#[inline(always)]
pub fn loss(weights: &Effective, example: &Example) -> f64 {
    let error = sigmoid(output(weights, example)) - example.target;
    f64::from(error * error)
}

/// Adds loss and gradients of one position.
#[inline(always)]
pub fn backward(weights: &Effective, example: &Example, gradients: &mut Gradients) {
    let Activations { sums, output } = activations(weights, example);
    let points = sigmoid(output);
    let error = points - example.target;
    gradients.loss += f64::from(error * error);
    let slope = 2.0 * error * points * (1.0 - points);

    let Gradients { sums: into, touched, .. } = gradients;
    let (biases, output_biases) = (into.biases(), into.output_biases());
    into.rows[output_biases].0[example.bucket] += slope;
    for (half, sums) in sums.iter().enumerate() {
        let output = into.output(example.bucket, half);
        let outputs = &weights.rows[output];
        let target = &mut into.rows[output];
        let mut back = Wide::zeroed();
        for i in 0..WIDTH {
            let sum = sums.0[i];
            let active = sum.clamp(0.0, 1.0);
            target.0[i] += slope * active * active;
            // The slope of the square, nothing where it is clipped.
            let inside = if active == sum { 2.0 * active } else { 0.0 };
            back.0[i] = slope * outputs.0[i] * inside;
        }
        touched[output] = true;
        add_to_row(&mut into.rows[biases], &back);
        for &row in &example.rows[half] {
            add_to_row(&mut into.rows[row as usize], &back);
            touched[row as usize] = true;
        }
    }
    touched[biases] = true;
    touched[output_biases] = true;
}

/// The largest weight of a row of [`Parameters`] for which the sums of shared and own rows can be exported.
pub fn feature_limit<V: Variant>() -> f32 {
    let sum = f32::from(i16::MAX / (Features::<V>::MAX_ACTIVE as i16 + 1)) / f32::from(ACTIVATION_ONE);
    // Half of it each, and a little less against rounding.
    sum / 2.0 * 0.999
}

/// The largest weight of the outputs that can be exported.
pub fn output_limit() -> f32 {
    f32::from(OUTPUT_LIMIT) / f32::from(OUTPUT_ONE)
}

/// The network in integers.
///
/// # Errors
/// If weights have grown out of their range.
pub fn quantise<V: Variant>(weights: &Effective) -> Result<Network<V>, FormatError> {
    let round = |row: &Wide, one: i16| {
        let mut rounded = Row::zeroed();
        for (to, from) in rounded.0.iter_mut().zip(row.0) {
            *to = (from * f32::from(one)).round() as i16;
        }
        rounded
    };
    let features = (0..Features::<V>::ROWS).map(|row| round(&weights.rows[trainer_row::<V>(row)], ACTIVATION_ONE));
    let output = |bucket, half| round(&weights.rows[weights.output(bucket, half)], OUTPUT_ONE);
    Network::new(Weights {
        features: features.collect(),
        biases: round(&weights.rows[weights.biases()], ACTIVATION_ONE),
        outputs: std::array::from_fn(|bucket| OutputRow([output(bucket, 0), output(bucket, 1)])),
        output_biases: std::array::from_fn(|bucket| {
            (f64::from(weights.rows[weights.output_biases()].0[bucket]) * OUTPUT_UNIT).round() as i32
        }),
    })
}
