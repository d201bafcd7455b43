import { readFileSync } from 'node:fs';

/** The version in package.json, which lies in the folder above both `src` and `dist`. */
export function programVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  const version: unknown =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined;
  return typeof version === 'string' ? version : '0.0.0';
}

/** The version of the program on the disk, for one that runs: another one may have been put in its place. */
export function installedVersion(running: string): string {
  try {
    return programVersion();
  } catch {
    // It is being replaced at this moment, or was removed.
    return running;
  }
}

/** Whether one version comes after another. What follows a hyphen is not compared. */
export function isNewerVersion(version: string, than: string): boolean {
  const numbers = (text: string): readonly number[] => text.split(/[.+-]/).slice(0, 3).map(Number);
  const [parts, others] = [numbers(version), numbers(than)];
  for (const [place, part] of parts.entries()) {
    const other = others[place] ?? 0;
    if (part !== other) return part > other;
  }
  return false;
}

/** The name of this program as snapshots record it. */
export function toolName(): string {
  return `holdfast ${programVersion()}`;
}
