/** Completion files of the shells, as the program itself writes them. */
import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { ROOT } from './facts.ts';

const SHELLS = ['bash', 'zsh', 'fish'] as const;

/** Where each shell looks for it, below /usr/share. */
const PLACES = {
  bash: 'bash-completion/completions/holdfast',
  zsh: 'zsh/site-functions/_holdfast',
  fish: 'fish/vendor_completions.d/holdfast.fish',
} as const;

/** Place below a directory like /usr/share -> text. */
export function completions(): Readonly<Record<string, string>> {
  return Object.fromEntries(SHELLS.map((shell) => [PLACES[shell], completion(shell)]));
}

function completion(shell: string): string {
  return execFileSync(
    process.execPath,
    [path.join(ROOT, 'service', 'bin', 'holdfast.js'), 'completion', shell],
    { encoding: 'utf8', env: { ...process.env, HOLDFAST_PROGRAM: 'holdfast' } },
  );
}
