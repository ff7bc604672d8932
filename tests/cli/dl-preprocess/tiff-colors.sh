#!/bin/bash
# Colors of TIFFs come as Pillow reads them: alpha left out, divided out where colors were
# multiplied by it, and the upper byte of 16 bits.
cat >tiff.py <<'EOF'
# tiff.py FILE BITS EXTRA PLANES NUMBER...: one row of pixels; EXTRA: "", or 0, 1 and 2 of ExtraSamples.
import struct, sys
path, bits, extra, planes, numbers = sys.argv[1], int(sys.argv[2]), sys.argv[3], int(sys.argv[4]), [int(n) for n in sys.argv[5:]]
samples = 3 if extra == "" else 4
width = len(numbers) // samples
pack = lambda some: b"".join(n.to_bytes(bits // 8, "little") for n in some)
strips = [pack(numbers[c::samples]) for c in range(samples)] if planes == 2 else [pack(numbers)]
entries = [(256, 3, [width]), (257, 3, [1]), (258, 3, [bits] * samples), (259, 3, [1]), (262, 3, [2]),
           (273, 4, None), (277, 3, [samples]), (278, 3, [1]), (279, 4, [len(s) for s in strips]), (284, 3, [planes])]
if extra:
    entries.append((338, 3, [int(extra)]))
directory_at, body, offsets = 8, b"", []
after = directory_at + 2 + 12 * len(entries) + 4
for strip in strips:
    offsets.append(after + len(body))
    body += strip + b"\0" * (len(strip) % 2)
out = struct.pack("<H", len(entries))
for tag, kind, values in entries:
    values = offsets if values is None else values
    data = b"".join(struct.pack("<H" if kind == 3 else "<I", v) for v in values)
    if len(data) > 4:
        place, body = after + len(body), body + data
        data = struct.pack("<I", place)
    out += struct.pack("<HHI", tag, kind, len(values)) + data.ljust(4, b"\0")
open(path, "wb").write(b"II*\0" + struct.pack("<I", 8) + out + bytes(4) + body)
EOF
try() { # TIFF'S ARGUMENTS
  rm -rf pictures && mkdir -p pictures/a && python3 tiff.py pictures/a/1.tif "$@"
  dl-preprocess images -q --size 2x1 --fit stretch pictures -o x.dls && dl-shard --head 1 --json x.dls | jq -c .features
}
try 8 "" 1  10 20 30  40 50 60
echo "--- alpha that says nothing, that is apart, that was multiplied"
for extra in 0 2 1; do try 8 $extra 1  10 20 30 128  40 50 60 255; done
try 8 1 1  10 20 30 0  200 50 60 100
echo "--- 16 bits, in one plane and in three"
try 16 "" 1  2815 5375 7936  65535 256 255
try 16 "" 2  2815 5375 7936  65535 256 255
try 16 2 1  2815 5375 7936 32768  65535 256 255 65535
try 16 1 1  2815 5375 7936 32768  65535 256 255 65535
