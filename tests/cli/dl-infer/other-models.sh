# A model of another program, and what is none, as --model: each sentence names what helps.
golden=$DL_TEST_ROOT/tests/golden
cp "$golden/onnx/image.onnx" "$golden/keras/image.keras" "$golden/keras/image.h5" "$golden/keras/words.json" .
cp "$golden/dl4j/image.zip" dl4j.zip
printf '{ "seed": 1, "input": {"shape": [2]} }\n' >net.json
printf '1,2,a\n3,4,b\n' >t.csv
dl-preprocess csv --label 3 t.csv -o t.dls
python3 - <<'END'
import json, struct
header = json.dumps({"fc.weight": {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}}).encode()
open("state.safetensors", "wb").write(struct.pack("<Q", len(header)) + header + bytes(4))
END
for model in image.onnx image.keras image.h5 dl4j.zip words.json net.json state.safetensors t.dls t.csv; do
  for tool in dl-infer dl-eval; do "$tool" --model "$model" t.dls; done
  dl-master --net net.json --init "$model" --data t.dls -o out.safetensors
  dl-export "$model" -o out.onnx
done
