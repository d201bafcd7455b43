/** The configuration while the agent runs, on a real disk with real events. */
import { chmod, mkdir, open, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { systemClock } from '../../src/base/clock.ts';
import {
  openConfigSource,
  type ConfigSource,
  type ConfigState,
  type ConfigUpdate,
} from '../../src/config/config-source.ts';
import { setValue } from '../../src/config/config-edit.ts';
import { manualClock } from '../support/manual-clock.ts';
import { openConfigPlace, type ConfigPlace } from '../support/config-place.ts';

const GOOD = '// mine\n{\n  "plan": "pro"\n}\n';

interface Options {
  readonly required?: boolean;
  readonly reported?: Error[];
}

async function openSource(
  place: ConfigPlace,
  { required = false, reported = [] }: Options = {},
): Promise<ConfigSource> {
  return await openConfigSource({
    file: place.file,
    required,
    context: place.context,
    clock: systemClock,
    report: (error) => reported.push(error),
  });
}

/** Waits until the state is as wanted, by its events alone. */
async function stateOf(source: ConfigSource, wanted: (state: ConfigState) => boolean): Promise<ConfigState> {
  if (wanted(source.state)) return source.state;
  const { promise, resolve } = Promise.withResolvers<ConfigState>();
  const stop = source.onChange(({ state }) => {
    if (wanted(state)) resolve(state);
  });
  const state = await Promise.race([promise, delay(20_000, undefined)]);
  stop();
  if (state === undefined) throw new Error(`After 20 s the state is ${JSON.stringify(source.state)}`);
  return state;
}

const degraded = ({ status }: ConfigState): boolean => status === 'degraded';
const ok = ({ status }: ConfigState): boolean => status === 'ok';

/** A way to spoil the file, and what is then said. */
interface Harm {
  readonly name: string;
  spoil(place: ConfigPlace): Promise<void>;
  readonly message: string;
  readonly line: number | null;
  readonly column: number | null;
}

const HARMS: readonly Harm[] = [
  {
    name: 'emptied',
    spoil: async ({ file }) => await writeFile(file, ''),
    message: 'line 1, column 1: The file is empty',
    line: 1,
    column: 1,
  },
  {
    name: 'half-written',
    spoil: async ({ file }) => await writeFile(file, GOOD.slice(0, 22)),
    message: 'line 3, column 11: A text is not closed',
    line: 3,
    column: 11,
  },
  {
    name: 'turned to garbage',
    spoil: async ({ file }) =>
      await writeFile(file, Buffer.from(Array.from({ length: 999 }, (_, i) => (i * 71) % 256))),
    message: 'line 1, column 3: There is a character that is not UTF-8',
    line: 1,
    column: 3,
  },
  {
    name: 'given a setting that does not exist',
    spoil: async ({ file }) => await writeFile(file, '{\n  "plam": "pro"\n}'),
    message: 'line 2, column 3: "plam" is not a setting',
    line: 2,
    column: 3,
  },
  {
    name: 'replaced by a directory',
    spoil: async ({ file }) => {
      await rm(file);
      await mkdir(file, { mode: 0o700 });
    },
    message: 'is a directory',
    line: null,
    column: null,
  },
  {
    name: 'replaced by a link',
    spoil: async ({ file }) => {
      await rename(file, `${file}.away`);
      await symlink(`${file}.away`, file);
    },
    message: 'is a symbolic link',
    line: null,
    column: null,
  },
  {
    name: 'removed',
    spoil: async ({ file }) => await rm(file),
    message: 'does not exist',
    line: null,
    column: null,
  },
  {
    name: 'opened to others',
    spoil: async ({ file }) => await chmod(file, 0o644),
    message: 'can be read by other users',
    line: null,
    column: null,
  },
  {
    name: 'moved away with its directory',
    spoil: async ({ directory, context }) => await rename(context.stateDirectory, join(directory, 'away')),
    message: 'does not exist',
    line: null,
    column: null,
  },
];

/** As editors do: a new file beside it, then a rename. */
async function restore(place: ConfigPlace, text = GOOD): Promise<void> {
  await mkdir(place.context.stateDirectory, { recursive: true, mode: 0o700 });
  await rm(place.file, { recursive: true, force: true });
  const beside = join(place.context.stateDirectory, 'config.json~');
  await writeFile(beside, text, { mode: 0o600 });
  await rename(beside, place.file);
}

describe.concurrent('a configuration file that is', () => {
  test.each(HARMS)(
    '$name while the agent runs leaves the last valid settings in force',
    async ({ spoil, message, line, column }) => {
      await using place = await openConfigPlace();
      await place.write(GOOD);
      await using source = await openSource(place);
      const { revision } = source.state;
      expect([source.state.status, source.current.plan]).toEqual(['ok', 'pro']);

      await spoil(place);
      const state = await stateOf(source, degraded);
      expect(state).toMatchObject({ revision, error: { line, column } });
      expect(state.error?.message).toContain(message);
      expect(state.error?.hint).not.toBe('');
      expect(source.current.plan).toBe('pro');

      await restore(place);
      expect(await stateOf(source, ok)).toEqual({ status: 'ok', error: null, revision });

      await restore(place, GOOD.replace('pro', 'business'));
      await stateOf(source, (now) => now.revision !== revision);
      expect(source.current.plan).toBe('business');
    },
  );

  test.each(HARMS.filter(({ name }) => !name.startsWith('moved')))(
    '$name before a restart leaves the last valid settings in force',
    async ({ spoil, message }) => {
      await using place = await openConfigPlace();
      await place.write(GOOD);
      await (await openSource(place)).close();
      await spoil(place);
      await using source = await openSource(place);
      expect(source.state.status).toBe('degraded');
      expect(source.state.error?.message).toContain(message);
      expect(source.current.plan).toBe('pro');
      await restore(place);
      await stateOf(source, ok);
    },
  );
});

describe.concurrent('the configuration of a running agent', () => {
  test('is the defaults without a file, until there is one', async () => {
    await using place = await openConfigPlace();
    await using source = await openSource(place);
    expect(source.state).toEqual({ status: 'ok', error: null, revision: 'none' });
    expect(source.document).toBeUndefined();
    await place.write(GOOD);
    await stateOf(source, ({ revision }) => revision !== 'none');
    expect(source.current.plan).toBe('pro');
    expect(source.document?.text).toBe(GOOD);
  });

  test('is not guessed: a broken file that never was valid, and a named one that is absent, end the start', async () => {
    await using place = await openConfigPlace();
    await expect(openSource(place, { required: true })).rejects.toMatchObject({ code: 'CONFIG_MISSING' });
    await place.write('{');
    await expect(openSource(place)).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
  });

  test('is not served from the copy of another file, or from a copy that was damaged', async () => {
    await using place = await openConfigPlace();
    await place.write(GOOD);
    await (await openSource(place)).close();
    const other = join(place.context.stateDirectory, 'other.json');
    await writeFile(other, '{', { mode: 0o600 });
    await expect(openSource({ ...place, file: other })).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
    const copy = join(place.context.stateDirectory, 'config.last-good.json');
    await writeFile(copy, (await readFile(copy, 'utf8')).slice(0, -6));
    await writeFile(place.file, '{');
    await expect(openSource(place)).rejects.toMatchObject({ code: 'CONFIG_SYNTAX' });
  });

  test('is read once for a file that is written in several steps, and each change is told once', async () => {
    await using place = await openConfigPlace();
    await place.write(GOOD);
    await using source = await openSource(place);
    const updates: ConfigUpdate[] = [];
    source.onChange((update) => updates.push(update));
    const text = GOOD.replace('pro', 'business');
    const file = await open(place.file, 'w');
    for (const character of text) {
      await file.write(character);
      await delay(5);
    }
    await file.close();
    await stateOf(source, () => source.current.plan === 'business');
    await delay(400);
    expect(
      updates.map(({ settings, state, settingsChanged }) => [settings.plan, state.status, settingsChanged]),
    ).toEqual([['business', 'ok', true]]);
  });

  test('is edited in place and in force at once', async () => {
    await using place = await openConfigPlace();
    await place.write(GOOD);
    await using source = await openSource(place);
    const { signal } = new AbortController();
    const before = source.state.revision;
    const state = await source.edit([setValue(['log', 'level'], 'warn')], before, signal);
    expect(state.status).toBe('ok');
    expect(source.current).toMatchObject({ plan: 'pro', log: { level: 'warn' } });
    expect(await readFile(place.file, 'utf8')).toMatch(/^\/\/ mine\n/);
    await expect(source.edit([setValue(['plan'], 'business')], before, signal)).rejects.toMatchObject({
      code: 'REVISION_MISMATCH',
    });
  });

  test('goes on when a listener fails or the copy cannot be written, and says so', async () => {
    await using place = await openConfigPlace();
    await place.write(GOOD);
    const reported: Error[] = [];
    const stateDirectory = join(place.directory, 'other-state');
    const context = { ...place.context, stateDirectory };
    await writeFile(stateDirectory, 'in the way');
    await expect(openSource({ ...place, context }, { reported })).resolves.toSatisfy(
      (source: ConfigSource) => {
        void source.close();
        return reported.length === 1;
      },
    );
    await using source = await openSource(place, { reported });
    source.onChange(() => {
      throw new Error('listener');
    });
    await place.write('{"plan": "business"}');
    await source.reload();
    expect(source.current.plan).toBe('business');
    expect(reported.at(-1)?.message).toBe('listener');
  });

  test('is looked at from time to time, should no event come', async () => {
    await using place = await openConfigPlace();
    await place.write(GOOD);
    const clock = manualClock();
    await using source = await openConfigSource({
      file: place.file,
      required: false,
      context: place.context,
      clock,
      report: () => {},
    });
    await place.write('{"plan": "business"}');
    await delay(100);
    expect(source.current.plan).toBe('pro');
    for (let round = 0; round < 200 && source.current.plan === 'pro'; round += 1) {
      await clock.advance(30_000);
      await delay(5);
    }
    expect(source.current.plan).toBe('business');
  });

  test('is left in peace while the database beside it is written', async () => {
    await using place = await openConfigPlace();
    await place.write(GOOD);
    await using source = await openSource(place);
    let updates = 0;
    source.onChange(() => (updates += 1));
    for (let round = 0; round < 50; round += 1)
      await writeFile(join(place.context.stateDirectory, 'state.db-wal'), `${round}`);
    await delay(500);
    expect(updates).toBe(0);
  });
});
