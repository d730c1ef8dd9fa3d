import { parentPort, workerData } from 'node:worker_threads'
import type { AdopterOptions } from '../../index.ts'
import { type AdoptedFiles, FileAdopter } from '../file-adopter.ts'

const adopter = new FileAdopter(workerData as AdopterOptions)

parentPort?.on('message', ({ files, flushedBeforeMs }: AdoptedFiles) => {
  const results = files.map((file) => adopter.adopt(file, flushedBeforeMs))
  const returned = results.flatMap((result) =>
    result.how === 'returned' ? [result.bytes.buffer as ArrayBuffer] : [],
  )
  parentPort?.postMessage(results, returned)
})
