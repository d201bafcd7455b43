/** What the page shows beyond the Desktop API: how protected the person is, all jobs, alarms, previews of restores, a search, directories. */
import type { ResourceParts } from '../routes/resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';
import { alarmRoutes, type PageAlarms } from './alarm-routes.ts';
import { type EntriesParts, entriesRoutes } from './entries-routes.ts';
import { pageJobRoutes } from './job-routes.ts';
import { type OverviewFacts, overviewRoutes } from './overview-routes.ts';
import { type RestorePreviewParts, restorePreviewRoutes } from './restore-preview-routes.ts';
import { type SearchParts, searchRoutes } from './search-routes.ts';

/** What only the page asks of the agent. */
export interface PageInsight extends Pick<RestorePreviewParts, 'previewOf'>, SearchParts, EntriesParts {
  readonly overview: OverviewFacts;
  readonly alarms: PageAlarms;
}

export function insightRoutes(app: ApiApp, parts: ResourceParts, insight: PageInsight): void {
  overviewRoutes(app, { ...parts, facts: insight.overview });
  pageJobRoutes(app, parts);
  alarmRoutes(app, insight.alarms);
  restorePreviewRoutes(app, { ...parts, previewOf: insight.previewOf });
  searchRoutes(app, insight);
  entriesRoutes(app, insight);
}
