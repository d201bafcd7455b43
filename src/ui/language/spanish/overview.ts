import type { Statement } from '../../../api/schemas/page/overview.ts';
import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';
import type { Said } from '../english/overview.ts';

export const overview: Texts['overview'] = {
  justNow: 'hace un momento',
  never: 'nunca',
  home: 'Carpeta personal',
  quoted: (name) => `«${name}»`,
  more: (count) => (count === 1 ? 'y una cosa más' : `y ${count} cosas más`),
  moreFiles: (shown) => `${shown} más`,
  prefaces: [
    'Protegido, pero ',
    'Protegido, excepto ',
    'Protegido por las copias anteriores; ',
    'Todavía sin protección: ',
    'Sin protección: ',
  ],
  headline: {
    protected: ({ ago }) => `Protegido: última copia correcta ${ago}`,
    no_source: () => 'Sin protección: todavía no se ha elegido nada para copiar',
    check_failed: ({ what }) => `Sin protección: ${what}`,
    check_warns: ({ what }) => `Protegido, pero ${what}`,
    files_rewritten: ({ count, names }) =>
      `${count('rewritten')} de ${count('files_before')} archivos de ${names} se reescribieron de golpe, como hace el ransomware`,
    source_unreadable: ({ count, names }) =>
      `La última copia no pudo leer ninguno de los ${count('files_before')} archivos de ${names}`,
    source_left_out: ({ names }) => `Sin protección: las reglas de exclusión dejan fuera todo lo de ${names}`,
    source_empty: ({ number, count, names, sources, reason }) =>
      `${reason === 'source_missing' ? `${names} ${sources === 1 ? 'ha' : 'han'} desaparecido` : `No queda ningún archivo en ${names}`}: en la última copia había ${number('files_before') === 1 ? '1 archivo' : `${count('files_before')} archivos`}`,
    files_disappeared: ({ count, names }) =>
      `${count('files_gone')} de ${count('files_before')} archivos han desaparecido de ${names}`,
    files_burst: ({ count, names }) =>
      `${count('touched')} archivos de ${names} se crearon, cambiaron o desaparecieron de golpe`,
    name_claimed: ({ number, names }) =>
      `La clave de solo escritura ${number('write_only_key')} guardó una copia en nombre de ${names}, un nombre con el que también guardan otros`,
    destination_gone: ({ to, names, number }) =>
      number('empty') === 1
        ? `Sin protección: las copias de ${names} no están en ${to}: la carpeta está vacía`
        : `Sin protección: la carpeta de ${to} ha desaparecido, y con ella las copias que contenía`,
    damaged: ({ to }) => `Sin protección: la última verificación de ${to} encontró daños`,
    drill_failed: ({ to }) =>
      `Sin protección: la última prueba de restauración no pudo recuperar archivos de ${to}`,
    never_backed_up: ({ sources, to, reason }) =>
      `Sin protección: nunca se ha hecho una copia de seguridad de ${sources === 1 ? '{}' : `${sources} orígenes`}` +
      `${toWords(to)}${because(reason)}`,
    overdue: ({ sources, to, age, reason }) =>
      `Sin protección: ${late(sources === 1 ? '{}' : `${sources} orígenes`, sources, age)}` +
      `${toWords(to)}${because(reason)}`,
    first_backup_runs: (said) =>
      `${first(said)} ${said.number('waits') === 1 ? 'espera para empezar' : 'está en curso'}`,
    first_backup_paused: (said) => `${first(said)} espera a que termine la pausa`,
    last_failed: ({ names, to, ago, reason }) =>
      `Protegido, pero la última copia de ${names}${toWords(to)} falló${reason === 'other' ? '' : because(reason)}; última correcta: ${ago}`,
    command_failed: ({ names, to }) =>
      `Protegido, pero falló un comando anterior o posterior a la última copia de ${names}${toWords(to)}`,
    files_unread: ({ number, count, files }) =>
      `Protegido, excepto ${unread(number, count)}${files === '' ? '' : `: ${files}`}`,
    clock_behind: ({ span }) =>
      `Protegido, pero el reloj de este equipo está o estuvo mal: la última copia lleva una fecha adelantada en ${span('ahead_ms')}`,
    same_place: ({ to, names }) =>
      `Protegido, pero con menos copias de las que parece: ${to} son el mismo lugar, así que las copias de ${names} están allí una sola vez`,
    state_nearly_full: ({ size }) =>
      `Protegido, pero solo quedan ${size('free_bytes')} libres en el disco donde Holdfast guarda su estado`,
    check_undone: ({ to }) => `Protegido, pero no se pudo verificar ${to}`,
    drill_undone: ({ to }) => `Protegido, pero la última prueba de restauración desde ${to} no se pudo hacer`,
    prune_failed: ({ to }) => `Protegido, pero no se pudieron eliminar instantáneas antiguas de ${to}`,
    paused: ({ ago }) => `En pausa: por ahora no se hacen copias; última copia correcta: ${ago}`,
    not_watched: ({ names }) => `Protegido, pero los cambios en ${names} no se detectan en el momento`,
    destination_away: ({ to, ago, number }) =>
      number('far') === 1
        ? `No se puede acceder a ${to}; última copia allí: ${ago}`
        : `El disco ${to} está desconectado; última copia allí: ${ago}`,
    same_disk: ({ ago }) =>
      `Protegido contra descuidos, no contra un fallo del disco: última copia correcta ${ago}`,
    untested: ({ to, span }) =>
      `Protegido, pero hace ${span('untested_ms')} que no se prueba una restauración desde ${to}`,
  },
  todo: {
    files_rewritten:
      'Las instantáneas anteriores se conservan. Vea la alarma antes de hacer cualquier otra cosa.',
    source_unreadable:
      'Las instantáneas anteriores se conservan. Compruebe que Holdfast tiene permiso para leer los archivos.',
    source_left_out:
      'Las instantáneas anteriores se conservan. La tarea indica qué reglas son. Retírelas, o quite el origen. La próxima copia elimina esta advertencia.',
    source_left_out_before:
      'La tarea indica qué reglas son. Retírelas, o quite el origen. La próxima copia elimina esta advertencia.',
    source_empty:
      'Las instantáneas anteriores se conservan. Si es un disco, móntelo; si debe estar vacío, indíquelo en la alarma.',
    source_gone:
      'Las instantáneas anteriores se conservan. Si es un disco, móntelo. Si se borró, restáurelo o quite el origen.',
    files_disappeared:
      'Las instantáneas anteriores se conservan. Restaure lo que falta, o indique en la alarma que es lo que usted quería.',
    files_burst:
      'Las instantáneas anteriores se conservan. Vea la alarma, o indique en ella que es lo que usted quería.',
    name_claimed:
      'No cuenta como copia de ese equipo. Vea la alarma: ¿ha pasado el equipo a usar esa clave, o está la clave en malas manos?',
    destination_gone: 'Vuelva a poner la carpeta en su sitio, o elija otro destino.',
    destination_empty:
      'Si es otro disco, conecte el correcto. Si se borraron las copias de seguridad, añada otra carpeta como destino y empiece de nuevo allí.',
    damaged:
      'Puede que las copias guardadas allí no se recuperen íntegras. Revise el disco, haga otra copia y ejecute después otra verificación. Si aún encuentra daños, quite las instantáneas que nombra.',
    drill_failed:
      'Ejecute una verificación que lea todos los datos, haga otra copia y repita después la prueba de restauración.',
    command_failed:
      'Lo que prepara, como el volcado de una base de datos, puede faltar en esa copia o ser antiguo. Lo que vuelve a iniciar quizá siga detenido. La tarea guarda lo que mostró.',
    files_unread:
      'Dese permiso para leer lo que falta, exclúyalo, o acepte que no se puede leer. La próxima copia lo corrige.',
    clock_behind: 'Revise el reloj, y póngalo en hora si hace falta. La próxima copia lo corrige.',
    same_place: 'Dé a cada destino un lugar propio, o conserve solo uno de ellos.',
    state_nearly_full: 'Libere espacio en él: si se llena, las copias se detienen.',
    check_undone: 'No se sabe si las copias guardadas allí están íntegras. La tarea indica el motivo.',
    drill_undone: 'No se sabe si las copias guardadas allí se pueden restaurar. La tarea indica el motivo.',
    prune_failed: 'Lo que ya no hace falta sigue allí. La tarea indica el motivo.',
    not_watched: `Esperan a la próxima copia programada. Esto indica qué hacer: ${holdfast`doctor`}`,
    same_disk:
      'Sus copias de seguridad están en el mismo disco que sus archivos. Si ese disco falla, se pierde todo.',
    untested: 'Restaure un archivo que conozca y ábralo.',
  },
  remedies: {
    away: 'Conecte el disco.',
    full: 'Libere espacio allí, o conserve menos instantáneas antiguas.',
    other_repository:
      'Conecte el disco correcto. Para usar el otro repositorio, muévalo a otra carpeta y añada esta como destino.',
    emptied:
      'Si es un disco, móntelo. Si se borraron las copias de seguridad, añada otra carpeta como destino y empiece de nuevo allí.',
    locked_out:
      'Indique la frase de contraseña correcta en la configuración del destino. Está en el kit de recuperación del equipo que hizo las copias que hay allí.',
    no_secret: 'La tarea indica cuál y qué hacer.',
    denied: 'Revise en la configuración con qué credenciales se accede allí.',
    unreachable:
      'Compruebe que está encendido y conectado, y que la red funciona. Se vuelve a intentar automáticamente.',
    source_missing: 'Revise la ruta, o quite el origen.',
    source_unreadable: 'Permita que Holdfast lo lea, o quite el origen.',
    source_silent: 'Compruebe que su servidor o programa funciona, o desmóntelo.',
    source_own: 'Elija otro origen, y quite este.',
    source_unfit: 'Elija una carpeta o un archivo, y quite este origen.',
    source_empty: 'Si es un disco, móntelo. Si debe estar vacío, indíquelo en la alarma.',
    read_only: 'Móntelo con escritura. Si ocurrió por sí solo, puede que el disco esté fallando.',
    no_permission: 'Revise de quién es la carpeta del destino y sus permisos.',
    foreign:
      'Mueva esos archivos, o elija como destino una carpeta vacía, por ejemplo una nueva dentro de ella.',
    command: 'El registro de la tarea contiene lo que mostró el comando. Corrija el comando.',
    unscheduled:
      'Para copiar ahora, elija «Hacer una copia ahora». Para hacerlo con regularidad, dé al origen una programación en la configuración.',
    other: 'La tarea indica qué falló.',
    none: 'Las tareas indican qué pasó. Para intentarlo de nuevo, inicie una copia.',
    paused: 'Las copias están en pausa. Reanúdelas.',
  },
  unread: {
    leaveOut: 'Excluirlo',
    leaveOutOf: (file) => `Excluirlo: ${file}`,
    accept: 'Aceptarlo',
    acceptOf: (file) => `Aceptar que no se puede leer: ${file}`,
    hint: 'Si lo excluye, no se copia. Si lo acepta, Holdfast lo intenta cada vez y ya no avisa.',
    done: 'Guardado. La copia de seguridad está en marcha.',
  },
  unanswered: {
    title: 'No se sabe: el agente no responde',
    what: (time) =>
      `Lo que ve abajo es del ${time}. Mientras el agente está parado, no se hace ninguna copia automática. Para iniciarlo: ${holdfast`start`}`,
  },
  nextRun: (when) => `Próxima copia de seguridad: ${when}.`,
  nextDue: 'La próxima copia de seguridad toca ahora.',
  watched: 'Los cambios se copian en cuestión de minutos.',
  checksTitle: 'Requiere su atención',
  checks: {
    configuration: {
      short: 'el archivo de configuración no se puede usar',
      todo: `Sigue en vigor la última versión válida. Esto indica por qué: ${holdfast`config validate`}`,
    },
    notices: {
      short: 'los avisos no llegan',
      todo: 'Envíe una prueba desde la configuración: le dirá qué falla.',
    },
    state_full: {
      short: 'el disco donde Holdfast guarda su estado está lleno, así que no se hacen copias',
      todo: 'Libere espacio en él.',
    },
    state_gone: {
      short: 'la carpeta donde Holdfast guarda su estado ha desaparecido',
      todo: 'Vuelva a ponerla en su sitio, o monte su disco. Hasta entonces no se hacen copias.',
    },
    state_lost: {
      short: 'hubo que sustituir una base de datos de estado dañada',
      todo: `Sus copias están intactas. Pueden faltar tareas, alarmas, una pausa o credenciales de la API: revíselas y confírmelo en la línea de comandos: ${holdfast`alarms --acknowledge`}`,
    },
    state: {
      short: 'el agente no puede registrar lo que hace',
      todo: 'Las copias no se hacen, o no queda constancia de cómo terminan. Libere espacio en el disco de su directorio de estado.',
    },
    catalog: {
      short: 'algunas instantáneas no se pueden examinar por completo',
      todo: 'Se vuelve a intentar automáticamente. Si sigue igual, ejecute una verificación: le dirá qué está dañado.',
    },
    device_removed: {
      short: 'su proveedor ya no se ocupa de este equipo',
      todo: 'Lo ha quitado de su lista. Las copias y las restauraciones continúan. Para no informarle de nada más, desvincule el equipo del servicio del proveedor.',
    },
    repository_contradicted: {
      short:
        'un repositorio se sustituyó por una copia anterior, o dos equipos escriben en él como si fueran uno solo',
      todo: `El servicio del proveedor conoce más de lo que hay en él. Esto indica qué falta: ${holdfast`check`}`,
    },
    account_suspended: {
      short: 'su cuenta con el proveedor está suspendida',
      todo: 'Las copias y las restauraciones continúan. Si no lo esperaba, pregunte a su proveedor.',
    },
    account_suspended_waiting: {
      short: 'su cuenta con el proveedor está suspendida y solo se hacen las copias que usted inicia',
      todo: 'Pregunte a su proveedor. Por el ajuste partner.whileSuspended, las demás copias esperan a que la cuenta vuelva a estar activa.',
    },
    trial_ended: {
      short: 'su prueba con el proveedor ha terminado',
      todo: 'Las copias y las restauraciones continúan. Pida un plan a su proveedor.',
    },
    trial_ended_stopping: {
      short: 'su prueba con el proveedor ha terminado',
      todo: 'Una semana después de terminar, solo se harán las copias que usted inicie. Pida un plan a su proveedor.',
    },
    trial_ended_waiting: {
      short: 'su prueba con el proveedor ha terminado y solo se hacen las copias que usted inicia',
      todo: 'Pida un plan a su proveedor. Por el ajuste partner.afterTrial, las demás copias esperan hasta entonces.',
    },
    no_plan: {
      short: 'no hay en vigor ningún plan de su proveedor',
      todo: 'Las copias y las restauraciones continúan, y los programas tienen el límite de la prueba gratuita. Si sigue igual, avise a su proveedor.',
    },
    enrollment_unreadable: {
      short: 'no se puede leer lo que este equipo necesita para informar a su proveedor',
      todo: `Las copias y las restauraciones continúan, pero su proveedor no se entera. Ejecute esto y vuelva a vincular el equipo: ${holdfast`enroll --leave`}`,
    },
  },
  toJobs: 'Ver las tareas',
  toAdvanced: 'Ir a la configuración',
  getBack: 'Recuperar un archivo',
  holdings: {
    files: (count, shown, size) =>
      `${count === 1 ? 'Hay un archivo protegido' : `Hay ${shown} archivos protegidos`} (${size}).`,
    lastFiles: (count, shown, size) =>
      `Las últimas copias correctas tienen ${count === 1 ? 'un archivo' : `${shown} archivos`} (${size}).`,
    afterDamage: (count, shown, size) =>
      `Las últimas copias son posteriores a lo que indica la alarma y tienen ${count === 1 ? 'un archivo' : `${shown} archivos`} (${size}). Las anteriores se conservan.`,
    snapshots: (count, shown, size, places) =>
      `${count === 1 ? 'Una copia de seguridad ocupa' : `${shown} copias de seguridad ocupan`} ${size}${places}.`,
    places: (count) => ` en ${count} lugares`,
    share: (share) => `Es alrededor de un ${share} menos que si fueran copias simples.`,
  },
  timeline: {
    title: 'Las últimas seis semanas',
    today: 'Hoy',
    backup: 'Copia hecha',
    incomplete: 'Faltan algunos archivos',
    failed: 'Falló',
    drill: 'Restauración probada',
    alarm: 'Alarma',
    backups: (count, shown, size) =>
      `${count === 1 ? 'una copia de seguridad' : `${shown} copias de seguridad`}, ${size} guardados`,
    ofThemIncomplete: (count) => `${count} sin algunos archivos`,
    ofThemFailed: (count) => (count === 1 ? '1 fallida' : `${count} fallidas`),
    drilled: 'restauración probada',
    drillFailed: 'la prueba de restauración falló',
    alarmed: 'alarma',
    nothing: 'ninguna copia de seguridad',
    summary: (count, shown, size) =>
      `${count === 1 ? 'Una copia de seguridad' : `${shown} copias de seguridad`}, ${size} guardados.`,
    summaryFailed: (count) => (count === 1 ? 'Una falló.' : `${count} fallaron.`),
  },
  backUpAll: 'Hacer una copia ahora',
  started: (count) =>
    count === 1 ? 'La copia de seguridad está en marcha.' : `${count} copias de seguridad están en marcha.`,
  pause: 'Pausar…',
  pauseQuestion:
    'No empezará ninguna copia de seguridad durante un tiempo. Lo que ya está en curso se termina antes.',
  pauseHour: 'Durante una hora',
  pauseTomorrow: 'Hasta mañana por la mañana',
  pauseOpen: 'Hasta que las reanude',
  activeTitle: 'En curso',
  sourcesTitle: 'Qué está protegido',
  sources: {
    destination: 'Destino',
    lastGood: 'Última copia correcta',
    last: 'Última copia',
    next: 'Próxima ejecución',
    size: 'Tamaño',
    history: 'Últimas ejecuciones',
    overdue: 'con retraso',
    damaged: 'parece dañado',
    watching: 'vigilado',
    notWatching: 'solo programado',
    savedAgo: (ago) => `última copia ${ago}`,
    notYet: 'todavía sin copia',
    earlierAgo: (ago) => `copia anterior ${ago}`,
    noSchedule: 'sin programar',
    files: (count, shown) => (count === 1 ? 'un archivo' : `${shown} archivos`),
    backUp: 'Hacer una copia ahora',
    backUpOf: (path) => `Hacer una copia ahora: ${path}`,
    dryRun: 'Simular',
    dryRunOf: (path) => `Simular: ${path}`,
    dryRunning: 'Averiguando qué haría una copia de seguridad…',
    wouldDo: (changed, shown, size, all) =>
      changed === 0
        ? `Una copia de seguridad no encontraría nada nuevo en ${all} archivos.`
        : `Una copia de seguridad guardaría ${changed === 1 ? 'un archivo nuevo o modificado' : `${shown} archivos nuevos o modificados`} de ${all}: ${size} como máximo.`,
    dryRunFailed: 'La simulación no terminó bien.',
    toJob: 'Ver la tarea',
    restore: 'Restaurar…',
    restoreOf: (path) => `Restaurar desde ${path}`,
  },
  history: {
    none: 'Ninguna ejecución todavía',
    summary: (all, good, warned, failed, canceled) =>
      `${all === 1 ? 'Una ejecución' : `${all} ejecuciones`}: ${[
        feminine(good + warned, 'correcta'),
        ...(warned === 0 ? [] : [`${warned} de ellas sin algunos archivos`]),
        ...(failed === 0 ? [] : [feminine(failed, 'fallida')]),
        ...(canceled === 0 ? [] : [feminine(canceled, 'cancelada')]),
      ].join(', ')}`,
    run: (when, outcome, files, size) =>
      `${when}: ${outcome}, archivos modificados: ${files}, guardado: ${size}`,
  },
  outcomes: {
    queued: 'en espera',
    running: 'en curso',
    completed: 'correcta',
    warning: 'con advertencias',
    failed: 'fallida',
    canceled: 'cancelada',
  },
  destinationsTitle: 'Dónde está guardado',
  destinations: {
    isDefault: 'predeterminado',
    reachable: 'accesible',
    away: 'no accesible',
    unknown: 'todavía sin usar',
    used: (used) => `${used} en copias`,
    free: (free) => `${free} libres`,
    meter: (name) => `Espacio en ${name}`,
    lastCheck: 'Última verificación',
    lastDrill: 'Última prueba de restauración',
    checkNever: 'todavía sin verificar',
    drillNever: 'todavía sin probar',
    good: (ago) => `correcta, ${ago}`,
    notGood: (outcome, ago) => `${outcome}, ${ago}`,
    chart: (name) => `Lo guardado en ${name} a lo largo del tiempo`,
    change: (from, to, since) => `De ${from} a ${to} desde el ${since}.`,
    sameDisk: 'mismo disco que sus archivos',
    addSecond: 'Añadir un destino en otro lugar',
  },
  allJobs: 'Todas las tareas',
  emptyTitle: 'Todavía no hay nada protegido',
  empty: 'Elija qué proteger y dónde guardarlo: lleva unos tres minutos.',
  emptyStart: 'Empezar',
  noSourceTitle: 'Ninguna carpeta se copia automáticamente',
  noSource:
    'Se han ejecutado tareas, pero no hay ningún origen configurado. Elija qué se copiará de ahora en adelante.',
};

