"""The notification service of a desktop, for tests: prints what it is asked to show, as lines of JSON."""
import json
import sys

import dbus
import dbus.mainloop.glib
import dbus.service
from gi.repository import GLib

NAME = 'org.freedesktop.Notifications'


class Service(dbus.service.Object):
    @dbus.service.method(NAME, in_signature='susssasa{sv}i', out_signature='u')
    def Notify(self, app, replaces, icon, title, text, actions, hints, expires):
        shown = {
            'app': str(app),
            'icon': str(icon),
            'title': str(title),
            'text': str(text),
            'urgency': int(hints.get('urgency', 1)),
            'entry': str(hints.get('desktop-entry', '')),
            'expires': int(expires),
        }
        print(json.dumps(shown), flush=True)
        return dbus.UInt32(1)


dbus.mainloop.glib.DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
name = dbus.service.BusName(NAME, bus)
service = Service(bus, '/org/freedesktop/Notifications')
print(json.dumps({'bus': sys.argv[1]}), flush=True)
GLib.MainLoop().run()
