import type { Texts } from '../en/index.ts'

export const photos: Texts['photos'] = {
  title: 'Fotos',
  count: (total, shown) => (total === 1 ? '1 Element' : `${shown} Elemente`),
  empty: 'Noch keine Fotos',
  emptyHint:
    'Fotos und Videos aus Ihren Bibliotheken erscheinen hier nach Aufnahmedatum. Verschlüsselte Bibliotheken sind nicht dabei.',
  dates: 'Zeitleiste',
  goTo: 'Zum Monat springen',
  backToPhotos: 'Zurück zu den Fotos',
  deleteTitle: (total, shown) => (total === 1 ? 'Dieses Element löschen?' : `${shown} Elemente löschen?`),
  deleteHint: 'Sie kommen in den Papierkorb ihrer Bibliotheken.',
}
