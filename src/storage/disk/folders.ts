import { randomUUID } from 'node:crypto'
import { closeSync, fsync, openSync } from 'node:fs'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { BlockStoreError } from '../index.ts'
import { codeOf } from './disk-errors.ts'

/** The folders blocks are spread over: `00` to `ff`, ascending. */
export const blockFolders: readonly string[] = Array.from({ length: 256 }, (_, index) =>
  index.toString(16).padStart(2, '0'),
)

/**
 * Makes what a store in `directory` needs, durably, and sees that it can be written. Resolves to
 * the folder for temp files.
 */
export async function prepareFolders(
  directory: string,
  options: { removeLeftovers: boolean },
): Promise<string> {
  const temporary = path.join(directory, 'tmp')
  try {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    // A leftover is a block nobody was told is stored (I4).
    if (options.removeLeftovers) await rm(temporary, { recursive: true, force: true })
    await mkdir(temporary, { recursive: true, mode: 0o700 })
    await makeBlockFolders(directory)
    const trial = path.join(temporary, `trial-${randomUUID()}`)
    await writeFile(trial, '', { mode: 0o600 })
    await rm(trial)
  } catch (cause) {
    throw new BlockStoreError(
      `Blocks cannot be kept in ${directory} (${codeOf(cause)}): make it a folder this account may write to.`,
      { cause },
    )
  }
  return temporary
}

// Made once and all at once, so that a put never has to make a folder durable, only an entry in it.
async function makeBlockFolders(directory: string) {
  const present = new Set(await readdir(directory))
  const absent = blockFolders.filter((folder) => !present.has(folder))
  for (const folder of absent) {
    await mkdir(path.join(directory, folder), { recursive: true, mode: 0o700 })
  }
  // Every start, because whoever made the folders may have died before it came to this.
  await syncFolder(directory)
  await syncFolder(path.dirname(path.resolve(directory)))
}

/** Makes the entries of a folder durable: one in which something was just changed, and which is in memory therefore. */
export async function syncFolder(folder: string): Promise<void> {
  const fd = openSync(folder, 'r')
  try {
    await new Promise<void>((resolve, reject) => {
      fsync(fd, (error) => (error === null ? resolve() : reject(error)))
    })
  } finally {
    closeSync(fd)
  }
}
