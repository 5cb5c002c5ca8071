//! The numbers of the search: constants in play, and USI options when built with the feature `tune`, for an optimiser
//! outside to set (as in Reckless, `src/parameters.rs`).

/// One number of the search, as an optimiser sees it.
#[cfg(feature = "tune")]
#[derive(Debug)]
pub struct Parameter {
    /// The name of its function in this module, and of its USI option.
    pub name: &'static str,
    /// Its value in play.
    pub default: i32,
    /// The least value that makes sense.
    pub min: i32,
    /// The greatest.
    pub max: i32,
    value: &'static std::sync::atomic::AtomicI32,
}

#[cfg(feature = "tune")]
impl Parameter {
    /// Sets it for all searches of the process from now on; the caller keeps to `min..=max`.
    pub fn set(&self, value: i32) {
        self.value.store(value, std::sync::atomic::Ordering::Relaxed);
    }

    /// What it is set to.
    pub fn get(&self) -> i32 {
        self.value.load(std::sync::atomic::Ordering::Relaxed)
    }
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident = $default:literal in $min:literal..=$max:literal;)*) => {
        #[cfg(feature = "tune")]
        #[allow(non_upper_case_globals)]
        mod values {
            $(pub(super) static $name: std::sync::atomic::AtomicI32 = std::sync::atomic::AtomicI32::new($default);)*
        }

        /// All of them, in the order of the source.
        #[cfg(feature = "tune")]
        pub static TABLE: &[Parameter] = &[
            $(Parameter {
                name: stringify!($name),
                default: $default,
                min: $min,
                max: $max,
                value: &values::$name,
            },)*
        ];

        $($(#[$doc])*
        #[inline(always)]
        pub(super) fn $name() -> i32 {
            const { assert!($min <= $default && $default <= $max) };
            #[cfg(feature = "tune")]
            return values::$name.load(std::sync::atomic::Ordering::Relaxed);
            #[cfg(not(feature = "tune"))]
            $default
        })*
    };
}

/// From this depth on the window is narrowed.
pub(super) const ASPIRATION_DEPTH: i32 = 4;
/// From this depth on late moves are reduced.
pub(super) const LMR_DEPTH: i32 = 3;
/// Histories stay within this distance of zero.
pub(super) const HISTORY_LIMIT: i32 = 16_384;
/// The largest bonus or malus for a change of the evaluation.
pub(super) const EVAL_BONUS_LIMIT: i32 = 1_500;
/// Cutoffs below a node that count as several.
pub(super) const MANY_CUTOFFS: u32 = 3;
/// Corrections of the evaluation stay within this distance of zero, in [`CORRECTION_GRAIN`]ths of a centipawn.
pub(super) const CORRECTION_LIMIT: i32 = 200 * CORRECTION_GRAIN;
/// See [`CORRECTION_LIMIT`].
pub(super) const CORRECTION_GRAIN: i32 = 128;
/// Iterations after which a single legal move is played without more thought.
pub(super) const SINGLE_MOVE_DEPTH: u32 = 6;

