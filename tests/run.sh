#!/bin/sh
# run.sh PROGRAM [FILTER...]: runs the tests in as many parts at once as there are cores, prints what each part says, and
# closes with one line for all.
set -u
program=$1
shift
parts=$(nproc 2>/dev/null || echo 1)
[ "$parts" -le 8 ] || parts=8
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT

"$program" --list-test-names-only "$@" > "$folder/names"  # its exit code is their number
if ! [ -s "$folder/names" ]; then
  echo "expected tests, found none that match: $*" >&2
  exit 1
fi
# Catch2 takes a comma for the end of a name where no backslash says otherwise.
sed 's/[\\,]/\\&/g' "$folder/names" | awk -v part="$folder/part" -v parts="$parts" '{ print > (part NR % parts) }'

# xargs rather than the shell's own background jobs, which ignore SIGINT, as would the programs that tests interrupt.
code=0
printf '%s\n' "$folder"/part* |
  xargs -P "$parts" -I '{}' sh -c '"$0" -f "$1" > "$1.out" 2>&1
    code=$?
    sed "/^[0-9]* passed, [0-9]* failed\$/d; /^Filters: /d" "$1.out"
    exit $code' "$program" '{}' ||
  code=1

# Tests that a part that crashed did not come to have failed.
tail -q -n 1 "$folder"/part*.out | awk -v all="$(wc -l < "$folder/names")" '
  /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1 }
  END { print passed + 0 " passed, " all - passed " failed"; exit passed != all }' || code=1
exit $code
