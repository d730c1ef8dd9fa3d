import { existsSync } from 'node:fs'
import { access as checkAccess, constants, mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { StartError } from '../../base/errors.ts'

/** A file that is in the data folder while it is restored from a backup. */
export const UNFINISHED_RESTORE = 'restore-unfinished'

/** Creates the folder. Throws StartError if no server can use it. */
export async function prepareDataFolder(directory: string): Promise<void> {
  try {
    await createFolder(path.resolve(directory))
    await checkAccess(directory, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    throw new StartError(
      `Cannot write to the data folder ${directory}: make it writable for this user, or name another with --data.`,
      { cause: error },
    )
  }
  if ((await readdir(directory)).includes(UNFINISHED_RESTORE)) {
    throw new StartError(
      `A restore into the data folder ${directory} did not finish: run the same carrel restore again, which continues it.`,
    )
  }
}

/**
 * Creates a folder and those missing above it. The uppermost is created alone first: `mkdir` with `recursive` never ends if the file system
 * answers ENOENT although the parent exists, as /proc does.
 */
async function createFolder(directory: string): Promise<void> {
  let uppermost = directory
  while (!existsSync(path.dirname(uppermost))) uppermost = path.dirname(uppermost)
  try {
    await mkdir(uppermost, { mode: 0o700 })
  } catch (error) {
    if (!existsSync(uppermost)) throw error
  }
  await mkdir(directory, { recursive: true, mode: 0o700 })
}
