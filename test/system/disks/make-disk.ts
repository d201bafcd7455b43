/** Makes a disk with an agent, its source, a repository with three backups of which two were forgotten, and an empty one. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { PASSPHRASE, succeed } from '../../sweep/program.ts';
import { prepareAgent, startAgent, type RunningAgent, type ShownJob } from '../../sweep/agent-program.ts';
import { Workspace } from '../../sweep/workspace.ts';
import { digestOf, treeScript } from '../trees.ts';
import { given, mountDisk, placeOf, run, shell, unmountDisk, type DiskFacts } from './mounted-disk.ts';

export interface MadeDisk {
  readonly credential: { readonly api_key: string; readonly secret: string };
  /** By the tag of the backup that has it. */
  readonly digests: Readonly<Record<string, string>>;
}

interface Given extends DiskFacts {
  readonly port: number;
  readonly mebibytes: number;
}

/** Small packs, so that there are many to write and to remove; the cheapest passphrase that an agent opens. */
const SIZES = {
  packTarget: 160_000,
  segmentTarget: 65_536,
  cost: { m: 65_536, t: 1, p: 1 },
  graceSeconds: 1,
};
const BACKUPS = 3;

async function finished(agent: RunningAgent, path: string, { id }: ShownJob): Promise<ShownJob> {
  for (;;) {
    const shown = await agent.job(path, id);
    if (shown.status === 'completed') return shown;
    if (shown.finished_at !== null) throw new Error(JSON.stringify(shown));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const facts = given() as Given;
run(`mkfs.${facts.kind}`, ['-q', facts.image]);
const mount = mountDisk(facts);
const source = `${mount}/source`;
const place = placeOf(mount);
const workspace = new Workspace('system');
for (const repository of ['store', 'fresh']) {
  const scratch = { ...placeOf(mount, repository), state: '/mnt/scratch-state' };
  mkdirSync(scratch.state, { recursive: true });
  await workspace.createAt(scratch, SIZES);
}
mkdirSync(place.state, { mode: 0o700 });
const passphrase = `${place.state}/passphrase-of-both`;
writeFileSync(passphrase, PASSPHRASE, { mode: 0o600 });
const destination = (name: string): object => ({ url: `${mount}/${name}`, passphrase: { file: passphrase } });
const agentPlace = await prepareAgent(place, {
  listen: { port: facts.port },
  defaultDestination: 'store',
  destinations: { store: destination('store'), fresh: destination('fresh') },
  sources: [{ path: source, watch: false, schedule: 'every 720h' }],
});
const digests: Record<string, string> = {};
const agent = await startAgent(agentPlace);
for (let generation = 1; generation <= BACKUPS + 1; generation += 1) {
  shell(treeScript(source, generation, facts.mebibytes));
  const tag = `generation-${generation}`;
  digests[tag] = shell(digestOf(source));
  // The last one is what the machine backs up.
  if (generation > BACKUPS) break;
  await finished(agent, '/backup', await agent.submit('/backup', { source, options: { tags: [tag] } }));
}
await succeed(place, ['forget', '--keep-last', '1']);
await finished(agent, '/prune', await agent.submit('/prune', {}));
await agent.stop();
workspace[Symbol.dispose]();
rmSync('/mnt/scratch-state', { recursive: true, force: true });
unmountDisk(mount);
process.stdout.write(JSON.stringify({ credential: agentPlace.credential, digests } satisfies MadeDisk));
