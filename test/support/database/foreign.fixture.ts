import { connect, type Socket } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { DatabaseSetting } from '../../../src/platform/database/open.ts'
import { openPostgres } from '../../../src/platform/database/postgres/postgres-database.ts'
import { openSqlite } from '../../../src/platform/database/sqlite/sqlite-database.ts'

/** How long an awaited row may take. */
const AWAIT_MS = 30_000

/** What the thread is asked to do. It counts up and notifies `done` after each. */
export type ForeignOrder =
  | { readonly kind: 'commit'; readonly sql: string }
  /** Polls until the query finds a row, and fails after AWAIT_MS. */
  | { readonly kind: 'await'; readonly sql: string }
  | { readonly kind: 'connect'; readonly port: number }
  | { readonly kind: 'send'; readonly socket: number; readonly text: string }
  | { readonly kind: 'close' }

export interface ForeignData {
  readonly setting: DatabaseSetting
  /** The number of orders done, and 1 if one of them failed. */
  readonly done: Int32Array
}

// Another program with a connection of its own to the same database, which also is a client of sockets. It is a thread so that the
// thread of a test can wait for it without giving way to its event loop.
const { setting, done } = workerData as ForeignData
const onFatal = (error: Error) => {
  throw error
}
const db = await (setting.kind === 'sqlite'
  ? openSqlite({ ...setting, onFatal })
  : openPostgres({ ...setting, onFatal }))
const sockets: Socket[] = []

async function obey(order: ForeignOrder): Promise<void> {
  if (order.kind === 'commit') await db.write((tx) => tx.run(order.sql))
  if (order.kind === 'await') await awaitRow(order.sql)
  if (order.kind === 'connect') {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    sockets.push(connect(order.port, '127.0.0.1', resolve).once('error', reject).setNoDelay(true))
    await promise
  }
  if (order.kind === 'send') {
    const { promise, resolve } = Promise.withResolvers<void>()
    sockets[order.socket]?.write(order.text, () => resolve())
    await promise
  }
  if (order.kind !== 'close') return
  for (const socket of sockets) socket.destroy()
  await db[Symbol.asyncDispose]()
}

async function awaitRow(sql: string): Promise<void> {
  const deadline = performance.now() + AWAIT_MS
  while ((await db.all(sql)).length === 0) {
    if (performance.now() > deadline) throw new Error(`no row in ${AWAIT_MS / 1000} s: ${sql}`)
    await nextTurn()
  }
}

async function obeyAfter(before: Promise<void>, order: ForeignOrder): Promise<void> {
  await before
  try {
    await obey(order)
  } catch (error) {
    console.error(error)
    Atomics.store(done, 1, 1)
  }
  Atomics.add(done, 0, 1)
  Atomics.notify(done, 0)
  if (order.kind === 'close') parentPort?.close()
}

let last = Promise.resolve()
parentPort?.on('message', (order: ForeignOrder) => {
  last = obeyAfter(last, order)
})
