/** A command that is over ends, although something in its process goes on. */
import { expect, it } from 'vitest';
import { moduleUrl, runScript } from '../support/run-script.ts';

it('ends once its output is written, whatever still holds the process open', async () => {
  const script = `
    process.argv.splice(2, Infinity, 'help', 'backup');
    setInterval(() => undefined, 1_000);
    await import('${moduleUrl('src/main.ts')}');
  `;
  expect(await runScript(script)).toContain('holdfast backup');
});
