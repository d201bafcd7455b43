/**
 * litmus tries what a server for WebDAV does by RFC 4918, and begins by making a folder to work in. The folder of snapshots is
 * read-only: a stand-in before it says yes to what writes (MKCOL, PUT, DELETE), and what litmus would have made is in a
 * snapshot. All other requests are answered by the agent. What fails then, because nothing was written, is listed here with
 * its reason; anything else, and one failure less, fails the test.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { debianPrograms, type DebianPrograms } from '../servers/debian-programs.ts';
import { openDaemonSite, type DaemonSite } from '../support/daemon-site.ts';

let site: DaemonSite;
let litmus: DebianPrograms;
let before: Server;

/** What litmus puts into its folder and reads again. */
const MADE = ['res', 'res-€', 'prop', 'prop2', 'expect100', 'whocares'];
const CONTENT = 'This is\na test file.\nfor litmus\ntesting.\n';
const WRITING: Readonly<Record<string, number>> = { MKCOL: 201, PUT: 201, DELETE: 204 };

beforeAll(async () => {
  litmus = await debianPrograms('litmus', ['litmus']);
  site = await openDaemonSite();
  mkdirSync(join(site.source, 'litmus'));
  for (const name of MADE) writeFileSync(join(site.source, 'litmus', name), CONTENT);
  await site.backUp();
  const { address } = await site.ask('turn_on_webdav', {});
  before = standIn(`${address}${site.source.slice(1).replaceAll('/', '+')}/latest`);
  before.listen(0, '127.0.0.1');
  await once(before, 'listening');
});
afterAll(async () => {
  before.close();
  await site[Symbol.asyncDispose]();
});

function standIn(folder: string): Server {
  const { host, hostname, port, pathname } = new URL(folder);
  return createServer((request, response) => {
    const { method = 'GET', url = '/', headers } = request;
    const status = WRITING[method];
    if (status !== undefined) {
      request.resume();
      response.writeHead(status).end();
      return;
    }
    const sent = httpRequest(
      { hostname, port, method, path: pathname + url, headers: { ...headers, host } },
      (reply) => {
        response.writeHead(reply.statusCode ?? 502, reply.headers);
        reply.pipe(response);
      },
    );
    sent.on('error', () => response.destroy());
    request.pipe(sent);
  });
}

/** What of each part of litmus does not pass. */
const EXPECTED: Readonly<Record<string, readonly string[]>> = {
  basic: [
    // There are no locks: class 1 alone is claimed.
    'options',
    // Each is about a refusal to write by the state of the folder, which the stand-in does not know: the agent refuses all.
    'put_no_parent',
    'mkcol_over_plain',
    'delete_null',
    'delete_fragment',
    'mkcol_again',
    'mkcol_no_parent',
    'mkcol_with_body',
  ],
  props: [
    // The stand-in has another path than the addresses in the answer.
    'propfind_d0',
    // Properties cannot be set: 403. What litmus then reads is not there.
    'propset',
    'propget',
    'propmove',
    'propget',
    'propdeletes',
    'propget',
    'propreplace',
    'propget',
    'propnullns',
    'propget',
    'prophighunicode',
    'propget',
    'propremoveset',
    'propget',
    'propsetremove',
    'propget',
    'propvalnspace',
    'propmanyns',
    'propget',
  ],
  http: [],
};

test.each(Object.entries(EXPECTED))('%s: fails in nothing that is not explained', async (part, expected) => {
  const { directory, environment } = litmus;
  const { port } = before.address() as AddressInfo;
  const words = [`--htdocs=${join(directory, 'usr/share/litmus/htdocs')}`, `http://127.0.0.1:${port}/`];
  // Not waited for in one go: the server is in this process.
  const child = spawn(join(directory, 'usr/libexec/litmus', part), words, {
    cwd: site.directory,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const stdout = await text(child.stdout);
  process.stdout.write(stdout.replaceAll('\r', '\n'));
  const told = [...stdout.matchAll(/^\s*\d+\. (\w+)\.* (?:FAIL|SKIPPED|WARNING)/gm)].map(([, name]) => name);
  expect(told).toEqual(expected);
});
