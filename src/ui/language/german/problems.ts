import { holdfast } from '../../agent/program.ts';
import type { Texts } from '../english/english.ts';

export const problems: Texts['problems'] = {
  OFFLINE: 'Der Agent antwortet nicht.',
  INTERNAL_ERROR: 'Im Agenten ist etwas schiefgegangen. Näheres steht in seinem Protokoll.',
  RATE_LIMIT_EXCEEDED: 'Zu viele Anfragen. Warten Sie eine Minute, und versuchen Sie es noch einmal.',
  REVISION_MISMATCH:
    'Die Einstellungen wurden inzwischen anderswo geändert. Laden Sie die Seite neu, und ändern Sie noch einmal.',
  CONFIG_INVALID: 'Die Konfigurationsdatei hat einen Fehler. Beheben Sie ihn erst auf dem Rechner.',

  // Why a job failed.
  INVALID_SOURCE:
    'Die Quelle lässt sich nicht sichern. Sehen Sie nach, ob sie da ist und der Agent sie lesen darf.',
  'INVALID_SOURCE.unsupported_type':
    'Das ist eine Pipe oder ein Gerät und enthält nichts, was sich sichern ließe. Wählen Sie einen Ordner oder eine Datei.',
  'INVALID_SOURCE.inside_repository':
    'In diesem Ordner liegen Sicherungen, daher wird er nicht gesichert. Wählen Sie einen anderen.',
  'INVALID_SOURCE.inside_state_directory':
    'In diesem Ordner hält Holdfast seinen eigenen Zustand, daher wird er nicht gesichert. Wählen Sie einen anderen.',
  'INVALID_SOURCE.not_answering':
    'Der Server oder die Platte der Quelle antwortet nicht. Sehen Sie nach, ob er läuft, oder hängen Sie sie aus.',
  'INVALID_SOURCE.not_readable':
    'Holdfast darf die Quelle nicht lesen. Geben Sie ihm das Recht dazu, oder wählen Sie eine andere.',
  'INVALID_SOURCE.not_found':
    'Die Quelle ist nicht da. Prüfen Sie den Pfad, und hängen Sie ihre Platte ein, wenn sie auf einer liegt.',
  INVALID_DESTINATION:
    'Das Ziel ist unbekannt oder lässt sich nicht nutzen. Sehen Sie es in den Einstellungen an.',
  INVALID_TARGET: 'Dorthin lässt sich nichts wiederherstellen. Wählen Sie ein anderes Verzeichnis.',
  SECRET_IN_URL:
    'In einer Adresse steht ein Passwort. Tragen Sie es stattdessen in den Einstellungen des Ziels ein.',
  UNSUPPORTED_COMPRESSION: 'Diese Kompression ist unbekannt. Wählen Sie zstd, auto oder none.',
  SNAPSHOT_NOT_FOUND: 'Den Stand gibt es nicht mehr. Wählen Sie einen anderen.',
  PATH_NOT_IN_SNAPSHOT:
    'Diese Datei oder dieses Verzeichnis ist nicht in diesem Stand. Suchen Sie nach dem Namen: Die Treffer nennen die Stände, die sie haben.',
  QUOTA_EXCEEDED: 'Der Tarif hat dafür keinen Platz mehr.',
  ENCRYPTION_REQUIRED:
    'Die Einstellungen erlauben nur verschlüsselte Sicherungen. Sichern Sie mit Verschlüsselung.',
  REPOSITORY_LOCKED:
    'Das Repository ist gesperrt: Ein anderes Programm arbeitet daran, oder eines wurde vor weniger als fünf Minuten abgebrochen. Warten Sie ein wenig, und führen Sie den Auftrag noch einmal aus.',
  DESTINATION_ERROR:
    'Das Ziel ist so nicht zu gebrauchen. Der Auftrag sagt, warum, und die Probe des Ziels in den Einstellungen auch.',
  'DESTINATION_ERROR.missing':
    'Das Repository ist nicht mehr da. Schließen Sie die Platte an. Wurde es gelöscht, richten Sie einen anderen Ordner als Ziel ein.',
  'DESTINATION_ERROR.empty':
    'Der Ordner des Ziels ist leer. Ist es eine Platte, hängen Sie sie ein. Wurden die Sicherungen gelöscht, richten Sie einen anderen Ordner als Ziel ein.',
  'DESTINATION_ERROR.different':
    'Am Ziel liegt ein anderes Repository als zuvor. Schließen Sie die richtige Platte an, oder finden Sie heraus, wer es ausgetauscht hat.',
  'DESTINATION_ERROR.foreign':
    'Im Ordner des Ziels liegen Dateien eines anderen Programms. Verschieben Sie sie, oder wählen Sie einen leeren Ordner, etwa einen neuen darunter.',
  'DESTINATION_ERROR.EROFS':
    'Am Ziel darf nur gelesen werden. Hängen Sie es zum Schreiben ein. Kam das von selbst, ist die Platte vielleicht am Ende.',
  'DESTINATION_ERROR.EACCES':
    'Holdfast darf am Ziel nicht schreiben. Sehen Sie nach, wem der Ordner gehört und wer darin schreiben darf.',
  DESTINATION_UNREACHABLE:
    'Der Speicher ist nicht zu erreichen. Sehen Sie nach, ob er an, angeschlossen und eingehängt ist und das Netz geht.',
  DESTINATION_AUTH_FAILED:
    'Der Speicher nimmt Name, Passwort oder Schlüssel nicht an. Berichtigen Sie sie in den Einstellungen des Ziels.',
  INSUFFICIENT_STORAGE:
    'Eine Platte ist voll. Schaffen Sie Platz am Ziel oder auf diesem Rechner, und führen Sie den Auftrag noch einmal aus.',
  JOB_INTERRUPTED:
    'Die Arbeit brach dreimal hintereinander ab, ohne weiterzukommen. Lesen Sie ihr Protokoll, und führen Sie den Auftrag noch einmal aus; oft fehlte Arbeitsspeicher.',
  HOOK_FAILED:
    'Ein Befehl, der laut Einstellungen vorher oder nachher läuft, ist gescheitert. Der Sicherung fehlt vielleicht, was er erzeugt, oder was er wieder startet, steht noch. Berichtigen Sie den Befehl.',
  'failed.HOOK_FAILED':
    'Der Befehl, der laut Einstellungen vorher läuft, ist gescheitert, und der Auftrag begann nicht. Was der Befehl ausgab, steht im Protokoll. Berichtigen Sie den Befehl.',
  SECRET_UNAVAILABLE:
    'Das Geheimnis des Ziels liegt nicht dort, wo die Einstellungen sagen. Legen Sie es zurück, oder nennen Sie einen anderen Ort.',
  SECRET_UNSAFE:
    'Andere können die Datei mit dem Geheimnis des Ziels lesen oder ändern; deshalb wird sie nicht benutzt. Machen Sie sie zu Ihrer allein (chmod 600).',
  STATE_NOT_PRIVATE: `Andere können Dateien des Agenten mit Schlüsseln lesen oder ändern; deshalb werden sie nicht benutzt. „${holdfast`doctor`}“ sagt, was hilft.`,
  STATE_DAMAGED: `Eine Datei von Holdfast selbst ist beschädigt. „${holdfast`doctor`}“ sagt, welche.`,
  DECRYPTION_FAILED:
    'Die gespeicherten Daten lassen sich mit dem Schlüssel dieses Repositorys nicht entschlüsseln. Prüfen Sie, ob es das richtige Ziel ist.',
  CORRUPT_DATA:
    'Gespeicherte Daten sind beschädigt. Prüfen Sie alle Daten und die Platte. Sichern Sie dann noch einmal: Was fehlt, wird dabei neu gespeichert.',
  WRONG_PASSPHRASE:
    'Die Passphrase öffnet das Repository nicht. Tragen Sie die richtige in den Einstellungen des Ziels ein.',
  READ_ERROR: 'Etwas war nicht zu lesen. Prüfen Sie die Platte, und ob der Agent dort lesen darf.',
  WRITE_ERROR:
    'Etwas war nicht zu schreiben. Prüfen Sie die Platte, ihren freien Platz, und ob der Agent dort schreiben darf.',
  SOURCE_SUSPICIOUSLY_EMPTY:
    'Die Quelle ist leer und war es bei der letzten Sicherung nicht. Ist es eine Platte oder Freigabe, hängen Sie sie ein; soll es so sein, bestätigen Sie den Alarm.',
  'SOURCE_SUSPICIOUSLY_EMPTY.gone':
    'Die Quelle ist verschwunden und hatte bei der letzten Sicherung noch Dateien. Ist es eine Platte oder Freigabe, hängen Sie sie ein. Wurde sie gelöscht, stellen Sie sie wieder her, oder entfernen Sie die Quelle.',

  // Why one file of a job was left out, or has a warning.
  EACCES:
    'Holdfast hat für diese Datei keine Berechtigung. Erteilen Sie sie, oder nehmen Sie die Datei durch eine Regel aus.',
  EPERM:
    'Das System erlaubt es nicht. Geben Sie dem Agenten auf einem Mac den Festplattenvollzugriff (Systemeinstellungen, Datenschutz & Sicherheit), sonst mehr Rechte, oder nehmen Sie es durch eine Regel aus.',
  ENOENT:
    'Es verschwand, während der Auftrag lief. Bei vorübergehenden Dateien ist das üblich; der nächste Auftrag sieht wieder nach.',
  ENOTDIR: 'Das sollte ein Ordner sein, ist aber keiner. Sehen Sie nach, was dort steht.',
  EISDIR: 'Das sollte eine Datei sein, ist aber ein Ordner. Sehen Sie nach, was dort steht.',
  EEXIST: 'Inzwischen kam etwas mit diesem Namen. Führen Sie den Auftrag noch einmal aus.',
  ENOTEMPTY:
    'An seiner Stelle steht ein Verzeichnis, das nicht leer ist. Wählen Sie ein anderes Ziel, oder räumen Sie es weg.',
  ELOOP:
    'Verweise führen im Kreis oder stehen, wo keinem gefolgt werden darf. Sehen Sie nach, wohin sie führen.',
  ENAMETOOLONG:
    'Sein Pfad ist länger, als das System zulässt. Wählen Sie einen kürzeren oder ein Ziel weiter oben.',
  EIO: 'Die Platte meldet einen Fehler. Prüfen Sie sie bald, und behalten Sie die vorhandenen Stände.',
  ENXIO:
    'Das Gerät dahinter ist nicht da. Schließen Sie es an, oder nehmen Sie die Datei durch eine Regel aus.',
  ENODEV:
    'Das Gerät dahinter ist nicht da. Schließen Sie es an, oder nehmen Sie die Datei durch eine Regel aus.',
  EBUSY: 'Ein anderes Programm hält es fest. Schließen Sie dieses; der nächste Auftrag sieht wieder nach.',
  ETXTBSY:
    'Ein Programm läuft daraus; deshalb lässt es sich nicht ersetzen. Beenden Sie es, und stellen Sie noch einmal wieder her.',
  EROFS:
    'Das Dateisystem ist nur zum Lesen da. Hängen Sie es zum Schreiben ein, oder wählen Sie ein anderes Ziel.',
  ENOSPC: 'Die Platte ist voll. Schaffen Sie Platz, und führen Sie den Auftrag noch einmal aus.',
  EDQUOT:
    'Ihr Anteil an der Platte ist aufgebraucht. Schaffen Sie Platz, und führen Sie den Auftrag noch einmal aus.',
  EFBIG: 'Die Datei ist größer, als das Ziel zulässt. Wählen Sie ein Ziel mit einem anderen Dateisystem.',
  EMFILE: 'Zu viele Dateien sind offen. Führen Sie den Auftrag noch einmal aus, wenn weniger los ist.',
  EMLINK:
    'Das Ziel erlaubt nicht mehr Namen für eine Datei. Wählen Sie ein Ziel mit einem anderen Dateisystem.',
  EXDEV: 'Die Namen dieser Datei liegen auf verschiedenen Dateisystemen. Wählen Sie ein anderes Ziel.',
  EINVAL: 'Das System lehnt es ab; vielleicht kennt sein Dateisystem solche Namen oder Eigenschaften nicht.',
  ENOTSUP: 'Das Dateisystem des Ziels kennt Dateien dieser Art nicht.',
  EOPNOTSUPP: 'Das Dateisystem des Ziels kennt Dateien dieser Art nicht.',
  ESTALE: 'Die Freigabe im Netz hat es verloren. Hängen Sie die Freigabe neu ein.',
  ETIMEDOUT: 'Die Freigabe im Netz antwortete nicht rechtzeitig. Prüfen Sie die Verbindung.',
  CHANGED:
    'Sie wurde geändert, während sie gelesen wurde. Gesichert ist, was gelesen wurde; die nächste Sicherung nimmt sie noch einmal.',
  TOO_DEEP: 'Seine Verzeichnisse sind zu tief geschachtelt. Legen Sie es weiter nach oben.',
  IN_THE_WAY:
    'Etwas anderes steht an seiner Stelle und sollte nicht ersetzt werden. Wählen Sie ein anderes Verzeichnis, oder erlauben Sie das Ersetzen.',
  SAME_NAME:
    'Am Ziel gilt der Name als derselbe wie ein anderer daneben. Wählen Sie ein Ziel mit einem anderen Dateisystem.',
  IMPOSSIBLE_NAME:
    'Dieses System kann keine Datei mit diesem Namen haben. Stellen Sie sie auf dem System wieder her, von dem sie kommt.',
  LINK_FAILED: 'Es ist ein weiterer Name einer Datei, die nicht zurückkam. Beheben Sie, was mit dieser ist.',
  OTHER_FILE_SYSTEM:
    'Darunter ist eine andere Platte eingehängt; deshalb blieb es unberührt. Hängen Sie diese erst aus.',
  LIMIT_EXCEEDED: 'Es hat mehr Teile, als eine Datei oder ein Verzeichnis haben darf. Bitte melden Sie das.',
  DIFFERENT: 'Nach dem Wiederherstellen war sie nicht so, wie sie gesichert ist. Prüfen Sie alle Daten.',
  ERROR: 'Etwas, das Stände brauchen, ist beschädigt. Sichern Sie noch einmal, und prüfen Sie die Platte.',
  WARNING: 'Etwas stimmt nicht, aber keinem Stand fehlt deshalb etwas.',
  'restore.CHANGED':
    'Etwas anderes änderte sie während der Wiederherstellung. Stellen Sie sie noch einmal wieder her, wenn dort nichts schreibt.',
  'restore.CORRUPT_DATA':
    'Die gespeicherte Kopie ist beschädigt. Versuchen Sie einen älteren Stand oder einen an einem anderen Ziel.',
  'restore.EACCES':
    'Der Agent darf dort nicht schreiben. Wählen Sie ein Ziel, das Ihnen gehört, oder stellen Sie als root wieder her.',
  'restore.EPERM':
    'Das System erlaubt es dort nicht. Wählen Sie ein anderes Ziel, oder stellen Sie als root wieder her.',
  'drill.ENOENT': 'Nach dem Wiederherstellen war sie nicht da. Prüfen Sie alle Daten.',
  'drill.CORRUPT_DATA':
    'Die gespeicherte Kopie ist beschädigt. Prüfen Sie alle Daten, und sichern Sie noch einmal.',
};
