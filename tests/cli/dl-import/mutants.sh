#!/bin/bash
# Files with bytes changed at random: each is imported or refused with one sentence
# and status 65 (or 64, where it no longer says a shape).  DL_MUTANTS says how many.
python3 - "$DL_TEST_ROOT/tests/golden/keras" "${DL_MUTANTS:-120}" <<'PY'
import pathlib, random, subprocess, sys

folder, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
draw = random.Random(11)
files = [folder / n for n in ("image.keras", "image.h5", "pair.keras", "pair.h5", "words.json", "words.weights.h5")]
statuses = {}
for i in range(count):
    source = files[i % len(files)]
    data = bytearray(source.read_bytes())
    for _ in range(draw.choice((1, 2, 8, 40))):
        at = draw.randrange(len(data))
        kind = draw.random()
        if kind < 0.6:
            data[at] = draw.randrange(256)
        elif kind < 0.8:
            data[at:at + 8] = draw.choice((b"\xff" * 8, b"\0" * 8, bytes(draw.randrange(256) for _ in range(8))))
        elif kind < 0.9:
            del data[at:at + draw.randrange(1, 64)]
        else:
            data[at:at] = data[draw.randrange(len(data)):][:draw.randrange(1, 64)]
        data = data or bytearray(b"x")
    pathlib.Path("mutant").write_bytes(data)
    command = ["dl-import", "-q", "mutant", "-o", "m"]
    if source.name == "words.weights.h5":
        command = ["dl-import", "-q", folder / "words.json", "--weights", "mutant", "-o", "m"]
    done = subprocess.run(command, capture_output=True, timeout=280)
    talk = done.stderr.decode("utf-8", "replace").splitlines()
    refused = done.returncode in (64, 65)
    sentence = [line for line in talk if not line.startswith("Try ")]
    if done.returncode not in (0, 64, 65) or (refused and (len(sentence) != 1 or not sentence[0].startswith("dl-import: "))):
        print(f"mutant {i} of {source.name}: status {done.returncode}", *talk[:4])
    statuses[done.returncode] = statuses.get(done.returncode, 0) + 1
print("mutants:", "all imported or refused" if set(statuses) <= {0, 64, 65} else statuses)
PY
rm -f mutant m
