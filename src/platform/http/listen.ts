import { StartError } from '../../base/errors.ts'
import { urlOf } from './base-url.ts'
import type { ListenOptions, Transport } from './transport.ts'

/** The address a server listens on. */
export interface Listening {
  readonly address: string
  readonly port: number
  /** For example `http://127.0.0.1:8000`. */
  readonly url: string
}

/** The server cannot listen. The message says how to fix it. */
export class ListenError extends StartError {
  override name = 'ListenError'
  constructor(host: string, port: number, cause: unknown) {
    super(remedy(host, port, cause), { cause })
  }
}

/** Starts listening. Rejects with a `ListenError`. */
export async function startListening(transport: Transport, options: ListenOptions): Promise<Listening> {
  try {
    const { address, port } = await transport.listen(options)
    return { address, port, url: urlOf(transport.scheme, address, port) }
  } catch (error) {
    throw new ListenError(options.host, options.port, error)
  }
}

/** Graceful stop: closes idle connections, waits for requests in flight, and closes the rest after `waitMs`. */
export async function drain(
  transport: Transport,
  settled: () => Promise<void>,
  waitMs: number,
): Promise<void> {
  const timeUp = Promise.withResolvers<void>()
  const timer = setTimeout(() => {
    transport.closeAll()
    timeUp.resolve()
  }, waitMs)
  const closed = transport.close()
  transport.closeIdle()
  await closed
  await Promise.race([settled(), timeUp.promise])
  clearTimeout(timer)
}

function remedy(host: string, port: number, cause: unknown): string {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
  switch (code) {
    case 'EADDRINUSE':
      return `Port ${port} on ${host} is taken: stop what uses it or choose another port.`
    case 'EACCES':
      return `Port ${port} may not be opened by this user: choose a port above 1023 or grant the right.`
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `${host} is no address of this machine: choose one it has, such as 127.0.0.1 or 0.0.0.0.`
    case 'ERR_SOCKET_BAD_PORT':
      return `${port} is no port: choose one from 0 to 65535.`
    default:
      return `Cannot listen on ${host} port ${port} (${code}): check the host and the port.`
  }
}
