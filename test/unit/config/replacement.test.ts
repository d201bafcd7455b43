import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { applyChanges } from '../../../src/config/config-edit.ts';
import { replaceSettings, type PresentSettings } from '../../../src/config/replacement.ts';
import type { ConfigFile } from '../../../src/config/schema.ts';
import { load } from '../../support/config-place.ts';

function present(text: string): PresentSettings {
  return load(text);
}

/** The text after somebody has read the settings, changed them, and sent all of them back. */
function sentBack(text: string, change: (settings: ConfigFile) => void): string {
  const before = present(text);
  const settings = structuredClone(before.values) as ConfigFile;
  change(settings);
  const { changes, faults } = replaceSettings(before, settings);
  expect(faults).toEqual([]);
  return applyChanges(text, changes);
}

const COMMENTED = `{
  // where editors look
  "$schema": "./config.schema.json",
  "sources": [
    // the letters
    { "path": "/letters", "schedule": "daily" }, // every day
    /* pictures */ { "path": "/pictures" },
  ],
  "retention": { "keepDaily": 14 }, // two weeks
}
`;

describe('settings that replace others', () => {
  test('change nothing when they are the same', () => {
    expect(sentBack(COMMENTED, () => undefined)).toBe(COMMENTED);
    expect(sentBack('{}', () => undefined)).toBe('{}');
  });

  test('change what differs alone: no default is written, and comments stay', () => {
    const changed = sentBack(COMMENTED, (settings) => {
      const [letters] = settings.sources ?? [];
      if (letters !== undefined) letters.schedule = 'hourly';
      settings.log = { level: 'debug' };
    });
    expect(changed).toBe(
      COMMENTED.replace('"daily"', '"hourly"').replace(
        '"retention": { "keepDaily": 14 }, // two weeks\n',
        '"retention": { "keepDaily": 14 }, // two weeks\n  "log": {\n    "level": "debug"\n  },\n',
      ),
    );
  });

  test('add an item and take one out, and leave the others as they are written', () => {
    const added = sentBack(COMMENTED, (settings) => {
      settings.sources = [...(settings.sources ?? []), { path: '/music' }];
    });
    expect(added).toContain('// the letters\n    { "path": "/letters", "schedule": "daily" }, // every day');
    expect(added).toContain('/* pictures */ { "path": "/pictures" },');
    expect(added).toMatch(/\{\s*"path": "\/music"\s*\}/);
    const removed = sentBack(COMMENTED, (settings) => {
      settings.sources = (settings.sources ?? []).slice(1);
    });
    expect(removed).not.toContain('/letters');
    expect(removed).toContain('{ "path": "/pictures" }');
    expect(load(removed).settings.sources.map(({ path }) => path)).toEqual(['/pictures']);
  });

  test('put the default back where they leave something out', () => {
    const before = present(COMMENTED);
    const { changes } = replaceSettings(before, { sources: [{ path: '/pictures' }] });
    const text = applyChanges(COMMENTED, changes);
    expect(text).not.toContain('keepDaily');
    expect(text).toContain('// where editors look');
    expect(load(text).values).toMatchObject({
      retention: { keepDaily: 7 },
      sources: [{ path: '/pictures' }],
    });
  });

  test('that are not valid come with their mistakes, and change nothing', () => {
    const { values, changes, faults } = replaceSettings(present('{}'), {
      retention: { keepDaily: 0 },
      sources: [{}],
      colour: 1,
    });
    expect([values, changes]).toEqual([undefined, []]);
    expect(faults.map(({ code, path }) => `${code} ${path.join('.')}`).sort()).toEqual([
      'CONFIG_INVALID retention.keepDaily',
      'MISSING_FIELD sources.0',
      'UNKNOWN_FIELD colour',
    ]);
  });

  test('are what the text says afterwards, whatever it said before', () => {
    const source = fc.record(
      {
        path: fc.constantFrom('/a', '/b', '/c', '/d'),
        schedule: fc.constantFrom('daily', 'hourly', 'every 4h'),
        watch: fc.boolean(),
        exclude: fc.record({ patterns: fc.array(fc.constantFrom('x', 'y')) }, { requiredKeys: [] }),
        tags: fc.array(fc.constantFrom('one', 'two')),
      },
      { requiredKeys: ['path'] },
    );
    const settings = fc.record(
      {
        sources: fc.uniqueArray(source, { selector: ({ path }) => path, maxLength: 4 }),
        destinations: fc.dictionary(fc.constantFrom('nas', 'usb'), fc.constant({ url: '/mnt/x' })),
        retention: fc.record(
          { keepDaily: fc.option(fc.integer({ min: 1, max: 9 })), keepLast: fc.constantFrom(null, 3) },
          { requiredKeys: [] },
        ),
        notices: fc.constantFrom({}, { ntfy: { url: 'https://ntfy.sh/x' } }, { absenceDays: 5 }),
        bandwidth: fc.array(fc.constant({ from: '08:00', uploadLimit: '1 MiB' }), { maxLength: 1 }),
        plan: fc.constantFrom('pro' as const, 'business' as const),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(settings, settings, fc.boolean(), (old, wanted, readable) => {
        const text = JSON.stringify(old, null, readable ? 2 : undefined);
        const { values, changes } = replaceSettings(present(text), wanted);
        const after = present(applyChanges(text, changes));
        expect(after.values).toEqual(values);
        expect(after.values).toEqual(load(JSON.stringify(wanted)).values);
      }),
      { numRuns: 300 },
    );
  });
});
