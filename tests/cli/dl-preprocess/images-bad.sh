# Pictures that are none, and what is done about them.
. "$DL_TEST_ROOT/tests/cli/_pictures.sh"
picture good/a/1.png 8 8 1
picture good/a/2.png 8 8 2
try() {
  dl-preprocess images --size 4x4 "$@" -o out.dls
  echo "status $?, $(ls out.dls 2>/dev/null || echo nothing written)"
  rm -f out.dls
}
bad() { # FILE: alone, and among good ones
  rm -rf photos && cp -r good photos && mv "$1" photos/a/
  try photos
}
head -c 60 good/a/1.png >cut.png && bad cut.png
echo 'hello, I am text' >text.png && bad text.png
: >empty.jpg && bad empty.jpg
printf 'P6 100000 100000 255\n' >vast.ppm && bad vast.ppm
python3 - <<'EOF'
data = bytearray(open("good/a/1.png", "rb").read())
data[33:37] = (0x7FFFFFF0).to_bytes(4, "big")  # the length of IDAT
open("lies.png", "wb").write(data)
data = bytearray(open("good/a/1.png", "rb").read())
data[45] ^= 0xFF
open("sum.png", "wb").write(data)
# A directory that is its own next one, whose picture is not there.
import struct
entries = [(256, 3, 1, 80), (257, 3, 1, 80), (258, 3, 1, 8), (262, 3, 1, 1), (273, 4, 1, 8), (278, 3, 1, 8), (279, 4, 1, 1 << 30)]
body = struct.pack("<H", len(entries)) + b"".join(struct.pack("<HHII", *e) for e in entries) + struct.pack("<I", 8)
open("loop.tif", "wb").write(b"II*\0" + struct.pack("<I", 8) + body)
open("anim.webp", "wb").write(b"RIFF" + struct.pack("<I", 22 + 24) + b"WEBPVP8X" + struct.pack("<I", 10) +
    bytes([2, 0, 0, 0, 7, 0, 0, 7, 0, 0]) + b"ANIM" + struct.pack("<I", 6) + bytes(6))
EOF
for file in lies.png sum.png loop.tif anim.webp; do bad $file; done
rm -rf photos && cp -r good photos && ln -s .. photos/a/back && try photos
rm -rf photos && cp -r good photos && ln -s nowhere.png photos/a/dead.png && try photos
rm -rf photos && cp -r good photos && picture "photos/$(printf 'caf\351')/1.png" 4 4 1 && try photos
try missing
try good --max-pixels 10

echo '== left out'
rm -rf photos && cp -r good photos && cp good/a/1.png photos/a/0.png
head -c 60 good/a/1.png >photos/a/cut.png && : >photos/a/1a.gif
try photos --max-bad 1
dl-preprocess images --size 4x4 photos --max-bad 2 --threads 4 --batch 1 -o out.dls
dl-shard --head 9 --json out.dls | jq -c '[.id, .index]'

echo '== archives'
archive() { # NAME, then a program for Python that makes photos.tar
  python3 -c "
import io, tarfile
data = open('good/a/1.png', 'rb').read()
def add(name, **more):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for key, value in more.items(): setattr(info, key, value)
    tar.addfile(info, io.BytesIO(data))
with tarfile.open('photos.tar', 'w') as tar:
    add('a/1.png')
    $1
$2"
  try photos.tar
}
archive "add('../b.png')"
archive "add('/etc/b.png')"
archive "add('b.png', type=tarfile.SYMTYPE, linkname='a/1.png', size=0)"
archive "add('c.png')" "d = open('photos.tar', 'rb').read(); open('photos.tar', 'wb').write(d[:1700])"
archive "add('d.png')" "d = bytearray(open('photos.tar', 'rb').read()); d[1024 + 130] ^= 1; open('photos.tar', 'wb').write(d)"
archive "add('x' * 150 + '/' + 'y' * 150 + '.png')"
echo '== texts, which are none of the picture'
python3 - <<'END'
import struct, zlib
data = open("good/a/1.png", "rb").read()
text = b"tEXtkey\0value"
chunk = struct.pack(">I", len(text) - 4) + text + struct.pack(">I", zlib.crc32(text))
open("texts.png", "wb").write(data[:33] + chunk * 5000 + data[33:])
END
bad texts.png
