//! Time controls, and the clock of one side in one game.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use rsshogi_usi::GoParams;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::types::Color;

/// What one side may spend on its moves. The text form is a comma-separated list such as `10+0.1`, `60,byoyomi=10`,
/// `byoyomi=1`, `st=0.1`, `nodes=5000`, `depth=8`; all times are in seconds.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct TimeControl {
    /// Main time, if the side has a clock at all.
    pub base: Option<Duration>,
    /// Added after each move.
    pub increment: Duration,
    /// Free for each move once the main time is spent.
    pub byoyomi: Duration,
    /// A fixed time for each move.
    pub move_time: Option<Duration>,
    /// A limit on nodes for each move.
    pub nodes: Option<u64>,
    /// A limit on depth for each move.
    pub depth: Option<u32>,
}

/// A text that is no time control.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("'{0}' is no time control; examples: 10+0.1, byoyomi=1, 60,byoyomi=10, st=0.1, nodes=5000, depth=8")]
pub struct BadTimeControl(String);

impl FromStr for TimeControl {
    type Err = BadTimeControl;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let bad = || BadTimeControl(text.to_owned());
        let mut control = Self::default();
        let mut named = Vec::new();
        for part in text.split(',').map(str::trim) {
            let pair = part.split_once('=');
            let name = pair.map(|(name, _)| name);
            // Of two values of one kind, neither is more likely to be meant.
            if named.contains(&name) {
                return Err(bad());
            }
            named.push(name);
            match pair {
                Some(("byoyomi", value)) => {
                    control.byoyomi = seconds(value).ok_or_else(bad)?;
                    control.base.get_or_insert(Duration::ZERO);
                }
                Some(("st", value)) => control.move_time = Some(seconds(value).filter(nonzero).ok_or_else(bad)?),
                Some(("nodes", value)) => {
                    control.nodes = Some(value.parse().ok().filter(|nodes| *nodes > 0).ok_or_else(bad)?);
                }
                Some(("depth", value)) => {
                    control.depth = Some(value.parse().ok().filter(|depth| *depth > 0).ok_or_else(bad)?);
                }
                Some(_) => return Err(bad()),
                None => {
                    let (base, increment) = part.split_once('+').unwrap_or((part, "0"));
                    control.base = Some(seconds(base).ok_or_else(bad)?);
                    control.increment = seconds(increment).ok_or_else(bad)?;
                }
            }
        }
        let endless = control.base == Some(Duration::ZERO) && control.byoyomi.is_zero();
        if endless { Err(bad()) } else { Ok(control) }
    }
}

fn nonzero(time: &Duration) -> bool {
    !time.is_zero()
}

/// At most about 11 days, so that sums of times cannot overflow.
fn seconds(text: &str) -> Option<Duration> {
    let value: f64 = text.parse().ok()?;
    (0.0..=1e6).contains(&value).then(|| Duration::from_secs_f64(value))
}

impl fmt::Display for TimeControl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(base) = self.base {
            if !self.increment.is_zero() {
                parts.push(format!("{}+{}", base.as_secs_f64(), self.increment.as_secs_f64()));
            } else if !base.is_zero() || self.byoyomi.is_zero() {
                parts.push(base.as_secs_f64().to_string());
            }
        }
        if !self.byoyomi.is_zero() {
            parts.push(format!("byoyomi={}", self.byoyomi.as_secs_f64()));
        }
        if let Some(time) = self.move_time {
            parts.push(format!("st={}", time.as_secs_f64()));
        }
        if let Some(nodes) = self.nodes {
            parts.push(format!("nodes={nodes}"));
        }
        if let Some(depth) = self.depth {
            parts.push(format!("depth={depth}"));
        }
        f.write_str(&parts.join(","))
    }
}

impl TryFrom<String> for TimeControl {
    type Error = BadTimeControl;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<TimeControl> for String {
    fn from(control: TimeControl) -> Self {
        control.to_string()
    }
}

/// Engines take a fixed time for a move as a target, which many of them overstep a little; a clock as a limit.
const MOVE_TIME_MARGIN: Duration = Duration::from_millis(50);

/// How long a move may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Budget {
    /// The time of the move.
    pub time: Duration,
    /// What it may take beyond that without being late.
    pub margin: Duration,
}

/// The clock of one side.
#[derive(Clone, Debug)]
pub struct Clock {
    control: TimeControl,
    remaining: Duration,
}

impl Clock {
    /// A full clock.
    pub fn new(control: &TimeControl) -> Self {
        Self { control: control.clone(), remaining: control.base.unwrap_or_default() }
    }

    /// The main time left, without the increment of the move to come; `None` if the side has no clock.
    pub fn remaining(&self) -> Option<Duration> {
        self.control.base.map(|_| self.remaining)
    }

    /// How long the next move may take; `None` if only nodes or depth limit it.
    pub fn budget(&self) -> Option<Budget> {
        let clock =
            self.control.base.map(|_| Budget { time: self.remaining + self.control.byoyomi, margin: Duration::ZERO });
        let fixed = self.control.move_time.map(|time| Budget { time, margin: MOVE_TIME_MARGIN });
        match (clock, fixed) {
            (Some(clock), Some(fixed)) if fixed.time + fixed.margin < clock.time => Some(fixed),
            (clock, fixed) => clock.or(fixed),
        }
    }

