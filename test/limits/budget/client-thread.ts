import { parentPort } from 'node:worker_threads'
import type { Answer, Prepared } from './measuring-client.ts'

const SHOWN_BYTES = 300
const TIMEOUT_MS = 60_000

parentPort?.on('message', (prepared: Prepared) => void answer(prepared))

async function answer(prepared: Prepared): Promise<void> {
  const message = await send(prepared).catch(failed)
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
  parentPort?.postMessage(message)
}

function failed(error: unknown): { error: string } {
  return { error: String(error instanceof Error ? (error.cause ?? error) : error) }
}

async function send({ method, url, headers, body, headOnly }: Prepared): Promise<Answer> {
  const response = await fetch(url, {
    method,
    redirect: 'manual',
    headers,
    ...(body !== undefined && { body }),
    signal: AbortSignal.timeout(TIMEOUT_MS),
  })
  let bytes = 0
  let text = ''
  for await (const piece of headOnly ? [] : (response.body ?? [])) {
    if (bytes < SHOWN_BYTES) text += Buffer.from(piece.subarray(0, SHOWN_BYTES)).toString()
    bytes += piece.length
  }
  if (headOnly) await response.body?.cancel()
  return { status: response.status, bytes, text }
}
