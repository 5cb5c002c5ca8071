//! The transposition table: what was found out about positions, shared by all threads without locks.
//!
//! An entry is two atomic words, the second stored exclusive-or'ed with the key into the first, so that an entry torn by
//! two writers does not match any key (Robert Hyatt and Tim Mann, "A lockless transposition table implementation for
//! parallel search", 2002). Four entries fill a cache line. Any number of lines will do: the key picks one by the high
//! half of a multiplication (Daniel Lemire, "Fast random integer generation in an interval", 2019).

use std::sync::atomic::{AtomicU64, Ordering};

use crate::types::score::CERTAIN_BOUND;
use crate::types::{Move, Score};

/// What a stored score says about the true one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Bound {
    /// It is the score.
    Exact,
    /// The true score is at least this.
    Lower,
    /// The true score is at most this.
    Upper,
}

impl Bound {
    /// What a node's best score says after a search within (`alpha`, `beta`). Only a node of the principal variation
    /// (`pv`) has a window in which a score can be exact.
    #[inline(always)]
    pub(super) fn of(score: Score, alpha: Score, beta: Score, pv: bool) -> Self {
        match score {
            _ if score >= beta => Self::Lower,
            _ if score > alpha && pv => Self::Exact,
            _ => Self::Upper,
        }
    }
}

/// What the table knows about a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Entry {
    /// The best move; to be checked for legality before it is made.
    pub best: Option<Move>,
    /// The score, certain ones as seen from the node that probes.
    pub score: Score,
    /// What the score is.
    pub bound: Bound,
    /// The static evaluation; `None` in check.
    pub eval: Option<Score>,
    /// The depth of the search that found it, in plies.
    pub depth: i32,
    /// The node is in the principal variation, or once was.
    pub pv: bool,
}

const ENTRIES: usize = 4;
const GENERATIONS: u8 = 32;
/// [`Bound::Exact`] in an entry.
const EXACT: u64 = 3;
const NO_EVAL: i16 = i16::MIN;

/// Words of a line: two for each entry.
const LINE_WORDS: usize = 2 * ENTRIES;
const LINE_BYTES: usize = LINE_WORDS * size_of::<AtomicU64>();

/// The smallest page of any system.
const PAGE_BYTES: usize = 4_096;
/// No larger table is touched when it is made; this one takes a fifth of a second, or seconds where a virtual
/// machine is given its own memory only then.
const TOUCHED_MIB: usize = 1_024;

/// The table. Its size is any whole number of MiB.
#[derive(Debug)]
pub struct Table {
    /// All lines, with one more to leave room for their alignment. An aligned type would do without, but memory for it
    /// is not taken zeroed from the system: it is written to, all of it, at once.
    words: Vec<AtomicU64>,
    /// The first word that begins a cache line.
    start: usize,
    lines: usize,
    generation: u8,
    /// Large pages were asked for, and the system took the request.
    asked_large: bool,
}

/// The table could not be allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a table of {mib} MiB cannot be allocated")]
pub struct OutOfMemory {
    /// The size that was asked for.
    pub mib: usize,
}

fn pack(entry: &Entry, generation: u8) -> u64 {
    let bound = match entry.bound {
        Bound::Exact => EXACT,
        Bound::Lower => 2,
        Bound::Upper => 1,
    };
    let best = entry.best.map_or(0, Move::bits);
    let eval = entry.eval.map_or(NO_EVAL, |eval| eval as i16);
    u64::from(best)
        | u64::from(entry.score as i16 as u16) << 16
        | u64::from(eval as u16) << 32
        | (entry.depth.clamp(0, 255) as u64) << 48
        | u64::from(generation) << 56
        | u64::from(entry.pv) << 61
        | bound << 62
}

fn unpack(data: u64) -> Option<Entry> {
    let bound = match data >> 62 {
        EXACT => Bound::Exact,
        2 => Bound::Lower,
        1 => Bound::Upper,
        _ => return None,
    };
    let eval = (data >> 32) as u16 as i16;
    Some(Entry {
        best: Move::from_bits(data as u16),
        score: Score::from((data >> 16) as u16 as i16),
        bound,
        eval: (eval != NO_EVAL).then_some(Score::from(eval)),
        depth: (data >> 48 & 0xff) as i32,
        pv: data >> 61 & 1 == 1,
    })
}

fn generation_of(data: u64) -> u8 {
    (data >> 56) as u8 & (GENERATIONS - 1)
}

