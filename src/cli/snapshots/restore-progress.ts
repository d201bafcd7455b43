/** A running restore as the person sees it. */
import { asByteString, type ByteString, joinBytes } from '../../base/byte-path.ts';
import { pathText, treePath } from '../../base/tree-path.ts';
import type {
  PlannedAction,
  RestoreCounters,
  RestoreObserver,
  RestorePhase,
  RestoreTarget,
} from '../../restorer/request/request.ts';
import { pathFields } from './listing.ts';
import type { OutputOptions } from '../command/options.ts';
import type { Output } from '../terminal/output.ts';
import type { Progress } from '../terminal/progress.ts';
import { jsonLine, printableBytes, printablePath } from '../terminal/terminal.ts';

/** Problems shown while the restore runs; --json has all of them. */
export const PROBLEMS_SHOWN = 20;

/** The width of `replace`, the longest action. */
const ACTION_WIDTH = 7;

/** Where an entry lies: in a directory of the restore, it has only a part of its path from there. */
export function placeInTarget(target: RestoreTarget, path: ByteString): ByteString {
  return target.kind === 'in-place' ? path : joinBytes(treePath(target.path), asByteString(path.slice(1)));
}

export function watchRestore(
  progress: Progress,
  target: RestoreTarget,
  options: OutputOptions,
  out: Output,
): RestoreObserver {
  const json = options.json === true;
  let phase: RestorePhase = 'planning';
  let counters: RestoreCounters = { filesDone: 0, filesTotal: 0, bytesDone: 0, bytesTotal: 0 };
  let path = '';
  let errors = 0;
  const update = (): void => {
    // While planning the totals still grow.
    const known = phase !== 'planning';
    progress.update({
      phase: json ? phase : PHASES[phase],
      filesDone: counters.filesDone,
      filesTotal: known ? counters.filesTotal : null,
      bytesDone: counters.bytesDone,
      bytesTotal: known ? counters.bytesTotal : null,
      errors,
      currentPath: path === '' ? undefined : path,
    });
  };
  return {
    phase: (next) => {
      phase = next;
      path = '';
      update();
    },
    progress: (next, current) => {
      counters = next;
      path = pathText(current);
      update();
    },
    problem: (problem) => {
      errors += 1;
      const { code, message } = problem;
      if (json) out.push(jsonLine({ type: 'problem', ...pathFields(problem.path), code, message }));
      else if (errors <= PROBLEMS_SHOWN)
        progress.note(
          `Not restored: ${printablePath(problem.path)}: ${message}${message.includes(code) ? '' : ` (${code})`}`,
        );
      update();
    },
    planned: (below, action) => {
      if (options.quiet === true) return;
      const planned = placeInTarget(target, below);
      if (json) out.push(jsonLine({ type: 'planned', action, ...pathFields(planned) }));
      else if (!UNTOUCHED.has(action))
        out.push(`${action.padEnd(ACTION_WIDTH)}  ${printableBytes(planned)}\n`);
    },
  };
}

const PHASES = { planning: 'planning', comparing: 'comparing', restoring: '', finishing: 'finishing' };

/** Actions that get no line: these entries stay as they are, and the summary counts them. */
const UNTOUCHED: ReadonlySet<PlannedAction> = new Set(['leave', 'skip']);
