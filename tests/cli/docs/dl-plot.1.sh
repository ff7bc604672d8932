. "$DL_TEST_ROOT/tests/cli/docs/_blocks.sh"
page man/dl-plot.1.scd
lenet_data
lenet_model
cp -r lenet.safetensors.run a.run
cp -r lenet.safetensors.run b.run
skip_next 'serve 8080' 'it serves without end'
skip_next 'ssh -L' 'another host'
run_next 'lenet.html'
run_next 'both.html'
run_next 'report.html'
run_next 'seen.html'
run_next 'epoch/loss'
ls -- *.html *.csv
page_ends
