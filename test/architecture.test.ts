/** The rules of docs/architecture.md and docs on style that a machine can check, held as data. */

import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { functionLengths } from './support/function-lengths.ts';
import { comparedSentences } from './support/own-sentences.ts';

const root = path.resolve(import.meta.dirname, '..');

interface SourceFile {
  /** Below `src`. */
  readonly path: string;
  readonly text: string;
  /** Without comments. */
  readonly code: string;
}

const files: readonly SourceFile[] = readdirSync(path.join(root, 'src'), {
  recursive: true,
  encoding: 'utf8',
})
  .filter(isSource)
  .sort()
  .map((name) => {
    const text = readFileSync(path.join(root, 'src', name), 'utf8');
    return { path: name, text, code: withoutComments(text) };
  });

function isSource(name: string): boolean {
  return (name.endsWith('.ts') || name.endsWith('.tsx')) && !name.endsWith('.d.ts');
}

function withoutComments(text: string): string {
  return text.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/(^|\s)\/\/.*$/gm, '$1');
}

/** What a file imports, types and worker files included: paths below `src`, or names of packages. */
function importsOf({ path: from, code }: SourceFile): readonly string[] {
  const found = [
    ...code.matchAll(/\b(?:from|import)\s+'([^']+)'/g),
    ...code.matchAll(/\bimport\s*\(\s*'([^']+)'/g),
    ...code.matchAll(/\bnew URL\(\s*'(\.[^']+(?<!\.svg))'/g),
  ];
  return found
    .map((match) => match[1] ?? '')
    .map((name) => (name.startsWith('.') ? path.join(path.dirname(from), name) : name));
}

function folderOf(file: string): string {
  return file.includes('/') ? file.slice(0, file.indexOf('/')) : file;
}

/**
 * Folder -> what it may import beside itself: folders, files, or files that begin so. The table of docs/architecture.md.
 */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: [],
  system: ['base/'],
  format: ['base/'],
  codec: ['base/', 'format/'],
  destination: ['base/', 'system/far-answer.ts', 'system/owner-names.ts'],
  repository: ['base/', 'format/', 'codec/', 'system/', 'destination/destination.ts'],
  exclude: ['base/', 'system/same-place.ts'],
  archiver: ['base/', 'system/', 'format/', 'codec/', 'repository/', 'exclude/'],
  cache: ['base/', 'codec/', 'repository/', 'destination/destination.ts'],
  copier: ['base/', 'format/', 'codec/', 'repository/', 'archiver/store/'],
  browse: ['base/', 'format/', 'codec/', 'repository/', 'exclude/'],
  restorer: [
    'base/',
    'system/',
    'format/',
    'codec/',
    'repository/',
    'browse/',
    'exclude/',
    'destination/destination.ts',
  ],
  cli: [
    'base/',
    'partner/',
    'cache/',
    'copier/',
    'system/',
    'format/',
    'codec/',
    'destination/',
    'repository/',
    'archiver/',
    'exclude/',
    'restorer/',
    'browse/',
    'config/',
    'control/',
    'daemon/',
    'enrollment/',
    'schedule/',
    'jobs/',
  ],
  daemon: [
    'api/',
    'exclude/patterns.ts',
    'base/',
    'browse/',
    'catalog/',
    'config/',
    'control/',
    'db/',
    'destination/',
    'engine/protocol.ts',
    'enrollment/',
    'jobs/',
    'notify/',
    'repository/',
    'schedule/',
    'system/',
    'watch/',
  ],
  config: ['base/'],
  db: ['base/', 'jobs/job.ts', 'jobs/agent.ts'],
  catalog: [
    'base/',
    'cache/',
    'format/',
    'codec/',
    'destination/',
    'repository/',
    'browse/',
    'jobs/agent.ts',
  ],
  engine: [
    'base/',
    'cache/',
    'copier/',
    'system/',
    'format/',
    'codec/',
    'destination/',
    'repository/',
    'archiver/',
    'exclude/',
    'restorer/',
    'browse/',
    'jobs/job.ts',
  ],
  watch: ['base/', 'system/'],
  schedule: ['base/', 'config/'],
  jobs: [
    'base/',
    'system/output-pipe.ts',
    'system/process-identity.ts',
    'config/',
    'db/',
    'schedule/',
    'watch/',
    'catalog/',
    'engine/protocol.ts',
  ],
  client: [],
  control: ['base/', 'jobs/job.ts', 'jobs/agent.ts'],
  notify: ['base/', 'config/', 'jobs/job.ts', 'jobs/agent.ts'],
  enrollment: [
    'base/',
    'config/',
    'db/partner-reports.ts',
    'schedule/',
    'jobs/job.ts',
    'jobs/agent.ts',
    'jobs/wait-text.ts',
    'api/wire/error-codes.ts',
    'api/access/private-file.ts',
  ],
  api: [
    'base/',
    'system/far-answer.ts',
    'system/far-mounts.ts',
    'config/',
    'db/',
    'jobs/job.ts',
    'jobs/agent.ts',
    'jobs/protection.ts',
    'jobs/statement.ts',
  ],
  partner: [
    'base/',
    'config/',
    'db/database.ts',
    'db/idempotency.ts',
    'db/rate-log.ts',
    'api/wire/',
    'api/connections/',
    'api/framework/',
    'api/reference/',
    'api/access/private-file.ts',
    'api/access/rate-limits.ts',
    'api/access/secret-text.ts',
    'ui/components/',
  ],
  ui: ['api/schemas/', 'base/schema-type.ts'],
  'main.ts': ['cli/'],
};

