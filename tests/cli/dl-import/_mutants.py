"""Files with something changed at random: each is imported, or refused with one sentence
and status 65 (or 64, where it no longer says a shape).  A mutant follows from its number.
usage: _mutants.py GOLDEN COUNT [JOBS]"""

import concurrent.futures
import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

KERAS = ("image.keras", "image.h5", "pair.keras", "pair.h5", "words.json", "words.weights.h5", "keras2-pair.h5",
         "keras1-theano.h5", "keras1-tensorflow.h5")
ONNX = ("image.onnx", "words.onnx", "words-dynamo.onnx", "steps.onnx")
DL4J = ("rows.zip", "vertices.zip", "recurrent.zip", "residual.zip", "legacy.zip")


def with_bytes_changed(data, draw):
    data = bytearray(data)
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
    return bytes(data)


def places(value, found):
    """(container, key) of each value within."""
    for key in (value if isinstance(value, dict) else range(len(value))):
        found.append((value, key))
        if isinstance(value[key], (dict, list)):
            places(value[key], found)
    return found


def with_json_changed(text, draw):
    document = json.loads(text)
    for _ in range(draw.choice((1, 1, 2, 5))):
        container, key = draw.choice(places(document, []))
        other, other_key = draw.choice(places(document, []))
        kind = draw.random()
        if kind < 0.2:
            del container[key]
        elif kind < 0.4:
            container[key] = json.loads(json.dumps(other[other_key]))
        elif kind < 0.6 and isinstance(container[key], (int, float)):
            container[key] = draw.choice((0, -1, 2 ** 31, 2 ** 62, 1e308, -1e-30, container[key] + 1))
        else:
            container[key] = draw.choice((None, True, [], {}, "", "x", -7, 0.5, [[1, 2], 3], "channels_first", "relu"))
        if not document:
            break
    return json.dumps(document).encode()


def with_member_changed(data, draw):
    """A zip whose sums are right, and whose members are not."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        members = {n: archive.read(n) for n in archive.namelist()}
    name = draw.choice(sorted(members))
    change = with_json_changed if name.endswith(".json") and draw.random() < 0.8 else with_bytes_changed
    members[name] = change(members[name], draw)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for one, content in members.items():
            archive.writestr(one, content)
    return out.getvalue()


def mutant(source, draw):
    data = source.read_bytes()
    if source.suffix in (".zip", ".keras") and draw.random() < 0.7:
        return with_member_changed(data, draw)
    if source.suffix == ".json" and draw.random() < 0.8:
        return with_json_changed(data, draw)
    return with_bytes_changed(data, draw)


def tried(golden, number):
    """(status, what is wrong with the answer or "")"""
    draw = random.Random(number)
    sources = [golden / folder / n for folder, names in (("keras", KERAS), ("dl4j", DL4J), ("onnx", ONNX))
               for n in names]
    sources = [s for s in sources if s.exists()]
    source = sources[number % len(sources)]
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "mutant")
        path.write_bytes(mutant(source, draw))
        command = ["dl-import", "-q", path, "-o", path.with_name("m")]
        if source.name == "words.weights.h5":
            command = ["dl-import", "-q", source.with_name("words.json"), "--weights", path, "-o", path.with_name("m")]
        done = subprocess.run(command, capture_output=True, timeout=280, check=False)
    talk = done.stderr.decode("utf-8", "replace").splitlines()
    # Notes may come before.
    notes = ("channels last", "Theano is assumed", "names are left out", "newer than", "is log_softmax")
    sentences = [line for line in talk if not line.startswith("Try ") and not any(n in line for n in notes)]
    refused = done.returncode in (64, 65)
    if done.returncode not in (0, 64, 65) or (
            refused and (len(sentences) != 1 or not sentences[0].startswith("dl-import: "))):
        return done.returncode, f"mutant {number} of {source.name}: status {done.returncode} {' '.join(talk[:4])}"
    return done.returncode, ""


def main():
    golden, count = pathlib.Path(sys.argv[1]), int(sys.argv[2])
    with concurrent.futures.ThreadPoolExecutor(int(sys.argv[3]) if len(sys.argv) > 3 else 1) as pool:
        answers = list(pool.map(lambda n: tried(golden, n), range(count)))
    for _, wrong in answers:
        if wrong:
            print(wrong)
    statuses = {s: sum(1 for a, _ in answers if a == s) for s in sorted({a for a, _ in answers})}
    print("by status:", statuses, file=sys.stderr)
    print("mutants:", "all imported or refused" if set(statuses) <= {0, 64, 65} else statuses)


main()
