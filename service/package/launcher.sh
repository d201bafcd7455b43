#!/bin/sh
# The user of the service works on the state and the settings of the service.
if [ -z "${HOLDFAST_STATE_DIR:-}" ] && [ "$(id -un 2>/dev/null)" = holdfast ]; then
  HOLDFAST_STATE_DIR=/var/lib/holdfast
  HOLDFAST_CONFIG=${HOLDFAST_CONFIG:-/etc/holdfast/config.json}
  XDG_CACHE_HOME=${XDG_CACHE_HOME:-/var/cache/holdfast}
  export HOLDFAST_STATE_DIR HOLDFAST_CONFIG XDG_CACHE_HOME
fi
# Node.js opens the null device in the place of an output that is closed, and could not tell.
(true 3>&1) 2>/dev/null || export HOLDFAST_OUTPUT_CLOSED=1
exec /usr/lib/holdfast/bin/node /usr/lib/holdfast/service/bin/holdfast.js "$@"
