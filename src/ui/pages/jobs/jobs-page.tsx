/** All jobs, or one of them. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { useOverview } from '../../agent/overview.ts';
import { holdfast } from '../../agent/program.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card, Empty, PageHead } from '../../components/card.tsx';
import { Command } from '../../components/command.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import type { Route } from '../../parts/route.ts';
import { JobDetail } from './job-detail.tsx';
import { hasFilters, JobFilterForm, readFilters } from './job-filters.tsx';
import { JobRow } from './job-row.tsx';
import { type Operation, OperationDialog } from './operation-dialog.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { useJobs } from './use-jobs.ts';

export function JobsPage({ route }: { readonly route: Route }): JSX.Element {
  const [, id] = route.path;
  return id === undefined ? <JobList route={route} /> : <JobDetail key={id} id={id} />;
}

const OPERATIONS = ['check', 'prune', 'drill'] as const;

/** Lists jobs that ran, run and wait, and starts jobs other than backups. */
function JobList({ route }: { readonly route: Route }): JSX.Element {
  const { pause } = useOverview();
  const filters = readFilters(route.query);
  const list = useJobs(filters);
  const [opened, setOpened] = useState<Operation | 'pause' | undefined>(undefined);
  const close = (): void => setOpened(undefined);
  const { status } = filters;
  const same = status === undefined ? holdfast`jobs` : holdfast`jobs --status ${status}`;
  return (
    <>
      <PageHead
        title={t.jobs.title}
        actions={
          <>
            {OPERATIONS.map((operation) => (
              <Button key={operation} type="button" onClick={() => setOpened(operation)}>
                {t.jobs.operations[operation].open}
              </Button>
            ))}
            {pause === null ? (
              <Button type="button" onClick={() => setOpened('pause')}>
                {t.jobs.pauseOpen}
              </Button>
            ) : null}
          </>
        }
      />
      {opened === 'pause' ? <PauseDialog onClose={close} /> : null}
      {opened === undefined || opened === 'pause' ? null : (
        <OperationDialog operation={opened} onClose={close} />
      )}
      <JobFilterForm filters={filters} />
      <Problem error={list.problem} />
      <Card label={t.jobs.title}>
        {list.jobs === undefined ? <p class="quiet">{t.common.loading}</p> : null}
        {list.jobs?.length === 0 ? (
          <Empty>
            <p>{hasFilters(filters) ? t.jobs.noneMatch : t.jobs.noneYet}</p>
          </Empty>
        ) : null}
        {list.jobs === undefined || list.jobs.length === 0 ? null : (
          <ul class="job-rows">
            {list.jobs.map((job) => (
              <JobRow key={job.id} job={job} />
            ))}
          </ul>
        )}
        {list.hasMore ? (
          <Actions>
            <Button type="button" disabled={list.isBusy} onClick={list.more}>
              {t.jobs.more}
            </Button>
          </Actions>
        ) : null}
      </Card>
      <Command lines={[same, holdfast`pause --for 1h`, holdfast`resume`]} />
    </>
  );
}
