/** Shows one destination: what is there, whether it can be reached, and what can be done with it. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DestinationItem, DestinationTest } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { useOverview } from '../../agent/overview.ts';
import { useAction } from '../../agent/use-asked.ts';
import { About, Own, Path } from '../../components/own-text.tsx';
import { Actions, AskFirst, Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Place, useShownName } from '../../parts/place.tsx';
import { Problem } from '../../components/problem.tsx';
import { Facts } from '../../components/table.tsx';
import { Tag } from '../../components/tag.tsx';
import { formatAge, formatBytes } from '../../language/format.ts';
import { t } from '../../language/language.ts';
import { draftOf } from '../../parts/destination-draft.ts';
import { TestReport } from '../../parts/destination-form.tsx';
import { lostAt } from '../../parts/lost-place.ts';
import { DestinationAccess } from './destination-access.tsx';
import { DestinationEditor } from './destination-editor.tsx';
import { SecretPlace } from './setting-fields.tsx';
import { setCommand } from './settings-commands.ts';
import { valueAt } from './settings-draft.ts';
import { useDraft } from './settings-form.tsx';
import { destinationsOf, type DestinationValues, embeddedAsDefault } from './settings-values.ts';

export interface DestinationCardFacts {
  readonly name: string;
  /** Undefined until the agent knows the destination. */
  readonly item: DestinationItem | undefined;
  /** Undefined for the embedded repository. */
  readonly setting: DestinationValues | undefined;
  readonly isDefault: boolean;
}

/** Sources that are backed up there. */
type Users = ReturnType<typeof useDraft>['draft']['sources'];

export function DestinationCard({ name, item, setting, isDefault }: DestinationCardFacts): JSX.Element {
  const { draft, saved, problemAt } = useDraft();
  const [isChanging, setChanging] = useState(false);
  const test = useTest(name);
  const isSaved = setting === undefined || Object.hasOwn(saved.destinations, name);
  const users = draft.sources.filter((source) => destinationsOf(source, draft).includes(name));
  const problem = problemAt(['destinations', name]);
  return (
    <Card
      title={
        <>
          <Place name={name} /> {isDefault ? <Tag look="good">{t.common.default}</Tag> : null}{' '}
          <Reachable item={isSaved ? item : undefined} isSaved={isSaved} />
        </>
      }
    >
      <p>
        {setting === undefined ? (
          <>
            {item === undefined ? null : <Path>{item.url}</Path>} {t.destinations.commandName}
          </>
        ) : (
          <Path>{setting.url}</Path>
        )}
      </p>
      {isSaved && item !== undefined ? <WhatToDo item={item} isDefault={isDefault} /> : null}
      {problem === undefined ? null : (
        <p class="problem">
          <Own>{problem.message}</Own> <Own>{problem.hint}</Own>
        </p>
      )}
      <Facts
        rows={[
          ...(item === undefined || !isSaved ? [] : stateOf(item)),
          [
            t.destinations.usedBy,
            users.length === 0
              ? t.common.none
              : users.map(({ path }) => (
                  <div key={path}>
                    <Path>{path}</Path>
                  </div>
                )),
          ],
        ]}
      />
      <ActionsFor
        facts={{ name, setting, isDefault }}
        users={users}
        test={isSaved ? test : undefined}
        changing={{ is: isChanging, set: setChanging }}
      />
      <div role="status">
        {test.report === undefined ? null : <TestReport tried={{ test: test.report, isNew: false }} />}
      </div>
      <Problem error={test.problem} />
      {isChanging && setting !== undefined ? (
        <Change name={name} setting={setting} onDone={() => setChanging(false)} />
      ) : null}
    </Card>
  );
}

function ActionsFor({
  facts: { name, setting, isDefault },
  users,
  test,
  changing,
}: {
  readonly facts: Pick<DestinationCardFacts, 'name' | 'setting' | 'isDefault'>;
  readonly users: Users;
  /** Undefined until the destination is saved. */
  readonly test: ReturnType<typeof useTest> | undefined;
  readonly changing: { readonly is: boolean; readonly set: (is: boolean) => void };
}): JSX.Element {
  const { draft, set } = useDraft();
  const shownName = useShownName();
  return (
    <Actions>
      {test !== undefined ? (
        <Button type="button" disabled={test.isBusy} onClick={test.run}>
          {test.isBusy ? t.destinations.testing : t.destinations.test}
          <About>{shownName(name)}</About>
        </Button>
      ) : null}
      {isDefault ? null : (
        <Button
          type="button"
          onClick={() =>
            set(['defaultDestination'], setting === undefined ? embeddedAsDefault(draft, name) : name)
          }
        >
          {t.destinations.makeDefault}
          <About>{shownName(name)}</About>
        </Button>
      )}
      {setting === undefined ? null : (
        <>
          <Button type="button" aria-expanded={changing.is} onClick={() => changing.set(!changing.is)}>
            {changing.is ? t.common.close : t.settings.change}
            <About>{shownName(name)}</About>
          </Button>
          <Removal name={name} isDefault={isDefault} users={users} />
        </>
      )}
    </Actions>
  );
}

