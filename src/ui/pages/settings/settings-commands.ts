/** The commands that do the same as a page of settings. */
import { holdfast } from '../../agent/program.ts';
import { type Change, type KeyPath, shownPath, valueAt } from './settings-draft.ts';
import type { Settings } from './settings-values.ts';

/** A word for the shell, quoted where needed. Invisible characters are written as escapes, which bash and zsh understand. */
export function quoted(text: string): string {
  if (/^[\w./:@%+,=-]+$/.test(text)) return text;
  if (!UNSEEN.test(text)) return `'${text.replaceAll("'", String.raw`'\''`)}'`;
  const written = text
    .replaceAll(/['\\]/g, String.raw`\$&`)
    .replaceAll(new RegExp(UNSEEN, 'gu'), (character) =>
      [...new TextEncoder().encode(character)]
        .map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`)
        .join(''),
    );
  return `$'${written}'`;
}

const UNSEEN = /\p{C}|\p{Zl}|\p{Zp}/u;

/** A value for `config set`: text as it is, everything else as JSON. */
function typed(value: unknown): string {
  return quoted(typeof value === 'string' ? value : JSON.stringify(value));
}

export function setCommand(path: KeyPath, value: unknown): string {
  return holdfast`config set ${quoted(shownPath(path))} ${typed(value)}`;
}

/** Commands that set the current values. */
export function setCommands(settings: Settings, paths: readonly KeyPath[]): readonly string[] {
  return paths
    .map((path) => ({ path, value: valueAt(settings, path) }))
    .filter(({ value }) => value !== undefined)
    .map(({ path, value }) => setCommand(path, value));
}

/** One or more commands for each change. */
export function changeCommands(changes: readonly Change[]): readonly string[] {
  const removed = changes.filter(
    ({ path, after }) => path.length === 2 && path[0] === 'destinations' && after === undefined,
  );
  const replaced = changes.find(
    ({ path, before }) =>
      path.length === 1 && path[0] === 'defaultDestination' && removed.some((one) => one.path[1] === before),
  );
  return changes.flatMap((change) => {
    const { path, before, after } = change;
    // The command that removes the earlier default destination sets the new one as well.
    if (change === replaced) return [];
    if (path.length === 2 && path[0] === 'sources') {
      if (after === undefined) return [holdfast`sources remove ${quoted(textOf(before, 'path'))}`];
      if (before === undefined) return addSource(after);
    }
    if (path.length === 2 && path[0] === 'destinations') {
      const name = String(path[1]);
      if (after === undefined) {
        const remove = holdfast`destinations remove ${quoted(name)}`;
        if (replaced?.before !== name) return [remove];
        return [
          `${remove} --default-to ${quoted(typeof replaced.after === 'string' ? replaced.after : 'embedded')}`,
        ];
      }
      if (before === undefined) return addDestination(name, after);
    }
    return [
      after === undefined ? holdfast`config unset ${quoted(shownPath(path))}` : setCommand(path, after),
    ];
  });
}

function textOf(value: unknown, name: string): string {
  const text = valueAt(value, [name]);
  return typeof text === 'string' ? text : '';
}

function addSource(source: unknown): readonly string[] {
  const several = valueAt(source, ['destinations']);
  const one = textOf(source, 'destination');
  const names = Array.isArray(several) ? several.map(String) : one === '' ? [] : [one];
  const to = names.map((name) => ` --destination ${quoted(name)}`).join('');
  return [
    holdfast`sources add ${quoted(textOf(source, 'path'))}${to} --schedule ${quoted(textOf(source, 'schedule'))}`,
  ];
}

function addDestination(name: string, destination: unknown): readonly string[] {
  const access = valueAt(destination, ['access']) ?? null;
  const add = holdfast`destinations add ${quoted(name)} ${quoted(textOf(destination, 'url'))}`;
  const isUntested = valueAt(destination, ['untested']) === true;
  if (access === null) return [isUntested ? `${add} --untested` : add];
  // The access is set after the destination is added, and the test follows both.
  return [
    `${add} --untested`,
    setCommand(['destinations', name, 'access'], access),
    ...(isUntested ? [] : [holdfast`destinations test ${quoted(name)}`]),
  ];
}

/** All settings by curl: they are read, changed, and sent back with the revision that was read. */
export function curlLines(address: string, revision: string): readonly string[] {
  return [
    `curl -H "Authorization: Bearer $TOKEN" ${address}/v1/settings > settings.json`,
    `curl -X PUT -H "Authorization: Bearer $TOKEN" -H 'If-Match: "${revision}"' -H 'Content-Type: application/json' -d "$(jq '{settings: .data.settings}' settings.json)" ${address}/v1/settings`,
  ];
}
