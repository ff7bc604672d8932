#!/bin/bash
# A mask is a PNG whose numbers are classes: grey, or places in a palette, of any depth up to 8
# bits, as they are stored.  It is resized by the nearest pixel.
cat >png.py <<'EOF'
# png.py FILE WIDTH HEIGHT DEPTH COLOR_TYPE NUMBER...: rows of numbers, packed.
import struct, sys, zlib
path, (width, height, depth, kind, *numbers) = sys.argv[1], map(int, sys.argv[2:])
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
samples = 3 if kind == 2 else 1
rows = b""
for y in range(height):
    row = "".join(format(n, f"0{depth}b") for n in numbers[y * width * samples:(y + 1) * width * samples])
    row += "0" * (-len(row) % 8)
    rows += b"\0" + int(row, 2).to_bytes(len(row) // 8, "big")
data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
if kind == 3:
    data += chunk(b"PLTE", bytes(3 * (1 << depth)))
data += chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")
open(path, "wb").write(data)
EOF
recipe() { # KEYS OF THE MASK
  echo '{"source": {"type": "webdataset"}, "tensors": {
    "features": {"type": "image", "from": "ppm", "size": [2, 3]},
    "labels": {"type": "mask", "from": "png", '"$1"'}, "id": {"type": "id", "from": "key"}}}' >r.json
}
try() { # PNG'S ARGUMENTS: with a picture of 3 x 2
  mkdir -p data && printf 'P6 3 2 255\n123456789012345678' >data/1.ppm
  python3 png.py data/1.png "$@"
  tar -C data -cf x.tar 1.ppm 1.png
  dl-preprocess -q --recipe r.json x.tar -o x.dls
  local status=$?
  [ $status = 0 ] && dl-shard --head 1 --json x.dls | jq -c .labels || echo "status $status"
}
recipe '"size": [2, 3]'
try 3 2 1 0  1 0 1  0 1 1
try 3 2 2 3  3 2 1  0 1 2
try 3 2 4 3  15 2 1  0 9 2
try 3 2 8 0  255 2 1  0 9 200
echo "--- a picture, and 16 bits"
try 3 2 8 2  1 2 3 4 5 6 7 8 9  1 2 3 4 5 6 7 8 9
try 3 2 16 0  1 2 3  4 5 6
echo "--- numbers of classes"
recipe '"size": [2, 3], "values": [0, 255]'
try 3 2 8 0  255 0 255  0 0 255
try 3 2 8 0  255 0 254  0 0 255
recipe '"size": [2, 3], "values": [0, 0]'
try 3 2 8 0  0 0 0  0 0 0
echo "--- names of classes"
recipe '"size": [2, 3], "classes": ["sky", "ground"]'
try 3 2 1 0  1 0 1  0 1 1
dl-shard --info --json x.dls | jq -c .classes
try 3 2 8 0  1 0 2  0 1 1
recipe '"size": [2, 3], "classes": ["sky", "ground"], "values": [0, 1, 255]'
try 3 2 8 0  1 0 2  0 1 1
echo "--- smaller, and of another shape"
recipe '"size": [2, 3]'
try 6 4 8 0  1 2 3 4 5 6  11 12 13 14 15 16  21 22 23 24 25 26  31 32 33 34 35 36
try 4 2 8 0  1 2 3 4  5 6 7 8
