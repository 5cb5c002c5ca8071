#!/usr/bin/env python3
"""Kozuka in XBoard, through UCI2WB, on a screen that nobody sees.

    xboard.py [KOZUKA] [--record DIRECTORY]

Needs the Debian packages xboard, uci2wb, xvfb and xdotool, and installs those that are missing if it may. First a match of three
games with clocks and pondering, as each side; then, by the keyboard: the engine's options dialog, a game in which a move is
taken back, analysis, and the game goes on. Exits with 0 if XBoard found nothing to complain about and each step was seen in
what Kozuka was sent.
"""

import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
import time

from support import RECORDER, command_line, fail, lacking, options

PACKAGES = {"xboard": "xboard", "uci2wb": "uci2wb", "Xvfb": "xvfb", "xdotool": "xdotool"}
PIECES = "P.BR.S...G.+.++.+Kp.br.s...g.+.++.+k"
COMPLAINTS = "llegal move|Unrecognized|false claim|exited unexpectedly|violation"
# Lines of the debug file that tell nothing of who waits for whom.
CHATTER = re.compile(r"engine said: info|promoChar|LegalDrop|Impossible|<\w+ *: +\d+ +-?\d+ +\d+ +\d+ ")
GAMES = 3
# So often a match is begun that comes to a stop because of UCI2WB, and after so many seconds without a move.
ATTEMPTS = 3
STUCK = 20
# Seconds that a step may take on a machine that is busy with other things.
PATIENCE = 60


def install():
    os.environ["PATH"] += ":/usr/games"
    missing = [package for program, package in PACKAGES.items() if not shutil.which(program)]
    for command in (["update"], ["install", "-y", "--no-install-recommends", *missing]):
        if missing and (
            not shutil.which("apt-get") or subprocess.run(["apt-get", "-q", *command], stdout=subprocess.DEVNULL).returncode
        ):
            lacking(f"not installed, and apt-get cannot do it: {', '.join(missing)}")


