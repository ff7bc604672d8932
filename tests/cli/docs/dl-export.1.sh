. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-export.1.scd
skip_next 'lenet.onnx' 'wants onnxruntime; make peers compares with it'
small_model lenet.safetensors
run_next 'lenet.svg'
skip_next 'scp lenet.onnx' 'another host'
page_ends