/** What is left when those that nothing leads on from are taken away, again and again. */
function circlesOf(arrows: ReadonlyMap<string, ReadonlySet<string>>): readonly string[] {
  const left = new Map(arrows);
  for (let before = -1; before !== left.size;) {
    before = left.size;
    for (const [from, others] of left) if ([...others].every((to) => !left.has(to))) left.delete(from);
  }
  return [...left].map(([from, others]) => `${from} -> ${[...others].join(', ')}`);
}

/** Files and rooms in one room. */
const MOST_ENTRIES = 45;

describe('folders', () => {
  test('are all in the table', () => {
    expect([...new Set(files.map((file) => folderOf(file.path)))].sort()).toEqual(
      Object.keys(MAY_IMPORT).sort(),
    );
  });

  test('have the same table in docs/architecture.md and docs/agent.md', () => {
    const rows = ['architecture.md', 'agent.md'].flatMap((name) => [
      ...readFileSync(path.join(root, 'docs', name), 'utf8').matchAll(
        /^\| `src\/(\S+)` \|.*\| ([^|]+) \|$/gm,
      ),
    ]);
    const written = Object.entries(MAY_IMPORT).filter(([folder]) => folder !== 'main.ts');
    expect(Object.fromEntries(rows.map(([, folder = '', cell]) => [folder, cell]))).toEqual(
      Object.fromEntries(
        written.map(([folder, names]) => [
          folder,
          names.map((name) => name.replace(/\/$/, '')).join(', ') || 'nothing of ours',
        ]),
      ),
    );
  });

  test.each(Object.keys(MAY_IMPORT))('%s imports only what the table allows', (folder) => {
    const allowed = MAY_IMPORT[folder] ?? [];
    const own = files.filter((file) => folderOf(file.path) === folder);
    const wrong = own.flatMap((file) =>
      importsOf(file)
        .filter(isSource)
        .filter((name) => folderOf(name) !== folder && !allowed.some((start) => name.startsWith(start)))
        .map((name) => `${file.path} imports ${name}`),
    );
    expect(wrong).toEqual([]);
  });

  test('have rooms between which imports go one way', () => {
    const roomOf = (file: string): string => path.dirname(file);
    const arrows = new Map<string, Set<string>>();
    for (const file of files)
      for (const name of importsOf(file).filter(isSource)) {
        const [from, to] = [roomOf(file.path), roomOf(name)];
        if (from === to || folderOf(file.path) !== folderOf(name)) continue;
        arrows.set(from, (arrows.get(from) ?? new Set()).add(to));
      }
    expect(arrows.size).toBeGreaterThan(40);
    expect(circlesOf(arrows)).toEqual([]);
  });

  test('have no more entries than one finds something among', () => {
    const entries = new Map<string, Set<string>>();
    for (const { path: file } of files)
      for (let at = file; at !== '.'; at = path.dirname(at))
        entries.set(path.dirname(at), (entries.get(path.dirname(at)) ?? new Set()).add(at));
    const large = [...entries].filter(([, names]) => names.size > MOST_ENTRIES);
    expect(large.map(([room, names]) => `${room}: ${names.size}`)).toEqual([]);
  });

  test('import each other by paths that exist, with their extension', () => {
    const known = new Set(files.map((file) => file.path));
    const bare = files.filter(({ code }) => /\bfrom\s+'\.[^']*(?<!\.tsx?)'/.test(code));
    expect(bare.map((file) => file.path)).toEqual([]);
    const unknown = files.flatMap((file) =>
      importsOf(file)
        .filter(isSource)
        .filter((name) => !known.has(name))
        .map((name) => `${file.path}: ${name}`),
    );
    expect(unknown).toEqual([]);
    // The scan sees imports at all, those that span lines and those of types too.
    expect(files.flatMap(importsOf).length).toBeGreaterThan(500);
  });
});

