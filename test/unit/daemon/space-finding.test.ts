/** What is said of a disk with too little room: how much is needed, and only what can be done there. */
import { statfs } from 'node:fs/promises';
import { expect, test, vi } from 'vitest';
import { checkSpace } from '../../../src/daemon/doctor/machine.ts';

vi.mock('node:fs/promises', async (original) => ({
  ...(await original<typeof import('node:fs/promises')>()),
  statfs: vi.fn<typeof statfs>(),
}));

const MIB = 1024 ** 2;

function disk(free: number, total: number): void {
  const parts = { bavail: free, blocks: total, bfree: free, bsize: MIB, type: 0, files: 0, ffree: 0 };
  vi.mocked(statfs).mockResolvedValue(parts as never);
}

test('a disk that never has the room is too small, and nothing is to be let go on it', async () => {
  disk(12, 12);
  expect(await checkSpace('space', '/', 'small')).toEqual({
    check: 'space',
    status: 'error',
    message: 'The disk is too small: 12.0 MiB free of 12.0 MiB at /, and a backup needs at least 200.0 MiB',
    hint: 'Use a larger disk.',
  });
});

test('a full one names the destination whose backups can go, and what to keep; without one, nothing is let go', async () => {
  disk(12, 4_000);
  expect(await checkSpace('space', '/', 'nas')).toMatchObject({
    status: 'error',
    message: expect.stringMatching(/^Not enough space: 12.0 MiB free of .* at least 200.0 MiB/),
    hint: 'Free up space there, or remove older backups: holdfast forget -r nas --keep-within 1y --prune',
  });
  expect(await checkSpace('space', '/')).toMatchObject({
    hint: 'Free up space there, or use a larger disk.',
  });
});