    /// Takes the time of a move off, and only then adds the increment.
    pub fn spend(&mut self, elapsed: Duration) {
        self.remaining = self.remaining.saturating_sub(elapsed) + self.control.increment;
    }
}

/// The arguments of `go` for the side `mover`, given the clocks of Black and White as they stand.
///
/// The limits are the mover's own. An opponent without a clock is sent as having no time, since many engines want both.
pub fn go_params(clocks: &[Clock; 2], mover: Color) -> GoParams {
    let own = &clocks[mover.index()];
    let mut go = GoParams {
        movetime: own.control.move_time.map(millis),
        nodes: own.control.nodes,
        depth: own.control.depth,
        ..GoParams::default()
    };
    if own.control.base.is_some() {
        let [black, white] = clocks;
        go.btime = Some(millis(black.remaining));
        go.wtime = Some(millis(white.remaining));
        if !black.control.increment.is_zero() || !white.control.increment.is_zero() {
            go.binc = Some(millis(black.control.increment));
            go.winc = Some(millis(white.control.increment));
        }
        // Some engines take a `go` without byoyomi and increment for one without a clock.
        if !own.control.byoyomi.is_zero() || go.binc.is_none() {
            go.byoyomi = Some(millis(own.control.byoyomi));
        }
    }
    go
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rsshogi_usi::{UsiCommand, format_command};

    fn control(text: &str) -> TimeControl {
        text.parse().expect(text)
    }

    fn go(black: &str, white: &str, mover: Color) -> String {
        let clocks = [Clock::new(&control(black)), Clock::new(&control(white))];
        format_command(&UsiCommand::Go(go_params(&clocks, mover)))
    }

    #[test]
    fn every_form_reads_back_as_it_prints() {
        for text in ["10+0.1", "0.5", "byoyomi=1", "60,byoyomi=10", "st=0.1", "nodes=5000", "depth=8", "10+0.1,depth=8"]
        {
            assert_eq!(control(text).to_string(), text);
            assert_eq!(control(&control(text).to_string()), control(text));
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let words = "0 0+0.1 -1 1e9 nan ten nodes=0 nodes=-5 st=0 moves=3 10+ 10+0.1, nodes=100,nodes=200 1,2";
        for text in words.split(' ').chain([""]) {
            assert!(text.parse::<TimeControl>().is_err(), "{text}");
        }
    }

    #[test]
    fn go_carries_what_each_control_means() {
        assert_eq!(go("10+0.1", "10+0.1", Color::Black), "go btime 10000 wtime 10000 binc 100 winc 100");
        assert_eq!(go("10+0.1", "2+0.02", Color::White), "go btime 10000 wtime 2000 binc 100 winc 20");
        assert_eq!(go("byoyomi=1", "byoyomi=1", Color::Black), "go btime 0 wtime 0 byoyomi 1000");
        assert_eq!(go("10", "10", Color::Black), "go btime 10000 wtime 10000 byoyomi 0");
        assert_eq!(go("st=0.1", "10", Color::Black), "go movetime 100");
        assert_eq!(go("nodes=5000", "10", Color::Black), "go nodes 5000");
        assert_eq!(go("depth=8", "10", Color::Black), "go depth 8");
    }

    #[test]
    fn the_increment_is_not_there_before_the_move() {
        let mut clocks = [Clock::new(&control("1+0.5")), Clock::new(&control("1+0.5"))];
        assert_eq!(clocks[0].budget().map(|budget| budget.time), Some(Duration::from_secs(1)));
        clocks[0].spend(Duration::from_millis(900));
        assert_eq!(clocks[0].remaining(), Some(Duration::from_millis(600)));
        let sent = format_command(&UsiCommand::Go(go_params(&clocks, Color::White)));
        assert_eq!(sent, "go btime 600 wtime 1000 binc 500 winc 500");
    }

    #[test]
    fn byoyomi_is_free_once_main_time_is_spent() {
        let mut clock = Clock::new(&control("1,byoyomi=2"));
        assert_eq!(clock.budget().map(|budget| budget.time), Some(Duration::from_secs(3)));
        clock.spend(Duration::from_millis(2500));
        assert_eq!(clock.remaining(), Some(Duration::ZERO));
        assert_eq!(clock.budget().map(|budget| budget.time), Some(Duration::from_secs(2)));
    }

    #[test]
    fn only_a_fixed_time_leaves_a_margin() {
        let budget = |text: &str| Clock::new(&control(text)).budget().expect("limited by time");
        assert_eq!(budget("st=0.1"), Budget { time: Duration::from_millis(100), margin: MOVE_TIME_MARGIN });
        assert_eq!(budget("1+0.1"), Budget { time: Duration::from_secs(1), margin: Duration::ZERO });
        assert_eq!(budget("1,st=0.1"), budget("st=0.1"));
        assert_eq!(budget("0.1,st=0.1"), budget("0.1"));
    }

    #[test]
    fn a_side_limited_by_nodes_has_no_clock() {
        let clock = Clock::new(&control("nodes=1"));
        assert_eq!((clock.budget(), clock.remaining()), (None, None));
    }
}
