# Files that are damaged, lie about themselves or cannot be read: each is one sentence with
# its name, nothing is written, --max-bad passes over it, and memory stays small.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture good/a/1.png 8 8 1 && picture good/b/1.png 8 8 2
gray=/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDABsSFBcUERsXFhceHBsgKEIrKCUlKFE6PTBCYFVlZF9VXVtqeJmBanGQc1tdhbWGkJ6jq62rZ4C8ybqmx5moq6T/wAALCAAQABABAREA/8QAFgABAQEAAAAAAAAAAAAAAAAAAgUG/8QAFxAAAwEAAAAAAAAAAAAAAAAAAAEEYf/aAAgBAQAAPwCWoMEoMNIoMEoMP//Z
echo $gray | base64 -d >good/a/2.jpg
try() {
  (ulimit -v 1500000 && dl-preprocess images --threads 2 --size 4x4 "$@" -o out.dls)
  echo "status $?, $(ls out.dls 2>/dev/null || echo nothing written)"
  rm -f out.dls
}
bad() { # FILE: among good ones
  rm -rf photos && cp -r good photos && mv "$1" photos/a/
  try photos
  try photos --max-bad 1 2>&1 | tail -n 1
}
echo '== cut short'
head -c 160 good/a/2.jpg >cut.jpg && bad cut.jpg
head -c 20 good/a/2.jpg >header.jpg && bad header.jpg
echo '== sizes that headers claim'
python3 - <<'PY'
import struct, zlib
def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
open("vast.png", "wb").write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 100000, 100000, 8, 2, 0, 0, 0)) +
    chunk(b"IDAT", zlib.compress(bytes(1000))) + chunk(b"IEND", b""))
open("vast.bmp", "wb").write(b"BM" + struct.pack("<IIIIiiHHIIiiII", 54, 0, 54, 40, 100000, 100000, 1, 24, 0, 0, 0, 0, 0, 0))
open("vast.gif", "wb").write(b"GIF89a" + struct.pack("<HHBBB", 65535, 65535, 0, 0, 0) + b"," +
    struct.pack("<HHHHB", 0, 0, 65535, 65535, 0) + b"\x02\x02\x44\x01\x00;")
open("vast.webp", "wb").write(b"RIFF" + struct.pack("<I", 22 + 8) + b"WEBPVP8X" + struct.pack("<I", 10) +
    bytes([0, 0, 0, 0]) + (99999).to_bytes(3, "little") * 2 + b"VP8 " + struct.pack("<I", 0))
entries = [(256, 4, 1, 100000), (257, 4, 1, 100000), (258, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, 8), (278, 4, 1, 100000), (279, 4, 1, 99)]
open("vast.tif", "wb").write(b"II*\0" + struct.pack("<IH", 8, len(entries)) +
    b"".join(struct.pack("<HHII", *e) for e in entries) + bytes(4))
data = bytearray(open("good/a/2.jpg", "rb").read())
at = data.index(b"\xff\xc0")
data[at + 5 : at + 9] = struct.pack(">HH", 60000, 60000)
open("vast.jpg", "wb").write(data)
PY
for file in vast.png vast.bmp vast.gif vast.webp vast.tif vast.jpg; do bad $file; done
echo '== no regular file, and files without rights'
mkfifo pipe.jpg && bad pipe.jpg
ln -s /dev/zero zero.png && bad zero.png
: >empty && try empty
echo '== a file that grows: it has more bytes than its size was'
ln -s /proc/version grows.png && bad grows.png
echo 'hello, I am text' >notes && try notes
if [ "$(id -u)" -eq 0 ]; then user() { setpriv --bounding-set -all --inh-caps -all "$@"; }; else user() { "$@"; }; fi
rm -rf photos && cp -r good photos && cp good/a/1.png photos/a/0.png && chmod 0 photos/a/0.png
closed() {
  user dl-preprocess images --size 4x4 "$@" -o out.dls
  echo "status $?, $(ls out.dls 2>/dev/null || echo nothing written)"
  rm -f out.dls
}
closed photos
closed photos --max-bad 1
chmod 644 photos/a/0.png && chmod 0 photos/b
closed photos
closed photos/b
chmod 755 photos/b
echo '== long names'
long=$(printf '%0150d' 0)
rm -rf photos && cp -r good photos && mkdir -p "photos/a/$long/$long" && cp good/a/1.png "photos/a/$long/$long/"
try photos 2>&1 | sed 's/00*/0/g'
try photos --id-bytes 400
echo '== lists'
printf 'good/a/1.png\0more\ngood/b/1.png\n' | try --list -
printf 'good/a/1.png\0good/b/1.png' | try -0
echo '== a share without examples'
dl-preprocess images --size 4x4 good --split train=0.999999,test=0.000001 -o out.dls
echo "status $?, $(ls out* 2>/dev/null || echo nothing written)"
