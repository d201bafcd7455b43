import { readFileSync } from 'node:fs';

/** The version in package.json, which lies beside `src` and `dist` alike. */
export function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const version: unknown =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? version : '0.0.0';
}

/** As snapshots record what made them. */
export function toolName(): string {
  return `holdfast ${programVersion()}`;
}
