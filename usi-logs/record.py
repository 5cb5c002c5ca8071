#!/usr/bin/env python3
"""Stands between a client and an engine and writes down what they say.

    record.py LOG ENGINE [ARGUMENT...]

Give this to the client as its engine. Each line of LOG is: seconds since the start, '>' for a line to the engine or '<' for
one from it, the line. Of `info` lines that follow each other only the last is kept, so that logs stay small.
"""
import subprocess
import sys
import threading
import time

log = open(sys.argv[1], "w", encoding="utf-8")
if sys.argv[3:]:
    log.write(f"# arguments: {' '.join(sys.argv[3:])}\n")
engine = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
start = time.monotonic()
lock = threading.Lock()
pending = None


def note(direction, line):
    global pending
    entry = f"{time.monotonic() - start:9.3f} {direction} {line.decode(errors='backslashreplace').rstrip()}\n"
    with lock:
        thinking = direction == "<" and line.startswith(b"info ") and not line.startswith(b"info string")
        if pending and not thinking:
            log.write(pending)
        pending = entry if thinking else None
        if not thinking:
            log.write(entry)
            log.flush()


def to_client():
    for line in engine.stdout:
        note("<", line)
        sys.stdout.buffer.write(line)
        sys.stdout.buffer.flush()


answers = threading.Thread(target=to_client)
answers.start()
for line in sys.stdin.buffer:
    note(">", line)
    engine.stdin.write(line)
    engine.stdin.flush()
    if line.split() == [b"quit"]:
        break
engine.stdin.close()
answers.join()
sys.exit(engine.wait())
