import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';

export const problems: Texts['problems'] = {
  OFFLINE: 'El agente no responde.',
  INTERNAL_ERROR: 'Algo falló en el agente. Los detalles están en su registro.',
  RATE_LIMIT_EXCEEDED: 'Se han hecho demasiadas peticiones. Espere un minuto e inténtelo de nuevo.',
  REVISION_MISMATCH:
    'Entretanto, la configuración se cambió en otro lugar. Vuelva a cargar la página y repita el cambio.',
  CONFIG_INVALID: 'El archivo de configuración tiene un error. Corríjalo primero en el equipo.',

  // Why a job failed.
  INVALID_SOURCE:
    'El origen no se puede copiar. Compruebe que existe y que el agente tiene permiso para leerlo.',
  'INVALID_SOURCE.unsupported_type':
    'Es una tubería o un dispositivo, y no contiene nada que copiar. Elija una carpeta o un archivo.',
  'INVALID_SOURCE.inside_repository':
    'En esta carpeta se guardan copias de seguridad, así que no se copia. Elija otra.',
  'INVALID_SOURCE.inside_state_directory':
    'En esta carpeta guarda Holdfast su propio estado, así que no se copia. Elija otra.',
  'INVALID_SOURCE.not_answering':
    'El servidor o el disco del origen no responde. Compruebe que funciona, o desmóntelo.',
  'INVALID_SOURCE.not_readable': 'Holdfast no tiene permiso para leer el origen. Déselo, o elija otro.',
  'INVALID_SOURCE.not_found': 'El origen no está. Revise la ruta, y monte su disco si está en uno.',
  INVALID_DESTINATION: 'El destino no existe o no se puede usar. Revíselo en la configuración.',
  INVALID_TARGET: 'En ese lugar no se puede restaurar nada. Elija otra carpeta.',
  SECRET_IN_URL:
    'Hay una contraseña escrita en una dirección. Indíquela mejor en la configuración del destino.',
  UNSUPPORTED_COMPRESSION: 'Este tipo de compresión no existe. Elija zstd, auto o none.',
  SNAPSHOT_NOT_FOUND: 'La instantánea ya no existe. Elija otra.',
  PATH_NOT_IN_SNAPSHOT:
    'Ese archivo o carpeta no está en la instantánea. Búsquelo por su nombre: los resultados indican qué instantáneas lo contienen.',
  QUOTA_EXCEEDED: 'El plan ya no tiene espacio para esto.',
  ENCRYPTION_REQUIRED: 'La configuración solo permite copias de seguridad cifradas. Repítala con cifrado.',
  REPOSITORY_LOCKED:
    'El repositorio está bloqueado: otro programa trabaja en él, o uno se interrumpió hace menos de cinco minutos. Espere un poco y vuelva a ejecutar la tarea.',
  DESTINATION_ERROR:
    'El destino no se puede usar tal como está. La tarea indica por qué; también puede probar el destino en la configuración.',
  'DESTINATION_ERROR.missing':
    'El repositorio ya no está. Conecte o monte el disco. Si se borró, añada otra carpeta como destino.',
  'DESTINATION_ERROR.empty':
    'La carpeta del destino está vacía. Si es un disco, móntelo. Si se borraron las copias, añada otra carpeta como destino.',
  'DESTINATION_ERROR.different':
    'En el destino hay un repositorio distinto del de antes. Conecte el disco correcto, o averigüe quién lo cambió.',
  'DESTINATION_ERROR.foreign':
    'En la carpeta del destino hay archivos de otro programa. Muévalos, o elija una carpeta vacía, por ejemplo una nueva dentro de ella.',
  'DESTINATION_ERROR.EROFS':
    'El destino es de solo lectura. Móntelo con escritura. Si ocurrió por sí solo, puede que el disco esté fallando.',
  'DESTINATION_ERROR.EACCES':
    'Holdfast no tiene permiso para escribir en el destino. Revise de quién es la carpeta y sus permisos.',
  DESTINATION_UNREACHABLE:
    'No se puede acceder al almacenamiento. Compruebe que está encendido, conectado y montado, y que la red funciona.',
  DESTINATION_AUTH_FAILED:
    'El almacenamiento no acepta el nombre, la contraseña o la clave. Corríjalos en la configuración del destino.',
  INSUFFICIENT_STORAGE:
    'Un disco está lleno. Libere espacio en el destino o en este equipo y vuelva a ejecutar la tarea.',
  JOB_INTERRUPTED:
    'Se interrumpió tres veces sin avanzar. Lea su registro y vuelva a ejecutar la tarea; a menudo se debe a falta de memoria.',
  HOOK_FAILED:
    'Falló un comando que se ejecuta antes o después de la tarea. Puede que a la copia le falte lo que genera, o que siga detenido lo que vuelve a iniciar. Corrija el comando.',
  'failed.HOOK_FAILED':
    'Falló el comando que se ejecuta antes de la tarea, y esta no empezó. El registro contiene lo que mostró. Corrija el comando.',
  SECRET_UNAVAILABLE:
    'El secreto del destino no está donde dice la configuración. Vuelva a ponerlo allí, o indique otro lugar.',
  SECRET_UNSAFE:
    'Otras personas pueden leer o cambiar el archivo con el secreto del destino; por eso no se usa. Haga que solo usted tenga acceso a él (chmod 600).',
  STATE_NOT_PRIVATE: `Otras personas pueden leer o cambiar archivos del agente que contienen claves; por eso no se usan. «${holdfast`doctor`}» indica cómo corregirlo.`,
  STATE_DAMAGED: `Un archivo del agente no contiene lo que debería. «${holdfast`doctor`}» indica cuál.`,
  DECRYPTION_FAILED:
    'Lo guardado no se puede abrir con la clave del repositorio. Revise el destino, y compruebe que es el correcto.',
  CORRUPT_DATA:
    'Lo guardado está dañado. Verifique todos los datos, compruebe el disco y haga otra copia: así se vuelve a guardar lo que falta.',
  WRONG_PASSPHRASE:
    'La frase de contraseña no abre el repositorio. Indique la correcta en la configuración del destino.',
  READ_ERROR: 'Algo no se pudo leer. Revise el disco, y si el agente tiene permiso para leerlo.',
  WRITE_ERROR:
    'Algo no se pudo escribir. Revise el disco, su espacio libre, y si el agente tiene permiso para escribir allí.',
  SOURCE_SUSPICIOUSLY_EMPTY:
    'El origen está vacío, y en la última copia no lo estaba. Si es un disco o una carpeta de red, móntelo; si debe estar así, marque la alarma como revisada.',
  'SOURCE_SUSPICIOUSLY_EMPTY.gone':
    'El origen ha desaparecido, y en la última copia tenía archivos. Si es un disco o una carpeta de red, móntelo. Si se borró, restáurelo o quite el origen.',

  // Why one file of a job was left out, or has a warning.
  EACCES:
    'El agente no tiene permiso para leerlo o escribirlo. Dé el permiso a su usuario, o exclúyalo con una regla.',
  EPERM:
    'El sistema no lo permite. En un Mac, dé al agente acceso total al disco (Ajustes del Sistema, Privacidad y seguridad). En otros sistemas, ejecútelo con más permisos, o exclúyalo con una regla.',
  ENOENT:
    'Desapareció durante la tarea. Es habitual en los archivos temporales; la próxima tarea vuelve a comprobarlo.',
  ENOTDIR: 'Lo que debería ser una carpeta no lo es. Mire qué hay en ese lugar.',
  EISDIR: 'Lo que debería ser un archivo es una carpeta. Mire qué hay en ese lugar.',
  EEXIST: 'Entretanto apareció algo con ese nombre. Vuelva a ejecutar la tarea.',
  ENOTEMPTY: 'Una carpeta que no está vacía ocupa su lugar. Elija otro lugar para restaurar, o muévala.',
  ELOOP: 'Los enlaces forman un círculo, o están donde no se permite seguirlos. Mire adónde apuntan.',
  ENAMETOOLONG:
    'Su ruta es más larga de lo que el sistema admite. Elija una más corta, o una carpeta de nivel superior.',
  EIO: 'El disco informa de un error. Compruébelo pronto, y conserve las instantáneas que tiene.',
  ENXIO: 'El dispositivo correspondiente no está. Conéctelo, o excluya el archivo con una regla.',
  ENODEV: 'El dispositivo correspondiente no está. Conéctelo, o excluya el archivo con una regla.',
  EBUSY: 'Otro programa lo está usando. Cierre ese programa; la próxima tarea vuelve a comprobarlo.',
  ETXTBSY:
    'Un programa se ejecuta desde él, así que no se puede reemplazar. Cierre ese programa y vuelva a restaurar.',
  EROFS: 'El sistema de archivos es de solo lectura. Móntelo con permiso de escritura, o elija otro lugar.',
  ENOSPC: 'El disco está lleno. Libere espacio y vuelva a ejecutar la tarea.',
  EDQUOT: 'Su cuota de disco está agotada. Libere espacio y vuelva a ejecutar la tarea.',
  EFBIG:
    'El archivo es más grande de lo que admite el lugar elegido. Elija uno con otro sistema de archivos.',
  EMFILE: 'Hay demasiados archivos abiertos. Vuelva a ejecutar la tarea cuando haya menos actividad.',
  EMLINK:
    'El lugar elegido no admite más nombres para un mismo archivo. Elija uno con otro sistema de archivos.',
  EXDEV: 'Sus nombres están en sistemas de archivos distintos. Restaure en otro lugar.',
  EINVAL:
    'El sistema lo rechaza; puede que su sistema de archivos no admita nombres o propiedades de este tipo.',
  ENOTSUP: 'El sistema de archivos del lugar elegido no admite archivos de este tipo.',
  EOPNOTSUPP: 'El sistema de archivos del lugar elegido no admite archivos de este tipo.',
  ESTALE: 'La carpeta de red lo ha perdido. Vuelva a montar la carpeta de red.',
  ETIMEDOUT: 'La carpeta de red no respondió a tiempo. Revise la conexión.',
  CHANGED:
    'Cambió mientras se leía. La instantánea contiene lo que se leyó; la próxima copia lo vuelve a incluir.',
  TOO_DEEP: 'Sus carpetas están anidadas a demasiada profundidad. Muévalo a un nivel superior.',
  IN_THE_WAY:
    'Hay otra cosa en su lugar, y la restauración no debía reemplazarla. Restaure en otra carpeta, o permita reemplazar.',
  SAME_NAME:
    'En el lugar elegido, su nombre y el de otro archivo vecino se consideran el mismo. Restáurelo donde haya otro sistema de archivos.',
  IMPOSSIBLE_NAME:
    'Este sistema no admite un archivo con ese nombre. Restáurelo en el sistema del que procede.',
  LINK_FAILED:
    'Es otro nombre de un archivo que no se pudo restaurar. Corrija lo que le ocurre a ese archivo.',
  OTHER_FILE_SYSTEM: 'Debajo hay otro disco montado, así que no se tocó. Desmonte primero ese disco.',
  LIMIT_EXCEEDED:
    'Tiene más partes de las que puede tener un archivo o una carpeta. Le rogamos que informe de ello.',
  DIFFERENT: 'Tras la restauración no era igual que en la instantánea. Verifique todos los datos.',
  ERROR: 'Algo que las instantáneas necesitan está dañado. Haga otra copia, y compruebe el disco.',
  WARNING: 'Algo no está como debería, pero por ello no le falta nada a ninguna instantánea.',
  'restore.CHANGED':
    'Algo lo modificó durante la restauración. Restáurelo otra vez cuando nada escriba allí.',
  'restore.CORRUPT_DATA':
    'Su contenido guardado está dañado. Pruebe con una instantánea anterior, o con una de otro destino.',
  'restore.EACCES':
    'El agente no tiene permiso para escribir allí. Elija un lugar que sea suyo, o restaure como root.',
  'restore.EPERM': 'El sistema no lo permite allí. Elija otro lugar, o restaure como root.',
  'drill.ENOENT': 'No estaba tras la restauración. Verifique todos los datos.',
  'drill.CORRUPT_DATA': 'Su contenido guardado está dañado. Verifique todos los datos y haga otra copia.',
};
