/** Which notifications the browser shows, and that each is shown once. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Alarm } from '../../../src/api/schemas/page/jobs.ts';
import type { Headline } from '../../../src/api/schemas/page/overview.ts';
import { useLanguage } from '../../../src/ui/language/language.ts';
import { newsOf } from '../../../src/ui/notifications.ts';
import {
  isOn,
  keepTold,
  readTold,
  show,
  tellClosed,
  toldOf,
  turnOff,
  turnOn,
} from '../../../src/ui/parts/browser-notices.ts';
import { tabOf } from '../../../src/ui/tab.ts';
import { overviewOnPage } from '../../support/overview-on-page.ts';

const GOOD = overviewOnPage(new Date().toISOString());
const [AWAY, EMPTY]: readonly Headline[] = [
  {
    ...GOOD.headline,
    level: 'bad',
    code: 'overdue',
    names: ['~'],
    to: ['default'],
    since: new Date(Date.now() - 5 * 86_400_000).toISOString(),
    reason: 'away',
  },
  {
    ...GOOD.headline,
    level: 'bad',
    code: 'source_empty',
    names: ['a\u202eb'],
    figures: { files_before: 12 },
  },
];
const bad = { ...GOOD, headline: AWAY ?? GOOD.headline };
const empty = { ...GOOD, headline: EMPTY ?? GOOD.headline, alarms: 1 };
const ALARM: Alarm = {
  id: 'alarm_1',
  kind: 'empty',
  source: '/home/ana/a\u202eb',
  at: GOOD.time,
  text: '',
  facts: {},
  snapshot_before: null,
};
const told = { level: 'good', alarms: [] } as const;

describe('what is news', () => {
  test('nothing is while nothing changes', () => {
    expect(newsOf(GOOD, [], told)).toEqual([]);
    expect(newsOf(bad, [], toldOf(bad, []))).toEqual([]);
    expect(newsOf(empty, [ALARM], toldOf(empty, [ALARM]))).toEqual([]);
    const warning = { ...GOOD, headline: { ...GOOD.headline, level: 'warning' as const } };
    expect(newsOf(warning, [], told)).toEqual([]);
    expect(newsOf(GOOD, [], { level: 'warning', alarms: [] })).toEqual([]);
  });

  test('an alarm is, with what to do, and leads to the alarms; the headline repeats it', () => {
    expect(newsOf(empty, [ALARM], told)).toEqual([
      {
        tag: 'alarm_1',
        title: 'Empty: /home/ana/a⟨U+202E⟩b',
        body: 'Mount the disk or share. The next backup then succeeds, and the alarm ends. If the source is meant to be empty, acknowledge the alarm. If it was deleted on purpose, remove the source.',
        href: '#/alarms',
        kind: 'alarm',
      },
    ]);
    expect(newsOf(empty, [ALARM, { ...ALARM, id: 'alarm_2' }], toldOf(empty, [ALARM]))).toMatchObject([
      { tag: 'alarm_2' },
    ]);
  });

  test('a headline that turns bad is, and leads to where something can be done', () => {
    expect(newsOf(bad, [], told)).toEqual([
      {
        tag: `overdue ${bad.headline.since}`,
        title: 'Holdfast',
        body: 'Not protected: Home has not been backed up to “default” for 5 days because the backup disk is not connected\nPlug in the disk.',
        href: '#/jobs',
        kind: 'trouble',
      },
    ]);
  });

  test('its end is', () => {
    expect(newsOf(GOOD, [], toldOf(bad, []))).toMatchObject([
      { title: 'Holdfast', body: 'Protected: last good backup just now', href: '#/', kind: 'success' },
    ]);
  });

  test('it is told in the language of the page', async () => {
    vi.stubGlobal('document', { documentElement: { lang: '' } });
    try {
      await useLanguage('de');
      expect(newsOf(empty, [ALARM], told)).toMatchObject([{ title: 'Leer: /home/ana/a⟨U+202E⟩b' }]);
    } finally {
      await useLanguage('en');
      vi.unstubAllGlobals();
    }
  });
});

/** Notifications of a browser that stands in for one. */
class FakeNotification extends EventTarget {
  static permission: NotificationPermission = 'default';
  static answer: NotificationPermission = 'granted';
  static asked = 0;
  static readonly shown: FakeNotification[] = [];
  readonly title: string;
  readonly options: NotificationOptions;
  isClosed = false;

  static async requestPermission(): Promise<NotificationPermission> {
    FakeNotification.asked += 1;
    FakeNotification.permission = await Promise.resolve(FakeNotification.answer);
    return FakeNotification.permission;
  }

  constructor(title: string, options: NotificationOptions) {
    super();
    this.title = title;
    this.options = options;
    FakeNotification.shown.push(this);
  }

  close(): void {
    this.isClosed = true;
  }
}

