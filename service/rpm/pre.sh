# Before the user whose home it is.
install -d -m 0700 /var/lib/holdfast
getent group holdfast >/dev/null || groupadd --system holdfast
getent passwd holdfast >/dev/null ||
  useradd --system --gid holdfast --home-dir /var/lib/holdfast --no-create-home \
    --shell /sbin/nologin --comment 'Holdfast backup agent' holdfast
exit 0
