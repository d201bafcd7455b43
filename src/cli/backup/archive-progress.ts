/** A running backup as the person sees it: counters, the path, and what could not be read. */
import type { ArchiveCounters, ArchiveObserver, ArchivePhase } from '../../archiver/report/observer.ts';
import type { ExpectedTotals } from '../../archiver/walk/size-scan.ts';
import { textOfBytes, type ByteString } from '../../base/byte-path.ts';
import { pathText } from '../../base/tree-path.ts';
import type { EntryProblem } from '../../format/records.ts';
import { isKeptByMac } from '../../system/mac-mounts.ts';
import type { Progress } from '../terminal/progress.ts';
import { printable, printablePath } from '../terminal/terminal.ts';

/** Problems shown while the backup runs; all of them are in the snapshot and in --json. */
export const PROBLEMS_SHOWN = 20;

export interface ArchiveWatch {
  readonly observer: ArchiveObserver;
  readonly stop: () => void;
}

/** Milliseconds between two looks at the counters while nothing is reported. */
const LOOK_MS = 200;

export interface WatchParts {
  readonly progress: Progress;
  /** The sources. One that does not exist is reported as a mistake of the user, not as a file that vanished meanwhile. */
  readonly sources: readonly ByteString[];
  /** Undefined until known; asked again at each update. */
  readonly totals: () => ExpectedTotals | undefined;
  /** For programs: every problem as an object. Undefined when people read. */
  readonly onProblem: ((problem: EntryProblem) => void) | undefined;
  /** Takes warnings that must be shown even without progress. By default they are notes of the progress. */
  readonly warn?: ((text: string) => void) | undefined;
  /** Names a phase: as the engine does, or in words for people. */
  readonly phaseName: (phase: ArchivePhase) => string;
}

export function watchArchive({
  progress,
  sources,
  totals,
  onProblem,
  phaseName,
  warn = (text) => progress.note(text),
}: WatchParts): ArchiveWatch {
  let phase: ArchivePhase = 'scanning';
  let counters: ArchiveCounters | undefined;
  let path = '';
  let problems = 0;
  const update = (): void => {
    const files = counters === undefined ? 0 : filesDone(counters);
    const bytes = counters?.bytesDone ?? 0;
    const expected = totals();
    progress.update({
      phase: phaseName(phase),
      filesDone: files,
      filesTotal: expected === undefined ? null : Math.max(expected.files, files),
      bytesDone: bytes,
      bytesTotal: expected === undefined ? null : Math.max(expected.bytes, bytes),
      bytesStored: counters?.bytesUploaded ?? 0,
      errors: problems,
      currentPath: path === '' ? undefined : path,
    });
  };
  let readCounters = (): ArchiveCounters | undefined => counters;
  const timer = setInterval(() => {
    counters = readCounters();
    update();
  }, LOOK_MS);
  timer.unref();
  const observer: ArchiveObserver = {
    live: (read) => {
      readCounters = read;
    },
    phase: (next) => {
      phase = next;
      path = '';
      update();
    },
    directory: (directory, next) => {
      counters = next;
      path = pathText(directory);
      update();
    },
    problem: (problem) => {
      problems += 1;
      if (onProblem !== undefined) onProblem(problem);
      else if (problems <= PROBLEMS_SHOWN) progress.note(problemText(problem, sources));
    },
    note: (text) => progress.note(`Note: ${printable(text)}`),
    ruleProblem: (error) => warn(`Warning: ${printable(error.message)}. ${error.hint}`),
  };
  return { observer, stop: () => clearInterval(timer) };
}

function filesDone({ filesNew, filesChanged, filesUnchanged, filesFailed }: ArchiveCounters): number {
  return filesNew + filesChanged + filesUnchanged + filesFailed;
}

function problemText({ path, code, message }: EntryProblem, sources: readonly ByteString[]): string {
  const shown = printablePath(path);
  const isMissing = sources.some((source) => source === path || source.startsWith(`${path}/`));
  if (code === 'ENOENT' && isMissing) return `Not backed up: ${shown} does not exist`;
  const kept = isKeptByMac(textOfBytes(path), code)
    ? '; on macOS the program needs Full Disk Access to read it'
    : '';
  return `Not fully backed up: ${shown}: ${message.includes(code) ? message : `${message} (${code})`}${kept}`;
}
