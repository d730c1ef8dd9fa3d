import type { AuditEntry } from '../api/index.ts'
import type { Formats } from '../texts/index.ts'

/** Names and values of details in the language of the reader. */
export interface DetailTexts {
  /** By key, see `SAME`. */
  readonly names: Readonly<Record<string, string>>
  readonly yes: string
  readonly no: string
  /** By key, then by value as stored. */
  readonly values: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** One line of the details of an entry. `key` is the stored one. */
interface DetailLine {
  readonly key: string
  readonly name: string
  readonly value: string
}

/** Keys with the name of another one. */
const SAME: Readonly<Record<string, string>> = {
  expires_at: 'expires',
  expiresAt: 'expires',
  group: 'groupName',
  repo_id: 'library',
}

/** Keys whose `false` is a change, not the absence of something. */
const SWITCHES = new Set(['active', 'isAdmin', 'listInAddressBook'])

/** Keys that nobody can read: numbers of rows, and what another line says already. */
const HIDDEN = new Set(['defaultLibraryKey', 'passwordAssigned', 'session', 'webhook'])

/** The details of an audit entry in words. Keys without a name are shown as they are stored, with spaces. */
export function detailLines(
  { action, detail: stored }: Pick<AuditEntry, 'action' | 'detail'>,
  texts: DetailTexts,
  formats: Pick<Formats, 'moment' | 'size'>,
): DetailLine[] {
  const detail = action.startsWith('share-') ? ofShare(stored) : stored
  return Object.entries(detail)
    .filter(([key, value]) => isShown(key, value, detail))
    .map(([key, value]) => ({ key, name: nameOf(key, texts), value: valueOf(key, value, texts, formats) }))
}

/** `to` is the kind of the recipient of a share. Beside an account or a group it says nothing. */
function ofShare({ to, ...rest }: AuditEntry['detail']): AuditEntry['detail'] {
  return to === 'everyone' ? { recipient: to, ...rest } : rest
}

function isShown(key: string, value: unknown, detail: Readonly<Record<string, unknown>>): boolean {
  if (value === null || value === '' || HIDDEN.has(key)) return false
  if (value === false) return SWITCHES.has(key)
  // An id says nothing beside a name.
  if (key === 'library') return !('name' in detail)
  if (key === 'group') return !('groupName' in detail)
  return true
}

function nameOf(key: string, { names }: DetailTexts): string {
  const known = SAME[key] ?? key
  return Object.hasOwn(names, known) ? (names[known] ?? key) : spaced(key)
}

function valueOf(
  key: string,
  value: unknown,
  { values, yes, no }: DetailTexts,
  formats: Pick<Formats, 'moment' | 'size'>,
): string {
  if (typeof value === 'boolean') return value ? yes : no
  if (typeof value === 'number') {
    if (key === 'quota') return formats.size(value)
    return SAME[key] === 'expires' ? formats.moment(value) : String(value)
  }
  if (typeof value !== 'string') return JSON.stringify(value)
  const words = values[key]
  return words !== undefined && Object.hasOwn(words, value) ? (words[value] ?? value) : value
}

/** `apiToken_name` as `api token name`. */
const spaced = (key: string) =>
  key.replaceAll('_', ' ').replaceAll(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
