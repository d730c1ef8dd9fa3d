import { lookup } from 'node:dns/promises'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { hostOf, isPublicAddress } from './webhook-address.ts'

// Bytes of a response that are stored for the owner.
const ANSWER_BYTES = 1024

interface Address {
  readonly address: string
  readonly family: number
}

/** How receivers are reached. */
export interface WebhookNetwork {
  /** All addresses of a host name. */
  readonly resolve: (host: string) => Promise<readonly Address[]>
  readonly isAllowed: (address: string) => boolean
  /** From name resolution to the end of the response. */
  readonly timeoutMs: number
}

interface WebhookAnswer {
  readonly status: number
  /** The beginning of the body. */
  readonly text: string
}

/** A receiver was not reached. The message is for the owner of the webhook. */
export class WebhookUnreachable extends Error {
  override name = 'WebhookUnreachable'
}

export function systemNetwork(allowPrivate: boolean): WebhookNetwork {
  return {
    resolve: twoAtOnce((host) => lookup(host, { all: true })),
    isAllowed: (address) => allowPrivate || isPublicAddress(address),
    timeoutMs: 10_000,
  }
}

/**
 * Posts a body. The name is resolved once, all its addresses must be allowed, and the connection goes to one
 * of them, so DNS rebinding has no effect. Redirects are not followed. Throws WebhookUnreachable.
 */
export async function postWebhook(
  network: WebhookNetwork,
  url: URL,
  body: string,
  headers: Readonly<Record<string, string>>,
  stop: AbortSignal,
): Promise<WebhookAnswer> {
  const deadline = AbortSignal.timeout(network.timeoutMs)
  const signal = AbortSignal.any([deadline, stop])
  try {
    const address = await abortable(addressOf(network, hostOf(url)), signal)
    return await send(url, address, body, headers, signal)
  } catch (error) {
    if (error instanceof WebhookUnreachable) throw error
    if (deadline.aborted) throw new WebhookUnreachable('The receiver took too long.', { cause: error })
    throw new WebhookUnreachable(reasonOf(error), { cause: error })
  }
}

/** Names are resolved on the threads that also sync files. Two at a time leave half of them free. */
function twoAtOnce<T>(resolve: (host: string) => Promise<T>): (host: string) => Promise<T> {
  const lines: Promise<unknown>[] = [Promise.resolve(), Promise.resolve()]
  let turn = 0
  return (host) => {
    turn = (turn + 1) % lines.length
    const found = lines[turn]?.then(() => resolve(host)) ?? resolve(host)
    lines[turn] = found.catch(() => {})
    return found
  }
}

async function addressOf({ resolve, isAllowed }: WebhookNetwork, host: string): Promise<Address> {
  const family = isIP(host)
  const addresses = family === 0 ? await resolve(host) : [{ address: host, family }]
  const [first] = addresses
  if (first === undefined) throw new WebhookUnreachable('The name of the receiver has no address.')
  if (!addresses.every(({ address }) => isAllowed(address))) {
    throw new WebhookUnreachable('The address of the receiver is private, so it is not called.')
  }
  return first
}

function send(
  url: URL,
  { address, family }: Address,
  body: string,
  headers: Readonly<Record<string, string>>,
  signal: AbortSignal,
): Promise<WebhookAnswer> {
  const toChecked: LookupFunction = (_host, options, found) => {
    if (options.all) found(null, [{ address, family }])
    else found(null, address, family)
  }
  const { promise, resolve, reject } = Promise.withResolvers<WebhookAnswer>()
  let isAnswered = false
  const request = url.protocol === 'https:' ? requestHttps : requestHttp
  const sent = request(
    url,
    {
      method: 'POST',
      // A new connection, because a reused one could lead to another address.
      agent: false,
      lookup: toChecked,
      signal,
      headers: { ...headers, 'Content-Length': Buffer.byteLength(body), Connection: 'close' },
      maxHeaderSize: 16_384,
    },
    (answer) => {
      isAnswered = true
      readStart(answer).then(resolve, reject)
    },
  )
  // An error during the response ends its reader.
  sent.on('error', (error) => {
    if (!isAnswered) reject(error)
  })
  sent.end(body)
  return promise
}

/** Only the status matters, so an endless response is aborted. */
async function readStart(answer: IncomingMessage): Promise<WebhookAnswer> {
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of answer) {
      chunks.push(chunk as Buffer)
      size += (chunk as Buffer).length
      if (size >= ANSWER_BYTES) break
    }
  } catch {
    // The beginning of the body is enough.
  } finally {
    answer.destroy()
  }
  const text = Buffer.concat(chunks).subarray(0, ANSWER_BYTES).toString().toWellFormed().replaceAll('\0', '')
  return { status: answer.statusCode ?? 0, text }
}

function abortable<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<T>()
  const abort = () => reject(signal.reason as Error)
  signal.addEventListener('abort', abort, { once: true })
  work.then(resolve, reject)
  return promise.finally(() => signal.removeEventListener('abort', abort))
}

function reasonOf(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown'
  switch (code) {
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return 'The name of the receiver is unknown.'
    case 'ECONNREFUSED':
      return 'The receiver refused the connection.'
    case 'ECONNRESET':
    case 'EPIPE':
      return 'The receiver closed the connection.'
    default:
      return `The receiver could not be reached (${code}).`
  }
}