/** A native package, or one whose judgement counts, is replaced in one place, or in two that have nothing to do with each other. */
const NATIVE: Readonly<Record<string, string | readonly string[]>> = {
  koffi: ['base/windows-access.ts', 'system/libc.ts'],
  'zstd-napi/binding.js': ['codec/zstd-choice.ts', 'codec/zstd-native.ts'],
  '@napi-rs/blake-hash': 'codec/hash.ts',
  '@node-rs/argon2': ['codec/kdf.ts', 'partner/secrets/passwords.ts'],
  '@parcel/watcher': 'watch/native-watcher.ts',
  nodemailer: 'notify/email.ts',
  'prom-client': ['notify/metrics.ts', 'partner/http/own-documents.ts'],
  'ipaddr.js': ['partner/request/network.ts', 'partner/webhooks/target.ts'],
  pg: 'partner/store/postgres.ts',
};

describe('packages', () => {
  test.each(Object.entries(NATIVE))('%s is imported where it is listed', (name, importers) => {
    const listed = typeof importers === 'string' ? [importers] : importers;
    const found = files.filter((file) => importsOf(file).includes(name)).map((file) => file.path);
    expect(found.toSorted()).toEqual(listed);
  });

  test('are those of package.json', () => {
    type Packages = Readonly<Record<string, string>>;
    const manifest: { dependencies: Packages; optionalDependencies: Packages } = JSON.parse(
      readFileSync(path.join(root, 'package.json'), 'utf8'),
    );
    const dependencies = { ...manifest.dependencies, ...manifest.optionalDependencies };
    const used = files.flatMap(importsOf).filter((name) => !/^\.\.|\.tsx?$|^node:/.test(name));
    const packages = used.map((name) => /^(?:@[^/]+\/)?[^/]+/.exec(name)?.[0] ?? name);
    expect([...new Set(packages)].filter((name) => dependencies[name] === undefined)).toEqual([]);
  });
});

describe('paths', () => {
  /** Where text becomes bytes that are no path: a name, a pattern, words. A path goes through base/tree-path.ts. */
  const MAKE_BYTES = [
    'api/webdav/snapshot-folders.ts',
    // A path in the form of the API, which is that of a tree.
    'api/webdav/tree.ts',
    'archiver/before/damaged-parts.ts',
    'base/byte-path.ts',
    'base/people-text.ts',
    'base/shell-words.ts',
    'base/spellings.ts',
    'base/tree-path.ts',
    'base/typed-path.ts',
    'browse/find-query.ts',
    'cli/backup/exclude-options.ts',
    'cli/command/command-words.ts',
    'engine/exclude-rules.ts',
    'exclude/patterns.ts',
    'format/omission.ts',
    'watch/event-paths.ts',
  ];

  test('become bytes in one place', () => {
    const found = files.filter(({ code }) => /\bbytesOfText\b/.test(code)).map((file) => file.path);
    expect(found).toEqual(MAKE_BYTES);
  });
});

