/** Modules of the built program: the sources of its pages are no JavaScript that Node.js reads. */
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import type * as commandModule from '../../src/base/holdfast-command.ts';
import type * as callModule from '../../src/base/program-call.ts';
import type * as wordsModule from '../../src/base/shell-words.ts';
import type * as commandsModule from '../../src/cli/commands.ts';
import type * as schemaModule from '../../src/config/schema.ts';
import { ROOT } from '../package/facts.ts';

export async function builtCommands(): Promise<typeof commandsModule> {
  const { callProgram } = (await load('base/holdfast-command.js')) as typeof commandModule;
  // Texts name the program as it is called where it is installed.
  callProgram('holdfast');
  return (await load('cli/commands.js')) as typeof commandsModule;
}

/** What commands for an administrator begin with here: the paths of whoever builds, which no package names. */
export async function programOfBuilder(): Promise<string> {
  const { programForSudo } = (await load('base/program-call.js')) as typeof callModule;
  const { quoted } = (await load('base/shell-words.js')) as typeof wordsModule;
  return programForSudo().map(quoted).join(' ');
}

export async function builtSchema(): Promise<typeof schemaModule> {
  return (await load('config/schema.js')) as typeof schemaModule;
}

async function load(name: string): Promise<unknown> {
  return await import(pathToFileURL(path.join(ROOT, 'dist', name)).href);
}
