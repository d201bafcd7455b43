/** How values are shown. */
import { formatBytes } from '../../base/units.ts';
import type { BackupOutcome } from '../store/report.ts';
import { html, type Markup } from './markup.ts';

const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'] as const;

/** `22 Nov 2026, 04:31`, in UTC. */
export function shownTime(ms: number): Markup {
  const iso = new Date(ms).toISOString();
  return html`<time datetime="${iso}">${shownDay(iso.slice(0, 10))}, ${iso.slice(11, 16)}</time>`;
}

export function maybeTime(ms: number | null, otherwise: string): Markup {
  return ms === null ? html`<span class="quiet">${otherwise}</span>` : shownTime(ms);
}

/** `2026-11-22` as `22 Nov 2026`. */
export function shownDay(day: string): string {
  const [year = '', month = '', date = ''] = day.split('-');
  return `${Number(date)} ${MONTHS[Number(month) - 1] ?? ''} ${year}`;
}

/** Text that somebody chose: whatever direction it is written in, what stands beside it keeps its own. */
export function own(text: string): Markup {
  return html`<bdi>${text}</bdi>`;
}

export function maybeOwn(text: string | null): Markup {
  return text === null || text === '' ? html`<span class="quiet">none</span>` : own(text);
}

export function shownCount(count: number): string {
  return String(count).replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
}

export type TagLook = 'good' | 'warning' | 'bad' | '';

export function tag(text: string, look: TagLook = ''): Markup {
  return html`<span class="tag ${look}">${text}</span>`;
}

/** Of a customer or an account. */
export function statusTag(status: 'active' | 'suspended'): Markup {
  return status === 'active' ? tag('Active', 'good') : tag('Suspended', 'warning');
}

const BACKUPS: Readonly<Record<BackupOutcome['status'], readonly [string, TagLook]>> = {
  completed: ['Completed', 'good'],
  warning: ['With warnings', 'warning'],
  failed: ['Failed', 'bad'],
};

export function shownBackup(backup: BackupOutcome | null): Markup {
  if (backup === null) return html`<span class="quiet">None yet</span>`;
  const [text, look] = BACKUPS[backup.status];
  const why = backup.errorCode === null ? null : html`<small><code>${backup.errorCode}</code></small>`;
  return html`${tag(text, look)} <small>${shownTime(backup.finishedAt)}</small>${why}`;
}

export function shownStorage(usedBytes: number, limitBytes: number): string {
  return `${formatBytes(usedBytes)} of ${formatBytes(limitBytes)}`;
}
