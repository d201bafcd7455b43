/** Shows a schedule in words with its next runs, and lets it be changed in plain fields. */
import type { ComponentChildren, JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { SchedulePreview } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { typingPause, useAsked } from '../../agent/use-asked.ts';
import { Select, TextField } from '../../components/field.tsx';
import { Own } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { formatAge, formatCount, formatTime } from '../../language/format.ts';
import { language, t } from '../../language/language.ts';
import {
  FREQUENCIES,
  INTERVAL_UNITS,
  type ScheduleParts,
  shownParts,
  weekdayName,
  writeSchedule,
} from './schedule-words.ts';
import { type KeyPath, shownPath, valueAt } from './settings-draft.ts';
import { useDraft } from './settings-form.tsx';
import { useSetting } from './setting-fields.tsx';
import { nameOf, scheduleWords } from './setting-words.tsx';

/** One line that opens for editing. */
export function ScheduleSetting({
  path,
  label,
  isOpen = false,
}: {
  readonly path: KeyPath;
  readonly label?: ComponentChildren;
  readonly isOpen?: boolean;
}): JSX.Element {
  const { draft, problemAt } = useDraft();
  const [isShown, setShown] = useState(isOpen);
  const text = textOf(valueAt(draft, path));
  const found = problemAt(path);
  return (
    <details class="schedule" open={isShown} onToggle={({ currentTarget }) => setShown(currentTarget.open)}>
      <summary>
        <span class="schedule-name">{label ?? nameOf(path)}</span>{' '}
        <span class={found === undefined ? 'schedule-words' : 'schedule-words problem'}>
          <Own>{scheduleWords(text)}</Own>
        </span>
      </summary>
      {isShown ? <ScheduleEditor path={path} /> : null}
    </details>
  );
}

export function ScheduleEditor({ path }: { readonly path: KeyPath }): JSX.Element {
  const setting = useSetting({ path });
  const text = textOf(setting.value);
  const [typed, setTyped] = useState<ScheduleParts | undefined>(undefined);
  const parts = shownParts(text, typed);
  const name = shownPath(path);
  const change = (how: Partial<ScheduleParts>): void => {
    const next = { ...parts, ...how };
    setTyped(next);
    setting.set(writeSchedule(next));
  };
  const { problem, hint } = setting.facts;
  return (
    <div class="schedule-editor">
      <div class="row">
        <Select
          name={`${name}-frequency`}
          label={t.schedule.frequency}
          value={parts.frequency}
          choices={FREQUENCIES.map((one) => ({ value: one, label: t.schedule.frequencies[one] }))}
          onValue={(chosen) => change({ frequency: FREQUENCIES.find((one) => one === chosen) ?? 'cron' })}
        />
        <ScheduleDetails name={name} parts={parts} change={change} />
      </div>
      {problem === undefined ? null : <p class="problem">{problem}</p>}
      <NextRuns text={text} />
      {hint === undefined ? null : <p class="hint">{hint}</p>}
    </div>
  );
}

/** The further fields that a frequency needs. */
function ScheduleDetails({
  name,
  parts,
  change,
}: {
  readonly name: string;
  readonly parts: ScheduleParts;
  readonly change: (how: Partial<ScheduleParts>) => void;
}): JSX.Element | null {
  const { frequency, every, unit, time, weekday, day, text } = parts;
  if (frequency === 'off' || frequency === 'hourly') return null;
  if (frequency === 'cron') {
    return (
      <TextField
        name={`${name}-text`}
        label={t.schedule.asText}
        value={text}
        onValue={(typed) => change({ text: typed })}
      />
    );
  }
  if (frequency === 'interval') {
    return (
      <>
        <TextField
          name={`${name}-every`}
          label={t.schedule.every}
          inputmode="numeric"
          value={every}
          onValue={(typed) => change({ every: typed })}
        />
        <Select
          name={`${name}-unit`}
          label={t.schedule.unit}
          value={unit}
          choices={INTERVAL_UNITS.map((one) => ({ value: one, label: t.schedule.units[one] }))}
          onValue={(chosen) => change({ unit: INTERVAL_UNITS.find((one) => one === chosen) ?? 'h' })}
        />
      </>
    );
  }
  return (
    <>
      {frequency === 'weekly' ? (
        <Select
          name={`${name}-weekday`}
          label={t.schedule.weekday}
          value={String(weekday)}
          choices={[1, 2, 3, 4, 5, 6, 0].map((one) => ({
            value: String(one),
            label: weekdayName(one, language),
          }))}
          onValue={(chosen) => change({ weekday: Number(chosen) })}
        />
      ) : null}
      {frequency === 'monthly' ? (
        <Select
          name={`${name}-day`}
          label={t.schedule.day}
          value={String(day)}
          choices={Array.from({ length: 31 }, (_, index) => ({
            value: String(index + 1),
            label: formatCount(index + 1),
          }))}
          onValue={(chosen) => change({ day: Number(chosen) })}
        />
      ) : null}
      <TextField
        name={`${name}-time`}
        label={t.schedule.time}
        type="time"
        value={time}
        onValue={(typed) => change({ time: typed })}
      />
    </>
  );
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function NextRuns({ text }: { readonly text: string }): JSX.Element | null {
  const { timeZone } = useDraft().draft;
  const asked = useAsked(
    async (signal) => {
      await typingPause(signal);
      const body = { schedule: text === '' ? ' ' : text, time_zone: timeZone };
      return ask<SchedulePreview>('POST', '/schedule-preview', { body, signal });
    },
    [text, timeZone],
  );
  if (asked.data === undefined) return <Problem error={asked.problem} />;
  const { next } = asked.data;
  if (next.length === 0) return null;
  return (
    <div class="next-runs" aria-live="polite">
      <span class="quiet">{t.schedule.nextRuns}</span>
      <ol>
        {next.map((at, index) => (
          <li key={at}>
            <time dateTime={at}>{formatTime(at)}</time>
            {index === 0 ? <span class="quiet"> · {formatAge(at)}</span> : null}
          </li>
        ))}
      </ol>
    </div>
  );
}
