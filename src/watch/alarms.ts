/**
 * Whether what happened to a source looks like damage: it is suddenly empty or unreadable, most of it is gone, or most was
 * rewritten with what looks encrypted. While an alarm is not acknowledged, no older snapshot of the source is forgotten.
 * Pure: the caller keeps alarms and history.
 */
import { createHash } from 'node:crypto';

export type AlarmKind = 'empty' | 'unreadable' | 'shrunk' | 'rewritten' | 'burst';

export interface Alarm {
  readonly id: string;
  readonly kind: AlarmKind;
  /** Path of the source. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** What happened and what to do, for people. */
  readonly text: string;
  readonly facts: Readonly<Record<string, number | string>>;
}

/** What a backup found, from its snapshot's counts. */
export interface RunFacts {
  readonly source: string;
  readonly at: number;
  /** Files in the snapshot that it was compared with; null without one. */
  readonly filesBefore: number | null;
  readonly files: number;
  /** Entries that could not be read; left out: none. */
  readonly unread?: number;
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
> & { readonly filesBefore: number; readonly files: number };

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
/** Too little content to tell. */
const LEAST_BYTES = 1_048_576;
const BURST_FILES = 10_000;
const BURST_SHARE = 0.5;

/**
 * For a source that is empty, or not there at all, where there were files before: the engine has refused to back it up,
 * since in most cases a disk is not mounted. Null while an alarm says so already.
 */
export function emptyAlarm(
  facts: Pick<RunFacts, 'source' | 'at'> & { readonly filesBefore: number; readonly isThere: boolean },
  open: readonly Alarm[],
): Alarm | null {
  const { filesBefore, isThere, source } = facts;
  const alarm = makeAlarm(facts, 'empty', { files_before: filesBefore }, [
    `${source} ${isThere ? 'is empty' : 'is not there any more'}, and had ${counted(filesBefore)} at its last backup.`,
    'No backup was made, and older snapshots are kept. If it is a disk or a share, mount it; if it is meant to be ' +
      'empty, acknowledge this alarm.',
  ]);
  return unlessOpen(alarm, open);
}

/** Alarms for a backup that was made; those of a kind that is open for the source already are not raised again. */
export function judgeRun(run: RunFacts, history: SourceHistory, open: readonly Alarm[]): readonly Alarm[] {
  const closed = unreadable(run);
  // That its files are gone as well would say the same thing twice.
  if (closed !== null) return [unlessOpen(closed, open)].filter((one) => one !== null);
  const { runs, window } = withoutOldWindow(history, run.at);
  const facts = window === null ? run : { ...run, ...joined(window, run) };
  const { filesBefore } = facts;
  if (filesBefore === null || filesBefore < LEAST_FILES) return [];
  const found = [
    shrunk(facts, filesBefore),
    rewritten(facts, filesBefore, runs) ?? burst(facts, filesBefore, runs),
  ];
  return found
    .flatMap((alarm) => (alarm === null ? [] : [unlessOpen(alarm, open)]))
    .filter((one) => one !== null);
}

/** The history with a run more. */
export function withRun(history: SourceHistory, run: RunFacts): SourceHistory {
  const { filesBefore } = run;
  const { runs, window } = withoutOldWindow(history, run.at);
  if (window !== null) return { runs, window: { ...joined(window, run), at: window.at } };
  if (filesBefore === null || filesBefore === 0) return { runs, window };
  const { at, files, filesNew, filesChanged, bytesNew, bytesStored, newExtensions = {} } = run;
  return {
    runs,
    window: { at, filesBefore, files, filesNew, filesChanged, bytesNew, bytesStored, newExtensions },
  };
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
    'Older snapshots are kept. The job says what could not be read: see that the agent may read it, then acknowledge this ' +
      'alarm.',
  ]);
}

function shrunk(facts: RunFacts, before: number): Alarm | null {
  const { files, source } = facts;
  if (files >= before * (1 - SHRUNK_SHARE)) return null;
  return makeAlarm(facts, 'shrunk', { files_before: before, files }, [
    `${before - files} of ${counted(before)} disappeared from ${source}: ${percent(1 - files / before)} are gone.`,
    'Older snapshots are kept. Acknowledge this alarm if that is meant to be, or restore what is missing.',
  ]);
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
      `${counted(count)} of ${before} in ${source} were rewritten at once` +
        (isRenamed
          ? `, ${renamed} of them with the new extension ${extension}.`
          : ' with what looks encrypted.'),
      'This is what ransomware does. Older snapshots are kept. Look at some of the files; acknowledge this alarm if ' +
        'they are as they should be.',
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
    `${counted(touched)} in ${facts.source} came, changed or went at once; ${usual} is the most so far.`,
    'Older snapshots are kept. Acknowledge this alarm if that is meant to be.',
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
  { source, at }: Pick<RunFacts, 'source' | 'at'>,
  kind: AlarmKind,
  facts: Alarm['facts'],
  sentences: readonly string[],
): Alarm {
  const place = createHash('sha256').update(source).digest('hex').slice(0, 8);
  return { id: `alm_${kind}_${at}_${place}`, kind, source, at, text: sentences.join(' '), facts };
}

function unlessOpen(alarm: Alarm, open: readonly Alarm[]): Alarm | null {
  return open.some(({ kind, source }) => kind === alarm.kind && source === alarm.source) ? null : alarm;
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((a, b) => a - b)[Math.floor(numbers.length / 2)] ?? 0;
}

function counted(files: number): string {
  return files === 1 ? '1 file' : `${files} files`;
}

function percent(share: number): string {
  return `${Math.floor(share * 100)} %`;
}
