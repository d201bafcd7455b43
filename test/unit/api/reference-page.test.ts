/** The reference page says what the document says: of events, headers, codes, and what may be null. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import type { JsonObject } from '../../../src/api/reference/api-document.ts';
import { referencePage } from '../../../src/api/reference/reference-page.ts';
import { ERROR_CODES } from '../../../src/api/wire/error-codes.ts';

const LOOK = { style: '', script: '', icon: '', introduction: '', access: '' };

function pageOf(name: string): string {
  const file = path.resolve(import.meta.dirname, `../../../docs/api/${name}.yaml`);
  return referencePage(parse(readFileSync(file, 'utf8'), { maxAliasCount: -1 }) as JsonObject, LOOK);
}

const desktop = pageOf('desktop');
const partner = pageOf('partner');

/** The part of an operation, without its form. */
function operation(id: string, page = desktop): string {
  const part = page.split('<details class="operation"').find((one) => one.startsWith(` id="${id}"`)) ?? '';
  return part.split('<form')[0] ?? '';
}

/** The cells of the first row of a field. */
function cells(part: string, field: string): readonly string[] {
  const rows = part
    .split('<tr')
    .map((row) => row.split('<td>').map((cell) => cell.replaceAll(/<[^>]*>|^>/g, '')));
  return rows.find(([, name]) => name === field)?.slice(1) ?? [];
}

describe('the page shows', () => {
  test('each kind of event with its fields, the first line of a stream, and an example', () => {
    const events = operation('streamEvents');
    for (const kind of ['job.created', 'job.updated', 'job.finished', 'alarm', 'config', 'status'])
      expect(events).toContain(`<code>${kind}</code>`);
    for (const field of ['data.mended_at', 'data.error', 'data.paused_until'])
      expect(cells(events, field)).toHaveLength(4);
    expect(events).toContain('retry: 3000');
    expect(cells(events, 'job')[1]).toBe('Backup or Restore or Check or Prune or Drill or null');
  });

  test('what may be null as such, with its fields', () => {
    const backup = operation('getBackup');
    expect(cells(backup, 'error')[1]).toBe('object or null');
    expect(cells(backup, 'error.code')).toHaveLength(4);
    expect(cells(backup, 'waits')[1]).toBe('object or null');
    expect(cells(operation('getSnapshot'), 'last_drill')[1]).toBe('object or null');
    expect(cells(operation('getSnapshot'), 'last_drill.files_failed')).toHaveLength(4);
    expect(cells(operation('getStatus'), 'last_backup')[1]).toBe('object or null');
  });

  test('the headers of replies: those of all once, the others where they are', () => {
    const [rules = ''] = desktop.split('<details class="operation"');
    for (const name of ['X-Request-Id', 'X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset'])
      expect(cells(rules, name)).toHaveLength(4);
    const create = operation('createBackup');
    for (const name of ['Idempotent-Replayed', 'Preference-Applied', 'Location'])
      expect(cells(create, name)).toHaveLength(4);
    expect(create).not.toContain('X-RateLimit-Limit');
    expect(create).toContain('<code>Retry-After</code>');
    expect(cells(operation('getSettings'), 'ETag')[2]).toBe('always');
  });

  test('the codes at each status, which link to what they mean; and from there the requests', () => {
    const restore = operation('createRestore');
    expect(restore).toContain('<a href="#error-PATH_NOT_IN_SNAPSHOT">');
    const [, errors = ''] = desktop.split('<h2 id="errors">');
    expect(errors).toContain('id="error-PATH_NOT_IN_SNAPSHOT"');
    expect(cells(errors, 'INVALID_SOURCE')[3]).toBe('POST /backup');
    expect(cells(errors, 'INTERNAL_ERROR')[3]).toBe('most requests');
  });

  test('only the codes that its own interface gives, and those of jobs', () => {
    for (const [page, other] of [
      [desktop, 'CUSTOMER_NOT_FOUND'],
      [partner, 'SNAPSHOT_NOT_FOUND'],
    ] as const) {
      expect(page).not.toContain(`id="error-${other}"`);
      for (const [name, { status }] of Object.entries(ERROR_CODES))
        if (status === null) expect(page).toContain(`id="error-${name}"`);
    }
  });

  test('what a body needs as required, and what replies always have', () => {
    const [body = '', reply = ''] = operation('createBackup').split('<h3>200');
    expect(cells(body, 'source')[2]).toBe('required');
    expect(cells(reply, 'source')[2]).toBe('always');
  });

  test('no example in the form that replaces everything', () => {
    const [, form = ''] = desktop.split('data-path="/v1/settings"').slice(1);
    expect(form).toMatch(/<textarea[^>]* required><\/textarea>/);
    expect(form).toContain('data-fill');
    const [, backup = ''] = desktop.split('data-path="/v1/backup"');
    expect(backup).toContain('/home/ana/Documents');
  });
});
