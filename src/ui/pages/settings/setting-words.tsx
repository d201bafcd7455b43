/** Puts settings, their values and their changes into the reader's words. */
import { type ComponentChildren, Fragment, type JSX } from 'preact';
import type { Validation } from '../../../api/schemas/page/settings.ts';
import { Own, Path } from '../../components/own-text.tsx';
import { formatCount, formatList } from '../../language/format.ts';
import { language, t } from '../../language/language.ts';
import { Place } from '../../parts/place.tsx';
import { scheduleInWords } from './schedule-words.ts';
import { type Change, type KeyPath, settingName, shownPath, valueAt } from './settings-draft.ts';
import type { Settings } from './settings-values.ts';

/** The name of a setting on the page; its name in the file if the page has none. */
export function nameOf(path: KeyPath): string {
  const names: Readonly<Record<string, string>> = t.settings.names;
  return names[settingName(path)] ?? shownPath(path);
}

export function scheduleWords(text: string): string {
  return scheduleInWords(text, t.schedule.words, language);
}

const CALENDAR_UNITS: Readonly<Record<string, string>> = { y: 'year', m: 'month', d: 'day', h: 'hour' };

/** `1y6m` as `1 year and 6 months`. */
export function calendarSpanWords(text: string): string {
  const parts = [...text.matchAll(/(\d+)([ymdh])/g)].map(([, count, unit = '']) =>
    new Intl.NumberFormat(language, {
      style: 'unit',
      unit: CALENDAR_UNITS[unit] ?? 'day',
      unitDisplay: 'long',
    }).format(Number(count)),
  );
  return parts.length === 0 ? text : formatList(parts);
}

const SCHEDULES = new Set([
  'sources[].schedule',
  'maintenance.prune',
  'maintenance.check',
  'maintenance.drill',
]);
const MOST_SHOWN = 4;

/** A value in words; `none` if it is not set. */
export function valueInWords(path: KeyPath, value: unknown): ComponentChildren {
  const place = placeInWords(settingName(path), value);
  if (place !== undefined) return place;
  if (value === undefined || value === null || value === '') return t.common.none;
  if (typeof value === 'boolean') return value ? t.common.yes : t.common.no;
  if (typeof value === 'number') return formatCount(value);
  if (typeof value === 'string') {
    if (SCHEDULES.has(settingName(path))) return <Own>{scheduleWords(value)}</Own>;
    return <Own>{t.settings.values[value] ?? value}</Own>;
  }
  if (Array.isArray(value)) {
    if (value.length === 0) return t.common.none;
    const shown = value.slice(0, MOST_SHOWN).map(entryInWords).join(', ');
    return <Own>{value.length > MOST_SHOWN ? `${shown}, …` : shown}</Own>;
  }
  return t.settings.isSet;
}

/** What stands for a destination without naming it, where the value is one. */
function placeInWords(setting: string, value: unknown): ComponentChildren {
  const isUnset = value === null || value === undefined;
  if (setting === 'defaultDestination')
    return isUnset ? t.destinations.here : typeof value === 'string' ? <Place name={value} /> : undefined;
  if (setting !== 'sources[].destination' && setting !== 'sources[].destinations') return undefined;
  if (isUnset) return t.sources.defaultDestination;
  if (typeof value === 'string') return <Place name={value} />;
  if (!isTexts(value) || value.length === 0) return undefined;
  return value.map((name, index) => (
    <Fragment key={name}>
      {index === 0 ? '' : ', '}
      <Place name={name} />
    </Fragment>
  ));
}

function entryInWords(entry: unknown): string {
  if (typeof entry === 'string') return entry;
  const from = valueAt(entry, ['from']);
  const limit = valueAt(entry, ['uploadLimit']);
  return `${String(from)} ${typeof limit === 'string' ? t.performance.perSecond(limit) : t.performance.noLimit}`;
}

/** The subject of a change, if it is one of many: the path of a source, the name of a destination. */
function subjectOf({ path, before, after }: Change, settings: Settings): ComponentChildren {
  const [group, part] = path;
  if (group === 'destinations' && part !== undefined) return <Own>{String(part)}</Own>;
  if (group !== 'sources' || part === undefined) return undefined;
  const source = path.length > 2 ? valueAt(settings, [group, part]) : (after ?? before);
  const sourcePath = valueAt(source, ['path']);
  return typeof sourcePath === 'string' ? <Path>{sourcePath}</Path> : undefined;
}

/** One line of what will change. */
export function ChangeInWords({
  change,
  settings,
}: {
  readonly change: Change;
  readonly settings: Settings;
}): JSX.Element {
  const { path, before, after } = change;
  const subject = subjectOf(change, settings);
  const isEntry = path.length === 2 && subject !== undefined;
  if (isEntry && (before === undefined || after === undefined)) {
    return (
      <>
        {subject}
        {t.common.colon} {before === undefined ? t.settings.added : t.settings.removed}
      </>
    );
  }
  return (
    <>
      {subject === undefined ? null : (
        <>
          {subject}
          {t.common.colon}{' '}
        </>
      )}
      {nameOf(path)}
      {t.common.colon} <ValueChange {...change} />
    </>
  );
}

function ValueChange({ path, before, after }: Change): JSX.Element {
  if (isTexts(before) && isTexts(after)) {
    const added = after.filter((entry) => !before.includes(entry));
    const gone = before.filter((entry) => !after.includes(entry));
    const shown = [...added.map((entry) => `+ ${entry}`), ...gone.map((entry) => `− ${entry}`)];
    // Nothing was added or removed: only the order differs.
    return shown.length === 0 ? <>{t.settings.reordered}</> : <>{valueInWords(path, shown)}</>;
  }
  return (
    <>
      {valueInWords(path, before)} → <strong>{valueInWords(path, after)}</strong>
    </>
  );
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/**
 * A problem in words of the page, if the kind of setting determines them. The agent's own words are English and refer
 * to the file.
 */
export function problemInWords(
  path: KeyPath,
  { message, hint, guarded }: Validation['problems'][number],
): string {
  if (guarded === true) return t.settings.guardedHere;
  return t.settings.wrong[settingName(path)] ?? `${message}. ${hint}`;
}
