import type { Stats } from 'node:fs'
import { access, constants, stat, statfs } from 'node:fs/promises'
import path from 'node:path'
import type { Config } from '../../../base/config/index.ts'
import { sizeText } from '../output.ts'
import { type Finding, fail, ok, warn } from './finding.ts'

const name = 'data folder'
const tooLittle = 100_000_000
const little = 1_000_000_000

/** Checks that the data folder exists, is a private folder, and is writable. */
export async function checkDataFolder({ dataDirectory: folder }: Config): Promise<Finding> {
  const found = await statOrUndefined(folder)
  if (found === undefined) {
    return warn(name, `${folder} does not exist`, 'the first start makes it; name another with --data')
  }
  if (!found.isDirectory()) return fail(name, `${folder} is not a folder`, 'name another with --data')
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch {
    return fail(name, `${folder} cannot be written`, 'make it writable for the user that runs Carrel')
  }
  const mode = found.mode & 0o777
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    const shown = mode.toString(8).padStart(4, '0')
    return warn(name, `${folder} is open to other users (mode ${shown})`, `run chmod 700 ${folder}`)
  }
  return ok(name, `${folder} is private and writable`)
}

/** Checks the disk of the data folder, or of the folder it will be created in. */
export async function checkFreeSpace({ dataDirectory }: Config): Promise<Finding> {
  const { bavail, bsize } = await statfs(await nearestFolder(dataDirectory))
  const free = bavail * bsize
  const message = `${sizeText(free)} are free`
  if (free < tooLittle) return fail('free space', message, 'free some space, or move the data folder')
  if (free < little) return warn('free space', message, 'free some space soon, or move the data folder')
  return ok('free space', message)
}

async function nearestFolder(folder: string): Promise<string> {
  const found = await statOrUndefined(folder)
  if (found !== undefined || path.dirname(folder) === folder) return folder
  return nearestFolder(path.dirname(folder))
}

async function statOrUndefined(place: string): Promise<Stats | undefined> {
  try {
    return await stat(place)
  } catch {
    return undefined
  }
}
