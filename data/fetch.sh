#!/bin/sh
# Fetches a data set from its official place, checks it and unpacks it. `data/fetch.sh --help` says how.
set -eu

usage='usage: data/fetch.sh cifar10|cifar100|mnist [FOLDER]

Fetches a data set into FOLDER (default: the folder of this script) with curl, checks its md5 and unpacks it. A download
that was interrupted goes on where it stopped. Exit codes: 0 done or already there, 1 not downloaded, 2 usage, 3 a wrong
checksum or a damaged archive, 4 FOLDER cannot be written.

FCAM_MIRROR=URL takes the files from another place (https://..., file:///...). If that has a file MD5SUMS with lines
"md5  name", its checksums replace the official ones for the names in it: for archives that were packed anew.'

say() { printf 'fetch.sh: %s\n' "$1" >&2; }
fail() {
  say "error: $2"
  exit "$1"
}

md5_of() {
  if command -v md5sum > /dev/null; then
    md5sum < "$1" | cut -d ' ' -f 1
  elif command -v md5 > /dev/null; then
    md5 -q "$1"
  else
    openssl md5 -r "$1" | cut -d ' ' -f 1
  fi
}

# The md5 that a file must have: NAME OFFICIAL
expected_md5() {
  theirs=
  if [ -n "$mirror" ]; then
    theirs=$(curl --fail --silent --location "$mirror/MD5SUMS" 2> /dev/null |
      awk -v name="$1" '$2 == name || $2 == "*" name { print $1; exit }') || theirs=
  fi
  [ -z "$theirs" ] || say "checking $1 against the MD5SUMS of $mirror"
  printf '%s\n' "${theirs:-$2}"
}

# Continues FILE.part from URL: URL FILE. What was there stays when the connection fails; where it cannot be continued
# (the server does not do it, or it is longer than the file) the file is fetched from its start.
transfer() {
  if [ -t 2 ]; then progress=--progress-bar; else progress=--silent; fi
  for attempt in first second; do
    status=0
    http=$(curl --fail --location --show-error "$progress" --retry 3 --connect-timeout 30 --continue-at - \
      --write-out '%{http_code}' --output "$2.part" "$1") || status=$?
    [ $status -ne 0 ] || return 0
    case $status/$http in
      33/* | 36/* | 22/416) ;;
      *) return 1 ;;
    esac
    [ $attempt = first ] && [ -s "$2.part" ] || return 1
    say "starting $2 anew"
    rm -f "$2.part"
  done
}

# Fetches one file into a folder: NAME OFFICIAL_MD5 FOLDER URL...
fetch() {
  name=$1 file=$3/$1
  wanted=$(expected_md5 "$1" "$2")
  if [ -f "$file" ] && [ "$(md5_of "$file")" = "$wanted" ]; then
    say "$file is already there"
    return
  fi
  shift 3
  [ -z "$mirror" ] || set -- "$mirror"
  if ! { [ -f "$file.part" ] && [ "$(md5_of "$file.part")" = "$wanted" ]; }; then
    fetched=
    for base in "$@"; do
      say "fetching $base/$name"
      if transfer "$base/$name" "$file"; then
        fetched=yes
        break
      fi
    done
    [ -n "$fetched" ] || fail 1 "$name: could not be fetched from $*"
  fi
  found=$(md5_of "$file.part")
  if [ "$found" != "$wanted" ]; then
    rm -f "$file.part"
    hint='try again'
    [ -z "$mirror" ] || hint='archives that were packed anew need a file MD5SUMS beside them'
    fail 3 "$name: expected md5 $wanted, found $found; what was fetched is removed: $hint"
  fi
  mv "$file.part" "$file"
}

# Fetches an archive and unpacks the folder in it: ARCHIVE OFFICIAL_MD5 FOLDER_IN_IT
fetch_archive() {
  if [ -d "$folder/$3" ]; then
    say "$folder/$3 is already there"
    return
  fi
  fetch "$1" "$2" "$folder" https://www.cs.toronto.edu/~kriz
  rm -rf "$folder/$3.part"
  mkdir "$folder/$3.part" || fail 4 "$folder: cannot make a folder in it"
  tar -xzf "$folder/$1" -C "$folder/$3.part" && [ -d "$folder/$3.part/$3" ] || {
    rm -rf "$folder/$3.part"
    fail 3 "$folder/$1: expected an archive with a folder $3"
  }
  mv "$folder/$3.part/$3" "$folder/$3"
  rm -rf "$folder/$3.part" "$folder/$1"
  say "$folder/$3 is complete"
}

fetch_mnist() {
  mkdir -p "$folder/mnist" || fail 4 "$folder: cannot make a folder in it"
  while read -r name md5; do
    fetch "$name" "$md5" "$folder/mnist" http://yann.lecun.com/exdb/mnist https://ossci-datasets.s3.amazonaws.com/mnist
  done << 'END'
train-images-idx3-ubyte.gz f68b3c2dcbeaaa9fbdd348bbdeb94873
train-labels-idx1-ubyte.gz d53e105ee54ea40749a09fcbcd1e9432
t10k-images-idx3-ubyte.gz 9fb629c4189551a2d022fa330f9573f3
t10k-labels-idx1-ubyte.gz ec29112dd5afa0611ce80d1b7f02629c
END
  say "$folder/mnist is complete"
}

case ${1-} in
  --help | -h)
    printf '%s\n' "$usage"
    exit 0
    ;;
  cifar10 | cifar100 | mnist) ;;
  *) fail 2 "expected one of cifar10, cifar100, mnist, found '${1-}'; --help says more" ;;
esac
[ $# -le 2 ] || fail 2 "expected a data set and a folder, found $# arguments"
command -v curl > /dev/null || fail 1 "expected the program curl, found none"
folder=${2:-$(cd "$(dirname "$0")" && pwd)}
mirror=${FCAM_MIRROR-}
mirror=${mirror%/}
{ [ -d "$folder" ] || mkdir -p "$folder"; } && [ -w "$folder" ] || fail 4 "$folder: expected a folder to write to"

case $1 in
  cifar10) fetch_archive cifar-10-binary.tar.gz c32a1d4ab5d03f1284b67883e8d87530 cifar-10-batches-bin ;;
  cifar100) fetch_archive cifar-100-binary.tar.gz 03b5dce01913d631647c71ecec9e9cb8 cifar-100-binary ;;
  mnist) fetch_mnist ;;
esac
