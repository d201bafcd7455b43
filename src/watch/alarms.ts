/**
 * Whether what happened to a source looks like damage: it is suddenly empty, unreadable or left out by rules, most of it is
 * gone, or most was rewritten with what looks encrypted. While an alarm is not acknowledged, no older snapshot of the source
 * is forgotten.
 * Pure: the caller keeps alarms and history.
 */
import { createHash } from 'node:crypto';
import { wayBack, type SnapshotPlace } from './way-back.ts';

/** `claimed`: a write-only key stored a backup in the name of a machine for which others store too. */
export type AlarmKind = 'empty' | 'unreadable' | 'left_out' | 'shrunk' | 'rewritten' | 'burst' | 'claimed';

export interface Alarm {
  readonly id: string;
  readonly kind: AlarmKind;
  /** Path of the source; of `claimed` the name of the machine. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What happened and what to do, for people. */
  readonly text: string;
  readonly facts: Readonly<Record<string, number | string>>;
  /** The last snapshot from before what happened, of `claimed` the one that bears the name; null, or left out by older versions, where it is not known. */
  readonly before?: SnapshotPlace | null;
  /** Of lost files: the most that the source had again since. */
  readonly since?: Held;
}

/** How many files a source had, and the newest snapshot with so many. */
export interface Held {
  readonly files: number;
  readonly at: SnapshotPlace | null;
}

/** What a backup found, from its snapshot's counts. */
export interface RunFacts {
  readonly source: string;
  readonly at: number;
  /** Files in the snapshot that it was compared with; null without one. */
  readonly filesBefore: number | null;
  readonly files: number;
  /** The snapshot that it was compared with, and the one that was made; left out where that is not known. */
  readonly before?: SnapshotPlace | null;
  readonly made?: SnapshotPlace | null;
  /** Entries that could not be read; left out: none. */
  readonly unread?: number;
  /** The exclude rules left out all that is in the source; left out: they did not. */
  readonly leftOut?: boolean;
  /** Not in the earlier snapshot under that name. */
  readonly filesNew: number;
  readonly filesChanged: number;
  /** Content that the repository did not have yet. */
  readonly bytesNew: number;
  /** What it was compressed to. */
  readonly bytesStored: number;
  /** Of the new files, those whose extension no file had before, by extension, where that is known. */
  readonly newExtensions?: Readonly<Record<string, number>>;
}

/** Runs of about an hour taken together: what is spread over many small backups is seen as one. */
type RunWindow = Pick<
  RunFacts,
  'at' | 'filesNew' | 'filesChanged' | 'bytesNew' | 'bytesStored' | 'newExtensions'
> & {
  readonly filesBefore: number;
  readonly files: number;
  /** Compared with when the window began. */
  readonly before?: SnapshotPlace | null;
  /** The most files that there were before or in one of its runs. Windows of older versions have none. */
  readonly most?: Held;
};

/** What was usual for a source: one entry for each window, the newest last; and the window that is not over yet. */
export interface SourceHistory {
  readonly runs: readonly { readonly rewrittenShare: number; readonly touched: number }[];
  readonly window: RunWindow | null;
}

export const NO_HISTORY: SourceHistory = { runs: [], window: null };

