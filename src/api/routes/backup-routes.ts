import { requireOwnTags } from '../../base/job-tag.ts';
import { ApiError } from '../wire/api-error.ts';
import { type JobKind, answersNewJobs, jobRoutes } from './job-routes.ts';
import { presentBackup } from '../presentation/job.ts';
import { readPath } from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';
import type { ApiApp } from '../framework/route.ts';
import { Backup, BackupRequest } from '../schemas/job.ts';

const BACKUP: JobKind<Backup> = {
  type: 'backup',
  path: '/backup',
  schema: Backup,
  notFound: 'BACKUP_NOT_FOUND',
  bySource: true,
  present: presentBackup,
};

export function backupRoutes(app: ApiApp, parts: ResourceParts): void {
  const jobs = answersNewJobs(app, parts, BACKUP);
  app.post(
    '/backup',
    {
      schema: { body: BackupRequest, response: { 200: Backup, 202: Backup } },
      config: { scope: 'api', duration: 'waits' },
    },
    async (request, reply) => {
      const { source, destination, options = {} } = request.body;
      readPath('source', source);
      requireCompression(options.compression);
      requireOwnTags(options.tags ?? [], { field: 'options.tags' });
      const job = await parts.agent.requestBackup(
        { source, destination, options },
        'api',
        jobs.note(request),
      );
      return await jobs.answer(request, reply, job);
    },
  );
  jobRoutes(app, parts, BACKUP);
}

/** @throws {ApiError} UNSUPPORTED_COMPRESSION */
function requireCompression(compression: string | undefined): void {
  if (compression === undefined || /^(?:zstd(?::(?:[1-9]|1\d))?|none|auto)$/.test(compression)) return;
  throw new ApiError(
    'UNSUPPORTED_COMPRESSION',
    `This agent does not support the compression '${compression}'`,
    {
      hint: 'Use zstd, zstd:1 to zstd:19, none or auto.',
      details: { field: 'options.compression' },
    },
  );
}
