import type { DeadProperty } from '../../libraries/attributes/index.ts'
import { httpDate } from '../../platform/http/index.ts'

/** The namespace of the properties that Windows sets after a file was stored. */
const WINDOWS = 'urn:schemas-microsoft-com:'

/** The name of a property with its namespace. */
interface PropertyName {
  readonly namespace: string
  readonly name: string
}

/** Whether a property is the modification time as Windows or ownCloud clients set it. It is not stored: the item gets the time. */
export function isModificationTime(property: PropertyName): boolean {
  const { namespace, name } = property
  return (namespace === WINDOWS && name === 'Win32LastModifiedTime') || isUnixTime(property)
}

/** Whether a property is the modification time in Unix seconds, as clients of ownCloud set it. */
export function isUnixTime({ namespace, name }: PropertyName): boolean {
  return namespace === 'DAV:' && name === 'lastmodified'
}

/** Whether a property says when an item was created. Clients may set it. */
export function isCreationTime({ namespace, name }: PropertyName): boolean {
  return namespace === 'DAV:'
    ? name === 'creationdate'
    : namespace === WINDOWS && name === 'Win32CreationTime'
}

/** The modification time in the form in which the property is set. */
export function modificationTimeText(property: PropertyName, mtime: number): string {
  return isUnixTime(property) ? String(mtime) : httpDate(mtime)
}

/** The time that a client sets, in Unix seconds; undefined if it cannot be read. */
export function parseModificationTime(property: PropertyName, text: string): number | undefined {
  const [, seconds] = isUnixTime(property) ? (/^\s*(\d{1,12})(?:\.\d+)?\s*$/.exec(text) ?? []) : []
  return seconds === undefined ? parseTime(text) : Number(seconds)
}

/** The time that a client stored as the creation time. Unix seconds. */
export function storedCreationTime(properties: readonly DeadProperty[]): number | undefined {
  const found = properties.findLast(isCreationTime)
  return found && parseTime(/>([^<]*)</.exec(found.xml)?.[1] ?? '')
}

/** Unix seconds of an HTTP date or of an ISO 8601 date with its offset; undefined for any other text. */
function parseTime(text: string): number | undefined {
  const trimmed = text.trim()
  const isKnown =
    /^[A-Za-z]{3}, \d{2} [A-Za-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(trimmed) ||
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(trimmed)
  const ms = isKnown ? Date.parse(trimmed) : Number.NaN
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}
