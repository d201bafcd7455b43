/** Formats values for the pages. */
import type { JSX } from 'preact';
import { formatBytes } from '../../base/units.ts';
import type { BackupOutcome } from '../store/report.ts';
import { Own } from '../../ui/components/own-text.tsx';
import { type Look, Tag } from '../../ui/components/tag.tsx';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** `22 Nov 2026, 04:31`, in UTC. */
export function shownTime(ms: number): JSX.Element {
  const iso = new Date(ms).toISOString();
  return (
    <time datetime={iso}>
      {shownDay(iso.slice(0, 10))}, {iso.slice(11, 16)}
    </time>
  );
}

export function maybeTime(ms: number | null, otherwise: string): JSX.Element {
  return ms === null ? <span class="quiet">{otherwise}</span> : shownTime(ms);
}

/** `2026-11-22` as `22 Nov 2026`. */
export function shownDay(day: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? ''} ${year}`;
}

/** Text that a user chose. It is isolated, so that its writing direction does not affect the text around it. */
export function own(text: string): JSX.Element {
  return <Own>{text}</Own>;
}

export function maybeOwn(text: string | null): JSX.Element {
  return text === null || text === '' ? <span class="quiet">none</span> : own(text);
}

export function shownCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

export function tag(text: string, look: Look = 'plain'): JSX.Element {
  return <Tag look={look}>{text}</Tag>;
}

/** The status of a customer or an account. */
export function statusTag(status: 'active' | 'suspended'): JSX.Element {
  return status === 'active' ? tag('Active', 'good') : tag('Suspended', 'warning');
}

const BACKUPS: Readonly<Record<BackupOutcome['status'], readonly [string, Look]>> = {
  completed: ['Completed', 'good'],
  warning: ['With warnings', 'warning'],
  failed: ['Failed', 'bad'],
};

export function shownBackup(backup: BackupOutcome | null): JSX.Element {
  if (backup === null) return <span class="quiet">None yet</span>;
  const [text, look] = BACKUPS[backup.status];
  const why =
    backup.errorCode === null ? null : (
      <small>
        <code>{backup.errorCode}</code>
      </small>
    );
  return (
    <>
      {tag(text, look)} <small>{shownTime(backup.finishedAt)}</small>
      {why}
    </>
  );
}

export function shownStorage(usedBytes: number, limitBytes: number): string {
  return `${formatBytes(usedBytes)} of ${formatBytes(limitBytes)}`;
}
