/** A second destination: what it is for is asked in words that name the first one, and so is what will change. */
import { render } from 'preact-render-to-string';
import { expect, test } from 'vitest';
import { OverviewProvider } from '../../../src/ui/agent/overview.ts';
import type { KeyPath } from '../../../src/ui/pages/settings/settings-draft.ts';
import {
  DEFAULTS,
  type Settings,
  SOURCE_DEFAULTS,
  withAlso,
} from '../../../src/ui/pages/settings/settings-values.ts';
import { ChangeInWords } from '../../../src/ui/pages/settings/setting-words.tsx';
import { overviewOnPage } from '../../support/overview-on-page.ts';

const settings: Settings = {
  ...DEFAULTS,
  sources: [
    { ...SOURCE_DEFAULTS, path: '/home/ana' },
    { ...SOURCE_DEFAULTS, path: '/srv', destinations: ['nas', 'usb'] },
    { ...SOURCE_DEFAULTS, path: '/etc', destination: 'nas' },
  ],
};

function words(path: KeyPath, before: unknown, after: unknown): string {
  const page = overviewOnPage('2026-11-22T12:00:00Z');
  const [first = expect.fail('no destination'), ...others] = page.destinations;
  const data = { ...page, destinations: [{ ...first, is_embedded: true }, ...others] };
  const asked = { data, problem: undefined, isBusy: false, again: () => undefined };
  const html = render(
    <OverviewProvider value={asked}>
      <ChangeInWords change={{ path, before, after }} settings={settings} />
    </OverviewProvider>,
  );
  return html.replaceAll(/<[^>]*>/g, '');
}

test('sources of the default destination go to both, and others where they went', () => {
  expect(withAlso(settings, 'disk').map(({ destinations }) => destinations)).toEqual([
    ['default', 'disk'],
    ['nas', 'usb'],
    null,
  ]);
});

test('a change names the first repository as people know it', () => {
  expect(words(['defaultDestination'], null, 'disk')).toBe('Default destination: On this computer → disk');
  expect(words(['sources', 0, 'destinations'], null, ['default', 'disk'])).toBe(
    '/home/ana: Destinations: The default destination → On this computer, disk',
  );
});
