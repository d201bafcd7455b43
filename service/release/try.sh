#!/bin/sh
# Installs the packages of a release into fresh roots of Debian, each in one of its own, uses and removes them.
#   service/release/try.sh DIRECTORY [SUITE|BASE.tar] [deb|rpm|archive]…
# Needs root, and mmdebstrap where no base is named: a tar of a root with the packages of BASE below. SUITE is the name of a
# release of Debian, such as trixie; bookworm if none is named.
set -eu

BASE=adduser,ca-certificates,rpm,bash-completion
here=$(cd "$(dirname "$0")" && pwd)
release=$(cd "$1" && pwd)
shift
base= suite=bookworm
case ${1:-} in
  *.tar) base=$(cd "$(dirname "$1")" && pwd)/$(basename "$1"); shift ;;
  '' | deb | rpm | archive) ;;
  *) suite=$1; shift ;;
esac
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
if [ -z "$base" ]; then
  base=$work/base.tar
  mmdebstrap --quiet --variant=minbase --include=$BASE "$suite" "$base"
fi

fail() { echo "FAILED: $*" >&2; exit 1; }
# In the fresh root, with nothing of this environment, and no process left behind.
inside() {
  unshare --mount --pid --fork --kill-child sh -c 'mount -t proc proc "$1/proc" && shift && exec "$@"' sh "$root" \
    env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 chroot "$root" "$@"
}
fresh() {
  root=$work/$1
  mkdir "$root"
  tar -xf "$base" -C "$root" --exclude='./dev/*'
  for device in null zero random urandom; do touch "$root/dev/$device"; done
  mknod -m 666 "$root/dev/null.real" c 1 3 2>/dev/null && mv "$root/dev/null.real" "$root/dev/null"
  mknod -m 666 "$root/dev/urandom.real" c 1 9 2>/dev/null && mv "$root/dev/urandom.real" "$root/dev/urandom"
  cp "$here/use.sh" "$root/usr/local/bin/use"
  chmod 755 "$root/usr/local/bin/use"
  inside useradd --create-home anna
  mkdir "$root/packages"
}
as_anna() { inside su - anna -c "$1"; }
# Files below the root, and directories that are named like it, but for what changes by itself.
listing() { (cd "$root" && find . -xdev \( -path ./proc -o -path ./packages -o -path ./tmp -o -path ./run -o -path ./home -o -path './var/lib/dpkg' -o -path './var/lib/rpm' -o -path './root' -o -path './var/log' -o -path './var/cache' \) -prune -o ! -type d -print -o -path '*holdfast*' -print | sort); }
timed() { what=$1; shift; begun=$(date +%s%N); "$@"; echo "ok  $what: $((($(date +%s%N) - begun) / 1000000)) ms"; }

installed_places() {
  for place in /usr/bin/holdfast /usr/lib/holdfast/bin/node /usr/share/man/man1/holdfast-backup.1.gz \
    /usr/share/man/man5/holdfast-config.5.gz /usr/share/bash-completion/completions/holdfast \
    /usr/share/fish/vendor_completions.d/holdfast.fish /usr/share/applications/org.example.holdfast.desktop \
    /usr/share/icons/hicolor/scalable/apps/org.example.holdfast.svg /usr/share/metainfo/org.example.holdfast.metainfo.xml; do
    [ -e "$root$place" ] || fail "$place is installed"
  done
  [ "$(inside stat -c '%U %a' /etc/holdfast/config.json)" = 'holdfast 600' ] || fail 'the settings of the service are private'
  [ "$(inside stat -c '%U %a' /var/lib/holdfast)" = 'holdfast 700' ] || fail 'the state of the service is private'
}

try_deb() {
  fresh deb
  cp "$release"/holdfast_*_amd64.deb "$root/packages/holdfast.deb"
  listing >"$work/before"
  timed 'deb installed' inside sh -c 'dpkg --install /packages/holdfast.deb >/dev/null'
  installed_places
  as_anna use
  inside sh -c 'dpkg --purge holdfast >/dev/null'
  listing >"$work/after"
  # The home of the service stays only if it has something in it; its user stays, as Debian wants it.
  diff "$work/before" "$work/after" || fail 'removing leaves nothing behind'
  echo 'ok  deb removed without a trace'
}

try_rpm() {
  fresh rpm
  cp "$release"/holdfast-*.x86_64.rpm "$root/packages/holdfast.rpm"
  listing >"$work/before"
  # Of what it asks for, the database of rpm knows nothing here.
  timed 'rpm installed' inside sh -c 'rpm --install --nodeps /packages/holdfast.rpm'
  installed_places
  inside rpm --verify --nodeps holdfast || fail 'what is installed is what was packed'
  as_anna use
  inside rpm --erase holdfast
  listing >"$work/after"
  diff "$work/before" "$work/after" | grep '^[<>]' | grep -v -e ' ./etc/holdfast' -e ' ./var/lib/holdfast' && fail 'removing leaves settings and state alone'
  echo 'ok  rpm removed, settings and state kept'
}

try_archive() {
  fresh archive
  timed 'archive unpacked' tar -xf "$(echo "$release"/holdfast-*-linux-x64.tar.gz)" -C "$root/home/anna" --no-same-owner
  inside chown -R anna /home/anna
  as_anna 'ln -s ~/holdfast-*/ ~/program && mkdir -p ~/bin && ln -s ~/program/holdfast ~/bin/holdfast && PATH=$HOME/bin:$PATH use'
  as_anna '~/program/holdfast help | grep -q "^Usage: program/holdfast\|^Usage: ./program\|holdfast COMMAND"' || fail 'it knows how it is called'
  as_anna 'rm -r ~/holdfast-*/ ~/program ~/bin ~/.cache/holdfast ~/.local/state/holdfast && find ~ -name "*holdfast*"'
  echo 'ok  archive removed'
}

[ $# -gt 0 ] || set -- deb rpm archive
for kind; do "try_$kind"; done
echo 'All well.'
