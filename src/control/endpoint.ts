/**
 * Where an agent is reached. A socket of POSIX lies in the private state directory, so whoever can open it may ask, and
 * nobody else can serve one there. The pipes of Windows have names that the whole machine shares: any user may see them
 * all, and serve one whose name is free. So the name of each run is random, and it stands beside a secret in a file of
 * the state directory, which only the agent's user and administrators can read. Both sides prove that they know the
 * secret, before anything is asked or answered.
 */
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { accessProblem } from '../base/private-files.ts';
import { writeFileAtomically } from '../base/atomic-file.ts';
import { StateError, errnoOf } from '../base/errors.ts';
import { holdfast } from '../base/holdfast-command.ts';

export type Endpoint =
  | { readonly kind: 'socket'; readonly path: string }
  | {
      readonly kind: 'pipe';
      readonly path: string;
      /** Of this run of the agent. */
      readonly secret: Buffer;
    };

export type Pipe = Extract<Endpoint, { readonly kind: 'pipe' }>;

/** What a command asks first on a pipe: that the agent proves to be the agent. */
export const PROVE = 'prove';
/** The header in which the command proves in return that it may ask. */
export const PROOF_HEADER = 'x-holdfast-proof';

const SECRET_BYTES = 32;
const PIPE = /^\\\\\.\\pipe\\holdfast-[0-9a-f]{32}$/;

/** For a run of the agent that begins. */
export function newEndpoint(runDirectory: string, platform: NodeJS.Platform = process.platform): Endpoint {
  if (platform !== 'win32') return { kind: 'socket', path: `${runDirectory}/control.sock` };
  const path = String.raw`\\.\pipe\holdfast-${randomBytes(16).toString('hex')}`;
  return { kind: 'pipe', path, secret: randomBytes(SECRET_BYTES) };
}

/** Lets commands find a pipe that is served already. @throws {StateError} */
export async function announcePipe(runDirectory: string, { path, secret }: Pipe): Promise<void> {
  const facts = { pipe: path, secret: secret.toString('hex') };
  await writeFileAtomically(fileOf(runDirectory), `${JSON.stringify(facts)}\n`);
}

/** To be called before the pipe is closed. */
export async function withdrawPipe(runDirectory: string): Promise<void> {
  await rm(fileOf(runDirectory), { force: true }).catch(() => undefined);
}

/**
 * Where the agent of a directory is reached, as it announced it.
 * @throws {StateError} NO_AGENT, FORBIDDEN, STATE_NOT_PRIVATE when others may have written what it says, STATE_DAMAGED
 */
export async function endpointOf(
  runDirectory: string,
  platform: NodeJS.Platform = process.platform,
): Promise<Endpoint> {
  if (platform !== 'win32') return newEndpoint(runDirectory, platform);
  const file = fileOf(runDirectory);
  const text = await readAnnounced(file);
  const open = accessProblem(file, 'file');
  if (open !== undefined)
    throw new StateError('STATE_NOT_PRIVATE', `${file} ${open.text}`, {
      hint: `Somebody else may have written it. Stop the agent, run: ${open.command}; then start it again.`,
    });
  return parsePipe(file, text);
}

async function readAnnounced(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw unreachable(cause);
  }
}

/** @throws {StateError} STATE_DAMAGED */
export function parsePipe(file: string, text: string): Pipe {
  const [path, secret] = partsOf(text);
  if (typeof path === 'string' && PIPE.test(path) && typeof secret === 'string') {
    const bytes = Buffer.from(secret, 'hex');
    if (bytes.length === SECRET_BYTES) return { kind: 'pipe', path, secret: bytes };
  }
  throw new StateError('STATE_DAMAGED', `${file} does not say how to reach the agent`, {
    hint: 'Start the agent again.',
  });
}

function partsOf(text: string): readonly [path: unknown, secret: unknown] {
  try {
    const facts: unknown = JSON.parse(text);
    if (typeof facts !== 'object' || facts === null) return [undefined, undefined];
    return [Reflect.get(facts, 'pipe'), Reflect.get(facts, 'secret')];
  } catch {
    return [undefined, undefined];
  }
}

function fileOf(runDirectory: string): string {
  return join(runDirectory, 'control.json');
}

/** The error of somebody who does not reach the agent. */
export function unreachable(cause: unknown): StateError {
  if (errnoOf(cause) === 'EACCES' || errnoOf(cause) === 'EPERM') {
    return new StateError('FORBIDDEN', 'This user cannot see whether an agent is running', {
      hint:
        process.platform === 'win32'
          ? 'Run the command as the user of the agent, or as administrator.'
          : 'Run the command as the user of the agent, or join the group that its socket belongs to.',
      cause,
    });
  }
  return new StateError('NO_AGENT', 'No agent is running', {
    hint: `Start it with: ${holdfast`start`}`,
    cause,
  });
}

/** What each side makes up, so that no proof can be used again. */
export interface Challenges {
  readonly command: string;
  readonly agent: string;
}

export function newChallenge(): string {
  return randomBytes(32).toString('hex');
}

export function isChallenge(value: unknown): value is string {
  return typeof value === 'string' && /^[0-9a-f]{64}$/.test(value);
}

/** What only somebody who knows the secret can say. It holds for one pipe, so that nobody can pass it on to another. */
export function proofOf(
  side: 'agent' | 'command',
  { path, secret }: Pipe,
  { command, agent }: Challenges,
): string {
  return createHmac('sha256', secret).update([side, path, command, agent].join('\0')).digest('hex');
}

export function isSameProof(given: unknown, wanted: string): boolean {
  if (typeof given !== 'string' || given.length !== wanted.length) return false;
  return timingSafeEqual(Buffer.from(given, 'latin1'), Buffer.from(wanted, 'latin1'));
}
