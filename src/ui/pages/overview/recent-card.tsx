/** Briefly lists the last jobs that ended. */
import type { JSX } from 'preact';
import type { AnyJob } from '../../../api/schemas/page/jobs.ts';
import { useOverview } from '../../agent/overview.ts';
import { Card } from '../../components/card.tsx';
import { Table } from '../../components/table.tsx';
import { type Look, Tag } from '../../components/tag.tsx';
import { formatBytes, formatDuration, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { JobName } from '../../parts/job-progress.tsx';
import { hrefOf } from '../../parts/route.ts';
import { type Outcome, outcomeOf } from './figures.ts';
import { agoOf } from './headline.tsx';

const LOOKS: Readonly<Record<Outcome, Look>> = {
  queued: 'plain',
  running: 'plain',
  completed: 'good',
  warning: 'warning',
  failed: 'bad',
  canceled: 'plain',
};

export function RecentCard(): JSX.Element | null {
  const { recent } = useOverview();
  if (recent.length === 0) return null;
  const texts = t.overview.recent;
  return (
    <Card title={t.overview.recentTitle} className="recent">
      <Table
        label={t.overview.recentTitle}
        columns={[
          { title: texts.job },
          { title: texts.outcome },
          { title: texts.when },
          { title: texts.took, isNumber: true },
          { title: texts.stored, isNumber: true },
        ]}
      >
        {recent.map((job) => (
          <Row key={job.id} job={job} />
        ))}
      </Table>
      <p>
        <a href={hrefOf(['jobs'])}>{texts.all}</a>
      </p>
    </Card>
  );
}

function Row({ job }: { readonly job: AnyJob }): JSX.Element {
  const outcome = outcomeOf(job);
  const { finished_at: at, progress } = job;
  return (
    <tr>
      <td class="name">
        <a href={hrefOf(['jobs', job.id])}>
          <JobName job={job} />
        </a>
      </td>
      <td>
        <Tag look={LOOKS[outcome]}>{t.overview.outcomes[outcome]}</Tag>
      </td>
      <td>
        {at === null ? null : (
          <time dateTime={at} title={formatTime(at)}>
            {agoOf(at)}
          </time>
        )}
      </td>
      <td class="number">{formatDuration(job.duration_seconds)}</td>
      <td class="number">{job.type === 'backup' ? formatBytes(progress.bytes_uploaded) : ''}</td>
    </tr>
  );
}
