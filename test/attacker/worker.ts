/** A process that plays attacks: its arguments say which, its messages what came of them. */
import '../simulator/process-hooks.ts';
import './remembering.ts';
import { playSeeds } from '../simulator/play-seeds.ts';

// After the hooks, so that what the product draws while it is loaded is the same every time.
const { planOf, smaller } = await import('./plan.ts');
const { simulate } = await import('./simulate.ts');
const { failureText } = await import('./failure-text.ts');

await playSeeds({ planOf, smaller, simulate, failureText });
