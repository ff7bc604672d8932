# The archive is one that others open, with a path for each weight.
. "$DL_TEST_ROOT/tests/cli/dl-eval/_pets.sh"
cp "$models/pets.safetensors" .
dl-export pets.safetensors -o pets.keras
dl-export --format keras -o - - <pets.safetensors | cmp - pets.keras && echo same
# Models that come back from either predict the same, to the bit; names of classes are
# lost.
pets 1 6 >pets.dls
probabilities() { dl-infer -q --model "$1" pets.dls | sed 's/.*"probability"//'; }
probabilities pets.safetensors >said
for file in pets.keras pets.h5; do
	dl-export pets.safetensors -o $file
	dl-import -q $file -o back.safetensors
	probabilities back.safetensors | cmp - said && echo "$file is the same again"
done
python3 - <<'PY'
import json
import zipfile
archive = zipfile.ZipFile("pets.keras")
print(archive.testzip(), archive.namelist())
config = json.loads(archive.read("config.json"))["config"]
print(config["input_layers"], config["output_layers"])
for layer in config["layers"]:
    print(layer["class_name"], json.dumps(layer["config"], sort_keys=True))
weights = archive.read("model.weights.h5")
print(weights[:4], b"dense" in weights)
PY
