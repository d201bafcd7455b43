/**
 * Makes the installer for Windows, with wixl and msibuild (on Debian: of `wixl` and `msitools`):
 *   node service/msi/build.ts [--output DIR] [--version V]
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { documents, licenseText } from '../package/documents.ts';
import { OUTPUT, ROOT, ownVersion, releaseTime } from '../package/facts.ts';
import { stageProgram } from '../package/program.ts';
import { Stage } from '../package/stage.ts';
import { TOP_COMPONENT, guid, installerText } from './installer-text.ts';

const { values } = parseArgs({
  options: {
    output: { type: 'string', default: OUTPUT },
    version: { type: 'string', default: ownVersion() },
  },
});
const { version } = values;

using stage = new Stage();
stageProgram(stage, 'Holdfast', 'windows-x64', version);
for (const [name, content] of documents()) stage.put(`Holdfast/${name}`, content);
stage.put('Holdfast/LICENSE.txt', licenseText());
stage.put('Holdfast/holdfast.cmd', readFileSync(path.join(ROOT, 'service', 'archive', 'holdfast.cmd')));
const files = stage.names().filter((name) => name.startsWith('Holdfast/'));
stage.settle();
writeFileSync(stage.at('holdfast.wxs'), installerText(stage, files, version));
mkdirSync(values.output, { recursive: true });
const file = path.resolve(values.output, `holdfast-${version}-windows-x64.msi`);
const time = new Date(releaseTime() * 1000).toISOString().slice(0, 19).replace('T', ' ');
// wixl writes down when it ran, and has no other way to be told.
execFileSync('faketime', ['-f', time, 'wixl', '--arch', 'x64', '-o', file, 'holdfast.wxs'], {
  cwd: stage.directory,
  stdio: ['ignore', 2, 2],
  env: { ...process.env, TZ: 'UTC' },
});
putOnPath();
nameContent();
process.stdout.write(`${file}\n`);

/** wixl knows no variables of the environment: their table is put in afterwards. */
function putOnPath(): void {
  const queries = [
    'CREATE TABLE `Environment` (`Environment` CHAR(72) NOT NULL, `Name` CHAR(255) NOT NULL LOCALIZABLE, `Value` CHAR(255) LOCALIZABLE, `Component_` CHAR(72) NOT NULL PRIMARY KEY `Environment`)',
    // Set when it is installed, taken out when it is removed, for the machine; behind what the path has.
    `INSERT INTO \`Environment\` (\`Environment\`, \`Name\`, \`Value\`, \`Component_\`) VALUES ('OnPath', '=-*PATH', '[~];[INSTALLDIR]', '${TOP_COMPONENT}')`,
    "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('RemoveEnvironmentStrings', 3300)",
    "INSERT INTO `InstallExecuteSequence` (`Action`, `Sequence`) VALUES ('WriteEnvironmentStrings', 5200)",
  ];
  change(queries.flatMap((query) => ['-q', query]));
}

/** Each package has an identifier of its own, which wixl draws by lot: this one goes by what is in it. */
function nameContent(): void {
  const content = createHash('sha256');
  for (const name of files.filter((one) => lstatSync(stage.at(one)).isFile()))
    content.update(`${name}\n`).update(readFileSync(stage.at(name)));
  const code = guid(`content ${version} ${content.digest('hex')}`);
  change(['-s', `Holdfast ${version}`, 'The Holdfast authors', 'x64;1033', `{${code}}`]);
}

function change(words: readonly string[]): void {
  execFileSync('faketime', ['-f', time, 'msibuild', file, ...words], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, TZ: 'UTC' },
  });
}
