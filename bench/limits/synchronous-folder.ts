import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { promisify } from 'node:util'

const exec = promisify(execFile)

/** Renames that are tried. Many, because other programs flush the same disk now and then. */
const TRIES = 50
/** The number of flushes in the `stat` file of a block device. */
const FLUSHES_FIELD = 15

/**
 * Makes the kernel flush every write to files that are created in a folder, and with `entries` also every new or renamed entry, before the
 * call returns. Programs that flush nothing are then as durable as those that do. False if the file system cannot do that.
 */
export async function flushWrites(folder: string, { entries }: { entries: boolean }): Promise<boolean> {
  if (!entries) return change('+S', folder)
  return (await change('+SD', folder)) && (await flushesRenames(folder))
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

/**
 * Whether the disk is flushed by each rename in a synchronous folder. Ext4 without a journal only writes the entry, which is then still in the
 * cache of the disk, and lost in a power cut. False if the disk does not count its flushes.
 */
async function flushesRenames(folder: string): Promise<boolean> {
  const disk = await diskOf(folder)
  const [from, to] = ['a', 'b'].map((name) => path.join(folder, `.rename-${name}`)) as [string, string]
  await writeFile(from, '')
  try {
    const before = await flushesOf(disk)
    for (let tries = 0; tries < TRIES; tries += 2) {
      await rename(from, to)
      await rename(to, from)
    }
    return (await flushesOf(disk)) - before >= TRIES
  } finally {
    await rm(from, { force: true })
    await rm(to, { force: true })
  }
}

/** The folder in /sys of the disk that a folder is on. */
async function diskOf(folder: string): Promise<string> {
  const { dev } = await stat(folder, { bigint: true })
  // As the C library splits a device number.
  const major = ((dev >> 8n) & 0xfffn) | ((dev >> 32n) & ~0xfffn)
  const minor = (dev & 0xffn) | ((dev >> 12n) & ~0xffn)
  const device = `/sys/dev/block/${major}:${minor}`
  // Flushes are counted for whole disks.
  return existsSync(`${device}/partition`) ? `${device}/..` : device
}

/** 0 if they are not counted. */
async function flushesOf(disk: string): Promise<number> {
  const text = await readFile(`${disk}/stat`, 'utf8').catch(() => '')
  return Number(text.trim().split(/\s+/)[FLUSHES_FIELD] ?? 0)
}
