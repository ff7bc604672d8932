#!/bin/sh
dl-shard --shar 7 a.dls
