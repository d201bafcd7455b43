/** The section of docs/reliability.md that lists the planted defects, made from the headers of the patches. */
import type { Defect } from './defect.ts';

export const SECTION = '## Planted defects';

const INTRODUCTION = `Each file in \`test/planted/defects/\` is a patch that breaks one promise of the product: it leaves out a sync, swallows an error
of a list, accepts a short tag, follows a link. \`npm run test:planted\` makes a copy of the project, checks that the tests named here
pass in it, and then applies one patch after the other, builds, and runs these tests: at least one has to fail by what it asserts.
A patch that does not compile, a crash and a test that only waits for ever count as missed. When none of the named tests
fails, the suites that the patch names are run as a whole. \`-- NAME…\` takes some of the patches, \`-- --list\` lists them, and
\`-- --json FILE\` writes what came of each. \`npm test\` checks that all patches still apply and that this table is what their headers say.`;

export function plantedSection(defects: readonly Defect[]): string {
  const rows = defects.map(({ name, promise, caughtBy }) => {
    const tests = caughtBy.map(({ file, title }) => `\`${file.replace(/^test\//, '')}\`: ${cell(title)}`);
    return `| ${name} | ${cell(promise)} | ${tests.join('<br>')} |`;
  });
  return [
    SECTION,
    '',
    INTRODUCTION,
    '',
    '| defect | promise | caught by (below `test/`) |',
    '|---|---|---|',
    ...rows,
    '',
  ].join('\n');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('*', '\\*');
}
