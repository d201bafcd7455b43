/** Whose desktop the agent reaches, and by which program, on each system. */
import { describe, expect, test } from 'vitest';
import { checkDesktop } from '../../../src/daemon/doctor/desktop.ts';
import { desktopAccess, type DesktopFacts } from '../../../src/notify/desktop-access.ts';

/** A person's agent on Linux; `there` are the files of the system. */
function facts(there: readonly string[], changes: Partial<DesktopFacts> = {}): DesktopFacts {
  const isThere = (path: string): boolean => there.includes(path);
  return {
    platform: 'linux',
    uid: 1001,
    env: { PATH: '/usr/local/bin:/usr/bin', HOME: '/home/ana', AWS_SECRET: 'x' },
    isThere,
    isProgram: isThere,
    ...changes,
  };
}

const BUS = '/run/user/1001/bus';
const GDBUS = '/usr/bin/gdbus';
const SEND = '/usr/bin/notify-send';

describe('on Linux', () => {
  test('it is the session of the user, also for a unit without its variables', () => {
    expect(desktopAccess(facts([BUS, GDBUS, SEND]))).toEqual({
      state: 'ready',
      program: 'gdbus',
      path: GDBUS,
      env: {
        PATH: '/usr/local/bin:/usr/bin',
        HOME: '/home/ana',
        DBUS_SESSION_BUS_ADDRESS: `unix:path=${BUS}`,
        LC_ALL: 'C.UTF-8',
      },
    });
    expect(desktopAccess(facts([BUS, SEND]))).toMatchObject({ program: 'notify-send', path: SEND });
  });

  test('it is where the environment says', () => {
    const env = { PATH: '/usr/bin', XDG_RUNTIME_DIR: '/tmp/run of ana' };
    expect(desktopAccess(facts(['/tmp/run of ana/bus', GDBUS], { env }))).toMatchObject({
      env: { DBUS_SESSION_BUS_ADDRESS: 'unix:path=/tmp/run%20of%20ana/bus' },
    });
    const DBUS_SESSION_BUS_ADDRESS = 'unix:abstract=/tmp/dbus-x,guid=1';
    expect(desktopAccess(facts([GDBUS], { env: { ...env, DBUS_SESSION_BUS_ADDRESS } }))).toMatchObject({
      env: { DBUS_SESSION_BUS_ADDRESS },
    });
  });

  test('nobody is there while the session is not', () => {
    expect(desktopAccess(facts([GDBUS]))).toEqual({ state: 'away' });
    const env = { PATH: '/usr/bin', DBUS_SESSION_BUS_ADDRESS: `unix:path=${BUS}` };
    expect(desktopAccess(facts([GDBUS], { env }))).toEqual({ state: 'away' });
    expect(desktopAccess(facts([GDBUS, BUS], { env }))).toMatchObject({ state: 'ready' });
  });

  test.each([0, 998])('the service of the machine, user %i, has none', (uid) => {
    expect(desktopAccess(facts([GDBUS], { uid }))).toEqual({ state: 'service' });
  });

  test('root has none, even with the session of another user in its environment', () => {
    const env = { PATH: '/usr/bin', DBUS_SESSION_BUS_ADDRESS: `unix:path=${BUS}` };
    expect(desktopAccess(facts([GDBUS, BUS], { uid: 0, env }))).toEqual({ state: 'service' });
  });

  test('a program is needed, and none of the working directory', () => {
    expect(desktopAccess(facts([BUS]))).toEqual({ state: 'no_program' });
    const env = { PATH: '.:bin' };
    expect(desktopAccess(facts([BUS, 'gdbus', 'bin/gdbus'], { env }))).toEqual({ state: 'no_program' });
  });
});

test('on macOS it is osascript, for people', () => {
  const there = ['/usr/bin/osascript'];
  const env = { HOME: '/Users/ana', TOKEN: 'x' };
  expect(desktopAccess(facts(there, { platform: 'darwin', uid: 501, env }))).toEqual({
    state: 'ready',
    program: 'osascript',
    path: '/usr/bin/osascript',
    env: { HOME: '/Users/ana' },
  });
  expect(desktopAccess(facts(there, { platform: 'darwin', uid: 0 }))).toEqual({ state: 'service' });
  expect(desktopAccess(facts(there, { platform: 'darwin', uid: 212 }))).toEqual({ state: 'service' });
  expect(desktopAccess(facts([], { platform: 'darwin', uid: 501 }))).toEqual({ state: 'no_program' });
});

test("on Windows it is Windows' own PowerShell, unless the agent is a service", () => {
  const path = String.raw`D:\Windows\System32\WindowsPowerShell\v1.0\powershell.exe`;
  const env = { SystemRoot: String.raw`D:\Windows`, SECRET: 'x' };
  const windows = { platform: 'win32', uid: undefined } as const;
  expect(desktopAccess(facts([path], { ...windows, env }))).toEqual({
    state: 'ready',
    program: 'powershell',
    path,
    env: { SystemRoot: String.raw`D:\Windows` },
  });
  const service = { ...env, HOLDFAST_WINDOWS_SERVICE: 'Holdfast' };
  expect(desktopAccess(facts([path], { ...windows, env: service }))).toEqual({ state: 'service' });
  expect(desktopAccess(facts([], { ...windows, env }))).toEqual({ state: 'no_program' });
});

test('doctor says so, and what to do', () => {
  expect(checkDesktop(false, facts([BUS, GDBUS]))).toEqual({
    check: 'desktop',
    status: 'ok',
    message: 'Notices are shown by gdbus',
    hint: '',
  });
  expect(checkDesktop(false, facts([GDBUS], { uid: 0 }))).toMatchObject({
    status: 'warning',
    message: 'This agent runs as a service of the machine and has no desktop to show messages on',
    hint: 'Turn notifications on in your browser instead, on the page under Settings, Notifications.',
  });
  expect(checkDesktop(false, facts([BUS]))).toMatchObject({ status: 'warning' });
  expect(checkDesktop(true, facts([BUS, GDBUS]))).toMatchObject({ status: 'warning' });
  // Nobody has to do anything about it.
  expect(checkDesktop(false, facts([GDBUS]))).toMatchObject({ status: 'ok', hint: '' });
});
