/** Where installed servers are kept between runs. Data of servers is elsewhere and goes after every run. */
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

export function cacheDirectory(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  const directory = process.env['HOLDFAST_TEST_SERVERS'] ?? join(cache, 'holdfast-test-servers');
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
