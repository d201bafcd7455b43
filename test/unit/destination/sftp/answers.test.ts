/** What servers say of a disk that takes nothing, by number or by words. */
import { expect, test } from 'vitest';
import { answerError } from '../../../../src/destination/sftp/answers.ts';

test.each([
  [14, '', 'full'],
  [15, '', 'full'],
  [4, 'denying write due to space limit', 'full'],
  [12, '', 'denied'],
  [4, 'Failure', 'unreachable'],
])('status %i "%s" is %s', (code, words, kind) => {
  const refusal = Object.assign(new Error(words), { code });
  expect(answerError(refusal, { op: 'store', url: 'sftp://u@h/x', key: 'a' })).toMatchObject({ kind });
});
