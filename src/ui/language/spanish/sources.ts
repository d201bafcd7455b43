import type { Texts } from '../english/english.ts';

export const sources: Texts['sources'] = {
  about: 'Qué se copia, con qué frecuencia, y qué queda excluido.',
  none: 'Todavía no se copia nada.',
  state: 'Última copia correcta',
  neverBackedUp: 'Ninguna todavía',
  backedUp: (age) => age,
  watched: 'minutos después de cada cambio',
  polled: 'busca cambios',
  removeQuestion: 'Ya no se copia. Sus instantáneas se conservan y se pueden restaurar.',
  removeYes: 'Dejar de copiarlo',
  addTitle: 'Añadir un origen',
  pathHint: 'Por ejemplo /home/yo/Imágenes, o ~/Imágenes.',
  isThere: 'Este origen ya existe.',
  choose: 'Elegir…',
  chooseTitle: '¿Qué quiere copiar?',
  whereTo: 'Dónde',
  defaultDestination: 'El destino predeterminado',
  severalHint: 'Se lee una vez y se guarda en cada uno de ellos, a su ritmo.',
  when: 'Cuándo',
  watchHint: 'No necesita programación: lo que cambia se copia poco después.',
  pollHint: 'Para unidades de red, que no avisan de los cambios.',
  leftOut: 'Qué queda excluido',
  patternsHint:
    'Una en cada línea, como en .gitignore: *.tmp, build/, /cache/; !keep.tmp lo vuelve a incluir. Una lista propia sustituye a la predeterminada.',
  ignoreFilesHint: 'Sus líneas son reglas de este tipo para la carpeta en la que están.',
  acceptHint:
    'Rutas completas, una en cada línea. Se intentan leer en cada copia, y ninguna copia advierte de ellas.',
  ifPresentHint: 'El contenido de las carpetas con un archivo así queda excluido.',
  largerHint: 'Por ejemplo 4 GiB o 500M. Vacío: sin límite.',
  cachesHint: 'Carpetas que los programas marcan con un archivo CACHEDIR.TAG.',
  oneFileSystemHint: 'Los demás discos montados dentro quedan excluidos.',
  stored: 'Cómo se guarda',
  tagsHint: 'Palabras que identifican sus instantáneas, una en cada línea.',
  encryptionRequired: 'La configuración rechaza las copias sin cifrar.',
  deduplicationHint: 'También lo que ya contienen otras instantáneas.',
  hooks: 'Comandos antes y después',
  hooksAbout:
    'Los comandos se ejecutan con los permisos del agente. La página no puede cambiarlos; estos comandos lo hacen, en el propio equipo.',
  hookExample: { before: 'pg_dump shop > ~/shop.sql', after: 'rm -f ~/shop.sql' },
  count: 'Ver cuánto es',
  countAgain: 'Volver a contar',
  counting: 'Contando…',
  outdated: 'Las reglas han cambiado desde entonces. Vuelva a contar para ver su efecto.',
  estimated: (files, bytes, isComplete) =>
    isComplete ? `${files}, ${bytes}.` : `Al menos ${files}, ${bytes}: contar llevaba demasiado tiempo.`,
  excludedCount: (count, shown) =>
    count === 0
      ? 'No se excluye nada.'
      : count === 1
        ? 'Se excluye un elemento.'
        : `Se excluyen ${shown} elementos.`,
  unreadable: (count, shown) =>
    count === 1 ? 'Un elemento no se puede leer.' : `${shown} elementos no se pueden leer.`,
  excludedTitle: 'Qué queda excluido, y por qué',
  largestTitle: 'Las carpetas más grandes',
  path: 'Ruta',
  why: 'Por qué',
  reasons: {
    pattern: 'regla',
    ignore_file: 'regla en el origen',
    cache: 'marcado como caché',
    if_present: 'archivo marcador',
    larger_than: 'mayor que',
    other_file_system: 'otro sistema de archivos',
    never: 'nunca se copia',
  },
};
