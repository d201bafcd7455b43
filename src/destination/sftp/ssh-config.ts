/** What the person's own ssh configuration says about a host: the few settings that decide who is reached, and how. */
import { join } from 'node:path';
import { matches } from './known-hosts.ts';

export interface HostSettings {
  readonly hostName?: string;
  readonly user?: string;
  readonly port?: number;
  /** In the order in which they are tried. */
  readonly identityFiles: readonly string[];
}

/** As ssh does, the first value that fits counts. `Match` blocks, and files that are included, are passed over. */
export function parseSshConfig(text: string, host: string, home: string): HostSettings {
  const found = new Map<string, string>();
  const identityFiles: string[] = [];
  let applies = true;
  for (const line of text.split(/\r?\n/)) {
    const [, keyword = '', rest = ''] = /^([A-Za-z]+)(?:\s*=\s*|\s+)([^]*)$/.exec(line.trimStart()) ?? [];
    const name = keyword.toLowerCase();
    if (name === 'host') applies = isHost(wordsOf(rest), host);
    else if (name === 'match') applies = false;
    else if (!applies || name === '') continue;
    else if (name === 'identityfile') identityFiles.push(wordsOf(rest)[0] ?? '');
    else if (!found.has(name)) found.set(name, wordsOf(rest)[0] ?? '');
  }
  const hostName = found.get('hostname')?.replaceAll('%h', host);
  const user = found.get('user');
  const port = Number(found.get('port'));
  return {
    ...(hostName === undefined ? {} : { hostName }),
    ...(user === undefined ? {} : { user }),
    ...(Number.isInteger(port) && port > 0 && port < 65_536 ? { port } : {}),
    identityFiles: identityFiles
      .filter((file) => file !== '' && file.toLowerCase() !== 'none')
      .map((file) => expanded(file, hostName ?? host, home)),
  };
}

function isHost(patterns: readonly string[], host: string): boolean {
  const denied = patterns.some((pattern) => pattern.startsWith('!') && matches(pattern.slice(1), host));
  return !denied && patterns.some((pattern) => !pattern.startsWith('!') && matches(pattern, host));
}

function wordsOf(text: string): readonly string[] {
  return [...text.matchAll(/"([^"]*)"|([^\s"]+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
}

function expanded(file: string, host: string, home: string): string {
  const path = file
    .replace(/^~(?=\/|$)/, home)
    .replaceAll('%d', home)
    .replaceAll('%h', host);
  return join(path.startsWith('/') || /^[a-z]:/i.test(path) ? '' : home, path);
}