/// A certain score counts plies from the root of the search; in the table it counts from the position itself.
fn to_table(score: Score, ply: usize) -> Score {
    let ply = ply as Score;
    match score {
        CERTAIN_BOUND.. => score + ply,
        _ if score <= -CERTAIN_BOUND => score - ply,
        _ => score,
    }
}

fn from_table(score: Score, ply: usize) -> Score {
    let ply = ply as Score;
    match score {
        CERTAIN_BOUND.. => score - ply,
        _ if score <= -CERTAIN_BOUND => score + ply,
        _ => score,
    }
}

/// Asks the system for large pages, or for none. Nearly every probe is on a page of its own, and finding small pages costs
/// a tenth of the whole time of a search (64 MiB, perf). Returns whether the table may come to lie in large ones: they were
/// asked for, one fits in, and the system took the request.
fn advise_pages(words: &[AtomicU64], large: bool) -> bool {
    // Miri does not know the call, and has no pages.
    #[cfg(all(target_os = "linux", not(miri)))]
    {
        use nix::sys::mman::{MmapAdvise, madvise};
        const LARGE_PAGE: usize = 2 << 20;
        let bytes = words.as_ptr().cast::<u8>();
        let skipped = bytes.align_offset(PAGE_BYTES);
        let length = size_of_val(words).saturating_sub(skipped) / PAGE_BYTES * PAGE_BYTES;
        let fits = bytes.align_offset(LARGE_PAGE).saturating_add(LARGE_PAGE) <= size_of_val(words);
        let first = bytes.wrapping_add(skipped);
        // Where the system gives large pages to everybody, "none" has to be said as well.
        let advice = if large { MmapAdvise::MADV_HUGEPAGE } else { MmapAdvise::MADV_NOHUGEPAGE };
        let taken = std::ptr::NonNull::new(first.cast_mut().cast()).filter(|_| length > 0).is_some_and(|first| {
            // SAFETY: the whole pages within a slice that we hold; the advice changes how they are mapped, not what
            // is in them. A system that does not take it goes on as it likes.
            unsafe { madvise(first, length, advice) }.is_ok()
        });
        large && fits && taken
    }
    #[cfg(not(all(target_os = "linux", not(miri))))]
    {
        let _ = (words, large);
        false
    }
}

/// Whether the system gives no large pages to anybody. It takes requests for them all the same.
fn never_large() -> bool {
    const SETTING: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
    std::fs::read_to_string(SETTING).is_ok_and(|setting| setting.contains("[never]"))
}

impl Table {
    /// An empty table of that many MiB, at least one, in large pages if they are wanted and can be had. The system gives
    /// the memory when it is first written to, which `touch` does for a whole table.
    ///
    /// # Errors
    /// If the system refuses so much.
    pub fn new(mib: usize, large_pages: bool) -> Result<Self, OutOfMemory> {
        let mib = mib.max(1);
        let bytes = mib.checked_mul(1 << 20);
        bytes.and_then(|bytes| Self::of_lines(bytes / LINE_BYTES, large_pages)).ok_or(OutOfMemory { mib })
    }

    fn of_lines(lines: usize, large_pages: bool) -> Option<Self> {
        let words: Vec<AtomicU64> = bytemuck::allocation::try_zeroed_vec((lines + 1) * LINE_WORDS).ok()?;
        let asked_large = advise_pages(&words, large_pages);
        let start = words.as_ptr().align_offset(LINE_BYTES) % LINE_WORDS;
        Some(Self { words, start, lines, generation: 0, asked_large })
    }

    /// Has the system give the memory now instead of during a search, unless the table is so large that this would be
    /// felt: a page that is not there yet can hold a thread up for longer than a short move may take.
    pub(super) fn touch(&mut self) {
        if self.mib() > TOUCHED_MIB {
            return;
        }
        for word in self.words.iter_mut().step_by(PAGE_BYTES / size_of::<AtomicU64>()) {
            // To read would do no good: all pages that were only read are one and the same.
            *word.get_mut() = 0;
        }
    }

    /// The size in MiB.
    pub fn mib(&self) -> usize {
        self.lines * LINE_BYTES / (1 << 20)
    }

    /// Whether it lies in large pages, as far as the system's word goes: it gives them as the memory is written to, and
    /// small ones when it has run out of large ones.
    pub fn in_large_pages(&self) -> bool {
        self.asked_large && !never_large()
    }

    /// Begins a new search: older entries are replaced first.
    pub fn age(&mut self) {
        self.generation = (self.generation + 1) % GENERATIONS;
    }

