#!/bin/sh
# Installs into a folder with a space in its name, builds examples/ against what was installed, from a folder outside the
# tree, runs them, and uninstalls. Called by `make test-install`.
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix="$work/install here"
"$MAKE" --no-print-directory install PREFIX="$prefix" DESTDIR= BUILD="$BUILD" > "$work/log"
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
flags=$(pkg-config --cflags --libs fcam)

source=$PWD/examples
cd "$work"
for file in "$source"/*.cpp; do
  name=$(basename "$file" .cpp)
  eval "$CXX -std=c++20 -O1 -o '$name' '$file' $flags"
done
export PATH="$prefix/bin:$PATH"
fcam-train --data shapes --train 500 --test 100 --epochs 1 --loss lv --out run --quiet
./classify_patches run/model.safetensors 7 | grep -c 'attention' | grep -qx 5
./custom_loss | grep -q 'gradient: right'
./custom_data | grep -q 'accuracy 0\.9'
./flow | grep -q '^lv: '
man=$(ls "$prefix/share/man/man1" | wc -l)
programs=$(ls "$prefix/bin" | wc -l)
[ "$man" = "$programs" ] || { echo "expected a manual page for each of $programs programs, found $man" >&2; exit 1; }

cd "$source/.."
"$MAKE" --no-print-directory uninstall PREFIX="$prefix" DESTDIR= BUILD="$BUILD" >> "$work/log"
left=$(find "$prefix" -type f)
[ -z "$left" ] || { echo "expected nothing left after uninstall, found $left" >&2; exit 1; }
echo 'installed, examples built and run, uninstalled'
