import { afterEach, expect, test, vi } from 'vitest';
import { textRef } from '../../../src/ui/pages/restore/path-ref.ts';
import { draftOf } from '../../../src/ui/pages/restore/restore-draft.ts';
import { PreviewStep } from '../../../src/ui/pages/restore/step-preview.tsx';
import { smallPage } from '../../support/small-document.ts';

afterEach(() => {
  vi.unstubAllGlobals();
});

const PREVIEW = {
  files_new: 3,
  files_overwritten: 0,
  files_deleted: 0,
  files_kept: 0,
  files_unchanged: 0,
  bytes: 2_048,
  items: [],
  is_cut: false,
};

test('a trial run that somebody canceled says so, and is made again when asked', async () => {
  const begun: string[] = [];
  vi.stubGlobal('fetch', async (url: string, { method }: { readonly method: string }) => {
    const id = method === 'POST' ? `rst_${begun.length + 1}` : url.slice(url.lastIndexOf('/') + 1);
    if (method === 'POST') begun.push(id);
    const status = id === 'rst_1' ? 'canceled' : 'completed';
    const data = url.includes('restore-preview') ? PREVIEW : { id, type: 'restore', status, error: null };
    return Response.json({ success: true, data });
  });
  const onTried = vi.fn<() => void>();
  const draft = draftOf('0123456789abcdef', [], textRef('/home'));
  using page = await smallPage(<PreviewStep draft={draft} onTried={onTried} onRefused={() => undefined} />);
  expect(page.all('progress')).toHaveLength(0);
  expect(page.text).toContain('The dry run was canceled');
  expect(onTried).not.toHaveBeenCalled();
  await page.press(page.button('Try again'));
  expect(begun).toEqual(['rst_1', 'rst_2']);
  expect(page.text).not.toContain('canceled');
  expect(page.text).toContain('2.0 KiB');
  expect(onTried).toHaveBeenCalledOnce();
});
