#!/bin/sh
dl-shard missing.dls
