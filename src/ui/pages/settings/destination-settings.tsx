/** Settings of where backups go. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DestinationItem, Destinations, Suggestions } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card, PageHead } from '../../components/card.tsx';
import { ChoiceCards } from '../../components/choice-cards.tsx';
import { TextField } from '../../components/field.tsx';
import { Filled } from '../../components/own-text.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { emptyDraft, freeName } from '../../parts/destination-draft.ts';
import { Place } from '../../parts/place.tsx';
import type { Route } from '../../parts/route.ts';
import { DestinationCard } from './destination-card.tsx';
import { DestinationEditor } from './destination-editor.tsx';
import type { KeyPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import {
  defaultDestinationOf,
  type DestinationUse,
  EMBEDDED,
  hasEmbedded,
  withAlso,
} from './settings-values.ts';
import type { SettingsDraft } from './use-settings-draft.ts';

export function DestinationSettings({ route: _route }: { readonly route: Route }): JSX.Element {
  return (
    <>
      <PageHead title={t.settings.pages.destinations}>{t.destinations.about}</PageHead>
      <SettingsForm paths={pathsOf}>
        <DestinationList />
        <AddDestination />
      </SettingsForm>
    </>
  );
}

function pathsOf({ saved }: SettingsDraft): readonly KeyPath[] {
  return [
    ...Object.keys(saved.destinations).map((name): KeyPath => ['destinations', name, 'url']),
    ['defaultDestination'],
  ];
}

function DestinationList(): JSX.Element {
  const { draft } = useDraft();
  const asked = useAsked((signal) => ask<Destinations>('GET', '/destinations', { signal }), []);
  useEvents(({ kind }) => {
    if (kind === 'config' || kind === 'job.finished') asked.again();
  });
  const items = asked.data?.items ?? [];
  const known = new Map<string, DestinationItem>(items.map((item) => [item.name, item]));
  // The embedded repository stays visible once it has backups.
  const own = items.find((item) => item.is_embedded && !Object.hasOwn(draft.destinations, item.name));
  const isDefault = (name: string): boolean => defaultDestinationOf(draft) === name;
  return (
    <>
      <Problem error={asked.problem} />
      {hasEmbedded(draft) ? (
        <DestinationCard name={EMBEDDED} item={known.get(EMBEDDED) ?? own} setting={undefined} isDefault />
      ) : null}
      {Object.entries(draft.destinations).map(([name, setting]) => (
        <DestinationCard
          key={name}
          name={name}
          item={known.get(name)}
          setting={setting}
          isDefault={isDefault(name)}
        />
      ))}
      {own === undefined || hasEmbedded(draft) ? null : (
        <DestinationCard name={own.name} item={own} setting={undefined} isDefault={isDefault(own.name)} />
      )}
    </>
  );
}

const USES: readonly DestinationUse[] = ['as_well', 'instead', 'later'];

/** Names the present destination, since that is what the choice is about. */
function UseLabel({ use, present }: { readonly use: DestinationUse; readonly present: string }): JSX.Element {
  return <Filled text={t.destinations.uses[use]} parts={[<Place key="present" name={present} />]} />;
}

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

function AddDestination(): JSX.Element {
  const { draft, set } = useDraft();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<string | undefined>(undefined);
  // Two destinations are safer than one. Without sources there is nothing that could go to both.
  const [use, setUse] = useState<DestinationUse>(() => (draft.sources.length > 0 ? 'as_well' : 'instead'));
  const suggestions = useAsked((signal) => ask<Suggestions>('GET', '/suggestions', { signal }), []);
  const taken = Object.keys(draft.destinations);
  const name = typed ?? freeName('backup', taken);
  const problem = !NAME.test(name)
    ? t.destinations.nameWrong
    : taken.includes(name)
      ? t.destinations.nameTaken
      : undefined;
  if (!isOpen) {
    return (
      <Actions>
        <Button type="button" look="main-action" onClick={() => setOpen(true)}>
          {t.destinations.addTitle}
        </Button>
      </Actions>
    );
  }
  return (
    <Card title={t.destinations.addTitle}>
      <TextField
        name="destination-name"
        label={t.destinations.name}
        hint={t.destinations.nameHint}
        value={name}
        maxLength={63}
        problem={problem}
        onValue={setTyped}
      />
      <ChoiceCards
        name="destination-use"
        legend={t.destinations.use}
        value={use}
        choices={USES.filter((one) => one !== 'as_well' || draft.sources.length > 0).map((one) => ({
          value: one,
          label: <UseLabel use={one} present={defaultDestinationOf(draft)} />,
          note: t.destinations.useNotes[one],
        }))}
        onValue={setUse}
      />
      <DestinationEditor
        start={emptyDraft('directory')}
        disks={suggestions.data?.disks ?? []}
        canTake={problem === undefined}
        takeLabel={t.common.next}
        onTake={(setting) => {
          set(['destinations', name], setting);
          if (use === 'instead') set(['defaultDestination'], name);
          if (use === 'as_well') set(['sources'], withAlso(draft, name));
          setTyped(undefined);
          setOpen(false);
        }}
        onCancel={() => setOpen(false)}
      />
    </Card>
  );
}
