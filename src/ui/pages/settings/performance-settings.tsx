/** Settings of how much of the machine and the network backups may use, and when they wait. */
import type { JSX } from 'preact';
import { useOverview } from '../../agent/overview.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { TextField } from '../../components/field.tsx';
import { About, Path } from '../../components/own-text.tsx';
import { formatBytes } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { hrefOf, type Route } from '../../parts/route.ts';
import { ClockRangeSetting } from './clock-range-setting.tsx';
import { ChoiceSetting, CompressionSetting, useSetting } from './setting-fields.tsx';
import type { KeyPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import type { BandwidthValues } from './settings-values.ts';
import type { SettingsDraft } from './use-settings-draft.ts';

export function PerformanceSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  return (
    <>
      <PageHead title={t.settings.pages.performance}>{t.performance.about}</PageHead>
      <SettingsForm paths={pathsOf}>
        <Bandwidth />
        <Conditions />
        <Compression />
      </SettingsForm>
    </>
  );
}

function pathsOf({ saved }: SettingsDraft): readonly KeyPath[] {
  return [
    ['bandwidth'],
    ['conditions', 'onBattery'],
    ['conditions', 'onMetered'],
    ['conditions', 'quietHours'],
    ...saved.sources.map((_, index): KeyPath => ['sources', index, 'compression']),
  ];
}

const NEW_RULE: BandwidthValues = { from: '08:00', uploadLimit: '2 MiB' };

function Bandwidth(): JSX.Element {
  const { draft, set } = useDraft();
  const { upload_limit: now } = useOverview();
  const rules = draft.bandwidth;
  const add = (): void => {
    const used = new Set(rules.map(({ from }) => from));
    const from = [NEW_RULE.from, '18:00', '00:00', '12:00'].find((time) => !used.has(time)) ?? '';
    set(['bandwidth'], [...rules, { ...NEW_RULE, from, ...(from === '18:00' ? { uploadLimit: null } : {}) }]);
  };
  return (
    <Card title={t.performance.bandwidthTitle}>
      <p class="quiet">{t.performance.bandwidthAbout}</p>
      <p>{now === null ? t.performance.nowUnlimited : t.performance.nowLimited(formatBytes(now))}</p>
      {rules.length === 0 ? null : <Day rules={rules} />}
      {rules.map((_, index) => (
        <Rule key={index} index={index} />
      ))}
      <Actions>
        <Button type="button" onClick={add}>
          {t.performance.addRule}
        </Button>
      </Actions>
      <p class="quiet small-text">
        {t.performance.connections}{' '}
        <a href={hrefOf(['settings', 'destinations'])}>{t.settings.pages.destinations}</a>
      </p>
    </Card>
  );
}

/** The day as a strip in which each limit is as wide as its time. */
function Day({ rules }: { readonly rules: readonly BandwidthValues[] }): JSX.Element | null {
  const sections = daySections(rules);
  if (sections.length === 0) return null;
  return (
    <ul class="day" aria-label={t.performance.dayLabel}>
      {sections.map(({ from, to, minutes, limit }) => (
        <li key={from} class={limit === null ? 'free' : 'limited'} style={{ flexGrow: minutes }}>
          <span>
            {from}–{to}
          </span>
          <strong>{limit === null ? t.performance.noLimit : t.performance.perSecond(limit)}</strong>
        </li>
      ))}
    </ul>
  );
}

function Rule({ index }: { readonly index: number }): JSX.Element {
  const { set } = useDraft();
  const from = useSetting({ path: ['bandwidth', index, 'from'] });
  const limit = useSetting({ path: ['bandwidth', index, 'uploadLimit'], hint: t.performance.limitHint });
  const time = typeof from.value === 'string' ? from.value : '';
  return (
    <fieldset class="row rule">
      <legend class="unseen">{t.performance.ruleFrom(time)}</legend>
      <TextField {...from.facts} type="time" value={time} onValue={from.set} />
      <TextField
        {...limit.facts}
        placeholder={t.performance.noLimit}
        value={typeof limit.value === 'string' ? limit.value : ''}
        onValue={(text) => limit.set(text.trim() === '' ? null : text)}
      />
      <Button type="button" look="plain" onClick={() => set(['bandwidth', index], undefined)}>
        {t.performance.removeRule}
        <About>{t.performance.ruleFrom(time)}</About>
      </Button>
    </fieldset>
  );
}

function Conditions(): JSX.Element {
  const choices = [
    { value: 'wait', label: t.performance.wait },
    { value: 'run', label: t.performance.run },
  ];
  return (
    <Card title={t.performance.conditionsTitle}>
      <p class="quiet">{t.performance.conditionsAbout}</p>
      <div class="field-grid">
        <ChoiceSetting path={['conditions', 'onBattery']} choices={choices} />
        <ChoiceSetting path={['conditions', 'onMetered']} choices={choices} />
      </div>
      <ClockRangeSetting
        path={['conditions', 'quietHours']}
        hint={t.performance.quietHint}
        initial="22:00-06:00"
      />
    </Card>
  );
}

function Compression(): JSX.Element {
  const { sources } = useDraft().draft;
  return (
    <Card title={t.performance.compressionTitle}>
      <p class="quiet">{t.performance.compressionAbout}</p>
      {sources.length === 0 ? (
        <Empty>
          <p>{t.sources.none}</p>
        </Empty>
      ) : (
        <div class="field-grid">
          {sources.map(({ path }, index) => (
            <CompressionSetting key={`${index}:${path}`} index={index} label={<Path>{path}</Path>} />
          ))}
        </div>
      )}
    </Card>
  );
}

export interface DaySection {
  readonly from: string;
  /** `24:00` at the end of the day. */
  readonly to: string;
  readonly minutes: number;
  readonly limit: string | null;
}

const DAY_MINUTES = 1_440;

/**
 * The sections from midnight to midnight. A rule applies until the next one, also past midnight. Rules without a time
 * are ignored.
 */
export function daySections(rules: readonly BandwidthValues[]): readonly DaySection[] {
  const starts = rules
    .map(({ from, uploadLimit }) => ({ at: minutesOf(from), limit: uploadLimit }))
    .filter((start): start is { at: number; limit: string | null } => start.at !== undefined)
    .sort((one, other) => one.at - other.at);
  const last = starts.at(-1);
  if (last === undefined) return [];
  const day = starts[0]?.at === 0 ? starts : [{ at: 0, limit: last.limit }, ...starts];
  return day
    .map(({ at, limit }, index) => {
      const end = day[index + 1]?.at ?? DAY_MINUTES;
      return { from: clock(at), to: clock(end), minutes: end - at, limit };
    })
    .filter(({ minutes }) => minutes > 0);
}

function minutesOf(time: string): number | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)$/.exec(time) ?? [];
  return hour === undefined || minute === undefined ? undefined : Number(hour) * 60 + Number(minute);
}

function clock(minutes: number): string {
  return `${String(Math.floor(minutes / 60)).padStart(2, '0')}:${String(minutes % 60).padStart(2, '0')}`;
}
