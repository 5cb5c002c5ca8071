#!/usr/bin/env python3
"""Kozuka as the engine of Lishogi-Bot.

    lishogi-bot.py [KOZUKA] [--source REPOSITORY] [--record DIRECTORY]

Takes Lishogi-Bot from GitHub, or from a copy of its repository, and installs what it needs into a virtual environment of its
own. The bot's own loop, from starting the engine to ending it, then plays games of minishogi as each side and one of shogi, with
pondering; in place of lishogi's stream of events stands a game against a second Kozuka, which also says which moves are legal.
Exits with 0 if the bot played every game to its end.
"""

import importlib
import json
import logging
import os
import pathlib
import queue
import shlex
import subprocess
import sys
import tempfile
import time

from support import RECORDER, command_line, fail, lacking, options, virtual_environment

SOURCE = "https://github.com/TheYoBots/Lishogi-Bot"
COMMIT = "17c16bc73b22fa6d56e0a412174c7c44993e619d"
PACKAGES = ["python-shogi==1.1.1", "PyYAML==6.0.2", "requests==2.32.3", "backoff==2.2.1", "rich==13.9.3"]
START = {
    "Minishogi": "rbsgk/4p/5/P4/KGSBR b - 1",
    "Standard": "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1",
}
# A game that is not over by then is broken off, as an abandoned one would be.
MOST_PLIES = 60


