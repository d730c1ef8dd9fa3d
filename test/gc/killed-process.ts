import { GarbageCollector } from '../../src/maintenance/gc/collector.ts'
import { OperationLeases } from '../../src/maintenance/gc/operation-leases.ts'
import type { DatabaseSetting } from '../../src/platform/database/open.ts'
import type { DiskImplementation } from '../../src/platform/storage/disk/disk-block-store.ts'
import { openTestCore } from '../support/core.ts'

/** Parameters of the process, as JSON in its only argument. */
export interface KilledProcessOptions {
  readonly folder: string
  readonly implementation: DiskImplementation
  /** SQLite in the folder unless given. */
  readonly setting?: DatabaseSetting | undefined
  /** Unix seconds at the first collection, and how much later each of the others is. */
  readonly now: number
  readonly pauseSeconds: number
  readonly graceSeconds: number
  readonly collections: number
  /** The number of the step at which the process kills itself; it runs to its end if there is no such step. */
  readonly killAt: number
}

// Runs collections on a data folder. Each change of the database and of the block store is a step. A change of the database is two: before its
// transaction begins, and before it is committed. Prints the names of the steps.
const options = JSON.parse(process.argv[2] ?? '') as KilledProcessOptions
const clock = { now: options.now }
const now = () => clock.now
const { folder, implementation, setting } = options
const stage = await openTestCore({ folder, implementation, ...(setting && { setting }), now })
const steps: string[] = []
const step = (name: string) => {
  if (steps.push(name) === options.killAt) process.kill(process.pid, 'SIGKILL')
}
const onError = (error: unknown) => {
  throw error
}
const { core } = stage
const db = wrapped(stage.db, {
  write: (write) => (change, settings) => {
    const name = nameOf(change)
    step(`before ${name}`)
    return write(async (tx) => {
      const result = await change(tx)
      step(`uncommitted ${name}`)
      return result
    }, settings)
  },
})
const ofBlocks = (name: string) => (call: (id: never) => unknown) => (id: never) => {
  step(name)
  return call(id)
}
const blocks = wrapped(stage.blocks, {
  retire: ofBlocks('retire') as never,
  restore: ofBlocks('restore') as never,
  discard: ofBlocks('discard') as never,
})
const leases = new OperationLeases({ db, operations: core.operations, now, onError })
const { graceSeconds } = options
const gc = new GarbageCollector(
  { db, blocks, core, leases },
  { graceSeconds, now, onError, processCommits: async () => {} },
)
for (let n = 0; n < options.collections; n += 1) {
  await gc.runOnce()
  clock.now += options.pauseSeconds
}
await stage[Symbol.asyncDispose]()
console.log(JSON.stringify(steps))

/** `of` with some methods replaced. The others are called on `of` itself, which has private fields. */
function wrapped<T extends object>(
  of: T,
  methods: { readonly [Name in keyof T]?: (call: T[Name]) => T[Name] },
): T {
  return new Proxy(of, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      const call = value.bind(target) as never
      return methods[name as keyof T]?.(call) ?? call
    },
  })
}

/** The functions that a change calls with its transaction. */
function nameOf(change: (...args: never[]) => unknown): string {
  return Array.from(String(change).matchAll(/([\w.]+)\(tx\b/g), ([, name]) => name).join(', ')
}
