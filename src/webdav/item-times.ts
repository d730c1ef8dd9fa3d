import { httpDate } from '../http/index.ts'
import type { DeadProperty } from '../library/index.ts'

/** The namespace of the properties that Windows sets after a file was stored. */
const WINDOWS = 'urn:schemas-microsoft-com:'

/** The name of a property with its namespace. */
interface PropertyName {
  readonly namespace: string
  readonly name: string
}

/** Whether a property is the modification time as Windows sets it. It is not stored: the item gets the time. */
export function isModificationTime({ namespace, name }: PropertyName): boolean {
  return namespace === WINDOWS && name === 'Win32LastModifiedTime'
}

/** Whether a property says when an item was created. Clients may set it. */
export function isCreationTime({ namespace, name }: PropertyName): boolean {
  return namespace === 'DAV:'
    ? name === 'creationdate'
    : namespace === WINDOWS && name === 'Win32CreationTime'
}

/** The modification time as Windows reads it. */
export function modificationTimeXml(mtime: number): string {
  return `<Win32LastModifiedTime xmlns="${WINDOWS}">${httpDate(mtime)}</Win32LastModifiedTime>`
}

/** The time that a client stored as the creation time. Unix seconds. */
export function storedCreationTime(properties: readonly DeadProperty[]): number | undefined {
  const found = properties.findLast(isCreationTime)
  return found && parseTime(/>([^<]*)</.exec(found.xml)?.[1] ?? '')
}

/** Unix seconds of an HTTP date or of an ISO 8601 date with its offset; undefined for any other text. */
export function parseTime(text: string): number | undefined {
  const trimmed = text.trim()
  const isKnown =
    /^[A-Za-z]{3}, \d{2} [A-Za-z]{3} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(trimmed) ||
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:Z|[+-]\d{2}:\d{2})$/.test(trimmed)
  const ms = isKnown ? Date.parse(trimmed) : Number.NaN
  return Number.isNaN(ms) || ms < 0 ? undefined : Math.floor(ms / 1000)
}
