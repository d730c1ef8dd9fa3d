import { fork } from 'node:child_process'
import { once } from 'node:events'
import path from 'node:path'
import type { Amount, LoadResult } from '../load/plan.ts'
import { requestText } from '../load/request-text.ts'
import { runLoad } from '../load/run-load.ts'

const SERVER = path.join(import.meta.dirname, 'raw-http-server.ts')

export interface RawHttpOptions {
  readonly connections: number
  /** Of each response. */
  readonly bytes: number
  readonly warmUp: Amount
  readonly measured: Amount
}

/** Rate of a minimal node:http server in its own process under the same load. */
export async function measureRawHttp({ bytes, ...load }: RawHttpOptions): Promise<LoadResult> {
  const child = fork(SERVER, [String(bytes)])
  try {
    const [address] = (await once(child, 'message')) as [{ address: string; port: number }]
    const host = address.address
    const request = requestText({ method: 'GET', path: '/' }, host)
    return await runLoad({ host, port: address.port, requests: [request], status: 200, ...load })
  } finally {
    child.disconnect()
  }
}
