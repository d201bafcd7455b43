/** Everything below a directory. */
import { readdirSync } from 'node:fs';
import { sep } from 'node:path';

/** Paths below it, with `/` on every system. Directories are among them. */
export function namesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, encoding: 'utf8' }).map((name) =>
    name.replaceAll(sep, '/'),
  );
}
