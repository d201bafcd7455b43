/** The Windows service: where its program and state lie, who may change them, and whom it runs as. */
import { mkdtempSync, mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { SERVICE_SID, type AccessList } from '../../../src/base/access-list.ts';
import { shownStep } from '../../../src/cli/install/step.ts';
import {
  OF_SERVICE,
  OVERALL,
  protectDirectory,
  type DirectoryCalls,
} from '../../../src/cli/install/windows-directory.ts';
import {
  copyProgram,
  isCopied,
  serviceStateIn,
  windowsAllowWrite,
  windowsPlaces,
  windowsSteps,
  windowsUninstallSteps,
} from '../../../src/cli/install/windows-steps.ts';
import { guidBytes, serviceSid, sidBytes } from '../../../src/system/windows-accounts.ts';
import { sidAt } from '../../../src/base/access-list.ts';
import { serviceStatus } from '../../../src/system/windows-control.ts';
import { removeTree } from '../../support/remove-tree.ts';

const DATA = String.raw`C:\ProgramData\Holdfast`;
const ASIDE = `${DATA}.aside-20260102030405`;
const [SYSTEM, ADMINS, USERS, BEN] = ['S-1-5-18', 'S-1-5-32-544', 'S-1-5-32-545', 'S-1-5-21-1-2-3-1002'];
const OWN: AccessList = { owner: ADMINS, allowed: [{ who: SYSTEM, mask: 0x1f_01ff }] };
const OF_BEN: AccessList = { ...OWN, owner: BEN };
const OPEN: AccessList = { ...OWN, allowed: [{ who: USERS, mask: 0x13_01bf }] };

/** A machine with these directories, and all that was done on it. */
function machine(lists: Readonly<Record<string, AccessList | 'link'>>): {
  readonly calls: DirectoryCalls;
  readonly done: string[];
} {
  const done: string[] = [];
  const calls: DirectoryCalls = {
    create(path, descriptor) {
      if (path in lists) return false;
      done.push(`create ${path} ${descriptor}`);
      return true;
    },
    permit: (path, descriptor) => void done.push(`permit ${path} ${descriptor}`),
    accessList(path) {
      const list = lists[path];
      return list === undefined || list === 'link' ? OF_BEN : list;
    },
    isLink: async (path) => lists[path] === 'link',
    names: async (path) =>
      Object.keys(lists)
        .filter((one) => one.startsWith(`${path}\\`) && !one.slice(path.length + 1).includes('\\'))
        .map((one) => one.slice(path.length + 1)),
    move: async (from, to) => void done.push(`move ${from} ${to}`),
  };
  return { calls, done };
}

const protect = async (calls: DirectoryCalls): Promise<void> =>
  await protectDirectory(DATA, { descriptor: OVERALL, stamp: '20260102030405' }, calls);

describe('the directory of the service', () => {
  test('is made with its permissions from the first moment on', async () => {
    const { calls, done } = machine({});
    await protect(calls);
    expect(done).toEqual([`create ${DATA} ${OVERALL}`]);
    expect([OVERALL, OF_SERVICE]).toEqual([
      expect.stringMatching(
        /^O:BAG:BAD:P\(A;OICI;FA;;;SY\)\(A;OICI;FA;;;BA\)\(A;;0x1200a9;;;S-1-5-80-[\d-]+\)$/,
      ),
      expect.stringMatching(
        /^O:BAG:BAD:P\(A;OICI;FA;;;SY\)\(A;OICI;FA;;;BA\)\(A;OICI;0x1301bf;;;S-1-5-80-[\d-]+\)$/,
      ),
    ]);
  });

  test.each([
    ['was made by another user', OF_BEN, 'was created by another user (S-1-5-21-1-2-3-1002)'],
    ['may be written to by users', OPEN, 'can be written to by others (all users of this machine)'],
    ['is a link', 'link' as const, 'is a link'],
  ])('is set aside when it %s, with nothing changed in it', async (_what, list, why) => {
    const { calls, done } = machine({ [DATA]: list, [`${DATA}\\state`]: OF_BEN });
    await expect(protect(calls)).rejects.toMatchObject({
      code: 'SET_ASIDE',
      message: `${DATA} ${why}. It was moved to ${ASIDE}, with its contents`,
    });
    expect(done).toEqual([`move ${DATA} ${ASIDE}`]);
  });

  test('that only administrators could have made is kept, and gets its permissions', async () => {
    const state = `${DATA}\\state`;
    const { calls, done } = machine({
      [DATA]: OWN,
      [state]: OWN,
      [`${state}\\state.db`]: { ...OWN, owner: SERVICE_SID },
    });
    await protect(calls);
    expect(done).toEqual([`permit ${DATA} ${OVERALL}`]);
  });

  test('with something of somebody else in it is neither used nor changed', async () => {
    const { calls, done } = machine({
      [DATA]: OWN,
      [`${DATA}\\state`]: OWN,
      [`${DATA}\\state\\config.json`]: OF_BEN,
      [`${DATA}\\more`]: 'link',
    });
    await expect(protect(calls)).rejects.toMatchObject({
      code: 'NOT_TRUSTED',
      message: expect.stringMatching(/config\.json was created by another user .*more is a link$/),
    });
    expect(done).toEqual([]);
  });
});

const install = { start: true, runtime: String.raw`C:\node\node.exe`, known: false, stamp: '1' };

describe('the steps', () => {
  test('trust nothing before its directory is safe, and run the program from where only administrators write', () => {
    const steps = windowsSteps(windowsPlaces(), install).map(shownStep);
    expect(steps).toEqual([
      String.raw`make C:\ProgramData\Holdfast for administrators alone`,
      String.raw`make C:\ProgramData\Holdfast\state for administrators and the service alone`,
      expect.stringMatching(/^copy .* to C:\\Program Files\\Holdfast$/),
      expect.stringContaining(
        String.raw`sc.exe' create Holdfast type= own start= delayed-auto obj= 'NT SERVICE\Holdfast' binPath= '"C:\Program Files\Holdfast\node.exe" "C:\Program Files\Holdfast\service\windows\service.js" "C:\ProgramData\Holdfast\state"'`,
      ),
      expect.stringContaining('description Holdfast'),
      expect.stringContaining(
        'failure Holdfast reset= 3600 actions= restart/10000/restart/60000/restart/60000',
      ),
      expect.stringContaining('failureflag Holdfast 1'),
      String.raw`give NT SERVICE\Holdfast the right SeBackupPrivilege`,
      expect.stringContaining('privs Holdfast SeBackupPrivilege/SeChangeNotifyPrivilege'),
      expect.stringContaining('start Holdfast'),
    ]);
  });

  test.each([
    [String.raw`C:\Program Files\Holdfast\bin\node.exe`, []],
    [String.raw`C:\node\node.exe`, [String.raw`copy C:\node\node.exe to C:\Program Files\Holdfast\node.exe`]],
  ])(
    'of a program that an installer put into its place run the Node.js that is there: %s',
    (runtime, copies) => {
      const root = String.raw`c:\program files\Holdfast`;
      const steps = windowsSteps(windowsPlaces(), { ...install, root, runtime }).map(shownStep);
      const node = copies.length === 0 ? runtime : String.raw`C:\Program Files\Holdfast\node.exe`;
      expect(steps.filter((step) => step.startsWith('copy '))).toEqual(copies);
      expect(steps).toContainEqual(expect.stringContaining(`binPath= '"${node}" "C:\\Program Files`));
    },
  );

  test('run programs of Windows alone, by their whole path', () => {
    const places = windowsPlaces();
    const steps = [
      ...windowsSteps(places, { ...install, known: true }),
      ...windowsUninstallSteps(places, { purge: true, known: true }),
      windowsAllowWrite(places, String.raw`E:\backup`),
    ];
    const programs = steps.flatMap((step) => (step.kind === 'run' ? [step.words[0]] : []));
    expect([...new Set(programs)]).toEqual([
      String.raw`C:\Windows\System32\sc.exe`,
      String.raw`C:\Windows\System32\icacls.exe`,
    ]);
  });

  test('stop a service that is there before its program is replaced, and start nothing when that was said', () => {
    const steps = windowsSteps(windowsPlaces(), { ...install, start: false, known: true }).map(shownStep);
    const at = (text: string): number => steps.findIndex((step) => step.includes(text));
    expect(at('stop Holdfast')).toBeLessThan(at('wait until'));
    expect(at('wait until')).toBeLessThan(at('copy '));
    expect([at('create Holdfast'), at('start Holdfast')]).toEqual([-1, -1]);
    expect(at('config Holdfast')).toBeGreaterThan(at('copy '));
  });

  test('take everything away but what the service keeps', () => {
    const steps = (purge: boolean): readonly string[] =>
      windowsUninstallSteps(windowsPlaces(), { purge, known: true }).map(shownStep);
    expect(steps(false)).toEqual([
      expect.stringContaining('stop Holdfast'),
      'wait until the service has stopped',
      expect.stringContaining('delete Holdfast'),
      String.raw`take the right SeBackupPrivilege from NT SERVICE\Holdfast`,
      String.raw`remove C:\Program Files\Holdfast and everything in it`,
    ]);
    expect(steps(true).at(-1)).toBe(String.raw`remove C:\ProgramData\Holdfast and everything in it`);
  });
});

test('the program is copied whole, over an earlier one, without what only developers need', async () => {
  const place = mkdtempSync(join(tmpdir(), 'holdfast-program-'));
  onTestFinished(() => removeTree(place));
  const [root, target] = [join(place, 'checkout'), join(place, 'Holdfast')];
  for (const name of [
    'service/bin',
    'src',
    'test',
    'dist/.code',
    '.git',
    'node_modules/koffi',
    'node_modules/a/src',
  ])
    mkdirSync(join(root, name), { recursive: true });
  for (const name of [
    'service/bin/holdfast.js',
    'src/main.ts',
    'dist/.code/x',
    'node_modules/a/src/index.js',
  ])
    writeFileSync(join(root, name), name);
  mkdirSync(join(target, 'earlier'), { recursive: true });
  writeFileSync(join(place, 'node'), 'runtime');
  await copyProgram(root, join(place, 'node'), target);
  expect(readdirSync(target).toSorted()).toEqual(['dist', 'node.exe', 'node_modules', 'service']);
  expect(readFileSync(join(target, 'node_modules/a/src/index.js'), 'utf8')).toBe(
    'node_modules/a/src/index.js',
  );
  expect(readdirSync(place).toSorted()).toEqual(['Holdfast', 'checkout', 'node']);
  expect(['dist/main.js', 'src', 'dist/.code'].map(isCopied)).toEqual([true, false, false]);
});

test('the account of a service has the identifier that Windows makes of its name', () => {
  // TrustedInstaller is the same on every Windows.
  expect(serviceSid('TrustedInstaller')).toBe(
    'S-1-5-80-956008885-3418522649-1831038044-1853292631-2271478464',
  );
  expect(serviceSid('holdfast')).toBe(SERVICE_SID);
  expect(sidAt(sidBytes(SERVICE_SID), 0)).toBe(SERVICE_SID);
});

test('a known folder is named in the order of bytes that Windows has', () => {
  expect(guidBytes('{6D809377-6AF0-444B-8957-A3773F02200E}').subarray(0, 16).toString('hex')).toBe(
    '7793806df06a4b448957a3773f02200e',
  );
});

test('the state of a service is read in every language of Windows', () => {
  const german = `
SERVICE_NAME: Holdfast
        TYP                : 10  WIN32_OWN_PROCESS
        STATUS             : 4  RUNNING
                                (STOPPABLE, NOT_PAUSABLE, ACCEPTS_SHUTDOWN)
        WIN32_BEENDIGUNGSCODE    : 0  (0x0)
`;
  expect(serviceStateIn(german)).toBe('RUNNING');
  expect(serviceStateIn(german.replace('4  RUNNING', '3  STOP_PENDING'))).toBe('STOP_PENDING');
  expect(
    serviceStateIn(
      '[SC] EnumQueryServicesStatus:OpenService FAILED 1060:\n\nThe specified service does not exist',
    ),
  ).toBeUndefined();
  expect(serviceStateIn(undefined)).toBeUndefined();
});

test('an agent that failed is told as such, so that the manager starts it again', () => {
  const numbers = (bytes: Buffer): readonly number[] =>
    [0, 4, 8, 12, 16, 20, 24].map((at) => bytes.readUInt32LE(at));
  expect(numbers(serviceStatus([4, 5, 0, 0], 3))).toEqual([0x10, 4, 5, 0, 0, 0, 0]);
  expect(numbers(serviceStatus([2, 0, 120_000, 0], 3))).toEqual([0x10, 2, 0, 0, 0, 3, 120_000]);
  expect(numbers(serviceStatus([1, 0, 0, 6], 9))).toEqual([0x10, 1, 0, 1066, 6, 0, 0]);
});
