import type { Command } from 'commander';
import { holdfast, holdfastThere } from '../../base/holdfast-command.ts';
import { textOfBytes } from '../../base/byte-path.ts';
import { formatBytes, formatDuration, lacksUnit, parseSize } from '../../base/units.ts';
import type { ReadData } from '../../repository/check/check-packs.ts';
import type { CheckReport, Finding } from '../../repository/check/check-report.ts';
import { check, planCheck, type CheckPlan } from '../../repository/check/check.ts';
import { markDamaged, type DamageMarks } from '../../repository/check/damaged-packs.ts';
import type { Repository } from '../../repository/repository.ts';
import type { Context } from '../command/context.ts';
import { tellOfCheck } from '../agent/tell-agent.ts';
import { noteOthers } from '../places/elsewhere.ts';
import { EXIT } from '../command/exit-codes.ts';
import { openProgress } from '../command/open-progress.ts';
import { openOther, withRepository } from '../places/open.ts';
import {
  addExamples,
  addOutputOptions,
  addRepositoryOptions,
  type FromOptions,
  fromOptions,
  type OutputOptions,
  type RepositoryOptions,
  usage,
} from '../command/options.ts';
import { repair } from './repair.ts';
import { givenByOptions, takeFromEnvironment } from '../places/secret.ts';
import { createStyles, printable, printablePath, wantsColor } from '../terminal/terminal.ts';
import { count, seconds, shortId } from '../terminal/wording.ts';

interface CheckOptions extends RepositoryOptions, OutputOptions, FromOptions {
  readonly repairFrom?: string;
  readonly readData?: boolean;
  readonly readDataSubset?: ReadData;
}

export function define(command: Command, context: Context): void {
  command
    .optionsGroup('How thorough:')
    .option('--read-data', 'Read and verify all stored data')
    .option('--read-data-subset <part>', 'Read and verify a random part of it: 5% or 500M', parseSubset)
    .optionsGroup('If something is damaged:')
    .option('--repair-from <dir>', 'Restore lost data from another repository that has it')
    .option('--from-password-file <file>', 'Its passphrase, if it differs')
    .option('--from-password-command <command>', 'The same, from a command');
  addRepositoryOptions(command);
  addOutputOptions(command, {
    json: 'The report as a JSON object',
    quiet: 'Print nothing unless something is wrong',
  });
  command.addHelpText(
    'after',
    '\nWithout options, everything except the data itself is verified. Without --repair-from,\nnothing is changed except that damaged packs are marked, so that the next backup stores\ntheir data again. Exit code 1 means damage was found.',
  );
  addExamples(command, [
    [holdfast`check --read-data-subset 5%`, 'check part of the data, for example every week'],
  ]);
  command.action(async (options: CheckOptions) => {
    if (options.readData === true && options.readDataSubset !== undefined)
      throw usage('--read-data and --read-data-subset cannot be combined', 'Use only one of them.');
    const { fromPasswordFile, fromPasswordCommand, repairFrom: from } = options;
    if (from === undefined && (fromPasswordFile ?? fromPasswordCommand) !== undefined)
      throw usage('There is no repository to repair from', 'Give it with --repair-from.');
    // Read from a copy of the environment, since opening the first repository removes the passphrase from the environment.
    const fallback = givenByOptions(options) ?? takeFromEnvironment({ ...context.env });
    await withRepository(options, context, async (repository) => {
      const damaged = await run(repository, options, context);
      const { repairFrom } = options;
      if (repairFrom === undefined || damaged === undefined) return;
      const other = await openOther(repairFrom, givenByOptions(fromOptions(options)), fallback, context);
      try {
        await repair(repository, other, damaged.packsDamaged, options, context);
      } finally {
        await other.close();
      }
      context.exitCode = EXIT.ok;
      await run(repository, options, context);
    });
    if (options.json !== true && options.quiet !== true) await noteOthers(options, context);
  });
}

/** @throws {RequestError} */
function parseSubset(text: string): ReadData {
  const percent = /^(\d+(?:\.\d+)?)%$/.exec(text)?.[1];
  if (percent === undefined && lacksUnit(text))
    throw usage(`"${text}" has no unit`, `Use a part such as ${text}%, or a size such as 500M.`);
  if (percent === undefined) return { bytes: parseSize(text) };
  const part = Number(percent);
  if (part > 0 && part <= 100) return { percent: part };
  throw usage(
    `${text} is not a part of the data`,
    'Use a percentage above 0, up to 100, or a size such as 500M.',
  );
}

/** Runs the check and returns its report if it found damage, else undefined. */
async function run(
  repository: Repository,
  options: CheckOptions,
  context: Context,
): Promise<CheckReport | undefined> {
  const readData: ReadData = options.readData === true ? 'all' : (options.readDataSubset ?? false);
  const plan = await planCheck(repository, { readData }, context.signal);
  const report = await checkWithProgress(repository, readData, plan, options, context);
  if (report.status === 'damaged') context.exitCode = EXIT.failed;
  // Damaged packs are not marked before a repair, which first looks for another copy of their content.
  const marks =
    options.repairFrom === undefined && report.packsDamaged.size > 0
      ? await markDamaged(repository, report.packsDamaged, context.signal)
      : undefined;
  if (options.json === true) await context.out.json(reportObject(report, marks));
  else if (options.quiet !== true || hasTrouble(report))
    await context.out.write(reportText(report, marks, readData, context));
  await tellOfCheck(repository, report, readData === 'all', context);
  return report.status === 'damaged' ? report : undefined;
}

/** Whether something needs attention. Notes alone do not. */
function hasTrouble({ status, findings, findingsMore }: CheckReport): boolean {
  return status !== 'ok' || findingsMore > 0 || findings.some(({ severity }) => severity !== 'note');
}

