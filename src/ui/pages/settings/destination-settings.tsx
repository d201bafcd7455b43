/** Settings of where backups go. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { DestinationItem, Destinations, Suggestions } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { useEvents } from '../../agent/events.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Actions, Button } from '../../components/button.tsx';
import { Card, PageHead } from '../../components/card.tsx';
import { Checkbox, TextField } from '../../components/field.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { emptyDraft, freeName } from '../../parts/destination-draft.ts';
import type { Route } from '../../parts/route.ts';
import { DestinationCard } from './destination-card.tsx';
import { DestinationEditor } from './destination-editor.tsx';
import type { KeyPath } from './settings-draft.ts';
import { SettingsForm, useDraft } from './settings-form.tsx';
import { defaultDestinationOf, EMBEDDED, hasEmbedded } from './settings-values.ts';
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

const NAME = /^[A-Za-z][A-Za-z0-9_-]{0,62}$/;

function AddDestination(): JSX.Element {
  const { draft, set } = useDraft();
  const [isOpen, setOpen] = useState(false);
  const [typed, setTyped] = useState<string | undefined>(undefined);
  // Users who add a first place in addition to the one on this machine mostly want it for everything.
  const [isDefault, setDefault] = useState(() => hasEmbedded(draft));
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
      <Checkbox
        name="destination-default"
        label={t.destinations.useAsDefault}
        checked={isDefault}
        onChecked={setDefault}
      />
      <DestinationEditor
        start={emptyDraft('directory')}
        disks={suggestions.data?.disks ?? []}
        canTake={problem === undefined}
        takeLabel={t.settings.add}
        onTake={(setting) => {
          set(['destinations', name], setting);
          if (isDefault) set(['defaultDestination'], name);
          setTyped(undefined);
          setOpen(false);
        }}
        onCancel={() => setOpen(false)}
      />
    </Card>
  );
}
