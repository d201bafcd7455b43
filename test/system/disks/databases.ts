/** SQLite databases as a cut has left them: copies are looked at, as opening would mend what is to be looked at. */
import { cpSync, existsSync, mkdirSync } from 'node:fs';
import path from 'node:path';
import Sqlite from 'better-sqlite3';

/** @returns what is wrong, or nothing */
export function examine(file: string): string {
  mkdirSync('/mnt/databases', { recursive: true });
  const copy = path.join('/mnt/databases', file.replaceAll('/', '_'));
  for (const ending of ['', '-wal', '-shm'])
    if (existsSync(`${file}${ending}`)) cpSync(`${file}${ending}`, `${copy}${ending}`);
  try {
    const database = new Sqlite(copy);
    const said = JSON.stringify(database.pragma('integrity_check'));
    database.close();
    return said === '[{"integrity_check":"ok"}]' ? '' : said.slice(0, 500);
  } catch (error) {
    return String(error);
  }
}
