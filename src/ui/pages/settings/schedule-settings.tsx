/** Settings of when jobs run automatically, and which snapshots are kept. */
import type { JSX } from 'preact';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { Path } from '../../components/own-text.tsx';
import { t } from '../../language/language.ts';
import { hrefOf, type Route } from '../../parts/route.ts';
import { RetentionPreview } from './retention-preview.tsx';
import { ScheduleSetting } from './schedule-field.tsx';
import { ChoiceSetting, NumberSetting, TextSetting, useSetting } from './setting-fields.tsx';
import type { KeyPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import { Select } from '../../components/field.tsx';
import type { SettingsDraft } from './use-settings-draft.ts';

const RULES = ['keepLast', 'keepHourly', 'keepDaily', 'keepWeekly', 'keepMonthly', 'keepYearly'] as const;
const MAINTENANCE = ['prune', 'check', 'drill'] as const;

export function ScheduleSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  return (
    <>
      <PageHead title={t.settings.pages.schedule}>{t.schedule.about}</PageHead>
      <SettingsForm paths={pathsOf}>
        <SourceSchedules />
        <Retention />
        <Maintenance />
      </SettingsForm>
    </>
  );
}

function pathsOf({ saved }: SettingsDraft): readonly KeyPath[] {
  return [
    ...saved.sources.map((_, index): KeyPath => ['sources', index, 'schedule']),
    ['timeZone'],
    ...RULES.map((rule): KeyPath => ['retention', rule]),
    ['retention', 'keepWithin'],
    ...[...MAINTENANCE, 'drillFiles', 'checkReadData', 'jitter'].map((name): KeyPath => [
      'maintenance',
      name,
    ]),
  ];
}

function SourceSchedules(): JSX.Element {
  const { sources } = useDraft().draft;
  return (
    <Card title={t.schedule.sourcesTitle}>
      <p class="quiet">{t.schedule.sourcesAbout}</p>
      {sources.length === 0 ? (
        <Empty>
          <p>
            {t.schedule.noSources} <a href={hrefOf(['settings', 'sources'])}>{t.settings.pages.sources}</a>
          </p>
        </Empty>
      ) : (
        sources.map(({ path }, index) => (
          <ScheduleSetting
            key={`${index}:${path}`}
            path={['sources', index, 'schedule']}
            label={<Path>{path}</Path>}
          />
        ))
      )}
      <div class="card-fields">
        <TimeZone />
      </div>
    </Card>
  );
}

function TimeZone(): JSX.Element {
  const setting = useSetting({ path: ['timeZone'], hint: t.schedule.timeZoneHint });
  const value = typeof setting.value === 'string' ? setting.value : '';
  const zones = new Set(['UTC', ...Intl.supportedValuesOf('timeZone'), ...(value === '' ? [] : [value])]);
  return (
    <Select
      {...setting.facts}
      value={value}
      choices={[
        { value: '', label: t.schedule.systemZone },
        ...[...zones].map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') })),
      ]}
      onValue={(zone) => setting.set(zone === '' ? null : zone)}
    />
  );
}

function Retention(): JSX.Element {
  return (
    <Card title={t.schedule.retentionTitle} id="retention">
      <p class="quiet">{t.schedule.retentionAbout}</p>
      <div class="field-grid">
        {RULES.map((rule) => (
          <NumberSetting key={rule} path={['retention', rule]} emptyIsNull />
        ))}
        <TextSetting path={['retention', 'keepWithin']} emptyIsNull hint={t.schedule.withinHint} />
      </div>
      <RetentionPreview />
    </Card>
  );
}

function Maintenance(): JSX.Element {
  return (
    <Card title={t.schedule.maintenanceTitle} id="maintenance">
      <p class="quiet">{t.schedule.maintenanceAbout}</p>
      {MAINTENANCE.map((name) => (
        <ScheduleSetting key={name} path={['maintenance', name]} />
      ))}
      <div class="card-fields field-grid">
        <NumberSetting path={['maintenance', 'drillFiles']} />
        <ChoiceSetting
          path={['maintenance', 'checkReadData']}
          hint={t.schedule.readDataHint}
          choices={['0%', '1%', '5%', '10%', '25%', '50%', '100%'].map((share) => ({
            value: share,
            label: share,
          }))}
        />
        <TextSetting path={['maintenance', 'jitter']} hint={t.schedule.jitterHint} />
      </div>
    </Card>
  );
}
