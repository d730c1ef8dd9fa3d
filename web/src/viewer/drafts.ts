import limits from '../offline-limits.json' with { type: 'json' }
import type { TextForm } from '../text-content.ts'

/** Unsaved text of a file. */
export interface Draft {
  /** Id of the content the text was based on. */
  readonly id: string
  readonly text: string
  /** How the file is encoded, so that the text can be saved without its former content. */
  readonly form: TextForm
  /** Whether the user has saved while the server could not be reached. */
  readonly isSaveWanted: boolean
}

/** The file of a draft. Drafts belong to an account: another one that signs in after a session has expired sees nothing of them. */
export interface DraftPlace {
  readonly account: string
  readonly libraryId: string
  readonly path: string
}

/** A draft that is kept on the device. */
export interface StoredDraft extends DraftPlace {
  /** As the browser stores it: two for each UTF-16 unit. */
  readonly bytes: number
  /** Unix milliseconds. */
  readonly changed: number
  readonly isSaveWanted: boolean
}

const PREFIX = 'carrel.draft'

/** Drafts of encrypted libraries and of sessions that end with the tab, and those that are too large. */
const inMemory = new Map<string, Draft>()

const keyOf = ({ account, libraryId, path }: DraftPlace) => [PREFIX, account, libraryId, path].join('\n')
const bytesOf = (key: string, value: string) => 2 * (key.length + value.length)

/**
 * Keeps a draft on the device, or in the memory of the page if it may not be stored or is too large. Returns whether it is on the device. The oldest
 * drafts are evicted, down to the limits. localStorage is written at once, also by a page that is closed.
 */
export function saveDraft(
  place: DraftPlace,
  draft: Draft,
  { mayStore = true, now = Date.now() } = {},
): boolean {
  const key = keyOf(place)
  const value = JSON.stringify({ ...draft, changed: now })
  const isStored = mayStore && bytesOf(key, value) <= limits.draftBytes && store(key, value)
  if (isStored) inMemory.delete(key)
  else {
    inMemory.set(key, draft)
    // An older text must not be restored as the last one.
    localStorage.removeItem(key)
  }
  return isStored
}

function store(key: string, value: string): boolean {
  const others = storedKeys()
    .filter((one) => one !== key)
    .map((one) => ({ key: one, ...factsOf(one) }))
    .sort((a, b) => a.changed - b.changed)
  let bytes = others.reduce((sum, one) => sum + one.bytes, bytesOf(key, value))
  for (const [index, oldest] of others.entries()) {
    if (others.length - index < limits.drafts && bytes <= limits.allDraftsBytes) break
    localStorage.removeItem(oldest.key)
    bytes -= oldest.bytes
  }
  try {
    localStorage.setItem(key, value)
    return true
  } catch {
    // The browser has no room.
    return false
  }
}

export function findDraft(place: DraftPlace | undefined): Draft | undefined {
  if (place === undefined) return undefined
  const key = keyOf(place)
  return inMemory.get(key) ?? parse(localStorage.getItem(key))
}

export function deleteDraft(place: DraftPlace | undefined): void {
  if (place === undefined) return
  inMemory.delete(keyOf(place))
  localStorage.removeItem(keyOf(place))
}

/** The drafts of an account that are on the device, the latest first. */
export function listDrafts(account: string): StoredDraft[] {
  return storedKeys()
    .map((key) => {
      const [, owner = '', libraryId = '', ...path] = key.split('\n')
      return { account: owner, libraryId, path: path.join('\n'), ...factsOf(key) }
    })
    .filter((one) => one.account === account)
    .sort((a, b) => b.changed - a.changed)
}

/** Whether a draft waits for the server to be saved. */
export const hasWantedDrafts = () => storedKeys().some((key) => factsOf(key).isSaveWanted)

/** At sign-out. */
export function clearDrafts(): void {
  inMemory.clear()
  for (const key of storedKeys()) localStorage.removeItem(key)
}

function storedKeys(): string[] {
  const keys = Array.from({ length: localStorage.length }, (_, index) => localStorage.key(index) ?? '')
  return keys.filter((key) => key.startsWith(`${PREFIX}\n`))
}

function factsOf(key: string) {
  const value = localStorage.getItem(key)
  const draft = parse(value)
  return {
    bytes: bytesOf(key, value ?? ''),
    changed: draft?.changed ?? 0,
    isSaveWanted: draft?.isSaveWanted === true,
  }
}

/** Undefined for what cannot be read, for instance of another version. */
function parse(value: string | null): (Draft & { changed: number }) | undefined {
  try {
    const draft: unknown = JSON.parse(value ?? 'null')
    return isDraft(draft) ? draft : undefined
  } catch {
    return undefined
  }
}

function isDraft(value: unknown): value is Draft & { changed: number } {
  const { id, text, form, changed }: Partial<Record<string, unknown>> = Object(value)
  const { charset, lineBreak }: Partial<Record<string, unknown>> = Object(form)
  return [id, text, charset, lineBreak].every((one) => typeof one === 'string') && typeof changed === 'number'
}