class XBoard:
    """XBoard with Kozuka. Each of Kozuka's processes has a dialogue of its own."""

    def __init__(self, kozuka, directory, name, arguments, opponent=False):
        self.directory = directory / name
        self.directory.mkdir()
        # UCI2WB cuts the command of an engine at blanks, so there is one word to start it by.
        here = shlex.quote(str(self.directory))
        for name, ending in [("engine", "usi"), ("opponent", "opponent")]:
            engine = self.directory / name
            engine.write_text(
                f"#!/bin/sh\nexec {shlex.join(RECORDER)} {here}/$(date +%s%N).{ending} {shlex.quote(str(kozuka))}\n"
            )
            engine.chmod(0o755)
        (self.directory / "mini.fen").write_text("rbsgk/4p/5/P4/KGSBR[-] w 0 1\n")
        self.debug = self.directory / "xboard.debug"
        command = ["xboard", "-variant", "shogi", "-boardWidth", "5", "-boardHeight", "5", "-holdingsSize", "5"]
        command += ["-pieceToCharTable", PIECES, "-lpf", "mini.fen", "-debug", "-nameOfDebugFile", str(self.debug)]
        command += ["-fcp", "uci2wb debug -s ./engine", "-popupMoveErrors", "false", *arguments]
        if opponent:
            command += ["-scp", "uci2wb -s ./opponent"]
        self.moves, self.moved = 0, time.monotonic()
        home = os.environ | {"HOME": str(self.directory)}
        self.output = open(self.directory / "output", "w", encoding="utf-8")
        self.process = subprocess.Popen(
            command, cwd=self.directory, env=home, stdout=self.output, stderr=self.output, start_new_session=True
        )

    def logs(self):
        return sorted(self.directory.glob("*.usi"))

    def sent(self):
        """What the running Kozuka was sent and said, line by line."""
        return self.logs()[-1].read_text().splitlines() if self.logs() else []

    def is_stuck(self):
        """Whether nobody has moved for a while, though neither Kozuka owes a move."""
        logs = self.logs() + sorted(self.directory.glob("*.opponent"))
        dialogues = [log.read_text() for log in logs]
        moves = sum(dialogue.count("< bestmove") for dialogue in dialogues)
        if moves != self.moves:
            self.moves, self.moved = moves, time.monotonic()
        return time.monotonic() > self.moved + STUCK and not any(map(owes_a_move, dialogues))

    def wait_for(self, what, pattern, count=1):
        """Waits until so many lines match that are not counted yet."""
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            found = [line for line in self.sent() if re.search(pattern, line)]
            if len(found) >= count:
                print(f"  {what}: {found[count - 1].strip()[:110]}", flush=True)
                return
            if self.process.poll() is not None:
                break
            time.sleep(0.1)
        self.fail_with(f"waited in vain for {what} ({pattern})")

    def fail_with(self, message):
        """Fails with all that tells why."""
        code = self.process.poll()
        state = "XBoard is running" if code is None else f"XBoard has ended with {code}"
        debug = self.debug.read_text(errors="replace").splitlines() if self.debug.exists() else []
        debug = [line for line in debug if not CHATTER.search(line)][-60:]
        output = (self.directory / "output").read_text(errors="replace")
        fail("\n".join([message, state, "dialogue:", *self.sent()[-30:], "debug file:", *debug, "output:", output]))

    def number(self, pattern):
        return sum(bool(re.search(pattern, line)) for line in self.sent())

    def next(self, what, pattern, action):
        """Does something and waits for the first line after it that matches."""
        before = self.number(pattern)
        action()
        self.wait_for(what, pattern, before + 1)

    def windows(self):
        found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", "."], capture_output=True, text=True)
        return found.stdout.split()

    def key(self, *keys, window=None):
        window = window or self.windows()[0]
        subprocess.run(["xdotool", "windowfocus", window], check=True, timeout=20)
        time.sleep(0.3)
        subprocess.run(["xdotool", "key", "--delay", "150", *keys], check=True, timeout=20)

    def complaints(self):
        debug = self.debug.read_text(errors="replace") if self.debug.exists() else ""
        return [line for line in debug.splitlines() if re.search(COMPLAINTS, line)]

    def end(self):
        self.key("ctrl+q")
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            fail("XBoard does not end")
        if self.complaints():
            fail("\n".join(self.complaints()))

    def kill(self):
        """Ends it and what it has started."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def owes_a_move(dialogue):
    """Whether the engine was asked for a move, by more than `go ponder`, and has not told it."""
    asked = owed = False
    for command in re.findall(r"^ *[\d.]+ ([<>] \S+(?: ponder)?)", dialogue, re.MULTILINE):
        if command.startswith("> go"):
            asked, owed = True, command != "> go ponder"
        elif command in ("> ponderhit", "> stop"):
            owed = asked
        elif command == "< bestmove":
            asked = owed = False
    return owed


def is_played(board, game_file):
    """Waits for the end of the match; false if the games have come to a stop that is no engine's fault."""
    deadline = time.monotonic() + GAMES * PATIENCE
    try:
        while not game_file.exists() or game_file.read_text(errors="replace").count("[Result ") < GAMES:
            if board.process.poll() is None and board.is_stuck():
                return False
            if time.monotonic() > deadline or board.process.poll() not in (None, 0):
                board.fail_with("the match does not end")
            time.sleep(0.2)
        # Both Kozukas are told of the end before XBoard leaves.
        time.sleep(2)
        return True
    finally:
        board.kill()


def match(kozuka, directory, record):
    # UCI2WB forgets that it was told to ponder if the first game begins while it starts.
    print("a match of three games, as sente, as gote and as sente again, with clocks and pondering")
    for attempt in range(1, ATTEMPTS + 1):
        game_file = directory / f"games-{attempt}.pgn"
        arguments = ["-mg", str(GAMES), "-tc", "0:02", "-inc", "0", "-ponder", "-matchPause", "500", "-sgf", str(game_file)]
        board = XBoard(kozuka, directory, f"match-{attempt}", arguments, opponent=True)
        if is_played(board, game_file):
            break
        # A move that comes in the very moment in which UCI2WB lets its engine ponder can get lost in it.
        print("  UCI2WB has kept a move to itself: both engines ponder; once more")
    else:
        fail("UCI2WB lets no match come to its end")
    if board.complaints():
        fail("\n".join(board.complaints()))
    games = game_file.read_text(errors="replace")
    results = re.findall(r'\[(White|Black|Result) "(.*)"\]', games)
    comments = re.findall(r"\{[^}]*\}\s*(?:1-0|0-1|1/2-1/2)", games)
    print(f"  {results}\n  {comments}")
    if games.count("[Result ") != GAMES or re.search("illegal|forfeit|exited", games):
        fail(f"the games:\n{games}")
    played = [log for log in board.logs() if "< bestmove" in log.read_text()]
    if len(played) != GAMES:
        fail(f"{len(played)} dialogues with moves instead of {GAMES}")
    pondered = 0
    for number, log in enumerate(played, start=1):
        text = log.read_text()
        counts = [text.count(part) for part in ("< bestmove", "> go ponder", "> ponderhit")]
        print("  game {}: {} answers, {} times pondering, {} hits".format(number, *counts))
        pondered += counts[1]
        keep(log, record, f"xboard-match-{number}.usi")
    if pondered == 0:
        fail("no pondering")


