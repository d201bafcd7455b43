/** Makes the browser's tab say what the headline says: by its title, and by the shape and colour of its icon. */
import { useEffect } from 'preact/hooks';
import type { Overview } from '../api/schemas/page/overview.ts';
import { visible } from './components/own-text.tsx';
import { sentenceOf } from './pages/overview/headline.tsx';

type Level = Overview['headline']['level'];

const ICONS: Readonly<Record<Level, string>> = {
  good: new URL('./icon.svg', import.meta.url).href,
  warning: new URL('./warning-icon.svg', import.meta.url).href,
  bad: new URL('./bad-icon.svg', import.meta.url).href,
};

/** Marks in the title, for where the icon is not shown. */
const MARKS: Readonly<Record<Level, string>> = { good: '', warning: '! ', bad: '✖ ' };

export function titleOf({ headline, checks }: Pick<Overview, 'headline' | 'checks'>): string {
  const { text, own } = sentenceOf(headline, checks);
  const parts = text.split('{}');
  const sentence = parts.map((part, at) => (at === 0 ? part : visible(own[at - 1] ?? '') + part)).join('');
  return `${MARKS[headline.level]}${sentence} · Holdfast`;
}

export function useTab(overview: Overview | undefined): void {
  const title = overview === undefined ? 'Holdfast' : titleOf(overview);
  const level = overview?.headline.level;
  useEffect(() => {
    document.title = title;
  }, [title]);
  useEffect(() => {
    if (level !== undefined) document.querySelector('link[rel=icon]')?.setAttribute('href', ICONS[level]);
  }, [level]);
}
