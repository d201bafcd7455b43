/** Lays out what runs: the compiled program, its packages, the templates of services, and the runtime. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './facts.ts';
import { modulesFor } from './modules.ts';
import { readManifest } from './package-files.ts';
import { PLATFORMS, type Platform, type PlatformName } from './platforms.ts';
import type { Stage } from './stage.ts';

/** The folder of `service` that has the templates of services for a system. */
const TEMPLATES = { linux: 'systemd', darwin: 'launchd', win32: 'windows' } as const;

/** All of it below `home`. The runtime becomes `bin/node`, or `bin/node.exe`. */
export function stageProgram(stage: Stage, home: string, platform: PlatformName, version: string): void {
  const { os, node } = PLATFORMS[platform];
  stageCompiled(stage, home, [os]);
  stage.linkTree(modulesFor(platform), home, [node]);
  // Run by the private runtime, and by nothing that its first line would name.
  const launcher = readFileSync(path.join(ROOT, 'service', 'bin', 'holdfast.js'), 'utf8');
  stage.put(path.join(home, 'service', 'bin', 'holdfast.js'), launcher.replace(/^#!.*\n/, ''));
  const { name, description, license, type } = readManifest(ROOT);
  // What the program says of itself is what the package says.
  const manifest = { name, version, description, license, type };
  stage.put(path.join(home, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
}

/** What is the same on every platform, and needs packages and a runtime beside it. The client is for programs of others. */
export function stageCompiled(stage: Stage, home: string, systems: readonly Platform['os'][]): void {
  if (!existsSync(path.join(ROOT, 'dist', 'main.js'))) throw new Error('Not built yet. Run: npm run build');
  stage.copyTree(
    path.join(ROOT, 'dist'),
    path.join(home, 'dist'),
    (name) => /\.(?:c?js|json|css|html|svg)$/.test(name) && !/^(?:package|\.code|client)\//.test(name),
  );
  for (const name of systems.map((os) => TEMPLATES[os]))
    stage.copyTree(path.join(ROOT, 'service', name), path.join(home, 'service', name));
  stage.copy(
    path.join(ROOT, 'service', 'bin', 'runtime.js'),
    path.join(home, 'service', 'bin', 'runtime.js'),
  );
}
