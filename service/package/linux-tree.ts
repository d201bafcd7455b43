/** Lays out what a package of Linux puts on a machine, up to what its own format asks for. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { gzipSync } from 'node:zlib';
import { fill, unitValue, unitWord, urlPath } from '../../src/cli/install/template.ts';
import { manualPages } from '../manual/manual.ts';
import { completions } from './completions.ts';
import { documents } from './documents.ts';
import { APPLICATION_ID, HOMEPAGE, OUTPUT, ROOT, ownVersion, releaseTime } from './facts.ts';
import { platformNamed, type PlatformName } from './platforms.ts';
import { stageProgram } from './program.ts';
import type { Stage } from './stage.ts';

export const HOME = '/usr/lib/holdfast';
export const DOCUMENTS = '/usr/share/doc/holdfast';
const RUNTIME = `${HOME}/bin/node`;
const PROGRAM = `${HOME}/service/bin/holdfast.js`;
const CONFIG = '/etc/holdfast/config.json';

export interface Release {
  readonly platform: PlatformName;
  readonly version: string;
  /** Where zsh looks for completions. */
  readonly zsh: string;
}

interface LinuxOptions {
  /** The directory that the package is put into. */
  readonly output: string;
  readonly platform: PlatformName;
  readonly compression: string;
  readonly version: string;
}

/** What the words of the command line ask of a package of Linux, whatever its format. */
export function linuxOptions(): LinuxOptions {
  const { values } = parseArgs({
    options: {
      output: { type: 'string', default: OUTPUT },
      platform: { type: 'string', default: 'linux-x64' },
      compression: { type: 'string', default: 'xz' },
      version: { type: 'string', default: ownVersion() },
    },
  });
  return { ...values, platform: platformNamed(values.platform) };
}

export async function stageLinux(stage: Stage, { platform, version, zsh }: Release): Promise<void> {
  stageProgram(stage, HOME, platform, version);
  // Below the directory of the state, compiled code and settings are those of the service.
  stage.putProgram('/usr/bin/holdfast', template('package/launcher.sh'));
  stageService(stage);
  stageDesktop(stage, version);
  for (const [name, content] of documents()) stage.put(`${DOCUMENTS}/${name}`, content);
  for (const [name, text] of Object.entries(await manualPages(version)))
    stage.put(`/usr/share/man/man${name.at(-1)}/${name}.gz`, gzipSync(text, { level: 9 }));
  for (const [place, text] of Object.entries(completions()))
    stage.put(`/usr/share/${place.replace(/^zsh\/site-functions/, zsh)}`, text);
}

function template(name: string): string {
  return readFileSync(path.join(ROOT, 'service', name), 'utf8');
}

function stageService(stage: Stage): void {
  const facts = {
    ROOT: urlPath(DOCUMENTS),
    RUNTIME: unitWord(RUNTIME),
    PROGRAM: unitWord(PROGRAM),
    CONFIG: unitWord(CONFIG),
    CONFIG_DIRECTORY: unitValue(path.dirname(CONFIG)),
  };
  stage.put(
    // Not /lib, which is a link to /usr/lib: Debian 13 warns of packages that go through it.
    '/usr/lib/systemd/system/holdfast.service',
    fill(template('systemd/holdfast.service'), facts, (text) => text),
  );
  stage.put('/usr/lib/sysusers.d/holdfast.conf', template('systemd/holdfast.sysusers'));
  stage.put(`${DOCUMENTS}/restore.conf.example`, template('systemd/restore.conf.example'));
  // Not in its place: packages handle what is there by name, as root, and the directory is the service's own.
  stage.put(
    `/usr/share/holdfast/${path.basename(CONFIG)}`,
    `{\n  // Every setting with its meaning and default: holdfast-config(5), or ${DOCUMENTS}/docs/config.example.jsonc\n}\n`,
  );
}

function stageDesktop(stage: Stage, version: string): void {
  const date = new Date(releaseTime() * 1000).toISOString().slice(0, 10);
  const share = '/usr/share';
  stage.put(`${share}/applications/${APPLICATION_ID}.desktop`, template(`desktop/${APPLICATION_ID}.desktop`));
  stage.put(
    `${share}/icons/hicolor/scalable/apps/${APPLICATION_ID}.svg`,
    template(`desktop/${APPLICATION_ID}.svg`),
  );
  stage.put(
    `${share}/metainfo/${APPLICATION_ID}.metainfo.xml`,
    fill(
      template(`desktop/${APPLICATION_ID}.metainfo.xml`),
      { VERSION: version, DATE: date, HOMEPAGE },
      (text) => text,
    ),
  );
  stage.putProgram(`${HOME}/service/desktop/open-page`, template('desktop/open-page'));
}
