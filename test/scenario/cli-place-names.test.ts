/** Commands on a destination that is named as the configuration does, and on one that does not answer. */
// Turn 5 of 8.
import { existsSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { EXIT } from '../../src/cli/command/exit-codes.ts';
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
    expect(stderr).toContain('"nas" is both a configured destination and a directory here');
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

/** What a command without `-r` means once `document` is the configuration. */
async function listed(place: Place, words: readonly string[] = []): Promise<number> {
  return jsonLines(await place.expectRun(['snapshots', '--json', ...words], 0, { env: untold })).length;
}

describe.concurrent('without -r', () => {
  test('every command means the default destination, as `-r default` does', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'hello' });
    await place.expectRun(['start', '--source', place.source, '--once'], 0, { env: untold });
    const usb = join(place.directory, 'usb');
    configure(place, { destinations: { usb: { url: usb } }, defaultDestination: 'usb' });

    // The passphrase of the recovery kit opens it, as the agent would open it.
    await place.expectRun(['init', '-r', 'usb'], 0, { env: untold });
    expect(await listed(place)).toBe(0);
    await place.expectRun(['backup', place.source], 0, { env: untold });
    await place.expectRun(['backup', '-r', 'default', place.source], 0, { env: untold });
    expect(await listed(place)).toBe(2);
    expect(await listed(place, ['-r', 'default'])).toBe(2);
    expect(await listed(place, ['-r', join(place.state, 'repository')])).toBe(1);
    const target = join(place.directory, 'back');
    await place.expectRun(['restore', 'latest', '--target', target], 0, { env: untold });
  });

  test('a default destination that is away is an error, and nothing else takes its place', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'hello' });
    await place.expectRun(['start', '--source', place.source, '--once'], 0, { env: untold });
    const usb = join(place.directory, 'usb');
    configure(place, { destinations: { usb: { url: usb } }, defaultDestination: 'usb' });
    for (const there of [false, true]) {
      if (there) mkdirSync(usb);
      for (const words of [['snapshots'], ['backup', place.source]]) {
        const { stderr } = await place.expectRun(words, EXIT.noRepository, { env: untold });
        const what = there ? 'There are no backups' : 'There is no repository';
        expect(stderr).toContain(`${what} at ${usb}, the default destination (usb)`);
        expect(stderr).toContain(there ? 'right disk is mounted' : 'drive is mounted');
      }
    }
    expect(readdirSync(usb)).toEqual([]);
    expect(await listed(place, ['-r', join(place.state, 'repository')])).toBe(1);
  });

  test('a configuration that cannot be read is an error: it may name another place', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'hello' });
    await place.expectRun(['start', '--source', place.source, '--once'], 0, { env: untold });
    writeFileSync(join(place.state, 'config.json'), '{ broken', { mode: 0o600 });
    const { code, stderr } = await place.run(['snapshots'], { env: untold });
    expect(code).toBe(EXIT.failed);
    expect(stderr).toContain('config.json');
  });

  test('the one in the state directory is meant while no other is the default, and "start" makes it', async () => {
    await using place = await openPlace();
    configureNas(place);
    for (const words of [['snapshots'], ['snapshots', '-r', 'default']]) {
      const { stderr } = await place.expectRun(words, EXIT.noRepository, { env: untold });
      expect(stderr).toContain('holdfast start --source DIR');
    }
    const { stderr } = await place.expectRun(['init', '-r', 'default'], EXIT.usage);
    expect(stderr).toContain('holdfast start --source DIR');
    await place.write({ 'a.txt': 'hello' });
    await place.expectRun(['start', '--source', place.source, '--once'], 0, { env: untold });
    // Its key is this machine's, whatever passphrase is meant for others.
    for (const words of [[], ['-r', 'default']])
      expect(
        jsonLines(
          await place.expectRun(['snapshots', '--json', ...words], 0, {
            env: { HOLDFAST_REPOSITORY: undefined },
          }),
        ),
      ).toHaveLength(1);
  });
});

describe.concurrent('what the settings name as a passphrase', () => {
  /** `nas` at a repository, with this text in the file of its passphrase. */
  function configureSecret(place: Place, text: string): void {
    const file = join(place.directory, 'nas-secret');
    writeFileSync(file, `${text}\n`, { mode: 0o600 });
    configure(place, { destinations: { nas: { url: place.repository, passphrase: { file } } } });
  }

  test('may be a recovery code or a write-only key, which opens what it can', async () => {
    await using place = await openPlace();
    await place.write({ 'a.txt': 'hello' });
    const [made] = jsonLines(await place.expectRun(['init', '--json']));
    configureSecret(place, String(made?.['recovery_code']));
    await place.expectRun(['backup', '-r', 'nas', place.source], 0, { env: untold });
    expect(await listed(place, ['-r', 'nas'])).toBe(1);
    const tested = await place.expectRun(['destinations', 'test', 'nas'], 0, { env: untold });
    expect(tested.stdout).toContain('can be used');

    const key = join(place.directory, 'web1.key');
    await place.expectRun(['keys', 'add', '--write-only', key]);
    configureSecret(place, readFileSync(key, 'utf8').trim());
    await place.expectRun(['backup', '-r', 'nas', place.source], 0, { env: untold });
    expect((await place.run(['snapshots', '-r', 'nas'], { env: untold })).stderr).toContain(
      'cannot read them',
    );
    const useless = await place.expectRun(['destinations', 'test', 'nas'], EXIT.failed, { env: untold });
    expect(useless.stdout).toContain('write-only key');
  });

  test('is not one of two for a new repository, of which later openings would take the other', async () => {
    await using place = await openPlace();
    const directory = configureNas(place);
    const given = (text: string) => ({ env: { ...untold, HOLDFAST_PASSWORD: text } });
    const { stderr } = await place.expectRun(['init', '-r', 'nas'], EXIT.usage, given('another one'));
    expect(stderr).toContain('differs from the one in the settings of nas');
    expect(stderr).not.toContain(OTHER);
    expect(existsSync(directory)).toBe(false);
    await place.expectRun(['init', '-r', 'nas'], 0, given(OTHER));
    await place.expectRun(['snapshots', '-r', 'nas'], 0, given(OTHER));
    await place.expectRun(['snapshots', '-r', 'nas'], 0, { env: untold });
  });

  test('never becomes the passphrase of a new repository when it is a key', async () => {
    await using place = await openPlace();
    const [made] = jsonLines(await place.expectRun(['init', '--json']));
    const code = String(made?.['recovery_code']);
    const file = join(place.directory, 'code');
    writeFileSync(file, `${code}\n`, { mode: 0o600 });
    const elsewhere = join(place.directory, 'elsewhere');
    configure(place, { destinations: { nas: { url: elsewhere, passphrase: { file } } } });
    const words = [
      ['init', '-r', 'nas'],
      ['init', '-r', elsewhere, '--password-file', file],
    ];
    for (const each of words) {
      const { stderr } = await place.expectRun(each, EXIT.usage, { env: untold });
      expect(stderr).toContain('key');
      expect(stderr).not.toContain(code);
    }
    expect(existsSync(elsewhere)).toBe(false);
    const changed = await place.expectRun(['keys', 'passwd', '--new-password-file', file], EXIT.usage);
    expect(changed.stderr).toContain('recovery code');
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
