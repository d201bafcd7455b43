/** What can go wrong, and what the page then has about it: a statement, or the error of a job. */
import type { Statement } from '../../src/api/schemas/page/overview.ts';

export interface SituationRow {
  readonly what: string;
  /** What the overview says. */
  readonly says?: Partial<Statement>;
  /** What the list of jobs says. */
  readonly error?: { readonly code: string; readonly details?: object; readonly type?: string };
}

/** The time at which the page is read. */
export const READ_AT = Date.parse('2026-11-22T12:00:00.000Z');
const RECENT = '2026-11-22T10:00:00.000Z';
const DAYS_AGO = '2026-11-17T12:00:00.000Z';

const failed = (reason: Statement['reason']): Partial<Statement> => ({
  code: 'last_failed',
  reason,
  since: RECENT,
});
const late = (reason: Statement['reason'], figures: Statement['figures'] = {}): Partial<Statement> => ({
  code: 'overdue',
  reason,
  figures,
  since: DAYS_AGO,
});
const never = (reason: Statement['reason']): Partial<Statement> => ({ code: 'never_backed_up', reason });

export const PLACES: readonly SituationRow[] = [
  {
    what: 'The backup disk is unplugged, and its backups are recent',
    says: { code: 'destination_away', to: ['usb'], since: RECENT, figures: { far: 0 } },
  },
  { what: 'It is still unplugged days later', says: late('away') },
  {
    what: 'A server is switched off, refuses the connection, or its name is unknown; its backups are recent',
    says: { code: 'destination_away', to: ['nas'], since: RECENT, figures: { far: 1 } },
  },
  {
    what: 'It is still away days later',
    says: late('unreachable'),
    error: { code: 'DESTINATION_UNREACHABLE' },
  },
  { what: 'It was never reached', says: never('unreachable') },
  {
    what: 'The folder of a destination on the system disk was deleted or renamed',
    says: { code: 'destination_gone', to: ['usb'] },
  },
  {
    what: 'The folder of the destination was emptied, or is a mount point without its disk',
    says: { code: 'destination_gone', to: ['usb'], since: RECENT, figures: { empty: 1 } },
    error: { code: 'DESTINATION_ERROR', details: { reason: 'empty' } },
  },
  {
    what: 'The same, and the source has good backups at another destination',
    says: { ...failed('emptied'), to: ['usb'] },
    error: { code: 'DESTINATION_ERROR', details: { reason: 'empty' } },
  },
  {
    what: 'Another disk or another repository is in the place of the right one',
    says: failed('other_repository'),
    error: { code: 'DESTINATION_ERROR', details: { reason: 'different' } },
  },
  {
    what: 'The destination is full',
    says: failed('full'),
    error: { code: 'INSUFFICIENT_STORAGE' },
  },
  {
    what: 'The destination is read-only',
    says: failed('read_only'),
    error: { code: 'DESTINATION_ERROR', details: { errno: 'EROFS' } },
  },
  {
    what: 'The folder of the destination belongs to somebody else',
    says: failed('no_permission'),
    error: { code: 'DESTINATION_ERROR', details: { errno: 'EACCES' } },
  },
  {
    what: 'Files of another program are in the folder',
    says: never('foreign'),
    error: { code: 'DESTINATION_ERROR', details: { found: 'notes.txt' } },
  },
  {
    what: 'A newer Holdfast made the repository',
    says: failed('other'),
    error: { code: 'DESTINATION_ERROR' },
  },
  {
    what: 'The server refuses name, password or key',
    says: failed('denied'),
    error: { code: 'DESTINATION_AUTH_FAILED' },
  },
  {
    what: 'The passphrase is wrong',
    says: failed('locked_out'),
    error: { code: 'WRONG_PASSPHRASE' },
  },
  {
    what: 'The file with a passphrase, password or key is missing',
    says: failed('no_secret'),
    error: { code: 'SECRET_UNAVAILABLE' },
  },
  {
    what: 'Others can read that file',
    says: failed('no_secret'),
    error: { code: 'SECRET_UNSAFE' },
  },
  {
    what: 'The only destination is on the same disk as the files',
    says: { code: 'same_disk', to: ['usb'], since: RECENT },
  },
  {
    what: 'Two destinations are the same place',
    says: { code: 'same_place', to: ['usb', 'nas'], since: RECENT },
  },
];

export const SOURCES: readonly SituationRow[] = [
  {
    what: 'A file cannot be read',
    says: { code: 'files_unread', files: ['/home/ana/Documents/locked.txt'], figures: { files: 1 } },
  },
  {
    what: 'A folder cannot be read',
    says: { code: 'files_unread', files: ['/home/ana/Documents/closed'], figures: { folders: 1 } },
  },
  {
    what: 'Not one file of a source can be read any more',
    says: { code: 'source_unreadable', figures: { files_before: 312 } },
  },
  {
    what: 'A source is gone after it was backed up',
    says: { code: 'source_empty', reason: 'source_missing', figures: { files_before: 312 } },
    error: { code: 'SOURCE_SUSPICIOUSLY_EMPTY', details: { is_there: false } },
  },
  {
    what: 'A source is empty, or its disk is not mounted',
    says: { code: 'source_empty', figures: { files_before: 312 } },
    error: { code: 'SOURCE_SUSPICIOUSLY_EMPTY', details: { is_there: true } },
  },
  {
    what: 'You have confirmed that it is meant to be empty',
    says: { code: 'protected', since: RECENT },
  },
  {
    what: 'A source was never there',
    says: never('source_missing'),
    error: { code: 'INVALID_SOURCE', details: { reason: 'not_found' } },
  },
  {
    what: 'A source is a device, a pipe or a file system that stores nothing',
    says: failed('source_unfit'),
    error: { code: 'INVALID_SOURCE', details: { reason: 'unsupported_type' } },
  },
  {
    what: 'A source lies where backups are stored',
    says: failed('source_own'),
    error: { code: 'INVALID_SOURCE', details: { reason: 'inside_repository' } },
  },
  {
    what: 'The server of a mounted source does not answer',
    says: failed('source_silent'),
    error: { code: 'INVALID_SOURCE', details: { reason: 'not_answering' } },
  },
  { what: 'The exclude rules leave out everything in a new source', says: { code: 'source_left_out' } },
  {
    what: 'They do so in a source that was backed up before',
    says: { code: 'source_left_out', figures: { files_before: 312 } },
  },
  {
    what: 'Most files of a source are gone',
    says: { code: 'files_disappeared', figures: { files_gone: 290, files_before: 312 } },
  },
  {
    what: 'Many files are rewritten at once, as by ransomware',
    says: { code: 'files_rewritten', figures: { rewritten: 300, files_before: 312 } },
  },
  {
    what: 'Far more files change than ever before',
    says: { code: 'files_burst', figures: { touched: 12_000 } },
  },
  {
    what: 'The command before the backup fails or takes too long',
    says: failed('command'),
    error: { code: 'HOOK_FAILED' },
  },
  {
    what: 'The same, where the settings say `"onFailure": "warn"`: the backup runs all the same; or the command after a backup fails',
    says: { code: 'command_failed' },
  },
];

