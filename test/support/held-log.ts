import { readlinkSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import type { TestContext } from 'node:test'

/** Holds back the flush of the write-ahead log of every SQLite database in this process. */
export interface HeldLog {
  /** Flushes that wait. */
  readonly waiting: number
  release(): void
}

/** Until it is released, or the test ends. */
export async function holdLog(t: TestContext): Promise<HeldLog> {
  await using some = await open(import.meta.filename)
  const prototype = Object.getPrototypeOf(some) as FileHandle
  // oxlint-disable-next-line typescript/unbound-method -- called with a handle below
  const { datasync } = prototype
  const { promise, resolve } = Promise.withResolvers<void>()
  let waiting = 0
  const method = t.mock.method(prototype, 'datasync', async function (this: FileHandle) {
    if (readlinkSync(`/proc/self/fd/${this.fd}`).endsWith('.db-wal')) {
      waiting += 1
      await promise
    }
    await datasync.call(this)
  })
  const release = () => {
    resolve()
    method.mock.restore()
  }
  t.after(release)
  return {
    get waiting() {
      return waiting
    },
    release,
  }
}
