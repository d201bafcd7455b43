/**
 * Progress of long work: redrawn lines on a terminal, a plain line now and then in a log, or NDJSON for programs. The
 * rate falls while nothing happens, and a remaining time is shown only when there is a basis for it.
 */
import { formatBytes, formatDuration } from '../../base/units.ts';
import { createEstimate } from '../../base/progress-estimate.ts';
import type { Estimate } from '../../base/progress-estimate.ts';
import { waitedText, type OthersWait } from '../../base/waits.ts';
import {
  createStyles,
  jsonLine,
  printable,
  terminalWidth,
  textWidth,
  truncateEnd,
  truncateMiddle,
} from './terminal.ts';
import type { OutputStream, Style } from './terminal.ts';
import { thousands } from './wording.ts';

export interface ProgressCounters {
  /** What is being done now: `scanning`, `uploading`. A new phase starts its own rate. */
  readonly phase: string;
  readonly filesDone: number;
  /** Null while unknown. */
  readonly filesTotal: number | null;
  readonly bytesDone: number;
  /** Null while unknown. */
  readonly bytesTotal: number | null;
  /** Bytes that were new to the repository, as stored. */
  readonly bytesStored?: number | undefined;
  readonly errors: number;
  /** As text; it is made printable here. */
  readonly currentPath?: string | undefined;
}

export interface Progress {
  /** Cheap enough to be called for every file and chunk. */
  update(counters: ProgressCounters): void;
  /** A line for the person, above the progress; as `{type:"note"}` in JSON. Notes are shown in every mode. */
  note(text: string): void;
  /** Clears what is drawn, so that something else can be written; the next update draws it again. */
  clear(): void;
  /** Clears what is drawn and stops. Later calls do nothing, except that notes are still shown. */
  finish(): void;
}

/** `none` is for --quiet. */
export type ProgressMode = 'terminal' | 'plain' | 'json' | 'none';

export interface ProgressOptions {
  readonly stream: OutputStream;
  readonly mode: ProgressMode;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** What the command does, for people: `Backing up`. */
  readonly verb: string;
  /** Default false. */
  readonly color?: boolean;
  /** Calls `tick` every so many milliseconds until the returned function is called. Default: a timer that holds no process open. */
  readonly every?: (ms: number, tick: () => void) => () => void;
  /** What the command waits for while others, such as the store, hold it up. */
  readonly waiting?: () => OthersWait | undefined;
  /** What takes long although nobody holds it up, in words. Shown on a terminal alone. */
  readonly slow?: () => string | undefined;
}

const TIMING = Object.freeze({
  /** 10 redraws a second look steady and cost nothing. */
  redrawMs: 100,
  /** Without news the rate and the time left still change. */
  idleRedrawMs: 250,
  /** A log of a night's work stays readable. */
  plainMs: 30_000,
  plainTickMs: 1000,
  /** At most two objects a second. */
  jsonMs: 500,
  /** Between two reports of a wait, in a log and for programs. */
  waitMs: 10_000,
});

const NOT_BEGUN: ProgressCounters = {
  phase: '',
  filesDone: 0,
  filesTotal: null,
  bytesDone: 0,
  bytesTotal: null,
  errors: 0,
};

export function createProgress(options: ProgressOptions): Progress {
  const { mode, stream } = options;
  if (mode === 'terminal') return terminalProgress(options);
  if (mode === 'plain') return plainProgress(options);
  if (mode === 'json') return jsonProgress(options);
  return { update: () => {}, note: (text) => writeNote(stream, text), clear: () => {}, finish: () => {} };
}

// ---- Terminal -------------------------------------------------------------------------------------------------

const CLEAR_LINE_END = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';
const LINE_UP = '\u001b[1A';

/**
 * The cursor rests at the start of the first drawn line: however the terminal reflows lines when its width changes,
 * all that was drawn lies behind the cursor and is cleared from there.
 */