    /// The entries of the line with that number, each as check word and data word.
    #[inline(always)]
    fn entries(&self, line: usize) -> &[[AtomicU64; 2]] {
        let first = self.start + line * LINE_WORDS;
        self.words[first..first + LINE_WORDS].as_chunks().0
    }

    #[inline(always)]
    fn entries_of(&self, key: u64) -> &[[AtomicU64; 2]] {
        self.entries(((u128::from(key) * self.lines as u128) >> 64) as usize)
    }

    /// Asks the processor to fetch what will be probed for soon.
    #[inline(always)]
    pub fn prefetch(&self, key: u64) {
        let line = self.entries_of(key);
        #[cfg(target_arch = "x86_64")]
        // SAFETY: a prefetch reads nothing as far as the program is concerned, and faults on no address at all.
        unsafe {
            use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast());
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = line;
    }

    /// What is known about the position with that key, as seen `ply` plies from the root.
    #[inline]
    pub fn probe(&self, key: u64, ply: usize) -> Option<Entry> {
        let found = self.entries_of(key).iter().find_map(|[check, data]| {
            let data = data.load(Ordering::Relaxed);
            (check.load(Ordering::Relaxed) ^ data == key).then_some(data)
        })?;
        unpack(found).map(|entry| Entry { score: from_table(entry.score, ply), ..entry })
    }

    /// Stores what was found out `ply` plies from the root.
    #[inline]
    pub fn store(&self, key: u64, ply: usize, entry: Entry) {
        let entries = self.entries_of(key);
        let mut slot = 0;
        let mut lowest = i32::MAX;
        let mut kept_move = None;
        for (index, [check, data]) in entries.iter().enumerate() {
            let data = data.load(Ordering::Relaxed);
            if check.load(Ordering::Relaxed) ^ data == key {
                if let Some(old) = unpack(data) {
                    // A much deeper result of this search is worth more than a shallow bound.
                    let current = generation_of(data) == self.generation;
                    if current && entry.bound != Bound::Exact && entry.depth + 3 < old.depth {
                        return;
                    }
                    kept_move = old.best;
                }
                slot = index;
                break;
            }
            let age = i32::from(self.generation.wrapping_sub(generation_of(data)) & (GENERATIONS - 1));
            let depth = (data >> 48 & 0xff) as i32;
            let plies = match data >> 62 {
                EXACT => depth + 2,
                _ => depth,
            };
            let worth = if data >> 62 == 0 { i32::MIN } else { plies - 8 * age };
            if worth < lowest {
                lowest = worth;
                slot = index;
            }
        }
        let entry = Entry { score: to_table(entry.score, ply), best: entry.best.or(kept_move), ..entry };
        let data = pack(&entry, self.generation);
        let [check_word, data_word] = &entries[slot];
        check_word.store(key ^ data, Ordering::Relaxed);
        data_word.store(data, Ordering::Relaxed);
    }

    /// Entries of the current search, in thousandths of the table, by a sample.
    pub fn hashfull(&self) -> u32 {
        let sample = self.lines.min(250);
        let used = (0..sample)
            .flat_map(|line| self.entries(line))
            .filter(|[_, data]| {
                let data = data.load(Ordering::Relaxed);
                data >> 62 != 0 && generation_of(data) == self.generation
            })
            .count();
        (used * 1_000 / (sample * ENTRIES)) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Square;
    use crate::types::score::{MATE, RULE_WIN};

    /// Miri looks at each word of a table again and again: 1 MiB keeps it busy for minutes.
    const LINES: usize = if cfg!(miri) { 32 } else { 16_384 };

    fn table() -> Table {
        Table::of_lines(LINES, true).unwrap()
    }

    fn entry(score: Score, depth: i32) -> Entry {
        let best = Some(Move::board(Square::new(3), Square::new(4), true));
        Entry { best, score, bound: Bound::Lower, eval: Some(-250), depth, pv: depth % 2 == 1 }
    }

    #[test]
    fn what_is_stored_is_found() {
        let table = table();
        assert_eq!(table.probe(7, 0), None);
        for score in [0, 123, -20_000, 20_000] {
            for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
                for eval in [None, Some(-20_000), Some(20_000)] {
                    let stored = Entry { bound, eval, ..entry(score, 200) };
                    table.store(7 << 40, 9, stored);
                    assert_eq!(table.probe(7 << 40, 3), Some(stored));
                }
            }
        }
    }