/** Each follows a whole clause. */
const BECAUSE: Readonly<Record<NonNullable<Statement['reason']>, string>> = {
  away: ', porque el disco de las copias no está conectado',
  full: ', porque el destino está lleno',
  other_repository: ', porque en el destino hay un repositorio distinto del de antes',
  emptied: ', porque el repositorio ya no está en el destino',
  locked_out: ', porque la frase de contraseña del destino es incorrecta o falta',
  no_secret: ', porque no se puede leer la contraseña o clave del destino',
  denied: ', porque el destino rechazó las credenciales de acceso',
  unreachable: ', porque no se pudo acceder al destino',
  source_missing: ', porque el origen no está',
  source_unreadable: ', porque el origen no se puede leer',
  source_silent: ', porque el sistema de archivos del origen no responde',
  source_own: ', porque Holdfast no copia las carpetas en las que guarda',
  source_unfit: ', porque un origen de ese tipo no se puede copiar',
  source_empty: ', porque el origen está vacío',
  read_only: ', porque el destino es de solo lectura',
  no_permission: ', porque Holdfast no tiene los permisos necesarios en el destino',
  foreign: ', porque en el destino hay archivos de otro programa',
  command: ', porque falló el comando previo',
  unscheduled: ', porque nada inicia sus copias: su programación está desactivada',
  other: '; el último intento falló',
};

