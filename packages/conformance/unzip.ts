import { buffer } from 'node:stream/consumers'
import { fromBufferPromise } from 'yauzl'

/** Unpacks a small archive in memory: the content of its files by name. Folders are left out. */
export async function unzip(bytes: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>()
  const archive = await fromBufferPromise(bytes)
  for await (const entry of archive.eachEntry()) {
    if (entry.fileName.endsWith('/')) continue
    files.set(entry.fileName, await buffer(await archive.openReadStreamPromise(entry)))
  }
  return files
}
