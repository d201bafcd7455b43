/** Files in the machine that are backed up, and whether what was restored is what stood there: by tar and sha256sum alone. */
import type { Guest } from './guest.ts';
import type { GuestAgent } from './guest-agent.ts';

/**
 * Writes about `mebibytes` of files: many small ones, some large ones, with owners, modes and times of their own. Another
 * `generation` changes a twentieth of them, others than the one before it, adds some and removes some: six generations within
 * an hour are fewer than what an agent calls rewritten at once.
 */
export function treeScript(directory: string, generation: number, mebibytes: number): string {
  return `set -e; mkdir -p ${directory}; cd ${directory}
    for n in $(seq 1 12); do
      d=dir-$n; mkdir -p $d
      for f in $(seq 1 20); do
        [ $(( (n + f + ${generation}) % 20 )) = 0 ] || [ ! -e $d/file-$f ] || continue
        head -c $(( (n * 131 + f * 977 + ${generation} * 37) % 9000 )) /dev/urandom > $d/file-$f
        chmod $(( 4 + f % 3 ))$(( n % 8 ))0 $d/file-$f
        touch -d "2026-0$(( 1 + n % 9 ))-1$(( f % 9 )) 10:1$(( n % 6 )):0$(( f % 9 )).123456789" $d/file-$f
      done
      chown -R $(( 1000 + n % 2 )):$(( 1000 + n % 3 )) $d
      chmod 75$(( n % 8 )) $d
    done
    rm -f dir-$(( 1 + ${generation} % 12 ))/file-7
    ln -sfn dir-1/file-1 link; ln -f dir-2/file-2 hard
    for n in 1 2 3; do head -c $(( ${mebibytes} * 1048576 / 3 )) /dev/urandom > large-$n-$(( ${generation} % 2 )); done
    sync -f .`;
}

export async function makeTree(
  guest: Guest,
  directory: string,
  generation: number,
  mebibytes: number,
): Promise<void> {
  await guest.run(treeScript(directory, generation, mebibytes), { withinMs: 300_000 });
}

/** What `tar` and `sha256sum` say of a tree, in one line: content, kinds, modes, owners, links and times. */
export function digestOf(directory: string): string {
  return `cd ${directory} && { find . -printf '%p %y %m %U %G %l %T@ %s\\n' | sed -E 's/^(\\S+ d .*) [0-9]+$/\\1/' | sort; find . -type f -print0 | sort -z | xargs -0 sha256sum; } | sha256sum | cut -c1-64`;
}

/**
 * Restores a snapshot as root and compares it with what stands in the source now.
 * @returns empty when they are alike, else what differs
 */
export async function restoredAlike(
  guest: Guest,
  agent: GuestAgent,
  snapshot: string,
  source: string,
  repository: string,
): Promise<string> {
  const target = '/srv/restored';
  await guest.run(`rm -rf ${target}; mkdir -m 700 ${target}; chown ${agent.place.user} ${target}`);
  const state = `HOLDFAST_STATE_DIR=${agent.place.state} HOLDFAST_CONFIG=/etc/holdfast/config.json`;
  const restored = await guest.try(
    `cd / && env ${agent.place.environment === '' ? state : agent.place.environment} holdfast restore ${snapshot} ${repository} --target ${target} --restore-ownership`,
    { withinMs: 300_000 },
  );
  if (restored.code !== 0)
    return `restore: ${restored.code} ${restored.stdout.slice(-800)} ${restored.stderr.slice(-800)}`;
  const found = await guest.run(`find ${target} -type d -path '*${source}' -prune; ls -A ${target}`);
  const place = found.split('\n')[0]?.endsWith(source) === true ? found.split('\n')[0] : target;
  const [before, after] = [await guest.run(digestOf(source)), await guest.run(digestOf(`${place}`))];
  if (before === after) return '';
  return await guest.run(
    `list() { cd $1 && find . -printf '%p %y %m %U %G %l %T@ %s\\n' | sort; }; list ${source} >/tmp/a; list ${place} >/tmp/b; diff /tmp/a /tmp/b | head -20; true`,
  );
}
