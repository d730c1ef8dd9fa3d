import { onSessionChange, type Selected, token } from '../api/index.ts'

/** Entries that were copied or cut, to be pasted in any tab of this browser. */
export interface ClippedEntries {
  /** On the system clipboard, too. Once something else is copied there, these entries are no longer pasted. */
  readonly id: string
  readonly operation: 'copy' | 'move'
  readonly selected: Selected
}

/** Type of the id on the system clipboard. */
export const CLIPPED_TYPE = 'application/x-carrel-clipboard'

const KEY = 'carrel.clipboard'
const listeners = new Set<() => void>()
let stored: string | null | undefined
let current: ClippedEntries | undefined

/** The entries copied or cut last. The same object until they change. */
export function clippedEntries(): ClippedEntries | undefined {
  // Undefined: the browser refused to store so many names, so they are known to this tab only.
  if (stored === undefined && current !== undefined) return current
  const text = localStorage.getItem(KEY)
  if (text !== stored) {
    stored = text
    current = parseClipped(text)
  }
  return current
}

export function setClipped(clipped: ClippedEntries | undefined): void {
  current = clipped
  if (clipped === undefined) {
    stored = null
    localStorage.removeItem(KEY)
  } else {
    const text = JSON.stringify(clipped)
    try {
      localStorage.setItem(KEY, text)
      stored = text
    } catch {
      localStorage.removeItem(KEY)
      stored = undefined
    }
  }
  tell()
}

export function onClipped(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Undefined if the text was not written by this version of the app. */
export function parseClipped(text: string | null): ClippedEntries | undefined {
  try {
    const { id, operation, selected }: Partial<Record<keyof ClippedEntries, unknown>> = Object(
      JSON.parse(text ?? 'null'),
    )
    const { libraryId, folder, names }: Partial<Record<keyof Selected, unknown>> = Object(selected)
    if (typeof id !== 'string' || (operation !== 'copy' && operation !== 'move')) return undefined
    if (typeof libraryId !== 'string' || typeof folder !== 'string' || !Array.isArray(names)) return undefined
    if (names.length === 0 || !names.every((name) => typeof name === 'string')) return undefined
    return { id, operation, selected: { libraryId, folder, names } }
  } catch {
    return undefined
  }
}

function tell(): void {
  for (const listener of listeners) listener()
}

addEventListener('storage', ({ key }) => {
  if (key !== KEY && key !== null) return
  // Another tab has copied something later.
  stored = null
  current = undefined
  tell()
})

// The next user of this browser must not see the names.
onSessionChange(() => {
  if (token() === undefined) setClipped(undefined)
})
