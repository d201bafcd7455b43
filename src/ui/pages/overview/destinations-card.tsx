/** Shows where backups are stored: the space, when they were last verified, and their growth. */
import type { ComponentChildren, JSX } from 'preact';
import type { OverviewDestination } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Card } from '../../components/card.tsx';
import { AreaChart } from '../../components/chart.tsx';
import { Path } from '../../components/own-text.tsx';
import { type Lost, lostAt } from '../../parts/lost-place.ts';
import { Place, useShownName } from '../../parts/place.tsx';
import { Facts } from '../../components/table.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatBytes, formatDay } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { agoOf } from './headline.tsx';
import { outcomeOf } from './figures.ts';

export function DestinationsCard(): JSX.Element {
  const overview = useOverview();
  return (
    <Card title={t.overview.destinationsTitle} className="rows">
      <ul class="divided">
        {overview.destinations.map((destination) => (
          <li key={destination.name}>
            <Destination destination={destination} lost={lostAt(destination.name, overview)} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

/** A row that opens. What is wrong with the place is in sight, whether it is open or not. */
function Destination({
  destination,
  lost,
}: {
  readonly destination: OverviewDestination;
  readonly lost: Lost | undefined;
}): JSX.Element {
  const { name, url, stored, last_check: check, last_drill: drill, is_embedded: isEmbedded } = destination;
  const texts = t.overview.destinations;
  return (
    <div class="destination">
      <details class="row-details">
        <summary>
          <span class="row-name">
            <strong>
              <Place name={name} />
            </strong>
            <small>
              <Path>{url}</Path>
            </small>
          </span>
          <span class="row-fact">
            <Presence {...destination} lost={lost} />{' '}
            {destination.is_default ? <Tag>{texts.isDefault}</Tag> : null}{' '}
            {destination.same_disk === true ? <Tag look="warning">{texts.sameDisk}</Tag> : null}
            {isEmbedded && !destination.is_default ? <Tag>{t.destinations.earlier}</Tag> : null}
          </span>
          <span class="row-fact number">{lost === undefined ? spaceOf(destination) : null}</span>
        </summary>
        <div class="row-inside">
          {lost === undefined ? <Space {...destination} /> : null}
          <Facts
            rows={[
              [texts.lastCheck, lastOf(check, texts.checkNever)],
              [texts.lastDrill, lastOf(drill, texts.drillNever)],
            ]}
          />
          {stored.length < 2 ? null : <Growth name={name} stored={stored} />}
        </div>
      </details>
      {destination.unreachable_reason === null ? null : (
        <p class="small-text">{t.destinations.whyAway[destination.unreachable_reason]}</p>
      )}
    </div>
  );
}

function Presence({
  reachable,
  untested,
  lost,
}: OverviewDestination & { readonly lost: Lost | undefined }): JSX.Element {
  const texts = t.overview.destinations;
  if (reachable === null) return <Tag>{untested ? t.destinations.untested : texts.unknown}</Tag>;
  if (reachable && lost !== undefined) return <Tag look="bad">{t.destinations.lost[lost]}</Tag>;
  return reachable ? <Tag look="good">{texts.reachable}</Tag> : <Tag look="bad">{texts.away}</Tag>;
}

function spaceOf({ used_bytes: used, free_bytes: free }: OverviewDestination): string {
  const texts = t.overview.destinations;
  return [
    ...(used === null ? [] : [texts.used(formatBytes(used))]),
    ...(free === null ? [] : [texts.free(formatBytes(free))]),
  ].join(', ');
}

function Space(destination: OverviewDestination): JSX.Element | null {
  const shownName = useShownName();
  const { name, used_bytes: used, free_bytes: free } = destination;
  if (used === null || free === null) return null;
  return (
    <p class="space">
      <meter
        aria-label={t.overview.destinations.meter(shownName(name))}
        min={0}
        max={used + free}
        value={used}
      >
        {spaceOf(destination)}
      </meter>
    </p>
  );
}

function lastOf(last: OverviewDestination['last_check'], never: string): ComponentChildren {
  if (last === null) return <span class="quiet">{never}</span>;
  const outcome = outcomeOf({
    status: last.status === 'completed' ? 'completed' : last.status === 'failed' ? 'failed' : 'canceled',
    result: last.result === 'warning' ? 'warning' : null,
  });
  const ago = agoOf(last.finished_at);
  const texts = t.overview.destinations;
  if (outcome === 'completed') return texts.good(ago);
  return (
    <Tag look={outcome === 'failed' ? 'bad' : 'warning'}>
      {texts.notGood(t.overview.outcomes[outcome], ago)}
    </Tag>
  );
}

function Growth({ name, stored }: Pick<OverviewDestination, 'name' | 'stored'>): JSX.Element | null {
  const shownName = useShownName();
  const [first] = stored;
  const last = stored.at(-1);
  if (first === undefined || last === undefined) return null;
  const texts = t.overview.destinations;
  return (
    <>
      <AreaChart
        label={texts.chart(shownName(name))}
        unit="bytes"
        points={stored.map(({ at, bytes }) => ({ at: new Date(at).getTime(), value: bytes }))}
        shownValue={formatBytes}
        shownTime={formatDay}
      />
      <p class="small-text quiet">
        {texts.change(formatBytes(first.bytes), formatBytes(last.bytes), formatDay(first.at))}
      </p>
    </>
  );
}