/** Snapshots of this source from before this time must stay. */
export interface Freeze {
  /** Path, as the settings name it. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly before: number;
}

const RUNS_KEPT = 30;
/** Milliseconds from the first run of a window on. */
const WINDOW_MS = 3_600_000;
/** Fewer files may come and go as they like. */
const LEAST_FILES = 100;
const SHRUNK_SHARE = 0.5;
const REWRITTEN_SHARE = 0.2;
/** How many times what was usual. */
const ABOVE_USUAL = 5;
/** Above this nothing is usual. */
const NEARLY_ALL = 0.9;
/** Compressed size by size: encrypted content, and what was compressed before, does not shrink. */
const DENSE = 0.95;
/** Of the files from before a loss: with so many the source is whole again, for some are not worth bringing back. */
const MENDED_SHARE = 0.98;
/** Too little content to tell. */
const LEAST_BYTES = 1_048_576;
const BURST_FILES = 10_000;
const BURST_SHARE = 0.5;

/**
 * For a source that is empty, or not there at all, where there were files before: the engine has refused to back it up,
 * since in most cases a disk is not mounted. Null while an alarm says so already.
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
    `${source} ${isThere ? 'is empty' : 'is not there any more'}, and had ${counted(filesBefore)} at its last backup.`,
    'No backup was made, and older snapshots are kept. If it is a disk or a share, mount it; if it is meant to be ' +
      'empty, acknowledge this alarm.',
    `If the files were deleted, put them back ${wayBack(before, source, 'in-place')}.`,
  ]);
  return unlessOpen(alarm, open);
}

/**
 * Alarms for a backup that was made; those of a kind that is open for the source already are not raised again, but for files
 * that disappeared from what was left, or had been brought back, since.
 */
export function judgeRun(run: RunFacts, history: SourceHistory, open: readonly Alarm[]): readonly Alarm[] {
  const closed = unreadable(run) ?? leftOut(run);
  // That its files are gone as well would say the same thing twice.
  if (closed !== null) return [unlessOpen(closed, open)].filter((one) => one !== null);
  const { runs, window } = withoutOldWindow(history, run.at);
  const facts = window === null ? run : { ...run, ...joined(window, run) };
  const { filesBefore } = facts;
  if (filesBefore === null || filesBefore < LEAST_FILES) return [];
  const losses = open.filter((alarm) => isLoss(alarm) && alarm.source === run.source);
  const earlier = losses.findLast(({ kind }) => kind === 'shrunk');
  const held = earlier === undefined ? mostOf(facts, filesBefore) : sinceOf(earlier);
  const loss = held.files < LEAST_FILES ? null : shrunk(facts, held);
  const others = withoutTold(facts, filesBefore, loss === null ? losses : [...losses, loss]);
  const found = rewritten(facts, filesBefore, runs) ?? burst(others, filesBefore, runs);
  return [loss, found === null ? null : unlessOpen(found, open)].filter((one) => one !== null);
}

/** The alarms as they are after a backup that was made: those that say that files are gone end once the files are back. */
export function afterRun(
  run: RunFacts,
  open: readonly Alarm[],
): { readonly open: readonly Alarm[]; readonly mended: readonly Alarm[] } {
  const isMended = (alarm: Alarm): boolean => {
    const before = alarm.facts['files_before'];
    if (!isLoss(alarm) || alarm.source !== run.source || typeof before !== 'number') return false;
    if (run.leftOut === true) return false;
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

/** The history with a run more. */
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

/** The history after an alarm: what led to it is not usual, and is not counted once more. */
export function afterAlarm({ runs }: SourceHistory): SourceHistory {
  return { runs, window: null };
}

/** What must stay: for each source, everything from before the newest alarm that waits to be acknowledged. */
export function freezesOf(open: readonly Alarm[]): readonly Freeze[] {
  const newest = new Map<string, number>();
  for (const { source, at } of open) newest.set(source, Math.max(at, newest.get(source) ?? at));
  return [...newest].map(([source, before]) => ({ source, before }));
}

/** A window that is over becomes a part of what is usual. So does one from the future, which a wrong clock began. */
function withoutOldWindow(history: SourceHistory, at: number): SourceHistory {
  const { runs, window } = history;
  if (window === null || (at >= window.at && at - window.at < WINDOW_MS)) return history;
  const usual = {
    rewrittenShare: rewrittenFiles(window, window.filesBefore) / window.filesBefore,
    touched: touchedFiles(window, window.filesBefore),
  };
  return { runs: [...runs, usual].slice(-RUNS_KEPT), window: null };
}

/** Compared with what there was when the window began. */
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

/** However few there were: not one of them is in the backup, which looks like a good one. */
function unreadable({ filesBefore, files, unread = 0, ...facts }: RunFacts): Alarm | null {
  if (filesBefore === null || filesBefore === 0 || files > 0 || unread === 0) return null;
  const { source } = facts;
  return makeAlarm(facts, 'unreadable', { files_before: filesBefore, unread }, [
    `${source} had ${counted(filesBefore)}, and the last backup could read none of them.`,
    'Older snapshots are kept. The job says what could not be read: see that the agent may read it. This alarm ends by ' +
      'itself once a backup has read the files again.',
  ]);
}

/** However few there were: a file that says so, or a pattern, came since, and whoever made it may not have meant this. */
function leftOut({ filesBefore, files, leftOut: isLeftOut = false, ...facts }: RunFacts): Alarm | null {
  if (!isLeftOut || filesBefore === null || files >= filesBefore) return null;
  const { source } = facts;
  return makeAlarm(facts, 'left_out', { files_before: filesBefore, files }, [
    `${source} had ${counted(filesBefore)}, and the exclude rules leave out all there is since the last backup.`,
    'Older snapshots are kept. The job says which rule it is: a pattern, or a file in the source that marks it as not to ' +
      'be backed up. Take it back, and this alarm ends with the next backup.',
  ]);
}

function shrunk(facts: RunFacts, { files: before, at }: Held): Alarm | null {
  const { files, source } = facts;
  if (files >= before * (1 - SHRUNK_SHARE)) return null;
  const since: Held = { files, at: facts.made ?? null };
  const alarm = makeAlarm({ ...facts, before: at }, 'shrunk', { files_before: before, files }, [
    `${grouped(before - files)} of ${counted(before)} disappeared from ${source}: ${percent(1 - files / before)} are gone.`,
    `Older snapshots are kept. Put back what is missing ${wayBack(at, source, 'in-place')}: this alarm then ends with the ` +
      'next backup. Acknowledge it if that is meant to be.',
  ]);
  return { ...alarm, since };
}

/** It says that files are gone: they may come back. */
function isLoss({ kind }: Alarm): boolean {
  return kind === 'shrunk' || kind === 'empty' || kind === 'unreadable' || kind === 'left_out';
}

/** What there was at most since an alarm; what it found, to begin with. */
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

/** What goes in a loss that is told, and what somebody brings back of it, is no burst of changes. */
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

/** Many files changed, or vanished while as many others came, and their content no longer compresses. */
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
      'This is what ransomware does. Older snapshots are kept. Look at some of the files; acknowledge this alarm if ' +
        'they are as they should be.',
      `If they are not, restore them elsewhere ${wayBack(facts.before, source, 'beside')}.`,
    ],
  );
}

function burst(facts: RunFacts, before: number, runs: UsualRuns): Alarm | null {
  const touched = touchedFiles(facts, before);
  const usual = Math.max(0, ...runs.map((run) => run.touched));
  // Without a history nothing is unusual yet.
  if (runs.length === 0 || touched < BURST_FILES) return null;
  if (touched < before * BURST_SHARE || touched < usual * ABOVE_USUAL) return null;
  return makeAlarm(facts, 'burst', { files_before: before, touched, usual }, [
    `${counted(touched)} in ${facts.source} came, changed or went at once; ${grouped(usual)} is the most so far.`,
    'Older snapshots are kept. Acknowledge this alarm if that is meant to be.',
    `If it is not, restore the files elsewhere ${wayBack(facts.before, facts.source, 'beside')}.`,
  ]);
}

type FileCounts = Pick<RunFacts, 'files' | 'filesNew' | 'filesChanged'>;

function goneFiles({ files, filesNew }: FileCounts, before: number): number {
  return Math.max(0, before - (files - filesNew));
}

/** Changed in place, or under another name. */
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
