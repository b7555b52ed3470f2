#!/bin/sh
# Takes from node_modules what no program reads when it runs.
set -eu
cd "$(dirname "$0")/../node_modules"

find . -type f \( -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.map' -o -iname '*.md' \) -delete

# RocksDB's sources, and the addon as it is for other platforms.
platform=$(node --print '`${process.platform}-${process.arch}`')
rm -rf rocksdb/deps rocksdb/prebuilds.zip rocksdb/*.cc rocksdb/*.h
find rocksdb/prebuilds -mindepth 1 -maxdepth 1 ! -name "$platform" -exec rm -rf {} +