async function checkWithProgress(
  repository: Repository,
  readData: ReadData,
  plan: CheckPlan,
  options: CheckOptions,
  context: Context,
): Promise<CheckReport> {
  const progress = openProgress('Checking', options, context);
  let phase = '';
  let read = { packs: 0, bytes: 0 };
  let errors = 0;
  const update = (): void => {
    const reading = plan.packsToRead.length > 0;
    progress.update({
      phase,
      filesDone: read.packs,
      filesTotal: reading ? plan.packsToRead.length : null,
      bytesDone: read.bytes,
      bytesTotal: reading ? plan.bytesToRead : null,
      errors,
    });
  };
  try {
    return await check(
      repository,
      { readData },
      {
        phase: (next) => {
          phase = next;
          update();
        },
        packRead: (done) => {
          read = done;
          update();
        },
        finding: () => {
          errors += 1;
          update();
        },
      },
      context.signal,
    );
  } finally {
    progress.finish();
  }
}

/** Files named below one finding; --json names more. */
const FILES_SHOWN = 10;

function reportText(
  report: CheckReport,
  marks: DamageMarks | undefined,
  readData: ReadData,
  { out, env }: Context,
): string {
  const { red, yellow, green } = createStyles(wantsColor(out.stream, env));
  const styles = { error: red, warning: yellow, note: (text: string) => text };
  const { counts } = report;
  const lines = report.findings.flatMap((finding) => [
    `${styles[finding.severity](`${finding.severity}:`)} ${printable(finding.object)}: ${printable(finding.what)}`,
    ...affectedLines(finding),
  ]);
  if (report.findingsMore > 0) lines.push(`… and ${count(report.findingsMore, 'more finding')}`);
  if (lines.length > 0) lines.push('');
  lines.push(
    `Checked ${count(counts.snapshots, 'snapshot')}, ${count(counts.trees, 'directory', 'directories')}, ${count(counts.packs, 'pack')} (${formatBytes(counts.packBytes)}) in ${formatDuration(report.durationMs)}.`,
  );
  if (readData !== false)
    lines.push(
      `Read and verified the data of ${count(counts.packsRead, 'pack')} (${formatBytes(counts.bytesRead)}).`,
    );
  // Reported only without damage: it is unknown which packs an unreadable directory needs.
  if (counts.packsUnreferenced > 0 && report.status === 'ok')
    lines.push(
      `${count(counts.packsUnreferenced, 'pack')} ${counts.packsUnreferenced === 1 ? 'is' : 'are'} no longer needed; "${holdfastThere`prune`}" frees the space.`,
    );
  if (report.status === 'ok') {
    lines.push(green('No errors were found.'));
    if (readData === false) lines.push('The data itself was not read; use --read-data to check it as well.');
  } else {
    lines.push(
      red('The repository is damaged.'),
      'All files that are not listed above can be restored. What to do, in this order:',
      '  1. If you still have the original files, back them up again: this repairs the older snapshots as well.',
      `  2. If another repository has copies: ${holdfastThere`check --read-data --repair-from DIR`}`,
      `  3. If an index or a record is damaged: ${holdfastThere`recover`}`,
      '  4. Check whether the disk is failing before more is lost.',
      `  5. What is still damaged then cannot be restored. Remove those snapshots: ${holdfastThere`forget ID`}`,
      `  6. If a record is gone for good, this lets rules and prune work again: ${holdfastThere`forget --lost`}`,
      ...marksText(marks),
    );
  }
  return `${lines.join('\n')}\n`;
}

function marksText(marks: DamageMarks | undefined): readonly string[] {
  if (marks?.refusal !== undefined)
    return [
      `The damaged packs could not be marked (${printable(marks.refusal.message)}), so backups still rely on them.`,
      'Run this check with write access to the repository.',
    ];
  const marked = marks?.marked.size ?? 0;
  return marked === 0
    ? []
    : [
        `${count(marked, 'damaged pack')} marked: the next backup stores the data in ${marked === 1 ? 'it' : 'them'} again.`,
      ];
}

function affectedLines({ snapshots, files, filesTotal }: Finding): readonly string[] {
  if (snapshots.length === 0) return [];
  const ids = snapshots.slice(0, FILES_SHOWN).map(shortId).join(', ');
  const more = snapshots.length > FILES_SHOWN ? ', …' : '';
  const shown = files.slice(0, FILES_SHOWN);
  const left = filesTotal - shown.length;
  return [
    `  in ${count(snapshots.length, 'snapshot')}: ${ids}${more}`,
    ...shown.map((path) => `    ${printablePath(path)}`),
    ...(left > 0 ? [`    … and ${count(left, 'more file')} (see --json)`] : []),
  ];
}

function reportObject(report: CheckReport, marks: DamageMarks | undefined): object {
  const { counts } = report;
  return {
    type: 'check',
    status: report.status,
    findings: report.findings.map(({ severity, object, what, snapshots, files, filesTotal }) => ({
      severity,
      object,
      message: what,
      snapshots,
      files: files.map(textOfBytes),
      files_total: filesTotal,
    })),
    findings_more: report.findingsMore,
    packs_marked: marks?.marked.size ?? 0,
    packs_unmarked_reason: marks?.refusal?.message ?? null,
    snapshots: counts.snapshots,
    packs: counts.packs,
    bytes_stored: counts.packBytes,
    packs_read: counts.packsRead,
    bytes_read: counts.bytesRead,
    chunks: counts.chunks,
    chunks_unreferenced: counts.chunksUnreferenced,
    packs_unreferenced: counts.packsUnreferenced,
    duration_seconds: seconds(report.durationMs),
  };
}
