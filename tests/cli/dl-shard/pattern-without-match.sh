#!/bin/sh
dl-shard --info 'train-*.dls'
