/** A command that is over ends, although something in its process goes on. */
import { expect, it } from 'vitest';
import { moduleUrl, runScript } from '../support/run-script.ts';

it('ends once its output is written, whatever still holds the process open', async () => {
  const script = `
    import { run } from '${moduleUrl('src/cli/run.ts')}';
    setInterval(() => undefined, 1_000);
    await run(['help', 'backup']);
  `;
  expect(await runScript(script)).toContain('holdfast backup');
});
