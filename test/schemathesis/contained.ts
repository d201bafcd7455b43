/**
 * Where requests that anybody may make up are let loose: a view of the machine in which one directory in memory can be
 * written and nothing else, with a network that ends at loopback, no rights beyond those of the user, and processes that end
 * with the first of them. The interfaces take paths of this machine, and write, overwrite and remove what is there.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const SCRIPT = fileURLToPath(new URL('contained.sh', import.meta.url));

export interface Contained {
  /** There already, and empty. Gone with all that is in it when the command ends. */
  readonly directory: string;
  /** Stays. */
  readonly kept: string | undefined;
  readonly python: string;
}

export function contained(
  { directory, kept = '', python }: Contained,
  words: readonly string[],
): readonly [string, ...string[]] {
  return [...view(), 'sh', SCRIPT, directory, kept, python, ...words];
}

/** Linux, and root or a kernel that lets everybody have namespaces. */
export function canContain(): boolean {
  const [program, ...words] = [...view(), 'mount', '-t', 'tmpfs', 'holdfast', '/tmp'];
  return spawnSync(program, words).status === 0;
}

function view(): readonly [string, ...string[]] {
  const asUser = process.getuid?.() === 0 ? [] : ['--user', '--map-root-user'];
  return ['unshare', ...asUser, '--mount', '--net', '--pid', '--mount-proc', '--fork', '--kill-child', '--'];
}
