# A file appears whole or not at all, whatever the model comes through; a second
# one has the same bytes.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
cp "$models/pets.safetensors" . && model=pets.safetensors
dl-export "$model" -o pets.onnx
echo "$?"
dl-export --format onnx -o - - <"$model" | cmp - pets.onnx && echo same
dl-export "pipe:cat '$model'" -o piped.onnx && cmp piped.onnx pets.onnx && echo same
grep -aoE 'features|predictions|classes|\["cat","dog","emu"\]|dl-tools' pets.onnx | sort -u
try() { dl-export "$@"; echo "$?"; }
try "$model" -o pets.pb
try "$model" -o pets
try "$model" -o pets.onnx --format pb
try "$model" -o pets.onnx --masks some
try "$model"
try -o pets.onnx
try missing.safetensors -o missing.onnx
try "pipe:cat '$model'; exit 3" -o broken.onnx
head -c 300 "$model" >cut.safetensors
try cut.safetensors -o cut.onnx
try "$model" -o folder/pets.onnx
ls ./*.onnx
