/** The page docs/reliability/planted-defects.md, made from the headers of the patches. */
import type { Defect } from './defect.ts';

const INTRODUCTION = `Each file in \`test/planted/defects/\` is a patch that breaks one promise of the product. For example, it leaves out a sync,
swallows an error of a list, accepts a short tag, or follows a link. \`npm run test:planted\` makes a copy of the project and checks that
the tests named here pass in it. Then it applies one patch after the other, builds, and runs these tests. At least one of them has to fail
on an assertion. A patch that does not compile, a crash, and a test that only waits for ever count as missed. If none of the named tests
fails, the suites that the patch names run as a whole.

\`-- NAME…\` takes some of the patches, \`-- --list\` lists them, and \`-- --json FILE\` writes the result of each. \`-- --page\` prints this page.
\`npm test\` checks that all patches still apply, and that this page is what their headers say.`;

export function plantedPage(defects: readonly Defect[]): string {
  const rows = defects.map(({ name, promise, caughtBy }) => {
    const tests = caughtBy.map(({ file, title }) => `\`${file.replace(/^test\//, '')}\`: ${cell(title)}`);
    return `| ${name} | ${cell(promise)} | ${tests.join('<br>')} |`;
  });
  return [
    '# Planted defects',
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
