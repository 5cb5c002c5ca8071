//! Vector instructions, chosen at run time.
//!
//! The kernels are plain loops. A [`Kernel`] is compiled once for each level of the instruction set, and the compiler
//! turns the loops into vector code for it. That all levels compute the same is then not a matter of care, and nothing
//! but the call into a level is unsafe. (On aarch64 NEON belongs to the base level.)

use super::network::{ACTIVATION_ONE, OutputRow, Row, WIDTH, square};

/// What the machine offers. Made only by looking at the machine.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Level(Set);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Set {
    /// What every machine of the target has.
    Base,
    /// AVX2.
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with operations on 16 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

/// Work to be compiled for each level. `run` must be `#[inline(always)]`, and so must what it calls.
pub trait Kernel {
    /// What comes out.
    type Output;

    /// Does the work.
    fn run(self) -> Self::Output;
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
fn with_avx2<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,avx2,bmi1,bmi2,lzcnt,popcnt,fma")]
fn with_avx512<K: Kernel>(kernel: K) -> K::Output {
    kernel.run()
}

impl Level {
    /// The best that this machine offers.
    pub fn detect() -> Self {
        Self::available().last().copied().unwrap_or(Self(Set::Base))
    }

    /// All that this machine offers, the best last.
    pub fn available() -> Vec<Self> {
        #[allow(unused_mut)]
        let mut levels = vec![Self(Set::Base)];
        #[cfg(target_arch = "x86_64")]
        {
            macro_rules! all {
                ($($feature:tt)*) => { $(is_x86_feature_detected!($feature))&&* };
            }
            if all!("avx2" "bmi1" "bmi2" "lzcnt" "popcnt" "fma") {
                levels.push(Self(Set::Avx2));
                if all!("avx512f" "avx512bw" "avx512vl" "avx512dq") {
                    levels.push(Self(Set::Avx512));
                }
            }
        }
        levels
    }

    /// Does the work with the instructions of this level.
    #[inline(always)]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self.0 {
            Set::Base => kernel.run(),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: only `available` makes this level, having found all its features on this machine.
            Set::Avx2 => unsafe { with_avx2(kernel) },
            #[cfg(target_arch = "x86_64")]
            // SAFETY: as above.
            Set::Avx512 => unsafe { with_avx512(kernel) },
        }
    }
}

/// Adds some rows to the sums and takes others away.
#[inline(always)]
pub fn update(sums: &mut Row, rows: &[Row], added: &[u32], removed: &[u32]) {
    let row = |index: u32| &rows[index as usize].0;
    match (added, removed) {
        // The usual moves in one pass: a step or drop, and a capture.
        (&[a], &[r]) => {
            let (a, r) = (row(a), row(r));
            for i in 0..WIDTH {
                sums.0[i] = sums.0[i].wrapping_add(a[i]).wrapping_sub(r[i]);
            }
        }
        (&[a, b], &[r, s]) => {
            let (a, b, r, s) = (row(a), row(b), row(r), row(s));
            for i in 0..WIDTH {
                sums.0[i] = sums.0[i].wrapping_add(a[i]).wrapping_add(b[i]).wrapping_sub(r[i]).wrapping_sub(s[i]);
            }
        }
        _ => {
            for &index in added {
                let row = row(index);
                for (sum, &value) in sums.0.iter_mut().zip(row) {
                    *sum = sum.wrapping_add(value);
                }
            }
            for &index in removed {
                let row = row(index);
                for (sum, &value) in sums.0.iter_mut().zip(row) {
                    *sum = sum.wrapping_sub(value);
                }
            }
        }
    }
}

/// The sum of squared clipped activations times weights, for the side to move and the other side.
#[inline(always)]
pub fn weighted_squares(us: &Row, them: &Row, weights: &OutputRow) -> i32 {
    let mut total = 0;
    for (sums, weights) in [(us, &weights.0[0]), (them, &weights.0[1])] {
        for i in 0..WIDTH {
            // 16 bits times 16 bits, summed by pairs into 32: one instruction for vectors.
            total += i32::from(square(sums.0[i].clamp(0, ACTIVATION_ONE))) * i32::from(weights.0[i]);
        }
    }
    total
}
