/** Programs of others that import `holdfast/client`: what compiles, and what is found to be wrong before it runs. */
// Turn 4 of 8.
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const compiler = join(root, 'test', 'node_modules', 'typescript', 'bin', 'tsc');

const PROGRAM = `
import {
  type ClientCode, type Desktop, type DesktopClient, HoldfastError, type Partner, desktopClient, partnerClient, verifyWebhook,
} from 'holdfast/client';

const agent: DesktopClient = desktopClient({ apiKey: 'a', secret: 'b' });
const partner = partnerClient({ address: 'https://backup.example.org', apiKey: 'c' });

export async function right(): Promise<void> {
  const job: Desktop.Backup = await agent.post('/backup', { body: { source: '/a', options: { exclude: ['*.o'] } }, waitSeconds: 5 });
  const ended = await agent.waitForJob(job, { onProgress: ({ progress }) => progress.percent?.toFixed() });
  ended.files_backed_up.toFixed();
  (await agent.waitForJob(await agent.post('/check'))).read_data.toFixed();
  for await (const file of agent.items('/files', { query: { backup_id: ended.id } })) file.size_bytes.toFixed();
  for await (const { type, job: now } of agent.events()) if (type === 'job.finished') now?.id.trim();
  await agent.get('/status', { signal: AbortSignal.timeout(5) });
  (await agent.get('/files/content', { query: { path: '/a' } })).body?.cancel();
  (await agent.get('/settings')).settings.sources?.map(({ path, schedule }) => path.length + (schedule ?? '').length);
  await agent.put('/settings', { headers: { 'If-Match': '*' }, body: { settings: { log: {} } } });
  await agent.delete('/snapshots/{id}', { path: { id: 'x' } });
  const { id }: Partner.Customer = await partner.post('/customers', { body: { name: 'x' }, idempotencyKey: 'k' });
  for await (const device of partner.items('/customers/{id}/devices', { path: { id } })) device.last_seen_at?.trim();
  const message = verifyWebhook({ secret: 's', headers: new Headers(), body: '' });
  if (message.type === 'backup.failed') message.data.error_code?.trim();
  try {
    await partner.patch('/customers/{id}', { path: { id }, body: { email: null } });
  } catch (error) {
    if (error instanceof HoldfastError && error.code === ('JOB_CANCELED' satisfies ClientCode)) error.details['path'];
  }
}

export async function wrong(): Promise<void> {
  // @ts-expect-error there is no such path
  await agent.get('/backups');
  // @ts-expect-error the path has no such method
  await agent.delete('/backup/{id}', { path: { id: 'x' } });
  // @ts-expect-error the body is missing
  await agent.post('/backup');
  // @ts-expect-error a field that is not there
  await agent.post('/backup', { body: { source: '/a', sorce: '/b' } });
  // @ts-expect-error a setting that is not there
  await agent.put('/settings', { headers: { 'If-Match': '*' }, body: { settings: { surces: [] } } });
  // @ts-expect-error the id is missing
  await agent.get('/backup/{id}', {});
  // @ts-expect-error no such state
  await agent.get('/backup', { query: { status: 'done' } });
  // @ts-expect-error no list
  agent.items('/status');
  // @ts-expect-error nothing to wait for
  await agent.waitForJob(await agent.get('/status'));
  // @ts-expect-error a route of devices
  await partner.get('/devices/self/plan');
}
`;

let place: string;
beforeAll(() => {
  place = mkdtempSync(join(tmpdir(), 'holdfast-consumer-'));
  mkdirSync(join(place, 'node_modules', '@types'), { recursive: true });
  // What the npm package has of it: package.json with its exports, and dist/client.
  symlinkSync(root, join(place, 'node_modules', 'holdfast'), 'junction');
  symlinkSync(
    join(root, 'node_modules', '@types', 'node'),
    join(place, 'node_modules', '@types', 'node'),
    'junction',
  );
  writeFileSync(join(place, 'package.json'), '{"type": "module"}');
  writeFileSync(join(place, 'program.ts'), PROGRAM);
  const document = readFileSync(join(root, 'docs', 'api-client.md'), 'utf8');
  const examples = [...document.matchAll(/^```js\n([\s\S]*?)^```$/gm)].map(([, text]) => text);
  writeFileSync(join(place, 'examples.ts'), examples.join('\n'));
});
afterAll(() => rmSync(place, { recursive: true, force: true }));

function compile(file: string, options: object): string {
  const compilerOptions = { noEmit: true, strict: true, ...options };
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: [file] }));
  return spawnSync(process.execPath, [compiler, '-p', place], { encoding: 'utf8' }).stdout;
}

test.each([
  ['Node.js', { module: 'nodenext', types: ['node'], lib: ['es2022'], exactOptionalPropertyTypes: true }],
  ['a bundler', { module: 'esnext', moduleResolution: 'bundler', types: [], lib: ['es2022', 'dom'] }],
])('a program for %s compiles, and mistakes in it do not', (_, options) => {
  expect(compile('program.ts', options)).toBe('');
});

test('the examples of docs/api-client.md are right in TypeScript too', () => {
  expect(compile('examples.ts', { module: 'nodenext', types: ['node'], lib: ['es2022'] })).toBe('');
});

test('the client itself needs nothing that Node.js 20 lacks', () => {
  const options = { module: 'nodenext', types: ['node'], lib: ['es2023', 'dom', 'dom.asynciterable'] };
  const more = { allowImportingTsExtensions: true, skipLibCheck: true };
  expect(compile(join(root, 'src', 'client', 'client.ts'), { ...options, ...more })).toBe('');
});
