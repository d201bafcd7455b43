/**
 * Secrets that were typed on the page: each in a file of its own in the state directory, which the settings refer to. One that
 * no setting came to refer to is removed.
 */
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readFileIfPresent, writeFileAtomically } from '../../base/atomic-file.ts';
import type { Clock } from '../../base/clock.ts';
import { RequestError, StateError, errnoOf } from '../../base/errors.ts';
import type { SecretReference } from '../../config/settings.ts';

export interface TypedSecretsParts {
  readonly stateDirectory: string;
  readonly clock: Pick<Clock, 'now'>;
  /** Those in force. */
  readonly references: () => readonly SecretReference[];
  /** Files of settings, whose text counts too: a broken one holds what will be in force once it is mended. */
  readonly settingsFiles: readonly string[];
  /** Has it taken out of texts. */
  readonly learn: (secret: string) => void;
}

export interface TypedSecrets {
  /** @throws {RequestError} SERVICE_UNAVAILABLE when too many wait to be used; {StateError} */
  keep(secret: string): Promise<SecretReference & { readonly file: string }>;
  /** It was made in this run of the agent, and no setting has referred to it since. */
  isFresh(file: string): boolean;
  /** To be called when the settings have changed: what they refer to is no longer fresh. */
  follow(): void;
  /** Removes those that no setting refers to, an hour after they were made. @throws {StateError} */
  tidy(): Promise<void>;
}

/** Milliseconds in which the settings may come to refer to a secret. */
const KEPT_MS = 3_600_000;
/** Files that lie there at once. Nobody has so many, and each is looked for in every text that is stored or shown. */
const MOST = 200;
const NAME = /^[0-9a-f]{32}$/;

export function typedSecrets(parts: TypedSecretsParts): TypedSecrets {
  const { stateDirectory, clock, learn } = parts;
  const directory = join(stateDirectory, 'secrets');
  const fresh = new Set<string>();
  /** Being written. */
  let underWay = 0;

  async function tidy(): Promise<void> {
    for (const name of await namesIn(directory)) {
      const path = join(directory, name);
      if (!NAME.test(name) || clock.now() - (await madeMs(path)) < KEPT_MS) continue;
      if (await isReferredTo(name, parts)) continue;
      fresh.delete(path);
      await rm(path, { force: true });
    }
  }

  async function store(secret: string): Promise<SecretReference & { readonly file: string }> {
    if (!secret.isWellFormed())
      throw new RequestError('INVALID_REQUEST', 'The secret has half a character in it', {
        hint: 'Type it anew.',
      });
    const file = join(directory, randomBytes(16).toString('hex'));
    learn(secret);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // A line break at the end is dropped when it is read: the one that was typed stays.
    await writeFileAtomically(file, `${secret}\n`);
    fresh.add(file);
    return { file };
  }

  async function isFull(): Promise<boolean> {
    return (await namesIn(directory)).length + underWay > MOST;
  }

  return {
    async keep(secret) {
      underWay += 1;
      try {
        if (await isFull()) await tidy();
        if (await isFull()) throw tooMany();
        return await store(secret);
      } finally {
        underWay -= 1;
      }
    },
    isFresh: (file) => fresh.has(file),
    follow() {
      for (const reference of parts.references()) if ('file' in reference) fresh.delete(reference.file);
    },
    tidy,
  };
}

function tooMany(): RequestError {
  return new RequestError('SERVICE_UNAVAILABLE', `${MOST} secrets are kept already, and no more than that`, {
    hint: 'Those that no setting refers to go an hour after they were typed: try again then.',
  });
}

/** Names are random: wherever one stands, in whatever spelling of its path and be it in a comment, it is meant. */
async function isReferredTo(
  name: string,
  { references, settingsFiles }: TypedSecretsParts,
): Promise<boolean> {
  if (references().some((one) => 'file' in one && basename(one.file) === name)) return true;
  for (const file of settingsFiles) {
    const text = await readFileIfPresent(file);
    if (text?.includes(name) === true) return true;
  }
  return false;
}

async function namesIn(directory: string): Promise<readonly string[]> {
  try {
    return await readdir(directory);
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return [];
    throw new StateError('READ_ERROR', `Cannot read ${directory} (${errnoOf(cause) ?? 'unknown error'})`, {
      hint: 'Check that it belongs to the user that the agent runs as.',
      cause,
    });
  }
}

/** Never too old, when it is gone by now. */
async function madeMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return Number.POSITIVE_INFINITY;
    throw cause;
  }
}
