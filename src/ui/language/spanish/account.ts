import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';

export const account: Texts['account'] = {
  plan: 'Plan',
  planName: 'Plan',
  plans: { free_trial: 'Prueba gratuita', pro: 'Pro', business: 'Business' },
  planLimit: 'Límite para programas',
  perSpan: (count, span) => `${count} peticiones en ${span}`,
  limitNote: 'Las copias de seguridad no están limitadas. Las claves de los programas están en la página',
  partner: 'Servicio del proveedor',
  partnerWhat:
    'Alguien puede ocuparse por usted de las copias de este equipo: ver si funcionan y pedir que se haga una. No puede leer, restaurar ni borrar nada. Todo funciona también sin él.',
  enroll: 'Vincular este equipo…',
  service: 'Dirección del servicio',
  token: 'Token',
  tokenHint: 'Se lo da su proveedor. Sirve una sola vez, durante poco tiempo.',
  deviceName: 'Nombre de este equipo',
  deviceNameHint: 'El que ve su proveedor. Si no se indica, el nombre de host.',
  missing: 'Se lo da su proveedor.',
  enrollDo: 'Vincular',
  enrolling: 'Vinculando…',
  enrollFailed: 'El equipo no se ha vinculado.',
  enrollProblems: {
    address:
      'La dirección del servicio debe ser una dirección web que empiece por https://, sin nombre de usuario, contraseña ni consulta.',
    token:
      'El token no existe, ya se usó o ha caducado. Pida otro a su proveedor: cada uno sirve una sola vez, durante 15 minutos.',
    customer_suspended:
      'Su cuenta con el proveedor está suspendida. Pídale que la reactive; el token servirá entonces, dentro de sus 15 minutos.',
    partner_suspended: 'La cuenta de su proveedor en el servicio está suspendida. Pregunte a su proveedor.',
    plan_full:
      'Su plan no tiene sitio para otro dispositivo. Pida a su proveedor un plan mayor o que quite un dispositivo. El token se puede usar de nuevo.',
    unreachable:
      'No se puede contactar con el servicio. Revise la dirección y la red, e inténtelo de nuevo. Si entonces se rechaza el token, pida otro.',
    refused: 'El servicio rechazó la petición. Revise la dirección o inténtelo más tarde.',
    reply_invalid: 'En esta dirección no hay ningún servicio de proveedor.',
  },
  standing: 'Estado',
  standings: { active: 'Activo', suspended: 'Suspendido', trial_expired: 'Prueba terminada' },
  enrolledAt: 'Vinculado',
  lastReport: 'Último informe',
  waiting: 'Resultados aún sin enviar',
  planUntil: 'El plan vale hasta',
  graceUntil: 'Sin el servicio, hasta',
  device: 'Dispositivo',
  customer: 'Cliente',
  reportProblems: {
    device_removed:
      'Su proveedor ha quitado este equipo de su lista; ya no se le informa de nada. Para terminar también aquí, desvincule el equipo del servicio del proveedor.',
    partner_suspended:
      'La cuenta de su proveedor en el servicio está suspendida. Los informes esperan a que vuelva a estar activa.',
    unreachable: `No se puede contactar con el servicio. Los informes esperan hasta entonces. Esto indica por qué: ${holdfast`enroll --status`}`,
    refused: `El servicio no acepta los informes. Se sigue intentando. Esto indica por qué: ${holdfast`enroll --status`}`,
    reply_invalid: `Las respuestas del servicio no tienen sentido. Se sigue intentando. Esto dice más: ${holdfast`enroll --status`}`,
  },
  leave: 'Desvincular…',
  leaveQuestion:
    'Ya no se informa de nada, se descartan los resultados pendientes de enviar y pasa a valer el plan de la configuración. Sus copias de seguridad quedan como están. Su proveedor sigue teniendo el equipo en su lista hasta que lo quite de ella.',
  leaveDo: 'Desvincular del servicio del proveedor',
  learns: 'De qué se entera su proveedor',
  learnsWhat: 'De nada, mientras el equipo no esté vinculado. Después:',
  learnsList: [
    'una vez: el nombre del equipo, su sistema operativo y su procesador, la versión de Holdfast;',
    'de cada copia de seguridad y cada restauración: cómo terminó, cuándo, cuánto duró, el número de archivos y de bytes, el código del error;',
    'cada cuánto se espera una copia, cuánto hay guardado, e identificadores aleatorios de los repositorios y de sus instantáneas más recientes.',
  ],
  learnsNot:
    'Ninguna ruta, ningún nombre de archivo, origen o destino, ningún texto de error, ninguna frase de contraseña y ninguna clave.',
};

