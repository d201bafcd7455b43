/** What a part of the suite works with: machines that end with it, checks that are counted, and figures for the end. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { removeTree } from '../support/remove-tree.ts';
import type { KeptFigures } from './kept-figures.ts';
import { Machine, type Start } from './machine.ts';
import { bootFrom, goOn, type Frozen } from './stages.ts';

export interface Part {
  readonly name: string;
  /** For `--list`. */
  readonly purpose: string;
  /** After which it has failed. */
  readonly minutes: number;
  readonly run: (bench: Bench) => Promise<void>;
}

export interface Check {
  readonly what: string;
  readonly ok: boolean;
  readonly detail: string;
}

export interface Packages {
  /** What is made of this tree. */
  readonly current: string;
  /** The same with a higher version. */
  readonly next: () => string;
}

export interface Settings {
  readonly seed: number;
  /** Power cuts on each file system; undefined for as many as the part makes by itself. */
  readonly cuts: number | undefined;
  /** Where the power goes; undefined for all that can be tried. */
  readonly fileSystems: readonly string[] | undefined;
  readonly scratch: string;
  readonly kept: KeptFigures;
  readonly say: (line: string) => void;
}

export class Bench {
  readonly settings: Settings;
  readonly packages: Packages;
  readonly checks: Check[] = [];
  readonly figures: Record<string, number | string> = {};
  readonly #name: string;
  readonly #bare: Frozen;
  readonly #installed: () => Promise<Frozen>;
  readonly #machines: Machine[] = [];
  #count = 0;

  constructor(
    name: string,
    settings: Settings,
    packages: Packages,
    stages: { readonly booted: Frozen; readonly installed: () => Promise<Frozen> },
  ) {
    this.#name = name;
    this.settings = settings;
    this.packages = packages;
    this.#bare = stages.booted;
    this.#installed = stages.installed;
  }

  get booted(): Frozen {
    return this.#bare;
  }

  async installed(): Promise<Frozen> {
    return await this.#installed();
  }

  say(line: string): void {
    this.settings.say(`${this.#name}: ${line}`);
  }

  /** Counted; one that is not so fails the part, which goes on all the same. */
  check(what: string, ok: boolean, detail: unknown = ''): boolean {
    const text = typeof detail === 'string' ? detail : JSON.stringify(detail);
    this.checks.push({ what, ok, detail: ok ? '' : text.slice(0, 2_000) });
    this.say(`${ok ? 'ok ' : 'NOT'} ${what}${ok || text === '' ? '' : `\n${text.slice(0, 2_000)}`}`);
    return ok;
  }

  /** A directory of this part. */
  place(name: string): string {
    const directory = path.join(this.settings.scratch, `${this.#name}-${name}`);
    mkdirSync(directory, { recursive: true });
    return directory;
  }

  /** With the package installed and its agent at rest. */
  async machine(more: Partial<Start> = {}, from?: Frozen): Promise<Machine> {
    const frozen = from ?? (await this.#installed());
    return this.#keep(await goOn(frozen, this.place(`machine-${(this.#count += 1)}`), more));
  }

  async boot(more: Partial<Start> = {}, from?: Frozen): Promise<Machine> {
    const frozen = from ?? (await this.#installed());
    return this.#keep(await bootFrom(frozen, this.place(`machine-${(this.#count += 1)}`), more));
  }

  /** From the disk that another machine of this part has left, in the same directory. */
  async bootAgain(directory: string, more: Partial<Start> = {}): Promise<Machine> {
    const root = path.join(directory, 'root.qcow2');
    return this.#keep(await Machine.start(directory, { image: this.#bare.image, ...more, root }));
  }

  /** One that was started by other means. */
  keep(machine: Machine): Machine {
    return this.#keep(machine);
  }

  /** Ends a machine and throws away what it wrote. */
  async done(machine: Machine): Promise<void> {
    await machine.cutPower();
    removeTree(machine.directory);
  }

  async endAll(): Promise<void> {
    for (const machine of this.#machines) await machine.cutPower();
  }

  #keep(machine: Machine): Machine {
    this.#machines.push(machine);
    return machine;
  }
}
