"""What the scripts in this directory share: the command line, virtual environments, and how they give up."""

import argparse
import importlib.metadata
import os
import pathlib
import signal
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Stands between a client and Kozuka and writes down what they say.
RECORDER = [sys.executable, str(ROOT / "usi-logs" / "record.py")]


def fail(message):
    """Ends the script: Kozuka, or the script, is at fault."""
    print(f"FAILED: {message}", flush=True)
    sys.exit(1)


def lacking(message):
    """Ends the script, since the machine has not what it takes. The gate wants everything to be there."""
    if os.environ.get("KOZUKA_REQUIRE_CLIENTS") == "1":
        fail(f"{message}, but KOZUKA_REQUIRE_CLIENTS=1 asks for it")
    skip(message)


def skip(message):
    """Ends the script without a verdict."""
    print(f"SKIPPED: {message}", file=sys.stderr, flush=True)
    sys.exit(0)


def command_line(description):
    """A parser for what every script takes; `options` reads it."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kozuka", nargs="?", type=pathlib.Path, help="the binary; target/release or target/debug if left out")
    parser.add_argument("--record", metavar="DIRECTORY", type=pathlib.Path, help="write the dialogues into it")
    return parser


def options(parser):
    """The arguments, with paths that hold in any directory."""
    arguments = parser.parse_args()
    if not arguments.kozuka:
        built = [ROOT / "target" / profile / "kozuka" for profile in ("release", "debug")]
        arguments.kozuka = next((path for path in built if path.is_file()), built[0])
    if not arguments.kozuka.is_file():
        fail(f"no binary at {arguments.kozuka}: cargo build, or give its path")
    arguments.kozuka = arguments.kozuka.resolve()
    if arguments.record:
        arguments.record = arguments.record.resolve()
        arguments.record.mkdir(parents=True, exist_ok=True)
    # What was started ends with the script, also when that is told to end.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    return arguments


def pip_works_for_others():
    """Whether the pip that is there can install into another environment, which saves putting one into that."""
    try:
        return [int(part) for part in importlib.metadata.version("pip").split(".")[:2]] >= [22, 3]
    except importlib.metadata.PackageNotFoundError:
        return False


def virtual_environment(directory, packages):
    """The Python of a new virtual environment with these packages."""
    shared = pip_works_for_others()
    try:
        venv.create(directory, with_pip=not shared)
    except subprocess.CalledProcessError:
        lacking("Python cannot make a virtual environment with pip (Debian: apt-get install python3-venv)")
    python = str(directory / "bin" / "python")
    pip = [sys.executable, "-m", "pip", "--python", python] if shared else [python, "-m", "pip"]
    pip += ["install", "--quiet", "--disable-pip-version-check", "--no-compile"]
    if subprocess.run([*pip, *packages]).returncode != 0:
        # A package index that does not answer is nobody's fault here, and no machine can be made to have it.
        skip(f"pip cannot install {' '.join(packages)}")
    return python
