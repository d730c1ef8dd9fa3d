import { type Entry, getFileNameLowLevel } from 'yauzl'
import { parseName } from '../objects/index.ts'

/** Deeper folders are refused: no program makes them by itself. */
const MAX_DEPTH = 100
/** The extra field with the name in UTF-8. */
const UNICODE_PATH = 0x7075

/** The name of an entry as it is in the archive. Names without the UTF-8 flag are UTF-8 if they can be, which macOS relies on. */
export function nameOf({ generalPurposeBitFlag, fileNameRaw, extraFields }: Entry): string {
  const hasUnicodePath = extraFields.some(({ id }) => id === UNICODE_PATH)
  const utf8 = hasUnicodePath ? undefined : decodeUtf8(fileNameRaw)
  return utf8 ?? getFileNameLowLevel(generalPurposeBitFlag, fileNameRaw, extraFields, false).toWellFormed()
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * The path of an entry as names of a library; undefined if it is unsafe or cannot be stored: absolute, with `..`, with a drive letter, too
 * deep, or with characters that no name may have.
 */
export function segmentsOfEntry(name: string): string[] | undefined {
  // Some programs for Windows write backslashes.
  const path = name.replaceAll('\\', '/')
  if (path.startsWith('/') || /^[a-z]:/i.test(path)) return undefined
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  if (parts.length === 0 || parts.length > MAX_DEPTH) return undefined
  const segments = parts.map(parseName)
  return segments.every((segment) => segment !== undefined) ? segments : undefined
}