class Opponent:
    """A second Kozuka: the other side, and the rules."""

    def __init__(self, kozuka, variant):
        arguments = [kozuka, "--variant", {"Minishogi": "minishogi", "Standard": "shogi"}[variant]]
        self.process = subprocess.Popen(arguments, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.start = START[variant]

    def ask(self, moves, command, last):
        self.process.stdin.write(f"position sfen {self.start} moves {' '.join(moves)}\n{command}\n")
        self.process.stdin.flush()
        lines = []
        while not lines or not lines[-1].startswith(last):
            lines.append(self.process.stdout.readline())
            if not lines[-1]:
                fail("the second Kozuka has gone")
        return lines

    def state(self, moves):
        """The legal moves, and the outcome or `none`."""
        lines = self.ask(moves, "d", "Outcome")
        legal = next(line for line in lines if line.startswith("Legal")).split(":")[1].split()
        return legal, lines[-1].split(":")[1].strip()

    def move(self, moves):
        return self.ask(moves, "go nodes 2000", "bestmove")[-1].split()[1]


class Lishogi:
    """What the bot sees of lishogi: the events of one game, and where to send its moves."""

    baseUrl = "http://127.0.0.1/"

    def __init__(self, opponent, variant, side):
        self.opponent, self.variant, self.side = opponent, variant, side
        self.moves, self.status, self.winner, self.received = [], "started", None, 0
        self.clocks, self.turn_since = [6_000, 6_000], None

    def get_game_stream(self, _):
        return self

    def state(self):
        return {
            "type": "gameState", "moves": " ".join(self.moves), "btime": self.clocks[0], "wtime": self.clocks[1],
            "binc": 0, "winc": 0, "byo": 200, "status": self.status, "winner": self.winner,
        }

    def judge(self):
        _, outcome = self.opponent.state(self.moves)
        if outcome != "none":
            self.status = "mate" if "checkmate" in outcome else "draw"
            self.winner = {"s": "sente", "g": "gote"}.get(outcome[0])
        elif len(self.moves) >= MOST_PLIES:
            self.status = "aborted"

    def iter_lines(self):
        players = [{"id": "kozuka", "name": "kozuka"}, {"id": "other", "name": "other"}]
        if self.side:
            players.reverse()
        game = {
            "id": "abcdefgh", "speed": "blitz", "clock": {"initial": 6_000, "increment": 0, "byoyomi": 200},
            "perf": {"name": "Blitz"}, "variant": {"name": self.variant}, "initialSfen": START[self.variant],
            "sente": players[0], "gote": players[1], "state": self.state(),
        }
        self.turn_since = time.monotonic()
        yield json.dumps(game).encode()
        while self.status == "started":
            if len(self.moves) % 2 != self.side:
                # Long enough for some pondering.
                time.sleep(0.1)
                self.moves.append(self.opponent.move(self.moves))
                self.judge()
            self.turn_since = time.monotonic()
            # After a move of its own the bot hears of that one as well.
            yield json.dumps(self.state()).encode()
            if len(self.moves) % 2 == self.side and self.status == "started":
                fail(f"the bot has not moved after {self.moves}")

    def make_move(self, _, move):
        legal, _ = self.opponent.state(self.moves)
        if move not in legal:
            fail(f"the bot sent {move} after {self.moves}")
        if len(self.moves) >= 2:
            used = int((time.monotonic() - self.turn_since) * 1_000)
            self.clocks[self.side] = max(0, self.clocks[self.side] - used)
        self.moves.append(move)
        self.received += 1
        self.judge()

    def chat(self, *_):
        pass

    def abort(self, *_):
        fail("the bot aborts the game")

    def get_ongoing_games(self):
        return []


def play(kozuka, directory, record):
    """Runs inside of the virtual environment, with the bot's source as the working directory."""
    sys.path.insert(0, os.getcwd())
    bot = importlib.import_module("lishogi-bot")
    unexpected = []

    class Watch(logging.Handler):
        def emit(self, entry):
            if entry.levelno >= logging.WARNING:
                unexpected.append(entry.getMessage())

    logging.getLogger().addHandler(Watch())
    for variant, side in (("Minishogi", 0), ("Minishogi", 1), ("Standard", 0)):
        name = f"lishogi-bot-{variant.lower()}-{('sente', 'gote')[side]}"
        log = (record or directory) / f"{name}.usi"
        engine = directory / name
        engine.write_text(f"#!/bin/sh\nexec {shlex.join([*RECORDER, str(log), str(kozuka)])}\n")
        engine.chmod(0o755)
        config = {
            "engine": {
                "dir": str(directory), "name": name, "protocol": "usi", "ponder": True,
                "usi_options": {"Threads": 1, "USI_Hash": 64, "Move Overhead": 100},
            },
            "move_overhead": 100,
        }
        lishogi = Lishogi(Opponent(kozuka, variant), variant, side)
        # Without its loop of retries, so that an error is seen.
        bot.play_game.__wrapped__(
            lishogi, "abcdefgh", queue.Queue(), {"username": "kozuka"}, config, [], queue.Queue(), None,
            lambda *_: None, logging.INFO,
        )
        lishogi.opponent.process.kill()
        lishogi.opponent.process.wait()
        said = log.read_text()
        print(
            f"{variant} as {('sente', 'gote')[side]}: {len(lishogi.moves)} plies, {lishogi.status} {lishogi.winner}, "
            f"{said.count('> go ponder')} times pondering, {said.count('> ponderhit')} hits, clocks {lishogi.clocks}",
            flush=True,
        )
        if lishogi.status == "started" or lishogi.received < 5 or unexpected:
            fail(f"{lishogi.status} after {lishogi.moves}; {unexpected}")
        # The bot kills the engine right after `quit`, so the dialogue ends where it may.
        if said.count("> go") - said.count("< bestmove") not in (0, 1):
            fail(f"{said.count('> go')} searches, {said.count('< bestmove')} answers: {log}")
    print("OK")


def main():
    parser = command_line(__doc__)
    parser.add_argument("--source", default=SOURCE, help="the bot's repository, if not %(default)s")
    parser.add_argument("--inside", metavar="DIRECTORY", type=pathlib.Path, help="used by the script itself")
    arguments = options(parser)
    if arguments.inside:
        play(arguments.kozuka, arguments.inside, arguments.record)
        return
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        source = directory / "Lishogi-Bot"
        commands = [["clone", "-q", arguments.source, str(source)], ["-C", str(source), "checkout", "-q", COMMIT]]
        if any(subprocess.run(["git", *command]).returncode for command in commands):
            lacking(f"cannot get {COMMIT} of {arguments.source}")
        python = virtual_environment(directory / "venv", PACKAGES)
        command = [python, str(pathlib.Path(__file__).resolve()), str(arguments.kozuka), "--inside", str(directory)]
        if arguments.record:
            command += ["--record", str(arguments.record)]
        sys.exit(subprocess.run(command, cwd=source).returncode)


main()
