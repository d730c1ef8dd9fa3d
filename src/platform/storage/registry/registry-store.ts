import type { Database, Reader } from '../../database/index.ts'

/** A store that holds blocks of this database. There is a second one while blocks are moved. */
export interface RegisteredStore {
  /** Also in the marker of the store. */
  readonly id: string
  /** The value of CARREL_BLOCKS that it was registered with. */
  readonly address: string
  /** Its marker was written. */
  readonly isConfirmed: boolean
  /** The server that started last writes to it. */
  readonly isCurrent: boolean
}

interface StoreRow {
  id: string
  address: string
  is_confirmed: number
  is_current: number
}

export async function listStores(reader: Reader): Promise<RegisteredStore[]> {
  const rows = await reader.all<StoreRow>(
    'select id, address, is_confirmed, is_current from block_store order by slot',
  )
  return rows.map(({ id, address, is_confirmed: confirmed, is_current: current }) => ({
    id,
    address,
    isConfirmed: confirmed === 1,
    isCurrent: current === 1,
  }))
}

/**
 * Registers a store before its marker is written, beside as many others as stated. An unconfirmed store at another address gives way, because
 * nothing was stored in it. Resolves to the store at this address; undefined if other processes registered others meanwhile.
 */
export function insertStore(
  db: Database,
  { id, address, beside }: Pick<RegisteredStore, 'id' | 'address'> & { readonly beside: 0 | 1 },
  now: number,
): Promise<RegisteredStore | undefined> {
  return db.write(async (tx) => {
    await tx.run('delete from block_store where is_confirmed = 0 and address <> ?', address)
    const taken = await tx.all<{ slot: number }>('select slot from block_store where address <> ?', address)
    if (taken.length !== beside) return undefined
    const columns = ['slot', 'id', 'address', 'is_confirmed', 'is_current', 'changed_at']
    const slot = taken[0]?.slot === 1 ? 2 : 1
    await tx.insert('block_store', columns, [[slot, id, address, 0, 0, now]], { ignoreExisting: true })
    return (await listStores(tx)).find((store) => store.address === address)
  })
}

/** After its marker was written. False if it gave way to another one. */
export async function confirmStore(db: Database, id: string, now: number): Promise<boolean> {
  const sql = 'update block_store set is_confirmed = 1, changed_at = ? where id = ?'
  return (await db.write((tx) => tx.run(sql, now, id))) === 1
}

/** Records that a server writes to this store from now on. */
export async function setCurrentStore(
  db: Database,
  { id, address }: Pick<RegisteredStore, 'id' | 'address'>,
  now: number,
): Promise<void> {
  await db.write(async (tx) => {
    await tx.run('update block_store set is_current = 0 where id <> ?', id)
    await tx.run(
      'update block_store set is_current = 1, address = ?, changed_at = ? where id = ?',
      address,
      now,
      id,
    )
  })
}

/** After the last block of the store was deleted. False if a server writes to it again. */
export async function deleteStore(db: Database, id: string): Promise<boolean> {
  const sql = 'delete from block_store where id = ? and is_current = 0'
  return (await db.write((tx) => tx.run(sql, id))) === 1
}
