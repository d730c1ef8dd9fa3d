import { existsSync, rmSync, statfsSync } from 'node:fs'
import path from 'node:path'

/** With less than this the reserve is released before a write fails. */
export const MIN_FREE_BYTES = 4 * 2 ** 20

/** The file that keeps space for a full disk. */
export function reserveFileIn(directory: string): string {
  return path.join(directory, 'reserve')
}

/** Frees the reserved space, for every process on the folder. False if there is none. */
export function releaseReserveFile(file: string): boolean {
  if (!existsSync(file)) return false
  rmSync(file, { force: true })
  return true
}

/** For the start of a program: opening a database creates files, and fails without space. */
export function releaseReserveIfFull(directory: string): void {
  if (freeBytesIn(directory) < MIN_FREE_BYTES) releaseReserveFile(reserveFileIn(directory))
}

/** On the disk of a folder. 0 if the system does not say. */
export function freeBytesIn(directory: string): number {
  try {
    const { bavail, bsize } = statfsSync(directory)
    return bavail * bsize
  } catch {
    return 0
  }
}
