import type { Texts } from '../english/english.ts';

export const alarms: Texts['alarms'] = {
  title: 'Alarmas',
  what: 'Hay algo que no parece normal. Hasta que la alarma de un origen se marque como revisada, o vuelva lo que se perdió, no se elimina ninguna instantánea de ese origen anterior a ella.',
  none: 'No hay ninguna alarma abierta. Si un origen apareciera de pronto vacío o ilegible, perdiera la mayoría de sus archivos o se reescribiera, se indicaría aquí.',
  kinds: {
    empty: {
      title: 'Vacío',
      means:
        'No queda ni un archivo donde antes los había. Lo más frecuente es que un disco o una carpeta de red no esté montado. No se hace ninguna copia, para que las correctas sigan siendo las más recientes.',
      todo: 'Monte el disco o la carpeta de red: la próxima copia se hará y la alarma terminará por sí sola. Si el origen debe estar vacío, marque la alarma como revisada. Si se borró a propósito, quite el origen.',
    },
    unreadable: {
      title: 'Ya no se puede leer',
      means:
        'La última copia no pudo leer ni un archivo, donde antes los había. Lo más frecuente es que haya cambiado el propietario o los permisos. Esa instantánea no contiene ninguno de ellos.',
      todo: 'La tarea indica qué no se pudo leer. Compruebe que el agente tiene permiso para leerlo: la alarma terminará con la próxima copia.',
    },
    left_out: {
      title: 'Excluido por las reglas',
      means:
        'Las reglas de exclusión dejan fuera todo, donde antes se guardaban archivos. A menudo un programa ha puesto en la carpeta un archivo que la marca como caché o como carpeta que no se debe copiar.',
      todo: 'La tarea indica qué regla es. Elimine ese archivo, o retire la regla: la alarma terminará con la próxima copia. Si era lo que usted quería, quite el origen.',
    },
    shrunk: {
      title: 'La mayoría de los archivos ha desaparecido',
      means:
        'Más de la mitad de los archivos del origen, o de una de sus carpetas, desapareció en menos de una hora. Ocurre cuando una carpeta se mueve o se borra por error, o cuando una parte del origen no está montada.',
      todo: 'Compare con una instantánea anterior. Restaure lo que falta: la alarma terminará con la próxima copia. Si era lo que usted quería, marque la alarma como revisada.',
    },
    rewritten: {
      title: 'Reescritos todos de golpe',
      means:
        'Muchos archivos cambiaron en menos de una hora, y ahora su contenido parece cifrado o tienen otra extensión. Así actúa el ransomware; también ocurre al cifrar o comprimir archivos a propósito.',
      todo: 'Abra algunos de ellos. Si no se pueden leer, desconecte el equipo de la red, averigüe qué los escribió y solo entonces restaure una instantánea anterior. Si están bien, marque la alarma como revisada.',
    },
    burst: {
      title: 'Muchos más cambios de lo habitual',
      means:
        'En menos de una hora se crearon, cambiaron o desaparecieron muchos más archivos que nunca. Puede deberse a una actualización grande o a que usted haya reorganizado sus archivos, pero también a un daño.',
      todo: 'Compare con una instantánea anterior. Si sabe de dónde vienen los cambios, marque la alarma como revisada.',
    },
    claimed: {
      title: 'Guardado en nombre de otro equipo',
      means:
        'Una clave de solo escritura guardó una copia con el nombre de un equipo para el que también guardan otros. Puede hacerlo quien se haya apoderado del equipo de esa clave. No cuenta como copia de aquel equipo, y no se restaura nada de ella a menos que usted la elija.',
      todo: 'Si el equipo ha pasado a usar esa clave, marque la alarma como revisada: no volverá a aparecer para ese nombre. Si no, elimine la clave, retírele el acceso al almacenamiento y vea qué guardó.',
    },
  },
  at: 'Detectada',
  facts: {
    folder: 'Carpeta',
    files_before: 'Archivos antes',
    files: 'Archivos ahora',
    unread: 'No se pudieron leer',
    rewritten: 'Reescritos',
    extension: 'Nueva extensión de los nombres',
    renamed: 'Archivos que la tienen',
    touched: 'Archivos creados, modificados o desaparecidos',
    usual: 'El máximo hasta ahora',
    host: 'Nombre del equipo',
    write_only_key: 'Clave de solo escritura',
    label: 'Denominación',
  },
  filled: 'Vuelve a haber archivos en él.',
  todo: 'Qué hacer',
  details: 'En palabras del agente',
  stored: 'Lo que esa clave guardó con ese nombre',
  storedNone: 'Ya no está.',
  before: 'Instantáneas anteriores a la alarma',
  beforeHint: 'La más reciente primero. Compárelas para encontrar la última sin el daño.',
  beforeMarked: 'La más reciente primero. La marcada es la última anterior al daño.',
  lastBefore: 'La última anterior al daño',
  beforeNone: 'No se conoce ninguna instantánea de este origen anterior a la alarma.',
  time: 'Fecha y hora',
  files: 'Archivos',
  size: 'Tamaño',
  actions: 'Acciones',
  look: 'Ver el contenido',
  acknowledge: (count) => (count === 1 ? 'Marcar como revisada…' : `Marcar las ${count} como revisadas…`),
  acknowledgeQuestion:
    'Con esto indica que todo está como debe estar. Las instantáneas anteriores podrán volver a eliminarse según las reglas de retención.',
  acknowledgeEmpty:
    'Un origen vacío puede seguir vacío: su próxima copia lo acepta tal como está, hasta que vuelva a haber archivos en él.',
  acknowledgeDo: 'Es lo que yo quería',
  acknowledged: 'Revisado. La retención sigue como de costumbre.',
};
