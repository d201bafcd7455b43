import { readFileSync } from 'node:fs';

/** The version in package.json, which lies in the folder above both `src` and `dist`. */
export function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const version: unknown =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? version : '0.0.0';
}

/** The name of this program as snapshots record it. */
export function toolName(): string {
  return `holdfast ${programVersion()}`;
}
