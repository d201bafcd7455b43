/**
 * Judges whether a change of a source looks like damage: the source is suddenly empty, unreadable or left out by rules,
 * most of it is gone, or most of it was rewritten with content that looks encrypted. Until an alarm is acknowledged, no
 * older snapshot of the source is forgotten.
 * Pure: the caller stores alarms and history.
 */
import { createHash } from 'node:crypto';
import { encryptedIn, lostIn, type DamagedFolder, type FolderFindings } from './folder-damage.ts';
import { wayBack, type SnapshotPlace } from './way-back.ts';

/** `claimed`: a write-only key stored a backup in the name of a machine for which others store too. */
export type AlarmKind = 'empty' | 'unreadable' | 'left_out' | 'shrunk' | 'rewritten' | 'burst' | 'claimed';

export interface Alarm {
  readonly id: string;
  readonly kind: AlarmKind;
  /** Path of the source; for `claimed` the name of the machine. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What happened and what to do, for people. */
  readonly text: string;
  readonly facts: Readonly<Record<string, number | string>>;
  /**
   * The last snapshot from before the event; for `claimed` the snapshot with that name. Null, or missing in alarms of
   * older versions, where it is unknown.
   */
  readonly before?: SnapshotPlace | null;
  /** For lost files: the most files that the source has had since the alarm. */
  readonly since?: Held;
}

/** A number of files that a source had, and the newest snapshot with that many. */
export interface Held {
  readonly files: number;
  readonly at: SnapshotPlace | null;
}

/** What a backup found, from its snapshot's counts. */
export interface RunFacts {
  readonly source: string;
  readonly at: number;
  /** Files in the snapshot that it was compared with; null when there was none. */
  readonly filesBefore: number | null;
  readonly files: number;
  /** The snapshot that it was compared with, and the one that was made; missing where unknown. */
  readonly before?: SnapshotPlace | null;
  readonly made?: SnapshotPlace | null;
  /** Entries that could not be read; missing for none. */
  readonly unread?: number;
  /** Whether the exclude rules left out everything in the source; missing for no. */
  readonly leftOut?: boolean;
  /** Files that the earlier snapshot does not have under the same name. */
  readonly filesNew: number;
  readonly filesChanged: number;
  /** Size of the content that the repository did not have yet. */
  readonly bytesNew: number;
  /** Its size after compression. */
  readonly bytesStored: number;
  /** Number of new files by extension, for extensions that no file had before; missing where unknown. */
  readonly newExtensions?: Readonly<Record<string, number>>;
  /** Damage of folders since the first run of the hour; missing where there is none to speak of. */
  readonly damage?: FolderFindings;
  /** How many files folders with an open alarm about lost files have now. */
  readonly filesInFolders?: Readonly<Record<string, number>>;
}

/** Runs of about an hour, added up, so that a change spread over many small backups is seen as one. */
type RunWindow = Pick<
  RunFacts,
  'at' | 'filesNew' | 'filesChanged' | 'bytesNew' | 'bytesStored' | 'newExtensions'
> & {
  readonly filesBefore: number;
  readonly files: number;
  /** The snapshot that the first run was compared with. */
  readonly before?: SnapshotPlace | null;
  /** The most files before or in one of its runs. Missing in windows of older versions. */
  readonly most?: Held;
};

/** What is usual for a source: one entry for each finished window, the newest last, and the current window. */
export interface SourceHistory {
  readonly runs: readonly { readonly rewrittenShare: number; readonly touched: number }[];
  readonly window: RunWindow | null;
}

export const NO_HISTORY: SourceHistory = { runs: [], window: null };

