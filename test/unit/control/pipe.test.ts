/** The agent's pipe on Windows, whose name any user of the machine may see and serve. A socket stands in for it here. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { ControlHandlers } from '../../../src/control/calls.ts';
import { callThrough } from '../../../src/control/client.ts';
import {
  endpointOf,
  newChallenge,
  newEndpoint,
  parsePipe,
  proofOf,
  type Pipe,
} from '../../../src/control/endpoint.ts';
import { serveControl } from '../../../src/control/server.ts';
import { removeTree } from '../../support/remove-tree.ts';

const never = new AbortController().signal;
const PAGE = { address: 'http://127.0.0.1:7390/#code=secret', seconds: 60 };

async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'holdfast-pipe-'));
  onTestFinished(() => removeTree(made));
  return made;
}

/** An agent whose page needs a code; and what it was asked. */
async function served(): Promise<{ readonly pipe: Pipe; readonly run: string; readonly asked: unknown[] }> {
  const run = await directory();
  const asked: unknown[] = [];
  const handlers: Partial<ControlHandlers> = {
    async open_page(input) {
      asked.push(input);
      return PAGE;
    },
  };
  const pipe: Pipe = { kind: 'pipe', path: join(run, 'pipe'), secret: randomBytes(32) };
  const fault = (error: unknown): void => {
    throw error;
  };
  const server = await serveControl(run, handlers as ControlHandlers, fault, pipe);
  onTestFinished(async () => await server.close());
  return { pipe, run, asked };
}

const open = async (pipe: Pipe): Promise<unknown> =>
  await callThrough(pipe, 'open_page', { user: null }, never);

test('is asked by whoever knows its secret, again and again', async () => {
  const { pipe, asked } = await served();
  expect([await open(pipe), await open(pipe)]).toEqual([PAGE, PAGE]);
  expect(asked).toEqual([{ user: null }, { user: null }]);
});

test('tells nothing to who does not, nor to who listened to another', async () => {
  const { pipe, asked } = await served();
  const stranger = { ...pipe, secret: randomBytes(32) };
  await expect(open(stranger)).rejects.toMatchObject({ code: 'NOT_THE_AGENT' });
  const challenges = { command: newChallenge(), agent: newChallenge() };
  for (const proof of [undefined, '', 'x', proofOf('command', pipe, challenges)]) {
    const answer: unknown = JSON.parse(await bare(pipe.path, 'open_page', proof));
    expect(answer).toMatchObject({ ok: false, code: 'FORBIDDEN' });
  }
  expect(asked).toEqual([]);
});

test('of another program at the same name learns nothing', async () => {
  const path = join(await directory(), 'pipe');
  const pipe: Pipe = { kind: 'pipe', path, secret: randomBytes(32) };
  const heard: string[] = [];
  // What it could do best: repeat a proof that it saw, or answer with the challenge itself.
  const answers = [
    {
      challenge: newChallenge(),
      proof: proofOf('agent', pipe, { command: newChallenge(), agent: newChallenge() }),
    },
    { challenge: newChallenge(), proof: '' },
    { ok: true, value: PAGE },
    'nonsense',
  ];
  for (const answer of answers) {
    const server = await impostor(path, heard, answer);
    await expect(open(pipe)).rejects.toMatchObject({ code: 'NOT_THE_AGENT' });
    await new Promise((resolve) => server.close(resolve));
  }
  expect([...new Set(heard)]).toEqual(['/prove']);
});

test('is not asked through another pipe that passes everything on', async () => {
  const { pipe, asked } = await served();
  const path = join(await directory(), 'relay');
  const server = createServer((incoming, outgoing) => {
    const onward = request(
      { socketPath: pipe.path, method: 'POST', path: incoming.url, headers: incoming.headers },
      (reply) => void reply.pipe(outgoing),
    );
    incoming.pipe(onward);
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  onTestFinished(() => void server.close());
  await expect(open({ ...pipe, path })).rejects.toMatchObject({ code: 'NOT_THE_AGENT' });
  expect(asked).toEqual([]);
});

test('has another name in each run, which says nothing of the user or the directory', async () => {
  const run = String.raw`C:\Users\ann\AppData\Local\Holdfast\run`;
  const [one, two] = [newEndpoint(run, 'win32'), newEndpoint(run, 'win32')];
  expect(one.path).toMatch(/^\\\\\.\\pipe\\holdfast-[0-9a-f]{32}$/);
  expect(one.path).not.toBe(two.path);
});

test('is announced in a file of the state directory, and withdrawn when the agent ends', async () => {
  const run = await directory();
  const pipe: Pipe = { kind: 'pipe', path: join(run, 'pipe'), secret: randomBytes(32) };
  const none = (): void => undefined;
  const server = await serveControl(run, {} as Partial<ControlHandlers> as ControlHandlers, none, pipe);
  const text = await readFile(join(run, 'control.json'), 'utf8');
  expect(JSON.parse(text)).toEqual({ pipe: pipe.path, secret: pipe.secret.toString('hex') });
  await server.close();
  await expect(endpointOf(run, 'win32')).rejects.toMatchObject({ code: 'NO_AGENT' });
});

test('is one of Holdfast alone, whatever the file says', () => {
  const secret = '00'.repeat(32);
  const path = String.raw`\\.\pipe\holdfast-0123456789abcdef0123456789abcdef`;
  expect(parsePipe('f', JSON.stringify({ pipe: path, secret }))).toMatchObject({ kind: 'pipe', path });
  const elsewhere = String.raw`\\server\pipe\holdfast-0123456789abcdef0123456789abcdef`;
  for (const text of ['', '[]', JSON.stringify({ pipe: elsewhere, secret }), JSON.stringify({ pipe: path })])
    expect(() => parsePipe('f', text)).toThrow(expect.objectContaining({ code: 'STATE_DAMAGED' }));
});

async function bare(socketPath: string, call: string, proof: string | undefined): Promise<string> {
  return await new Promise((resolve, reject) => {
    const headers = proof === undefined ? {} : { 'x-holdfast-proof': proof };
    const asked = request({ socketPath, method: 'POST', path: `/${call}`, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => (text += part));
      response.on('end', () => resolve(text));
    });
    asked.on('error', reject).end('{"user":null}');
  });
}

async function impostor(path: string, heard: string[], answer: unknown): Promise<Server> {
  const server = createServer((incoming, outgoing) => {
    heard.push(incoming.url ?? '');
    outgoing.end(typeof answer === 'string' ? answer : JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => void server.listen(path, resolve));
  return server;
}
