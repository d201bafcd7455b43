/** The executable: reads the command line and runs one command. */
import { endSoon, run } from './cli/run.ts';
import { typedWords } from './cli/command/command-words.ts';

await run(typedWords(process.argv.slice(2), process.channel !== undefined));
endSoon();