/** What comes from outside, or ends the process, and the files that may ask for it. */
const OUTSIDE: readonly {
  readonly what: string;
  readonly pattern: RegExp;
  readonly files: Readonly<Record<string, string>>;
}[] = [
  {
    what: 'the wall clock',
    pattern: /\bDate\.now\b|\bnew Date\(\)|\bDate\(\)/,
    files: {
      'base/clock.ts': 'the clock that everything else is given',
      'client/webhook-messages.ts':
        'the client is for programs of others, and imports nothing: how old a message is',
      'destination/memory.ts': 'a storage has a clock of its own; this is its default',
      'ui/': 'in the browser: ages are told by the clock of the reader',
    },
  },
  {
    what: 'chance',
    pattern: /\bMath\.random\b/,
    files: {
      'destination/retry.ts': 'waits of different lengths, so that clients do not return all at once',
    },
  },
  {
    what: 'the environment',
    pattern: /\bprocess\.env\b/,
    files: {
      'cli/run.ts': 'where a command begins: handed on from here',
      'codec/zstd-choice.ts': 'which of the two zstd there are, to measure and test either',
      'engine/engine-main.ts': 'where an engine process begins: only the cost that tests set is read',
      'cli/command/interrupt.ts':
        'set before anything else runs, for the process that was started by another',
      'system/memory-secrets.ts': 'whether it is that of the process, whose memory is wiped too',
      'base/web/process-environment.ts':
        'what holds for the whole process: proxies, trust, variables of libraries',
      'base/holdfast-command.ts': 'how this installation is called',
      'base/child-output.ts': 'where Windows has its own programs',
      'notify/desktop-access.ts': 'which session of a person the process can reach',
      'base/allow-write.ts': 'whether systemd started the process, for the advice when a disk is read-only',
      'cli/command/exit-codes.ts':
        'whether details of an error were asked for; the last resort when nothing else is set up',
    },
  },
  {
    what: 'the end of the process',
    pattern: /\bprocess\.(?:exit|abort|reallyExit)\b/,
    files: {
      'cli/command/interrupt.ts': 'the second interrupt: the person does not want to wait',
      'cli/run.ts': 'the command is over and its output written, but something it reads ahead goes on',
      'engine/engine-main.ts': 'after a defect, and when a job does not end though the agent is gone',
    },
  },
  { what: 'the console', pattern: /\bconsole\s*\./, files: {} },
];

/** File -> how often it compares texts with words in them, and why it may. Nothing goes by a sentence of our own. */
const COMPARED: Readonly<Record<string, readonly [times: number, why: string]>> = {
  // What others say, where they give no code.
  'catalog/tables/catalog-database.ts': [1, 'SQLite gives a missing table no code of its own'],
  'cli/program.ts': [1, 'commander writes its suggestions into the message'],
  'daemon/places/kit-secrets.ts': [
    1,
    'a recovery kit is a sheet for people; the code that stands in it proves itself',
  ],
  'db/database.ts': [1, 'SQLite gives a missing table no code of its own'],
  'destination/azure/azure-failure.ts': [
    1,
    'the sentence of the store, with the number of the request behind it',
  ],
  'destination/http-failure.ts': [2, 'Node gives a connection that ends no code everywhere; words of stores'],
  'destination/http-site.ts': [1, 'Node gives an answer that breaks off no code'],
  'destination/rclone/program.ts': [1, 'rclone says its address in its log alone'],
  'destination/rclone/words.ts': [7, 'rclone passes on what stores say, without codes'],
  'destination/s3/s3-client.ts': [1, 'the time that a store says, shortened to be shown'],
  'destination/sftp/answers.ts': [1, 'what a server says, shortened to be shown'],
  'destination/sftp/connect.ts': [2, 'ssh2 gives no code when no algorithm is common'],
  'destination/sftp/private-key.ts': [2, 'the text of a key; ssh2 gives no code'],
  'notify/desktop.ts': [2, 'programs of desktops give no codes; their words on one line'],
  'notify/healthchecks.ts': [1, 'the service answers 200 with words'],
  'notify/http-post.ts': [2, 'pages of networks that want a sign-in; words of proxies'],
  'notify/mail-failure.ts': [5, 'commands of SMTP; servers give many refusals one code'],
  'partner/store/database.ts': [2, 'the driver gives a lost connection no code'],
  'base/errno-words.ts': [2, 'takes the words and the place out of what Node says'],
  'watch/watch-limit.ts': [2, 'the watcher gives no code'],
  // What was stored in words before there were codes.
  'format/omission.ts': [5, 'snapshots that have no codes'],
  'format/records.ts': [1, 'tombstones that have no field for it'],
  // No sentences, or nothing that goes by them.
  'api/access/secret-guard.ts': [1, 'the title of a schema, which is its identity'],
  'api/wire/api-error.ts': [1, 'a full stop, or none'],
  'base/program-call.ts': [1, 'a command'],
  'cli/agent/listing-jobs.ts': [2, 'a full stop'],
  'cli/backup/archive-progress.ts': [1, 'the code is shown once'],
  'cli/settings/usable-destination.ts': [1, 'a full stop, or none'],
  'cli/snapshots/diff.ts': [1, 'an example of a command'],
  'cli/snapshots/restore-progress.ts': [1, 'the code is shown once'],
  'config/effective-settings.ts': [1, 'a full stop'],
  'config/validate.ts': [1, 'the title of a schema, which is its identity'],
  'partner/http/app.ts': [1, 'a key, beside addresses'],
  'repository/check/check-records.ts': [1, 'a kind of object'],
  'repository/check/check-report.ts': [1, 'the names of objects, which it defines'],
};