export const access: Texts['access'] = {
  what: 'Los programas usan la API de escritorio con una clave y un secreto propios.',
  docs: 'Leer cómo funciona',
  credentials: 'Claves',
  noneYet: 'Ningún programa tiene acceso. Cree una clave para cada uno que lo necesite.',
  neverUsed: 'nunca usada',
  used: (age) => `usada por última vez ${age}`,
  madeAt: (day) => `creada el ${day}`,
  create: 'Crear una clave',
  createDo: 'Crear',
  name: 'Para qué es',
  nameHint: 'Por ejemplo el nombre del programa: una clave para cada uno.',
  nameMissing: 'Indique para qué es.',
  made: 'Nuevas credenciales',
  madeFor: 'Credenciales para',
  once: 'El secreto solo se muestra ahora.',
  onceWhere: 'Póngalo donde el programa lo busca. Cuando salga de esta página, ya no estará.',
  key: 'Clave',
  secret: 'Secreto',
  tryIt: 'Probarlo',
  tryItWhat: 'Obtiene un token, que vale una hora, y consulta con él el estado.',
  kept: 'Ya lo he guardado',
  rotate: 'Nuevo secreto…',
  rotateQuestion:
    'El secreto actual y todos sus tokens dejan de valer de inmediato. El programa necesita el nuevo.',
  rotateDo: 'Darle un nuevo secreto',
  revoke: 'Revocar…',
  revokeQuestion: 'La clave y todos sus tokens dejan de valer de inmediato y para siempre.',
  revokeDo: 'Revocar la clave',
  limit: 'Peticiones de programas',
  limitWhat:
    'El plan limita la frecuencia con que los programas pueden consultar. Esta página y la línea de comandos no cuentan.',
  limitUsed: (used, limit, span) => `Usadas: ${used} de ${limit}, contadas a lo largo de ${span}.`,
  limitFree: (age) => `La siguiente vuelve a estar libre ${age}.`,
};

export const notifications: Texts['notifications'] = {
  about: 'A quién se avisa de los fallos, las alarmas y las copias que no se hicieron.',
  whenTitle: 'Cuando no ocurre nada',
  whenAbout:
    'El silencio no es buena señal: tras este número de días sin una copia correcta de un origen, se envía un aviso.',
  quietTitle: 'Horas de silencio',
  quietAbout:
    'Para los avisos que no son urgentes: una copia que vuelve a funcionar o a la que le faltan archivos, una restauración terminada. Los fallos y las alarmas se envían siempre al momento.',
  quietHint:
    'Se aplica a ntfy, al correo electrónico y al escritorio. Lo que espera se envía junto al final.',
  held: (count, shown, until) =>
    count === 1
      ? `Hay 1 aviso retenido hasta las ${until}.`
      : `Hay ${shown} avisos retenidos hasta las ${until}.`,
  channels: {
    desktop: {
      title: 'Escritorio',
      about: 'En el escritorio de la persona para la que funciona Holdfast, también con esta página cerrada.',
      use: 'Mostrar avisos en el escritorio',
    },
    ntfy: {
      title: 'ntfy',
      about: 'A su teléfono, mediante ntfy.sh o un servidor propio.',
      use: 'Enviar avisos mediante ntfy',
    },
    healthchecks: {
      title: 'healthchecks',
      about: 'Otro servicio se da cuenta si este equipo deja de dar señales: healthchecks.io o similar.',
      use: 'Avisar al principio y al final de cada copia, y cuando falle otra cosa',
    },
    email: {
      title: 'Correo electrónico',
      about: 'Mediante su servidor de correo.',
      use: 'Enviar avisos por correo electrónico',
    },
    webhook: {
      title: 'Webhook',
      about: 'Llama a una URL con cada aviso, en JSON, firmado si hay un secreto configurado.',
      use: 'Llamar a una URL',
    },
  },
  desktopStates: {
    service:
      'Holdfast funciona aquí como servicio del equipo y no tiene escritorio. Active en su lugar los avisos en este navegador.',
    away: 'Ahora no ha iniciado sesión en ningún escritorio. Los avisos aparecen cuando vuelva a iniciarla.',
    no_program:
      'Holdfast no encuentra ningún programa que muestre avisos en el escritorio. Instale notify-send, o active los avisos en este navegador.',
  },
  browser: {
    title: 'Navegador',
    about:
      'Mientras esta página esté abierta. Desde el menú del navegador se puede instalar como aplicación: tiene entonces su propia ventana, y su icono indica si algo va mal.',
    use: 'Mostrar avisos en este navegador',
    hint: 'Se aplica al momento, y solo a este navegador.',
    denied:
      'Este navegador bloquea los avisos de esta página. Permítalos en su configuración para esta página y vuelva a cargarla.',
    unsupported: 'Este navegador no puede mostrar avisos de esta página.',
    firstTitle: 'Los avisos están activados',
    firstBody: 'Este navegador le avisa cuando algo va mal y cuando las copias vuelven a funcionar.',
    closed: 'Hasta que vuelva a iniciar sesión, este navegador no le dirá nada de sus copias.',
  },
  tokenHint: 'Solo para los temas que lo necesiten.',
  portHint: '465: TLS desde el principio; si no, STARTTLS.',
  userHint: 'Vacío: sin iniciar sesión.',
  toHint: 'Uno en cada línea.',
  secretHint: 'Con él, quien recibe la llamada sabe que procede de aquí.',
  test: 'Enviar una prueba',
  testing: 'Enviando…',
  saveAndTest: 'Guardar y enviar una prueba',
  savedOnly: 'La prueba usa lo que está guardado.',
  sent: 'Enviado. Compruebe si ha llegado.',
  notSent: 'No se pudo enviar.',
};
