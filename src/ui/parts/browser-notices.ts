/**
 * Whether this browser shows notifications, and what it has shown. Off until the person turns them on; each is shown
 * once, whatever is loaded again and however many tabs are open.
 */
import type { Alarm, Alarms } from '../../api/schemas/page/jobs.ts';
import type { Overview } from '../../api/schemas/page/overview.ts';
import { ask } from '../agent/ask.ts';
import { language, t } from '../language/language.ts';
import { goTo, hrefOf } from './route.ts';

export interface News {
  /** The browser shows one of each. */
  readonly tag: string;
  readonly title: string;
  readonly body: string;
  /** Where a click leads. */
  readonly href: string;
  /** `trouble` stays until somebody has seen it, or until `success`. An `alarm` stays longer. */
  readonly kind: 'alarm' | 'trouble' | 'success' | 'other';
}

/** What was shown in this browser so far. */
export interface Told {
  readonly level: Overview['headline']['level'];
  /** Ids of the open alarms. */
  readonly alarms: readonly string[];
}

export function toldOf({ headline }: Pick<Overview, 'headline'>, alarms: readonly Alarm[]): Told {
  return { level: headline.level, alarms: alarms.map(({ id }) => id) };
}

const KEPT = 'holdfast-notifications';

export function readTold(): Told | undefined {
  const kept = localStorage.getItem(KEPT);
  return kept === null ? undefined : (JSON.parse(kept) as Told);
}

export function keepTold(told: Told): void {
  localStorage.setItem(KEPT, JSON.stringify(told));
}

export type Permission = NotificationPermission | 'unsupported';

export function permission(): Permission {
  return 'Notification' in globalThis ? Notification.permission : 'unsupported';
}

/** Whether this browser is to show them, and may. */
export function isOn(): boolean {
  return permission() === 'granted' && readTold() !== undefined;
}

/**
 * Asks the person for permission, unless they have answered before, and shows a first one. What is so already counts as
 * told. Browsers that show only notifications of service workers, as on Android, are `unsupported`.
 */
export async function turnOn(overview: Overview): Promise<Permission> {
  if (permission() === 'default') await Notification.requestPermission();
  if (permission() !== 'granted') return permission();
  const told = toldOf(overview, await openAlarms(overview));
  const { firstTitle: title, firstBody: body } = t.notifications.browser;
  if (!show({ tag: 'first', title, body, href: hrefOf([]), kind: 'other' })) return 'unsupported';
  keepTold(told);
  return 'granted';
}

export function turnOff(): void {
  localStorage.removeItem(KEPT);
}

const troubles = new Set<Notification>();

/** Returns whether the browser has taken it. */
export function show({ tag, title, body, href, kind }: News): boolean {
  try {
    const shown = new Notification(title, {
      tag,
      body,
      lang: language,
      icon: '/app-icon-192.png',
      requireInteraction: kind === 'alarm' || kind === 'trouble',
    });
    shown.addEventListener('click', () => {
      focus();
      goTo(href);
      shown.close();
    });
    if (kind === 'trouble') troubles.add(shown);
    if (kind === 'success') closeTroubles();
    return true;
  } catch {
    return false;
  }
}

function closeTroubles(): void {
  for (const shown of troubles) shown.close();
  troubles.clear();
}

export async function openAlarms({ alarms }: Pick<Overview, 'alarms'>): Promise<readonly Alarm[]> {
  return alarms === 0 ? [] : (await ask<Alarms>('GET', '/alarms')).items;
}

/** Says that the session is over, as nothing more is learned then. Who looks at the page sees it there. */
export function tellClosed(): void {
  if (!document.hidden || !isOn()) return;
  const { closedTitle: title } = t.app;
  show({ tag: 'closed', title, body: t.notifications.browser.closed, href: hrefOf([]), kind: 'trouble' });
}