function because(reason: Statement['reason']): string {
  return reason === null ? '' : BECAUSE[reason];
}

/** Of a first backup to a new place, others may be there to restore from. */
function first({ number, to }: Said): string {
  return number('earlier') === 1
    ? `Protegido por las copias anteriores; la primera copia de seguridad${toWords(to)}`
    : 'Todavía sin protección: la primera copia de seguridad';
}

function toWords(to: string | null): string {
  return to === null ? '' : ` en ${to}`;
}

function late(what: string, sources: number, age: string): string {
  if (age === '') return `la copia de seguridad de ${what} no se hizo a tiempo`;
  return `${what} ${sources === 1 ? 'lleva' : 'llevan'} ${age} sin copia de seguridad`;
}

/** `1 fallida`, `2 fallidas`. */
function feminine(count: number, word: string): string {
  return count === 1 ? `${count} ${word}` : `${count} ${word}s`;
}

function unread(number: Said['number'], count: Said['count']): string {
  const [files, folders] = [number('files'), number('folders')];
  const ofFiles =
    files === 1 ? '1 archivo que no se pudo leer' : `${count('files')} archivos que no se pudieron leer`;
  const ofFolders =
    folders === 1
      ? 'el contenido de una carpeta que no se pudo leer'
      : `el contenido de ${count('folders')} carpetas que no se pudieron leer`;
  return folders === 0 ? ofFiles : files === 0 ? ofFolders : `${ofFiles} y ${ofFolders}`;
}
