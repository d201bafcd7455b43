/**
 * The files that the browser fetches before anybody is signed in: the page built from src/ui. They are read on each
 * request, since the page is rarely opened and the agent should not keep them in memory.
 */
import { readdirSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { causeText } from '../../base/errno-words.ts';
import { BugError, StateError, errnoOf } from '../../base/errors.ts';
import { npmHere } from '../../base/holdfast-command.ts';

export interface PageFile {
  /** Path of the URL. */
  readonly path: string;
  /** Media type. */
  readonly type: string;
  /** Whether the name changes with the content, so that the file may be cached for ever. */
  readonly isLasting: boolean;
  /** @throws {StateError} READ_ERROR */
  read(): Promise<Buffer>;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
};

/** Directory of the built page: next to the compiled program, or in dist when run from the sources. */
const BUILT = new URL(
  import.meta.url.endsWith('.ts') ? '../../../dist/page/' : '../../page/',
  import.meta.url,
);

/** Empty when the page was not built. */
export function pageFiles(): readonly PageFile[] {
  const own = names('');
  if (!own.includes('index.html')) return [];
  return [
    pageFile('/', 'index.html', false),
    // What makes the page installable has fixed names, since browsers keep them with an installed page.
    ...own.filter((name) => name !== 'index.html').map((name) => pageFile(`/${name}`, name, false)),
    ...names('assets/').map((name) => pageFile(`/assets/${name}`, `assets/${name}`, true)),
  ];
}

/** For pages that are rendered on the server: the style sheet that they share with the page, and the icon. */
export interface ConsolePageFiles {
  readonly style: PageFile;
  readonly icon: PageFile;
}

/** @throws {StateError} READ_ERROR */
export function consolePageFiles(): ConsolePageFiles {
  const style = asset(/^console-[\w-]+\.css$/);
  const icon = asset(ICON);
  if (style === undefined || icon === undefined) {
    throw new StateError('READ_ERROR', 'The style sheet of the settings page is not built', {
      hint: `Build it with: ${npmHere('run build')}`,
    });
  }
  return { style, icon };
}

/** For the reference of an API; each is undefined when the page was not built. */
export function referencePageFiles(): {
  readonly style: PageFile | undefined;
  readonly script: PageFile | undefined;
  readonly icon: PageFile | undefined;
} {
  return {
    style: asset(/^reference-style-[\w-]+\.css$/),
    script: asset(/^reference-[\w-]+\.js$/),
    icon: asset(ICON),
  };
}

const ICON = /^icon-[\w-]+\.svg$/;

function asset(named: RegExp): PageFile | undefined {
  const name = names('assets/').find((one) => named.test(one));
  return name === undefined ? undefined : pageFile(`/${name}`, `assets/${name}`, true);
}

function names(directory: string): readonly string[] {
  try {
    return readdirSync(new URL(directory, BUILT)).filter((name) =>
      statSync(new URL(directory + name, BUILT)).isFile(),
    );
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function pageFile(path: string, name: string, isLasting: boolean): PageFile {
  const type = TYPES[extname(name)];
  if (type === undefined) throw new BugError(`the build of the page has made ${name}, of no known type`);
  const file = fileURLToPath(new URL(name, BUILT));
  return {
    path,
    type,
    isLasting,
    async read() {
      try {
        return await readFile(file);
      } catch (cause) {
        throw new StateError('READ_ERROR', `A file of the page cannot be read: ${causeText(cause)}`, {
          hint: `Build it again with: ${npmHere('run build')}; then restart the agent.`,
          cause,
        });
      }
    },
  };
}
