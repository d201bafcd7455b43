/** The home directory of somebody who writes letters, keeps a budget, takes pictures and builds a boat house. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { lakePicture } from './small-picture.ts';
import { seededRandom } from './seeded-random.ts';

const DAY_MS = 86_400_000;
const BUDGET = [
  'Rent;980.00',
  'Electricity;64.20',
  'Groceries;412.75',
  'Train;89.00',
  'Choir;25.00',
  'Books;38.40',
];
/** Of the boat house: enough that it is noticed when most of them are gone. */
const DRAWINGS = 120;

export interface DemonstrationHome {
  readonly sources: readonly string[];
  /** A text of which there are several versions. */
  readonly letter: string;
  readonly picture: string;
  /** As it was some days ago, and no earlier; each day something changes. */
  live(daysAgo: number): void;
  /** Most drawings of the boat house are lost. */
  loseDrawings(): void;
}

export function demonstrationHome(home: string): DemonstrationHome {
  const write = (path: string, content: string | Buffer, daysAgo: number): void => {
    const file = join(home, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, content);
    const at = new Date(Date.now() - daysAgo * DAY_MS - 3_600_000);
    utimesSync(file, at, at);
  };
  let isMovedIn = false;
  return {
    sources: ['Documents', 'Pictures', 'Projects'].map((name) => join(home, name)),
    letter: join(home, 'Documents', 'Letters', 'To the housing office.txt'),
    picture: join(home, 'Pictures', '2026 Lake', 'Morning 03.png'),
    live(daysAgo) {
      const day = 40 - daysAgo;
      write('Documents/Letters/To the housing office.txt', letter(daysAgo), daysAgo);
      write('Documents/Budget 2026.csv', budget(day), daysAgo);
      write(`Documents/Diary/Day ${day}.md`, diary(day), daysAgo);
      write(`Pictures/2026 Lake/Morning ${String(day % 30).padStart(2, '0')}.png`, lakePicture(day), daysAgo);
      if (day % 4 === 0) write(`Projects/Boat house/Photos/Raw ${day}.dng`, raw(day), daysAgo);
      write('Projects/Boat house/Costs.csv', budget(day + 3), daysAgo);
      if (isMovedIn) return;
      isMovedIn = true;
      write('Documents/Recipes/Bread.md', '# Bread\n\n500 g flour, 350 g water, 10 g salt, time.\n', 60);
      write('Documents/Contracts/Rent.pdf', raw(1).subarray(0, 180_000), 300);
      write('Documents/Contracts/Insurance.pdf', raw(2).subarray(0, 240_000), 200);
      write('Documents/Tax 2025/Return.pdf', raw(3).subarray(0, 420_000), 120);
      write('Documents/Curriculum vitae.odt', raw(4).subarray(0, 36_000), 90);
      for (const shot of [1, 2, 3, 4, 5])
        write(`Pictures/2026 Lake/Morning 0${shot}.png`, lakePicture(shot), 50);
      for (const clip of [1, 2, 3]) write(`Pictures/2025 Choir/Concert ${clip}.mp4`, raw(10 + clip), 260);
      for (let sheet = 1; sheet <= DRAWINGS; sheet += 1)
        write(`Projects/Boat house/Drawings/Sheet ${sheet}.svg`, drawing(sheet), 70);
    },
    loseDrawings: () =>
      rmSync(join(home, 'Projects', 'Boat house', 'Drawings'), { recursive: true, force: true }),
  };
}

function letter(daysAgo: number): string {
  const lines = [
    'Ana Sousa',
    'Lindenweg 4',
    '',
    'Dear Sir or Madam,',
    '',
    'since the beginning of October the heating in the staircase has not worked.',
    daysAgo > 5
      ? 'I would be glad if somebody came to look at it.'
      : 'A fitter came on Tuesday and could not mend it.',
    ...(daysAgo > 0 ? [] : ['I ask you to have it repaired within two weeks.', '']),
    daysAgo > 5 ? 'Kind regards' : 'With kind regards',
    'Ana Sousa',
  ];
  return `${lines.join('\n')}\n`;
}

function budget(day: number): string {
  const rows = Array.from({ length: 4 + day }, (_, index) => `${index + 1};${BUDGET[index % BUDGET.length]}`);
  return `no;what;euro\n${rows.join('\n')}\n`;
}

function diary(day: number): string {
  return `# Day ${day}\n\n${'Rowed across the lake before breakfast. '.repeat(1 + (day % 9))}\n`;
}

function drawing(sheet: number): string {
  const lines = Array.from(
    { length: 40 },
    (_, index) => `<path d="M${sheet} ${index}h${(index * sheet) % 97}"/>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 210 297">\n${lines.join('\n')}\n</svg>\n`;
}

/** What does not compress, as cameras make it. */
function raw(seed: number): Buffer {
  return seededRandom(seed).bytes(900_000);
}
