import { expect, test } from 'vitest';
import { versionsOf } from '../../../src/catalog/answers/path-versions.ts';

test('a path that no snapshot has is looked for by its name, and not by the same request again', () => {
  expect(() => versionsOf([[]], '/nix/x')).toThrow(
    expect.objectContaining({
      code: 'PATH_NOT_IN_SNAPSHOT',
      message: 'No snapshot has /nix/x',
      hint: expect.stringMatching(/^Search for it by its name: GET \/files\?q=…/) as string,
      details: { path: '/nix/x' },
    }),
  );
});
