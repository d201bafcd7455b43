/** All jobs, or one of them. */
import type { JSX } from 'preact';
import type { Route } from '../../parts/route.ts';
import { JobDetail } from './job-detail.tsx';
import { JobList } from './job-list.tsx';

export function JobsPage({ route }: { readonly route: Route }): JSX.Element {
  const [, id] = route.path;
  return id === undefined ? <JobList route={route} /> : <JobDetail key={id} id={id} />;
}
