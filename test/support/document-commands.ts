/** The commands of a document and what they are said to print, run as they stand there. */
import { spawn } from 'node:child_process';

export interface Step {
  readonly command: string;
  /** Undefined when the document shows no output. */
  readonly shown: string | undefined;
}

/** Each `sh` block, with the block of another kind that follows before the next one. */
export function stepsOf(markdown: string): readonly Step[] {
  const blocks = [...markdown.matchAll(/^```(\w+)\n([\s\S]*?)^```$/gm)].map(([, kind = '', text = '']) => ({
    kind,
    text,
  }));
  return blocks.flatMap(({ kind, text }, index) => {
    if (kind !== 'sh') return [];
    const next = blocks[index + 1];
    return [{ command: text, shown: next === undefined || next.kind === 'sh' ? undefined : next.text }];
  });
}

/**
 * Runs the commands one after the other in one shell, so that variables stay, and gives what each printed.
 * @throws when one of them fails
 */
export async function runCommands(
  commands: readonly string[],
  where: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
): Promise<readonly string[]> {
  const mark = '-- next --';
  const script = commands.map((command) => `{ ${command}\n} || exit 1\necho; echo '${mark}'\n`).join('');
  const child = spawn('sh', [], { ...where, stdio: ['pipe', 'pipe', 'pipe'] });
  const printed: Buffer[] = [];
  const said: Buffer[] = [];
  child.stdout.on('data', (bytes: Buffer) => printed.push(bytes));
  child.stderr.on('data', (bytes: Buffer) => said.push(bytes));
  child.stdin.end(script);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', resolve);
  });
  const outputs = Buffer.concat(printed).toString().split(`\n${mark}\n`);
  const last = outputs.pop();
  if (code === 0) return outputs;
  const command = commands[outputs.length] ?? '';
  throw new Error(`This ended with ${code}:\n${command}\n${last}\n${Buffer.concat(said).toString()}`);
}

/** Numbers that differ from run to run, by their names. */
const VOLATILE =
  /^(?:uptime_seconds|duration_seconds|used_bytes|free_bytes|reset|remaining|rate_bytes_per_second|bytes_uploaded)$/;

/** Texts that differ from run to run, or are cut short in the document. */
const PATTERNS: readonly (readonly [RegExp, string])[] = [
  [/\b(bkp|rst|req)_[0-9A-Z]{26}\b/g, '$1_ID'],
  [/\b[0-9a-f]{64}\b/g, 'HASH'],
  [/\bhf([ks])_(?:[0-9A-Za-z]{36}\b|[0-9A-Za-z]*…)/g, 'hf$1_TEXT'],
  [/\beyJ(?:[\w-]+\.[\w-]+\.[\w-]+|[\w-]*…)/g, 'TOKEN'],
  [/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, 'TIME'],
  [/^(x-ratelimit-(?:remaining|reset)): \d+/gm, '$1: NUMBER'],
  [/\r/g, ''],
];

/** What was printed, with everything volatile replaced by what kind of thing it is; JSON as a value. */
export function comparable(printed: string): unknown {
  const text = printed.trim();
  return /^[[{]/.test(text) ? normalised(JSON.parse(text)) : normalised(text);
}

function normalised(value: unknown, key = ''): unknown {
  if (typeof value === 'string')
    return PATTERNS.reduce((text, [pattern, name]) => text.replaceAll(pattern, name), value);
  if (typeof value === 'number') return VOLATILE.test(key) ? 'NUMBER' : value;
  if (Array.isArray(value)) return value.map((item) => normalised(item, key));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, normalised(inner, name)]));
}
