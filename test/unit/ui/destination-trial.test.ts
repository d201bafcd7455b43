import { expect, test } from 'vitest';
import { withoutRepository } from '../../../src/ui/parts/destination-trial.ts';

const measured = { write_speed: 1, read_speed: 1, clock_skew_seconds: 0 };
const open = { check: 'open', status: 'ok', message: 'It is there', hint: '' } as const;
const closed = { check: 'repository', status: 'error', message: 'It does not open', hint: '' } as const;
const full = { check: 'space', status: 'error', message: 'It is full', hint: '' } as const;

test('a new directory is not judged by the repository in the directory above it', () => {
  const tried = { usable: false, findings: [open, closed], ...measured };
  expect(withoutRepository(tried)).toEqual({ usable: true, findings: [open], ...measured });
  const without = withoutRepository({ usable: false, findings: [open, full, closed], ...measured });
  expect(without).toEqual({ usable: false, findings: [open, full], ...measured });
});
