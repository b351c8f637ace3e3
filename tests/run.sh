#!/usr/bin/env bash
# run.sh PROGRAM [FILTER...]: runs the tests in as many parts at once as there are cores, prints what each part says, and
# closes with one line for all.
set -u
program=$1
shift
parts=$(nproc 2>/dev/null || echo 1)
[ "$parts" -le 8 ] || parts=8
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/tmp" || exit 1
export TMPDIR=$folder/tmp  # tests that are stopped leave their folders there

# The parts and all that they start are a process group of their own, whose signals are as usual; the shell's background
# jobs would ignore SIGINT otherwise, as would the programs that tests interrupt.
set -m
group=
stop() {
  trap '' HUP INT TERM
  if [ -n "$group" ]; then
    kill -TERM -- "-$group" 2> /dev/null
    # Programs end their batch and save.
    for ((i = 0; i < 50; ++i)); do
      kill -0 -- "-$group" 2> /dev/null || break
      sleep 0.1
    done
    kill -KILL -- "-$group" 2> /dev/null
  fi
  exit "$1"
}
trap 'stop 129' HUP
trap 'stop 130' INT
trap 'stop 143' TERM

"$program" --list-test-names-only "$@" > "$folder/names"  # its exit code is their number
if ! [ -s "$folder/names" ]; then
  echo "expected tests, found none that match: $*" >&2
  exit 1
fi
# Catch2 takes a comma for the end of a name where no backslash says otherwise.
sed 's/[\\,]/\\&/g' "$folder/names" | awk -v part="$folder/part" -v parts="$parts" '{ print > (part NR % parts) }'

code=0
printf '%s\n' "$folder"/part* > "$folder/list"
xargs -P "$parts" -I '{}' sh -c '"$0" -f "$1" > "$1.out" 2>&1
  code=$?
  sed "/^[0-9]* passed, [0-9]* failed\$/d; /^Filters: /d" "$1.out"
  exit $code' "$program" '{}' < "$folder/list" &
group=$!
wait -f "$group" || code=1
group=

# Tests that a part that crashed did not come to have failed.
tail -q -n 1 "$folder"/part*.out | awk -v all="$(wc -l < "$folder/names")" '
  /^[0-9]+ passed, [0-9]+ failed$/ { passed += $1 }
  END { print passed + 0 " passed, " all - passed " failed"; exit passed != all }' || code=1
exit $code
