# Only when it is removed: after an upgrade the new version starts the agents again.
if [ "$1" = 0 ] && command -v systemctl >/dev/null; then
  if [ -d /run/systemd/system ]; then systemctl stop holdfast.service || :; fi
  systemctl disable holdfast.service >/dev/null 2>&1 || :
  for unit in $(grep -ls '^ExecStart=/usr/lib/holdfast/' /etc/systemd/system/holdfast-*.service); do
    if [ -d /run/systemd/system ]; then systemctl stop "$(basename "$unit")" || :; fi
    systemctl disable "$(basename "$unit")" >/dev/null 2>&1 || :
  done
fi
exit 0
