#!/bin/sh
# The library never prints, ends the program, installs a handler or changes what belongs to the whole process: none of
# the functions that do so is called from any of its objects. Prints every breach; fails if there is one.
set -eu
library=${1:?usage: check-library.sh libfcam.a}
forbidden='printf|fprintf|vprintf|vfprintf|puts|fputs|putc|putchar|fputc|fwrite|perror|stdout|stderr'
forbidden="$forbidden|_ZSt4cout|_ZSt4cerr|_ZSt4clog|_ZSt5wcout|exit|_exit|_Exit|quick_exit|abort|atexit|at_quick_exit"
forbidden="$forbidden|signal|sigaction|sigprocmask|pthread_sigmask|raise|kill|setlocale|uselocale|_ZNSt6locale6globalERKS_"
forbidden="$forbidden|fesetround|fesetenv|feenableexcept|srand|rand|system|popen|fork|execve|posix_spawn|posix_spawnp"
forbidden="$forbidden|chdir|umask|setenv|unsetenv|putenv|setrlimit|setpriority|sched_setaffinity"
symbols=$(nm -A -u "$library")
[ -n "$symbols" ] || { echo "$library: no symbols to check" >&2; exit 1; }
if echo "$symbols" | sed 's/@.*//' | grep -E " U ($forbidden)\$"; then
  echo "the library calls what only a program may" >&2
  exit 1
fi
echo 'the library prints nothing, ends nothing and changes nothing of the process'
