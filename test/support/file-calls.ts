import fs, { readlinkSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import os from 'node:os'

/** A flush or a rename of this thread, once it succeeded. */
export interface FileCall {
  readonly kind: 'flush' | 'rename'
  /** The flushed file or folder, or the new name. */
  readonly path: string
}

/** Records flushes and renames of this thread until it is disposed. */
export interface FileCalls extends AsyncDisposable {
  readonly calls: readonly FileCall[]
  clear(): void
}

/** Works on Linux only, where the path of a descriptor can be read. */
export async function recordFileCalls(): Promise<FileCalls> {
  const calls: FileCall[] = []
  const pathOf = (fd: number) => readlinkSync(`/proc/self/fd/${fd}`)
  await using sample = await open(os.devNull)
  const handles: FileHandle = Object.getPrototypeOf(sample)
  // oxlint-disable-next-line typescript/unbound-method -- they are called with their handle
  const { sync, datasync } = handles
  const { fsync, fdatasync, fdatasyncSync, renameSync } = fs
  const { rename } = fs.promises
  const recordingHandle = (flush: () => Promise<void>) =>
    async function (this: FileHandle) {
      const path = pathOf(this.fd)
      await flush.call(this)
      calls.push({ kind: 'flush', path })
    }
  const recordingDescriptor = (flush: typeof fsync) => (fd: number, done: fs.NoParamCallback) => {
    const path = pathOf(fd)
    flush(fd, (error) => {
      if (error === null) calls.push({ kind: 'flush', path })
      done(error)
    })
  }
  Object.assign(handles, { sync: recordingHandle(sync), datasync: recordingHandle(datasync) })
  Object.assign(fs, { fsync: recordingDescriptor(fsync), fdatasync: recordingDescriptor(fdatasync) })
  fs.fdatasyncSync = (fd) => {
    const path = pathOf(fd)
    fdatasyncSync(fd)
    calls.push({ kind: 'flush', path })
  }
  fs.renameSync = (from, to) => {
    renameSync(from, to)
    calls.push({ kind: 'rename', path: String(to) })
  }
  fs.promises.rename = async (from, to) => {
    await rename(from, to)
    calls.push({ kind: 'rename', path: String(to) })
  }
  syncBuiltinESMExports()
  return {
    calls,
    clear: () => void calls.splice(0),
    async [Symbol.asyncDispose]() {
      Object.assign(handles, { sync, datasync })
      Object.assign(fs, { fsync, fdatasync, fdatasyncSync, renameSync })
      fs.promises.rename = rename
      syncBuiltinESMExports()
    },
  }
}
