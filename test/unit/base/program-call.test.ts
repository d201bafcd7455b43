import { describe, expect, test } from 'vitest';
import {
  callRepository,
  holdfast,
  holdfastElsewhere,
  holdfastThere,
  npmHere,
  programForAgent,
  sudoHoldfast,
} from '../../../src/base/holdfast-command.ts';
import {
  HERE,
  programFor,
  programForSudo,
  withProgram,
  type Environment,
  type Installation,
  type Reader,
} from '../../../src/base/program-call.ts';

/** A clone in the home of a person who has Node.js in the usual place. */
const clone = installation('/home/anna/h', { '/usr/bin/node': '/usr/bin/node' });
/** With the Node.js that lies in it. */
const archive: Installation = {
  root: '/home/anna/holdfast',
  runtime: '/home/anna/holdfast/bin/node',
  platform: 'linux',
  lookUp: (path) => (path === '/home/anna/holdfast/holdfast' ? path : undefined),
};
const usual = { PATH: '/usr/local/bin:/usr/bin' };
const anywhere: Reader = { at: 'anywhere' };
const typedIn = (directory: string): Reader => ({ at: 'terminal', directory });
const npm = { ...usual, npm_lifecycle_event: 'start', npm_package_name: 'holdfast' };
const npx = { ...usual, npm_lifecycle_event: 'npx', npm_command: 'exec', npm_lifecycle_script: "'holdfast'" };

function installation(
  root: string,
  programs: Readonly<Record<string, string>>,
  platform: NodeJS.Platform = 'linux',
): Installation {
  return { root, runtime: '/opt/node/bin/node', platform, lookUp: (path) => programs[path] };
}

describe('how the program is called', () => {
  test.each<readonly [string, Reader, Environment, Installation, string]>([
    [
      'below npm, in the folder of the program',
      typedIn('/home/anna/h'),
      { ...npm, INIT_CWD: '/home/anna/h' },
      clone,
      'npm start --',
    ],
    [
      'below npm --prefix, in another folder',
      typedIn('/home/anna'),
      { ...npm, INIT_CWD: '/home/anna' },
      clone,
      'node h/service/bin/holdfast.js',
    ],
    [
      'below npm, for who reads it elsewhere',
      anywhere,
      { ...npm, INIT_CWD: '/home/anna/h' },
      clone,
      'node /home/anna/h/service/bin/holdfast.js',
    ],
    [
      'below npm of another package',
      typedIn('/srv'),
      { ...npm, npm_package_name: 'x', INIT_CWD: '/home/anna/h' },
      clone,
      'node /home/anna/h/service/bin/holdfast.js',
    ],
    ['by npx', typedIn('/home/anna/h'), npx, clone, 'npx holdfast'],
    ['by npx, for who reads it elsewhere', anywhere, npx, clone, 'node /home/anna/h/service/bin/holdfast.js'],
    [
      'by what npx runs',
      typedIn('/srv'),
      { ...npx, npm_lifecycle_script: "'holdfast-watcher'" },
      clone,
      'node /home/anna/h/service/bin/holdfast.js',
    ],
    ['by its path, in its folder', typedIn('/home/anna/h'), usual, clone, 'node service/bin/holdfast.js'],
    ['by its path, elsewhere', typedIn('/srv'), usual, clone, 'node /home/anna/h/service/bin/holdfast.js'],
    [
      'by its path, for who reads it elsewhere',
      anywhere,
      usual,
      clone,
      'node /home/anna/h/service/bin/holdfast.js',
    ],
    [
      'from a path that a shell would take apart',
      anywhere,
      usual,
      { ...clone, root: "/home/anna/it's h" },
      String.raw`node '/home/anna/it'\''s h/service/bin/holdfast.js'`,
    ],
    [
      'where no Node.js is on the path',
      anywhere,
      { PATH: '/bin' },
      clone,
      '/opt/node/bin/node /home/anna/h/service/bin/holdfast.js',
    ],
    ['from the Debian package', anywhere, usual, installation('/usr/lib/holdfast', {}), 'holdfast'],
    [
      'as npm installed it for all',
      anywhere,
      usual,
      installation('/usr/local/lib/node_modules/holdfast', {
        '/usr/local/bin/holdfast': '/usr/local/lib/node_modules/holdfast/service/bin/holdfast.js',
      }),
      'holdfast',
    ],
    ['from an archive, in its folder', typedIn('/home/anna/holdfast'), usual, archive, './holdfast'],
    ['from an archive, above it', typedIn('/home/anna'), usual, archive, './holdfast/holdfast'],
    ['from an archive, elsewhere', anywhere, usual, archive, '/home/anna/holdfast/holdfast'],
    [
      'from an archive that a link on the path leads to',
      anywhere,
      usual,
      { ...archive, lookUp: () => '/home/anna/holdfast/holdfast' },
      'holdfast',
    ],
    [
      'beside another installation that is found first',
      anywhere,
      usual,
      { ...clone, lookUp: (path) => (path === '/usr/local/bin/holdfast' ? '/opt/other/holdfast.js' : path) },
      'node /home/anna/h/service/bin/holdfast.js',
    ],
    [
      'by what only npm finds',
      anywhere,
      { PATH: '/home/anna/h/node_modules/.bin:/usr/bin' },
      installation('/home/anna/h', {
        '/home/anna/h/node_modules/.bin/holdfast': '/home/anna/h/service/bin/holdfast.js',
        '/usr/bin/node': '/usr/bin/node',
      }),
      'node /home/anna/h/service/bin/holdfast.js',
    ],
    [
      'as somebody says',
      typedIn('/home/anna/h'),
      { ...npm, HOLDFAST_PROGRAM: 'docker exec box holdfast' },
      clone,
      'docker exec box holdfast',
    ],
  ])('%s', (_how, reader, env, where, expected) => {
    expect(programFor(reader, env, where)).toBe(expected);
  });

  test('with sudo by paths, unless it is packaged', () => {
    expect(programForSudo(clone)).toEqual(['/opt/node/bin/node', '/home/anna/h/service/bin/holdfast.js']);
    expect(programForSudo(installation('/usr/lib/holdfast', {}))).toEqual(['holdfast']);
  });

  test('by npm start, which runs "start" by itself', () => {
    expect(withProgram('npm start --', 'jobs')).toBe('npm start -- jobs');
    expect(withProgram('npm start --', 'start --source DIR')).toBe('npm start -- --source DIR');
    expect(withProgram('npm start --', 'start')).toBe('npm start');
    expect(withProgram('holdfast', 'start --source DIR')).toBe('holdfast start --source DIR');
  });

  test('where this program is', () => {
    expect(HERE.lookUp(process.execPath)).toBeDefined();
    expect(HERE.lookUp(HERE.root)).toBeUndefined();
    expect(HERE.root).toBe(process.cwd());
  });
});

