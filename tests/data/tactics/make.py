#!/usr/bin/env python3
"""Makes a suite of tactical positions with one winning move each; README.md says how they are chosen.

All searches are limited by nodes, on one thread, and begin from empty tables: the same engines and the same seed give the
same positions.
"""

import argparse
import collections
import random
import resource
import shlex
import subprocess
import sys

SHORT = 500  # nodes of the search that must not yet find the move; games are played with it
SIFT = 8_000  # nodes of the search that finds candidates,
WEIGH = 50_000  # of the one that looks at them more closely,
LONG = 400_000  # and of the searches that judge them, one by each engine
PROOF = 10_000  # nodes for each move of the games that prove the win

# Least score of the best move, and its least distance from the second best, in each engine's centipawns; Fairy-Stockfish's
# scores are the smaller ones. The greatest score of the second best is an argument.
PROMISING = 450, 250  # for the cheaper search
WINNING = 650, 400
FAIRY_WINNING = 350, 200
DECIDED = 1_000  # a game is broken off when the score is further from zero

RANDOM_PLIES = 4  # after an opening, at most
PLIES = 60  # of a game, at most
BLUNDERS = 0.1  # share of moves that are played at random, so that there is something to punish
EACH = 3  # positions of one game, at most
PROOF_PLIES = 100  # of a game that proves a win, at most


class Search:
    """What an engine has said: its answer, its best line early on, and its lines in the end."""

    def __init__(self, said: list[list[str]]):
        self.answer = said[-1][1]
        self.early = None  # the best move after SHORT nodes
        self.lines = []  # score and move of each line, best first
        for words in said:
            if words[:1] != ["info"] or "pv" not in words or {"lowerbound", "upperbound"} & set(words):
                continue
            values = {word: words[at + 1 :] for at, word in enumerate(words[:-1])}
            rank, move = int(values["multipv"][0]), values["pv"][0]
            kind, score = values["score"][0], int(values["score"][1])
            if kind == "mate":
                # Mate in n plies is 10,000 - n.
                score = 10_000 - score if score > 0 else -10_000 - score
            self.lines[rank - 1 : rank] = [(score, move)]
            if rank == 1 and int(values["nodes"][0]) <= SHORT:
                self.early = move

    def wins_alone(self, winning: int, distance: int, not_winning: int) -> bool:
        """Whether the answer scores as a win, and no other move does."""
        if len(self.lines) < 2:
            return False
        (best, move), (next_best, _) = self.lines
        return move == self.answer and best >= winning and next_best <= min(not_winning, best - distance)


