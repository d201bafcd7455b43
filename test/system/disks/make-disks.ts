/**
 * Makes the disks of a machine: an agent with three repositories, of which one has forgotten backups to prune, one a
 * backup that another will follow, and one none; and the store of a Partner service with devices that are enrolled there.
 */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { PASSPHRASE, succeed } from '../../sweep/program.ts';
import { prepareAgent, startAgent, type RunningAgent, type ShownJob } from '../../sweep/agent-program.ts';
import { Workspace } from '../../sweep/workspace.ts';
import { digestOf, treeScript } from '../trees.ts';
import { makePartner, type MadePartner } from './make-partner.ts';
import {
  BACKUPS,
  DISKS,
  FIRST,
  LATER,
  MEBIBYTES,
  REPOSITORIES,
  given,
  imageOf,
  mountDisks,
  placeOf,
  run,
  shell,
  unmountDisks,
  type DiskFacts,
  type RepositoryName,
} from './mounted-disk.ts';

export interface MadeDisks {
  readonly credential: { readonly api_key: string; readonly secret: string };
  /** By the tag of the backup that has it. */
  readonly digests: Readonly<Record<string, string>>;
  readonly partner: MadePartner;
}

interface Given extends DiskFacts {
  readonly port: number;
  readonly partnerPort: number;
  readonly devices: number;
}

/** Small packs, so that there are many to write and to remove; the cheapest passphrase that an agent opens. */
const SIZES = {
  packTarget: 160_000,
  segmentTarget: 65_536,
  cost: { m: 65_536, t: 1, p: 1 },
  graceSeconds: 1,
};

async function finished(agent: RunningAgent, path: string, { id }: ShownJob): Promise<void> {
  for (;;) {
    const shown = await agent.job(path, id);
    if (shown.status === 'completed') return;
    if (shown.finished_at !== null) throw new Error(JSON.stringify(shown));
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

const facts = given() as Given;
for (const name of DISKS) {
  run('truncate', ['--size', '400M', imageOf(facts, name)]);
  run(`mkfs.${facts.kind}`, ['-q', imageOf(facts, name)]);
}
mountDisks(facts);
const workspace = new Workspace('system');
for (const repository of REPOSITORIES) {
  const scratch = { ...placeOf(repository), state: '/mnt/scratch-state' };
  mkdirSync(scratch.state, { recursive: true });
  await workspace.createAt(scratch, SIZES);
}
const place = placeOf('store');
mkdirSync(place.state, { mode: 0o700 });
const passphrase = `${place.state}/passphrase-of-all`;
writeFileSync(passphrase, PASSPHRASE, { mode: 0o600 });
const destination = (name: RepositoryName): object => ({
  url: placeOf(name).repository,
  passphrase: { file: passphrase },
});
const agentPlace = await prepareAgent(place, {
  listen: { port: facts.port },
  defaultDestination: 'store',
  destinations: Object.fromEntries(REPOSITORIES.map((name) => [name, destination(name)])),
  // The other one is backed up because somebody asks for it.
  sources: [{ path: LATER.source, watch: false, schedule: 'off' }],
});
shell(treeScript(FIRST.source, 1, MEBIBYTES));
const digests: Record<string, string> = { [FIRST.tag]: shell(digestOf(FIRST.source)) };
// An agent begins with a backup of each source that has none, so that it has to stand there as a whole.
shell(treeScript(LATER.source, 1, MEBIBYTES));
const agent = await startAgent(agentPlace);
const backUp = async (tag: string, to: RepositoryName): Promise<void> => {
  const asked = { source: LATER.source, destination: to, options: { tags: [tag] } };
  await finished(agent, '/backup', await agent.submit('/backup', asked));
};
for (let generation = 1; generation <= BACKUPS + 1; generation += 1) {
  const tag = `papers-${generation}`;
  if (generation > 1) shell(treeScript(LATER.source, generation, MEBIBYTES));
  digests[tag] = shell(digestOf(LATER.source));
  // The last one is what the machine backs up.
  if (generation > BACKUPS) break;
  await backUp(tag, 'store');
  if (generation === BACKUPS) await backUp(tag, 'grown');
}
await succeed(place, ['forget', '--keep-last', '1']);
await finished(agent, '/prune', await agent.submit('/prune', {}));
await agent.stop();
workspace[Symbol.dispose]();
rmSync('/mnt/scratch-state', { recursive: true, force: true });
const partner = await makePartner(facts.partnerPort, facts.devices);
unmountDisks();
process.stdout.write(
  JSON.stringify({ credential: agentPlace.credential, digests, partner } satisfies MadeDisks),
);
