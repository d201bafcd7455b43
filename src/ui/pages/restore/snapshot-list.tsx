/** Lists snapshots by day, for browsing by time. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { OverviewSource } from '../../../api/schemas/page/overview.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { useOverview } from '../../agent/overview.ts';
import { Button } from '../../components/button.tsx';
import { Own, visible } from '../../components/own-text.tsx';
import { Tag } from '../../components/tag.tsx';
import {
  daysBefore,
  formatBytes,
  formatClock,
  formatCount,
  formatDay,
  formatExactClock,
  formatTime,
  midnight,
} from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { useShownName } from '../../parts/place.tsx';
import { StoredByTag } from '../../parts/stored-by.tsx';
import { FIRST_PART, LISTED, partWith } from './moments.ts';
import { nameOf, parentOf, textRef } from './path-ref.ts';
import { hrefOfPlace, type Place } from './place.ts';
import type { KnownPlace, Timeline } from './use-timeline.ts';

/** Pixels of the name of a day, which stays in view. */
const DAY_HEIGHT = 32;

export function SnapshotList({
  place,
  timeline: { pages, sources, places, snapshot, newest },
  onSource,
  onPlace,
}: {
  readonly place: Place;
  readonly timeline: Timeline;
  readonly onSource: (source: string) => void;
  /** Undefined: in any destination. */
  readonly onPlace: (destination: string | undefined) => void;
}): JSX.Element {
  const { items } = pages;
  const { time: now, sources: configured } = useOverview();
  const shownName = useShownName();
  const box = useRef<HTMLDivElement>(null);
  const index = items.findIndex(({ id }) => id === snapshot?.id);
  const [asked, setAsked] = useState(FIRST_PART);
  const part = partWith(asked, index, items.length);
  useEffect(() => setAsked(part), [part.from, part.to]);
  useEffect(() => keepInView(box.current), [snapshot?.id, part.from]);
  return (
    <nav class="timeline card" aria-label={t.restore.backups}>
      {sources.length < 2 ? null : (
        <div class="field">
          <label for="restore-source">{t.restore.source}</label>
          <select
            id="restore-source"
            value={place.source}
            onChange={({ currentTarget }) => onSource(currentTarget.value)}
          >
            {sources.map((source) => (
              <option key={source} value={source} selected={source === place.source}>
                {sourceName(source, configured)}
              </option>
            ))}
          </select>
        </div>
      )}
      {places.length < 2 ? null : (
        <div class="field">
          <label for="restore-place">{t.restore.place}</label>
          <select
            id="restore-place"
            value={place.destination ?? ''}
            onChange={({ currentTarget: { value } }) => onPlace(value === '' ? undefined : value)}
          >
            <option value="" selected={place.destination === undefined}>
              {t.restore.everywhere}
            </option>
            {places.map((one) => (
              <option key={one.name} value={one.name} selected={one.name === place.destination}>
                {placeLabel(one, shownName)}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="days" ref={box}>
        {part.from === 0 ? null : (
          <Button
            type="button"
            look="plain"
            onClick={() => setAsked({ ...part, from: Math.max(0, part.from - LISTED) })}
          >
            {t.restore.newerBackups}
          </Button>
        )}
        {byDay(items.slice(part.from, part.to)).map(({ at, items: ofDay }) => (
          <section key={at}>
            <h2>{dayName(at, now)}</h2>
            <ul>
              {ofDay.map((one) => (
                <li key={one.id}>
                  <Moment
                    one={one}
                    clock={clockAmong(one, ofDay)}
                    href={hrefOfPlace({ ...place, snapshot: one.id, file: undefined })}
                    isCurrent={one.id === snapshot?.id}
                    isNewest={one.id === newest}
                    at={places.length < 2 ? undefined : places.find(({ name }) => name === one.destination)}
                  />
                </li>
              ))}
            </ul>
          </section>
        ))}
        {part.to < items.length ? (
          <Button type="button" look="plain" onClick={() => setAsked({ ...part, to: part.to + LISTED })}>
            {t.restore.olderBackups}
          </Button>
        ) : null}
      </div>
    </nav>
  );
}

function Moment({
  one,
  clock,
  href,
  isCurrent,
  isNewest,
  at: lies,
}: {
  readonly one: Snapshot;
  /** When it was made, on its day. */
  readonly clock: string;
  readonly href: string;
  readonly isCurrent: boolean;
  readonly isNewest: boolean;
  /** Undefined where there is only one place. */
  readonly at: KnownPlace | undefined;
}): JSX.Element {
  const { created_at: at, files_count: files, size_bytes: size, partial, last_drill: drill, tags } = one;
  const { claimed_start: claimed } = one;
  const shownName = useShownName();
  return (
    <a href={href} aria-current={isCurrent ? 'true' : undefined}>
      <span class="moment">
        <time dateTime={at}>{clock}</time>
        <StoredByTag by={one.stored_by} />
        {isNewest ? <Tag look="good">{t.restore.newest}</Tag> : null}
        {partial ? <Tag>{lackingText(one)}</Tag> : null}
        {drill === null ? null : (
          <Tag look={drill.files_failed === 0 ? 'good' : 'bad'}>
            {drill.files_failed === 0 ? t.restore.drillGood : t.restore.drillBad}
          </Tag>
        )}
      </span>
      <small>
        {t.common.files(files, formatCount(files))} · {formatBytes(size)}
      </small>
      {claimed === null ? null : <small>{t.restore.claims(formatTime(claimed))}</small>}
      {lies === undefined ? null : <small>{placeLabel(lies, shownName)}</small>}
      {tags.length === 0 ? null : (
        <small>
          <Own>{tags.join(', ')}</Own>
        </small>
      )}
    </a>
  );
}

/** Scrolls the list alone, and not the page, to the snapshot that is shown. */
function keepInView(box: HTMLElement | null): void {
  const shown = box?.querySelector('[aria-current]')?.getBoundingClientRect();
  if (box === null || shown === undefined) return;
  const { top, bottom } = box.getBoundingClientRect();
  if (shown.top >= top + DAY_HEIGHT && shown.bottom <= bottom) return;
  box.scrollTop += (shown.top + shown.bottom - top - bottom) / 2;
}

function placeLabel({ name, isAway, isEarlier }: KnownPlace, shownName: (name: string) => string): string {
  const notes = [...(isEarlier ? [t.restore.earlier] : []), ...(isAway ? [t.restore.away] : [])];
  return [shownName(name), ...notes].join(' — ');
}

/** The name as on the overview. Another one has its last part first: the end of a long path would not be visible. */
export function sourceName(
  source: string,
  configured: readonly Pick<OverviewSource, 'path' | 'name'>[],
): string {
  const name = configured.find(({ path }) => path === source)?.name;
  if (name !== undefined) return name === '~' ? t.overview.home : visible(name);
  const ref = textRef(source);
  return visible(`${nameOf(ref)} — ${parentOf(ref).path}`);
}

/** With seconds where another snapshot of the day was made in the same minute. */
export function clockAmong<Item extends { readonly created_at: string }>(
  one: Item,
  ofDay: readonly Item[],
): string {
  const clock = formatClock(one.created_at);
  const isShared = ofDay.some((other) => other !== one && formatClock(other.created_at) === clock);
  return isShared ? formatExactClock(one.created_at) : clock;
}

function dayName(at: number, now: string): string {
  const days = daysBefore(at, Date.parse(now));
  return days === 0 ? t.restore.today : days === 1 ? t.restore.yesterday : formatDay(at);
}

export interface Day<Item> {
  /** Midnight, milliseconds since 1970. */
  readonly at: number;
  readonly items: readonly Item[];
}

/** The days in the order of the items. */
export function byDay<Item extends { readonly created_at: string }>(
  items: readonly Item[],
): readonly Day<Item>[] {
  const days: { readonly at: number; readonly items: Item[] }[] = [];
  for (const item of items) {
    const at = midnight(new Date(item.created_at).getTime());
    const last = days.at(-1);
    if (last?.at === at) last.items.push(item);
    else days.push({ at, items: [item] });
  }
  return days;
}

/** Says what an incomplete snapshot lacks. It can be restored like any other. */
export function lackingText({ unread_files: { count, paths } }: Pick<Snapshot, 'unread_files'>): string {
  const [first] = paths;
  if (count === null || count === 0 || first === undefined) return t.restore.lacksSome;
  return t.restore.lacks(count, formatCount(count), visible(nameOf(textRef(first))));
}
