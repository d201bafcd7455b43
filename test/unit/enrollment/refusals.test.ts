/** What `holdfast enroll` says when the service refuses, in words that are true of the reason. */
import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { enroll } from '../../../src/enrollment/enroll.ts';

let server: Server;
let stateDirectory: string;
let error: object;

beforeEach(async () => {
  stateDirectory = mkdtempSync(join(tmpdir(), 'holdfast-enroll-'));
  server = createServer((_request, response) => {
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ success: false, error }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(() => {
  server.close();
  rmSync(stateDirectory, { recursive: true });
});

async function refusal(): Promise<unknown> {
  const { port } = server.address() as AddressInfo;
  const wish = { url: `http://127.0.0.1:${port}`, token: 'hfe_x', name: 'desk' };
  const place = { stateDirectory, version: '0.0.0', now: () => 0 };
  return await enroll(wish, place, AbortSignal.timeout(10_000)).catch((thrown: unknown) => thrown);
}

const TOKEN = { code: 'ENROLLMENT_TOKEN_INVALID', message: 'never shown' };

describe('a token is refused', () => {
  test.each([
    [{ ...TOKEN, details: {} }, /^The enrollment token is unknown, already used or expired$/, 'token'],
    [
      { ...TOKEN, details: { reason: 'customer_suspended' } },
      /^Your account with your partner is suspended/,
      'customer_suspended',
    ],
    [
      { ...TOKEN, details: { reason: 'partner_suspended' } },
      /^Your partner’s account with the Partner service is suspended/,
      'partner_suspended',
    ],
    [{ ...TOKEN, details: { reason: 'Any Words' } }, /^The enrollment token is unknown/, 'token'],
    [{ code: 'QUOTA_EXCEEDED', details: {} }, /^The plan does not allow another device$/, 'plan_full'],
  ])('with what is true of it: %o', async (reply, message, reason) => {
    error = reply;
    expect(await refusal()).toMatchObject({
      code: reply.code,
      message: expect.stringMatching(message),
      details: { reason },
    });
  });
});
