/** `holdfast start --once`: one backup, without the agent. */
import { access } from 'node:fs/promises';
import type { ArchiveSummary } from '../archiver/archive.ts';
import { NO_EXCLUSIONS } from '../archiver/exclude.ts';
import { requireAnswer, resolveSources } from '../archiver/sources.ts';
import { toolName } from '../base/program-version.ts';
import { formatBytes, formatDuration } from '../base/units.ts';
import { DEFAULT_COMPRESSION } from '../codec/compress.ts';
import type { Context } from './context.ts';
import { openEmbedded } from './embedded.ts';
import { invocation, quoted } from './invocation.ts';
import { neverBackedUp } from './open.ts';
import type { OutputOptions } from './options.ts';
import { save } from './save.ts';
import { showSummary } from './save-summary.ts';
import { statePaths } from './state-directory.ts';
import { createStyles, wantsColor } from './terminal.ts';
import { count, shortId } from './wording.ts';

export interface StartOnceOptions extends OutputOptions {
  readonly source?: readonly string[];
}

export async function startOnce(options: StartOnceOptions, context: Context): Promise<void> {
  const named = options.source ?? [];
  if (named.length === 0) {
    await context.out.write(howToBegin(context));
    return;
  }
  const never = await neverBackedUp({ repository: statePaths(context.env).repository }, context);
  // Whoever names a link to a directory here wants the directory.
  await requireAnswer(named, process.cwd(), context.signal);
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
        exclude: { ...NO_EXCLUSIONS, never: await neverBackedUp({}, context) },
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
