//! What the engine writes: whole lines, flushed, never more than a client can take.

use std::io::{self, Write};
use std::process;
use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use rsshogi_usi::{BestMove, InfoCommand, InfoScore, MateScore, UsiCommand, format_command};

use crate::engine::{MateReply, Reply};
use crate::mate::Progress;
use crate::search::Report;
use crate::types::Score;
use crate::types::score::{is_certain, mate_distance};

/// Longest text of an `info string`, in characters.
const STRING_CHARS: usize = 300;
/// Most moves of a line that are written, so that it stays below 1,000 bytes.
const PV_MOVES: usize = 120;
/// Centipawns by which the odds of winning grow by the factor e.
const WDL_SCALE: f64 = 460.0;
/// So many lines of a search are shown however fast they come,
const INFO_BURST: f64 = 100.0;
/// and so many a second in the long run.
const INFO_RATE: f64 = 50.0;

/// The stream to the client, shared by the loop and the search.
pub struct Output {
    stream: Mutex<Box<dyn Write + Send>>,
}

impl Output {
    /// Writes to that stream.
    pub fn new(stream: impl Write + Send + 'static) -> Self {
        Self { stream: Mutex::new(Box::new(stream)) }
    }

    /// Writes a line, or several that belong together. When nobody reads any more the process ends, quietly.
    pub fn line(&self, text: &str) {
        Self::write(&mut **self.stream.lock().unwrap_or_else(PoisonError::into_inner), text);
    }

    fn write(stream: &mut dyn Write, text: &str) {
        if write_line(stream, text).is_err() {
            process::exit(0);
        }
    }

    /// Writes a command.
    pub fn command(&self, command: &UsiCommand) {
        self.line(&text_of(command));
    }

    /// Tells the user something.
    pub fn say(&self, text: &str) {
        self.command(&UsiCommand::info_string(plain(text)));
    }

