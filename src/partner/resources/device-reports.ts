/** The body of a report: outcomes, sizes and numbers. It has no field that could hold a path, a name or a key. */
import { type Static, Type } from '../../base/schema-type.ts';
import { MOST_RESULTS, type DeviceReport, type JobOutcome } from '../store/report.ts';
import type { RefusedHead, SnapshotHead } from '../store/snapshot-heads.ts';

export const AgentVersion = Type.String({ pattern: '^[0-9A-Za-z.+-]{1,64}$' });

const Moment = Type.String({ format: 'date-time' });
const Whole = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER });
const StoredBytes = Type.Integer({ minimum: 0, maximum: 2 ** 50 });
const MaybeErrorCode = Type.Union([
  Type.String({ pattern: '^[A-Z][A-Z0-9_]+$', maxLength: 64 }),
  Type.Null(),
]);

const BackupResult = Type.Object(
  {
    kind: Type.Literal('backup'),
    status: Type.Enum(['completed', 'warning', 'failed']),
    finished_at: Moment,
    duration_seconds: Whole,
    files_backed_up: Whole,
    size_bytes: StoredBytes,
    uploaded_bytes: StoredBytes,
    error_code: MaybeErrorCode,
  },
  { additionalProperties: false },
);
const RestoreResult = Type.Object(
  {
    kind: Type.Literal('restore'),
    status: Type.Enum(['completed', 'failed']),
    finished_at: Moment,
    duration_seconds: Whole,
    files_restored: Whole,
    restored_bytes: StoredBytes,
    error_code: MaybeErrorCode,
  },
  { additionalProperties: false },
);
/** Validated by `kind`, so that errors name only the fields of that kind. */
const Result = Type.Unsafe<Static<typeof BackupResult> | Static<typeof RestoreResult>>({
  type: 'object',
  required: ['kind'],
  properties: { kind: { enum: ['backup', 'restore'] } },
  allOf: [
    { if: { properties: { kind: { not: { const: 'backup' } } } }, else: BackupResult },
    { if: { properties: { kind: { not: { const: 'restore' } } } }, else: RestoreResult },
  ],
});

export const RepositoryId = Type.String({ pattern: '^[0-9a-f]{32}$' });
const HeadFields = {
  repository_id: RepositoryId,
  writer: Type.String({ pattern: '^[0-9a-f]{32}$' }),
  seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
};
const Hash = Type.String({ pattern: '^[0-9a-f]{64}$' });

export const ReportBody = Type.Object(
  {
    seq: Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER }),
    agent_version: AgentVersion,
    expected_every_seconds: Type.Union([Type.Integer({ minimum: 60, maximum: 31_622_400 }), Type.Null()]),
    storage: Type.Union([
      Type.Object({ bytes: StoredBytes, at: Moment }, { additionalProperties: false }),
      Type.Null(),
    ]),
    results: Type.Array(Result, { maxItems: MOST_RESULTS }),
    orders_taken: Type.Optional(
      Type.Array(Type.String({ pattern: '^ord_[0-9A-HJKMNP-TV-Z]{26}$' }), { maxItems: 10 }),
    ),
    heads: Type.Optional(
      Type.Array(Type.Object({ ...HeadFields, hash: Hash }, { additionalProperties: false }), {
        maxItems: 32,
      }),
    ),
  },
  { additionalProperties: false },
);

export const RefusedHeadData = Type.Object({
  ...HeadFields,
  reason: Type.Enum(['rolled_back', 'forked', 'too_many']),
  remembered_seq: Type.Union([Type.Integer(), Type.Null()]),
});

/** The part of a report that is stored and counted. */
export function reportOf(body: Static<typeof ReportBody>): DeviceReport {
  return {
    seq: body.seq,
    agentVersion: body.agent_version,
    expectedEverySeconds: body.expected_every_seconds,
    storage: body.storage === null ? null : { bytes: body.storage.bytes, at: Date.parse(body.storage.at) },
    results: body.results.map(outcomeOf),
  };
}

export function headsOf({ heads = [] }: Static<typeof ReportBody>): readonly SnapshotHead[] {
  return heads.map(({ repository_id, writer, seq, hash }) => ({
    repositoryId: repository_id,
    writer,
    seq,
    hash,
  }));
}

export function shownRefusal(head: RefusedHead): Static<typeof RefusedHeadData> {
  return {
    repository_id: head.repositoryId,
    writer: head.writer,
    seq: head.seq,
    reason: head.reason,
    remembered_seq: head.rememberedSeq,
  };
}

function outcomeOf(result: Static<typeof Result>): JobOutcome {
  const base = {
    finishedAt: Date.parse(result.finished_at),
    durationSeconds: result.duration_seconds,
    errorCode: result.status === 'failed' ? result.error_code : null,
  };
  return result.kind === 'backup'
    ? {
        ...base,
        kind: 'backup',
        status: result.status,
        filesBackedUp: result.files_backed_up,
        sizeBytes: result.size_bytes,
        uploadedBytes: result.uploaded_bytes,
      }
    : {
        ...base,
        kind: 'restore',
        status: result.status,
        filesRestored: result.files_restored,
        restoredBytes: result.restored_bytes,
      };
}
