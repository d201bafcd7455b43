import { describe, expect, test } from 'vitest';
import { installSteps, layoutOf } from '../../../src/cli/install/plan.ts';
import { stateInUnit } from '../../../src/cli/install/installed.ts';

const anna = { name: 'anna', uid: 4242, home: '/home/anna' };

async function unitWith(state: string): Promise<string> {
  const layout = layoutOf('user', { HOLDFAST_STATE_DIR: state }, 'linux', anna);
  const steps = await installSteps(layout, { start: false, runtime: '/opt/node' });
  const unit = steps.find((step) => step.kind === 'write');
  return unit?.kind === 'write' ? unit.content : '';
}

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
