/** Records that are also written to the journal, because losing them with the database would do harm. */
import type { JobRecord } from './jobs.ts';

export type DurableRecord =
  | { readonly kind: 'job'; readonly record: JobRecord }
  | {
      readonly kind: 'credential';
      readonly apiKey: string;
      readonly name: string;
      /** Base64. */
      readonly secretHash: string;
      readonly generation: number;
      readonly createdAt: number;
      readonly revokedAt: number | null;
    }
  | {
      readonly kind: 'repository';
      readonly url: string;
      readonly repositoryId: string;
      readonly since: number;
    }
  /** Null: removed. */
  | { readonly kind: 'setting'; readonly key: string; readonly value: string | null };

/** Records with the same name are about the same thing; the last one applies. */
export function durableName(record: DurableRecord): string {
  switch (record.kind) {
    case 'job':
      return `job ${record.record.job.id}`;
    case 'credential':
      return `credential ${record.apiKey}`;
    case 'repository':
      return `repository ${record.url}`;
    case 'setting':
      return `setting ${record.key}`;
  }
}
