import { createHook } from 'node:async_hooks'
import crypto, { Hash } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { createServer } from 'node:net'
import { PerformanceObserver } from 'node:perf_hooks'
import { DatabaseSync, StatementSync } from 'node:sqlite'
import { isMainThread } from 'node:worker_threads'

// Loaded into a server before its own code, by `--import`. Counts the work of the main thread, and tells the counts to whoever connects to the
// socket that the environment names. Threads and child processes have no such variable, so they count nothing.

/** Work of the main thread since the server was started. */
export interface Counts {
  /** Statements of SQLite, without those that begin and end transactions. */
  readonly statements: number
  readonly transactions: number
  /** Questions whether another connection has committed. */
  readonly versionReads: number
  readonly promises: number
  readonly bytesHashed: number
  /** What is on the heap, garbage included. Only comparable if `collections` is the same. */
  readonly heapBytes: number
  readonly collections: number
}

const socket = process.env['CARREL_TEST_WORK_SOCKET']
if (socket !== undefined && isMainThread) {
  delete process.env['CARREL_TEST_WORK_SOCKET']
  const counts = { statements: 0, transactions: 0, versionReads: 0, promises: 0, bytesHashed: 0 }
  let collections = 0
  countSql(counts)
  countHashes(counts)
  createHook({
    init(_id, type) {
      if (type === 'PROMISE') counts.promises += 1
    },
  }).enable()
  new PerformanceObserver((list) => {
    collections += list.getEntries().length
  }).observe({ type: 'gc' })
  const server = createServer((client) => {
    client.on('data', (bytes) => {
      if (String(bytes) === 'collect\n') globalThis.gc?.()
      const { heapUsed, arrayBuffers } = process.memoryUsage()
      const reply: Counts = { ...counts, heapBytes: heapUsed + arrayBuffers, collections }
      client.write(`${JSON.stringify(reply)}\n`)
    })
    client.on('error', () => {})
  })
  server.listen(socket).unref()
}

function countSql(counts: { statements: number; transactions: number; versionReads: number }): void {
  const count = (sql: string) => {
    const [word = ''] = /^\s*\w+/.exec(sql) ?? []
    if (/^\s*begin$/i.test(word)) counts.transactions += 1
    else if (/data_version/.test(sql)) counts.versionReads += 1
    else if (!/^\s*(?:commit|rollback|savepoint|release)$/i.test(word)) counts.statements += 1
  }
  const statement = StatementSync.prototype as unknown as Record<string, (...args: unknown[]) => unknown>
  for (const name of ['all', 'get', 'run', 'iterate']) {
    const original = statement[name]
    if (original === undefined) continue
    statement[name] = function (this: StatementSync, ...args: unknown[]) {
      count(this.sourceSQL)
      return original.apply(this, args)
    }
  }
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its database
  const { exec } = DatabaseSync.prototype
  DatabaseSync.prototype.exec = function (sql) {
    count(sql)
    return exec.call(this, sql)
  }
}

function countHashes(counts: { bytesHashed: number }): void {
  const bytesOf = (data: unknown) =>
    typeof data === 'string' ? Buffer.byteLength(data) : (data as Uint8Array).byteLength
  const { hash } = crypto
  crypto.hash = ((algorithm: string, data: string, encoding: 'hex') => {
    counts.bytesHashed += bytesOf(data)
    return hash(algorithm, data, encoding)
  }) as typeof hash
  // oxlint-disable-next-line typescript/unbound-method -- it is called with its hash
  const { update } = Hash.prototype
  Hash.prototype.update = function (this: Hash, data: string, encoding?: crypto.Encoding) {
    counts.bytesHashed += bytesOf(data)
    return encoding === undefined ? update.call(this, data, 'utf8') : update.call(this, data, encoding)
  }
  syncBuiltinESMExports()
}
