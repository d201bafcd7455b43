import type { Texts } from '../english/english.ts';

export const common: Texts['common'] = {
  now: 'ahora',
  never: 'nunca',
  none: 'ninguno',
  colon: ':',
  optional: 'opcional',
  back: 'Atrás',
  cancel: 'Cancelar',
  close: 'Cerrar',
  save: 'Guardar',
  next: 'Siguiente',
  copy: 'Copiar',
  copied: 'Copiado',
  notCopied: 'No se pudo copiar. Seleccione el texto y cópielo usted mismo.',
  retry: 'Intentar de nuevo',
  loading: 'Cargando…',
  details: 'Detalles',
  default: 'predeterminado',
  yes: 'Sí',
  no: 'No',
  commandLine: 'Lo mismo en la línea de comandos',
  file: 'Archivo',
  files: (count, shown) => (count === 1 ? 'un archivo' : `${shown} archivos`),
};

export const app: Texts['app'] = {
  skip: 'Ir al contenido',
  navigation: 'Páginas',
  overview: 'Resumen',
  restore: 'Restaurar',
  jobs: 'Tareas',
  settings: 'Configuración',
  signOut: 'Salir',
  language: 'Idioma',
  api: 'API de escritorio',
  otherVersion: (running, installed) =>
    `Está instalada la versión ${installed}, pero todavía se ejecuta la ${running}. Reinicie el agente para usar la nueva; las tareas continúan después.`,
  closedTitle: 'No ha iniciado sesión en esta página',
  closedHow: 'Ábrala desde la línea de comandos, con el usuario que hace las copias de seguridad:',
  closedOnce: 'La dirección que aparece sirve una sola vez, durante un minuto.',
  offline:
    'El agente no responde. Puede que esté detenido o que se esté iniciando; esta página lo vuelve a intentar sola.',
  noSuchPage: 'Esta página no existe',
  toOverview: 'Ir al resumen',
  alarmsOpen: (count) =>
    count === 1
      ? 'Hay una alarma que espera su respuesta.'
      : `Hay ${count} alarmas que esperan su respuesta.`,
  alarmsLook: 'Ver',
  kitUnsaved:
    'El kit de recuperación está solo en este equipo. Sin él, si se pierde el equipo, nadie podrá leer las copias de seguridad.',
  kitUnsavedPartly: 'El kit de recuperación está solo en este equipo. Guárdelo en otro lugar.',
  notByKit:
    'No abre {}. Guarde también lo que abre las copias que hay allí: el kit de recuperación del equipo que las hizo o la frase de contraseña que usted eligió para ellas.',
  kitSave: 'Guardarlo ahora',
  paused: (until) =>
    until === null
      ? 'Las copias de seguridad están en pausa hasta que las reanude.'
      : `Las copias de seguridad están en pausa hasta el ${until}.`,
  resume: 'Reanudar',
};
