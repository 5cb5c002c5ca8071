#!/usr/bin/env python3
"""Kozuka inside lishoginet, the network on which lishogi spreads analysis over the machines of volunteers.

    lishoginet.py [KOZUKA] [--record DIRECTORY]

Installs lishoginet from PyPI into a virtual environment of its own, and stands in for the server: a few HTTP endpoints on the
loopback device. Two volunteers, each with its own Kozuka, ask it for work: moves at all eight levels, analysis of games on
5x5 and on 9x9. One of the two is told to leave while it analyses, and the other does its work. Every answer is checked by the
rules. Exits with 0 if all was well.
"""
import collections
import http.server
import json
import os
import pathlib
import shlex
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse

from support import RECORDER, command_line, fail, options, virtual_environment

PACKAGE = "lishoginet==2.0.0"
MINISHOGI = "rbsgk/4p/5/P4/KGSBR b - 1"
SHOGI = "lnsgkgsnl/1r5b1/ppppppppp/9/9/9/PPPPPPPPP/1B5R1/LNSGKGSNL b - 1"
# Whole games, up to the mate.
MINISHOGI_GAME = (
    "1b1gk/1r1sp/1B3/PS2R/KG3 b - 1",
    "4c2a+ 1a2a 1d2d 4a3b G*3c B*3a 2d2b 3a2b 3c4b 2b3a R*5a R*4a 4b3b 2a3b S*3c 3b2a 5a4a+ 2a1a 4a3a G*2a 3c2b",
)
SHOGI_GAME = (
    SHOGI,
    "7i6h 3a3b 5i5h 8b9b 3i4h 4a4b 9g9f 9b6b 8h9g 7a7b 4h5i 4b4a 9g5c+ "
    "6b4b 9i9h 8c8d 2h4h 7c7d 5c4b 4a4b R*5d 4b5c 5d5c+ B*5b G*4b",
)
# Far enough for one side to declare victory.
DECLARATION = ("+R+R+B+BGG3/GGSSK4/9/9/9/9/9/9/3k5 w 2P 1", "6i5i")
# How long all of it may take.
PATIENCE = 240


def lishogi(moves):
    """Moves as lishogi writes them, files as letters and ranks as numbers; the other way round it is the same."""
    return moves.translate(str.maketrans("123456789abcdefghi", "ihgfedcba987654321"))


