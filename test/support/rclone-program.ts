/**
 * As much of "rclone serve restic --stdio --rc" as is needed to read and delete, on the directory RCLONE_TEST_FOLDER. So
 * many lists as the file beside it says (`…-losing`) lose a folder on their way: rclone ends them as if there were none.
 */
import { readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';

interface Answer {
  readonly status: number;
  readonly body: Buffer | string;
  readonly headers?: Readonly<Record<string, string>>;
}

const NOT_SIGNED_IN: Answer = {
  status: 401,
  body: '',
  headers: { 'www-authenticate': 'Basic realm="rclone"' },
};

const root = process.env['RCLONE_TEST_FOLDER'] ?? '';

const server = createServer((request, response) => {
  void respond(request, response);
}).listen(0, '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  process.stderr.write(`NOTICE: Serving remote control on http://127.0.0.1:${port}/\n`);
});
process.stdin.resume().once('end', () => process.exit(0));

async function respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const isSignedIn = request.headers.authorization !== undefined;
  const { status, body, headers = {} } = isSignedIn ? await answerTo(request) : NOT_SIGNED_IN;
  response.writeHead(status, { ...headers, 'content-length': Buffer.byteLength(body) }).end(body);
}

async function answerTo(request: IncomingMessage): Promise<Answer> {
  if (request.method === 'GET') return await partOf(request);
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const input = JSON.parse(Buffer.concat(chunks).toString()) as Input;
  try {
    return { status: 200, body: JSON.stringify(await operations[request.url ?? '']?.(input)) };
  } catch (error) {
    return { status: 500, body: JSON.stringify({ error: (error as Error).message, status: 500 }) };
  }
}

interface Input {
  readonly remote: string;
  readonly opt?: { readonly recurse?: boolean };
}

const operations: Readonly<Record<string, (input: Input) => Promise<object>>> = {
  '/operations/stat': async ({ remote }) => {
    if (remote === '') await namesIn(root, false);
    return { item: await itemOf(join(root, remote)).catch(() => null) };
  },
  '/operations/list': async ({ remote, opt }) => {
    const folder = join(root, remote);
    const names = await namesIn(folder, opt?.recurse === true);
    if (opt?.recurse === true) await loseFolder();
    return { list: await Promise.all(names.map(async (name) => await itemOf(join(folder, name)))) };
  },
  '/operations/deletefile': async ({ remote }) => {
    await rm(join(root, remote)).catch(() => {
      throw new Error('object not found');
    });
    return {};
  },
};

async function loseFolder(): Promise<void> {
  const left = Number(await readFile(`${root}-losing`, 'utf8').catch(() => '0'));
  if (left === 0) return;
  await writeFile(`${root}-losing`, `${left - 1}`);
  throw new Error('error in ListJSON: directory not found');
}

async function namesIn(folder: string, recursive: boolean): Promise<readonly string[]> {
  return await readdir(folder, { recursive }).catch(() => {
    throw new Error('error in ListJSON: directory not found');
  });
}

async function itemOf(path: string): Promise<object> {
  const { size, mtime } = await stat(path);
  const isFolder = (await stat(path)).isDirectory();
  return {
    Path: relative(root, path),
    Size: isFolder ? -1 : size,
    ModTime: mtime.toISOString(),
    IsDir: isFolder,
  };
}

async function partOf({ url = '', headers }: IncomingMessage): Promise<Answer> {
  const key = decodeURIComponent(url).replace(/^\/\[[^\]]*\]\//, '');
  const [first, last] = (headers.range ?? '').replace('bytes=', '').split('-').map(Number);
  try {
    const bytes = await readFile(join(root, key));
    const range = `bytes ${first}-${last}/${bytes.length}`;
    return {
      status: 206,
      body: bytes.subarray(first, Number(last) + 1),
      headers: { 'content-range': range },
    };
  } catch {
    return { status: 404, body: 'not found' };
  }
}
