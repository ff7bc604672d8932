# Pictures made on the spot: picture FILE.ppm WIDTH HEIGHT SEED, and the same with
# .pgm, .bmp or .png, whose colors follow from the seed.
# shellcheck shell=bash
cat >picture.py <<'EOF'
import random, struct, sys, zlib
path, width, height, seed = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4])
draw = random.Random(seed)
channels = 1 if path.endswith(".pgm") else 3
level = [draw.randrange(256) for _ in range(channels)]
rows = [bytes((level[i % channels] + draw.randrange(40)) % 256 for i in range(width * channels))
        for _ in range(height)]
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
if path.endswith(".png"):
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0))
    data += chunk(b"IDAT", zlib.compress(b"".join(b"\0" + row for row in rows))) + chunk(b"IEND", b"")
elif path.endswith(".bmp"):
    pad = bytes(-3 * width % 4)
    body = b"".join(b"".join(row[x:x + 3][::-1] for x in range(0, 3 * width, 3)) + pad for row in rows[::-1])
    data = b"BM" + struct.pack("<IIIIiiHHIIiiII", 54 + len(body), 0, 54, 40, width, height, 1, 24, 0, len(body), 0, 0, 0, 0) + body
else:
    data = b"P%d %d %d 255\n" % (5 if channels == 1 else 6, width, height) + b"".join(rows)
open(path, "wb").write(data)
EOF
picture() { mkdir -p "$(dirname "$1")" && python3 picture.py "$@"; }
