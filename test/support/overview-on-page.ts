import type { Overview } from '../../src/api/schemas/page/overview.ts';

/** What the page knows of an agent at a time: all is well, with a default destination and another one, `usb`. */
export function overviewOnPage(at: string): Overview {
  const destination = {
    url: '/mnt',
    reachable: true,
    reached_at: at,
    unreachable_reason: null,
    untested: false,
    is_embedded: false,
    opened_by_kit: true,
    used_bytes: null,
    same_disk: false,
    free_bytes: null,
    stored: [],
    last_check: null,
    last_drill: null,
  };
  return {
    time: at,
    version: '0.1.0',
    installed_version: '0.1.0',
    headline: {
      level: 'good',
      code: 'protected',
      paths: [],
      to: [],
      since: at,
      names: [],
      files: [],
      figures: {},
      reason: null,
      check: null,
      check_code: null,
      sentence: '',
      more: 0,
    },
    others: [],
    checks: [],
    sources: [],
    destinations: [
      { ...destination, name: 'default', is_default: true },
      { ...destination, name: 'usb', is_default: false },
    ],
    active: [],
    recent: [],
    saved: { snapshot_bytes: 0, snapshots: 0, stored_bytes: 0 },
    alarms: 0,
    days: [],
    pause: null,
    recovery_kit: 'saved',
    held_notices: null,
    upload_limit: null,
  };
}