    #[cfg(all(target_os = "linux", not(miri)))]
    #[test]
    fn a_touched_table_has_its_memory() {
        // KiB of the mapping that the middle of the table lies in, and how many of them are in memory.
        let kib = |table: &Table| {
            let address = table.words[table.words.len() / 2..].as_ptr().addr();
            let maps = std::fs::read_to_string("/proc/self/smaps").unwrap();
            let holds = |line: &&str| {
                let range = line.split(' ').next().and_then(|range| range.split_once('-'));
                range.is_some_and(|(from, to)| {
                    let limit = |text| usize::from_str_radix(text, 16);
                    matches!((limit(from), limit(to)), (Ok(from), Ok(to)) if (from..to).contains(&address))
                })
            };
            let mut mapping = maps.lines().skip_while(|line| !holds(line));
            let mut value = |name| {
                let line: &str = mapping.find_map(|line| line.strip_prefix(name)).unwrap();
                line.trim_end_matches("kB").trim().parse::<usize>().unwrap()
            };
            (value("Size:"), value("Rss:"))
        };
        for large_pages in [false, true] {
            let mut table = Table::new(40, large_pages).unwrap();
            let (_, in_memory) = kib(&table);
            assert!(in_memory < 30 << 10, "nobody has written to it: {in_memory}");
            table.touch();
            let (size, in_memory) = kib(&table);
            assert!(in_memory + 8 >= 40 << 10, "{in_memory} of {size}");
        }
    }

    #[test]
    fn certain_scores_count_from_the_position() {
        let table = table();
        table.store(1, 5, entry(MATE - 9, 3));
        assert_eq!(table.probe(1, 2).unwrap().score, MATE - 6);
        table.store(2, 5, entry(9 - MATE, 3));
        assert_eq!(table.probe(2, 2).unwrap().score, 6 - MATE);
        table.store(3, 5, entry(RULE_WIN - 9, 3));
        assert_eq!(table.probe(3, 2).unwrap().score, RULE_WIN - 6);
    }

    #[test]
    fn a_torn_entry_matches_no_key() {
        let table = table();
        table.store(11, 0, entry(50, 3));
        table.store(11, 0, entry(60, 9));
        let [check, data] = &table.entries_of(11)[0];
        // Another writer's data word without its check word.
        data.store(pack(&entry(70, 3), 0), Ordering::Relaxed);
        assert_eq!(table.probe(11, 0), None);
        assert_ne!(check.load(Ordering::Relaxed), 0);
    }

    /// An entry of which each part follows from the score and the key.
    fn telling(key: u64, score: Score) -> Entry {
        let best = Move::from_bits((score as u64).wrapping_mul(2_654_435_761).wrapping_add(key << 9) as u16 | 1);
        Entry { best, score, bound: Bound::Exact, eval: Some(-score), depth: score % 100, pv: score % 3 == 0 }
    }

    #[test]
    fn threads_that_write_to_one_line_never_make_an_entry_of_two() {
        // Twice as many positions as the line has room for, and each is written by all threads.
        const KEYS: u64 = 2 * ENTRIES as u64;
        let rounds = if cfg!(miri) { 200 } else { 100_000 };
        let table = table();
        let work = |thread: u64| {
            let mut state = thread;
            let mut random = || {
                state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
                (state ^ state >> 31).wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 20
            };
            let mut found = 0;
            for _ in 0..rounds {
                let key = random() % KEYS;
                table.store(key, 0, telling(key, (random() % 20_000) as Score));
                let key = random() % KEYS;
                if let Some(entry) = table.probe(key, 0) {
                    assert_eq!(entry, telling(key, entry.score));
                    found += 1;
                }
            }
            found
        };
        let found: u32 = std::thread::scope(|scope| {
            let work = &work;
            let threads = [1, 2, 3].map(|thread| scope.spawn(move || work(thread)));
            threads.into_iter().map(|thread| thread.join().unwrap()).sum()
        });
        assert!(found > rounds / 2, "{found}");
    }

    #[test]
    fn the_shallowest_and_oldest_goes_first() {
        let mut table = table();
        for key in 0..4 {
            table.store(key, 0, entry(key as Score, 10 + key as i32));
        }
        table.store(4, 0, entry(4, 1));
        assert_eq!(table.probe(0, 0), None);
        assert!(table.probe(3, 0).is_some());
        table.age();
        table.age();
        table.store(5, 0, entry(5, 1));
        table.store(6, 0, entry(6, 1));
        assert!(table.probe(5, 0).is_some() && table.probe(6, 0).is_some());
        assert_eq!(table.probe(1, 0), None);
    }

