/** Leads from nothing to a first backup in four steps. Choices are kept when the user goes back. */
import type { JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { holdfast, shellWord } from '../../agent/program.ts';
import type { Destinations, Suggestions } from '../../../api/schemas/page/protect.ts';
import { ask } from '../../agent/ask.ts';
import { useAsked } from '../../agent/use-asked.ts';
import { Button } from '../../components/button.tsx';
import { Command } from '../../components/command.tsx';
import { Problem } from '../../components/problem.tsx';
import { t } from '../../language/language.ts';
import { urlOf } from '../../parts/destination-draft.ts';
import { useDestinationTrial } from '../../parts/destination-trial.ts';
import { goTo, hrefOf, type Route } from '../../parts/route.ts';
import { ChoosePlace } from './choose-place.tsx';
import { ChooseSources } from './choose-sources.tsx';
import { useEstimates } from './estimates.ts';
import { FirstBackup } from './first-backup.tsx';
import { type FirstPlan, outermost, planOf } from './first-plan.ts';
import { leave } from '../overview/first-time.ts';
import { KeepKit } from './keep-kit.tsx';
import { isStep, type Step, STEPS } from './step-head.tsx';

const NO_SUGGESTIONS: Suggestions = { home: '', sources: [], disks: [] };

export function FirstRunPage({ route }: { readonly route: Route }): JSX.Element {
  const suggestions = useAsked((signal) => ask<Suggestions>('GET', '/suggestions', { signal }), []);
  const destinations = useAsked((signal) => ask<Destinations>('GET', '/destinations', { signal }), []);
  const [plan, setPlan] = useState<FirstPlan>(planOf(NO_SUGGESTIONS));
  const [isStarted, setStarted] = useState(false);
  useEffect(() => {
    if (suggestions.data !== undefined) setPlan(planOf(suggestions.data));
  }, [suggestions.data]);
  const offered = suggestions.data ?? NO_SUGGESTIONS;
  // The chosen directories are counted first, since the user waits for them.
  const estimates = useEstimates([...plan.chosen, ...offered.sources.map(({ path }) => path), ...plan.added]);
  const trial = useDestinationTrial(plan.draft, undefined, plan.chosen);
  const step = stepOf(route, plan, isStarted);
  const go = (to: Step): void => goTo(hrefOf(to === 'what' ? ['start'] : ['start', to]));
  const present = destinations.data?.items.find(({ is_default: isDefault }) => isDefault);
  if (suggestions.data === undefined && suggestions.problem === undefined)
    return <p class="quiet">{t.common.loading}</p>;
  return (
    <div class="first-run">
      <div class="first-top">
        <p>{t.firstRun.title}</p>
        {isStarted ? null : (
          <Button
            type="button"
            look="bare"
            onClick={() => {
              leave();
              goTo(hrefOf([]));
            }}
          >
            {t.firstRun.notNow}
          </Button>
        )}
      </div>
      <Problem error={suggestions.problem ?? destinations.problem} />
      {step === 'what' ? (
        <ChooseSources
          plan={plan}
          onPlan={setPlan}
          suggestions={offered.sources}
          estimates={estimates}
          onNext={() => go('where')}
        />
      ) : null}
      {step === 'where' ? (
        <ChoosePlace
          plan={plan}
          onPlan={setPlan}
          disks={offered.disks}
          present={present}
          trial={trial}
          onBack={() => go('what')}
          onNext={() => go('kit')}
        />
      ) : null}
      {step === 'kit' ? (
        <KeepKit adopted={adoptedBy(plan)} onBack={() => go('where')} onNext={() => go('run')} />
      ) : null}
      {step === 'run' ? (
        <FirstBackup
          plan={plan}
          placeShown={
            plan.setting?.url ?? (present === undefined || present.is_embedded ? undefined : present.url)
          }
          isStarted={isStarted}
          onStarted={() => setStarted(true)}
          onBack={() => go('kit')}
        />
      ) : null}
      <Command lines={commandsOf(plan)} />
    </div>
  );
}

/** The step to show. A step that needs an earlier choice is not shown without it, whatever the address says. */
function stepOf({ path: [, name] }: Route, plan: FirstPlan, isStarted: boolean): Step {
  const [first] = STEPS;
  if (isStarted) return name === 'kit' ? 'kit' : 'run';
  if (!isStep(name) || plan.chosen.length === 0) return first;
  return plan.place === 'elsewhere' && plan.setting === undefined && name !== 'what' ? 'where' : name;
}

/** The place of the plan, if it holds a repository that another passphrase than the kit's opens. */
function adoptedBy({ place, setting }: FirstPlan): string | undefined {
  const needsOther = setting?.['passphrase'] !== undefined && setting['passphrase'] !== null;
  return place === 'elsewhere' && needsOther ? setting.url : undefined;
}

function commandsOf(plan: FirstPlan): readonly string[] {
  const isElsewhere = plan.place === 'elsewhere' && plan.setting !== undefined;
  return [
    ...(isElsewhere ? [holdfast`destinations add --default backups ${shellWord(urlOf(plan.draft))}`] : []),
    ...outermost(plan.chosen).map((path) => holdfast`sources add ${shellWord(path)}`),
    holdfast`status`,
  ];
}
