/** Shows the effect of a restore on existing files, from its dry run. */
import type { Agent } from '../../jobs/agent.ts';
import type { RestorePreview as Preview } from '../../jobs/job.ts';
import { ApiError } from '../wire/api-error.ts';
import type { ApiApp } from '../framework/route.ts';
import { RestorePreview } from '../schemas/page/jobs.ts';
import { IdParams } from '../schemas/values.ts';

export interface RestorePreviewParts {
  readonly agent: Pick<Agent, 'job'>;
  /** The preview of a finished dry run, as long as it is kept. */
  readonly previewOf: (jobId: string) => Preview | undefined;
}

export function restorePreviewRoutes(app: ApiApp, { agent, previewOf }: RestorePreviewParts): void {
  app.get(
    '/restore-preview/:id',
    { schema: { params: IdParams, response: { 200: RestorePreview } }, config: { scope: 'page' } },
    async ({ params: { id } }) => {
      const job = agent.job(id);
      if (job === undefined || job.spec.type !== 'restore') {
        throw new ApiError('RESTORE_NOT_FOUND', 'There is no restore with this id', {
          hint: 'GET /restore lists those that there are.',
        });
      }
      const preview = previewOf(id);
      if (preview !== undefined) return shown(preview);
      if (!job.spec.options.dry_run) {
        throw new ApiError('NOT_FOUND', 'This restore was no dry run, and only these have a preview', {
          hint: 'Ask for the restore with the option dry_run first.',
        });
      }
      throw new ApiError('NOT_FOUND', `There is no preview of this restore: it is ${job.status}`, {
        hint: 'Wait for its end. Previews are kept for a while only: make a dry run again.',
        details: { status: job.status },
      });
    },
  );
}

function shown(preview: Preview): RestorePreview {
  return {
    files_new: preview.filesNew,
    files_overwritten: preview.filesOverwritten,
    files_kept: preview.filesKept,
    files_unchanged: preview.filesUnchanged,
    files_deleted: preview.filesDeleted,
    bytes: preview.bytes,
    items: preview.items.map(({ path, what }) => ({ path, what })),
    is_cut: preview.isCut,
  };
}
