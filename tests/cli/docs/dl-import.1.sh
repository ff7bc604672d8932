. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
golden=$DL_TEST_ROOT/tests/golden/keras
cp "$golden/words.json" model.json
cp "$golden/words.weights.h5" model.weights.h5
page man/dl-import.1.scd
skip_next 'dl-import logits.keras' 'an editor'
skip_next 'dl-import flowers.keras' 'no such model'
run_next 'dl-import model.json -o'
skip_next 'dl-import sequences.zip' 'no such model'
run_next 'dl-import model.json --weights'
skip_next 'import torch' 'needs PyTorch'
skip_next 'import keras' 'needs Keras'
page_ends