/** Removes the destination. While sources name it, shows which ones do instead. */
function Removal({
  name,
  isDefault,
  users,
}: Pick<DestinationCardFacts, 'name' | 'isDefault'> & { readonly users: Users }): JSX.Element {
  const { draft, set } = useDraft();
  const isInUse = users.some(
    ({ destination, destinations }) => destination !== null || destinations !== null,
  );
  return (
    <AskFirst
      label={
        <>
          {t.settings.remove}
          <About>{name}</About>
        </>
      }
      look="danger"
      question={t.destinations.removeQuestion}
    >
      {isInUse ? (
        <>
          <p>{t.destinations.removeInUse}</p>
          {users.map(({ path }) => (
            <p key={path}>
              <Path>{path}</Path>
            </p>
          ))}
        </>
      ) : (
        <>
          {isDefault ? <p>{t.destinations.removeDefault(t.destinations.onThisComputer)}</p> : null}
          <Button
            type="button"
            look="danger"
            onClick={() => {
              set(['destinations', name], undefined);
              if (draft.defaultDestination === name) set(['defaultDestination'], null);
            }}
          >
            {t.destinations.removeYes}
            <About>{name}</About>
          </Button>
        </>
      )}
    </AskFirst>
  );
}

/** Tests the destination as it is saved. */
function useTest(name: string) {
  const [report, setReport] = useState<DestinationTest | undefined>(undefined);
  const action = useAction(async () => {
    setReport(undefined);
    setReport(await ask<DestinationTest>('POST', '/destinations/test', { body: { name } }));
  });
  return { report, isBusy: action.isBusy, problem: action.problem, run: () => void action.run() };
}

function Reachable({
  item,
  isSaved,
}: {
  readonly item: DestinationItem | undefined;
  readonly isSaved: boolean;
}): JSX.Element | null {
  const overview = useOverview();
  if (!isSaved) return <Tag look="warning">{t.settings.notSaved}</Tag>;
  const lost = item === undefined ? undefined : lostAt(item.name, overview);
  if (item === undefined) return null;
  if (item.reachable === null)
    return <Tag>{item.untested ? t.destinations.untested : t.destinations.notTried}</Tag>;
  if (item.reachable && lost !== undefined) return <Tag look="bad">{t.destinations.lost[lost]}</Tag>;
  return item.reachable ? (
    <Tag look="good">{t.destinations.reachable}</Tag>
  ) : (
    <Tag look="bad">{t.destinations.unreachable}</Tag>
  );
}

/** Says why the destination is away, what is still to be done, or what it is kept for. */
function WhatToDo({
  item: { is_embedded: isEmbedded, unreachable_reason: reason, untested },
  isDefault,
}: {
  readonly item: DestinationItem;
  readonly isDefault: boolean;
}): JSX.Element | null {
  const texts = t.destinations;
  const said = [
    ...(isEmbedded && !isDefault ? [texts.earlierHint] : []),
    ...(reason === null ? [] : [texts.whyAway[reason]]),
    ...(untested ? [texts.untestedHint] : []),
  ];
  return said.length === 0 ? null : <p class="quiet">{said.join(' ')}</p>;
}

function stateOf(item: DestinationItem): (readonly [string, JSX.Element])[] {
  const { used_bytes: used, free_bytes: free, last_check: check } = item;
  return [
    [
      t.destinations.space,
      <>
        {used === null ? t.destinations.unknown : t.destinations.used(formatBytes(used))}
        {free === null ? null : ` · ${t.destinations.free(formatBytes(free))}`}
      </>,
    ],
    [
      t.destinations.lastCheck,
      check === null ? (
        <>{t.common.never}</>
      ) : (
        <>
          <time dateTime={check.finished_at}>{formatAge(check.finished_at)}</time>{' '}
          {check.status === 'completed' && check.result !== 'warning' ? (
            <Tag look="good">{t.destinations.checkGood}</Tag>
          ) : (
            <Tag look={check.status === 'failed' ? 'bad' : 'warning'}>
              {check.status === 'failed' ? t.destinations.checkFailed : t.destinations.checkWarns}
            </Tag>
          )}
        </>
      ),
    ],
  ];
}

function Change({
  name,
  setting,
  onDone,
}: {
  readonly name: string;
  readonly setting: DestinationValues;
  readonly onDone: () => void;
}): JSX.Element {
  const { set } = useDraft();
  const known = { ...setting };
  const start = draftOf(known);
  const hasSecrets = Object.values(setting.access ?? {}).some(hasReference);
  return (
    <div class="editor">
      {start === undefined ? (
        <>
          <p>{t.destinations.onlyByCommand}</p>
          <pre>{setCommand(['destinations', name, 'url'], setting.url)}</pre>
        </>
      ) : (
        <DestinationEditor
          start={start}
          known={{ name, setting: known }}
          hasSecrets={hasSecrets}
          takeLabel={t.destinations.take}
          onTake={(changed) => {
            set(['destinations', name], changed);
            onDone();
          }}
          onCancel={onDone}
        />
      )}
      <Passphrase name={name} setting={setting} />
      <DestinationAccess name={name} setting={setting} />
    </div>
  );
}

function hasReference(access: unknown): boolean {
  return (
    typeof access === 'object' &&
    access !== null &&
    Object.values(access).some((value) => typeof value === 'object' && value !== null)
  );
}

/** Shows where the passphrase comes from. As that decides who can read the backups, it can be changed only on the machine. */
function Passphrase({
  name,
  setting,
}: {
  readonly name: string;
  readonly setting: DestinationValues;
}): JSX.Element {
  const { passphrase } = setting;
  const example = valueAt(passphrase, []) ?? { file: '~/.config/holdfast/passphrase' };
  return (
    <>
      <h3>{t.settings.names['destinations.NAME.passphrase']}</h3>
      <p>
        {passphrase === null ? (
          t.destinations.machineKey
        ) : (
          <SecretPlace reference={passphrase} isReplaceable={false} />
        )}
      </p>
      <p class="quiet">{t.destinations.passphraseAbout}</p>
      <pre>{setCommand(['destinations', name, 'passphrase'], example)}</pre>
    </>
  );
}
