//! The solver's table: what is known about positions, by board and by what the attacker holds.
//!
//! What is proved with some pieces in hand is proved with more, which the defender then lacks; what is disproved is
//! disproved with fewer. Only a pawn dropped to give check could make a difference, being legal or not by whether it mates,
//! but no piece in hand helps against a check from the next square.

use bytemuck::{Pod, Zeroable};

use crate::types::Hand;

/// A proof or disproof number that stands for "cannot be had". Unsolved numbers stay below it.
pub(super) const INFINITE: u32 = 1 << 30;

/// A disproof that rests on nothing.
pub(super) const NO_DEPENDENCE: u16 = u16::MAX;

/// How far a position is from being proved to be a mate, or to be none.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Value {
    /// Leaves that must be proved, at least, to prove it; 0 if it is proved.
    pub proof: u32,
    /// Leaves that must be disproved, at least, to disprove it; 0 if it is disproved.
    pub disproof: u32,
    /// If it is proved, plies to mate; if it is open, the least depth at which it was met.
    pub plies: u16,
    /// If it is disproved, the depth of the first position on the way from the root that the disproof rests on, because
    /// it would come again; [`NO_DEPENDENCE`] if it holds on every way.
    pub rests_on: u16,
}

impl Value {
    /// A position that is mate after so many plies.
    pub(super) const fn proved(plies: u16) -> Self {
        Self { proof: 0, disproof: INFINITE, plies, rests_on: NO_DEPENDENCE }
    }

    /// A position without mate.
    pub(super) const fn disproved(rests_on: u16) -> Self {
        Self { proof: INFINITE, disproof: 0, plies: 0, rests_on }
    }

    /// A position about which nothing is decided.
    pub(super) fn open(proof: u32, disproof: u32, depth: u16) -> Self {
        let clamp = |number: u32| number.clamp(1, INFINITE - 1);
        Self { proof: clamp(proof), disproof: clamp(disproof), plies: depth, rests_on: NO_DEPENDENCE }
    }

    pub(super) const fn is_proved(&self) -> bool {
        self.proof == 0
    }

    pub(super) const fn is_disproved(&self) -> bool {
        self.disproof == 0
    }

    pub(super) const fn is_open(&self) -> bool {
        !self.is_proved() && !self.is_disproved()
    }
}

/// By what a position is looked up.
#[derive(Clone, Copy, Debug)]
pub(super) struct Address {
    /// Key of the board without the hands.
    pub board: u64,
    /// What the attacker holds.
    pub hand: Hand,
    /// Key of the set of positions on the way from the root.
    pub way: u64,
}

/// The table could not be allocated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a table of {mib} MiB for the mate solver cannot be allocated")]
pub struct OutOfMemory {
    /// The size that was asked for.
    pub mib: usize,
}

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C)]
struct Slot {
    board: u64,
    /// The way on which a disproof that rests on it holds.
    way: u64,
    hand: u32,
    proof: u32,
    disproof: u32,
    /// Positions that were visited for it, saturated.
    work: u32,
    plies: u16,
    rests_on: u16,
    /// Number of the solver's run; slots of other runs are empty.
    run: u32,
}

/// Slots that share an index. Many, since boards come with many hands.
const BUCKET: usize = 16;

/// The table. A full bucket loses what was least work.
#[derive(Debug)]
pub(super) struct Table {
    slots: Vec<Slot>,
    run: u32,
    used: usize,
    /// Whether what holds for one hand may be used for another.
    pub dominance: bool,
}

impl Slot {
    fn value(&self) -> Value {
        Value { proof: self.proof, disproof: self.disproof, plies: self.plies, rests_on: self.rests_on }
    }

    /// What the slot says about the position with that hand on that way, if its board is the same.
    fn says(&self, address: &Address, dominance: bool) -> Option<Value> {
        let value = self.value();
        let same = self.hand == address.hand.bits();
        let held = Hand::from_bits(self.hand);
        let fits = match value {
            _ if value.is_proved() => same || dominance && address.hand.covers(held),
            _ if value.is_open() => same,
            _ if value.rests_on != NO_DEPENDENCE => same && self.way == address.way,
            _ => same || dominance && held.covers(address.hand),
        };
        fits.then_some(value)
    }
}

impl Table {
    /// A table of that many MiB, at least one. The system gives the memory when it is first written to.
    pub(super) fn new(mib: usize) -> Result<Self, OutOfMemory> {
        let mib = mib.max(1);
        let slots = mib.checked_mul(1 << 20).ok_or(OutOfMemory { mib })? / size_of::<Slot>() / BUCKET * BUCKET;
        let slots = bytemuck::allocation::try_zeroed_vec(slots).map_err(|()| OutOfMemory { mib })?;
        Ok(Self { slots, run: 0, used: 0, dominance: true })
    }

