# The directories above these are of root: what stands in there by these names nobody else can change.
for directory in /var/lib/holdfast /var/cache/holdfast; do
  install -d -o holdfast -g holdfast -m 0700 "$directory"
done
install -d -o holdfast -g holdfast -m 0755 /etc/holdfast
# In there everything is done as their user: root would follow whatever link that user has put in the way.
setsid --wait setpriv --reuid holdfast --regid holdfast --init-groups --no-new-privs \
  sh -c 'umask 077; cd /etc/holdfast && { set -C; test -e config.json || test -L config.json || cat /usr/share/holdfast/config.json >config.json; }' \
  </dev/null >/dev/null 2>&1 ||
  echo 'holdfast: /etc/holdfast/config.json could not be made; the agent runs with its defaults until it is there.'

# In a container or a chroot no systemd runs: then the unit is only put in place, and enabled.
if command -v systemctl >/dev/null; then
  if [ "$1" = 1 ]; then systemctl enable holdfast.service >/dev/null 2>&1 || :; fi
  if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || :
    if systemctl is-enabled --quiet holdfast.service; then systemctl restart holdfast.service || :; fi
    # The agents of single persons run this program, too.
    for unit in $(grep -ls '^ExecStart=/usr/lib/holdfast/' /etc/systemd/system/multi-user.target.wants/holdfast-*.service); do
      systemctl restart "$(basename "$unit")" || :
    done
  fi
fi
exit 0
