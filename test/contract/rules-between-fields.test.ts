/**
 * What handlers check, to say in words what is wrong, stands in docs/api all the same: which fields of a body exclude or need
 * each other, and the forms of texts. Each body and header here is allowed by the document if and only if the agent takes it.
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ApiSite, openApiSite } from '../support/api-site.ts';
import { documentedRoutes, faultsOf } from '../support/openapi-judge.ts';

let site: ApiSite;
let token: string;

beforeAll(async () => {
  site = await openApiSite();
  token = await site.token();
});
afterAll(async () => {
  await site[Symbol.asyncDispose]();
});

function operationOf(method: string, path: string) {
  const route = documentedRoutes.find((one) => one.method === method && one.path === path);
  return route ?? expect.fail(`${method} ${path} is not documented`);
}

/** Whether the document allows it, and whether the agent finds nothing wrong with it by itself. */
async function verdicts(path: string, body: object): Promise<{ document: boolean; agent: boolean }> {
  const schema = operationOf('POST', path).operation.requestBody?.content['application/json']?.schema;
  const { status, json } = await site.inject(`/v1${path}`, { method: 'POST', token, body });
  const isWrong = status === 400 && json.error?.details['reason'] !== 'not_a_directory';
  return { document: faultsOf(schema ?? {}, body).length === 0, agent: !isWrong };
}

const AT = '2026-01-01T00:00:00Z';
const TARGET = '/tmp/restored';

describe('fields that exclude or need each other', () => {
  test.each([
    ['/restore', { snapshot_id: 'a', target: TARGET }, true],
    ['/restore', { snapshot_id: 'a', backup_id: 'b', target: TARGET }, false],
    ['/restore', { snapshot_id: 'a', source: '/x', target: TARGET }, false],
    ['/restore', { target: TARGET }, false],
    ['/restore', { source: '/x', at: AT, target: TARGET }, true],
    ['/restore', { snapshot_id: 'a', at: AT, target: TARGET }, false],
    ['/restore', { source: '/x', stored_by: 'full', target: TARGET }, true],
    ['/restore', { snapshot_id: 'latest', stored_by: 'full', target: TARGET }, true],
    ['/restore', { snapshot_id: 'a', stored_by: 'full', target: TARGET }, false],
    ['/restore', { backup_id: 'b', stored_by: 'full', target: TARGET }, false],
    ['/restore', { snapshot_id: 'a' }, false],
    ['/restore', { snapshot_id: 'a', in_place: false }, false],
    ['/restore', { snapshot_id: 'a', in_place: true }, true],
    ['/restore', { snapshot_id: 'a', in_place: false, target: TARGET }, true],
    ['/restore', { snapshot_id: 'a', in_place: true, target: TARGET }, false],
    ['/pause', {}, true],
    ['/pause', { for: 60 }, true],
    ['/pause', { until: '2099-01-01T00:00:00Z' }, true],
    ['/pause', { for: 60, until: '2099-01-01T00:00:00Z' }, false],
  ])('POST %s %j: %s', async (path, body, allowed) => {
    expect(await verdicts(path, body)).toEqual({ document: allowed, agent: allowed });
  });
});

describe('forms of texts', () => {
  test.each([
    ...['90s', '5m', '1h30m', '1.5h', ' 2H ', '1w2d3h4m5s', '1h500ms', '90000ms'].map(
      (text) => [text, true] as const,
    ),
    ...['30m1h', '1h1h', '5x', 'h1', '-1h', '1 h', '  ', '1.h', '.5h', '10'].map(
      (text) => [text, false] as const,
    ),
  ])('a pause for %j: %s', async (text, allowed) => {
    expect(await verdicts('/pause', { for: text })).toEqual({ document: allowed, agent: allowed });
  });

  test.each([
    ...['L2E=', 'L2E', 'L2Ew', '_w', '_w==', '/w==', '-_8', 'L2EwL2E='].map((text) => [text, true] as const),
    ...['L', 'L2E!', 'L2F', '_x', 'L2E===', 'L=2E', ' L2E=', ''].map((text) => [text, false] as const),
  ])('a path in base64 as %j: %s', async (text, allowed) => {
    const body = { snapshot_id: 'a', target: TARGET, paths: [{ path_b64: text }] };
    expect(await verdicts('/restore', body)).toEqual({ document: allowed, agent: allowed });
  });

  test.each([
    ...['a', '~', 'a b', 'x'.repeat(255)].map((text) => [text, true] as const),
    ...['é', 'a\tb', 'x'.repeat(256)].map((text) => [text, false] as const),
  ])('an Idempotency-Key %j: %s', async (text, allowed) => {
    const { status } = await site.inject('/v1/pause', {
      method: 'POST',
      token,
      body: {},
      headers: { 'idempotency-key': text },
    });
    expect({
      document: allowsHeader('POST', '/pause', 'Idempotency-Key', text),
      agent: status !== 400,
    }).toEqual({
      document: allowed,
      agent: allowed,
    });
  });

  test.each([
    ...['*', 'none', '"abc"', 'W/"abc"', 'abc, "def"', 'x'.repeat(64)].map((text) => [text, true] as const),
    ...['a b', 'a-b', '""', 'x'.repeat(65), 'abc,', '**'].map((text) => [text, false] as const),
  ])('an If-Match %j: %s', async (text, allowed) => {
    const { json } = await site.inject('/v1/settings', {
      method: 'PUT',
      token,
      body: { settings: {} },
      headers: { 'if-match': text },
    });
    expect({
      document: allowsHeader('PUT', '/settings', 'If-Match', text),
      agent: json.error?.details['field'] !== 'If-Match',
    }).toEqual({ document: allowed, agent: allowed });
  });
});

function allowsHeader(method: string, path: string, header: string, text: string): boolean {
  const { parameters } = operationOf(method, path);
  const found = parameters.find(({ name }) => name === header) ?? expect.fail(`${header} is not documented`);
  return faultsOf(found.schema, text).length === 0;
}
