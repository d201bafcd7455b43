import type { Texts } from '../english/english.ts';

export const firstRun: Texts['firstRun'] = {
  title: 'Proteger este equipo',
  notNow: 'Ahora no',
  stepsLabel: 'Pasos',
  steps: { what: 'Qué', where: 'Dónde', kit: 'Kit de recuperación', run: 'Primera copia' },
  what: {
    title: '¿Qué quiere proteger?',
    lead: 'Se copia todo lo que hay en las carpetas que elija, salvo las cachés y la papelera, y, desde entonces, todo lo que cambie en ellas.',
    legend: 'Carpetas',
    kinds: {
      home: 'Su carpeta personal',
      documents: 'Documentos',
      pictures: 'Imágenes',
      desktop: 'Escritorio',
      music: 'Música',
      videos: 'Vídeos',
      etc: 'Configuración del sistema',
      srv: 'Datos de servicios',
      www: 'Sitios web',
      own: 'Elegida por usted',
    },
    isWithin: 'ya está incluida',
    isProtected: 'ya está protegida',
    counting: 'contando…',
    waiting: 'se cuenta a continuación',
    size: (size, count, shown) => `${size} en ${count === 1 ? 'un archivo' : `${shown} archivos`}`,
    atLeast: (size) => `al menos ${size}`,
    unreadable: (count, shown) =>
      count === 1 ? 'hay un elemento que no se puede leer' : `hay ${shown} elementos que no se pueden leer`,
    uncounted: 'no se pudo contar',
    total: (size, isComplete) => (isComplete ? `Total: ${size}.` : `Total: al menos ${size}.`),
    add: 'Otra carpeta…',
    addTitle: '¿Qué carpeta quiere proteger?',
    nothing: 'Elija al menos una carpeta.',
    leftOut: 'Qué queda fuera, y por qué',
    leftOutLead:
      'Lo que se puede volver a generar o ya está en la papelera. Todo ello se puede cambiar en la configuración.',
    rules: {
      caches: [
        'Cachés',
        'los programas las vuelven a crear: .cache, Library/Caches, __pycache__, paquetes descargados como los de .npm y .cargo/registry, y carpetas con un archivo CACHEDIR.TAG',
      ],
      trash: ['Papelera', 'ya se había desechado: .Trash, .local/share/Trash, $RECYCLE.BIN'],
      system: ['Restos del sistema', 'nadie los necesita: .DS_Store, Thumbs.db, lost+found'],
      marked: [
        'Lo que usted marque',
        'carpetas con un archivo .nobackup, y lo que indique un archivo .holdfastignore',
      ],
    },
    found: (count, shown) =>
      count === 1 ? 'En este equipo es un archivo:' : `En este equipo son ${shown} archivos, entre ellos:`,
    reasons: {
      pattern: 'regla',
      ignore_file: 'archivo de exclusiones',
      cache: 'caché',
      if_present: 'marcado',
      larger_than: 'demasiado grande',
      other_file_system: 'otro sistema de archivos',
      never: 'propio de Holdfast',
    },
  },
  where: {
    title: '¿Dónde quiere guardar las copias?',
    lead: 'Elija un lugar que se salve si este equipo se avería, se lo roban o hay un incendio.',
    legend: 'Destino',
    here: 'En este equipo',
    hereNote: 'Disponible de inmediato. Permite recuperar lo que se borró o se sobrescribió.',
    present: 'Donde se guardan ahora las copias',
    elsewhere: 'En otro lugar',
    elsewhereNote: 'Otro disco, un servidor o la nube: un lugar que sobreviva a la pérdida de este equipo.',
    hereWarning:
      'Sus copias estarán en el mismo disco que sus archivos. Si el disco falla, se pierde todo. Añada más adelante un segundo destino.',
  },
  kit: {
    title: 'Guarde el kit de recuperación',
    lead: 'Las copias de seguridad están cifradas. Si se pierde este equipo, el kit es lo único que las abre. Guárdelo lejos del equipo: en papel o en un gestor de contraseñas.',
    leadOther:
      'Las copias de seguridad están cifradas. Este kit abre lo que este equipo guarde en lugares nuevos. Guárdelo lejos del equipo: en papel o en un gestor de contraseñas.',
    download: 'Descargar',
    print: 'Imprimir',
    confirm: 'Ya lo he guardado en otro lugar',
    confirmHint:
      'La hoja se elimina entonces de este equipo. El agente conserva lo que necesita para hacer copias, así que quien entre aquí en su cuenta podrá seguir leyéndolas.',
    later: 'Más tarde; recuérdemelo',
    saved: (when) =>
      when === null
        ? 'El kit está guardado en otro lugar.'
        : `El ${when} indicó que el kit está guardado en otro lugar.`,
    none: 'En este equipo no hay ningún kit: su repositorio se creó con una frase de contraseña elegida por usted.',
  },
  run: {
    title: 'La primera copia de seguridad',
    lead: 'Lee todo una vez y puede tardar un rato; las siguientes tardan segundos.',
    protects: 'Protege',
    to: 'Se guarda en',
    when: 'Cuándo',
    whenText: 'Cada 4 horas, y los cambios en cuestión de minutos',
    here: 'Este equipo',
    start: 'Empezar la primera copia',
    saving: 'Guardando la configuración…',
    under: 'La primera copia de seguridad está en marcha. Puede cerrar esta página: continúa por sí sola.',
    stuck:
      'Todavía no se ha completado. Corrija lo que se indica aquí e inténtelo de nuevo, o elija otro destino.',
    otherPlace: 'Destinos',
    waits: 'espera su turno',
    done: 'terminada',
    failed: 'no se completó',
    why: 'Ver por qué',
    again: 'Intentar de nuevo',
    ok: 'La primera copia de seguridad está hecha. De ahora en adelante se hacen automáticamente.',
    kitLeft: 'Queda una cosa: el kit de recuperación sigue estando solo en este equipo.',
    kitNow: 'Guardarlo ahora',
    toOverview: 'Ir al resumen',
    toRestore: 'Ver lo que se copió',
    toDestinations: 'Añadir un segundo destino',
  },
};
