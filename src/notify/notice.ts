/** The notices that people and other programs receive. */
import { randomUUID } from 'node:crypto';
import type { Clock } from '../base/clock.ts';
import { zonedTime } from '../base/units.ts';

export type NoticeKind =
  | 'backup.started'
  | 'backup.completed'
  | 'backup.warning'
  | 'backup.failed'
  | 'restore.completed'
  | 'restore.failed'
  | 'check.failed'
  | 'prune.failed'
  | 'drill.failed'
  | 'alarm'
  | 'absence'
  | 'state.failed'
  | 'destination.gone'
  /** Stands for several that were held during the quiet hours. */
  | 'held'
  | 'test';

export interface Notice {
  /** Unique for each notice: receivers recognise a repeated delivery by it. */
  readonly id: string;
  readonly kind: NoticeKind;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Name of the machine. */
  readonly host: string;
  /** Path of the source; null when the notice is about none. */
  readonly source: string | null;
  /** Name of the destination; null when the notice is about none. */
  readonly destination: string | null;
  readonly job: {
    readonly id: string;
    readonly durationMs: number | null;
    /** As on the command line: 0 success, 1 failure, 3 success except for some files; null when there is none. */
    readonly exitStatus: number | null;
    /** From the registry of error codes. */
    readonly errorCode: string | null;
  } | null;
  /** Of a new alarm: the job that raised it was refused, and its own notice says the same. */
  readonly isSaidByJob?: boolean;
  /** What happened and what to do, in sentences. */
  readonly text: string;
  /** Lines of the job's log, the oldest first. */
  readonly log: readonly string[];
  /** Other problems on the machine, in sentences; set for a backup that went well. */
  readonly stillFailing: readonly string[];
}

export type NoticeFacts = Pick<Notice, 'kind' | 'host' | 'text'> &
  Partial<Pick<Notice, 'source' | 'destination' | 'job' | 'isSaidByJob' | 'log' | 'stillFailing'>>;

/** Creates a notice with the current time. */
export function createNotice(facts: NoticeFacts, clock: Clock): Notice {
  return {
    id: `msg_${randomUUID()}`,
    at: clock.now(),
    source: null,
    destination: null,
    job: null,
    log: [],
    stillFailing: [],
    ...facts,
  };
}

/** `good`: nothing to do. `attention`: worth a look. `bad`: somebody has to act. */
export type Severity = 'good' | 'attention' | 'bad';

const SEVERITY: Readonly<Record<NoticeKind, Severity>> = {
  'backup.started': 'good',
  'backup.completed': 'good',
  'backup.warning': 'attention',
  'backup.failed': 'bad',
  'restore.completed': 'good',
  'restore.failed': 'bad',
  'check.failed': 'bad',
  'prune.failed': 'attention',
  'drill.failed': 'bad',
  alarm: 'bad',
  absence: 'bad',
  'state.failed': 'bad',
  'destination.gone': 'bad',
  held: 'attention',
  test: 'good',
};

const TITLE: Readonly<Record<NoticeKind, string>> = {
  'backup.started': 'Backup started',
  'backup.completed': 'Backup completed',
  'backup.warning': 'Backup completed with warnings',
  'backup.failed': 'Backup failed',
  'restore.completed': 'Restore completed',
  'restore.failed': 'Restore failed',
  'check.failed': 'The check of the stored data failed',
  'prune.failed': 'Old backups could not be removed',
  'drill.failed': 'A restore drill failed',
  alarm: 'Something unusual happened to the files',
  absence: 'There is no recent backup',
  'state.failed': 'The agent cannot record backups',
  'destination.gone': 'Backups are gone',
  held: 'What happened during the quiet hours',
  test: 'Test message',
};

export function severityOf(kind: NoticeKind): Severity {
  return SEVERITY[kind];
}

/** One line, such as "Backup failed: /home/ada (nas)". */
export function titleOf({ kind, source, job }: Pick<Notice, 'kind' | 'source' | 'job'>): string {
  // A restore has one kind of notice, whether every file is back or not.
  const isPartial = kind === 'restore.completed' && job?.exitStatus === 3;
  const title = isPartial ? `${TITLE[kind]} with warnings` : TITLE[kind];
  return oneLine(source === null ? title : `${title}: ${source}`);
}

/** The whole notice for people, without the log. */
export function bodyOf(notice: Notice): string {
  const facts: readonly (readonly [string, string | null | undefined])[] = [
    ['Machine', notice.host],
    ['Source', notice.source],
    ['Destination', notice.destination],
    ['Job', notice.job?.id],
    ['Error', notice.job?.errorCode],
    ['Time', zonedTime(notice.at)],
  ];
  const lines = facts.flatMap(([name, value]) =>
    value === null || value === undefined ? [] : [`${name}: ${oneLine(value)}`],
  );
  return `${notice.text}\n\n${lines.join('\n')}\n`;
}

/** File names may contain line breaks and other control characters, which have a meaning in headers. */
function oneLine(text: string): string {
  return text.replaceAll(/\p{Cc}+/gu, ' ');
}