/** Snapshots of this source from before this time must not be forgotten. */
export interface Freeze {
  /** The path in the settings. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly before: number;
}

const RUNS_KEPT = 30;
/** Length of a window in milliseconds, from its first run. */
const WINDOW_MS = 3_600_000;
/** Changes of fewer files raise no alarm. */
const LEAST_FILES = 100;
const SHRUNK_SHARE = 0.5;
const REWRITTEN_SHARE = 0.2;
/** Factor above the usual value that is unusual. */
const ABOVE_USUAL = 5;
/** A larger share is unusual even for a source that is often rewritten. */
const NEARLY_ALL = 0.9;
/**
 * Ratio of compressed to original size from which on content looks encrypted, as encrypted or already compressed
 * content does not shrink.
 */
const DENSE = 0.95;
/** Share of the files from before a loss with which the source counts as whole again, as some are not worth restoring. */
const MENDED_SHARE = 0.98;
/** Less new content is too little to judge. */
const LEAST_BYTES = 1_048_576;
const BURST_FILES = 10_000;
const BURST_SHARE = 0.5;

/**
 * The alarm for a source that is empty or missing, but had files before. The engine has refused to back it up, as in
 * most cases a disk is not mounted. Null while such an alarm is open.
 */
export function emptyAlarm(
  facts: Pick<RunFacts, 'source' | 'at' | 'before'> & {
    readonly filesBefore: number;
    readonly isThere: boolean;
  },
  open: readonly Alarm[],
): Alarm | null {
  const { filesBefore, isThere, source, before } = facts;
  const alarm = makeAlarm(facts, 'empty', { files_before: filesBefore }, [
    `${source} ${isThere ? 'is empty' : 'has disappeared'}. It had ${counted(filesBefore)} at its last backup.`,
    'No backup was made, and older snapshots are kept. If it is a disk or a share, mount it; ' +
      (isThere
        ? 'if it is supposed to be empty, acknowledge this alarm.'
        : 'if it was deleted on purpose, remove the source.'),
    `If the files were deleted, restore them ${wayBack(before, source, 'in-place')}.`,
  ]);
  return unlessOpen(alarm, open);
}

/**
 * The alarms for a backup that was made. Kinds that are open for the source already are not raised again, except for
 * files that have disappeared since from what was left or had been restored.
 */
export function judgeRun(run: RunFacts, history: SourceHistory, open: readonly Alarm[]): readonly Alarm[] {
  const closed = unreadable(run) ?? leftOut(run);
  // An alarm about missing files in addition would say the same twice.
  if (closed !== null) return [unlessOpen(closed, open)].filter((one) => one !== null);
  const { runs, window } = withoutOldWindow(history, run.at);
  const hour = window === null ? run : { ...run, ...joined(window, run) };
  // Nothing is damaged in the backups of this hour before this one.
  const isNew = run.damage?.isNew === true && (run.damage.encrypted > 0 || run.damage.lost.length > 0);
  const facts = isNew ? { ...hour, before: run.before ?? null } : hour;
  const { filesBefore } = facts;
  if (filesBefore === null) return [];
  const told = spoiled(facts, filesBefore);
  if (filesBefore < LEAST_FILES)
    return [told === null ? null : unlessOpen(told, open)].filter((one) => one !== null);
  const losses = open.filter((alarm) => isLoss(alarm) && alarm.source === run.source);
  const earlier = losses.findLast(({ kind }) => kind === 'shrunk');
  const held = earlier === undefined ? mostOf(facts, filesBefore) : sinceOf(earlier);
  const loss = held.files < LEAST_FILES ? null : shrunk(facts, held);
  const others = withoutTold(facts, filesBefore, loss === null ? losses : [...losses, loss]);
  const folder = loss === null && losses.length === 0 ? lostFolder(facts) : null;
  const many = folder === null ? burst(others, filesBefore, runs) : null;
  const found = rewritten(facts, filesBefore, runs) ?? told ?? many;
  return [loss ?? folder, found === null ? null : unlessOpen(found, open)].filter((one) => one !== null);
}

/** The open alarms after a backup that was made: those about missing files end when the files are back. */
export function afterRun(
  run: RunFacts,
  open: readonly Alarm[],
): { readonly open: readonly Alarm[]; readonly mended: readonly Alarm[] } {
  const isMended = (alarm: Alarm): boolean => {
    const before = alarm.facts['files_before'];
    if (!isLoss(alarm) || alarm.source !== run.source || typeof before !== 'number') return false;
    if (run.leftOut === true) return false;
    const folder = alarm.facts['folder'];
    if (typeof folder === 'string') return (run.filesInFolders?.[folder] ?? 0) >= before * MENDED_SHARE;
    return run.files > 0 && run.files >= before * MENDED_SHARE;
  };
  const mended = open.filter(isMended);
  const others = mended.length === 0 ? open : open.filter((alarm) => !isMended(alarm));
  return {
    mended,
    open: others.map((alarm) =>
      alarm.kind === 'shrunk' && alarm.source === run.source && run.files >= sinceOf(alarm).files
        ? { ...alarm, since: { files: run.files, at: run.made ?? null } }
        : alarm,
    ),
  };
}

/** For the next comparison of a source: what the current hour of changes began with, and how much it has changed so far. */
export function hourOf(
  history: SourceHistory,
  at: number,
): { readonly since: string | null; readonly touched: number } {
  const { window } = withoutOldWindow(history, at);
  if (window === null) return { since: null, touched: 0 };
  return { since: window.before?.snapshot ?? null, touched: touchedFiles(window, window.filesBefore) };
}

/** The history with one more run. */
export function withRun(history: SourceHistory, run: RunFacts): SourceHistory {
  const { filesBefore } = run;
  const { runs, window } = withoutOldWindow(history, run.at);
  if (window !== null) return { runs, window: { ...joined(window, run), at: window.at } };
  if (filesBefore === null || filesBefore === 0) return { runs, window };
  const { at, files, filesNew, filesChanged, bytesNew, bytesStored, newExtensions = {} } = run;
  const { before = null } = run;
  const counts = { filesNew, filesChanged, bytesNew, bytesStored, newExtensions };
  const most = mostOf({ ...run, most: { files: filesBefore, at: before } }, filesBefore);
  return { runs, window: { at, filesBefore, files, before, most: withMade(most, run), ...counts } };
}

/** The history after an alarm. The window is dropped: its runs are not usual, and must not be counted again. */
export function afterAlarm({ runs }: SourceHistory): SourceHistory {
  return { runs, window: null };
}

/** The snapshots that must stay: for each source all from before its newest open alarm. */
export function freezesOf(open: readonly Alarm[]): readonly Freeze[] {
  const newest = new Map<string, number>();
  for (const { source, at } of open) newest.set(source, Math.max(at, newest.get(source) ?? at));
  return [...newest].map(([source, before]) => ({ source, before }));
}

/** Adds a finished window to what is usual; also one from the future, which began while the clock was wrong. */
function withoutOldWindow(history: SourceHistory, at: number): SourceHistory {
  const { runs, window } = history;
  if (window === null || (at >= window.at && at - window.at < WINDOW_MS)) return history;
  const usual = {
    rewrittenShare: rewrittenFiles(window, window.filesBefore) / window.filesBefore,
    touched: touchedFiles(window, window.filesBefore),
  };
  return { runs: [...runs, usual].slice(-RUNS_KEPT), window: null };
}

/** Adds a run to the window, compared with the state before the window. */
function joined(window: RunWindow, run: RunFacts): RunWindow {
  const newExtensions = { ...window.newExtensions };
  for (const [extension, count] of Object.entries(run.newExtensions ?? {}))
    newExtensions[extension] = (newExtensions[extension] ?? 0) + count;
  return {
    at: run.at,
    filesBefore: window.filesBefore,
    files: run.files,
    before: window.before ?? null,
    most: withMade(mostOf(window, window.filesBefore), run),
    filesNew: window.filesNew + run.filesNew,
    filesChanged: window.filesChanged + run.filesChanged,
    bytesNew: window.bytesNew + run.bytesNew,
    bytesStored: window.bytesStored + run.bytesStored,
    newExtensions,
  };
}

type UsualRuns = SourceHistory['runs'];

/** Raised for any number of files: the backup contains none of them, but looks like a good one. */
function unreadable({ filesBefore, files, unread = 0, ...facts }: RunFacts): Alarm | null {
  if (filesBefore === null || filesBefore === 0 || files > 0 || unread === 0) return null;
  const { source } = facts;
  return makeAlarm(facts, 'unreadable', { files_before: filesBefore, unread }, [
    `${source} had ${counted(filesBefore)}, but the last backup could not read any of them.`,
    'Older snapshots are kept. The job says what could not be read: give Holdfast permission to read it. This alarm ends ' +
      'once a backup has read the files again.',
  ]);
}

/** Raised for any number of files: a marker file or a pattern was added since, perhaps by mistake. */
function leftOut({ filesBefore, files, leftOut: isLeftOut = false, ...facts }: RunFacts): Alarm | null {
  if (!isLeftOut || filesBefore === null || files >= filesBefore) return null;
  const { source } = facts;
  return makeAlarm(facts, 'left_out', { files_before: filesBefore, files }, [
    `${source} had ${counted(filesBefore)}, but the exclude rules left out everything at the last backup.`,
    'Older snapshots are kept. The job names the rule: a pattern, or a file in the source that marks it as not to ' +
      'be backed up. Change the rule, and this alarm ends with the next backup.',
  ]);
}

function shrunk(facts: RunFacts, { files: before, at }: Held): Alarm | null {
  const { files, source } = facts;
  if (files >= before * (1 - SHRUNK_SHARE)) return null;
  const since: Held = { files, at: facts.made ?? null };
  const alarm = makeAlarm({ ...facts, before: at }, 'shrunk', { files_before: before, files }, [
    `${grouped(before - files)} of ${counted(before)} disappeared from ${source}: ${percent(1 - files / before)} are gone.`,
    ...afterLoss(at, source),
  ]);
  return { ...alarm, since };
}

function afterLoss(at: SnapshotPlace | null | undefined, source: string): readonly string[] {
  return [
    `Older snapshots are kept. Restore what is missing ${wayBack(at, source, 'in-place')}: this alarm then ends with the ` +
      'next backup. If this was intended, acknowledge it.',
  ];
}

/** Whether the alarm says that files are missing, which may come back. */
function isLoss({ kind }: Alarm): boolean {
  return kind === 'shrunk' || kind === 'empty' || kind === 'unreadable' || kind === 'left_out';
}

/** The most files since an alarm, which begins with what the alarm found. */
function sinceOf({ since, facts }: Alarm): Held {
  const { files } = facts;
  return since ?? { files: typeof files === 'number' ? files : 0, at: null };
}

function mostOf(facts: { readonly most?: Held } & Pick<RunFacts, 'before'>, filesBefore: number): Held {
  return facts.most ?? { files: filesBefore, at: facts.before ?? null };
}

function withMade(most: Held, { files, made = null }: RunFacts): Held {
  return files >= most.files ? { files, at: made } : most;
}

/** Files of a loss that has an alarm do not count as a burst, neither when they disappear nor when they are restored. */
function withoutTold(facts: RunFacts, before: number, losses: readonly Alarm[]): RunFacts {
  const { files, filesNew } = facts;
  const missing = Math.max(
    0,
    ...losses.map((alarm) => Number(alarm.facts['files_before'] ?? 0) - sinceOf(alarm).files),
  );
  const returned = Math.min(filesNew, missing);
  const gone = Math.min(goneFiles(facts, before), missing);
  return { ...facts, filesNew: filesNew - returned, files: files - returned + gone };
}

/** Many files changed, or vanished while as many new ones appeared, and their content does not compress any more. */
function rewritten(facts: RunFacts, before: number, runs: UsualRuns): Alarm | null {
  const count = rewrittenFiles(facts, before);
  const share = count / before;
  const usual = median(runs.map((run) => run.rewrittenShare));
  if (count < LEAST_FILES || share < Math.max(REWRITTEN_SHARE, Math.min(usual * ABOVE_USUAL, NEARLY_ALL)))
    return null;
  const { bytesNew, bytesStored, newExtensions = {}, source } = facts;
  const isDense = bytesNew >= LEAST_BYTES && bytesStored >= bytesNew * DENSE;
  const [extension, renamed] = Object.entries(newExtensions).toSorted((a, b) => b[1] - a[1])[0] ?? ['', 0];
  const isRenamed = renamed >= LEAST_FILES && renamed >= before * REWRITTEN_SHARE;
  if (!isDense && !isRenamed) return null;
  return makeAlarm(
    facts,
    'rewritten',
    { files_before: before, rewritten: count, ...(isRenamed ? { extension, renamed } : {}) },
    [
      `${grouped(count)} of ${counted(before)} in ${source} were rewritten at once` +
        (isRenamed
          ? `, ${grouped(renamed)} of them with the new extension ${extension}.`
          : ' with what looks encrypted.'),
      ...afterRewriting(facts),
    ],
  );
}

function afterRewriting({ before, source }: RunFacts): readonly string[] {
  return [
    'This is what ransomware does. Older snapshots are kept. Look at some of the files. If they are ' +
      'fine, acknowledge this alarm.',
    `If they are not, restore the earlier versions elsewhere ${wayBack(before, source, 'beside')}.`,
  ];
}

/** Files of a folder, or many anywhere, could be read before and look encrypted now. */
function spoiled(facts: RunFacts, before: number): Alarm | null {
  const found = facts.damage === undefined ? null : encryptedIn(facts.damage, before);
  if (found === null) return null;
  const { files, filesBefore } = found;
  return makeAlarm(facts, 'rewritten', { files_before: filesBefore, rewritten: files, ...named(found) }, [
    `${grouped(files)} of ${counted(filesBefore)} in ${placeOf(found, facts)} were rewritten at once: they could be read before, and now look encrypted.`,
    ...afterRewriting(facts),
  ]);
}

/** Most files of a folder directly in the source are gone, and have not been moved to another one. */
function lostFolder(facts: RunFacts): Alarm | null {
  const found = facts.damage === undefined ? null : lostIn(facts.damage);
  if (found === null) return null;
  const { files: gone, filesBefore } = found;
  const figures = { files_before: filesBefore, files: filesBefore - gone, ...named(found) };
  const alarm = makeAlarm(facts, 'shrunk', figures, [
    `${grouped(gone)} of ${counted(filesBefore)} disappeared from ${placeOf(found, facts)}: ${percent(gone / filesBefore)} are gone.`,
    ...afterLoss(facts.before, facts.source),
  ]);
  return { ...alarm, since: { files: facts.files, at: facts.made ?? null } };
}

function named({ path }: DamagedFolder): Readonly<Record<string, string>> {
  return path === '' ? {} : { folder: path };
}

function placeOf({ path }: DamagedFolder, { source }: RunFacts): string {
  return path === '' ? source : `the folder ${path} of ${source}`;
}

function burst(facts: RunFacts, before: number, runs: UsualRuns): Alarm | null {
  const touched = touchedFiles(facts, before);
  const usual = Math.max(0, ...runs.map((run) => run.touched));
  // Without a history nothing is known to be unusual.
  if (runs.length === 0 || touched < BURST_FILES) return null;
  if (touched < before * BURST_SHARE || touched < usual * ABOVE_USUAL) return null;
  return makeAlarm(facts, 'burst', { files_before: before, touched, usual }, [
    `${counted(touched)} in ${facts.source} were added, changed or deleted at once. The most so far was ${grouped(usual)}.`,
    'Older snapshots are kept. If this was intended, acknowledge this alarm.',
    `If not, restore the files elsewhere ${wayBack(facts.before, facts.source, 'beside')}.`,
  ]);
}

type FileCounts = Pick<RunFacts, 'files' | 'filesNew' | 'filesChanged'>;

function goneFiles({ files, filesNew }: FileCounts, before: number): number {
  return Math.max(0, before - (files - filesNew));
}

/** Files that were changed in place or under another name. */
function rewrittenFiles(facts: FileCounts, before: number): number {
  return facts.filesChanged + Math.min(facts.filesNew, goneFiles(facts, before));
}

function touchedFiles(facts: FileCounts, before: number): number {
  return facts.filesChanged + facts.filesNew + goneFiles(facts, before);
}

function makeAlarm(
  { source, at, before = null }: Pick<RunFacts, 'source' | 'at' | 'before'>,
  kind: AlarmKind,
  facts: Alarm['facts'],
  sentences: readonly string[],
): Alarm {
  const place = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return { id: `alm_${kind}_${at}_${place}`, kind, source, at, text: sentences.join(' '), facts, before };
}

function unlessOpen(alarm: Alarm, open: readonly Alarm[]): Alarm | null {
  return open.some(({ kind, source }) => kind === alarm.kind && source === alarm.source) ? null : alarm;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function counted(files: number): string {
  return files === 1 ? '1 file' : `${grouped(files)} files`;
}

/** `2,676`. */
function grouped(count: number): string {
  return count.toLocaleString('en-US');
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
