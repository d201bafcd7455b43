/**
 * Secrets that were typed on the page, each in a file of its own in the state directory. The settings refer to these
 * files; a file that no setting refers to is removed.
 */
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { readFileIfPresent } from '../../base/atomic-file.ts';
import type { Clock } from '../../base/clock.ts';
import { causeText } from '../../base/errno-words.ts';
import { RequestError, StateError, errnoOf } from '../../base/errors.ts';
import type { SecretReference } from '../../config/settings.ts';
import { SECRET_FILE, keepSecret, keptSecretsIn } from '../places/kept-secret.ts';

export interface TypedSecretsParts {
  readonly stateDirectory: string;
  readonly clock: Pick<Clock, 'now'>;
  /** References in the settings in force. */
  readonly references: () => readonly SecretReference[];
  /** Settings files whose text counts as well: a broken one has the references that are in force once it is repaired. */
  readonly settingsFiles: readonly string[];
  /** Makes the redactor remove the secret from texts. */
  readonly learn: (secret: string) => void;
}

export interface TypedSecrets {
  /** Stores a secret. @throws {RequestError} SERVICE_UNAVAILABLE when too many are stored; {StateError} */
  keep(secret: string): Promise<SecretReference & { readonly file: string }>;
  /** Whether the file was made in this run of the agent, and no setting has referred to it since. */
  isFresh(file: string): boolean;
  /** To be called when the settings have changed: files that they refer to are no longer fresh. */
  follow(): void;
  /** Removes secrets that no setting refers to and that are older than an hour. @throws {StateError} */
  tidy(): Promise<void>;
}

/** Milliseconds after which a secret without a reference is removed. */
const KEPT_MS = 3_600_000;
/** The most files at once: far more than are needed, and each secret is searched for in every text that is stored or shown. */
const MOST = 200;

export function typedSecrets(parts: TypedSecretsParts): TypedSecrets {
  const { stateDirectory, clock, learn } = parts;
  const directory = keptSecretsIn(stateDirectory);
  const fresh = new Set<string>();
  /** Secrets that are being written. */
  let underWay = 0;

  async function tidy(): Promise<void> {
    for (const name of await namesIn(directory)) {
      const path = join(directory, name);
      if (!SECRET_FILE.test(name) || clock.now() - (await madeMs(path)) < KEPT_MS) continue;
      if (await isReferredTo(name, parts)) continue;
      fresh.delete(path);
      await rm(path, { force: true });
    }
  }

  async function store(secret: string): Promise<SecretReference & { readonly file: string }> {
    learn(secret);
    const kept = await keepSecret(stateDirectory, secret);
    fresh.add(kept.file);
    return kept;
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
  return new RequestError(
    'SERVICE_UNAVAILABLE',
    `There are already ${MOST} secrets, the most that Holdfast keeps`,
    {
      hint: 'Secrets that no setting uses are deleted an hour after they were entered: try again then.',
    },
  );
}

/** File names are random, so any mention of one counts as a reference, however the path is written, even in a comment. */
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
    throw new StateError('READ_ERROR', `Cannot read ${directory}: ${causeText(cause)}`, {
      hint: 'Check that it belongs to the user that the agent runs as.',
      cause,
    });
  }
}

/** Infinite when the file is already gone, so that it never counts as too old. */
async function madeMs(path: string): Promise<number> {
  try {
    return (await stat(path)).mtimeMs;
  } catch (cause) {
    if (errnoOf(cause) === 'ENOENT') return Number.POSITIVE_INFINITY;
    throw cause;
  }
}
