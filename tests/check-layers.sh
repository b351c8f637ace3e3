#!/bin/sh
# The rules of docs/design.md on includes: which folder of the library may include which, and that third-party headers
# stay behind one door each. Prints every breach; fails if there is one.
set -u
faults=$(mktemp) || exit 1
trap 'rm -f "$faults"' EXIT

# folder: folders it may include besides its own
while IFS=: read -r folder allowed; do
  [ -d "lib/fcam/$folder" ] || continue
  grep -nE '^#include "' lib/fcam/"$folder"/*.h lib/fcam/"$folder"/*.cpp 2>/dev/null |
    sed -E 's/^([^:]+:[0-9]+):#include "([^"]+)".*/\1 \2/' |
    while read -r place header; do
      other=${header#fcam/}
      other=${other%%/*}
      case " $folder $allowed " in
        *" $other "*) ;;
        *) echo "$place: $folder may not include $header" ;;
      esac
    done
done >> "$faults" <<RULES
base:
data: base
autodiff: base
dynamics: base
nn: base autodiff
attention: base autodiff nn
analysis: base autodiff nn attention data
training: base autodiff nn attention data analysis
RULES

# door HEADER FILES...: only these files may include headers that begin so
door() {
  header=$1
  shift
  grep -rnE "^ *#include <$header" lib apps |
    while IFS=: read -r file line _; do
      case " $* " in
        *" $file "*) ;;
        *) echo "$file:$line: <$header...> belongs to $*" ;;
      esac
    done >> "$faults"
}
door xtensor/ lib/fcam/base/tensor.h
door xtensor-blas lib/fcam/base/blas.cpp
door CLI/ apps/common/command_line.cpp
door png apps/common/png.cpp apps/common/decode_png.cpp
door jpeglib apps/common/decode_jpeg.cpp
door jerror apps/common/decode_jpeg.cpp
door zlib lib/fcam/data/gzip.cpp
grep -nE '^#include <nlohmann' lib/fcam/*/*.h | sed 's/$/ (json stays in .cpp files of the library)/' >> "$faults"

if [ -s "$faults" ]; then
  cat "$faults"
  exit 1
fi
echo 'includes follow docs/design.md'
