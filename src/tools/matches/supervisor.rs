//! Sees to it that no engine outlives the match, however the match ends.
//!
//! On Unix every engine leads a process group of its own, so that what it starts goes down with it and a Ctrl-C meant
//! for the match does not reach it first. A small helper process, the reaper, holds the read end of a pipe from the match
//! and knows the groups: when the match is killed with no time to clean up, the pipe closes and the reaper kills them. On
//! Windows an engine is a process group too, which a Ctrl-C does not reach, and the match joins a job object that ends
//! everything in it when its last handle closes.

use std::io::{self, BufRead, Write};
use std::path::Path;
use std::process::{ChildStdin, Command};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use shared_child::SharedChild;

/// The hidden argument of `kozuka match` that makes it the reaper.
pub const REAPER_ARGUMENT: &str = "--reaper";

/// All engines that are alive.
#[derive(Default)]
pub struct Supervisor {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    live: Vec<Arc<SharedChild>>,
    stopping: bool,
    reaper: Option<ChildStdin>,
}

impl Supervisor {
    /// A supervisor with a reaper, which is `program` called with `match --reaper`.
    ///
    /// # Errors
    /// If the reaper cannot be started or the job object cannot be made.
    pub fn with_reaper(program: &Path) -> io::Result<Self> {
        let supervisor = Self::default();
        #[cfg(unix)]
        {
            use std::process::Stdio;
            let mut command = Command::new(program);
            command.args(["match", REAPER_ARGUMENT]).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
            lead_group(&mut command);
            let mut reaper = command.spawn()?;
            supervisor.lock().reaper = reaper.stdin.take();
        }
        #[cfg(windows)]
        {
            let _ = program;
            join_job().map_err(|error| io::Error::other(error.to_string()))?;
        }
        Ok(supervisor)
    }

    /// Starts a command under supervision.
    ///
    /// # Errors
    /// If it cannot be started, or the match is being stopped.
    pub fn spawn(&self, command: &mut Command) -> io::Result<Arc<SharedChild>> {
        lead_group(command);
        // Held over the start, so that `stop` sees every engine that was started before it.
        let mut state = self.lock();
        if state.stopping {
            return Err(io::Error::new(io::ErrorKind::Interrupted, "the match is being stopped"));
        }
        let child = Arc::new(SharedChild::spawn(command)?);
        state.tell_reaper('+', child.id());
        state.live.push(Arc::clone(&child));
        Ok(child)
    }

    /// Kills what is left of an engine and of its children, and forgets it.
    pub fn end(&self, child: &Arc<SharedChild>) {
        kill_group(child);
        // Killed, so this does not last.
        let _ = child.wait();
        let mut state = self.lock();
        state.live.retain(|other| !Arc::ptr_eq(other, child));
        state.tell_reaper('-', child.id());
    }

    /// Kills all engines and lets no further one start.
    pub fn stop(&self) {
        let mut state = self.lock();
        state.stopping = true;
        for child in &state.live {
            kill_group(child);
        }
    }

    /// Whether [`Self::stop`] was called.
    pub fn is_stopping(&self) -> bool {
        self.lock().stopping
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // The state is valid at every step, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// The reaper is a second line of defence; the match goes on if it has died.
    fn tell_reaper(&mut self, sign: char, id: u32) {
        if let Some(reaper) = &mut self.reaper {
            let _ = reaper.write_all(format!("{sign}{id}\n").as_bytes());
        }
    }
}

impl Drop for Supervisor {
    fn drop(&mut self) {
        self.stop();
    }
}

/// The reaper: reads `+ID` and `-ID` lines until the pipe closes, then kills the process groups that are left.
pub fn reap() {
    let mut groups = Vec::new();
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        if let Some(id) = line.strip_prefix('+').and_then(|id| id.parse().ok()) {
            groups.push(id);
        } else if let Some(id) = line.strip_prefix('-').and_then(|id| id.parse::<u32>().ok()) {
            groups.retain(|other| *other != id);
        }
    }
    for id in groups {
        kill_group_id(id);
    }
}

#[cfg(unix)]
fn lead_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(windows)]
fn lead_group(command: &mut Command) {
    use std::os::windows::process::CommandExt;
    /// `CREATE_NEW_PROCESS_GROUP` of the Windows API: Ctrl-C in the console is not for this process.
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;
    command.creation_flags(CREATE_NEW_PROCESS_GROUP);
}

#[cfg(not(any(unix, windows)))]
fn lead_group(_: &mut Command) {}

fn kill_group(child: &SharedChild) {
    kill_group_id(child.id());
    let _ = child.kill();
}

#[cfg(unix)]
fn kill_group_id(id: u32) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;
    // 0 and 1 would mean our own group and everything.
    if let Some(id) = i32::try_from(id).ok().filter(|id| *id > 1) {
        let _ = killpg(Pid::from_raw(id), Signal::SIGKILL);
    }
}

#[cfg(not(unix))]
fn kill_group_id(_: u32) {}

#[cfg(windows)]
fn join_job() -> Result<(), win32job::JobError> {
    let job = win32job::Job::create()?;
    let mut info = job.query_extended_limit_info()?;
    info.limit_kill_on_job_close();
    job.set_extended_limit_info(&info)?;
    job.assign_current_process()?;
    // Closing the handle would end this process too; the system closes it when the process ends.
    let _ = job.into_handle();
    Ok(())
}
