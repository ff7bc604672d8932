#!/bin/sh
# Help goes to standard output, even if the rest of the line is wrong.
dl-shard --bogus --help | head -n 2