describe('the browser', () => {
  const kept = new Map<string, string>();
  const place = { hash: '#/settings' };
  beforeEach(() => {
    kept.clear();
    Object.assign(FakeNotification, { permission: 'default', answer: 'granted', asked: 0 });
    FakeNotification.shown.length = 0;
    vi.stubGlobal('Notification', FakeNotification);
    vi.stubGlobal('localStorage', {
      getItem: (key: string) => kept.get(key) ?? null,
      setItem: (key: string, value: string) => kept.set(key, value),
      removeItem: (key: string) => kept.delete(key),
    });
    vi.stubGlobal('location', place);
    vi.stubGlobal('focus', () => undefined);
    vi.stubGlobal('document', { hidden: true });
  });
  afterEach(() => vi.unstubAllGlobals());

  test('is asked for permission only when the person turns them on', async () => {
    expect(isOn()).toBe(false);
    expect(FakeNotification.asked).toBe(0);
    expect(await turnOn(bad)).toBe('granted');
    expect([FakeNotification.asked, isOn()]).toEqual([1, true]);
    expect(FakeNotification.shown.map(({ title }) => title)).toEqual(['Notifications are on']);
    // What is on the screen when they are turned on is no news.
    expect(readTold()).toEqual({ level: 'bad', alarms: [] });
    turnOff();
    expect(isOn()).toBe(false);
  });

  test('shows none when the person refuses, also later', async () => {
    FakeNotification.answer = 'denied';
    expect(await turnOn(GOOD)).toBe('denied');
    expect([isOn(), kept.size, FakeNotification.shown.length]).toEqual([false, 0, 0]);
    Object.assign(FakeNotification, { permission: 'granted' });
    await turnOn(GOOD);
    Object.assign(FakeNotification, { permission: 'denied' });
    expect(isOn()).toBe(false);
  });

  test('that only knows those of service workers, or none, says so', async () => {
    vi.stubGlobal('Notification', undefined);
    Reflect.deleteProperty(globalThis, 'Notification');
    expect(await turnOn(GOOD)).toBe('unsupported');
    class OfWorkers {
      static readonly permission = 'granted';
      constructor() {
        throw new TypeError('Illegal constructor');
      }
    }
    vi.stubGlobal('Notification', OfWorkers);
    expect(await turnOn(GOOD)).toBe('unsupported');
    expect(isOn()).toBe(false);
  });

  test('opens the place with the action at a click', () => {
    keepTold(told);
    Object.assign(FakeNotification, { permission: 'granted' });
    for (const news of newsOf(empty, [ALARM], told)) show(news);
    const [shown] = FakeNotification.shown;
    expect(shown?.options).toMatchObject({ tag: 'alarm_1', requireInteraction: true });
    shown?.dispatchEvent(new Event('click'));
    expect([place.hash, shown?.isClosed]).toEqual(['#/alarms', true]);
  });

  test('takes trouble away when it has ended, and no alarm', () => {
    for (const news of [...newsOf(bad, [], told), ...newsOf(empty, [ALARM], told)]) show(news);
    for (const news of newsOf(GOOD, [], toldOf(bad, []))) show(news);
    expect(FakeNotification.shown.map(({ isClosed }) => isClosed)).toEqual([true, false, false]);
  });

  test('says that the session is over, to who does not look at the page', () => {
    tellClosed();
    expect(FakeNotification.shown).toEqual([]);
    keepTold(told);
    Object.assign(FakeNotification, { permission: 'granted' });
    vi.stubGlobal('document', { hidden: false });
    tellClosed();
    expect(FakeNotification.shown).toEqual([]);
    vi.stubGlobal('document', { hidden: true });
    tellClosed();
    expect(FakeNotification.shown.map(({ title }) => title)).toEqual(['You are not signed in']);
  });
});

describe('the tab', () => {
  test('has a badge while there is trouble: the number of alarms, or a dot', () => {
    expect(tabOf(GOOD, undefined)).toMatchObject({ level: 'good', badge: false });
    expect(tabOf(bad, undefined)).toMatchObject({ level: 'bad', badge: true });
    expect(tabOf({ ...empty, alarms: 3 }, undefined)).toMatchObject({ level: 'bad', badge: 3 });
    expect(tabOf(undefined, undefined)).toEqual({ title: 'Holdfast', level: undefined, badge: false });
  });

  test('does not go on saying what an agent said that no longer answers', () => {
    const away = tabOf(GOOD, { code: 'OFFLINE' });
    expect(away).toMatchObject({ level: 'warning', badge: true });
    expect(away.title).toBe(
      '! The agent is not answering. It may be stopped, or still starting. This page keeps trying.',
    );
    expect(tabOf(GOOD, { code: 'INTERNAL_ERROR' }).title).toBe('! Holdfast');
  });
});
