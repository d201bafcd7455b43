import path from 'node:path';
import {
  asByteString,
  type ByteString,
  isUtf8,
  pathNames,
  pathOf,
  textOfBytes,
} from '../../base/byte-path.ts';
import { BugError, HoldfastError } from '../../base/errors.ts';
import type { Agent, SnapshotSummary } from '../../jobs/agent.ts';
import type { RestoreSpec } from '../../jobs/job.ts';
import { ApiError } from '../wire/api-error.ts';
import { answersNewJobs, type JobKind, jobRoutes } from './job-routes.ts';
import { presentRestore } from '../presentation/job.ts';
import { badField, readPath, readPathB64, readSource, readStoredBy, readTime } from './request-values.ts';
import type { ResourceParts } from './resource-parts.ts';
import { checkInPlace, checkTarget, invalidTarget } from './restore-target.ts';
import type { ApiApp } from '../framework/route.ts';
import { Restore, RESTORE_DEFAULTS, RestoreRequest } from '../schemas/job.ts';

const RESTORE: JobKind<Restore> = {
  type: 'restore',
  path: '/restore',
  schema: Restore,
  notFound: 'RESTORE_NOT_FOUND',
  bySource: false,
  present: presentRestore,
};

export function restoreRoutes(app: ApiApp, parts: ResourceParts): void {
  const jobs = answersNewJobs(app, parts, RESTORE);
  app.post(
    '/restore',
    {
      schema: { body: RestoreRequest, response: { 200: Restore, 202: Restore } },
      config: { scope: 'api', duration: 'waits' },
    },
    async (request, reply) => {
      const { body } = request;
      requirePlace(body);
      const asked = (body.paths ?? []).map(readRestorePath);
      const snapshot = await findSnapshot(parts.agent, body);
      const paths = asked.map((path) => parts.agent.pathIn(snapshot, path));
      const spec: RestoreSpec = {
        type: 'restore',
        destination: snapshot.destination,
        snapshot_id: snapshot.id,
        stored_by: snapshot.stored_by,
        paths: paths.map(pathOfSpec),
        target: await placeOf(body, paths.length > 0 ? paths : snapshot.paths.map(asByteString), parts),
        options: { ...RESTORE_DEFAULTS, ...body.options },
      };
      // After the target: where nothing may be restored to is no place to learn what a snapshot has.
      await requirePaths(parts.agent, snapshot, paths);
      return await jobs.answer(request, reply, await parts.agent.submit(spec, 'api', jobs.note(request)));
    },
  );
  jobRoutes(app, parts, RESTORE);
}

/** @throws {ApiError} MISSING_FIELD, INVALID_TARGET */
function requirePlace({ target, in_place: inPlace }: RestoreRequest): void {
  if (target === undefined && inPlace !== true) {
    throw new ApiError('MISSING_FIELD', "The field 'target' is missing", {
      hint: 'Name a directory as target, or set in_place to true.',
      details: { field: 'target' },
    });
  }
  if (target !== undefined && inPlace === true) {
    throw invalidTarget(
      'target_and_in_place',
      'Both target and in_place are given',
      'Leave one of them out.',
    );
  }
}

/** The checked target directory; null for a restore in place. */
async function placeOf(
  { target }: RestoreRequest,
  inPlace: readonly ByteString[],
  { settings, stateDirectory, stores }: ResourceParts,
): Promise<string | null> {
  const rules = { settings: settings(), stateDirectory, stores: stores() };
  if (target === undefined) {
    await checkInPlace(inPlace, rules);
    return null;
  }
  readPath('target', target);
  return await checkTarget(target, rules);
}

type RequestPath = NonNullable<RestoreRequest['paths']>[number];

function readRestorePath(path: RequestPath, index: number): ByteString {
  const field = `paths.${index}`;
  const bytes =
    typeof path === 'string' ? readPath(field, path) : readPathB64(`${field}.path_b64`, path.path_b64);
  // Normalised in the same way as when the path is looked up in the snapshot.
  return pathOf(pathNames(bytes));
}

/**
 * Refuses a path that the catalog knows not to be in the snapshot. Where it does not know, as in a snapshot that is
 * still being listed, the job finds out.
 * @throws {RequestError} PATH_NOT_IN_SNAPSHOT
 */
async function requirePaths(
  agent: Agent,
  { id }: SnapshotSummary,
  paths: readonly ByteString[],
): Promise<void> {
  for (const path of paths) {
    if (path === '/') continue;
    try {
      await agent.entry(id, path);
    } catch (error) {
      const isUnknown = error instanceof HoldfastError && !(error instanceof BugError);
      if (!isUnknown || error.code === 'PATH_NOT_IN_SNAPSHOT') throw error;
    }
  }
}

/** Keeps text as text, so that a job shows its paths in one form. */
function pathOfSpec(bytes: ByteString): RestoreSpec['paths'][number] {
  return isUtf8(bytes) ? textOfBytes(bytes) : { b64: Buffer.from(bytes, 'latin1').toString('base64') };
}

/** @throws {ApiError} MISSING_FIELD, INVALID_REQUEST, BACKUP_NOT_FOUND, SNAPSHOT_NOT_FOUND */
async function findSnapshot(agent: Agent, body: RestoreRequest): Promise<SnapshotSummary> {
  const { snapshot_id: id, backup_id: backupId, source, at } = body;
  const storedBy = readStoredBy(body.stored_by);
  const given = [id, backupId, source].filter((value) => value !== undefined);
  if (given.length === 0) {
    throw new ApiError('MISSING_FIELD', 'The request does not say what to restore', {
      hint: 'Give snapshot_id, backup_id or source.',
      details: { field: 'snapshot_id' },
    });
  }
  if (given.length > 1) {
    throw badField('snapshot_id', 'cannot be combined with backup_id or source', 'Give one of the three.');
  }
  if (at !== undefined && source === undefined) {
    throw badField('at', 'needs source', 'Give source with it, or leave it out.');
  }
  if (storedBy !== undefined && source === undefined && id !== 'latest')
    throw badField('stored_by', 'needs source or latest', 'Give it with source, or with latest.');
  if (id !== undefined)
    return await agent.snapshot(id, storedBy, body.target === undefined || isRoot(body.target));
  if (backupId !== undefined) return await snapshotOfBackup(agent, backupId);
  const until = at === undefined ? undefined : readTime('at', at);
  return await agent.newestOf(readSource(source) ?? '', until, storedBy);
}

/** Below the root directory entries have their original paths, as in place. */
function isRoot(target: string): boolean {
  return process.platform !== 'win32' && path.resolve(target) === '/';
}

async function snapshotOfBackup(agent: Agent, id: string): Promise<SnapshotSummary> {
  const job = agent.job(id);
  if (job === undefined || job.type !== 'backup') {
    throw new ApiError('BACKUP_NOT_FOUND', 'There is no backup with this id', {
      hint: 'GET /backup lists the backups.',
    });
  }
  // The snapshot id stored with the job may be outdated: tagging a snapshot gives it a new id.
  if (job.snapshot_id !== null) return await agent.snapshotOfBackup(id);
  throw new ApiError('SNAPSHOT_NOT_FOUND', `This backup has no snapshot: it is ${job.status}`, {
    hint: 'Choose a completed backup that was not a dry run.',
  });
}
