/** Shows two versions of a file side by side: facts, pictures, and the differences of texts. */
import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { FileVersion } from '../../../api/schemas/snapshot.ts';
import { Card } from '../../components/card.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { formatBytes, formatCount, formatTime } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { diffLines, shortened, type ShownRow } from './line-diff.ts';
import type { PathRef } from './path-ref.ts';
import { type Content, type ContentFacts, Picture, useContent, visibleText } from './preview.tsx';

/** Bytes of the longest texts that are compared. */
const MOST_TEXT = 1_048_576;
/** Lines shown around changes, and the most rows in all. */
const CONTEXT = 3;
const MOST_ROWS = 2_000;

export function VersionPair({ file, pair }: { readonly file: PathRef; readonly pair: Pair }): JSX.Element {
  const { older, newer } = pair;
  const left = useContent(factsOf(file, older), MOST_TEXT);
  const right = useContent(factsOf(file, newer), MOST_TEXT);
  const problem = left.problem ?? right.problem;
  return (
    <>
      <div class="pair">
        {(
          [
            [t.restore.left, older, left.data],
            [t.restore.right, newer, right.data],
          ] as const
        ).map(([title, version, content]) => (
          <Card key={title} title={title}>
            <VersionFacts version={version} />
            {content?.kind === 'image' ? <Picture content={content} /> : null}
          </Card>
        ))}
      </div>
      <Card title={t.restore.differences}>
        <Problem error={problem} />
        {problem === undefined ? <Differences left={left.data} right={right.data} pair={pair} /> : null}
      </Card>
    </>
  );
}

function factsOf(
  { path, path_b64: bytes }: PathRef,
  { item: { type, snapshot_id: snapshot, size_bytes: size } }: DistinctVersion,
): ContentFacts | undefined {
  return type === 'file' ? { path, path_b64: bytes, snapshot, size } : undefined;
}

function VersionFacts({ version }: { readonly version: DistinctVersion }): JSX.Element {
  const { item, firstAt, lastAt, snapshots } = version;
  return (
    <Facts
      rows={[
        [t.restore.firstBackup, formatTime(firstAt)],
        ...(snapshots > 1 ? [[t.restore.lastBackup, formatTime(lastAt)] as const] : []),
        [t.restore.changed, formatTime(item.modified_at)],
        [t.restore.size, formatBytes(item.size_bytes)],
      ]}
    />
  );
}

function Differences({
  left,
  right,
  pair,
}: {
  readonly left: Content | undefined;
  readonly right: Content | undefined;
  readonly pair: Pair;
}): JSX.Element {
  const areTexts = left?.kind === 'text' && right?.kind === 'text' && !left.isCut && !right.isCut;
  const diff = useMemo(
    () =>
      left?.kind === 'text' && right?.kind === 'text' && areTexts
        ? diffLines(left.text, right.text)
        : undefined,
    [left, right, areTexts],
  );
  if (pair.older === pair.newer) return <p class="quiet">{t.restore.sameVersion}</p>;
  if (left === undefined || right === undefined) {
    const isFile = pair.older.item.type === 'file' && pair.newer.item.type === 'file';
    return <p class="quiet">{isFile ? t.common.loading : t.restore.noContents}</p>;
  }
  if (diff === undefined) {
    const isLong = left.kind === 'text' && right.kind === 'text';
    return <p class="quiet">{isLong ? t.restore.tooLongToCompare : t.restore.noTextToCompare}</p>;
  }
  if (diff.added + diff.removed === 0) return <p class="quiet">{t.restore.sameText}</p>;
  const { rows, isCut } = shortened(diff.rows, CONTEXT, MOST_ROWS);
  return (
    <>
      <p class="quiet">{t.restore.diffCounts(formatCount(diff.removed), formatCount(diff.added))}</p>
      {diff.isRough ? <p class="quiet">{t.restore.diffRough}</p> : null}
      <div class="scroll" role="region" aria-label={t.restore.differences} tabIndex={0}>
        <table class="diff">
          <colgroup>
            <col class="line-number" />
            <col />
            <col class="line-number" />
            <col />
          </colgroup>
          <thead class="unseen">
            <tr>
              <th scope="col">{t.restore.line}</th>
              <th scope="col">{t.restore.left}</th>
              <th scope="col">{t.restore.line}</th>
              <th scope="col">{t.restore.right}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map((row, index) => (
              <DiffLine key={index} row={row} />
            ))}
          </tbody>
        </table>
      </div>
      {isCut ? <p class="quiet">{t.restore.diffCut(formatCount(MOST_ROWS))}</p> : null}
    </>
  );
}

