#!/bin/sh
dl-shard --version | head -n 1
