#!/usr/bin/env python3
"""Nodes per second of several USI engines over the positions of `kozuka bench`, measured side by side.

    python3 benches/nps.py target/release/kozuka /usr/games/fairy-stockfish

Engines take turns at each position, so that what else the machine does slows all of them alike. Each has one thread and
a table of 64 MiB, and a new game for each position. Nodes are those that the engine itself reports.
"""

import argparse
import pathlib
import shlex
import statistics
import subprocess
import time

POSITIONS = pathlib.Path(__file__).with_name("positions.sfen")


class Engine:
    """A USI engine that is asked one thing at a time."""

    def __init__(self, command: str, game: str):
        self.command = command
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.send("usi")
        self.wait("usiok")
        for name, value in [("UCI_Variant", game), ("Threads", 1), ("USI_Hash", 64), ("Hash", 64)]:
            self.send(f"setoption name {name} value {value}")
        self.nodes = 0
        self.seconds = 0.0

    def send(self, line: str):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self, word: str) -> list[str]:
        lines = []
        for line in self.process.stdout:
            lines.append(line.split())
            if lines[-1][:1] == [word]:
                return lines
        raise SystemExit(f"{self.command}: ended before it said {word}")

    def search(self, sfen: str, nodes: int) -> float:
        self.send("usinewgame")
        self.send("isready")
        self.wait("readyok")
        self.send(f"position sfen {sfen}")
        start = time.perf_counter()
        self.send(f"go nodes {nodes}")
        lines = self.wait("bestmove")
        seconds = time.perf_counter() - start
        told = [int(line[line.index("nodes") + 1]) for line in lines if line[0] == "info" and "nodes" in line]
        # A position that is decided in a moment says nothing about speed.
        searched = max(told, default=0)
        if searched < nodes // 10:
            return 0.0
        self.nodes += searched
        self.seconds += seconds
        return searched / seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("engines", nargs="+", metavar="COMMAND")
    parser.add_argument("--nodes", type=int, default=200_000, help="nodes for each position (default: 200000)")
    parser.add_argument("--game", default="minishogi")
    arguments = parser.parse_args()
    sfens = [line for line in POSITIONS.read_text().splitlines() if line and not line.startswith(";")]
    engines = [Engine(command, arguments.game) for command in arguments.engines]
    ratios = [[] for _ in engines]
    for sfen in sfens:
        speeds = [engine.search(sfen, arguments.nodes) for engine in engines]
        if all(speeds):
            for ratio, speed in zip(ratios, speeds):
                ratio.append(speeds[0] / speed)
    for engine, ratio in zip(engines, ratios):
        engine.send("quit")
        print(
            f"{engine.command}: {engine.nodes / engine.seconds:,.0f} nodes/s; the first is {statistics.median(ratio):.2f} "
            f"times as fast (median of {len(ratio)} positions, {min(ratio):.2f} to {max(ratio):.2f})"
        )


if __name__ == "__main__":
    main()
