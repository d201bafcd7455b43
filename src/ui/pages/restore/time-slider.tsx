/** Goes through the snapshots of a source in time, while the folder below stays the same. */
import type { JSX } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Alarms } from '../../../api/schemas/page/jobs.ts';
import type { Snapshot } from '../../../api/schemas/snapshot.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { formatClock, formatLongDay, formatMoment, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { useShownName } from '../../parts/place.tsx';
import { ticksOf } from './moments.ts';

/** Milliseconds between two folders that are asked for while the slider is moved. */
const PACE_MS = 150;

interface SliderFacts {
  /** The newest first. */
  readonly snapshots: readonly Snapshot[];
  /** The snapshot that is shown. */
  readonly current: string;
  /** The id of the one that was made last. */
  readonly newest: string | undefined;
  /** Whether there are snapshots in several places. */
  readonly namesPlaces: boolean;
  readonly onMoved: (snapshot: string) => void;
}

export function TimeSlider(facts: SliderFacts): JSX.Element | null {
  const { snapshots, current, newest, namesPlaces, onMoved } = facts;
  const { id, move } = useMoves(current, onMoved);
  /** The slider tells its value itself; where the buttons led, only the text beside them says. */
  const [isOnButton, setOnButton] = useState(false);
  const warned = useLastBeforeAlarms();
  const shownName = useShownName();
  const last = snapshots.length - 1;
  const index = snapshots.findIndex((one) => one.id === id);
  const ticks = useMemo(
    () => ticksOf(snapshots.map((one) => new Date(one.created_at).getTime()).toReversed()),
    [snapshots],
  );
  const one = snapshots[index];
  if (one === undefined || last < 1) return null;
  const at = one.created_at;
  const isShared = [snapshots[index - 1], snapshots[index + 1]].some(
    (other) => other !== undefined && formatTime(other.created_at) === formatTime(at),
  );
  const notes = [
    ...(namesPlaces ? [shownName(one.destination)] : []),
    ...(id === newest ? [t.restore.newest] : []),
    ...(warned.includes(id) ? [t.restore.beforeAlarm] : []),
  ];
  const alarms = snapshots.flatMap((snapshot, i) => (warned.includes(snapshot.id) ? [last - i + 0.5] : []));
  const step = (by: 1 | -1, label: string): JSX.Element => {
    const to = snapshots[index - by];
    return (
      <Button
        type="button"
        look="plain"
        // Keeps the keyboard focus at the end of the list, unlike `disabled`.
        aria-disabled={to === undefined}
        onClick={() => (to === undefined ? undefined : move(to.id))}
      >
        {label}
      </Button>
    );
  };
  return (
    <div
      class="time-slider"
      role="group"
      aria-label={t.restore.backups}
      onFocusCapture={({ target }) => setOnButton(target instanceof HTMLButtonElement)}
    >
      {step(-1, t.restore.earlierOne)}
      <div class="time-track">
        <input
          type="range"
          min={0}
          max={last}
          value={last - index}
          aria-label={t.restore.moment}
          aria-valuetext={[formatLongDay(at), formatClock(at), ...notes].join(', ')}
          onInput={({ currentTarget }) => {
            const to = snapshots[last - Number(currentTarget.value)];
            if (to !== undefined) move(to.id);
          }}
        />
        <svg viewBox={`0 0 ${last} 1`} preserveAspectRatio="none" aria-hidden="true">
          <path d={marks(ticks)} />
          <path class="alarm" d={marks(alarms)} />
        </svg>
      </div>
      {step(1, t.restore.laterOne)}
      <p aria-live={isOnButton ? 'polite' : 'off'}>
        <time dateTime={at}>{isShared ? formatMoment(at) : formatTime(at)}</time>
        {notes.length === 0 ? null : <small>{notes.join(' · ')}</small>}
      </p>
    </div>
  );
}

function marks(positions: readonly number[]): string {
  return positions.map((at) => `M${at} 0v1`).join('');
}

/**
 * What the slider stands on: ahead of the folder, which follows in its own pace. A snapshot that is chosen elsewhere
 * ends the move.
 */
function useMoves(current: string, onMoved: (snapshot: string) => void) {
  const [moved, setMoved] = useState<string | undefined>(undefined);
  const latest = useRef({ id: current, onMoved });
  latest.current.onMoved = onMoved;
  /** The snapshot that was asked for last. */
  const sent = useRef(current);
  const timer = useRef<number | undefined>(undefined);
  const stop = (): void => {
    clearTimeout(timer.current);
    timer.current = undefined;
  };
  useEffect(() => stop, []);
  useEffect(() => {
    if (current === sent.current && timer.current !== undefined) return;
    if (current !== sent.current) stop();
    sent.current = current;
    latest.current.id = current;
    setMoved((before) => (before === current ? before : undefined));
  }, [current]);
  return {
    id: moved ?? current,
    move: (id: string): void => {
      setMoved(id);
      latest.current.id = id;
      timer.current ??= window.setTimeout(() => {
        timer.current = undefined;
        sent.current = latest.current.id;
        latest.current.onMoved(sent.current);
      }, PACE_MS);
    },
  };
}

/** The ids of the last snapshots before what open alarms tell of. */
function useLastBeforeAlarms(): readonly string[] {
  const { alarms } = useOverview();
  const { data } = useAsked(
    async (signal) => (alarms === 0 ? undefined : await ask<Alarms>('GET', '/alarms', { signal })),
    [alarms],
  );
  return data?.items.flatMap(({ snapshot_before: id }) => id ?? []) ?? [];
}
