import { parentPort, workerData } from 'node:worker_threads'
import type { AdopterOptions } from '../../index.ts'
import { type Adopted, type AdoptedFiles, FileAdopter } from '../file-adopter.ts'

/** Files that are being flushed while the next ones are read. More would only fill the page cache. */
const MAX_UNFLUSHED = 4

const adopter = new FileAdopter(workerData as AdopterOptions)

// An error ends the thread.
parentPort?.on('message', (request: AdoptedFiles) => void answer(request))

async function answer({ files, flushedBeforeMs }: AdoptedFiles): Promise<void> {
  const adopting: Promise<Adopted>[] = []
  for (const [index, file] of files.entries()) {
    await adopting[index - MAX_UNFLUSHED]
    adopting.push(Promise.resolve(adopter.adopt(file, flushedBeforeMs)))
  }
  const results = await Promise.all(adopting)
  const returned = results.flatMap((result) =>
    result.how === 'returned' ? [result.bytes.buffer as ArrayBuffer] : [],
  )
  parentPort?.postMessage(results, returned)
}
