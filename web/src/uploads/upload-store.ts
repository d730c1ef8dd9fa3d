import type { Upload } from './queue.ts'

/** IndexedDB store of unfinished uploads, so that they survive a reload. */

/** A stored upload, with a copy of the file if it is small enough, or a handle. */
export interface StoredUpload extends Upload {
  readonly account: string
  /** Id of the tab that owns it. */
  readonly tab: string
  readonly file?: File
  readonly handle?: FileSystemFileHandle
}

const DATABASE = 'carrel-uploads'
const STORE = 'uploads'
/** Flag in localStorage: saves opening the database on every visit. */
const FLAG = 'carrel.uploads'
const TAB_KEY = 'carrel.tab'
/** As long as the server keeps partial uploads. */
const MAX_MS = 3 * 86_400_000

const mayHaveStored = () => localStorage.getItem(FLAG) !== null

let opening: Promise<IDBDatabase> | undefined

function database(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, 1)
    request.addEventListener('upgradeneeded', () =>
      request.result.createObjectStore(STORE, { keyPath: 'key' }),
    )
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
  return opening
}

async function change(act: (store: IDBObjectStore) => void): Promise<void> {
  const transaction = (await database()).transaction(STORE, 'readwrite')
  act(transaction.objectStore(STORE))
  await new Promise<void>((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve())
    transaction.addEventListener('abort', () => reject(transaction.error))
  })
}

export async function storeUploads(kept: readonly StoredUpload[]): Promise<void> {
  if (kept.length === 0) return
  localStorage.setItem(FLAG, '1')
  await change((store) => {
    for (const one of kept) store.put(one)
  })
}

export async function deleteUploads(keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return
  await change((store) => {
    for (const key of keys) store.delete(key)
  })
}

/** Called when nothing is in progress, so that the next visit skips the database. */
export async function clearFlagIfEmpty(): Promise<void> {
  if ((await all()).length === 0) localStorage.removeItem(FLAG)
}

async function all(): Promise<StoredUpload[]> {
  const store = (await database()).transaction(STORE).objectStore(STORE)
  const request = store.getAll()
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result as StoredUpload[]))
    request.addEventListener('error', () => reject(request.error))
  })
}

/**
 * Claims the uploads that this account left in this tab, or in a tab that was closed. Deletes expired ones of any
 * account.
 */
export async function claimUploads(account: string): Promise<StoredUpload[]> {
  if (!mayHaveStored()) return []
  const tab = await thisTab()
  const living = await livingTabs()
  const kept = await all()
  const oldest = Date.now() - MAX_MS
  await deleteUploads(kept.filter(({ addedAt }) => addedAt < oldest).map(({ key }) => key))
  const mine = kept
    .filter((one) => one.account === account && one.addedAt >= oldest)
    .filter((one) => one.tab === tab || (living !== undefined && !living.has(one.tab)))
    .map((one) => ({ ...one, tab }))
  await storeUploads(mine)
  if (kept.length === 0) localStorage.removeItem(FLAG)
  return mine
}

const lockOf = (tab: string) => `${TAB_KEY}.${tab}`
let naming: Promise<string> | undefined

/** Id of this tab: stable across reloads, different in a duplicated tab. */
export function thisTab(): Promise<string> {
  naming ??= nameTab()
  return naming
}

async function nameTab(): Promise<string> {
  const before = sessionStorage.getItem(TAB_KEY)
  const fresh = Array.from(crypto.getRandomValues(new Uint8Array(8)), (byte) => byte.toString(16)).join('')
  // Without Web Locks a duplicated tab cannot be detected; prefer the reload case.
  const name = before !== null && (await hold(before)) ? before : fresh
  if (name === fresh) await hold(fresh)
  sessionStorage.setItem(TAB_KEY, name)
  return name
}

/** Holds a Web Lock on the tab id while the tab lives; false if another tab holds it. */
function hold(tab: string): Promise<boolean> {
  // Web Locks exist only in secure contexts.
  const { locks } = navigator as { locks?: LockManager }
  if (locks === undefined) return Promise.resolve(true)
  return new Promise((resolve) => {
    void locks.request(lockOf(tab), { ifAvailable: true }, (lock) => {
      resolve(lock !== null)
      return lock === null ? undefined : new Promise<void>(() => undefined)
    })
  })
}

/** Undefined if the browser does not support it. */
async function livingTabs(): Promise<Set<string> | undefined> {
  const { locks } = navigator as { locks?: LockManager }
  const { held } = (await locks?.query()) ?? {}
  const start = lockOf('')
  return (
    held && new Set(held.flatMap(({ name }) => (name?.startsWith(start) ? name.slice(start.length) : [])))
  )
}
