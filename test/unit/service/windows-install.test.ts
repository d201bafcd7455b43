/** What the script that makes a Windows service does with a directory that somebody else may have made. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '..', '..', '..');
const script = readFileSync(join(root, 'service', 'windows', 'install.ps1'), 'utf8');
const code = script
  .split('\n')
  .map((line) => line.trim())
  .filter((line) => !line.startsWith('#'));

function bodyOf(name: string): string {
  const from = script.indexOf(`function ${name}`);
  expect(from).toBeGreaterThan(-1);
  return script.slice(from, script.indexOf('\n}\n', from));
}

describe('the script that makes a Windows service', () => {
  test('removes nothing and asks nobody to: what is there may be the keys of an installation', () => {
    expect(code.filter((line) => /Remove-Item|\bremove\b|\.Delete\(|\b(rd|rmdir|del)\b/i.test(line))).toEqual(
      [],
    );
    expect(bodyOf('Move-Aside')).toContain('[IO.Directory]::Move($Directory, $aside)');
    expect(bodyOf('Move-Aside')).toContain('Set-Owner $aside');
  });

  test('makes its directory with its permissions, and finds in it nothing that came meanwhile', () => {
    const body = bodyOf('New-OwnDirectory');
    expect(body).toContain("'O:BAG:BAD:P(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)'");
    expect(body).toContain('CreateDirectory($Directory, $security)');
    expect(body).toContain('Get-ChildItem -Force -LiteralPath $Directory');
    expect(code.filter((line) => line.includes('New-Item'))).toEqual([]);
  });

  test('follows no link, and changes nothing below a directory of somebody else', () => {
    const calls = code.filter((line) => line.startsWith('icacls '));
    expect(calls.length).toBeGreaterThan(1);
    for (const call of calls) {
      expect(call).toContain(' /L ');
      expect(call).not.toMatch(/\/T\b/);
    }
    expect(bodyOf('Move-Aside')).not.toContain('Set-Permissions');
  });

  test('looks at links, owners and permissions of the directory and what is in it before it runs anything', () => {
    for (const what of ['ReparsePoint', 'GetOwner', 'GetAccessRules'])
      expect(bodyOf('Get-Doubt')).toContain(what);
    const body = bodyOf('Protect-Directory');
    expect(body.indexOf('Move-Aside')).toBeLessThan(body.indexOf('Set-Permissions'));
    expect(body.indexOf('$doubtful')).toBeLessThan(body.indexOf('Set-Owner'));
    const calls = ['\nProtect-Directory', 'Copy-Item', "Invoke-Wrapper 'install'", 'Start-Service'];
    const places = calls.map((call) => script.indexOf(call));
    expect(places).toEqual(places.toSorted((a, b) => a - b));
    const uninstall = script.slice(
      script.indexOf('if ($Uninstall)'),
      script.indexOf("Invoke-Wrapper 'uninstall'"),
    );
    expect(uninstall).toContain('Get-Doubt $path');
  });
});