class Judge:
    """Another Kozuka that only says which moves are legal."""

    def __init__(self, kozuka):
        self.process = subprocess.Popen([kozuka], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def legal(self, variant, sfen, moves):
        self.process.stdin.write(f"setoption name USI_Variant value {variant}\nposition sfen {sfen} moves {moves}\nd\n")
        self.process.stdin.flush()
        legal = None
        while True:
            line = self.process.stdout.readline()
            if line.startswith("info string"):
                fail(f"{line.strip()} in {sfen} moves {moves}")
            if line.startswith("Legal moves"):
                legal = line.split(":")[1].split()
            if line.startswith("Outcome"):
                return legal

    def play(self, variant, sfen, moves, line):
        """Plays a line, move by move."""
        for index in range(len(line)):
            if line[index] not in self.legal(variant, sfen, " ".join([*moves, *line[:index]])):
                fail(f"{line[index]} of {line} is not legal in {sfen} moves {moves}")


def job(kind, identity, variant, sfen, moves, **more):
    game = {"standard": "shogi"}.get(variant, variant)
    work = {"type": kind, "id": identity} | {key: more.pop(key) for key in ("level", "clock") if key in more}
    sent = {"work": work, "game_id": identity, "position": sfen, "variant": variant, "moves": lishogi(moves)} | more
    return {"sent": sent, "game": game, "sfen": sfen, "moves": moves.split()}


def work_to_do():
    jobs = []
    game = MINISHOGI_GAME[1].split()
    for level in range(1, 9):
        moves = " ".join(game[: 2 * level])
        jobs.append(job("move", f"mini{level}", "minishogi", MINISHOGI_GAME[0], moves, level=level))
    clock = {"btime": 3_000, "wtime": 1_500, "byo": 0, "inc": 1}
    jobs.append(job("move", "clock", "minishogi", MINISHOGI, "4e4d 3a4b 2e3d", level=8, clock=clock))
    clock = {"btime": 0, "wtime": 0, "byo": 1, "inc": 0}
    jobs.append(job("move", "byoyomi", "minishogi", MINISHOGI, "4e4d 3a4b", level=7, clock=clock))
    # A server of its own asks for the first move of a game in this way.
    jobs.append(job("move", "first", "minishogi", MINISHOGI, "", level=3))
    jobs.append(job("move", "nine1", "standard", SHOGI, "7g7f 3c3d", level=1))
    jobs.append(job("move", "nine8", "standard", SHOGI, "7g7f 3c3d 2g2f", level=8))
    jobs.append(job("analysis", "mini", "minishogi", *MINISHOGI_GAME, nodes=8_000, skipPositions=[0, 3]))
    jobs.append(job("analysis", "nine", "standard", *SHOGI_GAME, nodes=4_000))
    jobs.append(job("analysis", "declared", "standard", *DECLARATION, nodes=4_000))
    jobs.append(job("analysis", "lines", "minishogi", MINISHOGI, "4e4d 3a4b", nodes=8_000, multipv=3))
    # The volunteer that gets this one is told to leave; it takes 6 seconds a position.
    jobs.append(job("analysis", "left", "minishogi", MINISHOGI_GAME[0], " ".join(game[:2]), nodes=400_000_000))
    return jobs


class Server(http.server.ThreadingHTTPServer):
    """The server: work to do, work being done, work done."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.lock = threading.Lock()
        self.waiting = collections.deque(work_to_do())
        self.total = len(self.waiting)
        self.assigned = {}
        self.done = {}
        self.aborted = []
        self.leaver = None
        self.names = set()
        self.errors = []

    def acquire(self, volunteer):
        """The next job for a volunteer, if there is one."""
        with self.lock:
            if not self.waiting:
                return None
            task = self.waiting.popleft()
            self.assigned[task["sent"]["work"]["id"]] = (volunteer, task)
            if task["sent"]["work"]["id"] == "left" and self.leaver is None:
                self.leaver = volunteer
            print(f"  {volunteer} < {json.dumps(task['sent']['work'])}", flush=True)
            return task["sent"]

    def endpoint(self):
        return f"http://127.0.0.1:{self.server_port}/fishnet/"


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self, status, content=None):
        body = json.dumps(content).encode() if content is not None else b""
        self.send_response(status)
        if status != 204:
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        path = urllib.parse.urlparse(self.path).path
        if path == "/fishnet/status":
            # Work has waited for long, so that no volunteer idles.
            queue = {"acquired": len(self.server.assigned), "queued": len(self.server.waiting), "oldest": 86_400}
            self.answer(200, {"analysis": {"user": queue, "system": queue}})
        elif path.startswith("/fishnet/key/"):
            self.answer(200, {})
        else:
            self.answer(404, {"error": "no such thing"})

    def do_POST(self):
        server = self.server
        content = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        url = urllib.parse.urlparse(self.path)
        stop = "stop" in urllib.parse.parse_qs(url.query)
        volunteer = content["fishnet"]["apikey"]
        kind, _, identity = url.path.removeprefix("/fishnet/").partition("/")
        if content.get("stockfish"):
            server.names.add(content["stockfish"]["name"])
        if kind == "acquire":
            pass
        elif kind in ("analysis", "move", "abort") and identity in server.assigned:
            holder, task = server.assigned[identity]
            if holder != volunteer:
                server.errors.append(f"{volunteer} reports {identity}, which {holder} has")
            if kind == "analysis" and None in (content["analysis"] if isinstance(content["analysis"], list) else []):
                # A report on the way.
                return self.answer(204)
            with server.lock:
                del server.assigned[identity]
                if kind == "abort":
                    # Given to somebody else, in a size for this test.
                    task["sent"]["nodes"] = 8_000
                    server.aborted.append((volunteer, identity))
                    server.waiting.append(task)
                else:
                    server.done[identity] = (volunteer, task, content[kind])
            print(f"  {volunteer} > {kind} {identity}", flush=True)
            if kind == "abort":
                return self.answer(204)
        else:
            server.errors.append(f"{volunteer} sent {self.path}")
            return self.answer(404, {"error": "no such job"})
        work = None if stop else server.acquire(volunteer)
        self.answer(204) if work is None else self.answer(202, work)


def check_move(judge, task, move):
    best = lishogi(move["bestmove"])
    judge.play(task["game"], task["sfen"], task["moves"], [best])
    return best


def check_analysis(judge, task, found):
    """Each position has a score and a line that can be played."""
    plies = len(task["moves"])
    if "multipv" in task["sent"]:
        lines = task["sent"]["multipv"]
        for field in ("score", "pv", "nodes", "time"):
            rows = [len(found[field][ply]) for ply in range(plies + 1)]
            if rows != [lines] * (plies + 1):
                fail(f"{field} of {lines} lines has rows {rows}")
        for ply in range(plies + 1):
            for row in found["pv"][ply]:
                judge.play(task["game"], task["sfen"], task["moves"][:ply], row[-1].split())
        return f"{lines} lines each of {plies + 1} positions"
    if len(found) != plies + 1:
        fail(f"{len(found)} positions instead of {plies + 1}")
    scores = []
    for ply, entry in enumerate(found):
        if ply in task["sent"].get("skipPositions", []):
            if entry != {"skipped": True}:
                fail(f"not skipped: {entry}")
            continue
        judge.play(task["game"], task["sfen"], task["moves"][:ply], entry.get("pv", "").split())
        scores += [f"{kind} {value}" for kind, value in entry["score"].items()]
    return ", ".join(scores)


def volunteer(key, server, python, kozuka, directory, record):
    command = f"{shlex.quote(str(kozuka))} --variant shogi"
    if record:
        log = record / f"lishoginet-{key}.usi"
        command = f"{shlex.join(RECORDER)} {shlex.quote(str(log))} {command}"
    arguments = ["--no-conf", "--endpoint", server.endpoint(), "--key", key, "--engine-dir", str(directory)]
    arguments += ["--stockfish-command", command, "--cores", "1", "--memory", "16", "--fixed-backoff", "-v"]
    # Nothing but the stand-in can be reached.
    environment = {"https_proxy": "http://127.0.0.1:9", "http_proxy": "http://127.0.0.1:9", "no_proxy": "127.0.0.1"}
    log = open(directory / f"{key}.log", "w+", encoding="utf-8")
    process = subprocess.Popen(
        # Not from this directory, where this very script has that name.
        [python, "-m", "lishoginet", *arguments, "run"],
        cwd=directory, env=os.environ | environment, stdout=log, stderr=log,
    )
    return process, log


def what_it_said(log):
    log.flush()
    log.seek(0)
    return log.read()


def check_start_up(python, kozuka, directory):
    """lishoginet accepts an engine only if its default game is shogi."""
    check = (
        "import configparser, sys, lishoginet\n"
        "conf = configparser.ConfigParser()\n"
        "conf.read_dict({'Lishoginet': {'EngineDir': '.'}})\n"
        "print(lishoginet.validate_stockfish_command(sys.argv[1], conf))\n"
    )
    plain = shlex.quote(str(kozuka))
    for command, accepted in ((plain, False), (f"{plain} --variant shogi", True)):
        result = subprocess.run(
            [python, "-c", check, command], cwd=directory, capture_output=True, text=True, timeout=60
        )
        if (result.returncode == 0) != accepted:
            fail(f"start-up check of {command}: {result.stdout}{result.stderr}")
        print(f"start-up check: '{command}' is {'accepted' if accepted else 'refused, as it must be'}")


def run(python, kozuka, directory, record):
    server = Server()
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"the stand-in for lishogi: {server.endpoint()}")
    volunteers = {}
    told_to_leave = False
    deadline = time.monotonic() + PATIENCE
    try:
        for key in ("alice", "bob"):
            volunteers[key] = volunteer(key, server, python, kozuka, directory, record)
        while len(server.done) < server.total:
            time.sleep(0.05)
            if server.leaver and not told_to_leave and "left" in server.assigned:
                told_to_leave = True
                time.sleep(1)
                print(f"{server.leaver} is told to leave")
                volunteers[server.leaver][0].send_signal(signal.SIGTERM)
            for key, (process, log) in volunteers.items():
                if process.poll() is not None and key != server.leaver:
                    fail(f"{key} has ended with {process.returncode}:\n{what_it_said(log)}")
            if server.errors or time.monotonic() > deadline:
                said = "\n".join(what_it_said(log) for _, log in volunteers.values())
                fail(f"{server.errors}, done {list(server.done)} of {server.total}\n{said}")
        for key, (process, _) in volunteers.items():
            # A second signal could meet the one that leaves in its last moments.
            if key != server.leaver:
                process.send_signal(signal.SIGTERM)
        for key, (process, log) in volunteers.items():
            if process.wait(20) != 0:
                fail(f"{key} has ended with {process.returncode}:\n{what_it_said(log)}")
    finally:
        for process, _ in volunteers.values():
            # It ends its engine when it is asked to.
            process.terminate()
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        server.shutdown()
    for key, (_, log) in volunteers.items():
        said = what_it_said(log)
        if "Unexpected" in said or "ERROR" in said:
            fail(f"{key} is not content:\n{said}")

    judge = Judge(kozuka)
    by_volunteer = collections.Counter()
    for identity, (key, task, found) in sorted(server.done.items()):
        by_volunteer[key] += 1
        check = check_move if task["sent"]["work"]["type"] == "move" else check_analysis
        print(f"{identity} by {key}: {check(judge, task, found)}")
    judge.process.stdin.close()
    judge.process.wait()
    if len(by_volunteer) != 2:
        fail(f"one volunteer did it all: {by_volunteer}")
    if [identity for _, identity in server.aborted] != ["left"] or server.done["left"][0] == server.leaver:
        fail(f"the work of who left: {server.aborted}")
    # The last position of a game is its mate.
    for identity in ("mini", "nine"):
        if server.done[identity][2][-1]["score"] != {"mate": 0}:
            fail(f"the mate at the end of {identity}: {server.done[identity][2][-1]}")
    print(f"OK: {server.total} jobs, {dict(by_volunteer)}, {server.leaver} left 'left' to the other; {server.names}")



def main():
    arguments = options(command_line(__doc__))
    with tempfile.TemporaryDirectory() as temporary:
        directory = pathlib.Path(temporary)
        python = virtual_environment(directory / "venv", [PACKAGE])
        check_start_up(python, arguments.kozuka, directory)
        run(python, arguments.kozuka, directory, arguments.record)


main()
