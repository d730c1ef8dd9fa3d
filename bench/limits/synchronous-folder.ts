import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/**
 * Makes the kernel flush every write to files that are created in a folder, and with `entries` also every new or renamed entry, before the
 * call returns. Programs that flush nothing are then as durable as those that do. False if the file system cannot do that.
 */
export async function flushWrites(folder: string, { entries }: { entries: boolean }): Promise<boolean> {
  return change(entries ? '+SD' : '+S', folder)
}

/** Ends what `flushWrites` began, for files that are created from now on. */
export async function stopFlushing(folder: string): Promise<void> {
  await change('-SD', folder)
}

async function change(attributes: string, folder: string): Promise<boolean> {
  try {
    await exec('chattr', [attributes, folder])
    return true
  } catch {
    return false
  }
}
