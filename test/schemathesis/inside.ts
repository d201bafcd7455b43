/** The part of a run that happens where nothing can be harmed: contained.sh starts it, with its directory as the current one. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readFindings } from './findings.ts';
import { reportOf } from './report.ts';
import { startTriedAgent } from './tried-agent.ts';
import { startTriedPartner } from './tried-partner.ts';
import { tryService } from './trial.ts';

const { values } = parseArgs({
  options: {
    schemathesis: { type: 'string', default: '' },
    document: { type: 'string', default: '' },
    phases: { type: 'string', default: '' },
    seed: { type: 'string', default: '' },
    'max-examples': { type: 'string', default: '' },
    minutes: { type: 'string', default: '' },
    kept: { type: 'string' },
  },
});

const here = process.cwd();
refuseToHarm();
let faults = 0;
for (const name of values.document.split(',')) faults += await tried(name);
// A warm process of the program waits for more (test/support/warm-program.ts).
process.exit(faults === 0 ? 0 : 1);

/** @throws {Error} where something outside can be written after all */
function refuseToHarm(): void {
  for (const directory of [import.meta.dirname, userInfo().homedir, '/tmp', '/var/tmp']) {
    try {
      writeFileSync(join(directory, `.holdfast-${process.pid}`), '', { flag: 'wx' });
    } catch {
      continue;
    }
    throw new Error(`${directory} can be written: nothing is tried here`);
  }
}

async function tried(name: string): Promise<number> {
  const directory = join(here, name);
  mkdirSync(directory);
  const service = name === 'desktop' ? await startTriedAgent(directory) : await startTriedPartner();
  const { events, code, seconds } = await tryService(service, {
    schemathesis: values.schemathesis,
    directory: values.kept ?? here,
    seed: Number(values.seed),
    maxExamples: Number(values['max-examples']),
    phases: values.phases.split(','),
    atMostMs: Number(values.minutes) * 60_000,
  });
  await service[Symbol.asyncDispose]();
  const { text, faults: found } = reportOf(name, await readFindings(events));
  process.stdout.write(`${text}${name}.yaml: ${found} findings in ${seconds.toFixed(0)} s\n\n`);
  if (code === 0 || code === 1) return found;
  process.stdout.write(`${name}.yaml: schemathesis did not come to its end\n`);
  return found + 1;
}