    /// Tells the user something unless this very moment something else is being written: for reports of a panic, which
    /// may come from within a write.
    pub fn try_say(&self, text: &str) {
        let mut stream = match self.stream.try_lock() {
            Ok(stream) => stream,
            Err(TryLockError::Poisoned(stream)) => stream.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        Self::write(&mut **stream, &format_command(&UsiCommand::info_string(plain(text))));
    }
}

/// A command as text. `multipv` comes before the numbers of its line: clients that read word by word (lishoginet) take
/// what stands before it for the first line's.
fn text_of(command: &UsiCommand) -> String {
    let UsiCommand::Info(info) = command else { return format_command(command) };
    let InfoCommand { depth, seldepth, multipv, .. } = *info;
    let rest = InfoCommand { depth: None, seldepth: None, multipv: None, ..info.clone() };
    let [head, rest] = [InfoCommand { depth, seldepth, multipv, ..InfoCommand::new() }, rest]
        .map(|info| format_command(&UsiCommand::Info(info)));
    head + rest.strip_prefix("info").unwrap_or(&rest)
}

fn write_line(stream: &mut dyn Write, text: &str) -> io::Result<()> {
    // One write a line, so that nothing comes in between even where several processes share the stream.
    stream.write_all(format!("{text}\n").as_bytes())?;
    stream.flush()
}

/// A text on one line, not too long, with one blank between words, and without words that some clients take for more
/// than text.
fn plain(text: &str) -> String {
    let mut short: String = text.chars().take(STRING_CHARS).map(|c| if c.is_control() { ' ' } else { c }).collect();
    while short.contains("  ") {
        short = short.replace("  ", " ");
    }
    if text.chars().nth(STRING_CHARS).is_some() {
        short.push_str("...");
    }
    let mut safe = String::with_capacity(short.len());
    for (index, piece) in short.split_inclusive(|c: char| !c.is_alphanumeric()).enumerate() {
        let word = piece.trim_end_matches(|c: char| !c.is_alphanumeric());
        let (first, rest) = match word {
            "cp" | "mate" => piece.split_at(1),
            "variant" if index == 0 => piece.split_at(1),
            _ => ("", piece),
        };
        safe.push_str(first);
        if !first.is_empty() {
            safe.push('_');
        }
        safe.push_str(rest);
    }
    safe
}

/// Wins and losses that such a score leads to, in permille, with the draws between them: `[wins, draws, losses]`.
///
/// The logistic `1000 / (1 + exp(-score / 460))`, fitted to 28,712 scores of 1,284 games that the engine played against
/// itself. None of them was drawn, so draws are always 0. A certain end of the game is 1000 or 0.
pub fn wdl(score: Score) -> [u32; 3] {
    let wins = match score {
        _ if is_certain(score) => {
            if score > 0 {
                1_000
            } else {
                0
            }
        }
        _ => (1_000.0 / (1.0 + (-f64::from(score) / WDL_SCALE).exp())).round() as u32,
    };
    [wins, 0, 1_000 - wins]
}

/// The `info` line for what the search reports, with [`wdl`] if that is asked for.
pub fn info(report: &Report, pv: &[String], show_wdl: bool) -> UsiCommand {
    let score = match mate_distance(report.score) {
        Some(plies) => InfoScore::mate(MateScore::ply(plies)),
        None => InfoScore::cp(report.score),
    };
    if pv.is_empty() {
        // The game is over, or a declaration ends it: nothing was searched.
        return UsiCommand::info(InfoCommand::new().with_depth(report.depth).with_score(score));
    }
    let info = InfoCommand::new()
        .with_depth(report.depth)
        .with_seldepth(report.seldepth)
        .with_time(milliseconds(report.time))
        .with_nodes(report.nodes)
        .with_nps(nps(report.nodes, report.time))
        .with_hashfull(report.hashfull)
        .with_multipv(report.multipv.try_into().unwrap_or(u32::MAX))
        .with_score(score)
        .with_pv(pv.iter().take(PV_MOVES).cloned());
    if !show_wdl {
        return UsiCommand::info(info);
    }
    let [wins, draws, losses] = wdl(report.score);
    UsiCommand::info(info.with_extra(format!("wdl {wins} {draws} {losses}")))
}

fn milliseconds(time: Duration) -> u64 {
    time.as_millis().try_into().unwrap_or(u64::MAX)
}

fn nps(nodes: u64, time: Duration) -> u64 {
    (u128::from(nodes) * 1_000_000 / time.as_micros().max(1)).try_into().unwrap_or(u64::MAX)
}

/// The `info` line for how far the mate solver is. It has nothing to say about the score.
pub fn progress_info(progress: &Progress) -> UsiCommand {
    UsiCommand::info(effort(InfoCommand::new(), progress))
}

/// The `info` line for a mate that was found.
pub fn mate_info(progress: &Progress, line: &[String]) -> UsiCommand {
    let plies = i32::try_from(line.len()).unwrap_or(i32::MAX);
    let info = InfoCommand::new().with_depth(plies.unsigned_abs());
    let info = effort(info, progress).with_score(InfoScore::mate(MateScore::ply(plies)));
    UsiCommand::info(info.with_pv(line.iter().take(PV_MOVES).cloned()))
}

fn effort(info: InfoCommand, progress: &Progress) -> InfoCommand {
    info.with_time(milliseconds(progress.time))
        .with_nodes(progress.nodes)
        .with_nps(nps(progress.nodes, progress.time))
        .with_hashfull(progress.hashfull)
}

/// The `checkmate` line for the solver's answer.
pub fn checkmate(reply: MateReply) -> UsiCommand {
    match reply {
        MateReply::Mate(line) => UsiCommand::checkmate_moves(line),
        MateReply::NoMate => UsiCommand::checkmate_nomate(),
        MateReply::Unknown => UsiCommand::checkmate_timeout(),
    }
}

/// The `bestmove` line for the answer.
pub fn bestmove(reply: Reply) -> UsiCommand {
    UsiCommand::bestmove(match reply {
        Reply::Move { best, ponder } => BestMove::move_to(best).with_optional_ponder(ponder),
        Reply::Resign => BestMove::resign(),
        Reply::Win => BestMove::win(),
    })
}

/// Holds lines of a search back while too many come (a token bucket). The last ones are always shown.
#[derive(Debug)]
pub struct Throttle {
    /// How many lines may pass at once, as of that time.
    tokens: f64,
    since: Instant,
    /// Whether the lines of the present iteration go straight through.
    open: bool,
    held: Vec<UsiCommand>,
}

impl Throttle {
    /// The throttle of a search that begins now.
    pub fn new(now: Instant) -> Self {
        Self { tokens: INFO_BURST, since: now, open: true, held: Vec::new() }
    }

    /// Takes a line; `first` if it is the first one of its iteration. Returns what is to be written now.
    pub fn pass(&mut self, line: UsiCommand, first: bool, now: Instant) -> Option<UsiCommand> {
        if first {
            let refill = now.duration_since(self.since).as_secs_f64() * INFO_RATE;
            self.tokens = (self.tokens + refill).min(INFO_BURST);
            self.since = now;
            self.open = self.tokens >= 1.0;
            self.held.clear();
        }
        if !self.open {
            self.held.push(line);
            return None;
        }
        self.tokens -= 1.0;
        Some(line)
    }

