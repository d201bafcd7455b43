import { access } from 'node:fs/promises';
import type { Command } from 'commander';
import type { ArchiveSummary } from '../archiver/archive.ts';
import { NO_EXCLUSIONS } from '../archiver/exclude.ts';
import { formatBytes, formatDuration } from '../base/units.ts';
import { DEFAULT_COMPRESSION } from '../codec/compress.ts';
import { toolName, type Context } from './context.ts';
import { openEmbedded } from './embedded.ts';
import { invocation, quoted } from './invocation.ts';
import { neverBackedUp } from './open.ts';
import { addExamples, addOutputOptions, collect, type OutputOptions } from './options.ts';
import { save } from './save.ts';
import { showSummary } from './save-summary.ts';
import { resolveSources } from './sources.ts';
import { statePaths } from './state-directory.ts';
import { createStyles, wantsColor } from './terminal.ts';
import { count, shortId } from './wording.ts';

interface StartOptions extends OutputOptions {
  readonly source?: readonly string[];
  readonly once?: boolean;
}

export function define(command: Command, context: Context): void {
  command
    .optionsGroup('What to do:')
    .option('-s, --source <dir>', 'The directory to back up (repeatable)', collect)
    .option('--once', 'End after this backup');
  addOutputOptions(command, {
    json: 'Progress and result as JSON, one object on each line',
    quiet: 'Say nothing but errors',
  });
  command.addHelpText(
    'after',
    `
The first start makes an encrypted repository in your state directory (HOLDFAST_STATE_DIR chooses
another) and a recovery kit that opens it. Every start saves what is new or changed since the last.`,
  );
  addExamples(command, [['holdfast start --source ~/Documents', 'back up a directory now']]);
  command.action(async (options: StartOptions) => {
    await start(options, context);
  });
}

async function start(options: StartOptions, context: Context): Promise<void> {
  const named = options.source ?? [];
  if (named.length === 0) {
    await context.out.write(howToBegin(context));
    return;
  }
  const never = neverBackedUp({ repository: statePaths(context.env).repository }, context.env);
  // Whoever names a link to a directory here wants the directory.
  const { paths, notes } = resolveSources(
    named.map((name) => `${name}/`),
    process.cwd(),
    never,
  );
  const { repository, created } = await openEmbedded(context);
  try {
    if (created) context.stderr.write(createdText(context));
    const summary = await save(
      {
        repository,
        sources: paths,
        tags: [],
        pinned: false,
        compression: DEFAULT_COMPRESSION,
        plain: false,
        isolated: false,
        exclude: { ...NO_EXCLUSIONS, never: neverBackedUp({}, context.env) },
        parent: 'auto',
      },
      { ...options, notes },
      context,
    );
    await showSummary(summary, options, context, async () => await savedText(summary, named, context));
  } finally {
    await repository.close();
  }
}

function createdText({ env }: Context): string {
  const { repository, recoveryKit } = statePaths(env);
  return `${toolName()}: the first start made an encrypted repository for you.
  Repository    ${repository}
  Recovery kit  ${recoveryKit}

`;
}

async function savedText(
  { snapshot, bytesUploaded, durationMs }: ArchiveSummary,
  named: readonly string[],
  { out, env }: Context,
): Promise<string> {
  const { counts, errors, errorsMore } = snapshot.record;
  const { bold, yellow } = createStyles(wantsColor(out.stream, env));
  const { repository, recoveryKit } = statePaths(env);
  const run = invocation(env, process.argv[1], process.cwd());
  const problems = errors.length + errorsMore;
  const lines = [
    `${bold('Saved')} ${count(counts.files, 'file')} (${formatBytes(counts.bytes)}) from ${named.map(quoted).join(', ')} in ${formatDuration(durationMs)}.`,
    `  Snapshot      ${shortId(snapshot.id)}`,
    `  Newly stored  ${formatBytes(bytesUploaded)}, compressed and encrypted`,
    `  Repository    ${repository}`,
  ];
  if (problems > 0)
    lines.push('', yellow(`${count(problems, 'problem')} (listed above): all the rest is saved.`));
  if (await exists(recoveryKit)) {
    lines.push(
      '',
      `${bold('Store the recovery kit in another place')}, on paper or in a password manager:`,
      `  ${recoveryKit}`,
      'Without it nobody can open the backups once this machine is lost. When you have done so, delete',
      'the file and this reminder ends. The repository lies on this machine too: for a backup that outlives',
      `it, make one on another drive with: ${run} init -r DIR`,
    );
  }
  lines.push(
    '',
    bold('From here'),
    `  ${run} snapshots                        list the snapshots`,
    `  ${run} ls latest ${quoted(firstPath(snapshot))}`,
    `  ${run} restore latest --target DIR      bring everything back into DIR`,
  );
  return `${lines.join('\n')}\n`;
}

function firstPath({ record }: ArchiveSummary['snapshot']): string {
  return Buffer.from(record.paths[0] ?? '/', 'latin1').toString('utf8');
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}

function howToBegin({ env, out }: Context): string {
  const run = invocation(env, process.argv[1], process.cwd());
  const { bold } = createStyles(wantsColor(out.stream, env));
  return `${bold('Name a directory to back up:')}

  ${run} start --source ~/Documents

The first start makes an encrypted repository and a recovery kit by itself, saves the directory, and says
how to get everything back. All commands: ${run} help
`.replaceAll('npm start -- start', 'npm start --');
}
