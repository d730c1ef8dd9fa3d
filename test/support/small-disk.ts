import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtemp, open, rm, statfs } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'

const MB = 1_000_000

/** A file system in memory, for tests of a full disk. It outlives the servers on it. */
export interface SmallDisk extends AsyncDisposable {
  readonly folder: string
  /** Bytes. */
  free(): Promise<number>
  /** Takes all the space that is free when it is called, but not what a server releases meanwhile. */
  fill(): Promise<void>
  /** Gives back what `fill` took. */
  empty(): Promise<void>
}

/** Undefined if this machine does not permit mounting one: it needs root. */
export async function mountSmallDisk(megabytes: number): Promise<SmallDisk | undefined> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'carrel-small-disk-'))
  const { status } = spawnSync('mount', [
    '-t',
    'tmpfs',
    '-o',
    `size=${megabytes}m,mode=0700`,
    'carrel',
    folder,
  ])
  if (status !== 0) {
    await rm(folder, { recursive: true })
    return undefined
  }
  const ballast = path.join(folder, 'ballast')
  const free = async () => {
    const { bavail, bsize } = await statfs(folder)
    return bavail * bsize
  }
  return {
    folder,
    free,
    async fill() {
      let left = await free()
      await using file = await open(ballast, 'a')
      for (let size = MB; size >= 1 && left > 0; ) {
        try {
          const { bytesWritten } = await file.write(Buffer.alloc(Math.min(size, left)))
          left -= bytesWritten
          if (bytesWritten < size) size = Math.floor(size / 2)
        } catch (error) {
          assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
          size = Math.floor(size / 2)
        }
      }
    },
    empty: () => rm(ballast, { force: true }),
    async [Symbol.asyncDispose]() {
      spawnSync('umount', ['-l', folder])
      await rm(folder, { recursive: true, force: true })
    },
  }
}
