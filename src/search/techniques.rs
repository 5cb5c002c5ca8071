//! The techniques of the search, each with a switch: all are in use in play, and USI options when built with the feature
//! `tune`, so that a match of the program against itself without one of them says what it is worth.

/// A technique, as somebody outside sees it.
#[cfg(feature = "tune")]
#[derive(Debug)]
pub struct Technique {
    /// The name of its function in this module, and of its USI option.
    pub name: &'static str,
    value: &'static std::sync::atomic::AtomicBool,
}

#[cfg(feature = "tune")]
impl Technique {
    /// Whether all searches of the process use it from now on.
    pub fn set(&self, used: bool) {
        self.value.store(used, std::sync::atomic::Ordering::Relaxed);
    }
}

macro_rules! techniques {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        #[cfg(feature = "tune")]
        #[allow(non_upper_case_globals)]
        mod values {
            $(pub(super) static $name: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(true);)*
        }

        /// All of them, in the order of the source.
        #[cfg(feature = "tune")]
        pub static TABLE: &[Technique] = &[$(Technique { name: stringify!($name), value: &values::$name },)*];

        $($(#[$doc])*
        #[inline(always)]
        pub(super) fn $name() -> bool {
            #[cfg(feature = "tune")]
            return values::$name.load(std::sync::atomic::Ordering::Relaxed);
            #[cfg(not(feature = "tune"))]
            true
        })*
    };
}

techniques! {
    /// A narrow window around the score of the iteration before.
    aspiration;
    /// No line is better than mating now.
    mate_distance;
    /// What a side can have by stepping back is seen one ply ahead.
    repetition_ahead;
    /// Evaluations are corrected by what searches found in like positions.
    correction;
    /// Prunes and reduces less while the evaluation grows from move to move.
    improving;
    /// Takes back a reduction that was too much, or adds to one that was too little.
    hindsight;
    /// Leaves hopeless nodes to quiescence.
    razoring;
    /// Leaves nodes alone that stand far above beta.
    reverse_futility;
    /// Passes, to see whether even that holds.
    null_move;
    /// Sees that some move holds where passing did, at high depths.
    null_verification;
    /// A shallow search of good captures settles a node.
    probcut;
    /// Searches less deep where the table knows no move.
    internal_reduction;
    /// Leaves out late quiet moves.
    late_moves;
    /// Leaves out quiet moves that cannot reach alpha.
    futility;
    /// Leaves out quiet moves of a bad history.
    history_pruning;
    /// Leaves out late quiet evasions.
    late_evasions;
    /// Leaves out moves that lose exchanges.
    exchange_pruning;
    /// Searches late moves less deep.
    late_move_reductions;
    /// Searches the only good move deeper.
    singular_extensions;
    /// Cuts off where several moves are too good.
    multi_cut;
    /// Searches safe checks deeper.
    check_extensions;
    /// Searches the only reply to a check deeper.
    one_reply_extensions;
    /// Quiescence begins with checks.
    quiescence_checks;
    /// Quiescence leaves out captures that do not bring the score near alpha.
    quiescence_futility;
    /// Quiet moves are judged by what they did elsewhere.
    butterfly_history;
    /// Quiet moves are judged by what they did after the same moves.
    continuation_history;
    /// Captures are judged by what they did elsewhere.
    capture_history;
    /// Quiet moves that cut off at the same ply come early.
    killers;
    /// So do those that refuted the same move.
    counter_moves;
    /// Safe checks come early among quiet moves.
    check_ordering;
    /// Drops next to the opponent's king come early among quiet moves, and are reduced less.
    near_drops;
}
