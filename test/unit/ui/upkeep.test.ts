import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import type { DestinationItem } from '../../../src/api/schemas/page/protect.ts';
import { english } from '../../../src/ui/language/english/english.ts';
import { firstCalls } from '../../../src/ui/pages/settings/credentials.tsx';
import { openedBy } from '../../../src/ui/pages/settings/encryption-settings.tsx';
import { desktopAddress, rcloneLine } from '../../../src/ui/pages/settings/webdav-card.tsx';

describe('the first calls with new credentials', () => {
  const made = { api_key: 'hfk_1', secret: "hfs_it's" };

  /** In place of curl: answers as the agent does, else says what it was called with. */
  const curl = `curl() {
    case "$*" in
      */auth/token*) printf '%s' "$REPLY_OF_AGENT" ;;
      *) printf '%s' "$*" ;;
    esac
  }`;
  const run = (reply: string): string =>
    execFileSync('bash', ['--norc', '-c', [curl, ...firstCalls(made, 'http://127.0.0.1:7390')].join('\n')], {
      env: { PATH: process.env['PATH'], REPLY_OF_AGENT: reply },
      stdio: ['ignore', 'pipe', 'ignore'],
    }).toString();

  it('take the token out of the reply and ask with it', () => {
    const reply = '{"success":true,"data":{"access_token":"eyJ.a.b","token":"eyJ.a.b","expires_in":3600}}';
    expect(run(reply)).toBe('-s http://127.0.0.1:7390/v1/status -H Authorization: Bearer eyJ.a.b');
  });

  it('take nothing for a token when there is none', () => {
    expect(run('{"success":false,"error":{"code":"INVALID_CREDENTIALS"}}')).toMatch(/Bearer $/);
  });

  it('hand the credentials over as they are', () => {
    const [first = ''] = firstCalls(made, 'http://127.0.0.1:7390');
    const body = /-d (.*) \| sed/.exec(first)?.[1] ?? '';
    const seen = execFileSync('bash', ['--norc', '-c', `printf '%s' ${body}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    expect(JSON.parse(seen.toString())).toEqual(made);
  });
});

describe('what opens a destination', () => {
  const item = (name: string, isEmbedded = false): DestinationItem => ({
    name,
    url: '/mnt/x',
    is_default: false,
    is_embedded: isEmbedded,
    reachable: true,
    unreachable_reason: null,
    untested: false,
    used_bytes: null,
    free_bytes: null,
    repository_id: null,
    last_check: null,
  });

  it('is the key of the machine for the embedded repository', () => {
    expect(openedBy(item('default', true), {})).toEqual({ words: english.encryption.byMachineKey });
  });

  it('is the passphrase of the recovery kit unless the settings name another place', () => {
    const settings = {
      destinations: {
        nas: { url: '/mnt/nas', passphrase: null },
        usb: { passphrase: { file: '/home/ana/usb' } },
        far: { passphrase: { env: 'FAR' } },
        pass: { passphrase: { command: 'pass show x' } },
        unit: { passphrase: { credential: 'holdfast' } },
      },
    };
    const { by, byKit } = english.encryption;
    expect(openedBy(item('nas'), settings)).toEqual({ words: byKit });
    expect(openedBy(item('usb'), settings)).toEqual({ words: by.file, place: '/home/ana/usb' });
    expect(openedBy(item('far'), settings)).toEqual({ words: by.env, place: 'FAR' });
    expect(openedBy(item('pass'), settings)).toEqual({ words: by.command, place: 'pass show x' });
    expect(openedBy(item('unit'), settings)).toEqual({ words: by.credential, place: 'holdfast' });
    expect(openedBy(item('constructor'), settings)).toEqual({ words: byKit });
  });
});

describe('the address of the folder of snapshots', () => {
  it('is written as the desktops want it', () => {
    expect(desktopAddress('http://127.0.0.1:7390/dav/hfw_x/', 'dav')).toBe('dav://127.0.0.1:7390/dav/hfw_x/');
    expect(desktopAddress('https://localhost/dav/', 'webdav')).toBe('webdavs://localhost/dav/');
  });

  it('is given to rclone without the password', () => {
    expect(rcloneLine({ base: 'http://127.0.0.1:7390/dav/', user: 'holdfast' })).toBe(
      'RCLONE_WEBDAV_PASS=$(rclone obscure -) rclone lsd :webdav: --webdav-url http://127.0.0.1:7390/dav/ --webdav-user holdfast',
    );
  });
});
