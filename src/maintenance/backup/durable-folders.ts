import { mkdir, open } from 'node:fs/promises'
import path from 'node:path'

const cannotSyncFolders: ReadonlySet<string> = new Set(['EINVAL', 'ENOTSUP', 'EOPNOTSUPP', 'EISDIR', 'EPERM'])

/** `fsync` of a folder. A no-op where the file system cannot sync folders, as on some network file systems. */
export async function syncFolder(folder: string): Promise<void> {
  await using handle = await open(folder, 'r')
  await handle.sync().catch((error: unknown) => {
    if (!cannotSyncFolders.has(codeOf(error))) throw error
  })
}

/** Creates a folder and its parents. Resolves once their entries are durable. */
export async function createFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true, mode: 0o700 })
  if (first === undefined) return
  for (let created = path.resolve(folder); created.length >= first.length; created = path.dirname(created)) {
    await syncFolder(path.dirname(created))
  }
}

/** The code of a system error, or its text. */
export function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
