/** A directory in which the files of a package are laid out as they will be installed. */
import {
  chmodSync,
  copyFileSync,
  linkSync,
  lstatSync,
  lutimesSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { releaseTime } from './facts.ts';

export class Stage implements Disposable {
  readonly directory: string;
  readonly #programs = new Set<string>();

  constructor() {
    this.directory = mkdtempSync(path.join(tmpdir(), 'holdfast-package-'));
    chmodSync(this.directory, 0o755);
  }

  at(place: string): string {
    return path.join(this.directory, place);
  }

  put(place: string, content: string | Uint8Array): void {
    mkdirSync(path.dirname(this.at(place)), { recursive: true });
    writeFileSync(this.at(place), content);
  }

  putProgram(place: string, content: string | Uint8Array): void {
    this.put(place, content);
    this.#programs.add(this.at(place));
  }

  copy(from: string, place: string): void {
    mkdirSync(path.dirname(this.at(place)), { recursive: true });
    copyFileSync(from, this.at(place));
  }

  copyProgram(from: string, place: string): void {
    this.copy(from, place);
    this.#programs.add(this.at(place));
  }

  /** The files below `from` whose names there are wanted; no links. */
  copyTree(from: string, place: string, wanted: (name: string) => boolean = () => true): void {
    for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
      const source = path.join(from, name);
      if (lstatSync(source).isFile() && wanted(name.replaceAll(path.sep, '/')))
        this.copy(source, path.join(place, name));
    }
  }

  /** A tree that is kept for further packages: its files get the same modes and times in each. */
  linkTree(from: string, place: string, programs: readonly string[]): void {
    for (const name of readdirSync(from, { recursive: true, encoding: 'utf8' })) {
      const source = path.join(from, name);
      if (!lstatSync(source).isFile()) continue;
      const target = this.at(path.join(place, name));
      mkdirSync(path.dirname(target), { recursive: true });
      try {
        linkSync(source, target);
      } catch {
        // On another disk, or where there are no links.
        copyFileSync(source, target);
      }
      if (programs.includes(name)) this.#programs.add(target);
    }
  }

  /** Names below the directory, sorted. */
  names(): readonly string[] {
    return readdirSync(this.directory, { recursive: true, encoding: 'utf8' }).sort();
  }

  size(): number {
    return this.names()
      .map((name) => lstatSync(this.at(name)))
      .reduce((sum, stats) => sum + (stats.isFile() ? stats.size : 4096), 0);
  }

  /** Modes and times of everything, whatever the umask of whoever builds: called when all is in place. */
  settle(): void {
    const time = releaseTime();
    for (const name of this.names().toReversed()) {
      const place = this.at(name);
      const stats = lstatSync(place);
      if (!stats.isSymbolicLink())
        chmodSync(place, stats.isDirectory() || this.#programs.has(place) ? 0o755 : 0o644);
      lutimesSync(place, time, time);
    }
    lutimesSync(this.directory, time, time);
  }

  [Symbol.dispose](): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
