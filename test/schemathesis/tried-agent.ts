/** The agent with two sources, two repositories, snapshots, and a job of each kind that has ended. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace } from '../support/cli.ts';
import { startProgram } from './program.ts';
import { dataOf, idOf, type TriedService } from './tried-service.ts';

const JOBS = { backup: 'Backup', restore: 'Restore', check: 'Check', prune: 'Prune' } as const;

/** @param directory empty; all that the agent has is below it */
export async function startTriedAgent(directory: string): Promise<TriedService> {
  await using opened = new AsyncDisposableStack();
  const place = opened.use(await openPlace(directory));
  const sources = ['documents', 'pictures'].map((name) => join(directory, name));
  const [documents = '', pictures = ''] = sources;
  const live = (turn: number): void => {
    for (const source of sources) {
      mkdirSync(join(source, 'letters'), { recursive: true });
      writeFileSync(join(source, 'letters', `letter ${turn}.txt`), `Letter ${turn}\n`.repeat(turn + 1));
      writeFileSync(join(source, 'plan.odt'), `The plan, ${turn}`);
      writeFileSync(join(source, 'größer.bin'), Buffer.alloc(100_000, turn));
    }
  };
  live(0);
  mkdirSync(place.state, { mode: 0o700 });
  writeFileSync(join(place.state, 'config.json'), settingsText(sources, join(directory, 'disk')), {
    mode: 0o600,
  });
  const { address } = opened.use(await startProgram(place, ['start']));
  const { stdout } = await place.expectRun(['credentials', 'create', '--name', 'schemathesis', '--json']);
  const { api_key, secret } = JSON.parse(stdout) as Readonly<Record<string, string>>;
  const api = `${address}/v1`;
  const token = await dataOf(`${api}/auth/token`, { headers: {}, body: { api_key, secret } });
  const bearer = String(token['access_token']);
  const headers = { authorization: `Bearer ${bearer}`, prefer: 'wait=60' };
  const run = async (job: string, body: object): Promise<string> =>
    await idOf(`${api}/${job}`, { headers, body });

  const backups: string[] = [];
  for (let turn = 1; turn <= 6; turn += 1) {
    live(turn);
    for (const source of sources) backups.push(await run('backup', { source }));
  }
  backups.push(await run('backup', { source: documents, destination: 'disk' }));
  const target = join(directory, 'restored');
  const jobs = {
    backups,
    restores: [await run('restore', { source: documents, target })],
    checks: [await run('check', {}), await run('check', { destination: 'disk', read_data: 1 })],
    prunes: [await run('prune', {})],
  };
  const { items } = await dataOf(`${api}/snapshots?limit=100`, { headers });
  const snapshots = (items as readonly { readonly id: string }[]).map(({ id }) => id);
  const owned = opened.move();
  return {
    name: 'desktop',
    address,
    access: { accessToken: { bearer } },
    known: {
      ...jobs,
      snapshots: snapshots.slice(4),
      // Those that may be forgotten.
      spares: snapshots.slice(0, 4),
      sources,
      paths: [
        documents,
        join(documents, 'letters'),
        join(documents, 'plan.odt'),
        join(pictures, 'größer.bin'),
      ],
      files: [join(documents, 'plan.odt'), join(pictures, 'größer.bin')],
      targets: [target, join(directory, 'elsewhere')],
      destinations: ['default', 'disk'],
      compressions: ['zstd', 'zstd:1', 'none', 'auto'],
      times: [new Date().toISOString()],
      any: ['*'],
      keys: [api_key ?? ''],
      secrets: [secret ?? ''],
    },
    places: placesOf(),
    [Symbol.asyncDispose]: async () => await owned.disposeAsync(),
  };
}

function placesOf(): TriedService['places'] {
  const ofJobs = Object.entries(JOBS).flatMap(([job, name]) => {
    const verbs = [`get${name}`, `cancel${name}`, `stream${name}Events`, `get${name}Log`];
    return [
      ...verbs.map((verb) => [verb, { 'path.id': `${job}s` }] as const),
      [`list${name}s`, { 'query.destination': 'destinations' }] as const,
    ];
  });
  return {
    ...Object.fromEntries(ofJobs),
    createBackup: {
      'body.source': 'sources',
      'body.destination': 'destinations',
      'body.options.compression': 'compressions',
    },
    createRestore: {
      'body.snapshot_id': 'snapshots',
      'body.backup_id': 'backups',
      'body.source': 'sources',
      'body.target': 'targets',
    },
    createCheck: { 'body.destination': 'destinations' },
    createPrune: { 'body.destination': 'destinations' },
    listFiles: {
      'query.snapshot': 'snapshots',
      'query.backup_id': 'backups',
      'query.source': 'sources',
      'query.path': 'paths',
    },
    listFileVersions: { 'query.path': 'paths', 'query.source': 'sources' },
    getFileContent: { 'query.snapshot': 'snapshots', 'query.path': 'files' },
    listSnapshots: { 'query.source': 'sources', 'query.destination': 'destinations' },
    getSnapshot: { 'path.id': 'snapshots', 'query.source': 'sources' },
    deleteSnapshot: { 'path.id': 'spares' },
    diffSnapshot: { 'path.id': 'snapshots', 'query.base': 'snapshots' },
    replaceSettings: { 'header.If-Match': 'any' },
    createToken: { 'body.api_key': 'keys', 'body.secret': 'secrets' },
  };
}

/** With nothing that begins by itself, and the plan that allows most requests. */
function settingsText(sources: readonly string[], disk: string): string {
  return JSON.stringify({
    plan: 'business',
    sources: sources.map((path) => ({ path, schedule: 'off', watch: false })),
    destinations: { disk: { url: disk } },
  });
}