function terminalProgress({
  stream,
  now,
  verb,
  color = false,
  every = unrefTimer,
  waiting = () => undefined,
  slow = () => undefined,
}: ProgressOptions): Progress {
  const { bold, dim, yellow } = createStyles(color);
  const estimate = createEstimate();
  let counters: ProgressCounters | undefined;
  let drawn = '';
  let drawnAt = -Infinity;
  let finished = false;

  const draw = () => {
    const time = now();
    if (finished || time - drawnAt < TIMING.redrawMs) return;
    const wait = waiting();
    const waits = wait === undefined ? slow() : waitedText(wait);
    if (counters === undefined && waits === undefined) return;
    const shown = counters ?? NOT_BEGUN;
    estimate.observe(time, shown);
    // The last column stays free: a full line would leave the cursor waiting to wrap.
    const room = (terminalWidth(stream) ?? 0) - 1;
    const parts = lineParts(verb, shown, estimate, { label: bold, warning: yellow });
    const lines = [fitParts(parts, room)];
    const path = shown.currentPath ?? '';
    if (waits !== undefined) lines.push(yellow(truncateEnd(`  ${printable(waits)}`, room)));
    else if ((stream.rows ?? Infinity) > 2)
      lines.push(path === '' ? '' : dim(truncateMiddle(`  ${printable(path)}`, room)));
    const content = `${lines.join(`${CLEAR_LINE_END}\n`)}${CLEAR_BELOW}\r${LINE_UP.repeat(lines.length - 1)}`;
    if (content === drawn) return;
    stream.write(content);
    drawn = content;
    drawnAt = time;
  };
  const clear = () => {
    if (drawn !== '') stream.write(`\r${CLEAR_BELOW}`);
    drawn = '';
  };
  const resized = () => {
    clear();
    draw();
  };
  const stop = every(TIMING.idleRedrawMs, draw);
  stream.on?.('resize', resized);

  return {
    update(next) {
      counters = next;
      draw();
    },
    note(text) {
      clear();
      writeNote(stream, text);
    },
    clear,
    finish() {
      if (finished) return;
      finished = true;
      stop();
      stream.off?.('resize', resized);
      clear();
    },
  };
}

// ---- Plain lines and JSON -------------------------------------------------------------------------------------

function plainProgress(options: ProgressOptions): Progress {
  const { stream, verb } = options;
  const tell = (wait: OthersWait): void => writeNote(stream, `${verb}: ${waitedText(wait)}`);
  return sampledProgress(options, TIMING.plainTickMs, tell, (estimate, startedAt) => {
    let writtenAt = startedAt;
    return (time, counters) => {
      if (time - writtenAt < TIMING.plainMs) return;
      writtenAt = time;
      const parts = lineParts(verb, counters, estimate, {}).filter((part) => part.kind !== 'bar');
      stream.write(`${parts.map((part) => part.text.trim()).join('  ')}\n`);
    };
  });
}

function jsonProgress(options: ProgressOptions): Progress {
  const { stream } = options;
  const tell = (wait: OthersWait): void => void stream.write(jsonLine(waitObject(wait)));
  const progress = sampledProgress(options, TIMING.jsonMs, tell, (estimate) => {
    let writtenAt = -Infinity;
    let written: ProgressCounters | undefined;
    return (time, counters) => {
      if (counters === written || time - writtenAt < TIMING.jsonMs) return;
      writtenAt = time;
      written = counters;
      stream.write(jsonLine(jsonProgressObject(counters, estimate)));
    };
  });
  return { ...progress, note: (text) => stream.write(jsonLine({ type: 'note', text })) };
}

/**
 * The part that the modes without a cursor share: at every update and tick, the newest counters go to `report` and
 * waits to `tell`.
 */
function sampledProgress(
  { stream, now, every = unrefTimer, waiting = () => undefined }: ProgressOptions,
  tickMs: number,
  tell: (wait: OthersWait) => void,
  createReport: (estimate: Estimate, startedAt: number) => (time: number, counters: ProgressCounters) => void,
): Progress {
  const estimate = createEstimate();
  const report = createReport(estimate, now());
  let counters: ProgressCounters | undefined;
  let finished = false;
  let toldAt = -Infinity;
  const sample = () => {
    if (finished) return;
    const time = now();
    const wait = time - toldAt < TIMING.waitMs ? undefined : waiting();
    if (wait !== undefined) {
      toldAt = time;
      tell(wait);
    }
    if (counters === undefined) return;
    estimate.observe(time, counters);
    report(time, counters);
  };
  const stop = every(tickMs, sample);
  return {
    update(next) {
      counters = next;
      sample();
    },
    note: (text) => writeNote(stream, text),
    clear: () => {},
    finish() {
      if (!finished) stop();
      finished = true;
    },
  };
}

/** A wait as a JSON object. Also used by commands that show no progress. */
function waitObject(wait: OthersWait): object {
  const { because, again_in_seconds: again } =
    wait.code === 'asked_again' ? wait.params : { because: null, again_in_seconds: null };
  return { type: 'waiting', text: waitedText(wait), reason: because, again_in_seconds: again };
}

