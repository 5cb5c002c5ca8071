//! The attack tables of any board, computed at compile time in the widest word and narrowed by the macro below.

/// A step as (files to the left, ranks down), as Black looks at the board.
pub type Step = (i8, i8);

/// The steps of each piece, for Black.
pub mod steps {
    use super::Step;

    /// One ahead.
    pub const PAWN: &[Step] = &[(0, -1)];
    /// Two ahead and one aside.
    pub const KNIGHT: &[Step] = &[(-1, -2), (1, -2)];
    /// Ahead and diagonally.
    pub const SILVER: &[Step] = &[(0, -1), (-1, -1), (1, -1), (-1, 1), (1, 1)];
    /// Everywhere but diagonally back.
    pub const GOLD: &[Step] = &[(0, -1), (-1, -1), (1, -1), (-1, 0), (1, 0), (0, 1)];
    /// Everywhere.
    pub const KING: &[Step] = &[(0, -1), (-1, -1), (1, -1), (-1, 0), (1, 0), (0, 1), (-1, 1), (1, 1)];
    /// The steps towards higher square numbers on the four lines: file, rank and the two diagonals.
    pub const LINES: [Step; 4] = [(0, 1), (1, 0), (1, 1), (1, -1)];
}

/// The square one step from `square`, or `None` beyond the edge.
const fn walk(files: usize, ranks: usize, square: usize, step: Step) -> Option<usize> {
    let file = (square / ranks) as i32 + step.0 as i32;
    let rank = (square % ranks) as i32 + step.1 as i32;
    if file < 0 || file >= files as i32 || rank < 0 || rank >= ranks as i32 {
        None
    } else {
        Some(file as usize * ranks + rank as usize)
    }
}

/// For each square of the board the squares that the steps lead to; `turned` for White.
pub const fn step_table<const N: usize>(files: usize, ranks: usize, steps: &[Step], turned: bool) -> [u128; N] {
    let mut table = [0; N];
    let mut square = 0;
    while square < files * ranks {
        let mut i = 0;
        while i < steps.len() {
            let step = if turned { (-steps[i].0, -steps[i].1) } else { steps[i] };
            if let Some(to) = walk(files, ranks, square, step) {
                table[square] |= 1 << to;
            }
            i += 1;
        }
        square += 1;
    }
    table
}

/// For each square the rays against and along `step`, which must lead to a higher square number.
pub const fn line_table<const N: usize>(files: usize, ranks: usize, step: Step) -> [(u128, u128); N] {
    let mut table = [(0, 0); N];
    let mut square = 0;
    while square < files * ranks {
        let mut at = square;
        while let Some(to) = walk(files, ranks, at, (-step.0, -step.1)) {
            table[square].0 |= 1 << to;
            at = to;
        }
        at = square;
        while let Some(to) = walk(files, ranks, at, step) {
            table[square].1 |= 1 << to;
            at = to;
        }
        square += 1;
    }
    table
}

/// For each pair of squares on one line the squares strictly between them.
pub const fn between_table<const N: usize>(files: usize, ranks: usize) -> [[u128; N]; N] {
    let mut table = [[0; N]; N];
    let mut square = 0;
    while square < files * ranks {
        let mut i = 0;
        while i < steps::KING.len() {
            let mut between = 0;
            let mut at = square;
            while let Some(to) = walk(files, ranks, at, steps::KING[i]) {
                table[square][to] = between;
                between |= 1 << to;
                at = to;
            }
            i += 1;
        }
        square += 1;
    }
    table
}

/// The [`Attacks`](crate::attacks::Attacks) of a board: `attack_tables!(Minishogi, u32, 32)`.
#[macro_export]
macro_rules! attack_tables {
    ($game:ty, $word:ty, $slots:literal) => {{
        use $crate::attacks::{Attacks, Line, between_table, line_table, step_table, steps};
        use $crate::geometry::Geometry;
        use $crate::types::{Bitboard, SquareMap};

        const FILES: usize = <$game as Geometry>::FILES;
        const RANKS: usize = <$game as Geometry>::RANKS;
        type Map = SquareMap<$game, Bitboard<$game>>;
        type Lines = SquareMap<$game, Line<$game>>;

        const fn map(wide: [u128; $slots]) -> Map {
            let mut table = [Bitboard(0 as $word); $slots];
            let mut square = 0;
            while square < $slots {
                table[square] = Bitboard(wide[square] as $word);
                square += 1;
            }
            SquareMap(table)
        }
        const fn both_sides(step: &[(i8, i8)]) -> [Map; 2] {
            [map(step_table(FILES, RANKS, step, false)), map(step_table(FILES, RANKS, step, true))]
        }
        const fn lines(step: (i8, i8)) -> Lines {
            let wide: [(u128, u128); $slots] = line_table(FILES, RANKS, step);
            let mut table = [Line { lower: Bitboard(0 as $word), upper: Bitboard(0 as $word) }; $slots];
            let mut square = 0;
            while square < $slots {
                let (lower, upper) = wide[square];
                table[square] = Line { lower: Bitboard(lower as $word), upper: Bitboard(upper as $word) };
                square += 1;
            }
            SquareMap(table)
        }
        const fn between() -> SquareMap<$game, Map> {
            let wide: [[u128; $slots]; $slots] = between_table(FILES, RANKS);
            let mut table = [map([0; $slots]); $slots];
            let mut square = 0;
            while square < $slots {
                table[square] = map(wide[square]);
                square += 1;
            }
            SquareMap(table)
        }

        Attacks::<$game> {
            pawn: both_sides(steps::PAWN),
            knight: both_sides(steps::KNIGHT),
            silver: both_sides(steps::SILVER),
            gold: both_sides(steps::GOLD),
            king: map(step_table(FILES, RANKS, steps::KING, false)),
            orthogonal: [lines(steps::LINES[0]), lines(steps::LINES[1])],
            diagonal: [lines(steps::LINES[2]), lines(steps::LINES[3])],
            between: between(),
        }
    }};
}
