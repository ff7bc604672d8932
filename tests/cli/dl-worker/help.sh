#!/bin/sh
# Help and version go to standard output.
dl-worker --help | sed -n '1,/^Examples/p'
dl-worker --version | head -n 1
