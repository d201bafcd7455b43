/** Summarises the settings: the most important facts of each page, with a link to it. */
import type { ComponentChildren, JSX } from 'preact';
import type { Account, Credential } from '../../../api/schemas/page/settings.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Card, PageHead } from '../../components/card.tsx';
import { Own, Path } from '../../components/own-text.tsx';
import { Place } from '../../parts/place.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatBytes, formatCount, formatList } from '../../language/format.ts';
import { t, type Texts } from '../../language/language.ts';
import { isOn } from '../../parts/browser-notices.ts';
import { hrefOf, type Route } from '../../parts/route.ts';
import { calendarSpanWords, scheduleWords } from './setting-words.tsx';
import { SettingsForm, useDraft } from './settings-form.tsx';
import {
  defaultDestinationOf,
  destinationNames,
  type RetentionValues,
  type Settings,
} from './settings-values.ts';

export function OverviewSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  return (
    <>
      <PageHead title={t.settings.pages.overview}>{t.settings.about}</PageHead>
      <SettingsForm paths={() => [['sources'], ['destinations'], ['retention'], ['notices']]}>
        <div class="settings-cards">
          <ProtectedCards />
          <Others />
        </div>
      </SettingsForm>
    </>
  );
}

type PageName = keyof Texts['settings']['pages'];

function PageCard({
  page,
  children,
}: {
  readonly page: PageName;
  readonly children: ComponentChildren;
}): JSX.Element {
  return (
    <Card title={<a href={hrefOf(['settings', page])}>{t.settings.pages[page]}</a>}>
      <ul class="plain-list">{children}</ul>
    </Card>
  );
}

const MOST_PATHS = 3;

function ProtectedCards(): JSX.Element {
  const { saved } = useDraft();
  const { sources, maintenance } = saved;
  const schedules = [...new Set(sources.map(({ schedule }) => scheduleWords(schedule)))];
  return (
    <>
      <PageCard page="sources">
        {sources.length === 0 ? (
          <li>
            <Tag look="warning">{t.sources.none}</Tag>
          </li>
        ) : null}
        {sources.slice(0, MOST_PATHS).map(({ path }, index) => (
          <li key={index}>
            <Path>{path}</Path>
          </li>
        ))}
        {sources.length > MOST_PATHS ? (
          <li>{t.settings.andMore(formatCount(sources.length - MOST_PATHS))}</li>
        ) : null}
      </PageCard>
      <PageCard page="destinations">
        {destinationNames(saved).map((name) => (
          <li key={name}>
            <Place name={name} />{' '}
            {name === defaultDestinationOf(saved) ? <Tag look="good">{t.common.default}</Tag> : null}
          </li>
        ))}
      </PageCard>
      <PageCard page="schedule">
        {schedules.slice(0, MOST_PATHS).map((words) => (
          <li key={words}>
            {t.settings.backups}
            {t.common.colon} <Own>{words}</Own>
          </li>
        ))}
        <li>
          {t.settings.keeps}
          {t.common.colon} <Own>{retentionInWords(saved.retention)}</Own>
        </li>
        <li>
          {t.settings.names['maintenance.check']}
          {t.common.colon} <Own>{scheduleWords(maintenance.check)}</Own>
        </li>
      </PageCard>
    </>
  );
}

function retentionInWords(rules: RetentionValues): string {
  const { keepWithin } = rules;
  const counted = (
    ['keepLast', 'keepHourly', 'keepDaily', 'keepWeekly', 'keepMonthly', 'keepYearly'] as const
  )
    .map((rule) => ({ rule, count: rules[rule] }))
    .flatMap(({ rule, count }) => (count === null ? [] : [t.settings.keep[rule](formatCount(count))]));
  const all =
    keepWithin === null ? counted : [...counted, t.settings.keep.keepWithin(calendarSpanWords(keepWithin))];
  return all.length === 0 ? t.settings.keepsAll : formatList(all);
}

function Others(): JSX.Element {
  const { saved } = useDraft();
  const { recovery_kit: kit, version } = useOverview();
  return (
    <>
      <PageCard page="encryption">
        <li>{saved.requireEncryption ? t.settings.encryptionRequired : t.settings.encryptionChosen}</li>
        <li>
          {t.settings.kit}
          {t.common.colon}{' '}
          <Tag look={kit === 'unsaved' ? 'warning' : 'good'}>{t.settings.kitStates[kit]}</Tag>
        </li>
      </PageCard>
      <PageCard page="performance">
        <Performance settings={saved} />
      </PageCard>
      <PageCard page="notifications">
        <Channels settings={saved} />
      </PageCard>
      <PageCard page="access">
        <Keys />
      </PageCard>
      <PageCard page="account">
        <Partner />
      </PageCard>
      <PageCard page="advanced">
        <li>Holdfast {version}</li>
        <li>
          <Own>{t.settings.address(location.host)}</Own>
        </li>
        <li>
          {t.settings.names['log.level']}
          {t.common.colon} {saved.log.level}
        </li>
      </PageCard>
    </>
  );
}

function Performance({ settings }: { readonly settings: Settings }): JSX.Element {
  const { upload_limit: limit } = useOverview();
  const { onBattery, onMetered, quietHours } = settings.conditions;
  const waits = [
    ...(onBattery === 'wait' ? [t.settings.onBattery] : []),
    ...(onMetered === 'wait' ? [t.settings.onMetered] : []),
    ...(quietHours === null ? [] : [t.settings.inHours(quietHours)]),
  ];
  return (
    <>
      <li>{limit === null ? t.performance.nowUnlimited : t.performance.nowLimited(formatBytes(limit))}</li>
      <li>{waits.length === 0 ? t.settings.neverWaits : t.settings.waits(formatList(waits))}</li>
    </>
  );
}

function Channels({ settings: { notices } }: { readonly settings: Settings }): JSX.Element {
  const used = [
    ...(['desktop', 'ntfy', 'healthchecks', 'email', 'webhook'] as const)
      .filter((name) => notices[name] !== null && notices[name] !== false)
      .map((name) => t.notifications.channels[name].title),
    ...(isOn() ? [t.notifications.browser.title] : []),
  ];
  return (
    <>
      <li>{used.length === 0 ? <Tag look="warning">{t.settings.nobodyTold}</Tag> : formatList(used)}</li>
      {used.length === 0 ? null : (
        <li>{t.settings.absence(notices.absenceDays, formatCount(notices.absenceDays))}</li>
      )}
      {used.length === 0 || notices.quietHours === null ? null : (
        <li>{t.settings.quiet(t.settings.inHours(notices.quietHours))}</li>
      )}
    </>
  );
}

/** Whoever has no partner has no plan either: only programs notice the one that limits them. */
function Partner(): JSX.Element {
  const { data } = useAsked((signal) => ask<Account>('GET', '/account', { signal }), []);
  const partner = data?.partner ?? null;
  return (
    <li>
      {t.account.partner}
      {t.common.colon} {partner === null ? t.common.none : <Own>{partner.service}</Own>}
    </li>
  );
}

function Keys(): JSX.Element {
  const { data } = useAsked(
    (signal) => ask<{ readonly items: readonly Credential[] }>('GET', '/credentials', { signal }),
    [],
  );
  // While the number is unknown, or cannot be fetched, the page itself says more.
  return (
    <li>{data === undefined ? '…' : t.settings.keys(data.items.length, formatCount(data.items.length))}</li>
  );
}
