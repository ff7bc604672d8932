#!/bin/bash
# Help goes to standard output, even if the rest of the line is wrong.
dl-master --bogus --help | sed -n 1,4p
