import { afterEach, expect, test, vi } from 'vitest';
import { backUpNow } from '../../../src/ui/pages/overview/back-up-now.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

test('a source is backed up to each destination it goes to, and not to the default one', async () => {
  const asked: unknown[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { readonly body: string }) => {
    asked.push(JSON.parse(body));
    return Response.json({ success: true, data: {} }, { status: 202 });
  });
  await backUpNow([
    { path: '/home/ana', destination: 'usb' },
    { path: '/home/ana', destination: 'bucket' },
    { path: '/etc', destination: 'default' },
  ]);
  expect(asked).toEqual([
    { source: '/home/ana', destination: 'usb' },
    { source: '/home/ana', destination: 'bucket' },
    { source: '/etc', destination: 'default' },
  ]);
});