class Engine:
    """A USI engine that is asked one thing at a time."""

    def __init__(self, command: str, **settings):
        self.command = command
        self.process = subprocess.Popen(shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.send("usi")
        self.wait("usiok")
        self.set(Threads=1, **settings)

    def send(self, line: str):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def wait(self, word: str) -> list[list[str]]:
        lines = []
        for line in self.process.stdout:
            lines.append(line.split())
            if lines[-1][:1] == [word]:
                return lines
        raise SystemExit(f"{self.command}: ended before it said {word}")

    def set(self, **settings):
        for name, value in settings.items():
            self.send(f"setoption name {name} value {value}")

    def search(self, position: str, nodes: int) -> "Search":
        """Searches from empty tables."""
        # All at once, as each wait for an answer costs more than a short search.
        self.send(f"usinewgame\nisready\nposition {position}\ngo nodes {nodes}")
        return Search(self.wait("bestmove"))

    def quit(self):
        self.send("quit")
        self.process.wait()


class Kozuka(Engine):
    """Kozuka, which also knows the rules."""

    def one_line(self):
        self.set(USI_MultiPV=1, USI_AnalyseMode="false", USI_Hash=1)

    def two_lines(self):
        self.set(USI_MultiPV=2, USI_AnalyseMode="true", USI_Hash=16)

    def display(self, position: str) -> dict[str, str]:
        """What `d` shows, by the word before the colon or bracket."""
        self.send(f"position {position}")
        self.send("d")
        shown = {}
        for line in self.process.stdout:
            head, _, rest = line.partition(": ")
            shown[head.split(" (")[0]] = rest.strip()
            if head == "Outcome":
                return shown
        raise SystemExit(f"{self.command}: ended while it was asked for a position")


def wins_against(defender: Engine, kozuka: Kozuka, sfen: str, move: str) -> bool:
    """Whether Kozuka mates from there, by that move, when the other engine defends."""
    moves = [move]
    while len(moves) < PROOF_PLIES:
        position = f"sfen {sfen} moves {' '.join(moves)}"
        if (outcome := kozuka.display(position)["Outcome"]) != "none":
            # The side that made the last move has won by it.
            return outcome.endswith("checkmate") and len(moves) % 2 == 1
        engine = kozuka if len(moves) % 2 == 0 else defender
        moves.append(engine.search(position, PROOF).answer)
    return False


class Maker:
    """Plays games and picks positions."""

    def __init__(self, kozuka: Kozuka, fairy: Engine, not_winning: list[int], seed: int):
        self.kozuka = kozuka
        self.fairy = fairy
        self.not_winning = not_winning  # greatest score of the second best move, by Kozuka and by Fairy-Stockfish
        self.rng = random.Random(seed)
        self.seen = set()
        self.stages = collections.Counter()  # how many positions came how far

    def judge(self, sfen: str) -> str | None:
        """The line of the suite for that position, if it belongs there."""
        kozuka, fairy, position = self.kozuka, self.fairy, f"sfen {sfen}"
        kozuka.two_lines()
        weighed = kozuka.search(position, WEIGH)
        if not weighed.wins_alone(*PROMISING, self.not_winning[0] + 100):
            return None
        self.stages["weighed"] += 1
        ours = kozuka.search(position, LONG)
        if not ours.wins_alone(*WINNING, self.not_winning[0]):
            return None
        self.stages["judged by Kozuka"] += 1
        fairy.set(MultiPV=2)
        theirs = fairy.search(position, LONG)
        if theirs.answer != ours.answer or not theirs.wins_alone(*FAIRY_WINNING, self.not_winning[1]):
            return None
        self.stages["judged by Fairy-Stockfish"] += 1
        kozuka.one_line()
        fairy.set(MultiPV=1)
        if kozuka.search(position, SHORT).answer == ours.answer:
            return None
        self.stages["not found early"] += 1
        if not all(wins_against(defender, kozuka, sfen, ours.answer) for defender in (kozuka, fairy)):
            return None
        self.stages["in the suite"] += 1
        scores = [(best, next_best) for (best, _), (next_best, _) in (ours.lines, theirs.lines)]
        remarks = [f"{name} {best:+} {next_best:+}" for name, (best, next_best) in zip(("Kozuka", "Fairy-Stockfish"), scores)]
        return f"{sfen} ;bm {ours.answer} ;{', '.join(remarks)}"

    def game(self, openings: list[str]):
        """Plays a game and yields the lines of its positions that belong into the suite."""
        opening = self.rng.choice(openings)
        moves = []
        random_plies = self.rng.randint(1, RANDOM_PLIES)
        found = 0
        while len(moves) < PLIES and found < EACH:
            shown = self.kozuka.display(f"sfen {opening} moves {' '.join(moves)}")
            if shown["Outcome"] != "none":
                return
            legal = shown["Legal moves"].split()
            if len(moves) < random_plies:
                moves.append(self.rng.choice(legal))
                continue
            # Without the number of the move, and without the way that led here: a repetition is no tactic.
            sfen = " ".join(shown["Sfen"].split()[:3]) + " 1"
            self.kozuka.one_line()
            search = self.kozuka.search(f"sfen {sfen}", SIFT)
            score = search.lines[0][0]
            if abs(score) > DECIDED and search.early == search.answer:
                return
            self.stages["seen"] += 1
            if search.early != search.answer and score >= PROMISING[0] and sfen not in self.seen:
                self.seen.add(sfen)
                self.stages["sifted"] += 1
                if line := self.judge(sfen):
                    found += 1
                    yield line
            moves.append(self.rng.choice(legal) if self.rng.random() < BLUNDERS else search.early or search.answer)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kozuka", help="command that starts Kozuka")
    parser.add_argument("fairy", help="command that starts Fairy-Stockfish")
    parser.add_argument("--openings", required=True, help="file of positions to begin games with")
    parser.add_argument("--not-winning", type=int, nargs=2, default=[400, 250], metavar=("KOZUKA", "FAIRY"),
                        help="greatest scores of the second best move (default: 400 250)")
    parser.add_argument("--games", type=int, default=100, help="games to play (default: 100)")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    kozuka = Kozuka(arguments.kozuka)
    fairy = Engine(arguments.fairy, UCI_Variant="minishogi", Hash=16)
    with open(arguments.openings, encoding="utf-8") as file:
        openings = [line.split(";")[0].strip() for line in file if line.strip() and not line.startswith("#")]
    maker = Maker(kozuka, fairy, arguments.not_winning, arguments.seed)
    for game in range(1, arguments.games + 1):
        for line in maker.game(openings):
            print(f"{line} ;seed {arguments.seed} game {game}", flush=True)
        stages = ", ".join(f"{number} {stage}" for stage, number in maker.stages.items())
        print(f"{game} games: {stages}", file=sys.stderr)
    kozuka.quit()
    fairy.quit()
    print(f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime:.0f} s of processor time", file=sys.stderr)


if __name__ == "__main__":
    main()
