/**
 * Makes the browser's tab say what the headline says: by its title, and by the shape and colour of its icon. The icon of
 * the installed page has a badge while there is trouble.
 */
import { useEffect } from 'preact/hooks';
import type { Overview } from '../api/schemas/page/overview.ts';
import type { AskError } from './agent/ask.ts';
import { t } from './language/language.ts';
import { plainSentence } from './pages/overview/headline.tsx';

type Level = Overview['headline']['level'];

const ICONS: Readonly<Record<Level, string>> = {
  good: new URL('./icon.svg', import.meta.url).href,
  warning: new URL('./warning-icon.svg', import.meta.url).href,
  bad: new URL('./bad-icon.svg', import.meta.url).href,
};

/** Marks in the title, for where the icon is not shown. */
const MARKS: Readonly<Record<Level, string>> = { good: '', warning: '! ', bad: '✖ ' };

export interface Tab {
  readonly title: string;
  /** Undefined while nothing is known. */
  readonly level: Level | undefined;
  /** The number of the badge, or a dot for `true`; false for no badge. */
  readonly badge: number | boolean;
}

type Facts = Pick<Overview, 'headline' | 'checks' | 'destinations' | 'alarms'>;

/** @param problem why the agent has not answered: what it said before may no longer be so */
export function tabOf(overview: Facts | undefined, problem: Pick<AskError, 'code'> | undefined): Tab {
  if (problem !== undefined) {
    const title = problem.code === 'OFFLINE' ? t.app.offline : 'Holdfast';
    return { title: MARKS.warning + title, level: 'warning', badge: true };
  }
  if (overview === undefined) return { title: 'Holdfast', level: undefined, badge: false };
  const { headline, alarms } = overview;
  const { level } = headline;
  return {
    title: `${MARKS[level]}${plainSentence(overview)} · Holdfast`,
    level,
    badge: alarms > 0 ? alarms : level === 'bad',
  };
}

export function useTab(overview: Overview | undefined, problem: AskError | undefined): void {
  const tab = tabOf(overview, problem);
  useEffect(() => showTab(tab), [tab.title, tab.level, tab.badge]);
}

/** Of a page on which nobody is signed in, so that it knows nothing. @param isWanted the person has signed out */
export function closeTab(isWanted: boolean): void {
  showTab({ title: `${MARKS.warning}Holdfast`, level: 'warning', badge: !isWanted });
}

function showTab({ title, level, badge }: Tab): void {
  document.title = title;
  if (level !== undefined) document.querySelector('link[rel=icon]')?.setAttribute('href', ICONS[level]);
  if (!('setAppBadge' in navigator)) return;
  const set = badge === false ? navigator.clearAppBadge() : navigator.setAppBadge(...countOf(badge));
  // Only an installed page has one.
  set.catch(() => undefined);
}

function countOf(badge: number | true): [] | [number] {
  return badge === true ? [] : [badge];
}
