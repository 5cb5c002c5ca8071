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

/// Sums that are worked on at once: few enough to stay in registers.
const BLOCK: usize = 64;
const _: () = assert!(WIDTH.is_multiple_of(BLOCK));

/// Makes the sums those of `base`, or leaves them as they are, then adds some rows and takes others away.
#[inline(always)]
pub fn update(sums: &mut Row, base: Option<&Row>, rows: &[Row], added: &[u32], removed: &[u32]) {
    for start in (0..WIDTH).step_by(BLOCK) {
        let mut block: [i16; BLOCK] = std::array::from_fn(|i| base.map_or(sums.0[start + i], |base| base.0[start + i]));
        for &index in added {
            let row = &rows[index as usize].0[start..start + BLOCK];
            for i in 0..BLOCK {
                block[i] = block[i].wrapping_add(row[i]);
            }
        }
        for &index in removed {
            let row = &rows[index as usize].0[start..start + BLOCK];
            for i in 0..BLOCK {
                block[i] = block[i].wrapping_sub(row[i]);
            }
        }
        sums.0[start..start + BLOCK].copy_from_slice(&block);
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