    #[test]
    fn exact_scores_stay_longer() {
        let table = table();
        let of = |bound, depth| Entry { bound, ..entry(0, depth) };
        table.store(1, 0, of(Bound::Exact, 6));
        table.store(2, 0, of(Bound::Lower, 7));
        table.store(3, 0, of(Bound::Upper, 9));
        table.store(4, 0, of(Bound::Lower, 20));
        let kept = |table: &Table| (1..=6).filter(|&key| table.probe(key, 0).is_some()).collect::<Vec<_>>();
        table.store(5, 0, entry(0, 20));
        assert_eq!(kept(&table), [1, 3, 4, 5]);
        table.store(6, 0, entry(0, 20));
        assert_eq!(kept(&table), [3, 4, 5, 6]);
    }

    #[test]
    fn a_position_keeps_its_deep_result_and_its_move() {
        let mut table = table();
        let of = |bound, depth, best| Entry { bound, best, ..entry(0, depth) };
        let depth = |table: &Table| table.probe(7, 0).map(|entry| entry.depth);
        let known = entry(0, 0).best;
        table.store(7, 0, of(Bound::Lower, 10, known));
        table.store(7, 0, of(Bound::Upper, 6, None));
        assert_eq!(depth(&table), Some(10), "a much shallower bound");
        table.store(7, 0, of(Bound::Upper, 7, None));
        assert_eq!(depth(&table), Some(7), "one that is hardly shallower");
        assert_eq!(table.probe(7, 0).unwrap().best, known, "no move is known that is better");
        table.store(7, 0, of(Bound::Exact, 1, None));
        assert_eq!(depth(&table), Some(1), "a score that is exact");
        table.store(7, 0, of(Bound::Lower, 10, None));
        table.age();
        table.store(7, 0, of(Bound::Lower, 2, None));
        assert_eq!(depth(&table), Some(2), "a result of an earlier search");
    }

    #[test]
    fn generations_come_round_again() {
        let mut table = table();
        for _ in 1..GENERATIONS {
            table.age();
        }
        for key in 0..4 {
            table.store(key, 0, entry(0, 6));
        }
        table.age();
        table.store(4, 0, entry(0, 1));
        table.store(5, 0, entry(0, 1));
        assert_eq!((0..6).filter(|&key| table.probe(key, 0).is_some()).count(), ENTRIES);
        assert!(table.probe(4, 0).is_some() && table.probe(5, 0).is_some());
    }

    #[test]
    fn a_prefetch_changes_nothing_whatever_the_key() {
        for lines in [LINES, 3 * LINES] {
            let table = Table::of_lines(lines, true).unwrap();
            for key in [0, 1, u64::MAX / 2, u64::MAX] {
                table.prefetch(key);
                assert_eq!(table.probe(key, 0), None);
                table.store(key, 0, entry(5, 9));
                table.prefetch(key);
                assert_eq!(table.probe(key, 0), Some(entry(5, 9)));
            }
        }
    }

    #[test]
    fn fullness_is_in_thousandths_of_the_table() {
        let table = table();
        let entries = (table.lines * ENTRIES) as u64;
        for permille in [100, 250, 500, 750] {
            // Keys that are spread evenly over the lines, so that none is lost.
            for i in 0..entries * permille / 1_000 {
                table.store(i.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0, entry(0, 1));
            }
            let said = u64::from(table.hashfull());
            assert!(said.abs_diff(permille) < 15, "{said} of {permille}");
        }
    }

    #[test]
    fn fullness_counts_the_current_search() {
        let mut table = table();
        assert_eq!(table.hashfull(), 0);
        for i in 0..60 * LINES as u64 {
            table.store(i.wrapping_mul(0x9e37_79b9_7f4a_7c15), 0, entry(0, 1));
        }
        assert!(table.hashfull() > 990);
        table.age();
        assert_eq!(table.hashfull(), 0);
        assert_eq!(table.entries(0).as_ptr().align_offset(LINE_BYTES), 0);
    }

    #[test]
    fn its_size_is_in_mib() {
        assert_eq!(Table::new(0, true).unwrap().mib(), 1);
        assert_eq!(Table::new(3, true).unwrap().mib(), 3);
        assert_eq!(Table::new(usize::MAX, true).unwrap_err(), OutOfMemory { mib: usize::MAX });
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no pages")]
    fn large_pages_are_had_only_where_asked_for_and_one_fits_in() {
        let in_large_pages = |mib, wanted| Table::new(mib, wanted).unwrap().in_large_pages();
        assert!(!in_large_pages(1, true));
        assert!(!in_large_pages(8, false));
        // Whatever the system says, it says the same again.
        assert_eq!(in_large_pages(8, true), in_large_pages(16, true));
    }
}