parameters! {
    /// First half-width of the aspiration window.
    aspiration_window = 63 in 5..=200;
    /// Up to this depth a node far below alpha goes to quiescence at once (razoring).
    razor_depth = 2 in 0..=6;
    /// How far below, at depth 0 and for each ply.
    razor_base = 348 in 50..=1200;
    /// See [`razor_base`].
    razor_margin = 345 in 20..=800;
    /// From this depth on a null move is tried.
    null_depth = 3 in 1..=6;
    /// Plies by which a null move reduces the depth.
    null_reduction = 3 in 1..=6;
    /// One ply more of reduction for so many plies of depth.
    null_depth_share = 4 in 2..=8;
    /// One ply more of reduction for so much evaluation above beta, up to three.
    null_eval_share = 136 in 50..=1000;
    /// From this depth on a cutoff by a null move is verified.
    null_verify_depth = 14 in 6..=40;
    /// Up to this depth a node whose evaluation is far above beta is left alone (reverse futility).
    reverse_futility_depth = 5 in 1..=12;
    /// How far above, per ply of depth.
    reverse_futility_margin = 75 in 20..=400;
    /// How much less in all when the evaluation is improving.
    reverse_futility_improving = 60 in 0..=200;
    /// Up to this depth quiet moves that cannot reach alpha by much are left out.
    futility_depth = 6 in 1..=12;
    /// How far below alpha the evaluation must be, and how much more per ply of depth.
    futility_base = 164 in 0..=600;
    /// See [`futility_base`].
    futility_margin = 104 in 20..=400;
    /// Up to this depth late quiet moves are left out.
    late_move_depth = 7 in 1..=12;
    /// Quiet moves that are searched at depth 0 of that rule; the square of the depth comes on top.
    late_move_base = 1 in 1..=20;
    /// Up to this depth quiet moves of a bad history are left out.
    history_pruning_depth = 4 in 0..=10;
    /// How bad, per ply of depth.
    history_pruning_margin = 5885 in 500..=20000;
    /// Up to this depth moves that lose too much in exchanges are left out.
    see_depth = 5 in 1..=12;
    /// How much a quiet move may lose, per ply of depth.
    see_quiet_margin = 73 in 0..=300;
    /// How much a capture may lose, per ply of depth.
    see_tactical_margin = 318 in 0..=500;
    /// So many moves are searched to full depth.
    lmr_moves = 4 in 1..=10;
    /// A reduction is, in 1024ths of a ply, this much ...
    lmr_base = -51 in -1024..=2048;
    /// ... and log2(depth) * log2(moves) * this.
    lmr_factor = 280 in 100..=900;
    /// More in a node that is expected to fail high.
    lmr_cut = 840 in 0..=3072;
    /// More while the evaluation does not improve.
    lmr_not_improving = 378 in 0..=2048;
    /// Less in the principal variation.
    lmr_pv = 1334 in 0..=3072;
    /// Less for a move that gives check.
    lmr_check = 765 in 0..=3072;
    /// Less for a drop next to the opponent's king.
    lmr_near_drop = 400 in -2048..=2048;
    /// Less while in check.
    lmr_evasion = 389 in 0..=4096;
    /// Less for a killer or counter move.
    lmr_special = 236 in 0..=3072;
    /// More if the move from the table is a capture.
    lmr_table_tactical = 547 in 0..=2048;
    /// One ply less for so much history.
    lmr_history = 13599 in 2000..=40000;
    /// Reductions of losing captures, in 1024ths of those of quiet moves, before what follows from the node counts.
    lmr_tactical = 503 in 0..=1024;
    /// The same for other captures and promotions.
    lmr_good_tactical = 61 in 0..=1024;
    /// More when the children of this node have failed high several times.
    lmr_cutoffs = 438 in 0..=2048;
    /// A reduced move that beats the best score by so much is searched one ply deeper than it would have been.
    lmr_deeper = 71 in 5..=400;
    /// Less in a node that once was in the principal variation.
    lmr_table_pv = 679 in 0..=3072;
    /// Less when passing would mean to be mated.
    lmr_threat = 860 in 0..=3072;
    /// Bonus of a quiet move by which the table cuts off, in 64ths of the usual one.
    table_bonus = 26 in 0..=128;
    /// Bonus of a quiet move that nothing refuted, in 64ths of the usual one.
    prior_bonus = 54 in 0..=128;
    /// Bonus of a quiet move for each four centipawns by which it changed the evaluation.
    eval_history = 18 in 0..=64;
    /// Up to this depth late quiet evasions are left out.
    evasion_depth = 4 in 0..=10;
    /// Quiet evasions that are searched at depth 0 of that rule; the depth comes on top.
    evasion_base = 4 in 0..=20;
    /// A move that was reduced by so much is searched a ply deeper if it has made its side's evaluation better.
    hindsight_deeper = 3 in 0..=10;
    /// One that was reduced at all is searched a ply less if it has made that evaluation so much worse.
    hindsight_margin = 397 in 100..=1600;
    /// From this depth on the move from the table is looked at for being the only good one (singular extension).
    singular_depth = 6 in 4..=30;
    /// How far below the table's score the others must stay, per ply of depth, in 16ths of a centipawn.
    singular_margin = 22 in 4..=160;
    /// How much farther for an extension by two plies, in centipawns.
    singular_double = 42 in 0..=300;
    /// From this depth on a check that does not lose material is searched a ply deeper.
    check_extension_depth = 2 in 0..=30;
    /// From this depth on captures that promise much more than beta are tried first at a reduced depth (ProbCut).
    probcut_depth = 6 in 3..=30;
    /// How much more.
    probcut_margin = 271 in 50..=800;
    /// What a capture in quiescence must miss alpha by to be left out.
    quiescence_margin = 462 in 0..=1200;
    /// How far a check that loses nothing goes ahead among quiet moves.
    check_order = 6876 in 0..=40000;
    /// How far a drop next to the opponent's king does.
    near_drop_order = 4000 in 0..=20000;
    /// Bonus of a history, per ply of depth.
    history_bonus = 149 in 20..=500;
    /// The largest bonus.
    history_bonus_limit = 1674 in 400..=4000;
    /// From this depth on a node without a move from the table is searched one ply less deep.
    iir_depth = 5 in 2..=12;
    /// So is one that is expected to fail high and that the table knows by so many plies less.
    iir_gap = 3 in 2..=20;
    /// Share of the correction by hands, in 64ths.
    correction_hands = 49 in 0..=128;
    /// Share of the correction by the placement of kings and generals.
    correction_generals = 29 in 0..=128;
    /// Share of the correction by the last two moves.
    correction_moves = 16 in 0..=128;
}
