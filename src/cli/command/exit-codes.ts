/** How a command ends: the exit code for scripts, and one clear message for the person. */
import { causeText, placedCauseText } from '../../base/errno-words.ts';
import { errnoOf, isAbort } from '../../base/errors.ts';
import { holdfastThere } from '../../base/holdfast-command.ts';
import { printable } from '../terminal/terminal.ts';
import type { Environment } from '../terminal/terminal.ts';

export const EXIT = {
  ok: 0,
  failed: 1,
  usage: 2,
  /** Finished, but some files could not be read. */
  partial: 3,
  noRepository: 10,
  locked: 11,
  wrongPassphrase: 12,
  /** As shells report a program ended by SIGHUP: 128 + 1. */
  hungUp: 129,
  /** As shells report a program ended by SIGINT: 128 + 2. */
  interrupted: 130,
} as const;

const exitCodes: ReadonlyMap<string, number> = new Map([
  ['NO_REPOSITORY', EXIT.noRepository],
  ['REPOSITORY_LOCKED', EXIT.locked],
  ['TARGET_IN_USE', EXIT.locked],
  ['WRONG_PASSPHRASE', EXIT.wrongPassphrase],
]);

const helpCodes: ReadonlySet<string> = new Set(['commander.helpDisplayed', 'commander.version']);

/** The exit code for an error. Decided by its code and side, as an error that was sent from another thread has lost its class. */
export function exitCodeOf(error: unknown): number {
  if (isAbort(error)) return EXIT.interrupted;
  if (textField(error, 'side') === 'request') return EXIT.usage;
  const code = textField(error, 'code');
  // What the option parser throws; asking for help or the version is no mistake.
  if (code.startsWith('commander.')) return helpCodes.has(code) ? EXIT.ok : EXIT.usage;
  return exitCodes.get(code) ?? EXIT.failed;
}

/** How many nested causes are shown. Deeper ones are detail for HOLDFAST_DEBUG. */
const MOST_CAUSES = 3;
const DEFECT_HINT =
  'This is a bug in Holdfast. Please run the command again with HOLDFAST_DEBUG=1 and report the output.';

/**
 * Describes an error: what happened, why (if that adds something), and what to do, each on its own line. Everything is
 * printable. The stack follows only when HOLDFAST_DEBUG is set (to anything but 0).
 */
export function describeError(error: unknown, env: Environment = process.env): string {
  const debug = !['', '0'].includes(env['HOLDFAST_DEBUG'] ?? '');
  const lines = isAbort(error) ? ['Interrupted'] : explain(error);
  return [...lines.map(printable), ...(debug ? stackLines(error) : [])].join('\n');
}

/** Errors that are shown without their cause: the message says it all, and what the system said would only alarm. */
const PLAIN_CODES: ReadonlySet<string> = new Set(['NO_AGENT', 'NO_LOG']);

function explain(error: unknown): readonly string[] {
  const side = textField(error, 'side');
  const message = messageOf(error);
  const expected = side === '' ? /^E[A-Z0-9]+$|^commander\./.test(textField(error, 'code')) : side !== 'bug';
  const said = [expected ? message : `Unexpected error: ${message}`];
  const causes = PLAIN_CODES.has(textField(error, 'code')) ? [] : causesOf(error).filter(isForPeople);
  for (const cause of causes.slice(0, MOST_CAUSES)) {
    if (!said.some((line) => repeats(line, cause))) said.push(messageOf(cause));
  }
  const [what = '', ...why] = said;
  const hint = hintOf(error) || (expected ? '' : DEFECT_HINT);
  return [what, ...why.map((text) => `  because: ${text}`), ...(hint === '' ? [] : [hint])];
}

/** What to do next. Damage that was met in passing has no hint of its own: a check finds the rest of it. */
export function hintOf(error: unknown): string {
  const own = textField(error, 'hint');
  const isDamage = textField(error, 'side') === 'repository' && textField(error, 'code') === 'CORRUPT_DATA';
  return own === '' && isDamage ? damageHint() : own;
}

export function damageHint(): string {
  return `To find out what is damaged, and how to fix it: ${holdfastThere`check --read-data`}`;
}

/** Whether a line already says what the cause does: the same words, or the code of the system that it only spells out. */
function repeats(line: string, cause: unknown): boolean {
  const code = errnoOf(cause) ?? '';
  return (
    line.toLowerCase().includes(messageOf(cause).toLowerCase()) || (code !== '' && line.includes(`(${code})`))
  );
}

/** True for errors of this program and of system calls. The wording of libraries is not shown. */
function isForPeople(cause: unknown): boolean {
  if (textField(cause, 'side') !== '') return true;
  if (cause instanceof AggregateError) return cause.errors.every(isForPeople);
  // What the system says has its name in it: "read ECONNRESET". Node.js calls the same "socket hang up".
  const errno = errnoOf(cause) ?? '';
  return /^E[A-Z0-9]+$/.test(errno) && textField(cause, 'message').includes(errno);
}

/**
 * An Error without a message, such as that of a failed connection to several addresses, is described by its parts or
 * its code.
 */
function messageOf(error: unknown): string {
  if (typeof error === 'string') return error;
  const message = textField(error, 'message');
  if (message !== '') return error instanceof Error ? placedCauseText(error) : message;
  if (!(error instanceof Error)) return `a thrown ${typeof error}`;
  const parts = error instanceof AggregateError ? error.errors.map(messageOf) : [];
  return [...new Set(parts)].join('; ') || (errnoOf(error) === undefined ? error.name : causeText(error));
}

function causesOf(error: unknown): readonly unknown[] {
  const causes: unknown[] = [];
  let cause = error instanceof Error ? error.cause : undefined;
  while (cause instanceof Error && cause !== error && !causes.includes(cause)) {
    causes.push(cause);
    cause = cause.cause;
  }
  return causes;
}

function stackLines(error: unknown): readonly string[] {
  return [error, ...causesOf(error)].flatMap((one, depth) => {
    if (!(one instanceof Error)) return [];
    const [first = '', ...frames] = (one.stack ?? `${one.name}: ${one.message}`).split('\n').map(printable);
    return [depth === 0 ? first : `caused by ${first}`, ...frames];
  });
}

function textField(value: unknown, field: 'code' | 'hint' | 'message' | 'side'): string {
  if (typeof value !== 'object' || value === null || !(field in value)) return '';
  const content: unknown = Reflect.get(value, field);
  return typeof content === 'string' ? content : '';
}
