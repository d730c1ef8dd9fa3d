import type { Source } from './sources.ts'
import type { Recorded, StoredUpload, UploadStore } from './upload-store.ts'

const DATABASE = 'carrel-uploads'
const VERSION = 2
const RECORDS = 'uploads'
const SOURCES = 'sources'
const CLAIMED = 'claimed'
const ALL = [RECORDS, SOURCES, CLAIMED]

const DAY_MS = 86_400_000
const SOURCES_KEPT_MS = 3 * DAY_MS
const RECORDS_KEPT_MS = 90 * DAY_MS

let opening: Promise<IDBDatabase> | undefined

function database(): Promise<IDBDatabase> {
  opening ??= new Promise((resolve, reject) => {
    const request = indexedDB.open(DATABASE, VERSION)
    request.addEventListener('upgradeneeded', (event) => upgrade(request, event.oldVersion))
    request.addEventListener('success', () => {
      const { result } = request
      // A page of a later version waits for this one.
      result.addEventListener('versionchange', () => {
        result.close()
        opening = undefined
      })
      resolve(result)
    })
    request.addEventListener('error', () => reject(request.error))
    // A page of an earlier version is open, and does not end its connection.
    request.addEventListener('blocked', () => reject(new Error('another version is open')))
  })
  opening.catch(() => {
    opening = undefined
  })
  return opening
}

function upgrade({ result, transaction }: IDBOpenDBRequest, from: number): void {
  if (from === 0) result.createObjectStore(RECORDS, { keyPath: 'key' })
  const sources = result.createObjectStore(SOURCES)
  result.createObjectStore(CLAIMED)
  if (from !== 1) return
  // Version 1 had files and handles in the records, and only planned uploads.
  const reading = transaction?.objectStore(RECORDS).openCursor()
  reading?.addEventListener('success', () => {
    const cursor = reading.result
    if (cursor === null) return
    const { file, handle, tab, ...old } = cursor.value as StoredUpload & Source & { tab: string }
    sources.put({ ...(file && { file }), ...(handle && { handle }) }, old.key)
    cursor.update({ ...old, owner: tab, drop: old.key, isPlanned: true })
    cursor.continue()
  })
}

type Stores = Readonly<Record<'records' | 'sources' | 'claimed', IDBObjectStore>>

/** Runs `act` in one transaction, which is on disk when this resolves. */
async function change<T>(act: (stores: Stores) => Promise<T>): Promise<T> {
  const transaction = (await database()).transaction(ALL, 'readwrite', { durability: 'strict' })
  const ended = new Promise<void>((resolve, reject) => {
    transaction.addEventListener('complete', () => resolve())
    transaction.addEventListener('abort', () => reject(transaction.error ?? new Error('aborted')))
  })
  ended.catch(() => undefined)
  const result = await Promise.race([
    act({
      records: transaction.objectStore(RECORDS),
      sources: transaction.objectStore(SOURCES),
      claimed: transaction.objectStore(CLAIMED),
    }),
    ended.then(() => new Promise<never>(() => undefined)),
  ])
  await ended
  return result
}

function answer<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.addEventListener('success', () => resolve(request.result))
    request.addEventListener('error', () => reject(request.error))
  })
}

async function readAll(records: IDBObjectStore): Promise<StoredUpload[]> {
  return (await answer(records.getAll())) as StoredUpload[]
}

const isClaimed = async ({ claimed }: Stores, owner: string) => (await answer(claimed.count(owner))) > 0

/** IndexedDB. */
export const indexedStore: UploadStore = {
  add(owner, recorded: readonly Recorded[]) {
    return change(async (stores) => {
      if (await isClaimed(stores, owner)) return false
      for (const { record, source } of recorded) {
        stores.records.put(record)
        if (source.file || source.handle) stores.sources.put(source, record.key)
      }
      return true
    })
  },

  write(owner, changed, removed) {
    return change(async (stores) => {
      if (await isClaimed(stores, owner)) return false
      for (const record of changed) {
        stores.records.put(record)
        if (record.state === 'done') stores.sources.delete(record.key)
      }
      for (const key of removed) {
        stores.records.delete(key)
        stores.sources.delete(key)
      }
      return true
    })
  },

  claim(account, from, to) {
    return change(async ({ records, claimed }) => {
      const found = await readAll(records)
      const moved = found
        .filter((one) => one.account === account && one.owner === from)
        .map((one) => ({ ...one, owner: to }))
      for (const one of moved) records.put(one)
      if (moved.length > 0) claimed.put(1, from)
      return moved
    })
  },

  async records() {
    return readAll((await database()).transaction(RECORDS).objectStore(RECORDS))
  },

  async source(key) {
    const found = (await database()).transaction(SOURCES).objectStore(SOURCES).get(key)
    return (await answer(found)) as Source | undefined
  },

  async addFile(key, file) {
    await change(async ({ records, sources }) => {
      // It may be stored on the server by now.
      const record = (await answer(records.get(key))) as StoredUpload | undefined
      if (record === undefined || record.state === 'done') return
      const source = (await answer(sources.get(key))) as Source | undefined
      sources.put({ ...source, file }, key)
    })
  },

  async expire(account, now) {
    await change(async ({ records, sources }) => {
      for (const { key, account: owner, addedAt } of await readAll(records)) {
        if (owner === account) continue
        if (addedAt < now - SOURCES_KEPT_MS) sources.delete(key)
        if (addedAt < now - RECORDS_KEPT_MS) records.delete(key)
      }
    })
  },
}
