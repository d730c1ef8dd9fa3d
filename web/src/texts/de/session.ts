import type { Texts } from '../en/index.ts'

export const session: Texts['session'] = {
  title: 'Anmelden',
  lead: 'Deine Dateien, mit allen Versionen.',
  keep: 'Auf diesem Gerät angemeldet bleiben',
  signIn: 'Anmelden',
  wrong: 'E-Mail oder Passwort ist falsch.',
  disabled: 'Dieses Konto ist deaktiviert. Wende dich an die Administration.',
  tooOften: 'Zu viele Versuche. Warte einen Moment und versuche es erneut.',
}
