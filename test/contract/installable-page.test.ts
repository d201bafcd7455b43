/** What makes the page installable: its manifest, and the icons that it names. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type ApiSite, openApiSite } from '../support/api-site.ts';

let site: ApiSite;
beforeAll(async () => {
  site = await openApiSite();
});
afterAll(async () => await site[Symbol.asyncDispose]());

interface Icon {
  readonly src: string;
  readonly type: string;
  readonly sizes: string;
  readonly purpose?: string;
}

interface Manifest {
  readonly name: string;
  readonly start_url: string;
  readonly scope: string;
  readonly display: string;
  readonly theme_color: string;
  readonly background_color: string;
  readonly icons: readonly Icon[];
}

async function manifest(): Promise<Manifest> {
  return JSON.parse((await site.inject('/manifest.webmanifest')).text) as Manifest;
}

test('the page names its manifest, and nobody has to be signed in for it', async () => {
  const page = await site.inject('/');
  expect(page.text).toMatch(/<link rel="manifest" href="\.?\/manifest\.webmanifest"/);
  expect(page.text.match(/<meta name="theme-color"/g)).toHaveLength(2);
  const reply = await site.inject('/manifest.webmanifest');
  expect(reply.status).toBe(200);
  expect(reply.headers).toMatchObject({
    'content-type': 'application/manifest+json; charset=utf-8',
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  // Manifest and icons come under the policy for everything: from the agent alone.
  expect(page.headers['content-security-policy']).toContain("default-src 'self';");
  expect(page.headers['content-security-policy']).not.toMatch(/manifest-src|worker-src/);
});

test('the manifest has what browsers want to install a page', async () => {
  expect(await manifest()).toMatchObject({
    name: 'Holdfast',
    start_url: '/',
    scope: '/',
    display: 'standalone',
    theme_color: expect.stringMatching(/^#[\da-f]{6}$/),
    background_color: expect.stringMatching(/^#[\da-f]{6}$/),
  });
});

/** Width and height of a picture of the sources. */
function pixels(name: string): string {
  const picture = readFileSync(join(import.meta.dirname, '../../src/ui/public', name));
  expect(picture.toString('latin1', 1, 4)).toBe('PNG');
  return `${picture.readUInt32BE(16)}x${picture.readUInt32BE(20)}`;
}

test('its icons are there, of the type and size that it says', async () => {
  const { icons } = await manifest();
  expect(icons.map(({ sizes, purpose = 'any' }) => `${sizes} ${purpose}`)).toEqual([
    'any any',
    '192x192 any',
    '512x512 any',
    'any maskable',
  ]);
  for (const { src, type, sizes } of icons) {
    const reply = await site.inject(src);
    expect(reply.status, src).toBe(200);
    expect(String(reply.headers['content-type']).split(';')[0], src).toBe(type);
    if (type === 'image/svg+xml') expect(reply.text, src).toMatch(/^<svg .*viewBox="0 0 128 128"/);
    else expect(pixels(src), src).toBe(sizes);
  }
});

test('nothing is kept by a service worker that would show an old state', async () => {
  for (const path of ['/sw.js', '/service-worker.js'])
    expect((await site.inject(path)).status, path).toBe(404);
});