    /// Forgets everything.
    pub(super) fn clear(&mut self) {
        self.used = 0;
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.slots.fill(Slot::zeroed());
            self.run = 1;
        }
    }

    /// Filling in thousandths.
    pub(super) fn hashfull(&self) -> u32 {
        (self.used as u128 * 1_000 / self.slots.len().max(1) as u128) as u32
    }

    fn bucket(&self, board: u64) -> usize {
        let buckets = self.slots.len() / BUCKET;
        ((u128::from(board) * buckets as u128) >> 64) as usize * BUCKET
    }

    /// What is known about the position: an answer if there is one, else how far it is from one.
    pub(super) fn probe(&self, address: &Address) -> Option<Value> {
        let start = self.bucket(address.board);
        let mut open = None;
        // A bucket is filled from its beginning.
        for slot in self.slots[start..start + BUCKET].iter().take_while(|slot| slot.run == self.run) {
            if slot.board != address.board {
                continue;
            }
            match slot.says(address, self.dominance) {
                Some(value) if value.is_open() => open = Some(value),
                Some(value) => return Some(value),
                None => {}
            }
        }
        open
    }

    /// Stores what is known about the position after so many visits.
    pub(super) fn store(&mut self, address: &Address, value: Value, work: u64) {
        let start = self.bucket(address.board);
        let hand = address.hand.bits();
        let bucket = &mut self.slots[start..start + BUCKET];
        let mut place = 0;
        let mut least = u32::MAX;
        let mut work = u32::try_from(work).unwrap_or(u32::MAX);
        for (index, slot) in bucket.iter().enumerate() {
            if slot.run != self.run {
                self.used += 1;
                place = index;
                break;
            }
            if slot.board == address.board && slot.hand == hand {
                let old = slot.value();
                if old.is_proved() && !(value.is_proved() && value.plies < old.plies) {
                    return;
                }
                work = work.saturating_add(slot.work);
                place = index;
                break;
            }
            if slot.work < least {
                least = slot.work;
                place = index;
            }
        }
        let Address { board, way, .. } = *address;
        let Value { proof, disproof, plies, rests_on } = value;
        bucket[place] = Slot { board, way, hand, proof, disproof, work, plies, rests_on, run: self.run };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::PieceType;

    fn hand(kinds: &[PieceType]) -> Hand {
        let mut hand = Hand::EMPTY;
        kinds.iter().for_each(|&kind| hand.add(kind));
        hand
    }

    fn address(board: u64, kinds: &[PieceType], way: u64) -> Address {
        Address { board, hand: hand(kinds), way }
    }

    fn table() -> Table {
        let mut table = Table::new(1).unwrap();
        table.clear();
        table
    }

    const GOLD: &[PieceType] = &[PieceType::Gold];
    const GOLDS: &[PieceType] = &[PieceType::Gold, PieceType::Gold];

    #[test]
    fn a_proof_holds_with_more_in_hand_and_a_disproof_with_less() {
        let mut table = table();
        table.store(&address(1, GOLD, 0), Value::proved(5), 1);
        assert_eq!(table.probe(&address(1, GOLDS, 9)), Some(Value::proved(5)));
        assert_eq!(table.probe(&address(1, &[], 0)), None);
        assert_eq!(table.probe(&address(1, &[PieceType::Rook], 0)), None);
        table.store(&address(2, GOLD, 0), Value::disproved(NO_DEPENDENCE), 1);
        assert_eq!(table.probe(&address(2, &[], 9)), Some(Value::disproved(NO_DEPENDENCE)));
        assert_eq!(table.probe(&address(2, GOLDS, 0)), None);
        table.dominance = false;
        assert_eq!(table.probe(&address(1, GOLDS, 9)), None);
        assert_eq!(table.probe(&address(2, &[], 9)), None);
        table.clear();
        assert_eq!(table.probe(&address(1, GOLD, 0)), None);
    }

    #[test]
    fn what_rests_on_the_way_holds_on_that_way_only() {
        let mut table = table();
        table.store(&address(3, GOLD, 77), Value::disproved(2), 1);
        assert_eq!(table.probe(&address(3, GOLD, 77)), Some(Value::disproved(2)));
        assert_eq!(table.probe(&address(3, GOLD, 78)), None);
        assert_eq!(table.probe(&address(3, &[], 77)), None);
    }

    #[test]
    fn answers_outrank_numbers_and_the_shortest_mate_stays() {
        let mut table = table();
        table.store(&address(4, GOLDS, 0), Value::open(3, 2, 6), 1);
        assert_eq!(table.probe(&address(4, GOLDS, 0)), Some(Value::open(3, 2, 6)));
        assert_eq!(table.probe(&address(4, GOLD, 0)), None);
        table.store(&address(4, GOLD, 0), Value::proved(7), 1);
        assert_eq!(table.probe(&address(4, GOLDS, 0)), Some(Value::proved(7)));
        table.store(&address(4, GOLD, 0), Value::proved(9), 1);
        assert_eq!(table.probe(&address(4, GOLD, 0)), Some(Value::proved(7)));
        table.store(&address(4, GOLD, 0), Value::proved(3), 1);
        assert_eq!(table.probe(&address(4, GOLD, 0)), Some(Value::proved(3)));
    }

    #[test]
    fn a_full_table_loses_the_least_work_and_grows_no_larger() {
        let mut table = table();
        table.store(&address(5, GOLD, 0), Value::open(8, 8, 1), 1_000);
        for index in 0..200_000_u64 {
            let board = index.wrapping_mul(0x9e37_79b9_7f4a_7c15);
            table.store(&address(board, GOLD, 0), Value::open(1, 1, 1), 1);
        }
        assert!(table.hashfull() > 990 && table.hashfull() <= 1_000);
        assert_eq!(table.probe(&address(5, GOLD, 0)), Some(Value::open(8, 8, 1)));
        assert!(table.slots.len() * size_of::<Slot>() <= 1 << 20);
        assert_eq!(Table::new(usize::MAX).unwrap_err(), OutOfMemory { mib: usize::MAX });
    }
}
