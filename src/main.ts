/** The executable: reads the command line and runs one command. */
import { run } from './cli/run.ts';

await run(process.argv.slice(2));
