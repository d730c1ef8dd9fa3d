import { Worker } from 'node:worker_threads'

/**
 * Key and IV of encryption version 1: OpenSSL's `EVP_BytesToKey` with SHA-1 and 524288 rounds. It takes a second and has no
 * asynchronous API in Node, so it runs in a worker thread (I10).
 */
export async function deriveVersion1(input: Buffer): Promise<{ key: Buffer; iv: Buffer }> {
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>()
  const worker = new Worker(new URL('./version1-key-worker.ts', import.meta.url), { workerData: input })
  worker.once('message', resolve)
  worker.once('error', reject)
  try {
    const bytes = Buffer.from(await promise)
    return { key: bytes.subarray(0, 16), iv: bytes.subarray(16, 32) }
  } finally {
    await worker.terminate()
  }
}
