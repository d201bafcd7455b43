/** Commands on a destination that is named as the configuration does, and on one that does not answer. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/exit-codes.ts';
import { jsonLines, openPlace, outcomeOf, type Place } from '../support/cli.ts';
import { startSilentServer } from '../support/silent-server.ts';

const OTHER = 'another passphrase for the other place';
/** Nothing but the settings says what opens a repository. */
const untold = { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined };

function configure(place: Place, document: object): void {
  mkdirSync(place.state, { recursive: true, mode: 0o700 });
  writeFileSync(join(place.state, 'config.json'), JSON.stringify(document), { mode: 0o600 });
}

/** `nas` is a directory with a passphrase of its own. */
function configureNas(place: Place): string {
  const [directory, passphrase] = [
    join(place.directory, 'far', 'away'),
    join(place.directory, 'nas-passphrase'),
  ];
  writeFileSync(passphrase, `${OTHER}\n`, { mode: 0o600 });
  configure(place, { destinations: { nas: { url: directory, passphrase: { file: passphrase } } } });
  return directory;
}

describe.concurrent('a destination’s name', () => {
  test('stands for its place, its access and its passphrase wherever a repository is named', async () => {
    await using place = await openPlace();
    const directory = configureNas(place);
    await place.write({ 'a.txt': 'hello' });
    await place.expectRun(['init', '-r', 'nas'], 0, { env: untold });
    await place.expectRun(['backup', '-r', 'nas', place.source], 0, { env: untold });
    const env = { ...untold, HOLDFAST_REPOSITORY: 'nas' };
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 0, { env }))).toHaveLength(1);
    const named = { ...untold, HOLDFAST_REPOSITORY: directory, HOLDFAST_PASSWORD: OTHER };
    expect(jsonLines(await place.expectRun(['snapshots', '--json'], 0, { env: named }))).toHaveLength(1);

    // As a second repository, too.
    await place.expectRun(['init', '--like', 'nas'], 0);
    await place.expectRun(['copy', '--from', 'nas'], 0);
    expect(jsonLines(await place.expectRun(['snapshots', '--json']))).toHaveLength(1);

    // What is given counts, not what the settings say.
    await place.expectRun(['snapshots', '-r', 'nas'], EXIT.wrongPassphrase, {
      env: { ...untold, HOLDFAST_PASSWORD: 'wrong' },
    });
  });

  test('that is also a directory here is asked about, and the directory can be named', async () => {
    await using place = await openPlace();
    configureNas(place);
    mkdirSync(join(place.directory, 'nas'));
    const { stderr } = await place.expectRun(['init', '-r', 'nas'], EXIT.usage);
    expect(stderr).toContain('"nas" is a destination of the configuration, and a directory here');
    expect(stderr).toContain('./nas');
    await place.expectRun(['init', '-r', './nas']);
    await place.expectRun(['snapshots', '-r', './nas']);
  });

  test('that is none is a directory as before, if the configuration can be read', async () => {
    await using place = await openPlace();
    configureNas(place);
    await place.expectRun(['init', '-r', 'elsewhere']);
    await place.expectRun(['snapshots', '-r', join(place.directory, 'elsewhere')]);
    writeFileSync(join(place.state, 'config.json'), '{ broken');
    expect((await place.run(['snapshots', '-r', 'elsewhere'])).code).not.toBe(0);
    await place.expectRun(['snapshots', '-r', './elsewhere']);
  });
});

describe.concurrent('a destination that does not answer', () => {
  test.each([
    ['s3', (port: number) => `s3://bucket/x?endpoint=http://127.0.0.1:${port}`],
    ['sftp', (port: number) => `sftp://keeper@127.0.0.1:${port}/x`],
  ] as const)('is not waited for over %s once the person has stopped it', async (_, urlAt) => {
    await using place = await openPlace();
    await using server = await startSilentServer();
    const child = place.start(['snapshots', '-r', urlAt(server.port)], {
      env: { AWS_ACCESS_KEY_ID: 'AKTEST', AWS_SECRET_ACCESS_KEY: 'secret' },
    });
    const ending = outcomeOf(child);
    await server.connected();
    child.kill('SIGINT');
    expect((await ending).code).toBe(EXIT.interrupted);
  });
});
