import { createHash, randomBytes } from 'node:crypto';
import { isAlive } from '../../base/alive.ts';
import { asByteString, type ByteString } from '../../base/byte-path.ts';
import { processStart } from '../../system/process-identity.ts';

/**
 * Temporary names: `.holdfast-<process>-<its start>-<random>-<check>-<number>`. By process and start a later restore
 * recognises what will not be completed any more; the start is needed as process ids are reused. The check is a digest
 * of what precedes it, so that no name given by someone else looks like one.
 *
 * A name with a suffix is that of a mark, an empty file: `-o<digest of a name>` says that the entry of that name is
 * unfinished, `-m<octal>` that the directory it lies in had these permissions.
 */
const PATTERN =
  /^\.holdfast-((\d{1,10})-(\d{1,20})-[0-9a-f]{12})-([0-9a-f]{12})-\d{1,10}(?:-(?:o([0-9a-f]{16})|m([0-7]{1,4})))?$/;
/** Used instead of the start where the system does not tell it. */
const UNKNOWN = '0';

/** Runs of this process that have ended: what they left is abandoned. */
const ended = new Set<string>();

/** The part that all temporary names of this run share. */
export function newRun(): string {
  return runOf(`${process.pid}-${processStart(process.pid) ?? UNKNOWN}-${randomBytes(6).toString('hex')}`);
}

/** @param owner process id, its start and 12 hexadecimal digits, joined by `-` */
export function runOf(owner: string): string {
  return `${owner}-${checkOf(owner)}`;
}

export function endRun(run: string): void {
  ended.add(run);
}

export function temporaryName(run: string, serial: number): ByteString {
  return asByteString(`.holdfast-${run}-${serial}`);
}

/** The name of a mark that says that the entry of this name is unfinished. */
export function unfinishedMark(run: string, serial: number, name: ByteString): ByteString {
  return asByteString(`${temporaryName(run, serial)}-o${digestOf(name)}`);
}

/** The name of a mark that says which permissions a directory had before a restore made it writable. */
export function modeMark(run: string, serial: number, mode: number): ByteString {
  return asByteString(`${temporaryName(run, serial)}-m${mode.toString(8)}`);
}

export function isOfRun(name: string, run: string): boolean {
  return name.startsWith(`.holdfast-${run}-`);
}

export function isTemporary(name: string): boolean {
  return parsed(name) !== undefined;
}

/** Whether it is the name of the file by which a run holds its target. Entries are numbered from 1. */
export function isHold(name: string): boolean {
  return name.endsWith('-0') && isTemporary(name);
}

/** The id of the process that a temporary name names. */
export function processOf(name: string): string {
  return parsed(name)?.owner ?? '?';
}

/** The content of a mark's name; undefined for every other name. */
export function markOf(
  name: string,
): { readonly unfinished: string } | { readonly mode: number } | undefined {
  const { entry, mode } = parsed(name) ?? {};
  if (entry !== undefined) return { unfinished: entry };
  return mode === undefined ? undefined : { mode: Number.parseInt(mode, 8) };
}

/** The digest of a name as marks contain it. */
export function digestOf(name: ByteString): string {
  return createHash('sha256').update(name, 'latin1').digest('hex').slice(0, 16);
}

/** True for a temporary name whose run has ended. */
export function isAbandoned(name: string): boolean {
  const { run, owner = '', start = UNKNOWN } = parsed(name) ?? {};
  const pid = Number(owner);
  if (run === undefined || !(pid > 0)) return false;
  if (ended.has(run)) return true;
  const now = processStart(pid);
  if (now !== undefined && start !== UNKNOWN && now !== start) return true;
  return pid !== process.pid && !isAlive(pid);
}

interface Parsed {
  readonly run: string;
  readonly owner: string;
  readonly start: string;
  readonly entry: string | undefined;
  readonly mode: string | undefined;
}

function parsed(name: string): Parsed | undefined {
  const [, run, owner, start, check, entry, mode] = PATTERN.exec(name) ?? [];
  if (run === undefined || owner === undefined || start === undefined || checkOf(run) !== check)
    return undefined;
  return { run: runOf(run), owner, start, entry, mode };
}

function checkOf(run: string): string {
  return createHash('sha256').update(`temporary names of ${run}`).digest('hex').slice(0, 12);
}
