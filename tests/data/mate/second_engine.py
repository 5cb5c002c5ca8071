#!/usr/bin/env python3
"""Asks Debian's fairy-stockfish about the problems of minishogi.epd and writes what it says at the end of each line.

Usage: second_engine.py [SECONDS], time for each problem (10 by default). Ends early where a mate as short as ours is seen.
"""
import subprocess
import sys
import time
from pathlib import Path

FILE = Path(__file__).with_name("minishogi.epd")
SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 10.0


class Engine:
    def __init__(self):
        self.process = subprocess.Popen(
            ["/usr/games/fairy-stockfish"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.send("usi", "setoption name UCI_Variant value minishogi", "setoption name Hash value 64", "isready")
        self.until("readyok")

    def send(self, *lines):
        for line in lines:
            self.process.stdin.write(line + "\n")

    def until(self, word):
        for line in self.process.stdout:
            if line.startswith(word):
                return

    def shortest_mate(self, sfen, wanted):
        """Plies of the shortest mate seen, or None."""
        self.send("usinewgame", "isready")
        self.until("readyok")
        self.send(f"position sfen {sfen}", f"go movetime {int(SECONDS * 1000)}")
        best = None
        stopped = False
        for line in self.process.stdout:
            words = line.split()
            if words[:1] == ["bestmove"]:
                return best
            if "mate" in words and "upperbound" not in words and "lowerbound" not in words:
                plies = int(words[words.index("mate") + 1])
                if plies > 0 and (best is None or plies < best):
                    best = plies
            if wanted is not None and best is not None and best <= wanted and not stopped:
                stopped = True
                self.send("stop")


def main():
    engine = Engine()
    lines = []
    for line in FILE.read_text().splitlines():
        if line and not line.startswith("#"):
            fields = [field.strip() for field in line.split(";")]
            fields = [field for field in fields if not field.startswith("fairy")]
            wanted = int(fields[1].split()[1]) if fields[1].startswith("mate") else None
            mate = engine.shortest_mate(fields[0], wanted)
            fields.append("fairy unknown" if mate is None else f"fairy mate {mate}")
            line = " ;".join(fields)
            print(f"{time.strftime('%H:%M:%S')} {fields[1]}: {fields[-1]}", flush=True)
        lines.append(line)
    FILE.write_text("\n".join(lines) + "\n")
    engine.send("quit")


if __name__ == "__main__":
    main()
