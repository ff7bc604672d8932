# An input of another format, and a model in the place of data: each sentence says what
# it is and what to do.
golden=$DL_TEST_ROOT/tests/golden
try() { dl-preprocess "$@" >/dev/null; echo "$*: $?"; }
python3 - <<'END'
import struct, tarfile, wave, zipfile
def write(name, data):
    with open(name, "wb") as file:
        file.write(data + bytes(64))
write("a.png", b"\x89PNG\r\n\x1a\n")
write("a.jpg", b"\xff\xd8\xff\xe0\0\x10JFIF")
write("a.gif", b"GIF89a")
write("a.tif", b"II*\0")
write("a.webp", b"RIFF\x40\0\0\0WEBPVP8 ")
write("a.parquet", b"PAR1\x15\0")
write("a.sqlite", b"SQLite format 3\0")
write("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")
write("a.npy", b"\x93NUMPY\x01\0")
write("a.h5", b"\x89HDF\r\n\x1a\n")
write("a.pdf", b"%PDF-1.7\n")
write("a.pkl", b"\x80\x04\x95\x10\0\0\0\0\0\0\0")
write("a.csv.bz2", b"BZh91AY&SY")
with wave.open("a.wav", "wb") as sound:
    sound.setparams((1, 2, 8000, 0, "NONE", ""))
    sound.writeframes(bytes(100))
def archive(name, *members):
    with zipfile.ZipFile(name, "w") as file:
        for member in members:
            file.writestr(member, "x" * 30)
archive("a.zip", "a.csv")
archive("a.xlsx", "[Content_Types].xml", "xl/workbook.xml")
archive("a.ods", "mimetype")
with zipfile.ZipFile("a.ods", "w") as file:
    file.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
archive("a.npz", "x.npy")
archive("a.pt", "model/data.pkl")
for name in ("a.tar", "a.tar.gz"):
    with tarfile.open(name, "w:gz" if name.endswith("gz") else "w") as file:
        info = tarfile.TarInfo("a.csv")
        file.addfile(info)
END
printf '{"a": 1, "b": 2}\n{"a": 3, "b": 4}\n' >a.jsonl
printf '\n[\n  {"a": 1}\n]\n' >a.json
printf 'PAR1,ID3,RIFF\n1,2,a\n3,4,b\n' >names.csv
printf 'age,kind\n12,cat\n13,dog\n14,ox' >words.csv
printf '<!DOCTYPE html>\n' >a.html
cp "$golden/model/tiny-1.0.safetensors" "$golden/keras/image.keras" "$golden/keras/image.h5" .
cp "$golden/dl4j/image.zip" dl4j.zip
cp "$golden/onnx/image.onnx" .
for file in a.* *.safetensors *.keras *.h5 dl4j.zip *.onnx; do try csv --label -1 "$file"; done
echo "-- by other formats, and through a pipe"
try idx --no-labels a.png
try cifar a.wav
try svmlight --features 2 a.jsonl
try csv --label -1 'pipe:cat a.jpg'
echo "-- of bare records"
try raw --no-labels --shape 1000 --dtype u8 a.jpg
try raw --no-labels --shape 1000 --dtype u8 a.wav
echo "-- of bare records whose size fits"
gzip -n <names.csv >a.csv.gz
for file in a.npy a.xlsx a.zip a.parquet a.png a.jpg a.wav a.csv.gz image.keras image.h5 image.onnx \
  tiny-1.0.safetensors; do
  try raw --no-labels --shape 1 --dtype u8 "$file"
done
try raw --no-labels --shape 4 --dtype f32 words.csv
echo "-- what looks alike is read"
try raw --no-labels --shape 1 --dtype u8 --examples 72 a.png
try raw --no-labels --shape 4 --dtype u8 words.csv
printf '\377\376\1\2' | try raw --no-labels --shape 2 --dtype u8
printf '\37\213\1\2' | try raw --no-labels --shape 2 --dtype u8
try csv --header --label RIFF names.csv
printf '{a},b\n1,x\n' >braces.csv
try csv --header --label b braces.csv --classes x,y
