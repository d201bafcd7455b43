import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english.ts';

export const overview: Texts['overview'] = {
  justNow: 'gerade eben',
  never: 'nie',
  headline: {
    protected: (ago) => `Geschützt: letzte gute Sicherung ${ago}`,
    noSource: 'Nicht geschützt: noch ist nichts zum Sichern ausgewählt',
    checkFailed: (what) => `Nicht geschützt: ${what}`,
    checkWarns: (what) => `Geschützt, aber: ${what}`,
    firstRuns: 'Noch nicht geschützt: die erste Sicherung läuft',
    firstPaused: 'Noch nicht geschützt: die erste Sicherung wartet auf das Ende der Pause',
    never: (sources, to, hasFailed) =>
      `Nicht geschützt: ${sources === null ? '{} wurde' : `${sources} Quellen wurden`} noch nie` +
      `${to === null ? '' : ` nach ${to}`} gesichert${hasFailed ? ', und der letzte Versuch ist gescheitert' : ''}`,
    overdue: (sources, to, span, hasFailed) =>
      `Nicht geschützt: ${sources === null ? '{} wurde' : `${sources} Quellen wurden`} ` +
      `${span === null ? 'nicht rechtzeitig' : `seit ${dative(span)} nicht`}${to === null ? '' : ` nach ${to}`} gesichert` +
      (hasFailed ? '; der letzte Versuch ist gescheitert' : ''),
    lastFailed: (ago) => `Die letzte Sicherung ist gescheitert; die letzte gute war ${ago}`,
    paused: (ago) => `Pause: die letzte gute Sicherung war ${ago}, und zurzeit läuft keine`,
  },
  nextRun: (when) => `Die nächste Sicherung ist ${when} fällig.`,
  nextDue: 'Die nächste Sicherung ist jetzt fällig.',
  watched: 'Änderungen werden innerhalb von Minuten gesichert.',
  checksTitle: 'Bitte ansehen',
  checks: {
    configuration: {
      short: 'die Konfigurationsdatei hat einen Fehler',
      what: 'Die Konfigurationsdatei ist nicht brauchbar. Die letzte gültige bleibt in Kraft.',
      todo: `Beheben Sie den Fehler auf diesem Rechner. Wo er steckt, sagt: ${holdfast`config validate`}`,
    },
    destinations: {
      short: 'ein Ziel ist nicht erreichbar',
      what: 'Ein Ziel ist nicht erreichbar.',
      todo: 'Schließen Sie die Platte an, oder sehen Sie unten nach, welches fehlt.',
    },
    overdue: {
      short: 'die letzte gute Sicherung einer Quelle ist zu alt',
      what: 'Die letzte gute Sicherung einer Quelle ist älter, als sie sein sollte.',
      todo: 'Die Aufträge sagen, worauf sie warten oder was schiefging.',
    },
    sources: {
      short: 'Sicherungen einer Quelle scheitern',
      what: 'Die letzte Sicherung einer Quelle ist gescheitert.',
      todo: 'Die Aufträge sagen, was schiefging.',
    },
    'destinations of a source': {
      short: 'Sicherungen zu einem der Ziele scheitern',
      what: 'Die letzte Sicherung zu einem der Ziele ist gescheitert, während andere gut sind.',
      todo: 'Die Aufträge sagen, was schiefging.',
    },
    damage: {
      short: 'eine Prüfung fand Schäden in dem, was an einem Ziel liegt',
      what: 'Die letzte Prüfung eines Ziels fand Schäden: Sicherungen dort kommen vielleicht nicht heil zurück.',
      todo: 'Prüfen Sie die Platte, sichern Sie erneut, was Fehlendes neu speichert, und prüfen Sie dann noch einmal: bei den Aufträgen.',
    },
    'restore drills': {
      short: 'Dateien ließen sich bei der letzten Probe-Wiederherstellung nicht zurückholen',
      what: 'Die letzte Probe-Wiederherstellung ist gescheitert: Dateien kamen nicht so zurück, wie sie gesichert wurden.',
      todo: 'Prüfen Sie alle Daten und sichern Sie erneut, und proben Sie dann noch einmal: bei den Aufträgen.',
    },
    'checks not done': {
      short: 'ein Ziel konnte nicht geprüft werden',
      what: 'Die letzte Prüfung eines Ziels ist gescheitert: ob die Sicherungen dort heil sind, ist nicht bekannt.',
      todo: 'Der Auftrag sagt, warum; lassen Sie danach noch einmal prüfen.',
    },
    'drills not done': {
      short: 'die letzte Probe-Wiederherstellung konnte nicht stattfinden',
      what: 'Die letzte Probe-Wiederherstellung ist gescheitert: ob sich die Sicherungen wiederherstellen lassen, ist nicht bekannt.',
      todo: 'Der Auftrag sagt, warum; lassen Sie danach noch einmal proben.',
    },
    prune: {
      short: 'ein Ziel konnte nicht aufgeräumt werden',
      what: 'Das letzte Aufräumen eines Ziels ist gescheitert: was dort nicht mehr gebraucht wird, bleibt.',
      todo: 'Der Auftrag sagt, warum; lassen Sie danach noch einmal aufräumen.',
    },
    'unread files': {
      short: 'Dateien einer Quelle waren nicht lesbar',
      what: 'Dateien einer Quelle fehlen in ihrer letzten Sicherung: Sie waren nicht lesbar.',
      todo: 'Der Auftrag nennt sie. Sorgen Sie dafür, dass der Agent sie lesen darf, oder schließen Sie sie aus.',
    },
    notices: {
      short: 'Nachrichten kommen nicht an',
      what: 'Nachrichten konnten nicht zugestellt werden.',
      todo: 'Senden Sie aus den Einstellungen eine Probe: Sie sagt, woran es liegt.',
    },
    state: {
      short: 'der Agent kann nicht festhalten, was er tut',
      what: 'Der Agent kann nicht festhalten, was er tut: Sicherungen unterbleiben, oder ihr Ende wird nicht vermerkt.',
      todo: 'Schaffen Sie Platz auf der Platte seines Zustandsverzeichnisses. Was schiefging, steht im Protokoll des Agenten.',
    },
    alarms: {
      short: 'eine Quelle sieht beschädigt aus',
      what: 'Eine Quelle sieht beschädigt aus. Ihre älteren Stände bleiben, bis jemand nachgesehen hat.',
      todo: 'Sehen Sie die Alarme an.',
    },
    catalog: {
      short: 'manche Stände lassen sich nicht ganz durchsehen',
      what: 'Ordner mancher Stände waren von einem Ziel nicht zu lesen. Listen und Suche lassen aus, was darin ist.',
      todo: 'Das wird von selbst wieder versucht. Bleibt es dabei, prüfen Sie die Daten: Das sagt, was beschädigt ist.',
    },
  },
  toJobs: 'Zu den Aufträgen',
  toAdvanced: 'Zu den Einstellungen',
  tiles: {
    label: 'In Zahlen',
    protected: 'Geschützt',
    stored: 'Gespeichert',
    saved: 'Gespart',
    next: 'Nächste Sicherung',
    inFiles: (count, shown) => (count === 1 ? 'in einer Datei' : `in ${shown} Dateien`),
    snapshots: (count, shown) => (count === 1 ? 'ein Stand' : `${shown} Stände`),
    inPlaces: (count) => `an ${count} Zielen`,
    about: (share) => `etwa ${share}`,
    savedBy: (copies, shown) =>
      `gegenüber ${copies === 1 ? 'einer einfachen Kopie' : `${shown} einfachen Kopien`}, durch Deduplizierung und Kompression`,
    savedNothingYet: 'noch nichts: spätere Stände teilen sich, was gleich bleibt',
    noNext: 'keine ist geplant',
    whilePaused: 'solange die Pause dauert',
    dueNow: 'jetzt',
  },
  backUpAll: 'Alles jetzt sichern',
  started: (count) => (count === 1 ? 'Die Sicherung läuft an.' : `${count} Sicherungen laufen an.`),
  pause: 'Pause …',
  pauseQuestion: 'Eine Zeit lang keine Sicherungen beginnen. Was jetzt läuft, endet noch.',
  pauseHour: 'Eine Stunde',
  pauseTomorrow: 'Bis morgen früh',
  pauseOpen: 'Bis ich sie fortsetze',
  activeTitle: 'Läuft gerade',
  sourcesTitle: 'Was geschützt ist',
  sources: {
    destination: 'Nach',
    lastGood: 'Letzte gute Sicherung',
    next: 'Nächster Lauf',
    size: 'Größe',
    history: 'Letzte Läufe',
    overdue: 'überfällig',
    watching: 'beobachtet',
    notWatching: 'nur nach Zeitplan',
    notYet: 'noch keine',
    noSchedule: 'nicht geplant',
    files: (count, shown) => (count === 1 ? 'eine Datei' : `${shown} Dateien`),
    backUp: 'Jetzt sichern',
    backUpOf: (path) => `Jetzt sichern: ${path}`,
    dryRun: 'Probelauf',
    dryRunOf: (path) => `Probelauf: ${path}`,
    dryRunning: 'Was eine Sicherung tun würde, wird ermittelt …',
    wouldDo: (changed, shown, size, all) =>
      changed === 0
        ? `Eine Sicherung fände in ${all} Dateien nichts Neues.`
        : `Eine Sicherung würde ${changed === 1 ? 'eine neue oder geänderte Datei' : `${shown} neue oder geänderte Dateien`} von ${all} speichern: höchstens ${size}.`,
    dryRunFailed: 'Der Probelauf ging nicht gut aus.',
    toJob: 'Auftrag ansehen',
    restore: 'Wiederherstellen …',
    restoreOf: (path) => `Wiederherstellen aus ${path}`,
  },
  history: {
    none: 'Noch kein Lauf',
    summary: (all, good, warned, failed, canceled) =>
      `${all === 1 ? 'Ein Lauf' : `${all} Läufe`}: ${[
        `${good} gut`,
        ...(warned === 0 ? [] : [`${warned} mit Warnungen`]),
        ...(failed === 0 ? [] : [`${failed} gescheitert`]),
        ...(canceled === 0 ? [] : [`${canceled} abgebrochen`]),
      ].join(', ')}`,
    run: (when, outcome, files, size) =>
      `${when}: ${outcome}, ${files} Dateien geändert, ${size} gespeichert`,
  },
  outcomes: {
    queued: 'wartet',
    running: 'läuft',
    completed: 'gut',
    warning: 'mit Warnungen',
    failed: 'gescheitert',
    canceled: 'abgebrochen',
  },
  destinationsTitle: 'Wo es gespeichert ist',
  destinations: {
    isDefault: 'Standardziel',
    reachable: 'erreichbar',
    away: 'nicht erreichbar',
    unknown: 'noch nicht benutzt',
    used: (used) => `${used} von Sicherungen belegt`,
    free: (free) => `${free} frei`,
    meter: (name) => `Platz bei ${name}`,
    lastCheck: 'Letzte Prüfung',
    lastDrill: 'Letzte Probe-Wiederherstellung',
    checkNever: 'noch nicht geprüft',
    drillNever: 'noch nicht probiert',
    good: (ago) => `gut, ${ago}`,
    notGood: (outcome, ago) => `${outcome}, ${ago}`,
    chart: (name) => `Gespeichert bei ${name} im Lauf der Zeit`,
    change: (from, to, since) => `Von ${from} auf ${to} seit ${since}.`,
    diskNote:
      'Es liegt auf derselben Platte wie Ihre Dateien: Gelöschtes und Überschriebenes kommt zurück, bei einem Schaden der Platte nichts.',
    addSecond: 'Ein zweites Ziel einrichten',
  },
  recentTitle: 'Letzte Aufträge',
  recent: {
    job: 'Auftrag',
    outcome: 'Ergebnis',
    when: 'Wann',
    took: 'Dauer',
    stored: 'Gespeichert',
    all: 'Alle Aufträge',
  },
  emptyTitle: 'Noch ist nichts geschützt',
  empty: 'Wählen Sie aus, was geschützt werden soll und wohin: das dauert etwa drei Minuten.',
  emptyStart: 'Anfangen',
  noSourceTitle: 'Kein Ordner wird von selbst gesichert',
  noSource:
    'Es liefen Aufträge, aber keine Quelle ist eingerichtet. Wählen Sie, was von nun an gesichert wird.',
};

/** `3 Tage`, nach „seit“: `3 Tagen`. */
function dative(span: string): string {
  return span.replace(/(?:Tage|Monate|Jahre)$/, '$&n');
}
