import { once } from 'node:events'
import { serveStdio } from '@modelcontextprotocol/server/stdio'
import {
  ClientError,
  type CommonOptions,
  EXIT,
  findLogin,
  findServer,
  note,
  reportFailure,
} from '../client/index.ts'
import { CallLimit } from './call-limit.ts'
import { createMcpServer, type ToolOptions } from './create-server.ts'
import { HttpEndpoint } from './http-endpoint.ts'
import { TokenCheck } from './token-check.ts'

export interface McpOptions extends Omit<ToolOptions, 'limit'>, Pick<CommonOptions, 'server'> {
  /** Serve streamable HTTP instead of standard input and output. */
  readonly http?: true
  readonly host: string
  readonly port: string
  readonly allowHost?: readonly string[]
  /** Also accept a token that is not restricted. */
  readonly wholeAccount?: true
}

/** `carrel mcp`: serves tools of a server's API to models, until the input ends or a signal arrives. */
export function serveMcp(options: McpOptions): Promise<number> {
  return reportFailure({}, (signal) =>
    options.http ? overHttp(options, signal) : overStdio(options, signal),
  )
}

/** Standard output has the messages of the protocol, and nothing else. */
async function overStdio(options: McpOptions, signal: AbortSignal): Promise<number> {
  const { url, token } = await findLogin(options)
  await new TokenCheck(url, options).check({ token }, signal)
  const tools = { ...options, limit: new CallLimit() }
  const connection = serveStdio(() => createMcpServer({ url, token }, tools), {
    onerror: ({ message }) => note(message),
  })
  await Promise.race([once(process.stdin, 'close'), once(process.stdin, 'end'), interrupted(signal)])
  await connection.close()
  return EXIT.ok
}

async function overHttp(options: McpOptions, signal: AbortSignal): Promise<number> {
  const { host, allowHost: allowedHosts = [] } = options
  const port = Number(options.port)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new ClientError('Give --port as a number from 0 to 65535.', EXIT.usage)
  }
  const url = await findServer(options)
  const tokens = new TokenCheck(url, options)
  const limit = new CallLimit()
  await using endpoint = await HttpEndpoint.listen({ ...options, url, port, allowedHosts, tokens, limit })
  note(`MCP for ${url} at ${endpoint.url}`)
  if (!['127.0.0.1', '::1', 'localhost'].includes(host)) {
    note('Tokens are sent without encryption: put a proxy with HTTPS in front.')
  }
  await interrupted(signal)
  return EXIT.ok
}

async function interrupted(signal: AbortSignal): Promise<void> {
  if (!signal.aborted) await once(signal, 'abort')
}
