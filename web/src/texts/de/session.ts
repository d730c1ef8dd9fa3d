import type { Texts } from '../en/index.ts'

export const session: Texts['session'] = {
  title: 'Anmelden',
  lead: 'Deine Dateien, in Bibliotheken mit Gedächtnis.',
  keep: 'Auf diesem Gerät angemeldet bleiben',
  signIn: 'Anmelden',
  wrong: 'Diese E-Mail und dieses Passwort gehören nicht zusammen.',
  disabled: 'Dieses Konto ist abgeschaltet. Frage deine Administratorin oder deinen Administrator.',
  tooOften: 'Zu viele Versuche. Warte einen Moment und versuche es noch einmal.',
}
