//! XBoard's part in a conversation with UCI2WB, the adapter that makes a USI engine appear as one of XBoard's.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use super::{KOZUKA, Program};

/// How long after a move UCI2WB may take to say what it thinks of it. Both come in one piece.
const AFTERTHOUGHT: Duration = Duration::from_millis(200);

/// A client that speaks XBoard's protocol (CECP) to UCI2WB, which speaks USI to Kozuka. Moves go in and out in USI notation.
pub struct XBoard {
    adapter: Program,
    /// Files and ranks of the board.
    size: u8,
    pings: u32,
    /// The lines that UCI2WB sent to the engine, of those that it shows.
    sent: Vec<String>,
}

/// What comes with a move of the engine.
pub struct Answer {
    /// The move in USI notation, or `resign`.
    pub mv: String,
    /// The move that the engine expects.
    pub hint: Option<String>,
    /// The result that UCI2WB claims.
    pub claim: Option<String>,
}

impl XBoard {
    /// Starts the adapter with Kozuka behind it and does what XBoard does before a game on a board of that many files.
    pub fn start(uci2wb: &Path, size: u8) -> Self {
        // The adapter cuts the engine's command at blanks, which a directory may hold; so it is given apart.
        let kozuka = Path::new(KOZUKA);
        let command = format!("./{}", kozuka.file_name().unwrap().display());
        let directory = kozuka.parent().unwrap();
        let adapter = Program::start(Command::new(uci2wb).args(["debug", "-s", &command]).arg(directory));
        let mut board = Self { adapter, size, pings: 0, sent: Vec::new() };
        board.send_all(&["xboard", "protover 2"]);
        let mut names_itself = false;
        board.wait_for("the end of the features", |line| {
            names_itself |= line.contains("myname=\"Kozuka");
            line.starts_with("feature") && line.ends_with("done=1")
        });
        assert!(names_itself);
        board.send_all(&["accepted setboard", "egtpath syzygy /no/such/directory", "memory 68", "cores 1", "new"]);
        if size == 5 {
            board.send("variant 5x5+5_shogi");
        } else {
            board.send_all(&["option USI_Variant=shogi", "variant shogi"]);
        }
        board.send("post");
        board.sync();
        board
    }

    /// Writes a line.
    pub fn send(&mut self, line: &str) {
        self.adapter.send(line);
    }

    /// Writes lines.
    pub fn send_all(&mut self, lines: &[&str]) {
        lines.iter().for_each(|line| self.send(line));
    }

    /// Plays a move on the board.
    pub fn send_move(&mut self, mv: &str) {
        self.send(&format!("usermove {}", self.to_xboard(mv)));
    }

    /// Waits until everything sent so far has been carried out.
    pub fn sync(&mut self) {
        self.pings += 1;
        let pong = format!("pong {}", self.pings);
        self.send(&format!("ping {}", self.pings));
        self.wait_for(&pong, |line| line == pong);
    }

    /// Reads up to the first line for which that holds. Neither the adapter nor the engine may complain before it.
    pub fn wait_for(&mut self, what: &str, mut found: impl FnMut(&str) -> bool) -> String {
        let deadline = Instant::now() + super::PATIENCE;
        loop {
            match self.line(deadline.saturating_duration_since(Instant::now())) {
                Some(line) if found(&line) => return line,
                Some(_) => {}
                None => self.adapter.fail(&format!("waiting for {what} in vain")),
            }
        }
    }

    fn line(&mut self, timeout: Duration) -> Option<String> {
        let line = self.adapter.line(timeout)?;
        let said = line.strip_prefix("# engine said: ");
        let remark = said.and_then(|said| said.strip_prefix("info string "));
        let complaint = ["violation", "tellusererror", "Error", "Illegal"].iter().any(|bad| line.contains(bad));
        if complaint || remark.is_some() {
            self.adapter.fail(&format!("a complaint: {line}"));
        }
        if let Some(sent) = line.strip_prefix("# ").filter(|_| said.is_none()) {
            self.sent.push(sent.to_owned());
        }
        Some(line)
    }

    /// Waits for the engine's move.
    pub fn answer(&mut self) -> Answer {
        let line = self.wait_for("a move", |line| line.starts_with("move ") || line == "resign");
        let mv = line.strip_prefix("move ").map_or(line.clone(), |mv| self.to_usi(mv));
        let mut answer = Answer { mv, hint: None, claim: None };
        let deadline = Instant::now() + AFTERTHOUGHT;
        while answer.hint.is_none() && answer.claim.is_none() {
            let Some(line) = self.line(deadline.saturating_duration_since(Instant::now())) else { break };
            answer.hint = line.strip_prefix("Hint: ").map(|mv| self.to_usi(mv));
            answer.claim = ["1-0 ", "0-1 ", "1/2-1/2 "].iter().any(|result| line.starts_with(result)).then_some(line);
        }
        answer
    }

    /// Waits until the engine is told to analyse: what it thinks from then on belongs to the position of now.
    pub fn wait_for_analysis(&mut self) {
        self.wait_for("a new analysis", |line| line == "# go infinite");
    }

    /// A line of thought of at least that depth: its moves.
    pub fn thought(&mut self, depth: u32) -> Vec<String> {
        let is_deep = |line: &str| {
            let numbers: Vec<i64> = line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
            numbers.len() == 4 && numbers[0] >= i64::from(depth)
        };
        let line = self.wait_for("a line of thought", is_deep);
        line.split_ascii_whitespace().skip(4).map(|mv| self.to_usi(mv)).collect()
    }

    /// How many lines with that beginning the adapter sent to the engine.
    pub fn count_sent(&self, beginning: &str) -> usize {
        self.sent.iter().filter(|line| line.starts_with(beginning)).count()
    }

    /// Fails the test with the end of the conversation.
    pub fn fail(&self, reason: &str) -> ! {
        self.adapter.fail(reason)
    }

    /// Ends the adapter, which ends the engine.
    pub fn quit(mut self) {
        self.send("quit");
        self.adapter.leave();
    }

    /// A move as XBoard writes it, in coordinates that run from the lower left corner.
    fn to_xboard(&self, mv: &str) -> String {
        self.mirror(mv).replace('*', "@")
    }

    /// A move that XBoard is shown. UCI2WB leaves the sign of a drop as it is in lines of thought.
    fn to_usi(&self, mv: &str) -> String {
        // XBoard marks a move that could have promoted and did not.
        self.mirror(mv.trim_end_matches('=')).replace('@', "*")
    }

    fn mirror(&self, mv: &str) -> String {
        let mirror = |c: char| match c {
            '1'..='9' | 'a'..='i' => char::from(b'a' + b'0' + self.size - c as u8),
            other => other,
        };
        mv.chars().map(mirror).collect()
    }
}
