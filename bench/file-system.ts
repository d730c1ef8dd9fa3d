import { existsSync, readFileSync, statSync } from 'node:fs'
import path from 'node:path'

/** The type of the file system that holds a folder, such as `ext4 with a journal`. Rates of flushed writes depend on it. */
export function fileSystemOf(folder: string): string {
  const device = deviceOf(statSync(folder).dev)
  // Each line is "id parent major:minor root folder options... - type source options".
  for (const line of readFileSync('/proc/self/mountinfo', 'utf8').split('\n')) {
    const [before = '', after = ''] = line.split(' - ')
    if (before.split(' ')[2] !== device) continue
    const [type = '', source = ''] = after.split(' ')
    if (type !== 'ext4') return type
    return existsSync(`/proc/fs/jbd2/${path.basename(source)}-8`)
      ? 'ext4 with a journal'
      : 'ext4 without a journal'
  }
  return 'a file system of unknown type'
}

/** The number of a device as the kernel prints it, from the way it is encoded in the result of stat. */
function deviceOf(dev: number): string {
  const major = (dev >>> 8) & 0xfff
  const minor = (dev & 0xff) | ((dev >>> 12) & 0xfff00)
  return `${major}:${minor}`
}
