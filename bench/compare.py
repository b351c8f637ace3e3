"""Compares training steps of fcam with the same steps in PyTorch, in pairs that alternate; prints a markdown table.

    compare.py [--fcam build/bin/fcam-bench] [--pairs 5] [--steps 5] [--threads N]

A pair is one run of fcam-bench and two of pytorch_step.py, without KEEP_MEMORY and with it, one straight after the
other, each reporting the median of its steps. A cell is the median over the pairs: of seconds a step, of ratios within
a pair, of the peak memory of processes.
"""
import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
# glibc gives large blocks back to the system when they are freed, so PyTorch's every step gets new ones that the system
# has to clear. With these settings the blocks stay in the process.
KEEP_MEMORY = {"MALLOC_MMAP_MAX_": "0", "MALLOC_TRIM_THRESHOLD_": "100000000000", "MALLOC_TOP_PAD_": "2000000000"}
CASES = [  # network, shape, m, batch, loss
    ("paper", "3x32x32", 5, 256, "sa"),
    ("paper", "3x32x32", 5, 256, "ha"),
    ("paper", "3x32x32", 5, 256, "lv"),
    ("lenet", "3x32x32", 5, 256, "sa"),
    ("lenet", "3x32x32", 5, 256, "lv"),
    ("paper", "1x28x28", 5, 256, "sa"),
    ("paper", "1x28x28", 5, 256, "lv"),
    ("paper", "3x32x32", 50, 32, "sa"),
    ("paper", "3x32x32", 50, 32, "lv"),
]


def run(command, environment=None):
    """Output and peak memory in MiB of a program that must succeed."""
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(command, stdout=out, env={**os.environ, **(environment or {})})
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            sys.exit(f"compare.py: error: {' '.join(command)}: expected exit code 0, found {process.returncode}")
        out.seek(0)
        return out.read(), usage.ru_maxrss / 1024


def step_options(options, case):
    """The options that both programs have."""
    _, shape, patches, batch, loss = case
    return ["--loss", loss, "--shape", shape, "--patches", str(patches), "--batch", str(batch),
            "--steps", str(options.steps), "--threads", str(options.threads)]


def fcam(options, case):
    network, loss = case[0], case[-1]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.json")
        _, memory = run([options.fcam, "--quiet", "--json", path, "--focus", network, "--classify", network,
                         *step_options(options, case)])
        with open(path) as file:
            return json.load(file)["steps"][loss]["seconds"], memory


def pytorch(options, case, environment=None):
    out, memory = run([options.python, os.path.join(HERE, "pytorch_step.py"), "--network", case[0],
                       *step_options(options, case)], environment)
    return json.loads(out)["seconds"], memory


def find_python():
    """A Python that has PyTorch: this one, or the system's."""
    for python in (sys.executable, "/usr/bin/python3"):
        if subprocess.run([python, "-c", "import torch"], capture_output=True, check=False).returncode == 0:
            return python
    sys.exit("compare.py: error: PyTorch is not installed; on Debian: apt-get install python3-torch")


def main():
    parser = argparse.ArgumentParser(description="Compares training steps of fcam with the same steps in PyTorch.")
    parser.add_argument("--fcam", default=os.path.join(HERE, "..", "build", "bin", "fcam-bench"))
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=5)
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    options = parser.parse_args()
    options.python = find_python()
    version, _ = run([options.python, "-c", "import torch; print(torch.__version__)"])
    print(run([options.fcam, "--version"])[0], end="")
    print(f"PyTorch {version.strip()}")
    print(f"{options.threads} threads, {options.pairs} pairs of runs of {options.steps} steps\n")
    print("| network | patches | m | batch | loss | fcam s | PyTorch, default s | ratio "
          "| PyTorch, memory kept s | ratio | MiB fcam | MiB PyTorch, default | MiB PyTorch, memory kept |")
    print("|" + " --- |" * 13, flush=True)
    for case in CASES:
        pairs = [(fcam(options, case), pytorch(options, case), pytorch(options, case, KEEP_MEMORY))
                 for _ in range(options.pairs)]
        ours, default, kept = ([seconds for seconds, _ in column] for column in zip(*pairs))
        memory = [f"{statistics.median(mib for _, mib in column):.0f}" for column in zip(*pairs)]

        def ratio(theirs):
            return f"{statistics.median(b / a for a, b in zip(ours, theirs)):.1f}"

        def seconds(values):
            return f"{statistics.median(values):.3f}"

        network, shape, patches, batch, loss = case
        cells = [network, shape, str(patches), str(batch), loss, seconds(ours), seconds(default), ratio(default),
                 seconds(kept), ratio(kept), *memory]
        print("| " + " | ".join(cells) + " |", flush=True)


main()
