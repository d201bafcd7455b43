/**
 * A Partner service of a test: it judges every request by docs/api/partner.yaml, counts what it is told as the real one does,
 * and can be down, slow and untruthful.
 */
import { createHash, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { CompactSign } from 'jose';
import { ulid } from 'ulid';
import { newSecretText } from '../../src/api/access/secret-text.ts';
import type { Clock } from '../../src/base/clock.ts';
import { judgePartner, partnerDocument, partnerFaultsOf } from './partner-judge.ts';

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
}

export interface TakenResult {
  readonly kind: 'backup' | 'restore';
  readonly status: string;
  readonly finished_at: string;
  readonly error_code: string | null;
  readonly [field: string]: unknown;
}

export interface TakenReport {
  readonly seq: number;
  readonly expected_every_seconds: number | null;
  readonly storage: { readonly bytes: number; readonly at: string } | null;
  readonly results: readonly TakenResult[];
  readonly orders_taken?: readonly string[];
  readonly heads?: readonly {
    readonly repository_id: string;
    readonly writer: string;
    readonly seq: number;
    readonly hash: string;
  }[];
}

export interface StubPlan {
  slug: 'free_trial' | 'pro' | 'business';
  requests: number;
  status: 'active' | 'suspended' | 'trial_expired';
  trialEndsAt: number | null;
  /** Seconds. */
  lifetime: number;
  grace: number;
  reportEvery: number;
}

export interface Signing {
  readonly key?: KeyObject;
  readonly kid?: string;
  readonly type?: string;
  readonly algorithm?: string;
}

export interface PartnerStub extends AsyncDisposable {
  readonly address: string;
  readonly deviceId: string;
  /** Of the device; undefined before it enrolled. */
  deviceKey: string | undefined;
  readonly requests: SeenRequest[];
  /** What is wrong with the requests by the document. */
  readonly faults: string[];
  /** Each number once. */
  readonly reports: ReadonlyMap<number, TakenReport>;
  readonly results: () => readonly TakenResult[];
  readonly plan: StubPlan;
  /** To be sent with each receipt. */
  orders: string[];
  /** To be sent with each receipt. */
  headsRefused: object[];
  /** Answers in place of the service; false: the service answers. */
  instead: (request: SeenRequest, response: ServerResponse) => boolean | Promise<boolean>;
  /** Called after the service took a request and before it answers; true: no answer is sent. */
  lose: (request: SeenRequest) => boolean;
  /** In place of the signed plan. */
  forgedPlan: (() => Promise<string>) | undefined;
  signPlan(changes?: Readonly<Record<string, unknown>>, signing?: Signing): Promise<string>;
  signOrder(changes?: Readonly<Record<string, unknown>>, signing?: Signing): Promise<string>;
  readonly strangersKey: KeyObject;
}

const PREFIX = '/api/partner/v1';

