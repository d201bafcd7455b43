#!/bin/sh
# contained.sh DIRECTORY KEPT PYTHON COMMAND...: runs the command where nothing can be written but DIRECTORY, which is made
# anew in memory, and KEPT (or ''); and where the network ends at loopback. In namespaces of its own: contained.ts.
set -eu
directory=$1 kept=$2 python=$3
shift 3

mount --make-rprivate /
mount -t tmpfs -o size=1g,mode=700 holdfast "$directory"
test -z "$kept" || mount --bind "$kept" "$kept"

while read -r _ place _ options _; do
  place=$(printf '%b' "$place")
  case $place in "$directory" | "$kept") continue ;; esac
  # What a mount is not to lose is told again: without it a user who is not root may not change it at all.
  same=$(echo "$options" | tr , '\n' | grep -xE 'nosuid|nodev|noexec|noatime|nodiratime|relatime' | tr '\n' , || true)
  mount -o "remount,bind,${same}ro" "$place" 2>/dev/null || test ! -w "$place"
done </proc/self/mounts

"$python" -c '
import fcntl, socket, struct
SIOCSIFFLAGS, IFF_UP = 0x8914, 1
with socket.socket() as any_socket:
    fcntl.ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh", b"lo", IFF_UP))
'
cd "$directory"
exec setpriv --no-new-privs --inh-caps=-all --bounding-set=-all -- "$@"
