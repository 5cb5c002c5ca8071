//! One suite of properties, run for each game: the two of the engine and two that are defined here.

mod new_boards;
mod positions;
mod reference;
mod repetition;
mod suite;

macro_rules! properties {
    ($($module:ident: $game:ty, $effort:expr;)*) => {$(
        mod $module {
            use crate::suite::{self, Effort};

            const EFFORT: Effort = $effort;

            #[test]
            fn games_agree() {
                suite::games_agree::<$game>(EFFORT);
            }

            #[test]
            fn scattered_positions_agree() {
                suite::scattered_positions_agree::<$game>(EFFORT);
            }

            #[test]
            fn validation_agrees() {
                suite::validation_agrees::<$game>(EFFORT);
            }

            #[test]
            fn keys_tell_positions_apart() {
                suite::keys_tell_positions_apart::<$game>(EFFORT);
            }
        }
    )*};
}

properties! {
    minishogi: kozuka::variant::Minishogi, Effort { games: (40, 60), scattered: 120, encodings_in: 10, depth: (5, 2) };
    shogi: kozuka::variant::Shogi, Effort { games: (3, 60), scattered: 6, encodings_in: 2, depth: (3, 1) };
    goro_goro: crate::new_boards::GoroGoroPlus, Effort { games: (20, 60), scattered: 40, encodings_in: 10, depth: (3, 2) };
    judkins: crate::new_boards::Judkins, Effort { games: (20, 60), scattered: 40, encodings_in: 10, depth: (4, 2) };
}
