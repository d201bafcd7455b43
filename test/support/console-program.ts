/** The built Partner service, with one account, for a browser. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'vitest';
import { PASSPHRASE } from './cli.ts';
import type { OpenPage } from './chromium.ts';
import { openPartnerPlace } from './partner-program.ts';

export interface ConsoleProgram extends AsyncDisposable {
  /** As `http://127.0.0.1:7391`. */
  readonly address: string;
  /** Opens the settings page and signs in. */
  signIn(shown: OpenPage): Promise<void>;
  /** Opens a page below the settings page. */
  visit(shown: OpenPage, path: string): Promise<void>;
}

const EMAIL = 'ana@example.com';

export async function startConsoleProgram(): Promise<ConsoleProgram> {
  await using stack = new AsyncDisposableStack();
  const place = stack.use(await openPartnerPlace('sqlite'));
  const password = join(place.directory, 'password');
  writeFileSync(password, PASSPHRASE, { mode: 0o600 });
  const account = ['partner', 'init', '--name', 'Ana Sousa', '--email', EMAIL, '--password-file', password];
  await place.expectRun(account);
  const service = place.start(['partner', '--port', '0', '--json']);
  stack.defer(async () => {
    const ended = once(service, 'close');
    service.kill('SIGTERM');
    await ended;
  });
  const output = createInterface({ input: service.stdout ?? expect.fail('no output') });
  const [ready]: unknown[] = await once(output, 'line');
  const { address }: { readonly address: string } = JSON.parse(String(ready));
  const parts = stack.move();
  return {
    address,
    async signIn({ page }) {
      await page.goto(`${address}/settings`);
      expect(page.url()).toBe(`${address}/settings/sign-in`);
      await page.getByLabel('E-mail').fill(EMAIL);
      await page.getByLabel('Password').fill(PASSPHRASE);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.waitForURL(`${address}/settings`);
    },
    visit: async ({ page }, path) => void (await page.goto(`${address}/settings${path}`)),
    [Symbol.asyncDispose]: async () => await parts.disposeAsync(),
  };
}
