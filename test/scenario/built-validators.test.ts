/** A built agent never loads a compiler of schemas: every check of a request was made when it was built. */
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { openPlace } from '../support/cli.ts';

/** Says on stderr when the compiler is loaded, and by what it would have been. */
const WATCH = `data:text/javascript,${encodeURIComponent(`
  import { registerHooks } from 'node:module';
  registerHooks({ resolve(name, context, next) {
    if (name === 'ajv') process.stderr.write('COMPILER for ' + context.parentURL + '\\n');
    return next(name, context);
  } });
`)}`;

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const { paths }: Document = parse(
  readFileSync(join(import.meta.dirname, '../../docs/api/desktop.yaml'), 'utf8'),
);
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];
const requests = Object.entries(paths).flatMap(([path, item]) =>
  METHODS.filter((method) => method in item).map((method) => ({ method: method.toUpperCase(), path })),
);

test('whatever it is asked', async () => {
  await using place = await openPlace();
  await place.write({ plan: 'x' });
  const env = {
    HOLDFAST_REPOSITORY: undefined,
    HOLDFAST_PASSWORD: undefined,
    NODE_OPTIONS: `--import ${WATCH}`,
  };
  const agent = place.start(['start', '--port', '0', '--json'], { env });
  let said = '';
  agent.stderr?.on('data', (part: Buffer) => (said += part.toString()));
  const ended = once(agent, 'exit');
  try {
    if (agent.stdout === null) throw new Error('no output');
    const [line] = (await once(createInterface(agent.stdout), 'line')) as [string];
    const { address }: { address: string } = JSON.parse(line);
    const own = { env: { HOLDFAST_REPOSITORY: undefined, HOLDFAST_PASSWORD: undefined } };
    const made = await place.expectRun(['credentials', 'create', '--name', 'x', '--json'], 0, own);
    const credential: { api_key: string; secret: string } = JSON.parse(made.stdout);
    const token = await fetch(`${address}/v1/auth/token`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ api_key: credential.api_key, secret: credential.secret }),
    });
    const { data } = (await token.json()) as { data: { access_token: string } };
    let checked = 0;
    for (const { method, path } of requests) {
      const url = `${address}/v1${path.replaceAll(/\{[^}]*\}/g, 'none')}?nothing=here`;
      const reply = await fetch(url, {
        method,
        signal: AbortSignal.timeout(10_000),
        headers: { authorization: `Bearer ${data.access_token}`, 'content-type': 'application/json' },
        ...(method === 'GET' ? {} : { body: '{"nothing":"here"}' }),
      }).catch(() => fetch(`${address}${path}?nothing=here`));
      if ((await reply.text()).includes('UNKNOWN_FIELD')) checked += 1;
    }
    // The rest has paths without the prefix.
    expect(checked).toBeGreaterThan(requests.length * 0.8);
    expect(said).not.toContain('COMPILER');
  } finally {
    agent.kill('SIGTERM');
    await ended;
  }
});