export const RUNNING: readonly SituationRow[] = [
  { what: 'Nothing is chosen for backup', says: { code: 'no_source', names: [] } },
  { what: 'The first backup runs', says: { code: 'first_backup_runs' } },
  {
    what: 'The first backup waits for mains power, another network or the end of quiet hours',
    says: { code: 'first_backup_runs', figures: { waits: 1 } },
  },
  { what: 'The first backup waits for the end of a pause', says: { code: 'first_backup_paused' } },
  {
    what: 'The first backup to another destination runs, and earlier ones can be restored',
    says: { code: 'first_backup_runs', to: ['nas'], figures: { earlier: 1 } },
  },
  { what: 'The first backup was canceled', says: never(null) },
  { what: 'Backups are paused', says: { code: 'paused', since: RECENT } },
  { what: 'Backups have been paused for days', says: late(null, { paused: 1 }) },
  {
    what: 'The schedule of a source is off, nothing watches it, and days have passed',
    says: late('unscheduled'),
  },
  {
    what: 'A job was killed three times',
    says: failed('other'),
    error: { code: 'JOB_INTERRUPTED' },
  },
  {
    what: 'Another program has the repository locked',
    says: failed('other'),
    error: { code: 'REPOSITORY_LOCKED' },
  },
  {
    what: 'The clock was ahead, and is right again',
    says: { code: 'clock_behind', figures: { ahead_ms: 86_400_000 } },
  },
  {
    what: 'The settings file has a mistake, or was deleted',
    says: { code: 'check_warns', check: 'configuration', names: [] },
  },
  {
    what: 'The partner has suspended the account, and the settings let backups go on',
    says: { code: 'check_warns', check: 'partner', check_code: 'account_suspended', names: [] },
  },
  {
    what: 'The settings hold backups back meanwhile',
    says: { code: 'check_failed', check: 'partner', check_code: 'account_suspended_waiting', names: [] },
  },
  {
    what: 'The trial with the partner has ended, less than a week ago',
    says: { code: 'check_warns', check: 'partner', check_code: 'trial_ended_stopping', names: [] },
  },
  {
    what: 'It ended more than a week ago',
    says: { code: 'check_failed', check: 'partner', check_code: 'trial_ended_waiting', names: [] },
  },
  {
    what: 'The partner has removed this computer from their list',
    says: { code: 'check_warns', check: 'partner', check_code: 'device_removed', names: [] },
  },
  { what: 'The mail server refuses notices', says: { code: 'check_warns', check: 'notices', names: [] } },
  {
    what: 'The state directory cannot be written',
    says: { code: 'check_failed', check: 'state', names: [] },
  },
  {
    what: 'The disk of the state directory is full',
    says: { code: 'check_failed', check: 'state_full', names: [] },
  },
  {
    what: 'The state directory is gone while the agent runs',
    says: { code: 'check_failed', check: 'state_gone', names: [] },
  },
  {
    what: 'The database of the agent was damaged, and has been rebuilt',
    says: { code: 'check_warns', check: 'state_lost', names: [] },
  },
  {
    what: 'The disk of the state directory is nearly full',
    says: { code: 'state_nearly_full', figures: { free_bytes: 20_000_000 } },
  },
  { what: 'The system watches no more folders', says: { code: 'not_watched' } },
];

export const STORED: readonly SituationRow[] = [
  { what: 'A check finds damage', says: { code: 'damaged', to: ['usb'] }, error: { code: 'CORRUPT_DATA' } },
  { what: 'A check could not be made', says: { code: 'check_undone', to: ['usb'] } },
  {
    what: 'A restore drill brings back damaged files',
    says: { code: 'drill_failed', to: ['usb'] },
    error: { code: 'CORRUPT_DATA', type: 'drill' },
  },
  { what: 'A restore drill could not be made', says: { code: 'drill_undone', to: ['usb'] } },
  { what: 'Old snapshots could not be removed', says: { code: 'prune_failed', to: ['usb'] } },
  {
    what: 'No restore has been tried for long',
    says: { code: 'untested', to: ['usb'], figures: { untested_ms: 70 * 86_400_000 } },
  },
  {
    what: 'A restore meets a file that is damaged in the repository',
    error: { code: 'CORRUPT_DATA', type: 'restore' },
  },
  { what: 'A restore fills the target', error: { code: 'INSUFFICIENT_STORAGE', type: 'restore' } },
];