function jsonProgressObject(counters: ProgressCounters, estimate: Estimate): object {
  const eta = estimate.etaMs();
  const rate = estimate.bytesPerSecond();
  return {
    type: 'progress',
    phase: counters.phase,
    percent: percentOf(counters),
    files_done: counters.filesDone,
    files_total: counters.filesTotal,
    bytes_done: counters.bytesDone,
    bytes_total: counters.bytesTotal,
    bytes_stored: counters.bytesStored ?? null,
    errors: counters.errors,
    rate_bytes_per_second: rate === null ? null : Math.round(rate),
    eta_seconds: eta === null ? null : Math.round(eta / 1000),
    current_path: counters.currentPath ?? null,
  };
}

function writeNote(stream: OutputStream, text: string): void {
  stream.write(`${printable(text)}\n`);
}

function unrefTimer(ms: number, tick: () => void): () => void {
  const timer = setInterval(tick, ms);
  timer.unref();
  return () => clearInterval(timer);
}

// ---- One line -------------------------------------------------------------------------------------------------

interface LinePart {
  readonly kind: keyof typeof importance;
  readonly text: string;
  readonly style: Style;
}

/** Parts with the highest number are left out first on a narrow terminal. */
const importance = {
  label: 0,
  percent: 1,
  bytes: 2,
  errors: 3,
  eta: 4,
  rate: 5,
  files: 6,
  stored: 7,
  bar: 8,
};

function lineParts(
  verb: string,
  counters: ProgressCounters,
  estimate: Estimate,
  styles: { readonly label?: Style; readonly warning?: Style },
): readonly LinePart[] {
  const { phase, filesDone, filesTotal, bytesDone, bytesTotal, bytesStored, errors } = counters;
  const percent = percentOf(counters);
  const rate = estimate.bytesPerSecond();
  const eta = estimate.etaMs();
  const parts: LinePart[] = [];
  const add = (kind: LinePart['kind'], text: string, style: Style = (plain) => plain) => {
    parts.push({ kind, text, style });
  };

  add('label', printable(phase === '' ? verb : `${verb}: ${phase}`), styles.label);
  if (percent !== null) {
    add('bar', `[${'#'.repeat(Math.floor(percent / 5)).padEnd(20, '.')}]`);
    add('percent', `${percent}%`.padStart(4));
  }
  add('bytes', ofTotal(formatBytes(bytesDone), bytesTotal === null ? '' : formatBytes(bytesTotal)));
  add('files', `${ofTotal(thousands(filesDone), filesTotal === null ? '' : thousands(filesTotal))} files`);
  if (bytesStored !== undefined) add('stored', `${formatBytes(bytesStored)} stored`);
  if (rate !== null) add('rate', `${formatBytes(rate)}/s`);
  if (percent === null) add('eta', 'estimating');
  else if (eta !== null) add('eta', `${formatDuration(roundTimeLeft(eta))} left`);
  if (errors > 0) add('errors', errors === 1 ? '1 error' : `${thousands(errors)} errors`, styles.warning);
  return parts;
}

/** Leaves out what is least important until the line fits, and cuts the last part left if it must. */
function fitParts(parts: readonly LinePart[], room: number): string {
  const left = [...parts];
  const width = () => left.reduce((sum, part) => sum + textWidth(part.text) + 2, -2);
  while (left.length > 1 && width() > room) {
    const least = left.reduce((a, b) => (importance[b.kind] > importance[a.kind] ? b : a));
    left.splice(left.indexOf(least), 1);
  }
  return left.map((part) => part.style(truncateEnd(part.text, room))).join('  ');
}

/** By bytes, or by files where there are no bytes to count; 100 only when all is done. Null while unknown. */
function percentOf({ bytesDone, bytesTotal, filesDone, filesTotal }: ProgressCounters): number | null {
  const [done, total] =
    bytesTotal === null || bytesTotal > 0 ? [bytesDone, bytesTotal] : [filesDone, filesTotal];
  if (total === null || total === 0) return null;
  return Math.max(0, Math.min(100, Math.floor((100 * done) / total)));
}

/** Rounds a remaining time, which is a guess: to the second in the last minute, and more coarsely before that. */
function roundTimeLeft(ms: number): number {
  const step = ms < 60_000 ? 1000 : ms < 600_000 ? 5000 : ms < 3_600_000 ? 60_000 : 300_000;
  return Math.max(1000, Math.round(ms / step) * step);
}

function ofTotal(done: string, total: string): string {
  return total === '' ? done : `${done} / ${total}`;
}
