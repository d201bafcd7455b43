import { render } from 'preact-render-to-string';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { AskError } from '../../../src/ui/agent/ask.ts';
import { askedOfRows, backUp, Refusals } from '../../../src/ui/parts/back-up.tsx';

afterEach(() => {
  vi.unstubAllGlobals();
});

/** The bodies of the requests; sources of `refused` are said no to. */
function agent(refused: readonly string[] = []): readonly unknown[] {
  const asked: unknown[] = [];
  vi.stubGlobal('fetch', async (_url: string, { body }: { readonly body: string }) => {
    const request = JSON.parse(body) as { readonly source: string };
    asked.push(request);
    if (!refused.includes(request.source)) return Response.json({ success: true, data: {} }, { status: 202 });
    const error = { code: 'INVALID_SOURCE', message: `${request.source} is not there`, details: {} };
    return Response.json({ success: false, error }, { status: 400 });
  });
  return asked;
}

describe('backing up now', () => {
  test('asks once for a source with several destinations, so that it is read once for all of them', async () => {
    const asked = agent();
    const begun = await backUp(
      askedOfRows([
        { path: '/home/ana', destination: 'usb' },
        { path: '/home/ana', destination: 'bucket' },
      ]),
    );
    expect(asked).toEqual([{ source: '/home/ana' }]);
    expect(begun).toEqual({ backups: 2, refusals: [] });
  });

  test('names the only destination of a source, which need not be the default one', async () => {
    const asked = agent();
    await backUp(
      askedOfRows([
        { path: '/home/ana', destination: 'usb' },
        { path: '/etc', destination: 'default' },
      ]),
    );
    expect(asked).toEqual([
      { source: '/home/ana', destination: 'usb' },
      { source: '/etc', destination: 'default' },
    ]);
  });

  test('goes on after a source that is refused, and gives back which ones were', async () => {
    const asked = agent(['/mnt/usb', '/mnt/nas']);
    const paths = ['/mnt/usb', '/home/ana', '/mnt/nas', '/etc'];
    const { backups, refusals } = await backUp(paths.map((path) => ({ path, destinations: [] })));
    expect(asked).toEqual(paths.map((source) => ({ source })));
    expect(backups).toBe(2);
    expect(refusals.map(({ path, error }) => [path, error.code])).toEqual([
      ['/mnt/usb', 'INVALID_SOURCE'],
      ['/mnt/nas', 'INVALID_SOURCE'],
    ]);
  });
});

describe('what was refused', () => {
  const refusal = (path: string, message: string) => ({
    path,
    error: new AskError('INVALID_SOURCE', 400, message, {}),
  });

  test('is shown with each source, and a reason that several share once', () => {
    const shown = render(
      <Refusals
        of={[refusal('/mnt/usb', 'away'), refusal('/mnt/nas', 'away'), refusal('/srv', 'a socket')]}
      />,
    );
    for (const path of ['/mnt/usb', '/mnt/nas', '/srv']) expect(shown).toContain(path);
    expect(shown.split('away').length - 1).toBe(1);
    expect(shown).toContain('a socket');
  });

  test('is nothing where nothing was', () => {
    expect(render(<Refusals of={[]} />)).toBe('');
  });
});