describe('the program in what an agent says', () => {
  const none = { variables: {}, user: undefined };
  const state = { HOLDFAST_STATE_DIR: '/srv/my state' };

  test.each<readonly [string, Parameters<typeof programForAgent>[0], Installation, string]>([
    ['is as anywhere', none, clone, 'node /home/anna/h/service/bin/holdfast.js'],
    [
      'is told where its state is',
      { variables: state, user: undefined },
      clone,
      "HOLDFAST_STATE_DIR='/srv/my state' node /home/anna/h/service/bin/holdfast.js",
    ],
    [
      'runs as the user of the service',
      { variables: state, user: 'holdfast' },
      clone,
      "sudo -u holdfast env HOLDFAST_STATE_DIR='/srv/my state' /opt/node/bin/node /home/anna/h/service/bin/holdfast.js",
    ],
    [
      'knows its state when it is packaged',
      { variables: state, user: 'holdfast' },
      installation('/usr/lib/holdfast', {}),
      'sudo -u holdfast holdfast',
    ],
  ])('%s', (_what, places, where, expected) => {
    expect(programForAgent(places, usual, where)).toBe(expected);
  });
});

describe('a command in a text', () => {
  test('has what is put in as the shell is to see it', () => {
    expect(holdfast`ls ${'latest'} ${"/it's"} --long`).toBe(String.raw`holdfast ls latest '/it'\''s' --long`);
    expect(holdfast`ls ${['-r', 'a b']} latest`).toBe("holdfast ls -r 'a b' latest");
    expect(holdfast`ls ${[]} latest`).toBe('holdfast ls latest');
    expect(holdfast`config set destinations.${'nas'}.url LOCATION`).toBe(
      'holdfast config set destinations.nas.url LOCATION',
    );
  });

  test('names the repository of the work at hand, where commands would mean another', () => {
    callRepository('/mnt/a b');
    expect(holdfastThere`ls ${'latest'}`).toBe("holdfast ls latest -r '/mnt/a b'");
    callRepository(undefined);
    expect(holdfastThere`ls ${'latest'}`).toBe('holdfast ls latest');
  });

  test('may be one of npm in the folder of the program', () => {
    expect(npmHere('run build')).toBe(`npm --prefix ${HERE.root} run build`);
  });

  test('may be for root, or for another machine', () => {
    expect(sudoHoldfast`service allow-write ${'/a b'}`).toBe(
      `sudo ${process.execPath} ${HERE.root}/service/bin/holdfast.js service allow-write '/a b'`,
    );
    expect(holdfastElsewhere`forget ${'1a2b'}`).toBe('holdfast forget 1a2b');
  });
});
