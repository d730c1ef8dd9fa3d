import { execFile } from 'node:child_process'

/**
 * Flushes everything on the file system of a folder, by the program sync, because Node has no call for it. False if that is not possible: there is
 * no such program, it reports a failure, or this is not Linux, where it may return before the bytes are on the disk.
 */
export function syncFileSystem(folder: string): Promise<boolean> {
  if (process.platform !== 'linux') return Promise.resolve(false)
  return new Promise((resolve) => {
    execFile('sync', ['-f', folder], (error) => resolve(error === null))
  })
}
