/** Checks of the agent that are not well, each with what to do. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import type { Overview } from '../../../api/schemas/page/overview.ts';
import { useOverview } from '../../agent/overview.ts';
import { Card } from '../../components/card.tsx';
import { Own } from '../../components/own-text.tsx';
import { Tag } from '../../components/tag.tsx';
import { t } from '../../language/language.ts';
import { hrefOf } from '../../route.ts';

type Check = Overview['checks'][number];

/** Said by a banner above every page already. */
const IN_BANNERS: ReadonlySet<string> = new Set(['pause', 'alarms']);

/** Checks that come from jobs of a type. */
const OF_JOBS: ReadonlyMap<string, AnyJob['type']> = new Map([
  ['damage', 'check'],
  ['checks not done', 'check'],
  ['restore drills', 'drill'],
  ['drills not done', 'drill'],
  ['prune', 'prune'],
  ['unread files', 'backup'],
]);

export function ChecksCard(): JSX.Element | null {
  const { checks } = useOverview();
  const concerns = checks.filter(({ name, status }) => status !== 'ok' && !IN_BANNERS.has(name));
  if (concerns.length === 0) return null;
  return (
    <Card title={t.overview.checksTitle}>
      <ul class="divided">
        {concerns.map((check, index) => (
          <li key={index}>
            <Concern check={check} />
          </li>
        ))}
      </ul>
    </Card>
  );
}

function Concern({ check }: { readonly check: Check }): JSX.Element {
  const known = t.overview.checks[check.name];
  const look = check.status === 'error' ? 'bad' : 'warning';
  const { status } = t.parts.destination;
  return (
    <>
      <Tag look={look}>{status[check.status]}</Tag>{' '}
      {known === undefined ? (
        // What only the agent knows to say: it has what to do in it.
        <Own>{check.message}</Own>
      ) : (
        <>
          <strong>{known.what}</strong> {known.todo}
        </>
      )}{' '}
      <Way name={check.name} />
    </>
  );
}

function Way({ name }: { readonly name: string }): JSX.Element | null {
  if (name === 'configuration') return <a href={hrefOf(['settings', 'advanced'])}>{t.overview.toAdvanced}</a>;
  if (name === 'overdue') return <a href={hrefOf(['jobs'])}>{t.overview.toJobs}</a>;
  if (name === 'sources' || name === 'destinations of a source')
    return <a href={hrefOf(['jobs'], { status: 'failed' })}>{t.overview.toJobs}</a>;
  const type = OF_JOBS.get(name);
  if (type !== undefined) return <a href={hrefOf(['jobs'], { type })}>{t.overview.toJobs}</a>;
  if (name === 'notices') return <a href={hrefOf(['settings', 'notifications'])}>{t.overview.toAdvanced}</a>;
  if (name === 'partner') return <a href={hrefOf(['settings', 'account'])}>{t.overview.toAdvanced}</a>;
  return null;
}
