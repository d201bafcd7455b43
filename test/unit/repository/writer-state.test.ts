import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { WriterState, type WriterMemory } from '../../../src/repository/writer-state.ts';

let directory: string;
let path: string;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'holdfast-writer-'));
  path = join(directory, 'repositories', 'id.json');
  const state = await WriterState.open(directory, 'id');
  await state.remember({ seq: 3, heads: { ['a'.repeat(32)]: { seq: 7, record: 'b'.repeat(64) } } });
});

afterAll(() => rmSync(directory, { recursive: true }));

describe('what a machine remembers of a repository', () => {
  it('is read as it was written', async () => {
    const { memory } = await WriterState.open(directory, 'id');
    expect(memory).toMatchObject({ seq: 3, heads: { ['a'.repeat(32)]: { seq: 7 } } });
  });

  it('of numbers that no record can have is passed over, and what was remembered of a configuration that nobody signed for its number', async () => {
    const stored = JSON.parse(readFileSync(path, 'utf8'));
    const { boundConfig: _, ...before } = stored;
    const planted = { ...before.heads, ['c'.repeat(32)]: { seq: 2 ** 60, record: 'd'.repeat(64) } };
    writeFileSync(path, JSON.stringify({ ...before, config: 2 ** 53, heads: planted }));
    const state = await WriterState.open(directory, 'id');
    expect(state.memory).toMatchObject({ seq: 3, config: 0 });
    expect(Object.keys(state.memory.heads)).toEqual(['a'.repeat(32)]);
    await state.remember({ config: 4 });
    expect((await WriterState.open(directory, 'id')).memory.config).toBe(4);
    writeFileSync(path, JSON.stringify(stored));
  });

  it('keeps what its writer ids begin with when it goes on as another', async () => {
    const mark = Buffer.from('0123456789abcdef', 'hex');
    const state = await WriterState.open(directory, 'marked', mark);
    const before = state.memory.writer;
    await state.becomeAnother({ writer: before, seq: 1, record: null, host: null, atMs: null });
    expect(before).toMatch(/^0123456789abcdef/);
    expect(state.memory.writer).toMatch(/^0123456789abcdef/);
    expect(state.memory.writer).not.toBe(before);
  });

  it.each<[string, object]>([
    ['a negative number', { seq: -1 }],
    ['a negative ring', { ring: -1 }],
    ['the name of no record', { prev: 'abc' }],
    ['a head that is none', { heads: { ['a'.repeat(32)]: null } }],
    ['a head without a record', { heads: { ['a'.repeat(32)]: { seq: 1 } } }],
    ['an announced record without a name', { announced: { seq: 1, record: '', key: 'snapshots/a' } }],
  ])('is damaged when it holds %s', async (_, change) => {
    const sound = readFileSync(path, 'utf8');
    const memory = JSON.parse(sound) as WriterMemory;
    writeFileSync(path, JSON.stringify({ ...memory, ...change }));
    await expect(WriterState.open(directory, 'id')).rejects.toMatchObject({ code: 'STATE_DAMAGED' });
    writeFileSync(path, sound);
  });
});
