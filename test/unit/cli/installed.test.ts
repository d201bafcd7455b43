import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { HERE } from '../../../src/base/program-call.ts';
import { installSteps, layoutOf } from '../../../src/cli/install/plan.ts';
import {
  installCommand,
  installedUnit,
  requireNoPackage,
  stateInUnit,
} from '../../../src/cli/install/installed.ts';

const anna = { name: 'anna', uid: 4242, home: '/home/anna' };

async function unitWith(state: string): Promise<string> {
  const layout = layoutOf('user', { HOLDFAST_STATE_DIR: state }, 'linux', anna);
  const steps = await installSteps(layout, {
    start: false,
    runtime: '/opt/node',
    known: false,
    stamp: '',
  });
  const unit = steps.find((step) => step.kind === 'write');
  return unit?.kind === 'write' ? unit.content : '';
}

describe.runIf(process.platform === 'linux')('how to get a service', () => {
  test('is for root to do, with the state of the person', () => {
    const program = `${process.execPath} ${HERE.root}/service/bin/holdfast.js service install --user`;
    expect(installCommand({}, false)).toBe(`sudo ${program}`);
    expect(installCommand({ HOLDFAST_STATE_DIR: '/my state' }, false)).toBe(
      `sudo env 'HOLDFAST_STATE_DIR=/my state' ${program}`,
    );
    expect(installCommand({}, true)).toBe('holdfast service install');
  });
});

describe('the state that a unit names', () => {
  test.each(['/srv/anna', '/srv/a b', '/srv/100%', String.raw`/srv/"q" \n`, "/srv/it's"])(
    'is read as it was written: %s',
    async (state) => {
      expect(stateInUnit(await unitWith(state))).toBe(state);
    },
  );

  test.each([
    ['Environment=A=1 "HOLDFAST_STATE_DIR=/a b" B=2', '/a b'],
    ['Environment=HOLDFAST_STATE_DIR=/one\nEnvironment=HOLDFAST_STATE_DIR=/two', '/two'],
  ])('is found in %j', (text, state) => {
    expect(stateInUnit(text)).toBe(state);
  });

  test.each(['', '# Environment=HOLDFAST_STATE_DIR=/a', 'Environment=HOLDFAST_STATE_DIR=%h/state'])(
    'is not known from %j',
    (text) => {
      expect(stateInUnit(text)).toBeUndefined();
    },
  );
});

describe('the unit of a package', () => {
  let packaged: string;
  let own: string;
  beforeEach(() => {
    [packaged, own] = ['package', 'own'].map((name) => mkdtempSync(join(tmpdir(), `holdfast-${name}-`))) as [
      string,
      string,
    ];
    writeFileSync(join(packaged, 'holdfast.service'), '');
  });
  afterEach(() => {
    for (const directory of [packaged, own]) rmSync(directory, { recursive: true });
  });

  const layout = layoutOf('system', {}, 'linux');

  test('is the service of the machine, unless an administrator wrote another', async () => {
    const mine = { ...layout, unit: join(own, 'holdfast.service') };
    expect(await installedUnit(mine, [own])).toBeUndefined();
    expect(await installedUnit(mine, [packaged])).toBe(join(packaged, 'holdfast.service'));
    writeFileSync(mine.unit, '');
    expect(await installedUnit(mine, [packaged])).toBe(mine.unit);
  });

  test('is not hidden by a second one', async () => {
    await expect(requireNoPackage(layout, [packaged])).rejects.toThrow('came with a package');
    await expect(requireNoPackage(layout, [own])).resolves.toBeUndefined();
    const person = layoutOf('user', {}, 'linux', anna);
    await expect(requireNoPackage(person, [packaged])).resolves.toBeUndefined();
  });
});
