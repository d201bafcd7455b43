if [ -d /run/systemd/system ]; then systemctl daemon-reload || :; fi
if [ "$1" = 0 ]; then
  rm -rf /var/cache/holdfast
  # Settings, keys and repositories stay. Deleting backups is never a side effect.
  echo 'holdfast: settings, keys and backups are kept in /etc/holdfast and /var/lib/holdfast. Delete them yourself if you are sure.'
fi
exit 0
