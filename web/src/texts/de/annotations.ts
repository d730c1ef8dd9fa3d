import type { Texts } from '../en/index.ts'

export const annotations: Texts['annotations'] = {
  tags: 'Tags',
  addTag: 'Tag hinzufügen',
  addShort: 'Hinzufügen',
  removeTag: (name) => `Tag ${name} entfernen`,
  comments: 'Kommentare',
  none: 'Noch keine Kommentare',
  add: 'Kommentar hinzufügen',
  placeholder: 'Kommentar schreiben. Mit @ erwähnst du jemanden.',
  send: 'Kommentieren',
  edit: 'Bearbeiten',
  editing: 'Kommentar bearbeiten',
  edited: 'bearbeitet',
  resolve: 'Als erledigt markieren',
  reopen: 'Wieder öffnen',
  resolved: 'Erledigt',
  showResolved: (count) =>
    count === 1 ? '1 erledigten Kommentar anzeigen' : `${count} erledigte Kommentare anzeigen`,
  hideResolved: 'Erledigte Kommentare ausblenden',
  people: 'Personen zum Erwähnen',
  actions: (name) => `Aktionen für den Kommentar von ${name}`,
}
