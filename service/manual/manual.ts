/** All manual pages of one edition: `node service/manual/manual.ts DIR` writes them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownVersion, releaseTime } from '../package/facts.ts';
import { commandPages, type Pages } from './command-pages.ts';
import { settingsPage } from './settings-page.ts';

export async function manualPages(version: string): Promise<Pages> {
  const date = new Date(releaseTime() * 1000).toISOString().slice(0, 10);
  const edition = { version, date };
  return { ...(await commandPages(edition)), 'holdfast-config.5': await settingsPage(edition) };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [directory = '.'] = process.argv.slice(2);
  mkdirSync(directory, { recursive: true });
  for (const [name, text] of Object.entries(await manualPages(ownVersion())))
    writeFileSync(path.join(directory, name), text);
}