function DiffLine({ row }: { readonly row: ShownRow }): JSX.Element {
  if (row.kind === 'skipped') {
    return (
      <tr class="skipped">
        <td colSpan={4}>{t.restore.skippedLines(row.count, formatCount(row.count))}</td>
      </tr>
    );
  }
  const { kind, oldNumber, newNumber, oldLine, newLine } = row;
  const isChanged = kind === 'changed';
  return (
    <tr class={kind}>
      <td class="line-number">{oldNumber}</td>
      <Side
        line={oldLine}
        {...(isChanged ? { mark: '−', look: 'removed', said: t.restore.removedLine } : {})}
      />
      <td class="line-number">{newNumber}</td>
      <Side line={newLine} {...(isChanged ? { mark: '+', look: 'added', said: t.restore.addedLine } : {})} />
    </tr>
  );
}

function Side({
  line,
  mark,
  look,
  said,
}: {
  readonly line: string | undefined;
  readonly mark?: string;
  readonly look?: string;
  readonly said?: string;
}): JSX.Element {
  if (line === undefined) return <td class="no-line" />;
  const shown: ComponentChildren = visibleText(line);
  return (
    <td class={look}>
      {mark === undefined ? null : (
        <span class="line-mark" aria-hidden="true">
          {mark}
        </span>
      )}
      {said === undefined ? null : <span class="unseen">{said} </span>}
      {shown}
    </td>
  );
}

export interface DistinctVersion {
  /** The item of the newest snapshot with this version, which is kept longest. */
  readonly item: FileVersion;
  /** `removed`: from then on it was not there. */
  readonly change: 'added' | 'modified' | 'removed';
  /** When it was first and last backed up as it is. */
  readonly firstAt: string;
  readonly lastAt: string;
  readonly snapshots: number;
}

/** The distinct versions. Both lists are newest first. */
export function distinctVersions(items: readonly FileVersion[]): readonly DistinctVersion[] {
  const found: DistinctVersion[] = [];
  for (const item of items.toReversed()) {
    const { change, backed_up_at: at } = item;
    const last = found.at(-1);
    if (change === 'unchanged' && last !== undefined && last.change !== 'removed') {
      found[found.length - 1] = { ...last, item, lastAt: at, snapshots: last.snapshots + 1 };
      continue;
    }
    const began = change === 'unchanged' ? 'modified' : change;
    found.push({ item, change: began, firstAt: at, lastAt: at, snapshots: began === 'removed' ? 0 : 1 });
  }
  return found.toReversed();
}

export interface Pair {
  readonly older: DistinctVersion;
  readonly newer: DistinctVersion;
}

/** The two versions of the given snapshots, else the newest and the one before it; undefined when there is only one. */
export function pairOf(
  versions: readonly DistinctVersion[],
  older: string | undefined,
  newer: string | undefined,
): Pair | undefined {
  const there = versions.filter(({ change }) => change !== 'removed');
  const byId = (id: string | undefined): DistinctVersion | undefined =>
    there.find(({ item }) => item.snapshot_id === id);
  const right = byId(newer) ?? there[0];
  const left = byId(older) ?? there[there.findIndex((one) => one === right) + 1] ?? there.at(-1);
  if (left === undefined || right === undefined || there.length < 2) return undefined;
  return { older: left, newer: right };
}