describe('files', () => {
  test.each(OUTSIDE)('ask for $what only where it is listed', ({ pattern, files: listed }) => {
    const users = files.filter(({ code }) => pattern.test(code)).map((file) => file.path);
    const [folders, single] = [true, false].map((isFolder) =>
      Object.keys(listed).filter((name) => name.endsWith('/') === isFolder),
    );
    const others = users.filter((name) => folders?.every((folder) => !name.startsWith(folder)));
    expect(others).toEqual(single?.toSorted());
  });

  test('decide by codes: no sentence is compared or taken apart but where it is listed', () => {
    const found = [...comparedSentences(files)].map(([name, all]) => [name, all.length]);
    const listed = Object.entries(COMPARED).map(([name, [times]]) => [name, times]);
    expect(Object.fromEntries(found)).toEqual(Object.fromEntries(listed));
  });

  test.each([
    ["if (what.startsWith('extended attribute')) return;"],
    ["return said === 'It waits for its turn.';"],
    ['return error.message.includes(`no such place`);'],
    ["const WAITS = 'It waits for its turn.';\nif (job.said === WAITS) return;"],
    ['const [, until] = /^Quiet hours until (.+)$/.exec(text) ?? [];'],
    ["switch (said) { case 'The network is metered.': return; }"],
    ['if (next.message === before.message) return;'],
  ])('decide by codes: %s is found', (code) => {
    expect(comparedSentences([{ path: 'one.ts', code }]).get('one.ts')).toHaveLength(
      code.includes('error.message') ? 2 : 1,
    );
  });

  test('print only in cli', () => {
    const printers = files.filter(({ code }) => /\bprocess\.std(?:out|err)\b/.test(code));
    expect(printers.map((file) => folderOf(file.path)).filter((folder) => folder !== 'cli')).toEqual([]);
  });

  test('outside of the repository say whether they want the index for reading or for writing', () => {
    const users = files.filter(({ code }) => /\bloadIndex\b/.test(code)).map((file) => file.path);
    expect(users.filter((name) => !name.startsWith('repository/'))).toEqual([]);
    expect(users).toContain('repository/contents/index-for.ts');
  });

  test('have functions that read from top to bottom: of 80 lines at most, without those within them', () => {
    const all = files.flatMap(({ path, text }) => functionLengths(path, text));
    expect(all.length).toBeGreaterThan(10_000);
    const long = all.filter(({ path, lines }) => lines > 80 && !path.includes('/migrations/'));
    expect(long).toEqual([]);
  });

  test('have one subject each: none is longer than 500 lines', () => {
    expect(files.filter(({ text }) => text.split('\n').length > 501).map((file) => file.path)).toEqual([]);
  });

  test('need each other in no circle', () => {
    const arrows = new Map(
      files.map(({ path: file, code }) => {
        // What only types come from is not needed to run, and what is loaded when it is asked for comes later.
        const running = code
          .replaceAll(/\bimport\s*\(/g, 'load(')
          .replaceAll(/\b(?:im|ex)port\s+type\s[^;]*;/g, '')
          .replaceAll(/\bimport\s*\{(?:\s*type\s[^,}]*,?)+\s*\}\s*from[^;]*;/g, '');
        return [file, new Set(importsOf({ path: file, code: running, text: '' }).filter(isSource))];
      }),
    );
    expect([...arrows.values()].some((names) => names.size > 10)).toBe(true);
    expect(circlesOf(arrows)).toEqual([]);
  });

  test('export names only', () => {
    const nameless = files.filter(({ code }) => /\bexport\s+default\b|\bas\s+default\b/.test(code));
    expect(nameless.map((file) => file.path)).toEqual([]);
  });

  test('are named in kebab-case', () => {
    expect(files.map((file) => file.path).filter((name) => !/^[a-z0-9/-]+\.tsx?$/.test(name))).toEqual([]);
  });

  test('are not named for nothing in particular', () => {
    const vague = /(?:^|\/|-)(?:utils?|helpers?|managers?|services?|common|misc)(?:\.ts$|\/|-)/;
    expect(files.map((file) => file.path).filter((name) => vague.test(name))).toEqual([]);
  });
});
