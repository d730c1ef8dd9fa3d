import { randomUUID } from 'node:crypto'
import type { Database, Reader } from '../../database/index.ts'
import type { StoreMarker } from './marker.ts'
import {
  confirmStore,
  deleteStore,
  insertStore,
  listStores,
  type RegisteredStore,
  setCurrentStore,
} from './registry-store.ts'

/** The store is not the one of the database. The message says how to fix it. */
export class StoreIdentityError extends Error {
  override readonly name = 'StoreIdentityError'
}

/** A store as it is configured. */
export interface ConfiguredStore {
  /** As `formatBlocks` writes it. */
  readonly address: string
  readonly marker: StoreMarker
}

/** The registered stores, of which `own` is the configured one. */
interface IdentifiedStores {
  /** Undefined before the first start of a server. */
  readonly own: RegisteredStore | undefined
  /** The other one while blocks are moved. */
  readonly other: RegisteredStore | undefined
}

/** Finds out whether a store is the one of the database, by its marker. Changes nothing. Throws StoreIdentityError. */
export async function identifyStore(
  reader: Reader,
  { address, marker }: ConfiguredStore,
): Promise<IdentifiedStores> {
  const stores = await listStores(reader)
  const confirmed = stores.filter(({ isConfirmed }) => isConfirmed)
  const found = await marker.read()
  const own = stores.find(({ id }) => id === found)
  if (own !== undefined) return { own, other: confirmed.find(({ id }) => id !== own.id) }
  if (confirmed.length > 0) throw new StoreIdentityError(mismatchOf(confirmed, address, marker, found))
  // A folder of blocks is named by its data folder, so its database may be an older copy. A prefix may be another server's.
  if (found !== undefined && address !== 'disk') throw new StoreIdentityError(foreign(address, marker))
  return { own: undefined, other: undefined }
}

/** Identifies a store for a server that writes to it, and registers the first one. Throws StoreIdentityError. */
export async function claimStore(
  db: Database,
  store: ConfiguredStore,
  now: number,
): Promise<RegisteredStore | undefined> {
  const { own, other } = await identifyStore(db, store)
  const claimed = own?.isConfirmed === true ? own : await registerStore(db, store, { beside: 0, now })
  if (!claimed.isCurrent || claimed.address !== store.address) {
    await setCurrentStore(db, { id: claimed.id, address: store.address }, now)
  }
  return other
}

/** Registers a store beside as many others as stated, and writes its marker. It may be repeated. Throws StoreIdentityError. */
export async function registerStore(
  db: Database,
  { address, marker }: ConfiguredStore,
  { beside, now }: { readonly beside: 0 | 1; readonly now: number },
): Promise<RegisteredStore> {
  const id = (await marker.read()) ?? randomUUID()
  const store = await insertStore(db, { id, address, beside }, now)
  if (store !== undefined && !store.isConfirmed) await marker.write(store.id)
  if (store !== undefined && (await confirmStore(db, store.id, now))) return store
  throw new StoreIdentityError(
    'Another server has just registered another block store for this database: see that all have the same CARREL_BLOCKS, and start again.',
  )
}

/** The two stores of a move. */
interface Move {
  readonly from: RegisteredStore
  readonly to: RegisteredStore
}

/**
 * Registers the store that blocks are to be moved to, if it is not registered yet. `prepare` is called before a new one is. Resolves to undefined if
 * it is the only store of the database. Throws StoreIdentityError.
 */
export async function beginMove(
  db: Database,
  store: ConfiguredStore,
  { now, prepare }: { readonly now: number; readonly prepare: () => Promise<void> },
): Promise<Move | undefined> {
  const stores = (await listStores(db)).filter(({ isConfirmed }) => isConfirmed)
  const found = await store.marker.read()
  const own = stores.find(({ id }) => id === found)
  if (own !== undefined) {
    const from = stores.find(({ id }) => id !== own.id)
    return from && { from, to: own }
  }
  const [from, ...more] = stores
  if (from === undefined) {
    throw new StoreIdentityError('The blocks of this database have no store yet: start carrel serve once.')
  }
  if (more.length > 0 || (from.address === 'disk') === (store.address === 'disk')) {
    throw new StoreIdentityError(
      `Blocks are moved between disk and one S3 store, and those of this database are in ${stores.map(({ address }) => placeOf(address)).join(' and in ')}: move them to disk first.`,
    )
  }
  const isUnfinished = (await listStores(db)).some(({ id }) => id === found)
  if (found !== undefined && !isUnfinished) throw new StoreIdentityError(foreign(store.address, store.marker))
  await prepare()
  return { from, to: await registerStore(db, store, { beside: 1, now }) }
}

/** Unregisters the store that blocks were moved from, after the last one was deleted. False if a server writes to it again. */
export async function endMove(db: Database, { from }: Move, marker: StoreMarker): Promise<boolean> {
  await marker.remove()
  return deleteStore(db, from.id)
}

function mismatchOf(
  stores: readonly RegisteredStore[],
  address: string,
  marker: StoreMarker,
  found: string | undefined,
): string {
  const registered = stores.find((store) => placeOf(store.address) === placeOf(address))
  if (registered !== undefined && found === undefined) {
    return `The block store of this database is not there: ${marker.place} is missing. See that the disk is mounted, that the bucket is the right one, and that several nodes use one store in S3. If its blocks are lost, write ${registered.id} to it, and run carrel repair.`
  }
  const expected = stores.map((store) => placeOf(store.address)).join(' and in ')
  const move = `To move them, run carrel migrate --blocks ${address === 'disk' ? 'disk' : 's3://…'}.`
  const isOtherKind = stores.every((store) => (store.address === 'disk') !== (address === 'disk'))
  if (isOtherKind && address === 'disk') {
    return `The blocks of this database are in S3: set CARREL_BLOCKS to ${stores[0]?.address}. ${move}`
  }
  if (isOtherKind) return `The blocks of this database are on disk: set CARREL_BLOCKS to disk. ${move}`
  if (found !== undefined) {
    return `The blocks of this database are in ${expected}, and ${placeOf(address)} has those of another server: correct CARREL_BLOCKS or CARREL_DATA.`
  }
  return `The blocks of this database are in ${expected}, not in ${placeOf(address)}: correct CARREL_BLOCKS.`
}

function foreign(address: string, { place }: StoreMarker): string {
  return `${placeOf(address)} has the blocks of another server: choose another prefix. If that server is gone for good and its blocks are not needed, remove ${place}.`
}

/** An address without its parameters. */
function placeOf(address: string): string {
  return address === 'disk' ? 'the data folder' : address.replace(/\?.*$/, '')
}
