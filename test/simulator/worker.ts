/** A process that plays simulations. */
import './process-hooks.ts';
import { playSeeds } from './play-seeds.ts';

// After the hooks, so that what the product draws while it is loaded is the same every time.
const { planOf, smaller } = await import('./plan.ts');
const { simulate } = await import('./simulate.ts');
const { failureText } = await import('./failure-text.ts');

await playSeeds({ planOf, smaller, simulate, failureText });