export async function startPartnerStub(clock: Pick<Clock, 'now'>, port = 0): Promise<PartnerStub> {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const { privateKey: strangersKey } = generateKeyPairSync('ed25519');
  const { x = '' } = publicKey.export({ format: 'jwk' });
  const [deviceId, customerId] = [`dev_${ulid()}`, `cus_${ulid()}`];
  const tokens = new Set(['hfe_good']);
  const reports = new Map<number, TakenReport>();
  const seconds = (): number => Math.floor(clock.now() / 1000);
  const sign = async (
    claims: object,
    { key = privateKey, kid = 'one', type = '', algorithm = 'EdDSA' }: Signing,
  ): Promise<string> =>
    await new CompactSign(Buffer.from(JSON.stringify(claims)))
      .setProtectedHeader({ alg: algorithm, typ: type, kid })
      .sign(key);
  const revision = (): string =>
    createHash('sha256').update(JSON.stringify(stub.plan)).digest('hex').slice(0, 16);

  const stub: Omit<PartnerStub, 'address'> & { address: string } = {
    address: '',
    deviceId,
    deviceKey: undefined,
    requests: [],
    faults: [],
    reports,
    results: () => [...reports.values()].flatMap(({ results }) => results),
    plan: {
      slug: 'pro',
      requests: 1_000,
      status: 'active',
      trialEndsAt: null,
      lifetime: 86_400,
      grace: 14 * 86_400,
      reportEvery: 900,
    },
    orders: [],
    headsRefused: [],
    instead: () => false,
    lose: () => false,
    forgedPlan: undefined,
    strangersKey,
    async signPlan(changes = {}, signing = {}) {
      const { slug, requests, status, trialEndsAt, lifetime, grace, reportEvery } = stub.plan;
      const claims = {
        aud: deviceId,
        iat: seconds(),
        exp: seconds() + lifetime,
        grace_until: seconds() + grace,
        revision: revision(),
        plan: { slug, desktop_requests_per_hour: requests, storage_limit_bytes: 10 ** 12 },
        status,
        trial_ends_at: trialEndsAt,
        expected_reports_seconds: reportEvery,
        ...changes,
      };
      return await sign(claims, { type: 'holdfast-plan+jwt', ...signing });
    },
    async signOrder(changes = {}, signing = {}) {
      const claims = {
        jti: `ord_${ulid()}`,
        aud: deviceId,
        iat: seconds(),
        exp: seconds() + 3_600,
        order: 'run_backup',
        ...changes,
      };
      return await sign(claims, { type: 'holdfast-order+jwt', ...signing });
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };

  const signedPlan = async (): Promise<object> => ({
    revision: revision(),
    document: await (stub.forgedPlan ?? stub.signPlan)(),
  });

  async function enrolled(body: { readonly token: string }): Promise<Answer> {
    if (!tokens.delete(body.token)) return refusal(400, 'ENROLLMENT_TOKEN_INVALID');
    stub.deviceKey = newSecretText('hfd_');
    const serviceKey = { kty: 'OKP', crv: 'Ed25519', x, kid: 'one' };
    const ids = { device_id: deviceId, customer_id: customerId };
    return {
      status: 201,
      data: { secret: stub.deviceKey, ...ids, service_key: serviceKey, plan: await signedPlan() },
    };
  }

  function reported(report: TakenReport): Answer {
    const duplicate = reports.has(report.seq);
    if (!duplicate) reports.set(report.seq, report);
    const { orders } = stub;
    return {
      status: 200,
      data: {
        seq: report.seq,
        duplicate,
        number_taken: false,
        highest_seq: Math.max(...reports.keys()),
        plan_revision: revision(),
        orders,
        heads_refused: stub.headsRefused,
      },
    };
  }

  async function answerOf({ method, path, body, headers }: SeenRequest): Promise<Answer> {
    const route = `${method} ${path.slice(PREFIX.length)}`;
    if (route === 'POST /enroll') return await enrolled(JSON.parse(body));
    if (stub.deviceKey === undefined || headers.authorization !== `Bearer ${stub.deviceKey}`)
      return refusal(401, 'INVALID_API_KEY');
    if (route === 'POST /devices/self/reports') return reported(JSON.parse(body));
    if (route === 'GET /devices/self/plan') return { status: 200, data: await signedPlan() };
    return refusal(404, 'NOT_FOUND');
  }

  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const seen: SeenRequest = {
      method: request.method ?? '',
      path: request.url ?? '',
      headers: request.headers,
      body: await text(request),
    };
    stub.requests.push(seen);
    if (await stub.instead(seen, response)) return;
    stub.faults.push(...faultsOf(seen));
    const answer = await answerOf(seen);
    if (stub.lose(seen)) {
      request.socket.destroy();
      return;
    }
    send(seen, response, answer, clock);
  }

  const server = createServer((request, response) => {
    serve(request, response).catch((error: unknown) => {
      stub.faults.push(String(error));
      response.destroy();
    });
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  stub.address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return stub;
}

interface Answer {
  readonly status: number;
  readonly data?: object;
  readonly error?: object;
}

export function refusal(status: number, code: string): Answer {
  return { status, error: { code, message: 'Refused by the test.', details: {} } };
}

/** The replies of the stub are judged too: an agent that fits a wrong one proves nothing. */
export function send(
  { method, path }: SeenRequest,
  response: ServerResponse,
  { status, data, error }: Answer,
  clock: Pick<Clock, 'now'>,
  more: Readonly<Record<string, string>> = {},
): void {
  const meta = { request_id: `req_${ulid()}`, timestamp: new Date(clock.now()).toISOString() };
  const body = JSON.stringify({
    success: data !== undefined,
    ...(data === undefined ? { error } : { data }),
    meta,
  });
  const headers = {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': meta.request_id,
    'x-ratelimit-limit': '60',
    'x-ratelimit-remaining': '59',
    'x-ratelimit-reset': String(Math.ceil(clock.now() / 1000)),
    ...(status === 401 ? { 'www-authenticate': 'Bearer' } : {}),
    ...more,
  };
  judgePartner(method, path, { status, headers, text: body });
  response.writeHead(status, headers).end(body);
}

function faultsOf({ method, path, headers, body }: SeenRequest): readonly string[] {
  const route = path.slice(PREFIX.length);
  const operation = partnerDocument.paths[route]?.[method === 'GET' ? 'get' : 'post'];
  if (!path.startsWith(PREFIX) || operation === undefined)
    return [`${method} ${path} is not in the document`];
  const schema = operation.requestBody?.content['application/json']?.schema;
  if (schema === undefined) return body === '' ? [] : [`${method} ${path} has a body`];
  const media = headers['content-type'] === 'application/json' ? [] : [`${path}: ${headers['content-type']}`];
  return [...media, ...partnerFaultsOf(schema, JSON.parse(body)).map((fault) => `${path}: ${fault}`)];
}
