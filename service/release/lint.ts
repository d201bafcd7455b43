/**
 * `npm run lint:packages`: makes packages and has the checkers of their formats look at them. Each comes from the Debian
 * package of its name, but for man pages (mandoc), desktop entries (desktop-file-utils) and metadata (appstream).
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { APPLICATION_ID, ROOT } from '../package/facts.ts';

/** Exceptions from rpmlint's rules, each with its reason. */
const RPM_RULES = path.join(ROOT, 'service', 'rpm', 'rpmlint.toml');

const output = mkdtempSync(path.join(tmpdir(), 'holdfast-lint-'));
try {
  make('deb');
  make('rpm');
  const [deb = ''] = globSync('*.deb', { cwd: output });
  const [rpm = ''] = globSync('*.rpm', { cwd: output });
  check('lintian', ['--allow-root', '--fail-on', 'error,warning', '--tag-display-limit', '0', deb]);
  check('rpmlint', ['--config', RPM_RULES, rpm]);
  execFileSync('dpkg-deb', ['--extract', deb, 'tree'], { cwd: output });
  const share = (name: string): string => path.join('tree', 'usr', 'share', name);
  execFileSync('gunzip', ['--recursive', share('man')], { cwd: output });
  const pages = globSync(`${share('man')}/man*/*`, { cwd: output });
  check('mandoc', ['-T', 'lint', '-W', 'warning', ...pages]);
  check('desktop-file-validate', [share(`applications/${APPLICATION_ID}.desktop`)]);
  const metadata = share(`metainfo/${APPLICATION_ID}.metainfo.xml`);
  check('appstreamcli', ['validate', '--no-net', '--pedantic', metadata]);
  const completions = share('bash-completion/completions/holdfast');
  check('bash', ['-n', completions]);
  check('zsh', ['-n', share('zsh/vendor-completions/_holdfast')]);
  check('fish', ['--no-execute', share('fish/vendor_completions.d/holdfast.fish')]);
} finally {
  rmSync(output, { recursive: true, force: true });
}

function make(kind: string): void {
  const script = path.join(ROOT, 'service', kind, 'build.ts');
  const words = ['--no-warnings', script, '--output', output, '--compression', 'gzip'];
  execFileSync(process.execPath, words, { stdio: ['ignore', 2, 2] });
}

function check(program: string, words: readonly string[]): void {
  const { status, error } = spawnSync(program, words, { cwd: output, stdio: 'inherit' });
  if (error !== undefined) process.stderr.write(`${program} cannot be run: install it.\n`);
  process.stdout.write(`${status === 0 ? 'ok     ' : 'FAILED '} ${program}\n`);
  if (status !== 0) process.exitCode = 1;
}