def window_named(name):
    """The window of that name, if it is there."""
    found = subprocess.run(["xdotool", "search", "--onlyvisible", "--name", name], capture_output=True, text=True)
    return (found.stdout.split() or [None])[0]


def by_hand(kozuka, directory, record):
    print("by the keyboard: options, a game with a move taken back, analysis")
    board = XBoard(kozuka, directory, "hand", ["-tc", "0:20", "-inc", "0", "-xponder"])
    try:
        board.wait_for("it is ready", "< readyok")
        # The main window is there before the engine is.
        deadline = time.monotonic() + PATIENCE
        while not (main := window_named("mini.fen")):
            if time.monotonic() > deadline:
                fail("no window")
            time.sleep(0.2)
        # The window of the engine's thoughts comes a little later.
        time.sleep(2)

        # The other window would lie over this one.
        other = window_named("Engine Output")
        if other:
            subprocess.run(["xdotool", "windowmove", other, "500", "500"], timeout=20)
        # There is no key for it: the fourth line of the menu.
        subprocess.run(["xdotool", "windowfocus", main], check=True, timeout=20)
        subprocess.run(["xdotool", "mousemove", "245", "12", "click", "1"], check=True, timeout=20)
        time.sleep(1)
        subprocess.run(["xdotool", "key", "Down", "Down", "Down", "Down", "Return"], check=True, timeout=20)
        deadline = time.monotonic() + 20
        while not (dialog := window_named("Engine Settings")):
            if time.monotonic() > deadline:
                fail("no dialog for the engine's options")
            time.sleep(0.2)
        time.sleep(1)
        # The fifth field: three are UCI2WB's, and so is the fourth.
        board.key("Tab", "Tab", "Tab", "Tab", "ctrl+a", "2", "Return", "alt+o", window=dialog)

        # UCI2WB hands the option over together with the next command.
        answer = "< bestmove"
        board.next("first move, as sente", answer, lambda: board.key("ctrl+w", window=main))
        board.wait_for("an option was set", "> setoption name USI_MultiPV value 2")
        time.sleep(0.5)
        board.next("second move, as gote", answer, lambda: board.key("ctrl+b", window=main))
        time.sleep(0.5)
        # A move of each side is taken back, and another is thought of.
        board.key("ctrl+x", window=main)
        time.sleep(1)
        board.next("a move after taking back", answer, lambda: board.key("ctrl+w", window=main))
        time.sleep(0.5)
        board.next("analysis", r"> go infinite", lambda: board.key("ctrl+a", window=main))
        time.sleep(2)
        board.next("analysis one move back", r"> go infinite", lambda: board.key("alt+Left", window=main))
        time.sleep(2)
        # Another Ctrl+A would have a second engine analyse, too.
        board.next("the end of analysis", r"> stop", lambda: board.key("ctrl+e", window=main))
        time.sleep(0.5)
        board.next("a move after analysis", answer, lambda: board.key("ctrl+w", window=main))
        time.sleep(0.5)
        board.end()
        for log in board.logs():
            if "go infinite" in log.read_text():
                keep(log, record, "xboard-hand.usi")
    finally:
        board.kill()


def keep(log, record, name):
    if record:
        shutil.copy(log, record / name)


def main():
    arguments = options(command_line(__doc__))
    install()
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        # The server chooses a display that is free and says which.
        reader, writer = os.pipe()
        screen = subprocess.Popen(
            ["Xvfb", "-displayfd", str(writer), "-screen", "0", "1000x800x24", "-nolisten", "tcp"],
            pass_fds=[writer], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(writer)
        try:
            with os.fdopen(reader) as display:
                os.environ["DISPLAY"] = f":{display.readline().strip()}"
            match(arguments.kozuka, directory, arguments.record)
            by_hand(arguments.kozuka, directory, arguments.record)
        finally:
            screen.kill()
            screen.wait()
    print("OK")


main()
