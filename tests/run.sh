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
awk -v part="$folder/part" -v parts="$parts" '{ print > (part NR % parts) }' "$folder/names"

# xargs rather than the shell's own background jobs, which ignore SIGINT, as would the programs that tests interrupt.
code=0
printf '%s\n' "$folder"/part* |
  xargs -P "$parts" -I '{}' sh -c '"$0" -f "$1" > "$1.out" 2>&1; code=$?; cat "$1.out"; exit $code' "$program" '{}' ||
  code=1

# A part that crashed has no closing line: its tests count as failed.
for part in "$folder"/part*.out; do
  tail -n 1 "$part" | grep -E '^[0-9]+ passed, [0-9]+ failed$' || echo "0 passed, $(wc -l < "${part%.out}") failed"
done | awk '{ passed += $1; failed += $3 } END { print passed " passed, " failed " failed" }'
exit $code