    /// The lines that were held back last.
    pub fn rest(&mut self) -> Vec<UsiCommand> {
        std::mem::take(&mut self.held)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::score::{MATE, RULE_WIN, mate_in, mated_in};

    fn report(score: i32) -> Report {
        Report {
            depth: 7,
            seldepth: 9,
            multipv: 1,
            score,
            time: Duration::from_millis(20),
            nodes: 3_000,
            hashfull: 12,
            pv: Vec::new(),
        }
    }

    fn line(report: &Report, pv: &[&str]) -> String {
        let pv: Vec<String> = pv.iter().map(|mv| (*mv).to_owned()).collect();
        text_of(&info(report, &pv, false))
    }

    #[test]
    fn lines_end_with_the_moves() {
        assert_eq!(
            line(&report(-35), &["4e4d", "2a2b"]),
            "info depth 7 seldepth 9 multipv 1 time 20 nodes 3000 nps 150000 hashfull 12 score cp -35 pv 4e4d 2a2b"
        );
    }

    #[test]
    fn wins_and_losses_are_shown_on_demand() {
        let line = |score| text_of(&info(&report(score), &["4e4d".to_owned()], true));
        assert!(line(0).ends_with(" hashfull 12 score cp 0 wdl 500 0 500 pv 4e4d"));
        assert!(line(460).contains(" wdl 731 0 269 "));
        assert!(line(mated_in(2)).contains(" score mate -2 wdl 0 0 1000 "));
        assert_eq!(wdl(RULE_WIN - 5), [1_000, 0, 0]);
        for score in (-20_000..=20_000).step_by(77) {
            assert_eq!(wdl(score).iter().sum::<u32>(), 1_000);
            assert!(wdl(score)[0] <= wdl(score + 77)[0]);
            assert_eq!(wdl(score)[0], wdl(-score)[2]);
        }
    }

    #[test]
    fn mates_are_counted_in_plies() {
        assert!(line(&report(mate_in(1)), &["G*1b"]).contains(" score mate 1 pv G*1b"));
        assert!(line(&report(mated_in(2)), &["5e4e"]).contains(" score mate -2 pv"));
        let mated = Report { depth: 0, seldepth: 0, time: Duration::ZERO, nodes: 0, hashfull: 0, ..report(-MATE) };
        assert_eq!(line(&mated, &[]), "info depth 0 score mate 0");
    }

    #[test]
    fn wins_by_rule_are_no_mates() {
        assert!(line(&report(RULE_WIN - 4), &["5e4e"]).contains(" score cp 24996 "));
    }

    #[test]
    fn numbers_stay_finite() {
        let instant = Report { time: Duration::ZERO, nodes: u64::MAX, ..report(0) };
        assert!(line(&instant, &["5e4e"]).contains(&format!(" nps {} ", u64::MAX)));
    }

    #[test]
    fn lines_stay_below_a_thousand_bytes() {
        let pv = vec!["1a2b+"; 300];
        let long = Report { nodes: u64::MAX, time: Duration::from_millis(u64::MAX), ..report(-29_000) };
        assert!(line(&long, &pv).len() < 1_000);
        assert!(format_command(&UsiCommand::info_string(plain(&"字".repeat(100_000)))).len() < 1_000);
    }

    #[test]
    fn text_cannot_be_mistaken() {
        assert_eq!(plain("variant 5x5"), "v_ariant 5x5");
        assert_eq!(plain("no variant 5x5"), "no variant 5x5");
        assert_eq!(plain("'mate 3' cp (mate)"), "'m_ate 3' c_p (m_ate)");
        assert_eq!(plain("ultimate cpu\tcp\n"), "ultimate cpu c_p ");
        assert_eq!(plain("my   nets\t\tfolder"), "my nets folder");
        assert_eq!(plain(""), "");
    }

    #[test]
    fn replies() {
        let best = |ponder: Option<&str>| Reply::Move { best: "4e4d".to_owned(), ponder: ponder.map(str::to_owned) };
        for (reply, text) in [
            (best(None), "bestmove 4e4d"),
            (best(Some("2a2b")), "bestmove 4e4d ponder 2a2b"),
            (Reply::Resign, "bestmove resign"),
            (Reply::Win, "bestmove win"),
        ] {
            assert_eq!(format_command(&bestmove(reply)), text);
        }
    }

    #[test]
    fn floods_are_thinned_out_but_the_last_lines_are_shown() {
        let start = Instant::now();
        let mut throttle = Throttle::new(start);
        let command = |depth| UsiCommand::info(InfoCommand::new().with_depth(depth));
        for depth in 0..INFO_BURST as u32 {
            assert_eq!(throttle.pass(command(depth), true, start), Some(command(depth)));
        }
        assert_eq!(throttle.pass(command(200), true, start), None);
        assert_eq!(throttle.pass(command(201), true, start), None);
        // An iteration is shown whole or not at all.
        let later = start + Duration::from_secs(1);
        assert_eq!(throttle.pass(command(201), false, later), None);
        assert_eq!(throttle.rest(), [command(201), command(201)]);
        let passed = (0..1_000).filter(|_| throttle.pass(command(202), true, later).is_some()).count();
        assert_eq!(passed, INFO_RATE as usize);
    }

    #[test]
    fn output_is_written_line_by_line() {
        let (reader, writer) = io::pipe().expect("a pipe");
        let output = Output::new(writer);
        output.line("usiok");
        output.say("two\nlines");
        drop(output);
        assert_eq!(io::read_to_string(reader).expect("text"), "usiok\ninfo string two lines\n");
    }
}
